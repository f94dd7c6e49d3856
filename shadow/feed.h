/* shadow/feed.h - sends a run's input files to its starter.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_FEED_H
#define SHADOW_FEED_H

struct run;
struct shadow;
struct wire_request;

/* Answers JOB_FETCH with the list of files. */
void feed_fetch(struct run *run, struct wire_request *request);
void feed_get(struct run *run, struct wire_request *request); /* answers FILE_GET with the bytes */
void feeds_end(struct shadow *shadow); /* frees all, when lanes have stopped */

#endif
