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
    /* when the adapter was last looked for, ms of the loop's clock; 0: look again */
    uint64_t seen_ms;
    bool is_there; /* true: an adapter was found, and `is` and `leaf` are valid */
    /* the adapter with the machine's IP address; may be the card `leaf` itself */
    struct os_adapter is;
    /* the network card that receives packets for the adapter `is`; may be that adapter itself */
    struct adapter_leaf leaf;
    /* refusing: name of the network card for which Wake-on-LAN could not be switched on ("": none);
     * refusal: the reason. */
    char refusing[OS_ADAPTER_NAME_MAX], refusal[120];
};

/* Writes into a slot's ad the hardware address, network and port for magic packets that wake the
 * machine. */
void adapter_write(struct startd *startd, struct ad *ad);
#define ADAPTER_WHY_MAX 120 /* most bytes of a reason, with the terminating zero */
/* Returns whether magic packets would wake the machine once it sleeps.  If not, writes the reason
 * to `why`. */
bool adapter_can_wake(struct startd *startd, char *why, size_t size);
/* To be called before the machine sleeps: switches on Wake-on-LAN at its network card, if
 * ENABLE_WAKE_ON_LAN is true and the card supports it. is_needed: the machine may sleep only if
 * magic packets can wake it.  Returns 0; or -errno, and then the machine must not sleep:
 * Wake-on-LAN is needed but could not be switched on, or the configured password could not be
 * set. */
int adapter_arm(struct startd *startd, bool is_needed, struct err *err);
/* Handles MAGIC_PACKET: sends a magic packet to another machine of this machine's network, and
 * answers. */
void adapter_wake_neighbour(struct startd *startd, struct wire_request *request);

#endif
