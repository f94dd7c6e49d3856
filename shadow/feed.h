/* shadow/feed.h - sends a run's input files to its starter.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_FEED_H
#define SHADOW_FEED_H

struct run;
struct shadow;
struct wire_request;

/* Answers the starter's JOB_FETCH with the list of the run's input files. */
void feed_fetch(struct run *run, struct wire_request *request);
/* Answers the starter's FILE_GET with the bytes of an input file. */
void feed_get(struct run *run, struct wire_request *request);
/* Refuses the FILE_GET requests not answered yet, with -ESHUTDOWN (the shadow ends).  To be called
 * after the lanes have stopped. */
void feeds_end(struct shadow *shadow);

#endif
