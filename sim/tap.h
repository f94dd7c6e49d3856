/* sim/tap.h - reads along what processes send to each other.
 *
 * The simulator hands every byte that a process writes to a connection to the tap, above TLS.  The
 * tap puts frames together again, remembers which request a reply answers, and tells of whole
 * messages; so promises are judged where they are made, and the daemons know nothing of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_TAP_H
#define SIM_TAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/verbs.h"

struct ad;
struct sim_host;
struct sim_process;
struct tap;

struct tap_message {
    struct sim_process *from;
    struct sim_host *asker; /* the machine that made the request */
    uint64_t asker_serial;  /* and the process on it */
    enum wire_verb verb;    /* of a reply: of its request; of a RELAY: of what is relayed */
    bool is_reply;
    bool is_relay;            /* on its way to the hub */
    int status;               /* of a reply; parts (more to come) are not told */
    const struct ad *args;    /* never NULL */
    const struct ad *request; /* of a reply: its request's args; else NULL */
    const char *claim_id;     /* of the request, as far as it had one; "" */
    struct ad *const *ads;    /* of requests only */
    size_t ad_count;
};
typedef void (*tap_f)(void *arg, const struct tap_message *message);

/* verbs: those to be told of; the bodies of others are not looked at.  Ends with VERB_NONE. */
struct tap *tap_create(const enum wire_verb *verbs, tap_f call, void *arg);
void tap_destroy(struct tap *tap); /* NULL is allowed */
void tap_bytes(struct tap *tap, struct sim_process *from, uint64_t connection, bool by_client,
               const void *data, size_t length);
uint64_t tap_faults(
    const struct tap *tap); /* connections on which something else than frames went */

#endif
