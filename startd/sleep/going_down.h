/* startd/sleep/going_down.h - how far this machine is on its way down: one state, and its legal
 * moves.
 *
 *   up            it works, or could
 *   asking        the rooster is asked whether it may go down (permit.c)
 *   leaving       somebody ordered it down; its jobs are being ended, and who ordered it asks again
 *   leaving_asking  the same, and the rooster is being asked again
 *   begun         it takes no claims any more; its network card is being made ready
 *   announced     its offline ads are on their way to the collector; it is silent from here on
 *   waiting       they are durable; jobs may take the machine back (HIBERNATE_RECLAIM_TIME)
 *   ordered       the power method was told to take it down: nobody takes it back
 *   gone          the power method has begun, or the rooster is to do it
 *
 * From everywhere it is up again when it was taken back: something failed, jobs wanted it, or it
 * has slept and is awake.  hibernate.c and permit.c make the moves, all others look.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_SLEEP_GOING_DOWN_H
#define STARTD_SLEEP_GOING_DOWN_H

#include <stdbool.h>
#include <stdint.h>

struct ad_expr;
struct loop_timer;
struct startd;
struct wire_request;

enum down_stage {
    DOWN_UP,
    DOWN_ASKING,
    DOWN_LEAVING,
    DOWN_LEAVING_ASKING,
    DOWN_BEGUN,
    DOWN_ANNOUNCED,
    DOWN_WAITING,
    DOWN_ORDERED,
    DOWN_GONE,
    DOWN_STAGES
};

struct going_down {
    enum down_stage stage;
    struct ad_expr *when; /* HIBERNATE */
    char level[8];        /* "S5", from DOWN_BEGUN on */
    char *reason;
    bool forced;                    /* by somebody who knows what holds the machine back */
    bool keep_off;                  /* until somebody switches it on: no job is to wake it */
    bool reclaimable;               /* jobs that wait may take it back, while there is time */
    bool has_answer;                /* the answer to the question after its offline ad has an ad */
    uint64_t until_ms;              /* by when the rooster's order is over; 0: it has not said so */
    struct wire_request *request;   /* POWER_DOWN to be answered */
    struct loop_timer *check_timer; /* do all slots agree? */
    struct loop_timer *leave_timer; /* who ordered it down asked no more */
    struct loop_timer *guard_timer; /* runs out when the machine did not go down */
    struct loop_timer *reclaim_timer; /* ends DOWN_WAITING */
    struct loop_timer *ask_timer;     /* what became of the order? */
};

/* Pure: whether one stage may follow another.  A stage may follow itself. */
bool going_down_may_move(enum down_stage from, enum down_stage to);
void going_down_move(struct startd *startd, enum down_stage stage); /* CHECKs the table */

bool going_down_has_begun(const struct startd *startd);  /* DOWN_BEGUN or later */
bool going_down_is_silent(const struct startd *startd);  /* DOWN_ANNOUNCED or later */
bool going_down_is_leaving(const struct startd *startd); /* and has not begun */
bool going_down_is_asking(const struct startd *startd);
/* It takes neither claims nor jobs: it is leaving, or has begun. */
bool going_down_takes_none(const struct startd *startd);

#endif
