/* cli/why/why_changes_plan.c - finds the smallest changes of an ad that would match (see
 * why_plan.h).
 *
 * For each kind of other ad that does not match, each clause that is not true there becomes an
 * edit: another value for an attribute of the ad, or for a literal in the ad's own clause.  An own
 * clause that is not a comparison can only be dropped.  The edits for one kind are a candidate;
 * equal candidates are kept once.  Each candidate is tried: the changed ad is matched with all
 * others, so that a proposed change is never a guess.  Changes with fewer edits are tried first.
 * In a row of candidates that differ only in values, the nearest that gains a match is kept, and
 * the furthest if it gains at least twice as much.
 *
 * Rejected: a search through all attributes and values.  It has no bound, and finds changes that
 * nobody would understand.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/text.h"
#include "classad/ad.h"
#include "classad/ad_clauses.h"
#include "cli/why/why_judge.h"
#include "cli/why/why_text_plan.h"

#define TRIES_PER_ROW 4 /* a row is given up after so many values without a match */

struct candidate {
    struct why_change change;
    char *row;         /* what the change edits, without the values */
    int64_t potential; /* number of other ads for which the change was made */
    size_t drops;
    size_t order; /* order of creation */
};

struct candidates {
    const struct why_judge *judge;
    struct candidate **items;
    size_t count, capacity;
    struct strmap *known; /* text of a change -> the change; finds equal changes */
};

/* ---- edits ---- */

/* True for attributes that say whose or which job it is; a change of them is never proposed. */
static bool is_fixed(const char *name)
{
    static const char *const FIXED[] = {"Owner",      "User",        "ClusterId", "ProcId",
                                        "QDate",      "GlobalJobId", "JobStatus", "MyType",
                                        "TargetType", "Requirements"};
    for (size_t i = 0; i < sizeof FIXED / sizeof *FIXED; i++) {
        if (text_equal_nocase(FIXED[i], name)) {
            return true;
        }
    }
    return false;
}

static void edit_fini(struct why_edit *edit)
{
    mem_free(edit->name);
    mem_free(edit->was);
    mem_free(edit->text);
    ad_expr_destroy(edit->expr);
    *edit = (struct why_edit){0};
}

void why_change_fini(struct why_change *change)
{
    for (size_t i = 0; i < change->edit_count; i++) {
        edit_fini(&change->edits[i]);
    }
    change->edit_count = 0;
}

static struct ad_expr *whole_number(double real)
{
    return real > -9e18 && real < 9e18 ? ad_expr_int((int64_t)real) : NULL;
}

static struct ad_expr *literal_of(const struct ad_value *value)
{
    switch (value->type) {
    case AD_TYPE_BOOL:
        return ad_expr_bool(value->boolean);
    case AD_TYPE_INT:
        return ad_expr_int(value->integer);
    case AD_TYPE_REAL:
        return ad_expr_real(value->real);
    case AD_TYPE_STRING:
        return ad_expr_string(value->string.text, value->string.length);
    default:
        return NULL;
    }
}

/* Returns the value v nearest to `value` for which `v op value` is true; NULL: there is none, or it
 * cannot be computed. */
static struct ad_expr *solve_comparison(enum ad_compare op, const struct ad_value *value)
{
    bool number = value->type == AD_TYPE_INT || value->type == AD_TYPE_REAL;
    double real = value->type == AD_TYPE_INT ? (double)value->integer : value->real;
    switch (op) {
    case AD_COMPARE_IS:
        return value->type == AD_TYPE_UNDEFINED ? ad_expr_undefined() : literal_of(value);
    case AD_COMPARE_EQ:
        return literal_of(value);
    case AD_COMPARE_LE:
    case AD_COMPARE_GE:
        return number ? literal_of(value) : NULL;
    case AD_COMPARE_LT:
        return number ? whole_number(ceil(real) - 1) : NULL;
    case AD_COMPARE_GT:
        return number ? whole_number(floor(real) + 1) : NULL;
    case AD_COMPARE_NE:
    case AD_COMPARE_ISNT:
        return value->type == AD_TYPE_BOOL ? ad_expr_bool(!value->boolean) : NULL;
    }
    return NULL;
}

static enum ad_compare turn_comparison(enum ad_compare op)
{
    switch (op) {
    case AD_COMPARE_LT:
        return AD_COMPARE_GT;
    case AD_COMPARE_LE:
        return AD_COMPARE_GE;
    case AD_COMPARE_GT:
        return AD_COMPARE_LT;
    case AD_COMPARE_GE:
        return AD_COMPARE_LE;
    default:
        return op;
    }
}

static double number_of(const struct ad_expr *expr, const struct ad *my, const struct ad *target,
                        const struct ad_context *context)
{
    struct ad_value value;
    double number = NAN;
    ad_eval(expr, my, target, context, &value);
    if (value.type == AD_TYPE_INT || value.type == AD_TYPE_REAL) {
        number = value.type == AD_TYPE_INT ? (double)value.integer : value.real;
    }
    ad_value_fini(&value);
    return number;
}

static double relative_distance(double from, double to)
{
    double step = fabs(to - from) / fmax(1.0, fabs(from));
    return isnan(step) ? 0.0 : step;
}

/* For a clause in `my` that compares an attribute of the question's ad: fills edit with the value
 * that the attribute would need.  False: not such a clause. */
static bool set_edit(const struct why_judge *judge, const struct why_kind *kind,
                     const struct ad_expr *expr, bool theirs, struct why_edit *edit, double *far)
{
    const struct ad *ad = judge->question->ad;
    const struct ad *my = theirs ? kind->ad : ad;
    const struct ad *target = theirs ? ad : kind->ad;
    const struct ad_context *context = judge->question->context;
    struct ad_comparison comparison;
    if (!ad_clause_comparison(expr, my, theirs ? AD_SIDE_TARGET : AD_SIDE_MY, &comparison)) {
        return false;
    }
    struct ad_value value;
    ad_eval(comparison.other, my, target, context, &value);
    struct ad_expr *wanted =
        is_fixed(comparison.name) ? NULL : solve_comparison(comparison.op, &value);
    ad_value_fini(&value);
    if (wanted != NULL) {
        const struct ad_expr *was = ad_lookup(ad, comparison.name);
        *edit = (struct why_edit){.kind = WHY_SET,
                                  .name = mem_strdup(comparison.name),
                                  .was = was != NULL ? why_text_clause(was) : mem_strdup(""),
                                  .text = why_text_clause(wanted),
                                  .expr = wanted};
        *far = was != NULL ? relative_distance(number_of(was, ad, kind->ad, context),
                                               number_of(wanted, ad, NULL, context))
                           : 0.0;
    }
    ad_comparison_fini(&comparison);
    return wanted != NULL;
}

/* Like set_edit(); in a disjunction, changes the first test that can be changed, because one true
 * test is enough. */
static bool set_edit_within(const struct why_judge *judge, const struct why_kind *kind,
                            const struct ad_expr *expr, bool theirs, struct why_edit *edit,
                            double *far)
{
    if (set_edit(judge, kind, expr, theirs, edit, far)) {
        return true;
    }
    struct ad_clauses *clauses = ad_clauses_create(expr, theirs ? kind->ad : judge->question->ad);
    const struct ad_clause *root = ad_clauses_at(clauses, 0);
    bool found = false;
    for (size_t i = 0; root->kind == AD_CLAUSE_OR && i < root->kid_count && !found; i++) {
        found =
            set_edit(judge, kind, ad_clauses_at(clauses, root->kids[i])->expr, theirs, edit, far);
    }
    ad_clauses_destroy(clauses);
    return found;
}

/* For a clause such as `TARGET.Memory >= 5000`: fills edit with the literal that this kind would
 * meet. */
static bool replace_edit(const struct why_judge *judge, const struct why_kind *kind, size_t demand,
                         struct why_edit *edit, double *far)
{
    const struct why_question *question = judge->question;
    const struct why_demand *clause = &judge->answer->demands[demand];
    struct ad_comparison comparison;
    if (!ad_clause_comparison(clause->expr, question->ad, AD_SIDE_TARGET, &comparison)) {
        return false;
    }
    struct ad_value value;
    struct ad_expr *wanted = NULL, *expr = NULL;
    if (ad_eval_attr(kind->ad, question->ad, comparison.name, question->context, &value) == 0 &&
        value.type != AD_TYPE_UNDEFINED) {
        wanted = solve_comparison(turn_comparison(comparison.op), &value);
    }
    ad_value_fini(&value);
    if (wanted != NULL) {
        struct strbuf text;
        strbuf_init(&text, 0);
        strbuf_printf(&text, "TARGET.%s %s ", comparison.name, ad_compare_text(comparison.op));
        ad_expr_print(wanted, AD_NEW, &text);
        (void)ad_expr_parse(strbuf_text(&text), text.length, AD_NEW, &expr, NULL);
        *far = relative_distance(number_of(comparison.other, question->ad, kind->ad,
                                           question->context),
                                 number_of(wanted, NULL, NULL, NULL));
        strbuf_fini(&text);
        ad_expr_destroy(wanted);
    }
    if (expr != NULL) {
        *edit = (struct why_edit){.kind = WHY_REPLACE,
                                  .demand = demand,
                                  .was = mem_strdup(clause->text),
                                  .text = why_text_clause(expr),
                                  .expr = expr};
    }
    ad_comparison_fini(&comparison);
    return expr != NULL;
}

static bool make_edit(const struct why_judge *judge, const struct why_kind *kind, size_t demand,
                      struct why_edit *edit, double *far)
{
    const struct why_demand *clause = &judge->answer->demands[demand];
    *far = 0;
    if (set_edit_within(judge, kind, clause->expr, clause->theirs, edit, far)) {
        return true;
    }
    if (clause->theirs) {
        return false;
    }
    if (!replace_edit(judge, kind, demand, edit, far)) {
        *edit = (struct why_edit){.kind = WHY_DROP,
                                  .demand = demand,
                                  .was = mem_strdup(clause->text),
                                  .text = mem_strdup(""),
                                  .expr = ad_expr_bool(true)};
    }
    return true;
}

/* ---- candidates ---- */

/* Adds an edit to the change.  When two clauses want different values of one attribute, keeps the
 * value that is further away: if one value serves both clauses, that one does. */
static void add_edit(struct why_change *change, struct why_edit *edit, double far, double *fars)
{
    for (size_t i = 0; i < change->edit_count; i++) {
        struct why_edit *known = &change->edits[i];
        if (known->kind == WHY_SET && edit->kind == WHY_SET &&
            text_equal_nocase(known->name, edit->name)) {
            if (far > fars[i]) {
                edit_fini(known);
                *known = *edit;
                fars[i] = far;
            } else {
                edit_fini(edit);
            }
            return;
        }
    }
    fars[change->edit_count] = far;
    change->edits[change->edit_count++] = *edit;
}

static bool make_change(const struct why_judge *judge, const struct why_kind *kind,
                        struct why_change *change)
{
    double fars[WHY_FAILS_MAX] = {0};
    for (size_t i = 0; i < kind->fail_count; i++) {
        struct why_edit edit;
        double far;
        if (!make_edit(judge, kind, kind->fails[i], &edit, &far)) {
            why_change_fini(change);
            return false;
        }
        add_edit(change, &edit, far, fars);
    }
    for (size_t i = 0; i < change->edit_count; i++) {
        change->distance += fars[i];
    }
    return true;
}

static void describe_change(const struct why_change *change, bool with_values, struct strbuf *out)
{
    for (size_t i = 0; i < change->edit_count; i++) {
        const struct why_edit *edit = &change->edits[i];
        if (edit->kind == WHY_SET) {
            strbuf_printf(out, "set %s\n", edit->name);
        } else {
            strbuf_printf(out, "%s %zu\n", edit->kind == WHY_DROP ? "drop" : "replace",
                          edit->demand);
        }
        if (with_values) {
            ad_expr_print(edit->expr, AD_NEW, out);
            strbuf_putc(out, '\n');
        }
    }
}

static void candidate_destroy(struct candidate *candidate)
{
    why_change_fini(&candidate->change);
    mem_free(candidate->row);
    mem_free(candidate);
}

static void add_candidate(struct candidates *candidates, const struct why_kind *kind)
{
    struct why_change change = {0};
    if (!make_change(candidates->judge, kind, &change)) {
        return;
    }
    struct strbuf text;
    strbuf_init(&text, 0);
    describe_change(&change, true, &text);
    const char *key = text.failed ? "" : strbuf_text(&text);
    struct candidate *known = strmap_get(candidates->known, key);
    if (known == NULL) {
        known = mem_zalloc(sizeof *known);
        known->order = candidates->count;
        known->change = change;
        for (size_t i = 0; i < change.edit_count; i++) {
            known->drops += change.edits[i].kind == WHY_DROP;
        }
        (void)strmap_set(candidates->known, key, known);
        strbuf_clear(&text);
        describe_change(&change, false, &text);
        known->row = strbuf_take(&text);
        if (candidates->count == candidates->capacity) {
            candidates->capacity = 2 * candidates->capacity + 16;
            candidates->items =
                mem_realloc(candidates->items, candidates->capacity * sizeof *candidates->items);
        }
        candidates->items[candidates->count++] = known;
    } else {
        why_change_fini(&change);
    }
    known->potential += why_sum(kind->count);
    strbuf_fini(&text);
}

static int by_row(const void *left, const void *right)
{
    const struct candidate *a = *(struct candidate *const *)left;
    const struct candidate *b = *(struct candidate *const *)right;
    int order = (a->change.edit_count > b->change.edit_count) -
                (a->change.edit_count < b->change.edit_count);
    order = order != 0 ? order : (a->drops > b->drops) - (a->drops < b->drops);
    order = order != 0 ? order : strcmp(a->row, b->row);
    order = order != 0 ? order
                       : (a->change.distance > b->change.distance) -
                             (a->change.distance < b->change.distance);
    order = order != 0 ? order : (a->potential < b->potential) - (a->potential > b->potential);
    return order != 0 ? order : (a->order > b->order) - (a->order < b->order);
}

/* ---- trying ---- */

static struct ad *changed_ad(const struct why_judge *judge, const struct why_change *change)
{
    struct ad *ad = ad_copy(judge->question->ad);
    const struct ad_expr **replacement =
        mem_zalloc((judge->answer->own_count + 1) * sizeof *replacement);
    bool rewritten = false;
    for (size_t i = 0; i < change->edit_count; i++) {
        const struct why_edit *edit = &change->edits[i];
        if (edit->kind == WHY_SET) {
            ad_set(ad, edit->name, ad_expr_ref(edit->expr));
        } else {
            replacement[edit->demand] = edit->expr;
            rewritten = true;
        }
    }
    struct ad_expr *joined =
        rewritten ? ad_clauses_join(judge->answer->clauses, replacement) : NULL;
    if (joined != NULL) {
        ad_set(ad, "Requirements", joined);
    } else if (rewritten) {
        ad_set_error(ad, "Requirements"); /* too large: matches nothing */
    }
    mem_free(replacement);
    return ad;
}

static bool is_rewritten(const struct why_change *change, size_t demand)
{
    for (size_t i = 0; i < change->edit_count; i++) {
        if (change->edits[i].kind != WHY_SET && change->edits[i].demand == demand) {
            return true;
        }
    }
    return false;
}

/* A cheap test before a full match: true when one clause that was not true before is still not
 * true. */
static bool is_still_refused(const struct why_judge *judge, const struct why_kind *kind,
                             const struct why_change *change, const struct ad *changed)
{
    const struct ad_context *context = judge->question->context;
    for (size_t i = 0; i < kind->fail_count && i < WHY_FAILS_MAX; i++) {
        const struct why_demand *demand = &judge->answer->demands[kind->fails[i]];
        if (demand->theirs) {
            return ad_eval_bool(demand->expr, kind->ad, changed, context) != AD_TRUE;
        }
        if (demand->from == NULL && !is_rewritten(change, kind->fails[i])) {
            return ad_eval_bool(demand->expr, changed, kind->ad, context) != AD_TRUE;
        }
    }
    return false;
}

static void try_change(const struct why_judge *judge, struct why_change *change)
{
    struct ad *changed = changed_ad(judge, change);
    for (size_t i = 0; i < judge->kind_count && !why_is_over(judge->question); i++) {
        const struct why_kind *kind = &judge->kinds[i];
        if (kind->judged && !kind->matches && !is_still_refused(judge, kind, change, changed) &&
            ad_match(changed, kind->ad, judge->question->context)) {
            why_count_add(&change->gain, kind->count);
        }
    }
    change->matches = why_sum(change->gain) > 0 && !why_is_over(judge->question);
    ad_destroy(changed);
}

static void keep_change(const struct why_judge *judge, struct why_change *change)
{
    struct why_answer *answer = judge->answer;
    if (answer->change_count < WHY_CHANGES_MAX) {
        answer->changes =
            mem_realloc(answer->changes, (answer->change_count + 1) * sizeof *answer->changes);
        answer->changes[answer->change_count++] = *change; /* taken */
        *change = (struct why_change){0};
    }
}

/* Tries changes that edit the same things with other values; items[0..count) are sorted, nearest
 * first. */
static void try_row(const struct why_judge *judge, struct candidate **items, size_t count,
                    size_t *tries)
{
    for (size_t i = 0; i < count && i < TRIES_PER_ROW && *tries < WHY_TRIES_MAX; i++) {
        struct why_change *nearest = &items[i]->change;
        (*tries)++;
        try_change(judge, nearest);
        if (!nearest->matches) {
            continue;
        }
        struct why_change *furthest = &items[count - 1]->change;
        int64_t gain = why_sum(nearest->gain);
        keep_change(judge, nearest);
        if (i + 1 < count && *tries < WHY_TRIES_MAX) {
            (*tries)++;
            try_change(judge, furthest);
            if (furthest->matches && why_sum(furthest->gain) >= 2 * gain) {
                keep_change(judge, furthest);
            }
        }
        return;
    }
}

void why_changes_find(const struct why_judge *judge)
{
    size_t tries = 0, edits = WHY_FAILS_MAX;
    struct candidates candidates = {.judge = judge, .known = strmap_create(STRMAP_CASE_SENSITIVE)};
    for (size_t i = 0; i < judge->kind_count && !why_is_over(judge->question); i++) {
        const struct why_kind *kind = &judge->kinds[i];
        if (kind->judged && !kind->matches && kind->fail_count > 0 &&
            kind->fail_count <= WHY_FAILS_MAX) {
            add_candidate(&candidates, kind);
        }
    }
    if (candidates.count > 1) {
        qsort(candidates.items, candidates.count, sizeof *candidates.items, by_row);
    }
    for (size_t at = 0, end; at < candidates.count; at = end) {
        const struct candidate *first = candidates.items[at];
        if (first->change.edit_count > edits) {
            break; /* fewer are enough */
        }
        for (end = at + 1;
             end < candidates.count && strcmp(candidates.items[end]->row, first->row) == 0;) {
            end++;
        }
        size_t own = first->change.edit_count;
        try_row(judge, candidates.items + at, end - at, &tries);
        edits = judge->answer->change_count > 0 && own < edits ? own : edits;
    }
    for (size_t i = 0; i < candidates.count; i++) {
        candidate_destroy(candidates.items[i]);
    }
    mem_free(candidates.items);
    strmap_destroy(candidates.known, NULL);
}
