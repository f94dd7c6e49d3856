/* cli/why/why_plan.c - see why_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/why/why_plan.h"

#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "classad/ad_clauses.h"
#include "cli/why/why_groups_plan.h"
#include "cli/why/why_judge.h"
#include "cli/why/why_text_plan.h"

#define NAMES_SHOWN  4 /* attributes of each side whose values a clause shows */
#define VALUES_SHOWN 3 /* different values of one attribute that a clause shows */
/* text of the last demand when it stands for more clauses than are kept apart */
#define OTHER_CLAUSES "(other clauses)"

/* ---- the others' clauses, by text ---- */

struct theirs {
    struct why_judge *judge;
    struct strmap *known; /* "from\ntext" -> number of the demand + 1 */
};

static size_t add_demand(struct why_answer *answer, bool theirs, const struct ad_expr *expr,
                         const char *from)
{
    answer->demands =
        mem_realloc(answer->demands, (answer->demand_count + 1) * sizeof *answer->demands);
    answer->demands[answer->demand_count] =
        (struct why_demand){.theirs = theirs,
                            .text = why_text_clause(expr),
                            .from = from != NULL ? mem_strdup(from) : NULL,
                            .expr = ad_expr_ref(expr)};
    return answer->demand_count++;
}

/* Returns the index of the demand for a clause of the others, added when new.  When there are too
 * many, the last demand stands for all further clauses. */
static size_t their_demand(struct theirs *theirs, const struct ad_expr *expr, const char *from)
{
    struct why_answer *answer = theirs->judge->answer;
    struct strbuf key;
    strbuf_init(&key, WHY_PRINT_MAX);
    strbuf_printf(&key, "%s\n", from != NULL ? from : "");
    ad_expr_print(expr, AD_NEW, &key);
    const char *text = key.failed ? "(too long)" : strbuf_text(&key);
    size_t number = (size_t)(uintptr_t)strmap_get(theirs->known, text);
    if (number == 0) {
        if (strmap_count(theirs->known) < WHY_DEMANDS_MAX) {
            number = add_demand(answer, true, expr, from) + 1;
            (void)strmap_set(theirs->known, text, (void *)(uintptr_t)number);
        } else {
            struct why_demand *last = &answer->demands[answer->demand_count - 1];
            if (strcmp(last->text, OTHER_CLAUSES) != 0) {
                mem_free(last->text);
                mem_free(last->from);
                ad_expr_destroy(last->expr);
                last->text = mem_strdup(OTHER_CLAUSES);
                last->from = NULL;
                last->expr = ad_expr_bool(true); /* decides nothing: it stands for many */
            }
            number = answer->demand_count;
        }
    }
    strbuf_fini(&key);
    return number - 1;
}

/* ---- judging ---- */

static void note_failure(struct why_judge *judge, struct why_kind *kind, size_t demand,
                         enum ad_truth truth)
{
    judge->answer->demands[demand].is_error |= truth == AD_ERROR;
    for (size_t i = 0; i < kind->fail_count && i < WHY_FAILS_KEPT; i++) {
        if (kind->fails[i] == demand) {
            return; /* written twice */
        }
    }
    if (kind->fail_count < WHY_FAILS_KEPT) {
        kind->fails[kind->fail_count] = demand;
    }
    kind->fail_count++;
    struct why_count *refuses = &judge->answer->demands[demand].refuses;
    why_count_add(refuses, kind->count);
}

static void judge_own(struct why_judge *judge, struct why_kind *kind)
{
    const struct why_question *question = judge->question;
    struct why_answer *answer = judge->answer;
    for (size_t i = 0; i < answer->own_count; i++) {
        enum ad_truth truth =
            ad_eval_bool(answer->demands[i].expr, question->ad, kind->ad, question->context);
        if (truth != AD_TRUE) {
            note_failure(judge, kind, i, truth);
        }
    }
}

static void judge_theirs(struct theirs *theirs, struct why_kind *kind)
{
    const struct why_question *question = theirs->judge->question;
    const struct ad_expr *requirements = ad_lookup(kind->ad, "Requirements");
    if (requirements == NULL) {
        struct ad_expr *none = ad_expr_undefined();
        note_failure(theirs->judge, kind, their_demand(theirs, none, "Requirements"), AD_UNDEFINED);
        ad_expr_destroy(none);
        return;
    }
    struct ad_clauses *clauses = ad_clauses_create(requirements, kind->ad);
    for (size_t i = 0; i < ad_clauses_demand_count(clauses); i++) {
        const struct ad_clause *clause = ad_clauses_at(clauses, ad_clauses_demand(clauses, i));
        enum ad_truth truth = ad_eval_bool(clause->expr, kind->ad, question->ad, question->context);
        if (truth != AD_TRUE) {
            note_failure(theirs->judge, kind, their_demand(theirs, clause->expr, clause->from),
                         truth);
        }
    }
    ad_clauses_destroy(clauses);
}

/* True when the whole Requirements expression is error.  An error in one clause does not suffice:
 * false && error is false. */
static bool is_error(const struct why_judge *judge, const struct why_kind *kind)
{
    const struct why_question *question = judge->question;
    const struct ad_expr *requirements = ad_lookup(question->ad, "Requirements");
    return requirements != NULL &&
           ad_eval_bool(requirements, question->ad, kind->ad, question->context) == AD_ERROR;
}

static void judge_kind(struct theirs *theirs, struct why_kind *kind)
{
    struct why_judge *judge = theirs->judge;
    struct why_answer *answer = judge->answer;
    judge_own(judge, kind);
    size_t own = kind->fail_count;
    if (own > 0 && is_error(judge, kind)) {
        why_count_add(&answer->errors, kind->count);
    }
    judge_theirs(theirs, kind);
    kind->judged = true;
    kind->matches = ad_match(judge->question->ad, kind->ad, judge->question->context);
    if (kind->matches) {
        why_count_add(&answer->matching, kind->count);
    } else if (own > 0) {
        why_count_add(&answer->refused_by_ad, kind->count);
    } else {
        why_count_add(&answer->refused_by_others, kind->count);
    }
    if (!kind->matches && kind->fail_count == 1) {
        why_count_add(&answer->demands[kind->fails[0]].alone, kind->count);
    }
}

static void judge_all(struct why_judge *judge)
{
    struct theirs theirs = {.judge = judge, .known = strmap_create(STRMAP_CASE_SENSITIVE)};
    struct why_answer *answer = judge->answer;
    for (size_t i = 0; i < judge->kind_count; i++) {
        if (why_is_over(judge->question)) {
            why_count_add(&answer->unjudged, judge->kinds[i].count);
        } else {
            judge_kind(&theirs, &judge->kinds[i]);
            answer->kinds++;
        }
    }
    strmap_destroy(theirs.known, NULL);
    for (size_t i = 0; i < judge->question->other_count; i++) {
        answer->matches[i] = judge->kinds[judge->groups->group_of[i]].matches;
    }
}

/* ---- the values that a clause looked at ---- */

struct value_range {
    const char *name;
    bool numbers; /* all values so far are numbers */
    double low, high;
    char *texts[VALUES_SHOWN];
    char *low_text, *high_text;
    /* number of different values; above VALUES_SHOWN, repeated values are counted, too */
    size_t text_count;
};

static char *value_text(const struct ad_value *value)
{
    struct strbuf out;
    strbuf_init(&out, WHY_PRINT_MAX);
    if (value->type == AD_TYPE_REAL) { /* as people write them */
        ad_value_print_bare(value, &out);
    } else {
        ad_value_print(value, &out);
    }
    return why_text_finish(&out, WHY_VALUE_MAX);
}

static void add_value(struct value_range *range, const struct ad_value *value)
{
    char *text = value_text(value);
    for (size_t i = 0; i < range->text_count && i < VALUES_SHOWN; i++) {
        if (strcmp(range->texts[i], text) == 0) {
            mem_free(text);
            return;
        }
    }
    bool number = value->type == AD_TYPE_INT || value->type == AD_TYPE_REAL;
    double real = value->type == AD_TYPE_INT ? (double)value->integer : value->real;
    range->numbers = number && (range->numbers || range->text_count == 0);
    if (number && (range->low_text == NULL || real < range->low)) {
        range->low = real;
        mem_free(range->low_text);
        range->low_text = mem_strdup(text);
    }
    if (number && (range->high_text == NULL || real > range->high)) {
        range->high = real;
        mem_free(range->high_text);
        range->high_text = mem_strdup(text);
    }
    if (range->text_count < VALUES_SHOWN) {
        range->texts[range->text_count] = mem_strdup(text);
    }
    range->text_count++;
    mem_free(text);
}

static void put_range(const struct value_range *range, struct strbuf *out)
{
    strbuf_printf(out, "%s%s is ", out->length > 0 ? "; " : "", range->name);
    if (range->numbers && range->text_count > 1) {
        strbuf_printf(out, "%s to %s", range->low_text, range->high_text);
        return;
    }
    for (size_t i = 0; i < range->text_count && i < VALUES_SHOWN; i++) {
        strbuf_printf(out, "%s%s", i > 0 ? ", " : "", range->texts[i]);
    }
    strbuf_puts(out, range->text_count > VALUES_SHOWN ? " ..." : "");
}

static void range_fini(struct value_range *range)
{
    for (size_t i = 0; i < range->text_count && i < VALUES_SHOWN; i++) {
        mem_free(range->texts[i]);
    }
    mem_free(range->low_text);
    mem_free(range->high_text);
}

struct named { /* names by side, as seen from the demand */
    const char *names[2][NAMES_SHOWN];
    size_t count[2];
};

static void note_name(void *arg, enum ad_side side, const char *name)
{
    struct named *named = arg;
    if (named->count[side] < NAMES_SHOWN) {
        named->names[side][named->count[side]++] = name;
    }
}

/* True when the demand refuses this kind of ad. */
static bool demand_refuses(const struct why_judge *judge, size_t demand,
                           const struct why_kind *kind)
{
    for (size_t i = 0; i < kind->fail_count && i < WHY_FAILS_KEPT; i++) {
        if (kind->fails[i] == demand) {
            return true;
        }
    }
    return kind->fail_count > WHY_FAILS_KEPT && demand < judge->answer->own_count &&
           ad_eval_bool(judge->answer->demands[demand].expr, judge->question->ad, kind->ad,
                        judge->question->context) != AD_TRUE;
}

/* Appends the values that an attribute has in the ads that the demand refuses. */
static void put_others(const struct why_judge *judge, size_t demand, const char *name,
                       struct strbuf *out)
{
    struct value_range range = {.name = name};
    for (size_t i = 0; i < judge->kind_count && !why_is_over(judge->question); i++) {
        const struct why_kind *kind = &judge->kinds[i];
        if (kind->judged && demand_refuses(judge, demand, kind)) {
            struct ad_value value;
            (void)ad_eval_attr(kind->ad, judge->question->ad, name, judge->question->context,
                               &value);
            add_value(&range, &value);
            ad_value_fini(&value);
        }
    }
    if (range.text_count > 0) {
        put_range(&range, out);
    }
    range_fini(&range);
}

static void put_own(const struct why_judge *judge, const char *name, struct strbuf *out)
{
    struct value_range range = {.name = name};
    struct ad_value value;
    (void)ad_eval_attr(judge->question->ad, NULL, name, judge->question->context, &value);
    add_value(&range, &value);
    put_range(&range, out);
    ad_value_fini(&value);
    range_fini(&range);
}

static const struct ad *refused_ad(const struct why_judge *judge, size_t demand)
{
    for (size_t i = 0; i < judge->kind_count; i++) {
        if (judge->kinds[i].judged && demand_refuses(judge, demand, &judge->kinds[i])) {
            return judge->kinds[i].ad;
        }
    }
    return NULL;
}

static void show_values(const struct why_judge *judge, size_t index)
{
    struct why_demand *demand = &judge->answer->demands[index];
    struct strbuf out;
    strbuf_init(&out, WHY_PRINT_MAX);
    const struct ad *my = demand->theirs ? refused_ad(judge, index) : judge->question->ad;
    if (why_sum(demand->refuses) > 0 && my != NULL) {
        struct named named = {0};
        ad_clause_names(demand->expr, my, note_name, &named);
        enum ad_side own = demand->theirs ? AD_SIDE_TARGET : AD_SIDE_MY;
        enum ad_side other = demand->theirs ? AD_SIDE_MY : AD_SIDE_TARGET;
        for (size_t i = 0; i < named.count[own]; i++) {
            put_own(judge, named.names[own][i], &out);
        }
        for (size_t i = 0; i < named.count[other]; i++) {
            put_others(judge, index, named.names[other][i], &out);
        }
    }
    demand->values = why_text_finish(&out, 4 * WHY_TEXT_MAX);
}

/* ---- all together ---- */

static void make_kinds(struct why_judge *judge)
{
    const struct why_question *question = judge->question;
    const struct ad **ads = mem_alloc((question->other_count + 1) * sizeof *ads);
    for (size_t i = 0; i < question->other_count; i++) {
        ads[i] = question->others[i].ad;
    }
    judge->groups = why_groups_create(question->ad, ads, question->other_count);
    mem_free(ads);
    judge->kind_count = judge->groups->count;
    judge->kinds = mem_zalloc((judge->kind_count + 1) * sizeof *judge->kinds);
    for (size_t i = 0; i < question->other_count; i++) {
        const struct why_other *other = &question->others[i];
        struct why_kind *kind = &judge->kinds[judge->groups->group_of[i]];
        struct why_count one = {0};
        *(other->offline ? &one.offline : other->silent ? &one.silent : &one.live) = other->weight;
        kind->ad = kind->ad != NULL ? kind->ad : other->ad;
        why_count_add(&kind->count, one);
        why_count_add(&judge->answer->total, one);
    }
}

static void make_own(struct why_judge *judge)
{
    struct why_answer *answer = judge->answer;
    const struct ad_expr *requirements = ad_lookup(judge->question->ad, "Requirements");
    if (requirements == NULL) {
        struct ad_expr *none = ad_expr_undefined();
        (void)add_demand(answer, false, none, "Requirements");
        ad_expr_destroy(none);
    } else {
        answer->clauses = ad_clauses_create(requirements, judge->question->ad);
        for (size_t i = 0; i < ad_clauses_demand_count(answer->clauses); i++) {
            const struct ad_clause *clause =
                ad_clauses_at(answer->clauses, ad_clauses_demand(answer->clauses, i));
            (void)add_demand(answer, false, clause->expr, clause->from);
        }
    }
    answer->own_count = answer->demand_count;
}

struct why_answer *why_plan_answer(const struct why_question *question)
{
    struct why_answer *answer = mem_zalloc(sizeof *answer);
    struct why_judge judge = {.question = question, .answer = answer};
    answer->matches = mem_zalloc((question->other_count + 1) * sizeof *answer->matches);
    make_kinds(&judge);
    make_own(&judge);
    judge_all(&judge);
    for (size_t i = 0; i < answer->demand_count; i++) {
        show_values(&judge, i);
    }
    if (question->changes && answer->clauses != NULL) {
        why_changes_find(&judge);
    }
    why_groups_destroy(judge.groups);
    mem_free(judge.kinds);
    return answer;
}

void why_answer_destroy(struct why_answer *answer)
{
    if (answer == NULL) {
        return;
    }
    for (size_t i = 0; i < answer->demand_count; i++) {
        mem_free(answer->demands[i].text);
        mem_free(answer->demands[i].from);
        mem_free(answer->demands[i].values);
        ad_expr_destroy(answer->demands[i].expr);
    }
    for (size_t i = 0; i < answer->change_count; i++) {
        why_change_fini(&answer->changes[i]);
    }
    mem_free(answer->changes);
    mem_free(answer->demands);
    mem_free(answer->matches);
    ad_clauses_destroy(answer->clauses);
    mem_free(answer);
}
