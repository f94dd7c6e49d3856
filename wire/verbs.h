/* wire/verbs.h - the verbs of the protocol and the authority that each needs.
 *
 * A new verb is a line in the enum, a row in verbs.c and a section in docs/protocol/wire.md; the
 * process that answers it gets it in its handler.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_VERBS_H
#define WIRE_VERBS_H

#include <stdbool.h>
#include <stdint.h>

/* authority of a token, bits */
enum {
    SCOPE_READ = 1 << 0,
    SCOPE_WRITE = 1 << 1,      /* submit and act on one's own jobs */
    SCOPE_ADVERTISE = 1 << 2,  /* send ads under the names that the token's pattern allows */
    SCOPE_SCHEDD = 1 << 3,     /* be a schedd: use claims, have jobs run, say what waits */
    SCOPE_NEGOTIATOR = 1 << 4, /* see claim ids, match, write match times */
    SCOPE_ADMINISTRATOR = 1 << 5,
    SCOPE_ROOSTER = 1 << 6, /* be a rooster: wake machines, say how they are powered */
    SCOPE_MASTER = 1 << 7,  /* be a master: say which daemons run on its host */
};

enum wire_verb {
    VERB_NONE = 0,
    /* answered by the collector */
    VERB_UPDATE = 10,     /* ads of the sender, full or changes */
    VERB_MERGE = 11,      /* single attributes of another's ad */
    VERB_INVALIDATE = 12, /* my ads of these names are gone */
    VERB_QUERY = 13,      /* ads: collector (all types), schedd (jobs, history), rooster (ledger),
                             negotiator (accounts) */
    VERB_WATCH = 14,      /* snapshot, then changes: collector, schedd */
    VERB_RELAY = 15,      /* carry this to an uplink; who may only advertise: POWER_DOWN_ASK */
    VERB_LEASE = 16,      /* one holder at a time of a named role */
    VERB_REVOKE = 17,     /* this token id is refused from now on */
    VERB_INSTANCE = 18,   /* from an uplink: sign for this instance of mine from now on */
    /* answered by the schedd */
    VERB_SUBMIT = 30,         /* a cluster of jobs */
    VERB_ACT = 31,            /* rm, hold, release by constraint or ids */
    VERB_MATCH = 32,          /* from the negotiator: a slot for one of your autoclusters */
    VERB_CLAIM = 33,          /* from a startd that dialled: here I am with this claim id */
    VERB_ALIVE = 34,          /* from a startd: renew the lease */
    VERB_CLAIM_GONE = 35,     /* from a startd: this claim ended, and why */
    VERB_NO_MATCH = 36,       /* from the negotiator: why these autoclusters got no slot */
    VERB_EDIT = 37,           /* set attributes of jobs in the queue */
    VERB_JOB_ACCESS = 38,     /* a ticket to the owner's shadow: tail, shell, spooled files */
    VERB_JOB_CHECKPOINT = 39, /* checkpoints of running jobs, now */
    /* answered by the startd, relayed */
    VERB_DIAL_ME = 50,    /* from the schedd: will you take this job? then dial me */
    VERB_POWER_DOWN = 51, /* from an administrator: go to sleep */
    /* answered by the startd, on the claim's connection */
    VERB_ACTIVATE = 52,   /* run this job */
    VERB_DEACTIVATE = 53, /* end this job: vacate, remove, hold */
    VERB_RELEASE_CLAIM = 54,
    VERB_SUSPEND_CLAIM = 55, /* this job is to stand still, or to go on: roost suspend, continue */
    VERB_CHECKPOINT_CLAIM = 61, /* a checkpoint of this job now: roost checkpoint */
    /* answered by the startd, relayed: docs/protocol/drain.md */
    VERB_START_DRAINING = 56,  /* what would it cost? then wait for commit or cancel */
    VERB_COMMIT_DRAINING = 57, /* drain */
    VERB_CANCEL_DRAINING = 58, /* do not, or no longer */
    VERB_MAGIC_PACKET = 59,  /* from the rooster: send this on your network, to wake a neighbour */
    VERB_POWER_KEEP = 60,    /* from an administrator: stay up until then */
    VERB_POWER_RECLAIM = 62, /* jobs wait: do not go down, if nobody ordered it by name */
    /* between schedd and shadow, Unix socket; the shadow dials */
    VERB_SHADOW_HELLO = 70,  /* shadow to schedd: I serve this owner; these jobs I have */
    VERB_JOB_RUN = 71,       /* schedd to shadow: expect the starter of this job */
    VERB_JOB_RESULT = 72,    /* shadow to schedd: this is how it ended; output is staged */
    VERB_JOB_PLACED = 73,    /* shadow to schedd: output is in its place */
    VERB_JOB_STATUS = 74,    /* shadow to schedd: usage, started, failed */
    VERB_JOB_STOP = 75,      /* schedd to shadow: this run is over, drop it */
    VERB_JOB_EVENT = 76,     /* schedd to shadow: append these events to job event logs */
    VERB_JOB_ADMIT = 77,     /* schedd to shadow: who shows this ticket may do that */
    VERB_TRANSFER_TURN = 78, /* shadow to schedd: may this run's files be transferred now? */
    /* answered by the shadow; the starter dials */
    VERB_JOB_FETCH = 80, /* the job ad and the list of input files */
    VERB_FILE_GET = 81,  /* one file's bytes, in parts */
    VERB_FILE_PUT = 82,  /* bytes of one output file */
    VERB_JOB_STARTED = 83,
    VERB_JOB_USAGE = 84,
    VERB_JOB_DONE = 85,      /* exit status; all output sent; answered when committed */
    VERB_CKPT_PUT = 103,     /* bytes of a checkpoint: docs/protocol/checkpoint.md */
    VERB_CKPT_DONE = 104,    /* it is whole; answered when committed */
    VERB_CKPT_LOOK = 105,    /* which checkpoints are kept */
    VERB_CKPT_GET = 106,     /* bytes of one of them */
    VERB_CKPT_REFUSED = 107, /* it cannot be resumed */
    /* answered by the starter, whom the shadow asks for a client with a ticket */
    VERB_FILE_PEEK = 86,   /* bytes of a file in the sandbox of a running job */
    VERB_SHELL_OPEN = 87,  /* a program beside the job, with a terminal or pipes */
    VERB_SHELL_READ = 88,  /* what it wrote, or how it ended */
    VERB_SHELL_WRITE = 89, /* what it is to read; size of the terminal, signals */
    /* between startd and starter, Unix socket; the starter dials */
    VERB_STARTER_HELLO = 90,      /* starter to startd: I run this claim */
    VERB_LEASE_RENEWED = 91,      /* startd to starter: the claim's lease was confirmed */
    VERB_STARTER_STOP = 92,       /* startd to starter: vacate or kill */
    VERB_STARTER_DONE = 93,       /* starter to startd: sandbox gone, this is how it ended */
    VERB_CONSOLE_USED = 95,       /* kbdd to startd: when keyboard or mouse were used last */
    VERB_STARTER_SUSPEND = 94,    /* startd to starter: the job stands still, or goes on */
    VERB_STARTER_RUN = 79,        /* startd to a starter that it kept: the claim's next job */
    VERB_STARTER_CHECKPOINT = 63, /* startd to starter: take a checkpoint now */
    VERB_STARTER_CKPT = 64,       /* starter to startd: one was taken, and is safe */
    VERB_STARTER_ENERGY = 109, /* starter to startd: what the run has had of the machine's energy */
    /* answered by the shadow; a client with a ticket dials */
    VERB_SPOOL_LOOK = 96, /* which files a job's sandbox in SPOOL has */
    VERB_SPOOL_PUT = 97,  /* bytes of one input file */
    VERB_SPOOL_GET = 98,  /* bytes of one output file */
    VERB_SPOOL_END = 99,  /* all is there: the jobs may run; or all was fetched */
    /* answered by the rooster, relayed */
    VERB_POWER_ON = 100,
    VERB_POWER_STATUS = 101,
    VERB_POWER_DOWN_ASK = 102, /* from a startd: may my machine go to sleep? */
    /* answered by every daemon, relayed or direct */
    VERB_PING = 110,
    VERB_CONFIG = 111, /* get, set, unset, reload: wire/settings.h */
    /* answered by a master, relayed: start what was told to stay down (base/daemon/daemon_down.h)
     */
    VERB_DAEMON_ON = 112,
    /* answered by the negotiator, relayed */
    VERB_USERPRIO = 120, /* from an administrator: set, reset or delete an account */
};

struct wire_verb_info {
    enum wire_verb verb;
    const char *name;     /* "UPDATE": in logs and refusals */
    uint32_t scopes;      /* any one of these bits allows it; 0: anybody who is connected */
    uint32_t deadline_ms; /* for an answer or the next part; 0: none */
};
const struct wire_verb_info *wire_verb_find(enum wire_verb verb); /* NULL: unknown */
/* The handler gets the ads as they came: see wire_request_next_ad_bytes(). */
bool wire_verb_ads_are_bytes(enum wire_verb verb);
/* "verb 77" style text never; "?" when unknown */
const char *wire_verb_name(enum wire_verb verb);
const char *scope_names(uint32_t scopes, char *ret, unsigned size); /* "READ,WRITE" */
int scope_parse(const char *text, uint32_t *ret);                   /* one name; -EINVAL */

#endif
