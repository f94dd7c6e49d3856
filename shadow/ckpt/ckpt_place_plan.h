/* shadow/ckpt/ckpt_place_plan.h - which directory the checkpoints of a job go to: see ckpt_place.c.
 *
 * Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_CKPT_CKPT_PLACE_PLAN_H
#define SHADOW_CKPT_CKPT_PLACE_PLAN_H

struct ad;
struct strbuf;

/* The directory that the job's ad names, or else the site; NULL: neither, it is SPOOL.  Part of the
 * arguments.  It may be none (""): of a URL that is not file:///. */
const char *checkpoint_place_plan(const struct ad *job, const char *site);
/* The job's own directory below it, appended to ret. */
void checkpoint_place_plan_name(const struct ad *job, const char *id, const char *above,
                                struct strbuf *ret);

#endif
