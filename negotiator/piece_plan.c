/* negotiator/piece_plan.c - see piece_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "negotiator/piece_plan.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "classad/ad.h"

#define PIECE_MAX 1e15

static const struct {
    const char *name;
    double unit; /* requests are rounded up to a multiple */
} STANDARD[] = {{"Cpus", 1}, {"Memory", 128}, {"Disk", 1024}};

#define STANDARD_COUNT (sizeof STANDARD / sizeof STANDARD[0])

static bool is_known(const struct piece_names *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++) {
        if (ad_name_compare(names->names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

void piece_names(const struct ad *slot, struct piece_names *ret)
{
    ret->count = 0;
    for (size_t i = 0; i < STANDARD_COUNT; i++) {
        memcpy(ret->names[ret->count++], STANDARD[i].name, strlen(STANDARD[i].name) + 1);
    }
    const char *text = ad_string_or(slot, "MachineResources", "");
    while (*text != '\0' && ret->count < PIECE_NAMES_MAX) {
        text += strspn(text, " ,\t");
        size_t length = strcspn(text, " ,\t");
        if (length > 0 && length < PIECE_NAME_MAX) {
            char *name = ret->names[ret->count];
            memcpy(name, text, length);
            name[length] = '\0';
            ret->count += ad_name_is_valid(name) && !is_known(ret, name) ? 1 : 0;
        }
        text += length;
    }
}

static const char *join_names(const char *prefix, const char *name, char text[PIECE_ATTR_MAX])
{
    size_t length = strlen(prefix);
    memcpy(text, prefix, length);
    memcpy(text + length, name, strlen(name) + 1); /* both are short: PIECE_NAME_MAX */
    return text;
}

const char *piece_request_name(const char *name, char text[PIECE_ATTR_MAX])
{
    return join_names("Request", name, text);
}

const char *piece_modify_name(const char *name, char text[PIECE_ATTR_MAX])
{
    return join_names("MODIFY_REQUEST_EXPR_REQUEST", name, text); /* names have no case */
}

void piece_of_slot(const struct ad *slot, const struct piece_names *names, struct piece *ret)
{
    for (size_t i = 0; i < names->count; i++) {
        double amount = ad_real_or(slot, names->names[i], 0);
        ret->amounts[i] = amount > 0 && amount < PIECE_MAX ? floor(amount) : 0;
    }
}

/* Reads how much the job requests.  False: not a number.  *is_given is false if the request is
 * absent or undefined. */
static bool asked_for(const struct ad *job, const struct ad *slot, const char *name,
                      const struct ad_context *context, bool *is_rounded, bool *is_given,
                      double *ret)
{
    char attr[PIECE_ATTR_MAX];
    struct ad_value value;
    const struct ad_expr *modify = ad_lookup(slot, piece_modify_name(name, attr));
    *is_rounded = modify != NULL;
    if (modify != NULL) {
        ad_eval(modify, job, slot, context, &value);
    } else {
        (void)ad_eval_attr(job, slot, piece_request_name(name, attr), context, &value);
    }
    bool good = true;
    *is_given = true;
    switch (value.type) {
    case AD_TYPE_INT:
        *ret = (double)value.integer;
        break;
    case AD_TYPE_REAL:
        *ret = value.real;
        break;
    case AD_TYPE_UNDEFINED:
        *is_given = false;
        break;
    default:
        good = false;
        break;
    }
    ad_value_fini(&value);
    return good;
}

bool piece_of_job(const struct ad *job, const struct ad *slot, const struct piece_names *names,
                  const struct ad_context *context, struct piece *ret)
{
    for (size_t i = 0; i < names->count; i++) {
        double unit = i < STANDARD_COUNT ? STANDARD[i].unit : 0, amount = 0;
        bool is_rounded, is_given;
        if (!asked_for(job, slot, names->names[i], context, &is_rounded, &is_given, &amount)) {
            return false;
        }
        if (!is_given) {
            amount = unit;
        } else if (!is_rounded && unit > 0) {
            amount = ceil(amount / unit) * unit;
        }
        if (!(amount >= 0 && amount < PIECE_MAX)) {
            return false;
        }
        ret->amounts[i] = ceil(amount);
    }
    return true;
}

bool piece_fits(const struct piece *free, const struct piece *wanted, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (wanted->amounts[i] > free->amounts[i]) {
            return false;
        }
    }
    return true;
}

void piece_take(struct piece *free, const struct piece *wanted, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free->amounts[i] -= wanted->amounts[i];
    }
}
