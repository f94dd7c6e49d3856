/* sim/tap.h - reads the messages that simulated processes send to each other.
 *
 * The simulator gives the tap every byte that a process writes to a connection, before TLS.  The
 * tap reassembles frames, remembers which request a reply answers, and reports whole messages.  So
 * promises are checked where they are made, and the daemons need no code for it.
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
    struct sim_host *asker; /* machine that made the request */
    uint64_t asker_serial;  /* serial of the process that made the request */
    /* in a reply: the verb of its request; in a RELAY: the verb of the relayed request */
    enum wire_verb verb;
    bool is_reply;
    bool is_relay; /* the message is a request to the collector to relay another request */
    /* status of a reply; only the last part of a reply is reported */
    int status;
    const struct ad *args;    /* arguments of the message; never NULL */
    const struct ad *request; /* in a reply: args of its request; otherwise NULL */
    const char *claim_id;     /* claim id in the request's secrets; "" if none */
    struct ad *const *ads;    /* ads of a request; of a reply none */
    size_t ad_count;
};
typedef void (*tap_f)(void *arg, const struct tap_message *message);

/* Makes a tap that calls `call` for each message with one of the verbs, a list ended by VERB_NONE.
 * Other messages are not decoded. */
struct tap *tap_create(const enum wire_verb *verbs, tap_f call, void *arg);
void tap_destroy(struct tap *tap); /* NULL is allowed */
void tap_bytes(struct tap *tap, struct sim_process *from, uint64_t connection, bool by_client,
               const void *data, size_t length);
uint64_t tap_faults(const struct tap *tap); /* number of connections with data that is not frames */

#endif
