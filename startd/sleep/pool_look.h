/* startd/sleep/pool_look.h - asks the negotiator how many jobs wait that would match this machine,
 * when HIBERNATE depends on that.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_SLEEP_POOL_LOOK_H
#define STARTD_SLEEP_POOL_LOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/pool_figures.h"

struct ad;
struct startd;

typedef void (*pool_look_f)(struct startd *startd);

struct pool_look {
    struct pool_figures figures; /* the negotiator's last answer; valid if at_ms is not 0 */
    uint64_t at_ms;              /* when the answer came, ms of the loop's clock; 0: never */
    char why[200];               /* why the last question had no answer; "": it had one */
    bool is_asking;
    pool_look_f done;
};

/* Returns the figures; NULL: none are known, or they are too old. */
const struct pool_figures *pool_look_figures(const struct startd *startd);
/* Writes the figures that are known into the ad of a slot, and removes those that are not. */
void pool_look_put(const struct startd *startd, struct ad *ad);
/* Asks the negotiator.  done is called once, later, when it has answered or the question has
 * failed.  Returns false if there is no connection to ask over; done is then not called.  Must not
 * be called while is_asking is set. */
bool pool_look_ask(struct startd *startd, pool_look_f done);

#endif
