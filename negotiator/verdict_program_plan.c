/* negotiator/verdict_program_plan.c - compiles the Requirements of a kind into the program that
 * judges them.
 *
 * A *template* is the way in which the Requirements of a kind are split into clauses; kinds with
 * the same skeleton (everything but their literals) share it.  A *program* is a template with the
 * values of a kind inserted: tests on readings of the other side, and pairs.  Kinds of slots with
 * the same program are equal for a job, and their tests are made once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "negotiator/verdict_state.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "negotiator/number_array.h"

/* ---- what it costs */

struct ad_work verdict_begin_charge(struct verdicts *verdicts, uint32_t looks)
{
    verdicts->stop_at =
        verdicts->work.steps + VERDICT_STEPS_FREE + VERDICT_STEPS_EACH * (uint64_t)looks;
    return verdicts->work;
}

bool verdict_is_too_much(const struct verdicts *verdicts)
{
    return verdicts->work.steps > verdicts->stop_at;
}

/* Charges what was evaluated since `before` to that kind.  If the kind has then taken too much, it
 * matches nothing any more. */
void verdict_charge(struct verdicts *verdicts, enum kinds_side side, uint32_t kind,
                    const struct ad_work *before, uint32_t looks)
{
    struct member *member = &verdicts->sides[side].members[kind];
    member->steps += verdicts->work.steps - before->steps;
    member->over += verdicts->work.over - before->over;
    member->looks += looks;
    bool is_costly =
        member->over > VERDICT_OVER_MAX ||
        member->steps > VERDICT_STEPS_FREE + VERDICT_STEPS_EACH * (uint64_t)member->looks;
    if (!is_costly || member->is_costly) {
        return;
    }
    member->never = member->is_costly = true;
    for (uint32_t i = 0; side == KINDS_SLOT && i < verdicts->job_room; i++) {
        if (kind / 64 < verdicts->jobs[i].words) { /* what it said to jobs before counts no more */
            verdicts->jobs[i].bits[kind / 64] &= ~(1ULL << kind % 64);
        }
    }
    verdicts->costly = number_array_grow(verdicts->costly, verdicts->costly_count,
                                         &verdicts->costly_room, sizeof *verdicts->costly);
    verdicts->costly[verdicts->costly_count++] = (struct kind_name){side, kind, member->serial};
}

/* ---- templates */

bool verdict_reads_only(const struct kinds_reads *reads, enum kinds_side side)
{
    return !reads->all && reads->count[kinds_other(side)] == 0;
}

static bool expr_reads_only(struct verdicts *verdicts, enum kinds_side stands,
                            const struct ad_expr *expr, enum kinds_side side)
{
    struct kinds_reads reads;
    kinds_reads(verdicts->kinds, stands, expr, &reads);
    bool only = verdict_reads_only(&reads, side);
    kinds_reads_fini(&reads);
    return only;
}

static bool name_reads_only(struct verdicts *verdicts, enum kinds_side side, const char *name)
{
    struct kinds_reads reads;
    kinds_reads_name(verdicts->kinds, side, name, &reads);
    bool only = verdict_reads_only(&reads, side);
    kinds_reads_fini(&reads);
    return only;
}

/* Returns the operator with its sides exchanged. */
static enum ad_compare turn_compare(enum ad_compare op)
{
    static const enum ad_compare TURNED[] = {
        [AD_COMPARE_EQ] = AD_COMPARE_EQ, [AD_COMPARE_NE] = AD_COMPARE_NE,
        [AD_COMPARE_IS] = AD_COMPARE_IS, [AD_COMPARE_ISNT] = AD_COMPARE_ISNT,
        [AD_COMPARE_LT] = AD_COMPARE_GT, [AD_COMPARE_LE] = AD_COMPARE_GE,
        [AD_COMPARE_GT] = AD_COMPARE_LT, [AD_COMPARE_GE] = AD_COMPARE_LE};
    return TURNED[op];
}

/* Recognizes `NAME_OF_OTHER_SIDE op own`, and the same with its sides exchanged. */
static bool as_comparison(struct verdicts *verdicts, enum kinds_side side, const struct ad *ad,
                          struct demand *demand)
{
    enum kinds_side other = kinds_other(side);
    struct ad_comparison comparison;
    bool fits = false;
    if (ad_clause_comparison(demand->expr, ad, AD_SIDE_TARGET, &comparison)) {
        fits = name_reads_only(verdicts, other, comparison.name) &&
               expr_reads_only(verdicts, side, comparison.other, side);
        if (fits) {
            demand->reading = readings_name(verdicts->readings, other, comparison.name);
            demand->op = comparison.op;
            demand->own = ad_expr_ref(comparison.other);
        }
        ad_comparison_fini(&comparison);
    }
    if (!fits && ad_clause_comparison(demand->expr, ad, AD_SIDE_MY, &comparison)) {
        fits = name_reads_only(verdicts, side, comparison.name) &&
               expr_reads_only(verdicts, side, comparison.other, other);
        if (fits) {
            demand->reading = readings_expr(verdicts->readings, other, side, comparison.other);
            demand->op = turn_compare(comparison.op);
            demand->own_name = mem_strdup(comparison.name);
        }
        ad_comparison_fini(&comparison);
    }
    return fits;
}

static void make_demand(struct verdicts *verdicts, enum kinds_side side, const struct ad *ad,
                        const struct ad_expr *expr, struct demand *ret)
{
    enum kinds_side other = kinds_other(side);
    struct kinds_reads reads;
    *ret = (struct demand){.form = DEMAND_PAIR, .expr = ad_expr_ref(expr)};
    kinds_reads(verdicts->kinds, side, expr, &reads);
    if (verdict_reads_only(&reads, side)) {
        ret->form = DEMAND_OWN;
    } else if (verdict_reads_only(&reads, other)) {
        ret->form = DEMAND_OTHER;
        ret->reading = readings_expr(verdicts->readings, other, side, expr);
    } else if (!reads.all && as_comparison(verdicts, side, ad, ret)) {
        ret->form = DEMAND_COMPARE;
    } else {
        ret->pair = readings_pair(verdicts->readings, side, expr);
    }
    kinds_reads_fini(&reads);
}

struct skeleton_wanted {
    const struct side_state *state;
    uint64_t skeleton;
};

static bool same_skeleton(const void *arg, uint32_t id)
{
    const struct skeleton_wanted *wanted = arg;
    return wanted->state->templates[id].skeleton == wanted->skeleton;
}

static const struct template *template_of(struct verdicts *verdicts, enum kinds_side side,
                                          uint32_t kind, const struct ad_expr *requirements)
{
    struct side_state *state = &verdicts->sides[side];
    uint64_t skeleton = kinds_skeleton(verdicts->kinds, side, kind);
    const struct skeleton_wanted wanted = {.state = state, .skeleton = skeleton};
    uint32_t id = number_table_find(&state->template_table, skeleton, same_skeleton, &wanted);
    if (id != NUMBER_NONE) {
        return &state->templates[id];
    }
    const struct ad *ad = kinds_ad(verdicts->kinds, side, kind);
    struct ad_clauses *clauses = ad_clauses_create(requirements, ad);
    struct template template = {.skeleton = skeleton, .count = ad_clauses_demand_count(clauses)};
    template.demands = mem_alloc(template.count * sizeof *template.demands);
    for (size_t i = 0; i < template.count; i++) {
        make_demand(verdicts, side, ad, ad_clauses_at(clauses, ad_clauses_demand(clauses, i))->expr,
                    &template.demands[i]);
    }
    ad_clauses_destroy(clauses);
    state->templates = number_array_grow(state->templates, state->template_count,
                                         &state->template_room, sizeof *state->templates);
    id = state->template_count++;
    state->templates[id] = template;
    number_table_add(&state->template_table, skeleton, id);
    return &state->templates[id];
}

/* ---- programs */

/* Adds the demand of a clause to the program; false: the kind matches nothing. */
static bool add_demand(struct verdicts *verdicts, enum kinds_side side, uint32_t kind,
                       const struct demand *demand, struct program *program)
{
    struct test test = {.reading = demand->reading, .op = demand->op, .expr = demand->expr};
    uint32_t pair = demand->pair;
    switch (demand->form) {
    case DEMAND_OWN: {
        struct cell own = readings_own(verdicts->readings, side, kind, demand->expr);
        return cell_is_true(&own);
    }
    case DEMAND_OTHER:
        test.is_bare = true;
        break;
    case DEMAND_COMPARE:
        test.constant = demand->own != NULL
                            ? readings_own(verdicts->readings, side, kind, demand->own)
                            : readings_own_name(verdicts->readings, side, kind, demand->own_name);
        if (test.constant.type != CELL_ODD) {
            break;
        }
        pair = readings_pair(verdicts->readings, side, demand->expr);
        /* fall through */
    case DEMAND_PAIR:
        program->pairs[program->pair_count++] = pair;
        program->hash = number_mix(program->hash, pair);
        return true;
    }
    program->tests[program->test_count++] = test;
    program->hash = number_mix(program->hash, (uint64_t)test.reading << 8 | test.op);
    program->hash = number_mix(program->hash, (uint64_t)test.constant.type << 1 | test.is_bare);
    program->hash = number_mix(program->hash, (uint64_t)test.constant.integer);
    return true;
}

struct program_wanted {
    const struct side_state *state;
    const struct program *program;
};

static bool same_test(const struct test *a, const struct test *b)
{
    return a->reading == b->reading && a->is_bare == b->is_bare && a->op == b->op &&
           a->constant.type == b->constant.type && a->constant.integer == b->constant.integer;
}

static bool same_program(const void *arg, uint32_t id)
{
    const struct program_wanted *wanted = arg;
    const struct program *a = &wanted->state->programs[id], *b = wanted->program;
    if (a->test_count != b->test_count || a->pair_count != b->pair_count) {
        return false;
    }
    for (uint32_t i = 0; i < a->test_count; i++) {
        if (!same_test(&a->tests[i], &b->tests[i])) {
            return false;
        }
    }
    return memcmp(a->pairs, b->pairs, a->pair_count * sizeof *a->pairs) == 0;
}

void verdict_program_fini(struct program *program)
{
    mem_free(program->tests);
    mem_free(program->pairs);
}

static uint32_t take_program(struct side_state *state, struct program *program)
{
    const struct program_wanted wanted = {.state = state, .program = program};
    uint32_t id = number_table_find(&state->program_table, program->hash, same_program, &wanted);
    if (id != NUMBER_NONE) {
        verdict_program_fini(program);
        return id;
    }
    state->programs = number_array_grow(state->programs, state->program_count, &state->program_room,
                                        sizeof *state->programs);
    id = state->program_count++;
    state->programs[id] = *program;
    number_table_add(&state->program_table, program->hash, id);
    return id;
}

void verdict_compile(struct verdicts *verdicts, enum kinds_side side, uint32_t kind)
{
    struct side_state *state = &verdicts->sides[side];
    struct member *member = &state->members[kind];
    const struct ad *ad = kinds_ad(verdicts->kinds, side, kind);
    const struct ad_expr *requirements = ad_lookup(ad, "Requirements");
    member->never = requirements == NULL;
    if (member->never) {
        return;
    }
    struct program program = {0};
    const struct template *template = NULL;
    size_t count = 0;
    if (ad_expr_is_literal(requirements)) { /* templates do not tell literals apart */
        struct cell own = readings_own(verdicts->readings, side, kind, requirements);
        member->never = !cell_is_true(&own);
    } else {
        template = template_of(verdicts, side, kind, requirements);
        count = template->count;
    }
    program.tests = mem_zalloc((count + 1) * sizeof *program.tests);
    program.pairs = mem_zalloc((count + 1) * sizeof *program.pairs);
    const struct ad_work before = verdict_begin_charge(verdicts, 1);
    for (size_t i = 0; i < count && !member->never; i++) {
        member->never = !add_demand(verdicts, side, kind, &template->demands[i], &program) ||
                        verdict_is_too_much(verdicts);
    }
    verdict_charge(verdicts, side, kind, &before, 1);
    if (member->never) {
        verdict_program_fini(&program);
    } else {
        member->program = take_program(state, &program);
    }
}
