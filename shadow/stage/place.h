/* shadow/stage/place.h - what was staged, put into its place.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_STAGE_PLACE_H
#define SHADOW_STAGE_PLACE_H

struct run;

void place_staged(struct run *run); /* its phase is RUN_PLACING */

#endif
