/* collector/collector_index.h - which ads of a type have that value of that attribute.
 *
 * Indexes are made for what is asked: the first query whose constraint demands `Attribute == value`
 * is answered by looking at all ads, and has an index made; who asks later looks at the ads of that
 * value only.  An index that nobody asks goes away, so that updates pay for nothing that is not
 * used.
 *
 * An index leaves out ads that cannot meet the demand, nothing more: the whole constraint is judged
 * in each that is left.  So what is not a plain literal in an ad is left in always.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COLLECTOR_COLLECTOR_INDEX_H
#define COLLECTOR_COLLECTOR_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INDEXES_MAX   8                  /* of one type of ads */
#define INDEX_IDLE_MS ((uint64_t)600000) /* after which one goes that nobody asked */

struct ad_clauses;
struct ads_entry;
struct ads_indexes;
struct vec;

struct ads_indexes *ads_indexes_create(void);
/* Entries must have been forgotten before. */
void ads_indexes_destroy(struct ads_indexes *indexes);
size_t ads_indexes_count(const struct ads_indexes *indexes);
uint64_t ads_indexes_begun(const struct ads_indexes *indexes); /* since it was created */

/* What is shown of the entry changed. */
void ads_indexes_note(struct ads_indexes *indexes, struct ads_entry *entry);
void ads_indexes_forget(struct ads_entry *entry); /* it goes away */

/* The entries that may meet the constraint: true and appends them to ret, in order of arrival,
 * none twice.  False: no index helps (yet). */
bool ads_indexes_find(struct ads_indexes *indexes, const struct ad_clauses *constraint,
                      uint64_t now_ms, struct vec *ret);

/* An index that is being made gets the entries from the first to the last of its table; between
 * two calls anything may change.  Done: it answers from now on. */
bool ads_indexes_are_wanted(const struct ads_indexes *indexes);
void ads_indexes_add(struct ads_indexes *indexes, struct ads_entry *entry);
void ads_indexes_done(struct ads_indexes *indexes);

/* Drops those that were not asked for INDEX_IDLE_MS. */
void ads_indexes_trim(struct ads_indexes *indexes, uint64_t now_ms);

#endif
