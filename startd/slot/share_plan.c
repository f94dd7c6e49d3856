/* startd/slot/share_plan.c - see share_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "startd/slot/share_plan.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"

/* ---- shares */

/* Reads "4G", which only memory and disk may be, in the unit of that resource. */
static int read_size(struct share_item *item, const char *text, struct err *err)
{
    bool is_memory = text_equal_nocase(item->name, "Memory");
    if ((!is_memory && !text_equal_nocase(item->name, "Disk")) ||
        text_parse_size(text, &item->amount, NULL) != 0 || item->amount < 0) {
        return err_set(err, -EINVAL, "'%s' is not a number, a percentage, a fraction or 'auto'",
                       text);
    }
    item->amount >>= is_memory ? 20 : 10;
    return 0;
}

/* Reads "25%" or "1/4"; or "4096", "4G". */
static int read_amount(struct share_item *item, char *text, struct err *err)
{
    char whole[SHARE_WORD_MAX + 1];
    size_t length = strlen(text);
    double share = 0.0, below = 1.0;
    memcpy(whole, text, length + 1);
    char *slash = strchr(text, '/');
    item->how = SHARE_PART;
    if (length > 1 && text[length - 1] == '%') {
        text[length - 1] = '\0';
        if (text_parse_double(text, &share, NULL) != 0 || !(share >= 0.0 && share <= 100.0)) {
            return err_set(err, -EINVAL, "'%s' is not a valid percentage; expected 0%% to 100%%",
                           whole);
        }
        item->part = share / 100.0;
        return 0;
    }
    if (slash != NULL) {
        *slash = '\0';
        if (text_parse_double(text, &share, NULL) != 0 ||
            text_parse_double(slash + 1, &below, NULL) != 0 || !(share >= 0.0 && below >= share) ||
            !(below > 0.0)) {
            return err_set(err, -EINVAL, "'%s' is not a valid fraction such as 1/4", whole);
        }
        item->part = share / below;
        return 0;
    }
    item->how = SHARE_AMOUNT;
    if (text_parse_int64(text, &item->amount, NULL) != 0) {
        return read_size(item, text, err);
    }
    return item->amount >= 0 && item->amount <= RESOURCE_AMOUNT_MAX
               ? 0
               : err_set(err, -EINVAL, "'%s' is not a valid amount", whole);
}

/* Reads one item, which it may change: "cpus=2", or "25%" for everything. */
static int read_item(char *text, struct share_item *item, struct err *err)
{
    char *equals = strchr(text, '=');
    char *value = text;
    *item = (struct share_item){.how = SHARE_AUTO};
    if (equals != NULL) {
        char *end = equals;
        while (end > text && text_is_gap(end[-1])) {
            end--;
        }
        *end = '\0';
        const char *name = text_equal_nocase(text, "ram") ? "Memory" : text;
        if (strlen(name) > SHARE_WORD_MAX || name[0] == '\0') {
            return err_set(err, -EINVAL, "'%.60s': not the name of a resource", name);
        }
        memcpy(item->name, name, strlen(name) + 1);
        value = equals + 1;
        while (text_is_gap(*value)) {
            value++;
        }
    }
    if (text_equal_nocase(value, "auto") || text_equal_nocase(value, "automatic")) {
        return 0;
    }
    if (equals == NULL && strpbrk(value, "%/") == NULL) {
        return err_set(err, -EINVAL, "'%s': the name of the resource is missing", value);
    }
    return strlen(value) > SHARE_WORD_MAX
               ? err_set(err, -EINVAL, "'%.80s' is not a valid share", value)
               : read_amount(item, value, err);
}

int share_plan_next(const char **at, struct share_item *ret, struct err *err)
{
    while (**at != '\0') {
        char text[2 * SHARE_WORD_MAX + 1];
        const char *from = *at;
        size_t length = strcspn(from, ",;\n");
        *at = from + length + (from[length] != '\0' ? 1 : 0);
        while (length > 0 && text_is_gap(*from)) {
            from++;
            length--;
        }
        while (length > 0 && text_is_gap(from[length - 1])) {
            length--;
        }
        if (length >= sizeof text) {
            return err_set(err, -EINVAL, "'%.60s...': too long for the share of one resource",
                           from);
        }
        if (length > 0) {
            memcpy(text, from, length);
            text[length] = '\0';
            int rc = read_item(text, ret, err);
            return rc == 0 ? 1 : rc;
        }
    }
    return 0;
}

int64_t share_plan_amount(const struct share_item *item, int64_t whole)
{
    return item->how == SHARE_PART ? (int64_t)((double)whole * item->part + 1e-9) : item->amount;
}

int share_plan_check(const char *text, struct err *err)
{
    struct share_item item;
    int rc;
    do {
        rc = share_plan_next(&text, &item, err);
    } while (rc == 1);
    return rc;
}

/* ---- resources */

int share_plan_check_resource(const char *text, struct err *err)
{
    int64_t amount;
    double number;
    if (text_parse_int64(text, &amount, NULL) == 0) {
        return amount >= 0 && amount <= RESOURCE_AMOUNT_MAX
                   ? 0
                   : err_set(err, -EINVAL, "%s is not a valid amount; expected 0 or more", text);
    }
    if (text_parse_double(text, &number, NULL) == 0) {
        return err_set(err, -EINVAL,
                       "%s is not a valid amount; expected a whole number, 0 or more, or the "
                       "identifiers of the units",
                       text);
    }
    for (const char *at = text; *at != '\0';) {
        size_t length = strcspn(at, ", \t\n");
        if (length > RESOURCE_ID_MAX) {
            return err_set(err, -E2BIG, "an identifier is too long: '%.60s...'", at);
        }
        at += length + strspn(at + length, ", \t\n");
    }
    return 0;
}
