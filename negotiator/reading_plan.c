/* negotiator/reading_plan.c - see reading_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "negotiator/reading_plan.h"

#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "negotiator/number_array.h"
#include "negotiator/number_table.h"

struct reading {
    enum kinds_side of, stands;
    char *name;           /* name of the attribute; NULL: expr is set */
    struct ad_expr *expr; /* the expression; NULL: name is set */
    struct cell *cells;   /* by kind */
    uint32_t room;
    bool timely; /* some cell is */
};

struct classes { /* the kinds of one side of a pair, grouped by the values that the pair reads */
    uint32_t *names;
    size_t name_count;
    bool all;          /* the pair may read anything, so each kind is a class of its own */
    uint32_t *of_kind; /* class + 1; 0: not known */
    uint32_t room;
    uint64_t *tuples; /* name_count values each */
    struct number_table table;
    uint32_t count, tuple_room;
};

struct column { /* values for one class of jobs, by class of slots */
    double *values;
    uint8_t *known;
    uint32_t room;
};

struct pair {
    enum kinds_side stands;
    struct ad_expr *expr;
    struct classes classes[KINDS_SIDES];
    struct column *columns;
    uint32_t room;
    bool timely;
};

struct readings {
    struct kinds *kinds;
    const struct ad_context *context;
    struct ad *empty;
    struct strmap *texts, *folded;
    struct reading *readings;
    uint32_t count, room;
    struct number_table table;
    struct pair *pairs;
    uint32_t pair_count, pair_room;
    struct number_table pair_table;
    bool *timely[KINDS_SIDES]; /* by kind */
    uint32_t timely_room[KINDS_SIDES];
    size_t class_count, evaluated;
};

/* ---- cells */

static const struct cell_text *text_of(struct readings *readings, const char *text)
{
    struct cell_text *known = strmap_get(readings->texts, text);
    if (known == NULL) {
        void *folded = strmap_get(readings->folded, text);
        known = mem_alloc(sizeof *known);
        *known = (struct cell_text){.text = mem_strdup(text),
                                    .folded = folded != NULL ? folded : (void *)known};
        (void)strmap_set(readings->texts, text, known);
        if (folded == NULL) {
            (void)strmap_set(readings->folded, text, known);
        }
    }
    return known;
}

static void destroy_text(void *value)
{
    struct cell_text *text = value;
    mem_free((void *)(uintptr_t)text->text);
    mem_free(text);
}

static struct cell make_cell(struct readings *readings, struct ad_value *value)
{
    struct cell cell = {.type = CELL_ODD};
    switch (value->type) {
    case AD_TYPE_UNDEFINED:
        cell.type = CELL_UNDEFINED;
        break;
    case AD_TYPE_ERROR:
        cell.type = CELL_ERROR;
        break;
    case AD_TYPE_BOOL:
        cell.type = CELL_BOOL;
        cell.boolean = value->boolean;
        break;
    case AD_TYPE_INT:
        cell.type = CELL_INT;
        cell.integer = value->integer;
        break;
    case AD_TYPE_REAL:
        cell.type = CELL_REAL;
        cell.real = value->real;
        break;
    case AD_TYPE_STRING:
        cell.type = CELL_STRING;
        cell.text = text_of(readings, value->string.text);
        break;
    default:
        break;
    }
    ad_value_fini(value);
    return cell;
}

bool cell_is_true(const struct cell *cell)
{
    return (cell->type == CELL_BOOL && cell->boolean) ||
           (cell->type == CELL_INT && cell->integer != 0) ||
           (cell->type == CELL_REAL && cell->real != 0.0);
}

double cell_rank(const struct cell *cell)
{
    double rank = cell->type == CELL_REAL   ? cell->real
                  : cell->type == CELL_INT  ? (double)cell->integer
                  : cell->type == CELL_BOOL ? (double)cell->boolean
                                            : 0.0;
    return isnan(rank) ? 0.0 : rank;
}

static struct ad_value value_of(const struct cell *cell)
{
    static const enum ad_type TYPES[] = {
        [CELL_UNREAD] = AD_TYPE_ERROR,  [CELL_UNDEFINED] = AD_TYPE_UNDEFINED,
        [CELL_ERROR] = AD_TYPE_ERROR,   [CELL_BOOL] = AD_TYPE_BOOL,
        [CELL_INT] = AD_TYPE_INT,       [CELL_REAL] = AD_TYPE_REAL,
        [CELL_STRING] = AD_TYPE_STRING, [CELL_ODD] = AD_TYPE_ERROR};
    struct ad_value value = {.type = TYPES[cell->type]};
    if (cell->type == CELL_BOOL) {
        value.boolean = cell->boolean;
    } else if (cell->type == CELL_INT) {
        value.integer = cell->integer;
    } else if (cell->type == CELL_REAL) {
        value.real = cell->real;
    } else if (cell->type == CELL_STRING) {
        value.string.text = cell->text->text;
        value.string.length = strlen(cell->text->text);
    }
    return value;
}

bool cell_compare(enum ad_compare op, const struct cell *a, const struct cell *b)
{
    if (a->type == CELL_STRING && b->type == CELL_STRING) {
        if (op == AD_COMPARE_EQ || op == AD_COMPARE_NE) {
            return (a->text->folded == b->text->folded) == (op == AD_COMPARE_EQ);
        }
        if (op == AD_COMPARE_IS || op == AD_COMPARE_ISNT) {
            return (a->text == b->text) == (op == AD_COMPARE_IS);
        }
    }
    const struct ad_value left = value_of(a), right = value_of(b);
    return ad_compare_values(op, &left, &right) == AD_TRUE;
}

/* ---- evaluation */

static void note_timely(struct readings *readings, enum kinds_side side, uint32_t kind)
{
    readings->timely[side] =
        number_array_grow_to(readings->timely[side], kind, &readings->timely_room[side],
                             sizeof *readings->timely[side]);
    readings->timely[side][kind] = true;
}

bool readings_is_timely(const struct readings *readings, enum kinds_side side, uint32_t kind)
{
    return kind < readings->timely_room[side] && readings->timely[side][kind];
}

static struct ad_context context_of(const struct readings *readings, bool *timely)
{
    struct ad_context context = {0};
    if (readings->context != NULL) {
        context = *readings->context;
    }
    context.is_timely = timely;
    return context;
}

/* Evaluates expr, or the attribute name, for one kind; only this kind is read. */
static struct cell evaluate_cell(struct readings *readings, enum kinds_side of,
                                 enum kinds_side stands, uint32_t kind, const struct ad_expr *expr,
                                 const char *name, bool *timely)
{
    const struct ad_context context = context_of(readings, timely);
    const struct ad *ad = kinds_ad(readings->kinds, of, kind);
    struct ad_value value;
    if (name != NULL) {
        (void)ad_eval_attr(ad, readings->empty, name, &context, &value);
    } else if (stands == of) {
        ad_eval(expr, ad, readings->empty, &context, &value);
    } else {
        ad_eval(expr, readings->empty, ad, &context, &value);
    }
    readings->evaluated++;
    if (*timely) {
        note_timely(readings, of, kind);
    }
    return make_cell(readings, &value);
}

struct cell readings_own(struct readings *readings, enum kinds_side side, uint32_t kind,
                         const struct ad_expr *expr)
{
    bool timely = false;
    return evaluate_cell(readings, side, side, kind, expr, NULL, &timely);
}

struct cell readings_own_name(struct readings *readings, enum kinds_side side, uint32_t kind,
                              const char *name)
{
    bool timely = false;
    return evaluate_cell(readings, side, side, kind, NULL, name, &timely);
}

bool readings_judge(struct readings *readings, enum kinds_side stands, const struct ad_expr *expr,
                    uint32_t job, uint32_t slot)
{
    bool timely = false;
    const struct ad_context context = context_of(readings, &timely);
    const struct ad *ads[KINDS_SIDES] = {[KINDS_SLOT] = kinds_ad(readings->kinds, KINDS_SLOT, slot),
                                         [KINDS_JOB] = kinds_ad(readings->kinds, KINDS_JOB, job)};
    bool yes = ad_eval_bool(expr, ads[stands], ads[kinds_other(stands)], &context) == AD_TRUE;
    readings->evaluated++;
    if (timely) {
        note_timely(readings, KINDS_SLOT, slot);
        note_timely(readings, KINDS_JOB, job);
    }
    return yes;
}

/* ---- readings of one side */

struct reading_wanted {
    const struct readings *readings;
    enum kinds_side of, stands;
    const char *name;
    const struct ad_expr *expr;
};

static bool same_reading(const void *arg, uint32_t id)
{
    const struct reading_wanted *wanted = arg;
    const struct reading *reading = &wanted->readings->readings[id];
    if (reading->of != wanted->of || reading->stands != wanted->stands ||
        (reading->name != NULL) != (wanted->name != NULL)) {
        return false;
    }
    return wanted->name != NULL ? ad_name_compare(reading->name, wanted->name) == 0
                                : ad_expr_same(reading->expr, wanted->expr);
}

static uint32_t find_or_add(struct readings *readings, uint64_t hash,
                            const struct reading_wanted *wanted)
{
    uint32_t id = number_table_find(&readings->table, hash, same_reading, wanted);
    if (id != NUMBER_NONE) {
        return id;
    }
    readings->readings = number_array_grow(readings->readings, readings->count, &readings->room,
                                           sizeof *readings->readings);
    id = readings->count++;
    readings->readings[id] = (struct reading){
        .of = wanted->of,
        .stands = wanted->stands,
        .name = wanted->name != NULL ? mem_strdup(wanted->name) : NULL,
        .expr = wanted->expr != NULL ? ad_expr_ref(wanted->expr) : NULL,
    };
    number_table_add(&readings->table, hash, id);
    return id;
}

uint32_t readings_name(struct readings *readings, enum kinds_side of, const char *name)
{
    const struct reading_wanted wanted = {.readings = readings,
                                          .of = of,
                                          .stands = of,
                                          .name = name};
    uint64_t hash = of;
    for (const char *c = name; *c != '\0'; c++) {
        hash = number_mix(hash, (uint64_t)(*c >= 'A' && *c <= 'Z' ? *c + ('a' - 'A') : *c));
    }
    return find_or_add(readings, hash, &wanted);
}

uint32_t readings_expr(struct readings *readings, enum kinds_side of, enum kinds_side stands,
                       const struct ad_expr *expr)
{
    const struct reading_wanted wanted = {.readings = readings,
                                          .of = of,
                                          .stands = stands,
                                          .expr = expr};
    return find_or_add(readings, number_mix(ad_expr_hash(expr), (uint64_t)of * 2 + stands),
                       &wanted);
}

const struct cell *readings_cell(struct readings *readings, uint32_t id, uint32_t kind)
{
    struct reading *reading = &readings->readings[id];
    reading->cells =
        number_array_grow_to(reading->cells, kind, &reading->room, sizeof *reading->cells);
    struct cell *cell = &reading->cells[kind];
    if (cell->type == CELL_UNREAD) {
        bool timely = false;
        *cell = evaluate_cell(readings, reading->of, reading->stands, kind, reading->expr,
                              reading->name, &timely);
        reading->timely = reading->timely || timely;
    }
    return cell;
}

const struct cell *readings_cells(const struct readings *readings, uint32_t id, uint32_t *count)
{
    *count = readings->readings[id].room;
    return readings->readings[id].cells;
}

/* ---- pairs */

struct pair_wanted {
    const struct readings *readings;
    enum kinds_side stands;
    const struct ad_expr *expr;
};

static bool same_pair(const void *arg, uint32_t id)
{
    const struct pair_wanted *wanted = arg;
    const struct pair *pair = &wanted->readings->pairs[id];
    return pair->stands == wanted->stands && ad_expr_same(pair->expr, wanted->expr);
}

uint32_t readings_pair(struct readings *readings, enum kinds_side stands,
                       const struct ad_expr *expr)
{
    const struct pair_wanted wanted = {.readings = readings, .stands = stands, .expr = expr};
    uint64_t hash = number_mix(ad_expr_hash(expr), stands);
    uint32_t id = number_table_find(&readings->pair_table, hash, same_pair, &wanted);
    if (id != NUMBER_NONE) {
        return id;
    }
    readings->pairs = number_array_grow(readings->pairs, readings->pair_count, &readings->pair_room,
                                        sizeof *readings->pairs);
    id = readings->pair_count++;
    struct pair *pair = &readings->pairs[id];
    *pair = (struct pair){.stands = stands, .expr = ad_expr_ref(expr)};
    struct kinds_reads reads;
    kinds_reads(readings->kinds, stands, expr, &reads);
    for (int side = 0; side < KINDS_SIDES; side++) {
        pair->classes[side] =
            (struct classes){.names = mem_dup(reads.names[side],
                                              reads.count[side] * sizeof *reads.names[side]),
                             .name_count = reads.count[side],
                             .all = reads.all};
    }
    kinds_reads_fini(&reads);
    number_table_add(&readings->pair_table, hash, id);
    return id;
}

struct tuple_wanted {
    const struct classes *classes;
    const uint64_t *tuple;
};

static bool same_tuple(const void *arg, uint32_t id)
{
    const struct tuple_wanted *wanted = arg;
    size_t count = wanted->classes->name_count;
    return memcmp(wanted->classes->tuples + id * count, wanted->tuple, count * sizeof(uint64_t)) ==
           0;
}

static uint32_t class_of(struct readings *readings, struct classes *classes, enum kinds_side side,
                         uint32_t kind)
{
    classes->of_kind =
        number_array_grow_to(classes->of_kind, kind, &classes->room, sizeof *classes->of_kind);
    if (classes->of_kind[kind] != 0) {
        return classes->of_kind[kind] - 1;
    }
    size_t count = classes->name_count;
    uint32_t id = NUMBER_NONE;
    uint64_t hash = 0;
    if (!classes->all) {
        if (classes->tuple_room < classes->count + 1) {
            classes->tuple_room = 2 * classes->count + 16;
            classes->tuples = mem_realloc(classes->tuples, (classes->tuple_room * count + 1) *
                                                               sizeof *classes->tuples);
        }
        uint64_t *tuple = classes->tuples + classes->count * count;
        for (size_t i = 0; i < count; i++) {
            tuple[i] = kinds_value(readings->kinds, side, kind, classes->names[i]);
            hash = number_mix(hash, tuple[i]);
        }
        const struct tuple_wanted wanted = {.classes = classes, .tuple = tuple};
        id = number_table_find(&classes->table, hash, same_tuple, &wanted);
    }
    if (id == NUMBER_NONE) {
        id = classes->count++;
        readings->class_count++;
        if (!classes->all) {
            number_table_add(&classes->table, hash, id);
        }
    }
    classes->of_kind[kind] = id + 1;
    return id;
}

enum { KNOWN_TRUE = 1, KNOWN_FALSE = 2, KNOWN_RANK = 4 };

/* Returns the column that has the value for these two kinds. */
static struct column *column_of(struct readings *readings, uint32_t id, uint32_t job, uint32_t slot,
                                uint32_t *ret)
{
    struct pair *pair = &readings->pairs[id];
    uint32_t row = class_of(readings, &pair->classes[KINDS_JOB], KINDS_JOB, job);
    *ret = class_of(readings, &pair->classes[KINDS_SLOT], KINDS_SLOT, slot);
    pair->columns = number_array_grow_to(pair->columns, row, &pair->room, sizeof *pair->columns);
    struct column *column = &pair->columns[row];
    uint32_t before = column->room;
    column->known = number_array_grow_to(column->known, *ret, &column->room, sizeof *column->known);
    if (column->values != NULL && column->room > before) {
        column->values = mem_realloc(column->values, column->room * sizeof *column->values);
    }
    return column;
}

bool readings_pair_is_true(struct readings *readings, uint32_t id, uint32_t job, uint32_t slot)
{
    uint32_t at;
    struct column *column = column_of(readings, id, job, slot, &at);
    struct pair *pair = &readings->pairs[id];
    if ((column->known[at] & (KNOWN_TRUE | KNOWN_FALSE)) == 0) {
        bool yes = readings_judge(readings, pair->stands, pair->expr, job, slot);
        pair->timely = pair->timely || (readings_is_timely(readings, KINDS_JOB, job) &&
                                        readings_is_timely(readings, KINDS_SLOT, slot));
        column->known[at] |= yes ? KNOWN_TRUE : KNOWN_FALSE;
    }
    return (column->known[at] & KNOWN_TRUE) != 0;
}

double readings_pair_rank(struct readings *readings, uint32_t id, uint32_t job, uint32_t slot)
{
    uint32_t at;
    struct column *column = column_of(readings, id, job, slot, &at);
    struct pair *pair = &readings->pairs[id];
    if (column->values == NULL) {
        column->values = mem_alloc(column->room * sizeof *column->values); /* where known */
    }
    if ((column->known[at] & KNOWN_RANK) == 0) {
        bool timely = false;
        const struct ad_context context = context_of(readings, &timely);
        const struct ad *ads[KINDS_SIDES] = {[KINDS_SLOT] =
                                                 kinds_ad(readings->kinds, KINDS_SLOT, slot),
                                             [KINDS_JOB] =
                                                 kinds_ad(readings->kinds, KINDS_JOB, job)};
        double rank =
            ad_eval_rank(pair->expr, ads[pair->stands], ads[kinds_other(pair->stands)], &context);
        readings->evaluated++;
        column->values[at] = isnan(rank) ? 0.0 : rank;
        column->known[at] |= KNOWN_RANK;
        if (timely) {
            note_timely(readings, KINDS_SLOT, slot);
            note_timely(readings, KINDS_JOB, job);
            pair->timely = true;
        }
    }
    return column->values[at];
}

/* ---- life */

void readings_forget(struct readings *readings, enum kinds_side side, uint32_t kind,
                     bool only_timely)
{
    for (uint32_t i = 0; i < readings->count; i++) {
        struct reading *reading = &readings->readings[i];
        if (reading->of == side && kind < reading->room && (!only_timely || reading->timely)) {
            reading->cells[kind].type = CELL_UNREAD;
        }
    }
    for (uint32_t i = 0; i < readings->pair_count; i++) {
        struct pair *pair = &readings->pairs[i];
        struct classes *classes = &pair->classes[side];
        if (!only_timely && kind < classes->room) {
            classes->of_kind[kind] = 0;
        }
        for (uint32_t j = 0; only_timely && pair->timely && j < pair->room; j++) {
            if (pair->columns[j].known != NULL) {
                memset(pair->columns[j].known, 0, pair->columns[j].room);
            }
        }
        pair->timely = pair->timely && !only_timely;
    }
    if (readings_is_timely(readings, side, kind)) {
        readings->timely[side][kind] = false;
    }
}

size_t readings_count(const struct readings *readings)
{
    return readings->count + readings->pair_count + readings->class_count +
           strmap_count(readings->texts);
}

size_t readings_evaluated(const struct readings *readings)
{
    return readings->evaluated;
}

void readings_begin(struct readings *readings, const struct ad_context *context)
{
    readings->context = context;
    readings->evaluated = 0;
}

static void pair_fini(struct pair *pair)
{
    for (int side = 0; side < KINDS_SIDES; side++) {
        mem_free(pair->classes[side].names);
        mem_free(pair->classes[side].of_kind);
        mem_free(pair->classes[side].tuples);
        number_table_fini(&pair->classes[side].table);
    }
    for (uint32_t i = 0; i < pair->room; i++) { /* unused ones are zero */
        mem_free(pair->columns[i].values);
        mem_free(pair->columns[i].known);
    }
    mem_free(pair->columns);
    ad_expr_destroy(pair->expr);
}

static void clear_readings(struct readings *readings)
{
    for (uint32_t i = 0; i < readings->count; i++) {
        mem_free(readings->readings[i].name);
        mem_free(readings->readings[i].cells);
        ad_expr_destroy(readings->readings[i].expr);
    }
    for (uint32_t i = 0; i < readings->pair_count; i++) {
        pair_fini(&readings->pairs[i]);
    }
    strmap_destroy(readings->folded, NULL);
    strmap_destroy(readings->texts, destroy_text);
    mem_free(readings->readings);
    mem_free(readings->pairs);
    number_table_fini(&readings->table);
    number_table_fini(&readings->pair_table);
    for (int side = 0; side < KINDS_SIDES; side++) {
        mem_free(readings->timely[side]);
    }
}

static void begin_empty(struct readings *readings)
{
    readings->texts = strmap_create(STRMAP_CASE_SENSITIVE);
    readings->folded = strmap_create(STRMAP_CASE_IGNORED);
}

void readings_reset(struct readings *readings)
{
    clear_readings(readings);
    *readings = (struct readings){.kinds = readings->kinds,
                                  .context = readings->context,
                                  .empty = readings->empty,
                                  .evaluated = readings->evaluated};
    begin_empty(readings);
}

struct readings *readings_create(struct kinds *kinds)
{
    struct readings *readings = mem_zalloc(sizeof *readings);
    readings->kinds = kinds;
    readings->empty = ad_create();
    begin_empty(readings);
    return readings;
}

void readings_destroy(struct readings *readings)
{
    if (readings != NULL) {
        clear_readings(readings);
        ad_destroy(readings->empty);
        mem_free(readings);
    }
}
