/* schedd/claim/machine_attrs.c - see machine_attrs.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/claim/machine_attrs.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "classad/ad.h"
#include "schedd/queue/job_ad.h"
#include "schedd/schedd_state.h"

#define NAME_BYTES  128 /* most bytes of an attribute's name, with the terminating zero */
#define HISTORY_MAX 100
#define DIVIDERS    ", \t"

/* Takes the next valid name off the list.  Returns false at the end. */
static bool next_name(const char **list, char ret[NAME_BYTES])
{
    for (;;) {
        *list += strspn(*list, DIVIDERS);
        size_t length = strcspn(*list, DIVIDERS);
        if (length == 0) {
            return false;
        }
        bool fits = length < NAME_BYTES;
        memcpy(ret, *list, fits ? length : 0);
        ret[fits ? length : 0] = '\0';
        *list += length;
        if (ad_name_is_valid(ret) && !ad_attr_is_private(ret)) {
            return true;
        }
    }
}

void machine_attrs_look_at(struct schedd *schedd, const struct job *job)
{
    if (job_has(job, "JobMachineAttrs") || job_has(job, "UserLogExecuteEventAttrs")) {
        schedd->wants_slots = true;
    }
}

/* Copies the slot's value of an attribute; undefined when the slot has none. */
static void copy_value(struct ad *to, const char *as, const struct ad *slot, const char *name)
{
    struct ad_value value;
    if (ad_eval_attr(slot, NULL, name, NULL, &value) != 0) {
        ad_set_undefined(to, as);
        return;
    }
    switch (value.type) {
    case AD_TYPE_INT:
        ad_set_int(to, as, value.integer);
        break;
    case AD_TYPE_REAL:
        ad_set_real(to, as, value.real);
        break;
    case AD_TYPE_BOOL:
        ad_set_bool(to, as, value.boolean);
        break;
    case AD_TYPE_STRING:
        ad_set_string(to, as, value.string.text);
        break;
    default:
        ad_set_undefined(to, as);
        break;
    }
    ad_value_fini(&value);
}

/* Makes the name of a value in the history, such as MachineAttrCpus0.  Returns false when it is not
 * valid. */
static bool history_name(const char *name, int64_t place, char ret[NAME_BYTES + 32])
{
    (void)snprintf(ret, NAME_BYTES + 32, "MachineAttr%s%" PRId64, name, place); /* fits */
    return ad_name_is_valid(ret);
}

static void note_attribute(struct job *job, const struct ad *slot, const char *name, int64_t length)
{
    char from[NAME_BYTES + 32], to[NAME_BYTES + 32];
    struct ad *own = job_own(job);
    if (!history_name(name, length, to)) {
        return;
    }
    for (int64_t place = length - 1; place > 0; place--) {
        (void)history_name(name, place - 1, from); /* as valid as the first */
        (void)history_name(name, place, to);
        if (ad_has(own, from)) {
            (void)ad_copy_attr(own, to, own, from); /* it is there */
        }
    }
    (void)history_name(name, 0, to);
    copy_value(own, to, slot, name);
}

void machine_attrs_note(const struct schedd *schedd, struct job *job, const struct ad *slot)
{
    char name[NAME_BYTES];
    int64_t length = job_int(job, "JobMachineAttrsHistoryLength", 1);
    length = length > HISTORY_MAX ? HISTORY_MAX : length;
    if (slot == NULL || length < 1) {
        return;
    }
    const char *const *site = schedd->settings.machine_attrs;
    for (size_t i = 0; site != NULL && site[i] != NULL; i++) {
        const char *one = site[i];
        if (next_name(&one, name)) {
            note_attribute(job, slot, name, length);
        }
    }
    const char *own = job_string(job, "JobMachineAttrs", "");
    while (next_name(&own, name)) {
        note_attribute(job, slot, name, length);
    }
}

void machine_attrs_tell(const struct job *job, const struct ad *slot, struct ad *props)
{
    char name[NAME_BYTES];
    const char *names = job_string(job, "UserLogExecuteEventAttrs", "");
    while (slot != NULL && next_name(&names, name)) {
        if (ad_has(slot, name)) {
            copy_value(props, name, slot, name);
        }
    }
}
