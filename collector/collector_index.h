/* collector/collector_index.h - indexes from attribute values to ads, for constraints of queries.
 *
 * Indexes are made on demand.  The first query whose constraint demands `Attribute == value`
 * examines all ads, and an index is made; later ones examine only the ads with that value.  An
 * index that is not used is removed, so that updates do not pay for it.
 *
 * An index only leaves out ads that cannot meet the demand; the whole constraint is still evaluated
 * for the others.  So an ad whose value is not a plain literal is never left out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COLLECTOR_COLLECTOR_INDEX_H
#define COLLECTOR_COLLECTOR_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INDEXES_MAX   8                  /* most indexes for each type of ads */
#define INDEX_IDLE_MS ((uint64_t)600000) /* an index that is not used for this time is removed */

struct ad_clauses;
struct ads_entry;
struct ads_indexes;
struct vec;

struct ads_indexes *ads_indexes_create(void);
/* Frees the indexes.  To be called after ads_indexes_forget() was called for all entries. */
void ads_indexes_destroy(struct ads_indexes *indexes);
size_t ads_indexes_count(const struct ads_indexes *indexes);
/* Returns the number of indexes whose construction was begun since ads_indexes_create(). */
uint64_t ads_indexes_begun(const struct ads_indexes *indexes);

/* Updates the indexes.  To be called when the shown ad of the entry has changed. */
void ads_indexes_note(struct ads_indexes *indexes, struct ads_entry *entry);
/* Removes the entry from all indexes.  To be called before the entry is freed. */
void ads_indexes_forget(struct ads_entry *entry);

/* Appends to ret the entries that may meet the constraint, in order of arrival, none twice, and
 * returns true.  Returns false when there is no index for the constraint, or when it is still under
 * construction.  now_ms: loop_now_ms(); the index counts as used at this time. */
bool ads_indexes_find(struct ads_indexes *indexes, const struct ad_clauses *constraint,
                      uint64_t now_ms, struct vec *ret);

/* These three construct indexes.  While ads_indexes_are_wanted() returns true, some index is under
 * construction: the caller calls ads_indexes_add() for all entries of the table from first to last,
 * then ads_indexes_done().  The table may change in between.  After ads_indexes_done(), queries use
 * the index. */
bool ads_indexes_are_wanted(const struct ads_indexes *indexes);
void ads_indexes_add(struct ads_indexes *indexes, struct ads_entry *entry);
void ads_indexes_done(struct ads_indexes *indexes);

/* Removes indexes that were not used for INDEX_IDLE_MS before now_ms, which is loop_now_ms(). */
void ads_indexes_trim(struct ads_indexes *indexes, uint64_t now_ms);

#endif
