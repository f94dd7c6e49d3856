/* startd/machine/inventory_plan.c - see inventory_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "startd/machine/inventory_plan.h"

#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "classad/ad.h"

static void append_name(struct strbuf *text, const char *id)
{
    for (; *id != '\0'; id++) {
        bool fits = (*id >= '0' && *id <= '9') || (*id >= 'a' && *id <= 'z') ||
                    (*id >= 'A' && *id <= 'Z') || *id == '_';
        strbuf_putc(text, fits ? *id : '_');
    }
}

static bool is_unit(const struct resource_kind *kind, const char *name)
{
    bool found = false;
    for (size_t i = 0; i < kind->id_count && !found; i++) {
        struct strbuf text;
        strbuf_init(&text, 0);
        append_name(&text, kind->ids[i]);
        found = ad_name_compare(strbuf_text(&text), name) == 0;
        strbuf_fini(&text);
    }
    return found;
}

static void add_units(struct resource_kind *kind, const struct ad *found)
{
    const struct ad *common = NULL, *own;
    (void)ad_get_ad(found, "Common", &common); /* there need not be one */
    for (size_t i = 0; i < kind->id_count; i++) {
        struct strbuf text;
        strbuf_init(&text, 0);
        append_name(&text, kind->ids[i]);
        struct ad *unit = ad_create();
        ad_set_string(unit, "Id", kind->ids[i]);
        if (common != NULL) {
            ad_merge(unit, common);
        }
        if (ad_get_ad(found, strbuf_text(&text), &own) == 0) {
            ad_merge(unit, own);
        }
        kind->properties[i] = unit;
        strbuf_fini(&text);
    }
}

static void show_common(const char *name, const struct ad *common, struct ad *shown)
{
    size_t at = 0;
    const char *property;
    while (ad_next(common, &at, &property, NULL)) {
        struct strbuf text;
        strbuf_init(&text, 0);
        strbuf_printf(&text, "%s_%s", name, property);
        (void)ad_copy_attr(shown, strbuf_text(&text), common, property); /* it is there */
        strbuf_fini(&text);
    }
}

static void show_rest(const struct resource_kind *kind, const char *detected,
                      const struct ad *found, struct ad *shown)
{
    size_t at = 0;
    const char *name;
    const struct ad *nested;
    while (ad_next(found, &at, &name, NULL)) {
        bool common = ad_name_compare(name, "Common") == 0;
        if (common && ad_get_ad(found, name, &nested) == 0) {
            show_common(kind->name, nested, shown);
        } else if (!common && ad_name_compare(name, detected) != 0 && !is_unit(kind, name)) {
            (void)ad_copy_attr(shown, name, found, name); /* it is there */
        }
    }
}

int inventory_plan_add(struct resource_kinds *kinds, const char *name, const struct ad *found,
                       struct resources *total, struct ad *shown, struct err *err)
{
    struct strbuf detected, text;
    const char *ids;
    int64_t amount;
    int rc = 0;
    strbuf_init(&detected, 0);
    strbuf_init(&text, 0);
    strbuf_printf(&detected, "Detected%s", name);
    if (ad_get_string(found, strbuf_text(&detected), &ids) == 0) {
        strbuf_puts(&text, ids);
    } else if (ad_get_int(found, strbuf_text(&detected), &amount) == 0) {
        strbuf_printf(&text, "%lld", (long long)amount);
    } else {
        rc = err_set(err, -ENOENT, "MACHINE_RESOURCE_INVENTORY_%.80s: the program prints no %.100s",
                     name, strbuf_text(&detected));
    }
    rc = rc != 0 ? rc : carve_plan_kinds_add(kinds, name, strbuf_text(&text), total, err);
    if (rc == 0) {
        struct resource_kind *kind = &kinds->kinds[kinds->count - 1];
        add_units(kind, found);
        show_rest(kind, strbuf_text(&detected), found, shown);
    }
    strbuf_fini(&detected);
    strbuf_fini(&text);
    return rc;
}

void inventory_plan_write(const struct resource_kinds *kinds, const struct resources *resources,
                          struct ad *ad)
{
    for (size_t i = RESOURCE_CUSTOM; i < kinds->count; i++) {
        const struct resource_kind *kind = &kinds->kinds[i];
        struct strbuf list, name;
        strbuf_init(&list, 0);
        strbuf_init(&name, 0);
        for (size_t unit = 0; unit < kind->id_count && kind->properties[unit] != NULL; unit++) {
            if (!carve_plan_has_id(&resources->ids[i], unit)) {
                continue;
            }
            strbuf_clear(&name);
            strbuf_printf(&name, "%s_", kind->name);
            append_name(&name, kind->ids[unit]);
            strbuf_printf(&list, "%s%s", list.length > 0 ? ", " : "{ ", strbuf_text(&name));
            ad_set_ad(ad, strbuf_text(&name), ad_copy(kind->properties[unit]));
        }
        if (kind->id_count > 0 && kind->properties[0] != NULL) {
            strbuf_puts(&list, list.length > 0 ? " }" : "{ }");
            strbuf_clear(&name);
            strbuf_printf(&name, "Available%s", kind->name);
            (void)ad_set_expr(ad, strbuf_text(&name), strbuf_text(&list), NULL); /* names only */
        }
        strbuf_fini(&list);
        strbuf_fini(&name);
    }
}

void inventory_plan_wish(const struct resource_kinds *kinds, const struct ad *job,
                         const struct ad_context *context, struct resources *want)
{
    for (size_t i = RESOURCE_CUSTOM; i < kinds->count; i++) {
        const struct resource_kind *kind = &kinds->kinds[i];
        struct strbuf name;
        strbuf_init(&name, 0);
        strbuf_printf(&name, "Require%s", kind->name);
        const struct ad_expr *expr = ad_lookup(job, strbuf_text(&name));
        strbuf_fini(&name);
        want->picky[i] = expr != NULL && kind->id_count > 0;
        for (size_t unit = 0; want->picky[i] && unit < kind->id_count; unit++) {
            if (kind->properties[unit] != NULL &&
                ad_eval_bool(expr, kind->properties[unit], job, context) == AD_TRUE) {
                carve_plan_add_id(&want->ids[i], unit);
            }
        }
    }
}
