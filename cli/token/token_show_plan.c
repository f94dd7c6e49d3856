/* cli/token/token_show_plan.c - see token_show_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/token/token_show_plan.h"

#include <stdint.h>

#include "base/check.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "cli/table_plan.h"

static void cell_id(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    table_plan_string(ad, "Id", out);
}

static void cell_identity(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    table_plan_string(ad, "Identity", out);
}

static void cell_scopes(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    table_plan_string(ad, "Scopes", out);
}

static void cell_pattern(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    table_plan_string(ad, "Pattern", out);
}

static void cell_issued(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    table_plan_date(ad_int_or(ad, "Issued", 0), context, out);
}

static void cell_left(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    int64_t expires_s = ad_int_or(ad, "Expires", 0);
    if (ad_bool_or(ad, "Revoked", false)) {
        strbuf_puts(out, "revoked");
    } else if (expires_s == 0) {
        strbuf_puts(out, "never");
    } else if (expires_s <= context->now_s) {
        strbuf_puts(out, "expired");
    } else {
        strbuf_puts(out, "in ");
        table_plan_duration(expires_s - context->now_s, out);
    }
}

static const struct column TOKENS[] = {
    {"Id", TABLE_LEFT, 36, TABLE_LEFT, true, cell_id},
    {"Identity", TABLE_LEFT, 20, TABLE_LEFT, true, cell_identity},
    {"Scopes", TABLE_LEFT, 10, TABLE_LEFT, true, cell_scopes},
    {"Names", TABLE_LEFT, 5, TABLE_LEFT, true, cell_pattern},
    {"Issued", TABLE_LEFT, 11, TABLE_LEFT, true, cell_issued},
    {"Expires", TABLE_LEFT, 7, TABLE_LEFT, true, cell_left},
};

void token_show_list(const struct ad *const *ads, size_t count, const struct ad_context *context,
                     struct strbuf *out)
{
    if (count > 0) {
        table_plan_print(TOKENS, ARRAY_COUNT(TOKENS), true, ads, count, context, out);
    }
}
