/* cli/status/status_totals_plan.h - the totals below the tables of `roost status`.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_STATUS_STATUS_TOTALS_PLAN_H
#define CLI_STATUS_STATUS_TOTALS_PLAN_H

#include <stdbool.h>
#include <stddef.h>

struct ad;
struct strbuf;

/* natural: the first column is as wide as its longest word (-wide), else at least as in HTCondor's
 * tables. */
typedef void (*status_totals_f)(const struct ad *const *ads, size_t count, bool natural,
                                struct strbuf *out);

/* Of machines: how many are in which state, by ... */
void status_totals_platform(const struct ad *const *ads, size_t count, bool natural,
                            struct strbuf *out);
void status_totals_short_platform(const struct ad *const *ads, size_t count, bool natural,
                                  struct strbuf *out); /* "x64/Debian12" */
void status_totals_activity(const struct ad *const *ads, size_t count, bool natural,
                            struct strbuf *out);
void status_totals_power(const struct ad *const *ads, size_t count, bool natural,
                         struct strbuf *out);
/* ... what they are capable of, what the claimed ones do. */
void status_totals_server(const struct ad *const *ads, size_t count, bool natural,
                          struct strbuf *out);
void status_totals_claimed(const struct ad *const *ads, size_t count, bool natural,
                           struct strbuf *out);
void status_totals_schedds(const struct ad *const *ads, size_t count, bool natural,
                           struct strbuf *out);
void status_totals_submitters(const struct ad *const *ads, size_t count, bool natural,
                              struct strbuf *out);

/* The same of ads that come one after the other and are not kept; NULL: that kind wants all at
 * once. */
struct status_count;
struct status_count *status_count_begin(status_totals_f kind);
void status_count_add(struct status_count *count, const struct ad *ad);
void status_count_end(struct status_count *count, bool natural, struct strbuf *out); /* takes it */
void status_count_destroy(struct status_count *count); /* NULL is allowed */

/* Takes columns away that hold nothing but 0 until the lines fit; those that hardly ever hold more
 * go first.  text: the lines of totals. */
void status_totals_narrow(struct strbuf *text, int columns);

/* "x64/Debian12" of a machine; appended. */
void status_short_platform(const struct ad *ad, struct strbuf *out);

#endif
