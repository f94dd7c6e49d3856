/* shadow/stage/stage_manifest.h - what a starter says of its output when the job is done: the
 * names, and a sum of each.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_STAGE_STAGE_MANIFEST_H
#define SHADOW_STAGE_STAGE_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>

#define STAGE_MANIFEST     "_condor_roost_result" /* no output can have this name: transfer_plan.c */
#define STAGE_MANIFEST_MAX ((size_t)64 << 20)

struct ad;
struct work;

/* Calls each(work, name, checksum) for what JOB_DONE names, until one fails; *ret_count is how many
 * there are. */
int stage_manifest_each(struct work *work, const struct ad *result_ad, size_t *ret_count,
                        int (*each)(struct work *work, const char *name, const char *checksum));
/* Does it name no file at all? */
bool stage_manifest_is_empty(const struct ad *result_ad);

#endif
