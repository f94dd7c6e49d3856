/* cli/status/status_totals_plan.h - the lines of totals below the tables of `roost status`.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_STATUS_STATUS_TOTALS_PLAN_H
#define CLI_STATUS_STATUS_TOTALS_PLAN_H

#include <stdbool.h>
#include <stddef.h>

struct ad;
struct strbuf;

/* Prints totals of one kind.  natural (-wide): the first column is as wide as its longest word;
 * otherwise at least as wide as in HTCondor's tables. */
typedef void (*status_totals_f)(const struct ad *const *ads, size_t count, bool natural,
                                struct strbuf *out);

/* Totals of machines: how many are in each state, one line for each platform (then also short
 * platform, activity or power state). */
void status_totals_platform(const struct ad *const *ads, size_t count, bool natural,
                            struct strbuf *out);
/* a line for each platform, such as "x64/Debian12" */
void status_totals_short_platform(const struct ad *const *ads, size_t count, bool natural,
                                  struct strbuf *out);
void status_totals_activity(const struct ad *const *ads, size_t count, bool natural,
                            struct strbuf *out);
void status_totals_power(const struct ad *const *ads, size_t count, bool natural,
                         struct strbuf *out);
/* Totals of the machines' capacity, of what claimed machines do, of schedds, and of submitters. */
void status_totals_server(const struct ad *const *ads, size_t count, bool natural,
                          struct strbuf *out);
void status_totals_claimed(const struct ad *const *ads, size_t count, bool natural,
                           struct strbuf *out);
void status_totals_schedds(const struct ad *const *ads, size_t count, bool natural,
                           struct strbuf *out);
void status_totals_submitters(const struct ad *const *ads, size_t count, bool natural,
                              struct strbuf *out);

/* Counts ads that arrive one after the other and are not kept; NULL: this kind of totals needs all
 * ads at once. */
struct status_count;
struct status_count *status_count_begin(status_totals_f kind);
void status_count_add(struct status_count *count, const struct ad *ad);
/* frees count */
void status_count_end(struct status_count *count, bool natural, struct strbuf *out);
void status_count_destroy(struct status_count *count); /* NULL is allowed */

/* Removes columns that contain only 0, the most rarely used first, until the lines fit into
 * `columns` columns. text holds the lines of totals. */
void status_totals_narrow(struct strbuf *text, int columns);

/* Appends a machine's platform in short, such as "x64/Debian12". */
void status_short_platform(const struct ad *ad, struct strbuf *out);

#endif
