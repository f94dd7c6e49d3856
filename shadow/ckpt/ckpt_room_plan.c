/* shadow/ckpt/ckpt_room_plan.c - see ckpt_room_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "shadow/ckpt/ckpt_room_plan.h"

#include <stddef.h>

#include "classad/ad.h"

#define FIGURE_MAX  (INT64_MAX / 16)
#define SPARE_BYTES ((int64_t)1 << 20)
#define SPARE_PART  64 /* 1/64 more, for larger tables: at most 32 bytes a page */

static int64_t size_figure(const struct ad *manifest, const char *plain_attr,
                           const char *stored_attr)
{
    int64_t stored = manifest != NULL ? ad_int_or(manifest, stored_attr, 0) : 0;
    int64_t plain = manifest != NULL ? ad_int_or(manifest, plain_attr, stored) : 0;
    return plain < 0 ? 0 : plain < FIGURE_MAX ? plain : FIGURE_MAX;
}

struct checkpoint_room checkpoint_room_plan(const struct ad *base, const struct ad *changes,
                                            const char *plain_attr, const char *stored_attr)
{
    int64_t both =
        size_figure(base, plain_attr, stored_attr) + size_figure(changes, plain_attr, stored_attr);
    int64_t whole = both + both / SPARE_PART + SPARE_BYTES;
    return (struct checkpoint_room){.made = both + whole, .disk = both + whole + whole};
}
