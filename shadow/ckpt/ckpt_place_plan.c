/* shadow/ckpt/ckpt_place_plan.c - see ckpt_place_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "shadow/ckpt/ckpt_place_plan.h"

#include <stddef.h>
#include <string.h>

#include "base/strbuf.h"
#include "classad/ad.h"
#include "wire/checkpoint_attrs.h"

#define FILE_URL "file://"

const char *checkpoint_place_plan(const struct ad *job, const char *site)
{
    const char *said = ad_string_or(job, CKPT_DESTINATION, "");
    const char *place = said[0] != '\0' ? said : site != NULL ? site : "";
    if (place[0] == '\0') {
        return NULL;
    }
    if (strncmp(place, FILE_URL, sizeof FILE_URL - 1) == 0) {
        place += sizeof FILE_URL - 1;
    }
    return place[0] == '/' ? place : "";
}

void checkpoint_place_plan_name(const struct ad *job, const char *id, const char *above,
                                struct strbuf *ret)
{
    const char *name = ad_string_or(job, "GlobalJobId", "");
    if (name[0] == '\0' || name[0] == '.' || strchr(name, '/') != NULL) {
        name = id;
    }
    strbuf_puts(ret, above);
    strbuf_putc(ret, '/');
    for (; *name != '\0'; name++) {
        strbuf_putc(ret, *name == '#' ? '_' : *name);
    }
}
