/* shadow/ckpt/ckpt_place_plan.h - decides which directory the checkpoints of a job go to
 * (ckpt_place.c).
 *
 * Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_CKPT_CKPT_PLACE_PLAN_H
#define SHADOW_CKPT_CKPT_PLACE_PLAN_H

struct ad;
struct strbuf;

/* Returns the absolute directory that the job's ad names for checkpoints, or else the site's; NULL:
 * neither names one, use SPOOL; "": what is named is not a local directory, such as a URL other
 * than file:///. Points into the arguments. */
const char *checkpoint_place_plan(const struct ad *job, const char *site);
/* Appends to ret the job's own directory below `above`: named after its GlobalJobId, or else after
 * id. */
void checkpoint_place_plan_name(const struct ad *job, const char *id, const char *above,
                                struct strbuf *ret);

#endif
