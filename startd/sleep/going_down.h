/* startd/sleep/going_down.h - how far this machine is on its way down: the stages, and the legal
 * moves between them.
 *
 *   up             the machine works, or could work
 *   asking         the rooster is asked whether the machine may go down (permit.h)
 *   leaving        an administrator ordered it down (POWER_DOWN); its jobs are being ended, and the
 *                  administrator's program must repeat the order
 *   leaving_asking  as leaving, and the rooster is being asked again
 *   begun          no claims any more; its network card is prepared to wake it
 *   announced      its offline ads are on their way to the collector; from now on it sends nothing
 *   waiting        these ads are stored; jobs may take the machine back (HIBERNATE_RECLAIM_TIME)
 *   ordered        the power method was told to take it down: nobody can take it back
 *   gone           the power method has begun, or the rooster will power the machine down
 *
 * From each stage it can return to up: something failed, jobs took it back, or it has slept and is
 * awake.  Only hibernate.c and permit.c make moves; all others just look.
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

/* How far this machine is on its way down, and what is decided about this sleep: its level, its
 * reason, and whether jobs may prevent it or wake the machine from it. */
struct going_down {
    enum down_stage stage;
    struct ad_expr *when; /* the expression HIBERNATE */
    char level[8];        /* level of the sleep, "S1" to "S5"; valid from DOWN_BEGUN on */
    char *reason;
    /* an administrator ordered the machine down with --force: what prevents sleep does not count */
    bool forced;
    /* the machine stays off until somebody switches it on: no job may wake it */
    bool keep_off;
    /* true: jobs that wait may take the machine back, until the power method or the rooster has
     * begun to power it down */
    bool reclaimable;
    /* the collector's answer to the last query of hibernate_ask() contained the machine's offline
     * ad, or was an error */
    bool has_answer;
    /* when, at the latest, the rooster's order to power this machine down must have taken effect,
     * ms of the loop's clock; 0: not known */
    uint64_t until_ms;
    struct wire_request *request;   /* a POWER_DOWN that is still to be answered; NULL: none */
    struct loop_timer *check_timer; /* fires when hibernate_check() is due */
    /* fires when the administrator who ordered the machine down has not repeated the order in
     * time */
    struct loop_timer *leave_timer;
    /* fires when the machine has not gone down in time: the sleep is given up */
    struct loop_timer *guard_timer;
    struct loop_timer *reclaim_timer; /* fires when the time in stage DOWN_WAITING is over */
    struct loop_timer *ask_timer;     /* fires when hibernate_ask() is due */
};

/* Returns whether one stage may follow another.  Pure.  A stage may follow itself. */
bool going_down_may_move(enum down_stage from, enum down_stage to);
/* Moves to a stage; ends the process if going_down_may_move() does not allow it. */
void going_down_move(struct startd *startd, enum down_stage stage);

/* whether the stage is DOWN_BEGUN or later */
bool going_down_has_begun(const struct startd *startd);
/* Returns whether the stage is DOWN_ANNOUNCED or later, in which the startd sends no ads. */
bool going_down_is_silent(const struct startd *startd);
/* Returns whether the stage is DOWN_LEAVING or DOWN_LEAVING_ASKING. */
bool going_down_is_leaving(const struct startd *startd);
/* Returns whether the stage is DOWN_ASKING or DOWN_LEAVING_ASKING. */
bool going_down_is_asking(const struct startd *startd);
/* Returns whether the machine takes neither claims nor jobs: it is leaving, or the stage is
 * DOWN_BEGUN or later. */
bool going_down_takes_none(const struct startd *startd);

#endif
