/* startd/sleep/adapter.h - the network adapter that could wake the machine by Wake-on-LAN.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_SLEEP_ADAPTER_H
#define STARTD_SLEEP_ADAPTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/os/os_net.h"
#include "startd/sleep/adapter_plan.h"

struct ad;
struct err;
struct startd;
struct wire_request;

struct adapter {
    uint64_t seen_ms;         /* when it was looked for, loop time; 0: not yet */
    bool is_there;            /* an adapter was found */
    struct os_adapter is;     /* the adapter that has the IP address */
    struct adapter_leaf leaf; /* the network card below it */
    /* A card that could not be told to wake the machine, and why. */
    char refusing[OS_ADAPTER_NAME_MAX], refusal[120];
};

/* Writes into a slot's ad how the machine can be woken. */
void adapter_write(struct startd *startd, struct ad *ad);
#define ADAPTER_WHY_MAX 120
/* Returns whether magic packets would wake the machine once it sleeps.  If not, `why` says why. */
bool adapter_can_wake(struct startd *startd, char *why, size_t size);
/* Before the machine sleeps: tells its card to wake it for magic packets, if the card can.  0; or
 * -errno, and then the machine must not sleep: no card wakes it although that is needed
 * (is_needed), or the card does not accept the configured password. */
int adapter_arm(struct startd *startd, bool is_needed, struct err *err);
/* Takes and answers MAGIC_PACKET: sends a magic packet to another machine of its network. */
void adapter_wake_neighbour(struct startd *startd, struct wire_request *request);

#endif
