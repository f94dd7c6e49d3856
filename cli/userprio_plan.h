/* cli/userprio_plan.h - what `roost userprio` prints: accounts of submitters and groups as tables.
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

#define USERPRIO_ACTIVE_S 86400 /* who used nothing for so long is left out */

struct userprio_view {
    bool all;         /* -all: more columns */
    bool all_users;   /* -allusers: also those who used nothing lately */
    bool group_order; /* -grouporder: users below their groups */
    bool rollup;      /* -grouprollup: groups with all below them */
    bool quotas;      /* -quotas: quotas of groups */
    bool surplus;     /* -surplus: who may use what others leave */
    bool priority;    /* -priority: only what priorities are made of */
    bool usage;       /* -usage: only what was used */
};

/* Best priority first, groups before users of equal ones; then by name. */
void userprio_plan_sort(const struct ad **ads, size_t count);
void userprio_plan_print(const struct userprio_view *view, const struct ad *const *ads,
                         size_t count, const struct ad_context *context, struct strbuf *out);
/* Rows of the history of use (QUERY "Usage"). */
void userprio_plan_history(const struct ad *const *ads, size_t count, bool by_hour,
                           const struct ad_context *context, struct strbuf *out);
/* Submitting machines (QUERY "SubmittingMachine"), as they come. */
void userprio_plan_machines(const struct ad *const *ads, size_t count,
                            const struct ad_context *context, struct strbuf *out);

#endif
