/* wire/verbs.c - the table of verbs: name, required scopes, deadline.
 *
 * The deadline is for the answer or the next part; 0 is for streams that last as long as the
 * connection.  docs/protocol/wire.md has the same table; a unit test compares the two.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wire/verbs.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/check.h"
#include "base/text.h"

#define R SCOPE_READ
#define W SCOPE_WRITE
#define A SCOPE_ADVERTISE
#define S SCOPE_SCHEDD
#define O SCOPE_ROOSTER
#define T SCOPE_MASTER
#define F SCOPE_FACTORY
#define K SCOPE_TICKET
#define N SCOPE_NEGOTIATOR
#define M SCOPE_ADMINISTRATOR

static const struct wire_verb_info VERBS[] = {
    /* collector; QUERY and WATCH schedd and rooster, too */
    {VERB_UPDATE, "UPDATE", A | S | O | T | F | N | M, 15000},
    {VERB_MERGE, "MERGE", O | N | M, 15000},
    {VERB_INVALIDATE, "INVALIDATE", A | S | O | T | F | N | M, 15000},
    {VERB_QUERY, "QUERY", R | W | S | O | F | N | M, 30000},
    {VERB_WATCH, "WATCH", R | W | A | S | O | F | N | M, 0},
    {VERB_RELAY, "RELAY", A | W | S | O | K | N | M, 30000},
    {VERB_LEASE, "LEASE", N | M, 10000},
    {VERB_REVOKE, "REVOKE", M, 15000},
    {VERB_INSTANCE, "INSTANCE", 0, 10000},
    {VERB_POWER_LOCK, "POWER_LOCK", M, 15000},
    /* schedd */
    {VERB_SUBMIT, "SUBMIT", W | M, 120000},
    {VERB_ACT, "ACT", W | M, 60000},
    {VERB_MATCH, "MATCH", N, 15000},
    {VERB_CLAIM, "CLAIM", A, 20000},
    {VERB_ALIVE, "ALIVE", A, 20000},
    {VERB_CLAIM_GONE, "CLAIM_GONE", A, 20000},
    {VERB_NO_MATCH, "NO_MATCH", N, 15000},
    {VERB_EDIT, "EDIT", W | M, 60000},
    {VERB_JOB_ACCESS, "JOB_ACCESS", W | M, 60000},
    {VERB_JOB_CHECKPOINT, "JOB_CHECKPOINT", W | M, 960000},
    /* startd, through the hub */
    {VERB_DIAL_ME, "DIAL_ME", S, 20000},
    {VERB_POWER_DOWN, "POWER_DOWN", M, 30000},
    {VERB_START_DRAINING, "START_DRAINING", M, 30000},
    {VERB_COMMIT_DRAINING, "COMMIT_DRAINING", M, 30000},
    {VERB_CANCEL_DRAINING, "CANCEL_DRAINING", M, 30000},
    {VERB_POWER_KEEP, "POWER_KEEP", M, 30000},
    {VERB_MAGIC_PACKET, "MAGIC_PACKET", O | M, 10000},
    {VERB_POWER_RECLAIM, "POWER_RECLAIM", O | N | M, 10000},
    /* startd, on the claim's connection: the schedd is the server there, see server_scopes */
    {VERB_ACTIVATE, "ACTIVATE", S, 30000},
    {VERB_DEACTIVATE, "DEACTIVATE", S, 30000},
    {VERB_RELEASE_CLAIM, "RELEASE_CLAIM", S, 30000},
    {VERB_SUSPEND_CLAIM, "SUSPEND_CLAIM", S, 30000},
    {VERB_CHECKPOINT_CLAIM, "CHECKPOINT_CLAIM", S, 900000},
    /* schedd and shadow, Unix socket: the shadow has the scopes of any user of the machine */
    {VERB_SHADOW_HELLO, "SHADOW_HELLO", W, 20000},
    {VERB_JOB_RUN, "JOB_RUN", S, 30000},
    {VERB_JOB_RESULT, "JOB_RESULT", W, 60000},
    {VERB_JOB_PLACED, "JOB_PLACED", W, 60000},
    {VERB_JOB_STATUS, "JOB_STATUS", W, 30000},
    {VERB_TRANSFER_TURN, "TRANSFER_TURN", W, 0},
    {VERB_JOB_STOP, "JOB_STOP", S, 30000},
    {VERB_JOB_EVENT, "JOB_EVENT", S, 600000},
    {VERB_JOB_ADMIT, "JOB_ADMIT", S, 30000},
    /* shadow: whom it admits (by the job's nonce) may; the starter has no token */
    {VERB_JOB_FETCH, "JOB_FETCH", 0, 60000},
    {VERB_FILE_GET, "FILE_GET", 0, 120000},
    {VERB_FILE_PUT, "FILE_PUT", 0, 120000},
    {VERB_JOB_STARTED, "JOB_STARTED", 0, 30000},
    {VERB_JOB_USAGE, "JOB_USAGE", 0, 30000},
    {VERB_JOB_DONE, "JOB_DONE", 0, 120000},
    {VERB_CKPT_PUT, "CKPT_PUT", 0, 120000},
    {VERB_CKPT_DONE, "CKPT_DONE", 0, 600000},
    {VERB_CKPT_LOOK, "CKPT_LOOK", 0, 120000},
    {VERB_CKPT_GET, "CKPT_GET", 0, 120000},
    {VERB_CKPT_REFUSED, "CKPT_REFUSED", 0, 60000},
    /* starter: the shadow, whose pin came with the claim, may; shadow: who has a ticket for it */
    {VERB_FILE_PEEK, "FILE_PEEK", 0, 60000},
    {VERB_SHELL_OPEN, "SHELL_OPEN", 0, 60000},
    {VERB_SHELL_READ, "SHELL_READ", 0, 0},
    {VERB_SHELL_WRITE, "SHELL_WRITE", 0, 0},
    /* startd and starter, Unix socket */
    {VERB_STARTER_HELLO, "STARTER_HELLO", W, 20000},
    {VERB_LEASE_RENEWED, "LEASE_RENEWED", A, 20000},
    {VERB_STARTER_STOP, "STARTER_STOP", A, 30000},
    {VERB_STARTER_DONE, "STARTER_DONE", W, 30000},
    {VERB_STARTER_SUSPEND, "STARTER_SUSPEND", A, 30000},
    {VERB_STARTER_RUN, "STARTER_RUN", A, 30000},
    {VERB_STARTER_ENERGY, "STARTER_ENERGY", W, 20000},
    {VERB_STARTER_CHECKPOINT, "STARTER_CHECKPOINT", A, 900000},
    {VERB_STARTER_CKPT, "STARTER_CKPT", W, 20000},
    /* kbdd to startd, the same socket */
    {VERB_CONSOLE_USED, "CONSOLE_USED", W, 20000},
    /* shadow: who has a ticket for it */
    {VERB_SPOOL_LOOK, "SPOOL_LOOK", 0, 120000},
    {VERB_SPOOL_PUT, "SPOOL_PUT", 0, 120000},
    {VERB_SPOOL_GET, "SPOOL_GET", 0, 120000},
    {VERB_SPOOL_END, "SPOOL_END", 0, 120000},
    /* rooster, through the hub */
    {VERB_POWER_ON, "POWER_ON", M, 30000},
    {VERB_POWER_STATUS, "POWER_STATUS", R | W | S | O | N | M, 30000},
    {VERB_POWER_DOWN_ASK, "POWER_DOWN_ASK", A | M, 10000},
    /* every daemon */
    {VERB_PING, "PING", 0, 10000},
    {VERB_CONFIG, "CONFIG", W | S | O | N | M, 30000},
    /* master, through the hub */
    {VERB_DAEMON_ON, "DAEMON_ON", M, 30000},
    /* negotiator, through the hub; QUERY, too */
    {VERB_USERPRIO, "USERPRIO", M, 30000},
    {VERB_POOL_FIGURES, "POOL_FIGURES", A | O | M, 10000},
    /* factory, through the hub */
    {VERB_FACTORY_ORDER, "FACTORY_ORDER", M, 30000},
    {VERB_TICKET, "TICKET", K, 15000},
};

#undef R
#undef W
#undef A
#undef S
#undef O
#undef T
#undef F
#undef K
#undef N
#undef M

static const struct {
    uint32_t bit;
    const char *name;
} SCOPES[] = {
    {SCOPE_READ, "READ"},
    {SCOPE_WRITE, "WRITE"},
    {SCOPE_ADVERTISE, "ADVERTISE"},
    {SCOPE_SCHEDD, "SCHEDD"},
    {SCOPE_ROOSTER, "ROOSTER"},
    {SCOPE_MASTER, "MASTER"},
    {SCOPE_FACTORY, "FACTORY"},
    {SCOPE_TICKET, "TICKET"},
    {SCOPE_NEGOTIATOR, "NEGOTIATOR"},
    {SCOPE_ADMINISTRATOR, "ADMINISTRATOR"},
};

const struct wire_verb_info *wire_verb_find(enum wire_verb verb)
{
    for (size_t i = 0; i < ARRAY_COUNT(VERBS); i++) {
        if (VERBS[i].verb == verb) {
            return &VERBS[i];
        }
    }
    return NULL;
}

bool wire_verb_ads_are_bytes(enum wire_verb verb)
{
    return verb == VERB_UPDATE;
}

const char *wire_verb_name(enum wire_verb verb)
{
    const struct wire_verb_info *info = wire_verb_find(verb);
    return info == NULL ? "?" : info->name;
}

const char *scope_names(uint32_t scopes, char *ret, unsigned size)
{
    CHECK(size > 0);
    size_t used = 0;
    ret[0] = '\0';
    for (size_t i = 0; i < ARRAY_COUNT(SCOPES); i++) {
        size_t length = strlen(SCOPES[i].name);
        size_t comma = used > 0 ? 1 : 0;
        if ((scopes & SCOPES[i].bit) == 0 || used + comma + length >= size) {
            continue;
        }
        if (comma > 0) {
            ret[used] = ',';
        }
        memcpy(ret + used + comma, SCOPES[i].name, length + 1);
        used += comma + length;
    }
    return ret;
}

int scope_parse(const char *text, uint32_t *ret)
{
    for (size_t i = 0; i < ARRAY_COUNT(SCOPES); i++) {
        if (text_equal_nocase(text, SCOPES[i].name)) {
            *ret = SCOPES[i].bit;
            return 0;
        }
    }
    return -EINVAL;
}
