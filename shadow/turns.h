/* shadow/turns.h - a run's turns.  A turn is the schedd's permission to transfer large files
 * now: the schedd lets a few runs transfer at the same time, and the others wait for their turn.
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
    /* number of the call that asked for the turn; 0: not asked for, or given back */
    int64_t call;
    bool is_wanted; /* ask for the turn when the schedd is connected again */
    bool has_begun, is_over;
    struct vec parked; /* requests of the starter that wait, each a struct wire_request */
    turn_f go_on;      /* called for each parked request when the turn comes */
    int64_t bytes;     /* bytes transferred so far */
    uint64_t told_ms;  /* when turn_progress() last told the schedd, loop_now_ms() */
};

/* Returns true when the starter's request can be handled now, because the transfer of `bytes` bytes
 * is small or has its turn.  Else keeps the request, and go_on is called with it later, from the
 * loop.  output: true for output, false for input. */
bool turn_is_there(struct run *run, bool output, int64_t bytes, struct wire_request *request,
                   turn_f go_on);
/* Ends the run's turn for output (output: true) or input (false); requests that still wait for this
 * turn are refused. */
void turn_give_back(struct run *run, bool output);
/* Notes that `bytes` more bytes of `total` were transferred, of output (output: true) or input.  At
 * most once in two seconds, it tells the schedd how many bytes of the total are done. */
void turn_progress(struct run *run, bool output, int64_t bytes, int64_t total);
/* asks again for the turns that runs still want; to be called when the schedd has answered
 * SHADOW_HELLO */
void turns_ask_again(struct shadow *shadow);
/* refuses the requests that wait for a turn of the run; only for runs_drop_all() */
void turns_forget(struct run *run);

#endif
