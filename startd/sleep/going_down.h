/* startd/sleep/going_down.h - how far this machine is on its way down: the stages, and the legal
 * moves between them.
 *
 *   up             the machine works, or could work
 *   asking         the rooster is asked whether the machine may go down (permit.h)
 *   leaving        somebody ordered it down; its jobs are being ended, and that caller asks again
 *   leaving_asking  the same, and the rooster is being asked again
 *   begun          no claims any more; its network card is prepared to wake it
 *   announced      its offline ads are on their way to the collector; from now on it sends nothing
 *   waiting        these are durable; jobs may take the machine back (HIBERNATE_RECLAIM_TIME)
 *   ordered        the power method was told to take it down: nobody can take it back
 *   gone           the power method has begun, or the rooster will do it
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

struct going_down { /* the state of going down */
    enum down_stage stage;
    struct ad_expr *when; /* the expression HIBERNATE */
    char level[8];        /* "S5"; valid from DOWN_BEGUN on */
    char *reason;
    bool forced;       /* ordered by somebody who knows what prevents it */
    bool keep_off;     /* stay off until somebody switches it on: no job may wake it */
    bool reclaimable;  /* jobs that wait may take it back while there is time */
    bool has_answer;   /* the collector's answer to hibernate_ask() contained our offline ad */
    uint64_t until_ms; /* when the rooster's order ends, loop time; 0: it has not said so */
    struct wire_request *request;     /* POWER_DOWN to be answered; NULL: none */
    struct loop_timer *check_timer;   /* time to ask all slots */
    struct loop_timer *leave_timer;   /* the caller that ordered it down has not asked again */
    struct loop_timer *guard_timer;   /* the machine did not go down in time */
    struct loop_timer *reclaim_timer; /* ends DOWN_WAITING */
    struct loop_timer *ask_timer;     /* time for hibernate_ask() */
};

/* Pure: whether one stage may follow another.  A stage may follow itself. */
bool going_down_may_move(enum down_stage from, enum down_stage to);
/* Moves to a stage; CHECKs that the move is legal. */
void going_down_move(struct startd *startd, enum down_stage stage);

bool going_down_has_begun(const struct startd *startd); /* DOWN_BEGUN or later */
/* DOWN_ANNOUNCED or later: it sends no ads. */
bool going_down_is_silent(const struct startd *startd);
bool going_down_is_leaving(const struct startd *startd); /* leaving or leaving_asking */
bool going_down_is_asking(const struct startd *startd);  /* asking or leaving_asking */
/* Takes neither claims nor jobs: it is leaving, or DOWN_BEGUN or later. */
bool going_down_takes_none(const struct startd *startd);

#endif
