/* negotiator/kinds_plan.c - see kinds_plan.h.
 *
 * Names are nodes of a graph.  From attribute a of a side, an edge goes to every name that some
 * value of a may read.  Significant is what can be reached.  An expression is searched once for
 * each name whose value it is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "negotiator/kinds_plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "classad/ad_depends.h"
#include "negotiator/number_array.h"
#include "negotiator/number_table.h"

struct node { /* a name, on one side */
    enum kinds_side side;
    uint32_t name;
};

struct name {
    char *text;
    bool present; /* some ad had it */
    bool asked;   /* kinds_reads() told of it, or would have */
    bool all;     /* some value of it may look up anything */
    struct node *reads;
    uint32_t read_count, read_room;
};

struct value {
    struct ad_expr *expr; /* NULL: the number is free */
    uint64_t hash;
    uint32_t owners;
    bool literal;
    struct node *scanned; /* what it was looked through as the value of */
    uint32_t scanned_count;
};

struct pair {
    uint32_t name, value;
};

struct kind {
    struct pair *pairs; /* by name, ascending; NULL: the number is free */
    uint32_t count;
    uint32_t owners;
    uint64_t hash, serial, skeleton;
    struct ad *ad; /* NULL until asked for */
};

struct side {
    struct strmap *index; /* name -> its number + 1 */
    struct name *names;
    uint32_t name_count, name_room;
    uint32_t told;      /* names that were news before */
    bool all, told_all; /* every attribute matters; that was news before */
    struct kind *kinds;
    uint32_t kind_count, kind_room;
    uint32_t *free_kinds;
    uint32_t free_count, free_room;
    struct number_table table;
    struct pair *pairs; /* significant values of the ad whose kind is being found */
    uint32_t pair_room;
    uint32_t *last; /* by name: the value it had last, very often its value again; 0: none */
    uint32_t last_room;
};

struct kinds {
    struct side sides[KINDS_SIDES];
    struct value *values; /* number 0 is not used */
    uint32_t value_count, value_room;
    uint32_t *free_values;
    uint32_t free_count, free_room;
    struct number_table table;
    uint64_t next_serial;
    uint64_t structure;
};

/* Makes room for one more in an array that doubles. */
/* ---- names */

static uint32_t watch_name(struct kinds *kinds, enum kinds_side which, const char *text)
{
    struct side *side = &kinds->sides[which];
    uintptr_t known = (uintptr_t)strmap_get(side->index, text);
    if (known != 0) {
        return (uint32_t)known - 1;
    }
    if (side->name_count >= KINDS_NAMES_MAX) {
        return NUMBER_NONE;
    }
    side->names =
        number_array_grow(side->names, side->name_count, &side->name_room, sizeof *side->names);
    side->names[side->name_count] = (struct name){.text = mem_strdup(text)};
    if (side->last_room < side->name_room) {
        side->last = mem_realloc(side->last, side->name_room * sizeof *side->last);
        memset(side->last + side->last_room, 0,
               (side->name_room - side->last_room) * sizeof *side->last);
        side->last_room = side->name_room;
    }
    uint32_t name = side->name_count++;
    (void)strmap_set(side->index, text, (void *)(uintptr_t)(name + 1)); /* was absent */
    return name;
}

struct scan {
    struct kinds *kinds;
    enum kinds_side side; /* where the expression stands */
    uint32_t of_index;
};

static void add_edge(struct scan *scan, enum kinds_side side, const char *text)
{
    uint32_t name = watch_name(scan->kinds, side, text);
    if (scan->of_index == NUMBER_NONE || name == NUMBER_NONE) {
        return;
    }
    struct name *of = &scan->kinds->sides[scan->side].names[scan->of_index]; /* may have moved */
    for (uint32_t i = 0; i < of->read_count; i++) {
        if (of->reads[i].side == side && of->reads[i].name == name) {
            return;
        }
    }
    of->reads = number_array_grow(of->reads, of->read_count, &of->read_room, sizeof *of->reads);
    of->reads[of->read_count++] = (struct node){.side = side, .name = name};
    scan->kinds->structure += of->asked ? 1 : 0;
}

static void each_name(void *arg, const char *name, bool in_my, bool in_target)
{
    struct scan *scan = arg;
    if (in_my) {
        add_edge(scan, scan->side, name);
    }
    if (in_target) {
        add_edge(scan, kinds_other(scan->side), name);
    }
}

static void scan_expr(struct kinds *kinds, enum kinds_side side, uint32_t of,
                      const struct ad_expr *expr)
{
    struct scan scan = {.kinds = kinds, .side = side, .of_index = of};
    if (ad_depends(expr, each_name, &scan)) {
        kinds->sides[KINDS_SLOT].all = kinds->sides[KINDS_JOB].all = true;
        if (of != NUMBER_NONE && !kinds->sides[side].names[of].all) {
            kinds->sides[side].names[of].all = true;
            kinds->structure++;
        }
    }
}

static void scan_value(struct kinds *kinds, enum kinds_side side, uint32_t name, uint32_t number)
{
    struct value *value = &kinds->values[number];
    for (uint32_t i = 0; i < value->scanned_count; i++) {
        if (value->scanned[i].side == side && value->scanned[i].name == name) {
            return;
        }
    }
    value->scanned =
        mem_realloc(value->scanned, (value->scanned_count + 1) * sizeof *value->scanned);
    value->scanned[value->scanned_count++] = (struct node){.side = side, .name = name};
    scan_expr(kinds, side, name, value->expr);
}

void kinds_watch_name(struct kinds *kinds, enum kinds_side side, const char *name)
{
    (void)watch_name(kinds, side, name);
}

void kinds_watch_expr(struct kinds *kinds, enum kinds_side side, const struct ad_expr *expr)
{
    scan_expr(kinds, side, NUMBER_NONE, expr);
}

bool kinds_has_news(const struct kinds *kinds, enum kinds_side which)
{
    const struct side *side = &kinds->sides[which];
    return side->told < side->name_count || (side->all && !side->told_all);
}

bool kinds_is_news(const struct kinds *kinds, enum kinds_side which, const struct ad *ad)
{
    const struct side *side = &kinds->sides[which];
    if (side->all && !side->told_all) {
        return true;
    }
    if (side->name_count - side->told <= 2 * ad_count(ad)) {
        for (uint32_t i = side->told; i < side->name_count; i++) {
            if (ad_has(ad, side->names[i].text)) {
                return true;
            }
        }
        return false;
    }
    size_t at = 0;
    const char *name;
    while (ad_next(ad, &at, &name, NULL)) {
        if ((uintptr_t)strmap_get(side->index, name) > side->told) {
            return true;
        }
    }
    return false;
}

void kinds_end_news(struct kinds *kinds, enum kinds_side which)
{
    kinds->sides[which].told = kinds->sides[which].name_count;
    kinds->sides[which].told_all = kinds->sides[which].all;
}

/* ---- values */

struct value_wanted {
    const struct kinds *kinds;
    const struct ad_expr *expr;
};

static bool same_value(const void *arg, uint32_t id)
{
    const struct value_wanted *wanted = arg;
    return ad_expr_same(wanted->kinds->values[id].expr, wanted->expr);
}

/* Returns the number of the value, which gets no reference yet. */
static uint32_t value_of(struct kinds *kinds, const struct ad_expr *expr)
{
    const struct value_wanted wanted = {.kinds = kinds, .expr = expr};
    uint64_t hash = ad_expr_hash(expr);
    uint32_t id = number_table_find(&kinds->table, hash, same_value, &wanted);
    if (id != NUMBER_NONE) {
        return id;
    }
    if (kinds->free_count > 0) {
        id = kinds->free_values[--kinds->free_count];
    } else {
        kinds->values = number_array_grow(kinds->values, kinds->value_count, &kinds->value_room,
                                          sizeof *kinds->values);
        id = kinds->value_count++;
    }
    kinds->values[id] = (struct value){.expr = ad_expr_ref(expr),
                                       .hash = hash,
                                       .literal = ad_expr_is_literal(expr)};
    number_table_add(&kinds->table, hash, id);
    return id;
}

static void drop_value(struct kinds *kinds, uint32_t id)
{
    struct value *value = &kinds->values[id];
    if (--value->owners > 0) {
        return;
    }
    number_table_remove(&kinds->table, value->hash, id);
    ad_expr_destroy(value->expr);
    mem_free(value->scanned);
    *value = (struct value){0};
    kinds->free_values = number_array_grow(kinds->free_values, kinds->free_count, &kinds->free_room,
                                           sizeof *kinds->free_values);
    kinds->free_values[kinds->free_count++] = id;
}

/* ---- kinds */

struct kind_wanted {
    const struct side *side;
    const struct pair *pairs;
    uint32_t count;
};

static bool same_kind(const void *arg, uint32_t id)
{
    const struct kind_wanted *wanted = arg;
    const struct kind *kind = &wanted->side->kinds[id];
    return kind->count == wanted->count &&
           memcmp(kind->pairs, wanted->pairs, kind->count * sizeof *kind->pairs) == 0;
}

static uint32_t take_number(struct side *side)
{
    if (side->free_count > 0) {
        return side->free_kinds[--side->free_count];
    }
    side->kinds =
        number_array_grow(side->kinds, side->kind_count, &side->kind_room, sizeof *side->kinds);
    return side->kind_count++;
}

/* Returns the kind with side->pairs[0..count), with one more reference. */
static uint32_t take_kind(struct kinds *kinds, enum kinds_side which, uint32_t count)
{
    struct side *side = &kinds->sides[which];
    const struct kind_wanted wanted = {.side = side, .pairs = side->pairs, .count = count};
    uint64_t hash = count, skeleton = 0;
    for (uint32_t i = 0; i < count; i++) {
        hash = number_mix(hash, (uint64_t)side->pairs[i].name << 32 | side->pairs[i].value);
    }
    uint32_t id = number_table_find(&side->table, hash, same_kind, &wanted);
    if (id != NUMBER_NONE) {
        side->kinds[id].owners++;
        return id;
    }
    id = take_number(side);
    for (uint32_t i = 0; i < count; i++) {
        struct value *value = &kinds->values[side->pairs[i].value];
        struct name *name = &side->names[side->pairs[i].name];
        value->owners++;
        kinds->structure += !name->present && name->asked ? 1 : 0;
        name->present = true;
        skeleton =
            number_mix(skeleton, (uint64_t)side->pairs[i].name << 32 | (value->literal ? 1 : 2));
        skeleton = number_mix(skeleton, value->literal ? 0 : value->hash);
    }
    side->kinds[id] = (struct kind){.pairs = mem_dup(side->pairs, count * sizeof *side->pairs),
                                    .count = count,
                                    .owners = 1,
                                    .hash = hash,
                                    .serial = ++kinds->next_serial,
                                    .skeleton = skeleton};
    number_table_add(&side->table, hash, id);
    for (uint32_t i = 0; i < count; i++) {
        if (!kinds->values[side->kinds[id].pairs[i].value].literal) {
            scan_value(kinds, which, side->kinds[id].pairs[i].name, side->kinds[id].pairs[i].value);
        }
    }
    return id;
}

static void watch_all(struct kinds *kinds, enum kinds_side which, const struct ad *ad)
{
    size_t at = 0;
    const char *name;
    while (ad_next(ad, &at, &name, NULL)) {
        (void)watch_name(kinds, which, name);
    }
}

static struct pair pair_of(struct kinds *kinds, struct side *side, uint32_t name,
                           const struct ad_expr *expr)
{
    uint32_t value = side->last[name];
    if (value == 0 || kinds->values[value].expr == NULL ||
        !ad_expr_same(kinds->values[value].expr, expr)) {
        value = value_of(kinds, expr);
        side->last[name] = value;
    }
    return (struct pair){.name = name, .value = value};
}

static int by_name(const void *left, const void *right)
{
    const struct pair *a = left, *b = right;
    return (a->name > b->name) - (a->name < b->name);
}

/* Finds the significant values of an ad.  Somebody who makes thousands of names significant must
 * not make every ad costly: searches the names in the ad, or the ad's attributes in the names,
 * whichever is less. */
static uint32_t find_pairs(struct kinds *kinds, struct side *side, const struct ad *ad)
{
    uint32_t count = 0;
    if (side->name_count <= 2 * ad_count(ad)) {
        for (uint32_t i = 0; i < side->name_count; i++) {
            const struct ad_expr *expr = ad_lookup(ad, side->names[i].text);
            if (expr != NULL) {
                side->pairs[count++] = pair_of(kinds, side, i, expr);
            }
        }
        return count;
    }
    size_t at = 0;
    const char *name;
    while (ad_next(ad, &at, &name, NULL)) {
        uintptr_t known = (uintptr_t)strmap_get(side->index, name);
        if (known != 0) {
            side->pairs[count++] = pair_of(kinds, side, (uint32_t)known - 1, ad_lookup(ad, name));
        }
    }
    if (count > 1) {
        qsort(side->pairs, count, sizeof *side->pairs, by_name);
    }
    return count;
}

uint32_t kinds_of(struct kinds *kinds, enum kinds_side which, const struct ad *ad)
{
    struct side *side = &kinds->sides[which];
    if (side->all) {
        watch_all(kinds, which, ad);
    }
    if (side->pair_room < side->name_count + 1) {
        side->pair_room = 2 * side->name_count + 16;
        side->pairs = mem_realloc(side->pairs, side->pair_room * sizeof *side->pairs);
    }
    return take_kind(kinds, which, find_pairs(kinds, side, ad));
}

static struct ad_expr *number_expr(double value)
{
    return value == floor(value) && fabs(value) < 9e15 ? ad_expr_int((int64_t)value)
                                                       : ad_expr_real(value);
}

uint32_t kinds_derive(struct kinds *kinds, enum kinds_side which, uint32_t kind,
                      const char *const *names, const double *values, size_t count)
{
    struct side *side = &kinds->sides[which];
    const struct kind *from = &side->kinds[kind];
    uint32_t pairs = from->count;
    memcpy(side->pairs, from->pairs, pairs * sizeof *side->pairs);
    for (size_t i = 0; i < count; i++) {
        uintptr_t name = (uintptr_t)strmap_get(side->index, names[i]);
        for (uint32_t j = 0; name != 0 && j < pairs; j++) {
            if (side->pairs[j].name == name - 1) {
                struct ad_expr *expr = number_expr(values[i]);
                side->pairs[j].value = value_of(kinds, expr);
                ad_expr_destroy(expr);
            }
        }
    }
    return take_kind(kinds, which, pairs);
}

void kinds_ref(struct kinds *kinds, enum kinds_side side, uint32_t kind)
{
    kinds->sides[side].kinds[kind].owners++;
}

void kinds_unref(struct kinds *kinds, enum kinds_side which, uint32_t id)
{
    struct side *side = &kinds->sides[which];
    struct kind *kind = &side->kinds[id];
    CHECK(kind->owners > 0);
    if (--kind->owners > 0) {
        return;
    }
    number_table_remove(&side->table, kind->hash, id);
    ad_destroy(kind->ad);
    for (uint32_t i = 0; i < kind->count; i++) {
        drop_value(kinds, kind->pairs[i].value);
    }
    mem_free(kind->pairs);
    *kind = (struct kind){0};
    side->free_kinds = number_array_grow(side->free_kinds, side->free_count, &side->free_room,
                                         sizeof *side->free_kinds);
    side->free_kinds[side->free_count++] = id;
}

size_t kinds_count(const struct kinds *kinds, enum kinds_side side)
{
    return kinds->sides[side].table.count;
}

uint32_t kinds_limit(const struct kinds *kinds, enum kinds_side side)
{
    return kinds->sides[side].kind_count;
}

bool kinds_exists(const struct kinds *kinds, enum kinds_side side, uint32_t kind)
{
    return kinds->sides[side].kinds[kind].owners > 0;
}

uint64_t kinds_serial(const struct kinds *kinds, enum kinds_side side, uint32_t kind)
{
    return kinds->sides[side].kinds[kind].serial;
}

const struct ad *kinds_ad(struct kinds *kinds, enum kinds_side which, uint32_t id)
{
    const struct side *side = &kinds->sides[which];
    struct kind *kind = &side->kinds[id];
    if (kind->ad == NULL) {
        kind->ad = ad_create();
        for (uint32_t i = 0; i < kind->count; i++) {
            ad_set(kind->ad, side->names[kind->pairs[i].name].text,
                   ad_expr_ref(kinds->values[kind->pairs[i].value].expr));
        }
    }
    return kind->ad;
}

uint64_t kinds_skeleton(struct kinds *kinds, enum kinds_side side, uint32_t kind)
{
    return kinds->sides[side].kinds[kind].skeleton;
}

static const struct pair *find_pair(const struct kind *kind, uint32_t name)
{
    uint32_t low = 0, high = kind->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (kind->pairs[middle].name < name) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < kind->count && kind->pairs[low].name == name ? &kind->pairs[low] : NULL;
}

uint64_t kinds_value(const struct kinds *kinds, enum kinds_side side, uint32_t kind, uint32_t name)
{
    const struct pair *pair = find_pair(&kinds->sides[side].kinds[kind], name);
    return pair != NULL ? kinds->values[pair->value].hash | 1 : 0;
}

/* ---- what expressions read */

struct walk {
    struct kinds *kinds;
    enum kinds_side side; /* where the expression stands */
    bool *seen[KINDS_SIDES];
    struct node *stack;
    uint32_t count, room;
    bool all;
};

static void push_name(struct walk *walk, enum kinds_side side, uint32_t name)
{
    if (name != NUMBER_NONE && !walk->seen[side][name]) {
        walk->seen[side][name] = true;
        walk->stack = number_array_grow(walk->stack, walk->count, &walk->room, sizeof *walk->stack);
        walk->stack[walk->count++] = (struct node){.side = side, .name = name};
    }
}

static void watch_one(void *arg, const char *name, bool in_my, bool in_target)
{
    const struct walk *walk = arg;
    if (in_my) {
        (void)watch_name(walk->kinds, walk->side, name);
    }
    if (in_target) {
        (void)watch_name(walk->kinds, kinds_other(walk->side), name);
    }
}

static void reach_one(void *arg, const char *name, bool in_my, bool in_target)
{
    struct walk *walk = arg;
    if (in_my) {
        push_name(walk, walk->side, watch_name(walk->kinds, walk->side, name));
    }
    if (in_target) {
        enum kinds_side other = kinds_other(walk->side);
        push_name(walk, other, watch_name(walk->kinds, other, name));
    }
}

static void walk_begin(struct walk *walk)
{
    for (int i = 0; i < KINDS_SIDES; i++) {
        walk->seen[i] = mem_zalloc(walk->kinds->sides[i].name_count + 1);
    }
}

static void walk_end(struct walk *walk, struct kinds_reads *ret)
{
    struct kinds *kinds = walk->kinds;
    while (walk->count > 0) {
        struct node node = walk->stack[--walk->count];
        struct name *name = &kinds->sides[node.side].names[node.name];
        name->asked = true;
        walk->all = walk->all || name->all;
        for (uint32_t i = 0; i < name->read_count; i++) {
            push_name(walk, name->reads[i].side, name->reads[i].name);
        }
    }
    *ret = (struct kinds_reads){.all = walk->all};
    for (int i = 0; i < KINDS_SIDES; i++) {
        const struct side *of = &kinds->sides[i];
        ret->names[i] = mem_alloc((of->name_count + 1) * sizeof *ret->names[i]);
        for (uint32_t j = 0; j < of->name_count; j++) {
            if (walk->seen[i][j] && of->names[j].present) {
                ret->names[i][ret->count[i]++] = j;
            }
        }
        mem_free(walk->seen[i]);
    }
    mem_free(walk->stack);
}

void kinds_reads(struct kinds *kinds, enum kinds_side side, const struct ad_expr *expr,
                 struct kinds_reads *ret)
{
    struct walk walk = {.kinds = kinds, .side = side};
    (void)ad_depends(expr, watch_one, &walk); /* from here on no new names */
    walk_begin(&walk);
    walk.all = ad_depends(expr, reach_one, &walk);
    walk_end(&walk, ret);
}

void kinds_reads_name(struct kinds *kinds, enum kinds_side side, const char *name,
                      struct kinds_reads *ret)
{
    struct walk walk = {.kinds = kinds, .side = side};
    uint32_t number = watch_name(kinds, side, name);
    walk_begin(&walk);
    push_name(&walk, side, number);
    walk_end(&walk, ret);
}

void kinds_reads_fini(struct kinds_reads *reads)
{
    for (int i = 0; i < KINDS_SIDES; i++) {
        mem_free(reads->names[i]);
    }
    *reads = (struct kinds_reads){0};
}

uint64_t kinds_rank_class(struct kinds *kinds, enum kinds_side side, uint32_t kind)
{
    enum { RANK_NAME = 1 }; /* the second that kinds_create() watches */
    uint64_t rank = kinds_value(kinds, side, kind, RANK_NAME), hash = rank;
    const struct pair *pair = find_pair(&kinds->sides[side].kinds[kind], RANK_NAME);
    if (pair == NULL || kinds->values[pair->value].literal) {
        return hash;
    }
    struct kinds_reads reads;
    kinds_reads(kinds, side, kinds->values[pair->value].expr, &reads);
    for (size_t i = 0; i < reads.count[side]; i++) {
        hash = number_mix(hash, reads.names[side][i]);
        hash = number_mix(hash, kinds_value(kinds, side, kind, reads.names[side][i]));
    }
    hash = reads.all ? number_mix(hash, kinds->sides[side].kinds[kind].serial) : hash;
    kinds_reads_fini(&reads);
    return hash;
}

uint64_t kinds_structure(const struct kinds *kinds)
{
    return kinds->structure;
}

/* ---- life */

struct kinds *kinds_create(void)
{
    static const char *const NAMES[] = {"Requirements", "Rank"};
    struct kinds *kinds = mem_zalloc(sizeof *kinds);
    kinds->values = number_array_grow(NULL, 0, &kinds->value_room, sizeof *kinds->values);
    kinds->values[kinds->value_count++] = (struct value){0};
    for (int i = 0; i < KINDS_SIDES; i++) {
        kinds->sides[i].index = strmap_create(STRMAP_CASE_IGNORED);
        for (size_t j = 0; j < ARRAY_COUNT(NAMES); j++) {
            (void)watch_name(kinds, (enum kinds_side)i, NAMES[j]);
        }
    }
    return kinds;
}

static void side_fini(struct side *side)
{
    for (uint32_t i = 0; i < side->kind_count; i++) {
        ad_destroy(side->kinds[i].ad);
        mem_free(side->kinds[i].pairs);
    }
    for (uint32_t i = 0; i < side->name_count; i++) {
        mem_free(side->names[i].text);
        mem_free(side->names[i].reads);
    }
    strmap_destroy(side->index, NULL);
    number_table_fini(&side->table);
    mem_free(side->names);
    mem_free(side->kinds);
    mem_free(side->free_kinds);
    mem_free(side->pairs);
    mem_free(side->last);
}

void kinds_destroy(struct kinds *kinds)
{
    if (kinds == NULL) {
        return;
    }
    for (int i = 0; i < KINDS_SIDES; i++) {
        side_fini(&kinds->sides[i]);
    }
    for (uint32_t i = 0; i < kinds->value_count; i++) {
        ad_expr_destroy(kinds->values[i].expr);
        mem_free(kinds->values[i].scanned);
    }
    number_table_fini(&kinds->table);
    mem_free(kinds->values);
    mem_free(kinds->free_values);
    mem_free(kinds);
}
