/* schedd/moments.c - see moments.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/moments.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "base/wall_offset.h"
#include "classad/ad.h"
#include "schedd/schedd_state.h"

void moment_note_ago(const struct schedd *schedd, struct ad *ad, const char *name, int64_t ago_s)
{
    char text[OS_BOOT_ID_SIZE + 24];
    (void)snprintf(text, sizeof(text), "%" PRId64 " %s",
                   (int64_t)loop_now_ms(schedd->loop) - ago_s * 1000,
                   schedd->self.boot_id); /* fits */
    ad_set_string(ad, name, text);
}

void moment_note(const struct schedd *schedd, struct ad *ad, const char *name)
{
    moment_note_ago(schedd, ad, name, 0);
}

bool moment_of_this_boot(const struct schedd *schedd, const struct ad *ad, const char *name,
                         int64_t *ret)
{
    const char *text = ad != NULL ? ad_string_or(ad, name, "") : "";
    char *end = NULL;
    long long at_ms = strtoll(text, &end, 10);
    if (end == text || *end != ' ' || strcmp(end + 1, schedd->self.boot_id) != 0) {
        return false;
    }
    *ret = at_ms;
    return true;
}

int64_t moment_since_s(const struct schedd *schedd, const struct ad *ad, const char *name,
                       int64_t stamp_s)
{
    int64_t at_ms = 0;
    if (!moment_of_this_boot(schedd, ad, name, &at_ms)) {
        if (stamp_s <= 0) {
            return 0;
        }
        bool noted = ad != NULL && ad_has(ad, name);
        at_ms = wall_offset_earlier_ms(stamp_s, loop_wall_s(schedd->loop),
                                       loop_now_ms(schedd->loop), noted, MOMENT_PLAUSIBLE_S);
    }
    return loop_since_s(schedd->loop, at_ms);
}
