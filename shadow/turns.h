/* shadow/turns.h - a run's turns: large transfers wait until the schedd gives the run a turn.
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

/* Callback: it is the run's turn, and the starter's request can be handled now. */
typedef void (*turn_f)(struct run *run, struct wire_request *request);

struct run_turn {
    struct run *run;
    struct wire *wire; /* connection to the schedd on which the turn was asked for */
    int64_t call;      /* number of that call; 0: not asked for, or given back */
    bool is_wanted;    /* ask for it when the schedd is connected again */
    bool has_begun, is_over;
    struct vec parked; /* struct wire_request: requests of the starter that wait */
    turn_f go_on;      /* handles each of them when it is the turn */
    int64_t bytes;     /* transferred so far */
    uint64_t told_ms;  /* time of the last turn_progress() report */
};

/* Returns true when the starter's request can be handled now, because the transfer of `bytes` bytes
 * is small or has its turn.  Else keeps the request, and go_on is called with it later, from the
 * loop.  output: true for output, false for input. */
bool turn_is_there(struct run *run, bool output, int64_t bytes, struct wire_request *request,
                   turn_f go_on);
/* Ends the run's turn for input or output; requests that wait are refused. */
void turn_give_back(struct run *run, bool output);
/* Notes that `bytes` more bytes were transferred, and tells the schedd from time to time. */
void turn_progress(struct run *run, bool output, int64_t bytes, int64_t total);
void turns_ask_again(struct shadow *shadow); /* for turns still wanted; after SHADOW_HELLO */
void turns_forget(struct run *run);          /* frees both; only for runs_drop_all() */

#endif
