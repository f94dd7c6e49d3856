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

/* Prints totals of one kind: a line for each group of ads, and a line for all ads.  natural: true
 * (-wide): the first column is as wide as its longest word; false: it has at least 14 columns, as
 * in HTCondor's tables. */
typedef void (*status_totals_f)(const struct ad *const *ads, size_t count, bool natural,
                                struct strbuf *out);

/* Prints how many slots are in each state: a line for each platform, such as "X86_64/LINUX".
 * natural: true: the first column may be narrower than 14 columns. */
void status_totals_platform(const struct ad *const *ads, size_t count, bool natural,
                            struct strbuf *out);
/* Prints how many slots are in each state: a line for each short platform, such as "x64/Debian12".
 * natural: true: the first column may be narrower than 14 columns. */
void status_totals_short_platform(const struct ad *const *ads, size_t count, bool natural,
                                  struct strbuf *out);
/* Prints how many slots are in each state: a line for each activity.  natural: true: the
 * first column may be narrower than 14 columns. */
void status_totals_activity(const struct ad *const *ads, size_t count, bool natural,
                            struct strbuf *out);
/* Prints how many slots are in each state: a line for each power state.  natural: true:
 * the first column may be narrower than 14 columns. */
void status_totals_power(const struct ad *const *ads, size_t count, bool natural,
                         struct strbuf *out);
/* For -server: prints for each platform the number of slots, the number of Unclaimed and Claimed
 * slots, and the sums of Memory, Disk, Mips and KFlops.  natural: true: the first column may be
 * narrower than 14 columns. */
void status_totals_server(const struct ad *const *ads, size_t count, bool natural,
                          struct strbuf *out);
/* For -claimed (the ads are of claimed slots): prints for each platform the number of slots, the
 * sums of Mips and KFlops, and the average LoadAvg.  natural: true: the first column may be
 * narrower than 14 columns. */
void status_totals_claimed(const struct ad *const *ads, size_t count, bool natural,
                           struct strbuf *out);
/* Prints one line: the numbers of running, idle and held jobs of all schedds together.  natural
 * is ignored. */
void status_totals_schedds(const struct ad *const *ads, size_t count, bool natural,
                           struct strbuf *out);
/* Prints for each submitter the numbers of its running, idle and held jobs.  natural: true: the
 * first column may be narrower than 14 columns. */
void status_totals_submitters(const struct ad *const *ads, size_t count, bool natural,
                              struct strbuf *out);

/* Counts ads that arrive one after the other and are not kept. */
struct status_count;
/* Begins to count ads that arrive one after the other.  kind: a function above, such as
 * status_totals_platform().  Returns NULL if totals of this kind need all ads at once. */
struct status_count *status_count_begin(status_totals_f kind);
void status_count_add(struct status_count *count, const struct ad *ad);
/* Prints the totals of the ads that were added, in the lines and columns of the function that was
 * given to status_count_begin(), such as status_totals_platform(), and frees count.  natural: true:
 * the first column may be narrower than 14 columns. */
void status_count_end(struct status_count *count, bool natural, struct strbuf *out);
void status_count_destroy(struct status_count *count); /* NULL is allowed */

/* Makes the lines of printed totals (text) fit into `columns` columns of the terminal: of BkIdle,
 * Backfill, Drain, Preempting and Matched, in this order, removes each column that contains only 0,
 * until the lines fit (some may still be too long then). */
void status_totals_narrow(struct strbuf *text, int columns);

/* Appends a machine's platform in short, such as "x64/Debian12". */
void status_short_platform(const struct ad *ad, struct strbuf *out);

#endif
