/* cli/classad/classad_batch_plan.c - see classad_batch_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/classad/classad_batch_plan.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "classad/ad.h"

#define FIELDS_MAX 3

struct field {
    const char *text;
    size_t length;
};

static const char SYMMETRIC[] = "symmetric-match";

static int answer_expression(const struct classad_batch *batch, const struct field *field, bool old,
                             const struct ad *my, const struct ad *target, struct strbuf *out,
                             struct err *err)
{
    const enum ad_syntax syntax = old ? AD_OLD : AD_NEW;
    struct ad_expr *expr = NULL;
    int rc = ad_expr_parse_in(field->text, field->length, syntax, batch->context, &expr, NULL, err);
    if (rc != 0) {
        return rc;
    }
    if (batch->unparse) {
        ad_expr_print(expr, syntax, out);
    } else {
        struct ad_value value;
        ad_eval(expr, my, target, batch->context, &value);
        ad_value_print(&value, out);
        ad_value_fini(&value);
    }
    ad_expr_destroy(expr);
    return 0;
}

static int answer_with_ads(const struct classad_batch *batch, const struct field *fields,
                           size_t count, struct strbuf *out, struct err *err)
{
    static const char *const NAMES[] = {"first ad", "second ad"};
    struct ad *ads[2] = {NULL, NULL};
    int rc = 0;
    for (size_t i = 0; rc == 0 && i + 1 < count; i++) {
        rc = ad_parse_in(fields[i].text, fields[i].length, batch->context, &ads[i], NULL, err);
        if (rc != 0) {
            (void)err_prefix(err, rc, "%s", NAMES[i]);
        }
    }
    const struct field *last = &fields[count - 1];
    if (rc != 0) {
        /* said already */
    } else if (count == 3 && last->length == sizeof SYMMETRIC - 1 &&
               memcmp(last->text, SYMMETRIC, last->length) == 0) {
        strbuf_puts(out, ad_match(ads[0], ads[1], batch->context) ? "true" : "false");
    } else {
        rc = answer_expression(batch, last, batch->old || count == 3, ads[0], ads[1], out, err);
    }
    ad_destroy(ads[0]);
    ad_destroy(ads[1]);
    return rc;
}

static size_t split_fields(const char *line, size_t length, struct field *fields)
{
    size_t count = 0;
    const char *end = line + length;
    for (;;) {
        const char *tab = memchr(line, '\t', (size_t)(end - line));
        if (count < FIELDS_MAX) {
            fields[count] = (struct field){line, (size_t)((tab != NULL ? tab : end) - line)};
        }
        count++;
        if (tab == NULL) {
            return count;
        }
        line = tab + 1;
    }
}

int classad_batch_answer(const struct classad_batch *batch, const char *line, size_t length,
                         struct strbuf *out, struct err *err)
{
    struct field fields[FIELDS_MAX] = {{line, length}};
    size_t count = batch->tsv ? split_fields(line, length, fields) : 1;
    int rc;
    if (!batch->tsv) {
        rc = answer_expression(batch, fields, batch->old, batch->my, batch->target, out, err);
    } else if (count < 2 || count > FIELDS_MAX) {
        rc =
            err_set(err, -EINVAL, "expected two or three fields separated by tabs, not %zu", count);
    } else {
        rc = answer_with_ads(batch, fields, count, out, err);
    }
    if (rc != 0) {
        strbuf_puts(out, CLASSAD_REFUSED);
    }
    return rc;
}
