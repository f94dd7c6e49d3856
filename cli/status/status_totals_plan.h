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

/* Prints how many slots are in each state: a line for each platform, such as "X86_64/LINUX". */
void status_totals_platform(const struct ad *const *ads, size_t count, bool natural,
                            struct strbuf *out);
/* Prints how many slots are in each state: a line for each short platform, such as "x64/Debian12".
 */
void status_totals_short_platform(const struct ad *const *ads, size_t count, bool natural,
                                  struct strbuf *out);
/* Prints how many slots are in each state: a line for each activity. */
void status_totals_activity(const struct ad *const *ads, size_t count, bool natural,
                            struct strbuf *out);
/* Prints how many slots are in each state: a line for each power state. */
void status_totals_power(const struct ad *const *ads, size_t count, bool natural,
                         struct strbuf *out);
/* Prints sums of the slots' resources, a line for each platform (-server). */
void status_totals_server(const struct ad *const *ads, size_t count, bool natural,
                          struct strbuf *out);
/* Prints number, speed and average load of claimed slots, a line for each platform (-claimed). */
void status_totals_claimed(const struct ad *const *ads, size_t count, bool natural,
                           struct strbuf *out);
/* Prints the numbers of jobs of all schedds together. */
void status_totals_schedds(const struct ad *const *ads, size_t count, bool natural,
                           struct strbuf *out);
/* Prints the numbers of jobs of each submitter. */
void status_totals_submitters(const struct ad *const *ads, size_t count, bool natural,
                              struct strbuf *out);

/* Counts ads that arrive one after the other and are not kept. */
struct status_count;
/* Begins to count ads that arrive one after the other.  Returns NULL if totals of this kind need
 * all ads at once. */
struct status_count *status_count_begin(status_totals_f kind);
void status_count_add(struct status_count *count, const struct ad *ad);
/* Prints the totals and frees count. */
void status_count_end(struct status_count *count, bool natural, struct strbuf *out);
void status_count_destroy(struct status_count *count); /* NULL is allowed */

/* Removes columns that contain only 0, the most rarely used first, until the lines fit into
 * `columns` columns. text holds the lines of totals. */
void status_totals_narrow(struct strbuf *text, int columns);

/* Appends a machine's platform in short, such as "x64/Debian12". */
void status_short_platform(const struct ad *ad, struct strbuf *out);

#endif
