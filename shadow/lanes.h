/* shadow/lanes.h - lanes, on which works go that touch files: which is for whom.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_LANES_H
#define SHADOW_LANES_H

struct ad;
struct loop_lane;
struct shadow;

struct loop_lane *lanes_of(const struct shadow *shadow, const char *id); /* of that job's runs */
/* A copy that shares nothing: for works on a lane. */
struct ad *lanes_copy_ad(const struct ad *ad);

#endif
