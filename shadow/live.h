/* shadow/live.h - writes a job's standard output and error to the owner's files while the job runs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_LIVE_H
#define SHADOW_LIVE_H

struct run;
struct wire_request;

/* Handles a starter's FILE_PUT with the attribute Stream: bytes of standard output or error. */
void live_put(struct run *run, struct wire_request *request);

#endif
