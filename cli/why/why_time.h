/* cli/why/why_time.h - the time limit of one answer of `roost why`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_WHY_WHY_TIME_H
#define CLI_WHY_WHY_TIME_H

#include <stdbool.h>
#include <stdint.h>

#define WHY_JUDGE_MS 5000 /* time limit for one job; what was not examined by then is reported */

struct loop;

struct why_time {
    struct loop *loop;
    uint64_t over_ms;
};

/* Starts the time limit of the next answer: WHY_JUDGE_MS from now. */
void why_time_start(struct why_time *time, struct loop *loop);

/* Whether WHY_JUDGE_MS are over; arg is a struct why_time (is_over of struct why_question). */
bool why_time_is_over(void *arg);

#endif
