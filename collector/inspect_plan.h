/* collector/inspect_plan.h - describes what is wrong with a machine's ad, for the machine's owner.
 *
 * A machine with a bad ad only gets no jobs, which nobody else notices, so its owner is told.
 * Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COLLECTOR_INSPECT_PLAN_H
#define COLLECTOR_INSPECT_PLAN_H

#include <stdbool.h>

#define INSPECT_ATTRIBUTES_USUAL 1000 /* an ad with more attributes is reported */
/* a description of so many bytes, without the terminating zero, gets no further problem */
#define INSPECT_TEXT_MAX 400

struct ad;
struct ad_context;
struct strbuf;

/* Appends to out a description of what is wrong with a machine ad; nothing if all is well.  It
 * reports: more than INSPECT_ATTRIBUTES_USUAL attributes; Requirements, Start or Rank that refer to
 * themselves; attributes used by Requirements that refer to themselves; missing Requirements; a
 * part of Requirements that is an error for any job; Cpus, Memory or Disk that are not numbers or
 * are negative; TokenExpires: the startd's token ends soon. */
void inspect_plan_ad(const struct ad *ad, const struct ad_context *context, struct strbuf *out);

#endif
