/* shadow/stage/place.h - moves staged output to the places that the job's owner named.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_STAGE_PLACE_H
#define SHADOW_STAGE_PLACE_H

struct run;

void place_staged(struct run *run); /* moves the output of a run that is in RUN_PLACING */

#endif
