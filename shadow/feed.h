/* shadow/feed.h - sends a run's input files to its starter.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_FEED_H
#define SHADOW_FEED_H

struct run;
struct shadow;
struct wire_request;

void feed_fetch(struct run *run, struct wire_request *request); /* answers JOB_FETCH: the list */
void feed_get(struct run *run, struct wire_request *request);   /* answers FILE_GET: the bytes */
void feeds_end(struct shadow *shadow); /* the process ends; lanes have stopped */

#endif
