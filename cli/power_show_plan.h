/* cli/power_show_plan.h - the output of `roost power`.  Pure.
 *
 * To add a column, add a row to a table of columns in power_show_plan.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_POWER_SHOW_PLAN_H
#define CLI_POWER_SHOW_PLAN_H

#include <stdbool.h>
#include <stddef.h>

struct ad;
struct ad_context;
struct strbuf;
struct vec;

/* Makes ads of nodes from the ads of their slots, for a pool whose rooster does not respond.
 * PowerState is that of the slots' ads, and Unknown where the machine does not respond, either. The
 * caller owns the ads in nodes (struct ad *). */
void power_show_slots(const struct ad *const *slots, size_t count, struct vec *nodes);

/* Sorts the ads of nodes by name. */
void power_show_sort(const struct ad **ads, size_t count);
/* Prints the ads of nodes that the rooster sent in reply to POWER_STATUS; nothing for no ads. */
void power_show_status(const struct ad *const *ads, size_t count, const struct ad_context *context,
                       struct strbuf *out);
/* Prints entries of the rooster's wake ledger; nothing for no ads. */
void power_show_history(const struct ad *const *ads, size_t count, const struct ad_context *context,
                        struct strbuf *out);

/* Appends who has taken the machine out of work, and why: "is locked by ...", or "stays off until
 * ...", from a machine's or a node's ad.  Returns false, with nothing appended, if nobody has. */
bool power_show_lock(const struct ad *ad, const struct ad_context *context, struct strbuf *out);

/* Prints what keeps a machine on or off, and whether it would be woken without ROOSTER_DRY_RUN;
 * several reasons are separated by the text `between`.  Prints nothing when there is no reason. */
void power_show_holds(const struct ad *ad, const struct ad_context *context, const char *between,
                      struct strbuf *out);

/* Appends the line (without newline) for POWER_ON's answer about one node; returns whether the node
 * is being switched on. */
bool power_show_order(const struct ad *answer, struct strbuf *out);

#endif
