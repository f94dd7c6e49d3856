/* shadow/turns.h - turns to transfer something large: a run's turn.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_TURNS_H
#define SHADOW_TURNS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct run;
struct shadow;
struct wire;
struct wire_request;

/* It is the run's turn now: the call of the starter can be handled. */
typedef void (*turn_f)(struct run *run, struct wire_request *request);

struct run_turn {
    struct run *run;
    struct wire *wire; /* the uplink on which it was asked for */
    int64_t call;      /* 0: not asked for, or given back */
    bool is_wanted;    /* to be asked for when the schedd is back */
    bool has_begun, is_over;
    struct vec parked; /* struct wire_request: calls of the starter that wait */
    turn_f go_on;      /* with each of them, later */
    int64_t bytes;
    uint64_t told_ms;
};

/* May it be handled now?  Otherwise go_on gets it when it is the run's turn, from the loop. */
bool turn_is_there(struct run *run, bool output, int64_t bytes, struct wire_request *request,
                   turn_f go_on);
void turn_give_back(struct run *run, bool output);
void turn_progress(struct run *run, bool output, int64_t bytes, int64_t total); /* more went */
void turns_ask_again(struct shadow *shadow); /* after SHADOW_HELLO */
void turns_forget(struct run *run);          /* for runs_drop_all() */

#endif
