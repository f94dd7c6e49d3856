/* wire/energy_line.c - see energy_line.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wire/energy_line.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "classad/ad.h"

void energy_line_add(struct vec *lines, const struct energy_line *line)
{
    struct strbuf text;
    strbuf_init(&text, 0);
    strbuf_printf(&text, "%" PRId64 " %.6f %.3f %s", line->since_s, line->joules, line->core_s,
                  line->name);
    vec_push(lines, strbuf_take(&text));
    strbuf_fini(&text);
}

/* Reads a number and the blank after it. */
static bool read_figure(const char **at, double *ret)
{
    char *end;
    double value = strtod(*at, &end);
    if (end == *at || *end != ' ' || !isfinite(value) || value < 0) {
        return false;
    }
    *at = end + 1;
    *ret = value;
    return true;
}

bool energy_line_read(const char *text, struct energy_line *ret)
{
    struct energy_line line = {0};
    double since_s;
    if (!read_figure(&text, &since_s) || since_s > 1e15 || !read_figure(&text, &line.joules) ||
        !read_figure(&text, &line.core_s)) {
        return false;
    }
    size_t length = strlen(text);
    if (length == 0 || length > ENERGY_NAME_MAX) {
        return false;
    }
    line.since_s = (int64_t)since_s;
    line.name = text;
    *ret = line;
    return true;
}

void energy_line_each(const struct ad *ad, const char *attribute,
                      void (*each)(void *arg, const struct energy_line *line), void *arg)
{
    struct ad_value list;
    if (ad_eval_attr(ad, NULL, attribute, NULL, &list) == 0 && list.type == AD_TYPE_LIST) {
        for (size_t i = 0; i < ad_value_count(&list); i++) {
            struct ad_value item;
            struct energy_line line;
            ad_value_item(&list, i, &item);
            if (item.type == AD_TYPE_STRING && energy_line_read(item.string.text, &line)) {
                each(arg, &line);
            }
            ad_value_fini(&item);
        }
    }
    ad_value_fini(&list);
}
