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

/* Returns the absolute path of the directory for checkpoints that the job's ad names, or else of
 * the directory `site`, the value of CHECKPOINT_DESTINATION (may be NULL).  Returns NULL when
 * neither names a directory (use SPOOL), and "" when the name is not that of a local directory, for
 * example a URL other than file:///.  The result points into the arguments. */
const char *checkpoint_place_plan(const struct ad *job, const char *site);
/* Appends to ret the path of the job's own directory below the directory `above`.  Its last part
 * is the job's GlobalJobId, or, if that is no usable file name, the job's id ("12.3"). */
void checkpoint_place_plan_name(const struct ad *job, const char *id, const char *above,
                                struct strbuf *ret);

#endif
