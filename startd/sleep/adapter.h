/* startd/sleep/adapter.h - the network adapter that could wake the machine.
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
    uint64_t seen_ms; /* 0: not looked for yet */
    bool is_there;
    struct os_adapter is;                             /* the one with the address */
    struct adapter_leaf leaf;                         /* the card below it */
    char refusing[OS_ADAPTER_NAME_MAX], refusal[120]; /* a card that was told to wake it, in vain */
};

void adapter_write(struct startd *startd, struct ad *ad);
#define ADAPTER_WHY_MAX 120
/* Would magic packets wake the machine once it sleeps?  If not, `why` says why not. */
bool adapter_can_wake(struct startd *startd, char *why, size_t size);
/* Before the machine sleeps: tells its card to wake it for magic packets, if the card can.  After
 * an error the machine must not sleep: is_needed, and the card does not wake it; or the card does
 * not take the password that is configured. */
int adapter_arm(struct startd *startd, bool is_needed, struct err *err);
void adapter_wake_neighbour(struct startd *startd, struct wire_request *request); /* MAGIC_PACKET */

#endif
