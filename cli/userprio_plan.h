/* cli/userprio_plan.h - the output of `roost userprio`: accounts of submitters and groups as
 * tables.
 *
 * The columns are HTCondor's (condor_userprio).  Pure: Accounting ads in, text out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_USERPRIO_PLAN_H
#define CLI_USERPRIO_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ad;
struct ad_context;
struct strbuf;

#define USERPRIO_ACTIVE_S 86400 /* users without usage in this many seconds are left out */

enum userprio_quotas {
    USERPRIO_NO_QUOTAS,
    USERPRIO_SURPLUS, /* -surplus: which groups may use what others leave */
    USERPRIO_QUOTAS,  /* -quotas, with or without -surplus: quotas of groups */
};

enum userprio_columns {
    USERPRIO_BOTH,
    USERPRIO_PRIORITY, /* -priority: only the columns about the priority */
    USERPRIO_USAGE,    /* -usage, with or without -priority: only the columns about the usage */
};

struct userprio_view {
    bool all;         /* -all: more columns */
    bool all_users;   /* -allusers: also users without recent usage */
    bool group_order; /* -grouporder: users below their groups */
    bool rollup;      /* -grouprollup: groups include all groups below them */
    enum userprio_quotas quotas;
    enum userprio_columns columns;
};

/* Sorts by best priority first; groups before users of equal priority; then by name. */
void userprio_plan_sort(const struct ad **ads, size_t count);
void userprio_plan_print(const struct userprio_view *view, const struct ad *const *ads,
                         size_t count, const struct ad_context *context, struct strbuf *out);
/* Prints a row for each hour (by_hour) or each day of the usage history (answer of the query
 * "Usage"). */
void userprio_plan_history(const struct ad *const *ads, size_t count, bool by_hour,
                           const struct ad_context *context, struct strbuf *out);
/* Prints submitting machines (answer of the query "SubmittingMachine") in the given order. */
void userprio_plan_machines(const struct ad *const *ads, size_t count,
                            const struct ad_context *context, struct strbuf *out);

#endif
