/* collector/collector_index.c - see collector_index.h.
 *
 * An index maps the value of an attribute, as text, to the entries that show it.  The text stands
 * for all values that are equal by == or =?=: strings ignore case; integers, reals and booleans are
 * one number.  Values without such a text (expressions, lists, times, long strings) are under
 * UNKNOWN, which is always examined.  Undefined values are not in the index, because they meet no
 * demand.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "collector/collector_index.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "classad/ad_clauses.h"
#include "collector/collector_ads.h"

#define BUSY_MS 30000 /* an index that was used so lately keeps its place */
/* bytes of a value's text, with the terminating zero; a longer value is UNKNOWN */
#define KEY_BYTES 128

static const char UNKNOWN[] = "?";

struct bucket {
    char *value;
    struct ads_key *first;
    size_t count;
};

struct ads_index {
    char *attribute;
    struct strmap *buckets; /* by value */
    struct bucket *unknown; /* the bucket of UNKNOWN values; NULL: there is none */
    uint64_t asked_ms;
    bool done; /* the index has all entries of its table */
};

struct ads_key { /* place of one entry in one index */
    struct ads_key *next_of_entry;
    struct ads_index *index;
    struct ads_entry *entry;
    struct bucket *bucket;
    struct ads_key *previous, *next; /* in the bucket */
};

struct ads_indexes {
    struct ads_index *all[INDEXES_MAX];
    size_t count;
    uint64_t begun;
};

struct ads_indexes *ads_indexes_create(void)
{
    return mem_zalloc(sizeof(struct ads_indexes));
}

uint64_t ads_indexes_begun(const struct ads_indexes *indexes)
{
    return indexes->begun;
}

size_t ads_indexes_count(const struct ads_indexes *indexes)
{
    return indexes->count;
}

/* ---- values as text -------------------------------------------------------------------------- */

static void text_of_number(double number, char ret[KEY_BYTES])
{
    (void)snprintf(ret, KEY_BYTES, "n%.17g", number == 0 ? 0 : number); /* -0 is 0 */
}

/* Writes the text that stands for a value; false: nothing can be equal to this value. */
static bool text_of(const struct ad_value *value, char ret[KEY_BYTES])
{
    switch (value->type) {
    case AD_TYPE_UNDEFINED:
    case AD_TYPE_ERROR:
        return false;
    case AD_TYPE_BOOL:
        text_of_number(value->boolean ? 1 : 0, ret);
        return true;
    case AD_TYPE_INT:
        text_of_number((double)value->integer, ret);
        return true;
    case AD_TYPE_REAL:
        text_of_number(value->real, ret);
        return true;
    case AD_TYPE_STRING:
        if (value->string.length >= KEY_BYTES - 1) {
            break;
        }
        ret[0] = 's';
        for (size_t i = 0; i < value->string.length; i++) {
            char c = value->string.text[i];
            ret[i + 1] = c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
        }
        ret[value->string.length + 1] = '\0';
        return true;
    default:
        break;
    }
    memcpy(ret, UNKNOWN, sizeof(UNKNOWN));
    return true;
}

/* Writes the text for the attribute in the shown ad; false: the attribute is undefined. */
static bool text_in(const struct ads_entry *entry, const char *attribute, char ret[KEY_BYTES])
{
    struct ad_value value;
    if (!entry->shown || entry->shown_absent) {
        /* Absent ads are few, and hidden from most: they are looked at by who asks for them. */
        memcpy(ret, UNKNOWN, sizeof(UNKNOWN));
        return entry->shown != NULL;
    }
    int rc = ad_get_literal(entry->shown, attribute, &value);
    if (rc == -EINVAL) {
        memcpy(ret, UNKNOWN, sizeof(UNKNOWN));
        return true;
    }
    return rc == 0 && text_of(&value, ret);
}

/* ---- entries in an index --------------------------------------------------------------------- */

static void leave_bucket(struct ads_key *key)
{
    struct bucket *bucket = key->bucket;
    *(key->previous ? &key->previous->next : &bucket->first) = key->next;
    if (key->next) {
        key->next->previous = key->previous;
    }
    if (--bucket->count == 0) {
        struct ads_index *index = key->index;
        if (bucket == index->unknown) {
            index->unknown = NULL;
        }
        (void)strmap_remove(index->buckets, bucket->value);
        mem_free(bucket->value);
        mem_free(bucket);
    }
    key->bucket = NULL;
}

static void join_bucket(struct ads_key *key, const char *value)
{
    struct ads_index *index = key->index;
    struct bucket *bucket = strmap_get(index->buckets, value);
    if (!bucket) {
        bucket = mem_zalloc(sizeof(*bucket));
        bucket->value = mem_strdup(value);
        (void)strmap_set(index->buckets, value, bucket);
        if (strcmp(value, UNKNOWN) == 0) {
            index->unknown = bucket;
        }
    }
    key->bucket = bucket;
    key->previous = NULL;
    key->next = bucket->first;
    if (bucket->first) {
        bucket->first->previous = key;
    }
    bucket->first = key;
    bucket->count++;
}

static struct ads_key **find_key(struct ads_entry *entry, const struct ads_index *index)
{
    struct ads_key **link = &entry->keys;
    while (*link && (*link)->index != index) {
        link = &(*link)->next_of_entry;
    }
    return link;
}

static void drop_key(struct ads_key **link)
{
    struct ads_key *key = *link;
    *link = key->next_of_entry;
    leave_bucket(key);
    mem_free(key);
}

static void note_in(struct ads_index *index, struct ads_entry *entry)
{
    char value[KEY_BYTES];
    struct ads_key **link = find_key(entry, index);
    struct ads_key *key = *link;
    if (!text_in(entry, index->attribute, value)) {
        if (key) {
            drop_key(link);
        }
        return;
    }
    if (!key) {
        key = mem_zalloc(sizeof(*key));
        *key = (struct ads_key){.next_of_entry = entry->keys, .index = index, .entry = entry};
        entry->keys = key;
    } else if (strcmp(key->bucket->value, value) == 0) {
        return;
    } else {
        leave_bucket(key);
    }
    join_bucket(key, value);
}

void ads_indexes_note(struct ads_indexes *indexes, struct ads_entry *entry)
{
    for (size_t i = 0; i < indexes->count; i++) {
        note_in(indexes->all[i], entry);
    }
}

void ads_indexes_forget(struct ads_entry *entry)
{
    while (entry->keys) {
        drop_key(&entry->keys);
    }
}

/* ---- indexes --------------------------------------------------------------------------------- */

static void index_destroy(struct ads_index *index)
{
    size_t at = 0;
    void *value;
    while (strmap_next(index->buckets, &at, NULL, &value)) {
        struct bucket *bucket = value;
        while (bucket->first) {
            struct ads_key *key = bucket->first;
            bucket->first = key->next;
            struct ads_key **link = find_key(key->entry, index);
            *link = key->next_of_entry;
            mem_free(key);
        }
        mem_free(bucket->value);
        mem_free(bucket);
    }
    strmap_destroy(index->buckets, NULL);
    mem_free(index->attribute);
    mem_free(index);
}

void ads_indexes_destroy(struct ads_indexes *indexes)
{
    if (!indexes) {
        return;
    }
    for (size_t i = 0; i < indexes->count; i++) {
        index_destroy(indexes->all[i]);
    }
    mem_free(indexes);
}

void ads_indexes_trim(struct ads_indexes *indexes, uint64_t now_ms)
{
    size_t kept = 0;
    for (size_t i = 0; i < indexes->count; i++) {
        struct ads_index *index = indexes->all[i];
        if (now_ms - index->asked_ms >= INDEX_IDLE_MS) {
            index_destroy(index);
        } else {
            indexes->all[kept++] = index;
        }
    }
    indexes->count = kept;
}

/* Makes room for an index: removes the one unused longest, if that is long enough. */
static void make_place(struct ads_indexes *indexes, uint64_t now_ms)
{
    size_t oldest = 0;
    for (size_t i = 1; i < indexes->count; i++) {
        oldest = indexes->all[i]->asked_ms < indexes->all[oldest]->asked_ms ? i : oldest;
    }
    if (indexes->count == INDEXES_MAX && now_ms - indexes->all[oldest]->asked_ms >= BUSY_MS) {
        index_destroy(indexes->all[oldest]);
        indexes->all[oldest] = indexes->all[--indexes->count];
    }
}

/* Returns the index of the attribute.  Begins a new one if there is none and there is room; NULL:
 * no room. */
static struct ads_index *index_of(struct ads_indexes *indexes, const char *attribute,
                                  uint64_t now_ms)
{
    struct ads_index *index = NULL;
    for (size_t i = 0; i < indexes->count && !index; i++) {
        index =
            ad_name_compare(indexes->all[i]->attribute, attribute) == 0 ? indexes->all[i] : NULL;
    }
    if (!index) {
        make_place(indexes, now_ms);
    }
    if (!index && indexes->count < INDEXES_MAX) {
        index = mem_zalloc(sizeof(*index));
        index->attribute = mem_strdup(attribute);
        index->buckets = strmap_create(STRMAP_CASE_SENSITIVE);
        indexes->all[indexes->count++] = index;
        indexes->begun++;
    }
    if (index) {
        index->asked_ms = now_ms;
    }
    return index;
}

bool ads_indexes_are_wanted(const struct ads_indexes *indexes)
{
    for (size_t i = 0; i < indexes->count; i++) {
        if (!indexes->all[i]->done) {
            return true;
        }
    }
    return false;
}

void ads_indexes_add(struct ads_indexes *indexes, struct ads_entry *entry)
{
    for (size_t i = 0; i < indexes->count; i++) {
        if (!indexes->all[i]->done) {
            note_in(indexes->all[i], entry);
        }
    }
}

void ads_indexes_done(struct ads_indexes *indexes)
{
    for (size_t i = 0; i < indexes->count; i++) {
        indexes->all[i]->done = true;
    }
}

/* ---- asking ---------------------------------------------------------------------------------- */

/* What a node of the constraint leaves over.  Nodes are examined twice, the first time to count
 * entries. */
struct look {
    struct ads_indexes *indexes;
    const struct ad_clauses *clauses;
    uint64_t now_ms;
    struct vec *ret; /* NULL: only count */
};

#define ALL SIZE_MAX /* no index helps */

static void take_bucket(const struct bucket *bucket, struct vec *ret)
{
    for (const struct ads_key *key = bucket ? bucket->first : NULL; key; key = key->next) {
        vec_push(ret, key->entry);
    }
}

static size_t look_up(const struct look *look, const char *attribute, const char *value)
{
    const struct ads_index *index = index_of(look->indexes, attribute, look->now_ms);
    if (!index || !index->done) {
        return ALL;
    }
    const struct bucket *bucket = strmap_get(index->buckets, value);
    if (bucket == index->unknown) {
        bucket = NULL;
    }
    if (look->ret) {
        take_bucket(bucket, look->ret);
        take_bucket(index->unknown, look->ret);
    }
    return (bucket ? bucket->count : 0) + (index->unknown ? index->unknown->count : 0);
}

/* Examines `Attribute == literal`, either way around. */
static size_t look_at_test(const struct look *look, const struct ad_expr *test)
{
    size_t count = ALL;
    enum ad_side side;
    const char *name;
    struct ad_comparison comparison;
    if (ad_clause_is_name(test, NULL, &side, &name)) {
        return ALL; /* true for every number but 0 */
    }
    if (!ad_clause_comparison(test, NULL, AD_SIDE_TARGET, &comparison) &&
        !ad_clause_comparison(test, NULL, AD_SIDE_MY, &comparison)) {
        return ALL;
    }
    if ((comparison.op == AD_COMPARE_EQ || comparison.op == AD_COMPARE_IS) &&
        ad_expr_is_literal(comparison.other)) {
        struct ad_value value;
        char text[KEY_BYTES];
        ad_eval(comparison.other, NULL, NULL, NULL, &value);
        if (text_of(&value, text) && strcmp(text, UNKNOWN) != 0) {
            count = look_up(look, comparison.name, text);
        }
        ad_value_fini(&value);
    }
    ad_comparison_fini(&comparison);
    return count;
}

static size_t look_at(const struct look *look, size_t number);

/* Examines several demands and takes the one that leaves the fewest entries. */
static size_t look_at_least(const struct look *look, const size_t *numbers, size_t count)
{
    const struct look counting = {look->indexes, look->clauses, look->now_ms, NULL};
    size_t least = ALL, best = 0;
    for (size_t i = 0; i < count; i++) {
        size_t left = look_at(&counting, numbers[i]);
        if (left < least) {
            least = left;
            best = i;
        }
    }
    return least != ALL && look->ret ? look_at(look, numbers[best]) : least;
}

static size_t look_at_each(const struct look *look, const size_t *numbers, size_t count)
{
    const struct look counting = {look->indexes, look->clauses, look->now_ms, NULL};
    size_t sum = 0;
    for (size_t i = 0; i < count; i++) { /* all of them: what is asked for is made */
        size_t left = look_at(&counting, numbers[i]);
        sum = left == ALL || sum == ALL ? ALL : sum + left;
    }
    for (size_t i = 0; i < count && look->ret && sum != ALL; i++) {
        (void)look_at(look, numbers[i]);
    }
    return sum;
}

static size_t look_at(const struct look *look, size_t number)
{
    const struct ad_clause *clause = ad_clauses_at(look->clauses, number);
    switch (clause->kind) {
    case AD_CLAUSE_TEST:
        return look_at_test(look, clause->expr);
    case AD_CLAUSE_AND:
        return look_at_least(look, clause->kids, clause->kid_count);
    case AD_CLAUSE_OR:
        return look_at_each(look, clause->kids, clause->kid_count);
    default:
        return ALL;
    }
}

static int by_arrival(const void *a, const void *b)
{
    const struct ads_entry *left = *(struct ads_entry *const *)a;
    const struct ads_entry *right = *(struct ads_entry *const *)b;
    return left->number < right->number ? -1 : left->number > right->number ? 1 : 0;
}

bool ads_indexes_find(struct ads_indexes *indexes, const struct ad_clauses *constraint,
                      uint64_t now_ms, struct vec *ret)
{
    const struct look look = {indexes, constraint, now_ms, ret};
    size_t begin = ret->count;
    bool found = look_at(&look, 0) != ALL;
    size_t count = ret->count - begin, kept = begin;
    if (count > 1) {
        qsort(ret->items + begin, count, sizeof(*ret->items), by_arrival);
    }
    for (size_t i = begin; i < ret->count; i++) {
        if (kept == begin || ret->items[kept - 1] != ret->items[i]) {
            ret->items[kept++] = ret->items[i];
        }
    }
    ret->count = kept;
    return found;
}
