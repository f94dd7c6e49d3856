/* shadow/feed.h - a run's input.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_FEED_H
#define SHADOW_FEED_H

struct run;
struct shadow;
struct wire_request;

void feed_fetch(struct run *run, struct wire_request *request); /* JOB_FETCH */
void feed_get(struct run *run, struct wire_request *request);   /* FILE_GET */
void feeds_end(struct shadow *shadow); /* the process ends, lanes have stopped */

#endif
