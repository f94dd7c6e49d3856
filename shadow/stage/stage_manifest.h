/* shadow/stage/stage_manifest.h - reads what a starter says of its output in JOB_DONE: the names of
 * the files and their checksums.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_STAGE_STAGE_MANIFEST_H
#define SHADOW_STAGE_STAGE_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>

/* Name of the file in the stage that keeps the arguments of JOB_DONE; no output can have this name
 * (transfer_plan.c). */
#define STAGE_MANIFEST     "_condor_roost_result"
#define STAGE_MANIFEST_MAX ((size_t)64 << 20)

struct ad;
struct work;

/* Calls each(work, name, checksum) for each output that result_ad (the arguments of JOB_DONE)
 * names, until one call fails. *ret_count gets the number of outputs.  Returns 0, the error of the
 * failed call, or -EINVAL with work->err when
 * result_ad is malformed. */
int stage_manifest_each(struct work *work, const struct ad *result_ad, size_t *ret_count,
                        int (*each)(struct work *work, const char *name, const char *checksum));
/* Returns true when result_ad (the arguments of JOB_DONE) names no output file. */
bool stage_manifest_is_empty(const struct ad *result_ad);

#endif
