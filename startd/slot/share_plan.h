/* startd/slot/share_plan.h - the texts of SLOT_TYPE_<n> and MACHINE_RESOURCE_<name>.
 *
 * Pure, and part of the library of knobs, so that the values are parsed wherever a configuration is
 * read (startd/knobs.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_SLOT_SHARE_PLAN_H
#define STARTD_SLOT_SHARE_PLAN_H

#include <stdint.h>

struct err;

#define SHARE_WORD_MAX      80 /* most bytes of a word, without the terminating zero */
#define RESOURCE_ID_MAX     64 /* most bytes of a unit's identifier, without the terminating zero */
#define RESOURCE_AMOUNT_MAX ((int64_t)1 << 50)

enum share_how { SHARE_AUTO, SHARE_AMOUNT, SHARE_PART };

/* One item of a share: "cpus=2", "memory=25%", "disk=1/4", "GPUs=auto"; or "50%", of everything. */
struct share_item {
    char name[SHARE_WORD_MAX + 1]; /* as written, "ram" is "Memory"; "": every resource */
    enum share_how how;
    int64_t amount; /* SHARE_AMOUNT: of memory MiB, of disk KiB */
    double part;    /* SHARE_PART: 0 to 1, of the machine */
};

/* Reads the item at *at of the text of SLOT_TYPE_<n>, and moves *at behind it.  Returns 1; 0: the
 * text is at its end; -EINVAL, with the item in err. */
int share_plan_next(const char **at, struct share_item *ret, struct err *err);
/* Returns how much the item is where the machine has `whole`; not for SHARE_AUTO. */
int64_t share_plan_amount(const struct share_item *item, int64_t whole);

/* For struct knob_family: returns 0 if all items of a share can be read; else -EINVAL. */
int share_plan_check(const char *text, struct err *err);
/* For struct knob_family: returns 0 if the text is an amount of a resource, or the identifiers of
 * its units; -EINVAL: a bad amount; -E2BIG: an identifier is too long. */
int share_plan_check_resource(const char *text, struct err *err);

#endif
