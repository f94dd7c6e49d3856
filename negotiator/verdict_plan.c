/* negotiator/verdict_plan.c - see verdict_plan.h; verdict_program_plan.c explains programs.
 *
 * The slots that match a kind of job are a bit set.  When it is asked for, it is brought up to date
 * with the kinds that were added since (`log`).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "negotiator/verdict_plan.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "negotiator/number_array.h"
#include "negotiator/verdict_state.h"

/* When twice as many values are kept as after the first cycle, plus so many, everything is dropped
 * and begun again. */
#define KEPT_ALWAYS 200000
/* A template is some 1,500 bytes, other values tens of bytes. */
#define TEMPLATE_WEIGHT 16
/* What is kept is dropped, too, when most kinds have left: a user's ten thousand jobs, each with
 * Requirements of its own. */
#define FEW_OF       4
#define KINDS_ALWAYS 1000
#define CHUNK        16 /* kinds of slots that are judged between two looks at the steps */
#define KIND_STEPS   2  /* what judging a pair of kinds counts, besides evaluating */

/* ---- one pair */

static bool test_passes(struct verdicts *verdicts, const struct test *test, enum kinds_side stands,
                        uint32_t kind, uint32_t job, uint32_t slot)
{
    const struct cell *cell = readings_cell(verdicts->readings, test->reading, kind);
    if (cell->type == CELL_ODD && !test->is_bare) {
        return readings_judge(verdicts->readings, stands, test->expr, job, slot);
    }
    return test->is_bare ? cell_is_true(cell) : cell_compare(test->op, cell, &test->constant);
}

static bool tests_pass(struct verdicts *verdicts, enum kinds_side stands, uint32_t program,
                       uint32_t job, uint32_t slot)
{
    const struct program *tests = &verdicts->sides[stands].programs[program];
    for (uint32_t i = 0; i < tests->test_count; i++) {
        if (verdict_is_too_much(verdicts) ||
            !test_passes(verdicts, &tests->tests[i], stands, stands == KINDS_SLOT ? job : slot, job,
                         slot)) {
            return false;
        }
    }
    return true;
}

static bool pairs_pass(struct verdicts *verdicts, enum kinds_side stands, uint32_t program,
                       uint32_t job, uint32_t slot)
{
    const struct program *pairs = &verdicts->sides[stands].programs[program];
    for (uint32_t i = 0; i < pairs->pair_count; i++) {
        if (verdict_is_too_much(verdicts) ||
            !readings_pair_is_true(verdicts->readings, pairs->pairs[i], job, slot)) {
            return false;
        }
    }
    return true;
}

/* Returns whether the slot's side accepts this kind of job. */
static bool slot_wants(struct verdicts *verdicts, uint32_t job_kind, uint32_t slot)
{
    const struct member *member = &verdicts->sides[KINDS_SLOT].members[slot];
    if (member->never) {
        return false;
    }
    const struct ad_work before = verdict_begin_charge(verdicts, 1);
    struct job *job = &verdicts->jobs[job_kind];
    job->passed =
        number_array_grow_to(job->passed, member->program, &job->passed_room, sizeof *job->passed);
    uint8_t *passed = &job->passed[member->program];
    if (*passed == 0) {
        *passed = tests_pass(verdicts, KINDS_SLOT, member->program, job_kind, slot) ? 1 : 2;
    }
    bool wants = *passed == 1 && pairs_pass(verdicts, KINDS_SLOT, member->program, job_kind, slot);
    verdict_charge(verdicts, KINDS_SLOT, slot, &before, 1);
    return wants && !member->never;
}

/* ---- many slots for one job */

#define KEEP_IF(type_, field_, op_)                                                 \
    for (uint32_t i = 0; i < count; i++) {                                          \
        const struct cell *cell = &cells[list[i]];                                  \
        if (cell->type == (type_)) {                                                \
            list[kept] = list[i];                                                   \
            kept += cell->field_ op_ test->constant.field_ ? 1 : 0;                 \
        } else if (test_passes(verdicts, test, KINDS_JOB, list[i], job, list[i])) { \
            list[kept++] = list[i];                                                 \
        }                                                                           \
    }                                                                               \
    break

#define KEEP_INTEGERS(op_) KEEP_IF(CELL_INT, integer, op_)

/* Keeps those of list[0..count) that pass the test and returns their number; every cell was read
 * before. */
static uint32_t keep_passing(struct verdicts *verdicts, const struct test *test, uint32_t job,
                             uint32_t *list, uint32_t count)
{
    uint32_t kept = 0, room;
    const struct cell *cells = readings_cells(verdicts->readings, test->reading, &room);
    if (!test->is_bare && test->constant.type == CELL_INT) {
        switch (test->op) {
        case AD_COMPARE_EQ:
        case AD_COMPARE_IS:
            KEEP_INTEGERS(==);
        case AD_COMPARE_NE:
        case AD_COMPARE_ISNT:
            KEEP_INTEGERS(!=);
        case AD_COMPARE_LT:
            KEEP_INTEGERS(<);
        case AD_COMPARE_LE:
            KEEP_INTEGERS(<=);
        case AD_COMPARE_GT:
            KEEP_INTEGERS(>);
        case AD_COMPARE_GE:
            KEEP_INTEGERS(>=);
        }
        return kept;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (test_passes(verdicts, test, KINDS_JOB, list[i], job, list[i])) {
            list[kept++] = list[i];
        }
    }
    return kept;
}

static void judge_list(struct verdicts *verdicts, uint32_t job_kind, uint32_t count)
{
    const struct member *member = &verdicts->sides[KINDS_JOB].members[job_kind];
    uint64_t *bits = verdicts->jobs[job_kind].bits;
    uint32_t *list = verdicts->list, kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        bits[list[i] / 64] &= ~(1ULL << list[i] % 64);
        if (!member->never && slot_wants(verdicts, job_kind, list[i])) {
            list[kept++] = list[i];
        }
    }
    const struct ad_work before = verdict_begin_charge(verdicts, count);
    const struct program *program =
        kept > 0 ? &verdicts->sides[KINDS_JOB].programs[member->program] : NULL;
    for (uint32_t i = 0; kept > 0 && i < program->test_count; i++) {
        for (uint32_t j = 0; j < kept; j++) {
            (void)readings_cell(verdicts->readings, program->tests[i].reading, list[j]);
        }
        kept = verdict_is_too_much(verdicts)
                   ? 0
                   : keep_passing(verdicts, &program->tests[i], job_kind, list, kept);
    }
    for (uint32_t i = 0; i < kept; i++) {
        if (pairs_pass(verdicts, KINDS_JOB, member->program, job_kind, list[i])) {
            bits[list[i] / 64] |= 1ULL << list[i] % 64;
        }
    }
    verdict_charge(verdicts, KINDS_JOB, job_kind, &before, count);
    if (member->is_costly) {
        memset(bits, 0, verdicts->jobs[job_kind].words * sizeof *bits);
    }
    verdicts->work.steps += (uint64_t)count * KIND_STEPS;
}

static bool takes_part(const struct verdicts *verdicts, uint32_t slot)
{
    const struct side_state *state = &verdicts->sides[KINDS_SLOT];
    return slot < state->room && state->members[slot].serial != 0 &&
           kinds_exists(verdicts->kinds, KINDS_SLOT, slot) &&
           kinds_serial(verdicts->kinds, KINDS_SLOT, slot) == state->members[slot].serial;
}

/* Lists at most `most` kinds of slots that the job has not been judged with: first all existing
 * ones, later those of the log. */
static uint32_t list_unseen(struct verdicts *verdicts, struct job *job, uint32_t most)
{
    uint32_t limit = kinds_limit(verdicts->kinds, KINDS_SLOT), count = 0;
    if (!job->begun && job->first == 0) {
        job->seen = verdicts->log_count;
    }
    uint32_t at = job->begun ? job->seen : job->first;
    uint32_t end = job->begun ? verdicts->log_count : limit;
    end = end - at > most ? at + most : end;
    verdicts->list = number_array_grow_to(verdicts->list, end - at, &verdicts->list_room,
                                          sizeof *verdicts->list);
    for (uint32_t i = at; i < end; i++) {
        uint32_t slot = job->begun ? verdicts->log[i] : i;
        if (takes_part(verdicts, slot)) {
            verdicts->list[count++] = slot;
        }
    }
    if (job->begun) {
        job->seen = end;
    } else {
        job->first = end;
        job->begun = end == limit;
    }
    return count;
}

static bool is_up_to_date(const struct verdicts *verdicts, const struct job *job)
{
    return job->begun && job->seen == verdicts->log_count;
}

static struct job *make_room(struct verdicts *verdicts, uint32_t job_kind)
{
    struct job *job = &verdicts->jobs[job_kind];
    size_t words = kinds_limit(verdicts->kinds, KINDS_SLOT) / 64 + 1;
    if (job->words < words) {
        job->bits = mem_realloc(job->bits, words * 2 * sizeof *job->bits);
        memset(job->bits + job->words, 0, (words * 2 - job->words) * sizeof *job->bits);
        job->words = words * 2;
    }
    return job;
}

const uint64_t *verdicts_of(struct verdicts *verdicts, uint32_t job_kind)
{
    struct job *job = make_room(verdicts, job_kind);
    while (!is_up_to_date(verdicts, job)) {
        uint32_t count = list_unseen(verdicts, job, UINT32_MAX);
        judge_list(verdicts, job_kind, count);
        job->rank_at = 0;
    }
    return job->bits;
}

const uint64_t *verdicts_known(const struct verdicts *verdicts, uint32_t job_kind, size_t *words)
{
    const struct job *job = job_kind < verdicts->job_room ? &verdicts->jobs[job_kind] : NULL;
    *words = job != NULL && is_up_to_date(verdicts, job) ? job->words : 0;
    return *words > 0 ? job->bits : NULL;
}

/* ---- ranks */

static struct rank_part make_rank(struct verdicts *verdicts, enum kinds_side stands,
                                  const struct ad_expr *expr, uint32_t job)
{
    struct rank_part part = {.form = RANK_CONSTANT};
    if (expr == NULL) {
        return part;
    }
    struct kinds_reads reads;
    kinds_reads(verdicts->kinds, stands, expr, &reads);
    if (verdict_reads_only(&reads, KINDS_JOB)) {
        struct cell cell;
        if (stands == KINDS_JOB) {
            cell = readings_own(verdicts->readings, KINDS_JOB, job, expr);
        } else {
            uint32_t number = readings_expr(verdicts->readings, KINDS_JOB, stands, expr);
            cell = *readings_cell(verdicts->readings, number, job);
        }
        part.constant = cell_rank(&cell);
    } else if (verdict_reads_only(&reads, KINDS_SLOT)) {
        part.form = RANK_READING;
        part.number = readings_expr(verdicts->readings, KINDS_SLOT, stands, expr);
    } else {
        part.form = RANK_PAIR;
        part.number = readings_pair(verdicts->readings, stands, expr);
    }
    kinds_reads_fini(&reads);
    return part;
}

static double rank_value(struct verdicts *verdicts, const struct rank_part *part, uint32_t job,
                         uint32_t slot)
{
    if (part->form == RANK_READING) {
        return cell_rank(readings_cell(verdicts->readings, part->number, slot));
    }
    return part->form == RANK_PAIR ? readings_pair_rank(verdicts->readings, part->number, job, slot)
                                   : part->constant;
}

static void make_ranks(struct verdicts *verdicts, uint32_t job_kind)
{
    struct job *job = &verdicts->jobs[job_kind];
    const struct ad *ad = kinds_ad(verdicts->kinds, KINDS_JOB, job_kind);
    job->pre = make_rank(verdicts, KINDS_SLOT, verdicts->pre_job, job_kind);
    job->job = make_rank(verdicts, KINDS_JOB, ad_lookup(ad, "Rank"), job_kind);
    job->post = make_rank(verdicts, KINDS_SLOT, verdicts->post_job, job_kind);
    job->ranked = true;
}

struct verdict_rank verdicts_rank(struct verdicts *verdicts, uint32_t job_kind, uint32_t slot)
{
    const struct job *job = &verdicts->jobs[job_kind];
    if (!job->ranked) {
        make_ranks(verdicts, job_kind);
    }
    return (struct verdict_rank){.pre = rank_value(verdicts, &job->pre, job_kind, slot),
                                 .job = rank_value(verdicts, &job->job, job_kind, slot),
                                 .post = rank_value(verdicts, &job->post, job_kind, slot)};
}

/* Evaluates the ranks that depend on both sides, for the kinds that match. */
static bool prepare_ranks(struct verdicts *verdicts, uint32_t job_kind, uint64_t end)
{
    struct job *job = &verdicts->jobs[job_kind];
    const struct member *member = &verdicts->sides[KINDS_JOB].members[job_kind];
    uint32_t limit = kinds_limit(verdicts->kinds, KINDS_SLOT);
    if (!job->ranked) {
        const struct ad_work before = verdict_begin_charge(verdicts, 1);
        make_ranks(verdicts, job_kind);
        verdict_charge(verdicts, KINDS_JOB, job_kind, &before, 1);
    }
    if (job->job.form == RANK_CONSTANT) {
        return true;
    }
    for (; job->rank_at < limit && !member->never; job->rank_at++) {
        uint32_t slot = job->rank_at;
        if ((job->bits[slot / 64] >> slot % 64 & 1) == 0) {
            continue;
        }
        if (verdicts->work.steps >= end) {
            return false;
        }
        const struct ad_work before = verdict_begin_charge(verdicts, 1);
        (void)rank_value(verdicts, &job->job, job_kind, slot);
        verdict_charge(verdicts, KINDS_JOB, job_kind, &before, 1);
        verdicts->work.steps += KIND_STEPS;
    }
    if (member->is_costly) {
        memset(job->bits, 0, job->words * sizeof *job->bits);
    }
    return true;
}

bool verdicts_prepare(struct verdicts *verdicts, uint32_t job_kind, uint64_t end)
{
    struct job *job = make_room(verdicts, job_kind);
    while (!is_up_to_date(verdicts, job)) {
        if (verdicts->work.steps >= end) {
            return false;
        }
        uint32_t count = list_unseen(verdicts, job, CHUNK);
        judge_list(verdicts, job_kind, count);
        job->rank_at = 0;
        verdicts->work.steps += KIND_STEPS;
    }
    return prepare_ranks(verdicts, job_kind, end);
}

double verdicts_machine_rank(struct verdicts *verdicts, uint32_t job, uint32_t slot)
{
    const struct ad_expr *rank = ad_lookup(kinds_ad(verdicts->kinds, KINDS_SLOT, slot), "Rank");
    if (rank == NULL || ad_expr_is_literal(rank)) {
        struct cell cell = {.type = CELL_UNDEFINED};
        if (rank != NULL) {
            cell = readings_own(verdicts->readings, KINDS_SLOT, slot, rank);
        }
        return cell_rank(&cell);
    }
    if (verdicts->sides[KINDS_SLOT].members[slot].is_costly) {
        return 0;
    }
    const struct ad_work before = verdict_begin_charge(verdicts, 1);
    uint32_t pair = readings_pair(verdicts->readings, KINDS_SLOT, rank);
    double value = readings_pair_rank(verdicts->readings, pair, job, slot);
    verdict_charge(verdicts, KINDS_SLOT, slot, &before, 1);
    return value;
}

/* ---- life */

static void job_fini(struct job *job)
{
    mem_free(job->bits);
    mem_free(job->passed);
    *job = (struct job){0};
}

void verdicts_add(struct verdicts *verdicts, enum kinds_side side, uint32_t kind)
{
    struct side_state *state = &verdicts->sides[side];
    state->members =
        number_array_grow_to(state->members, kind, &state->room, sizeof *state->members);
    uint64_t serial = kinds_serial(verdicts->kinds, side, kind);
    if (state->members[kind].serial == serial) {
        return;
    }
    if (state->members[kind].serial != 0) { /* the number of one that is gone */
        readings_forget(verdicts->readings, side, kind, false);
    }
    state->members[kind] = (struct member){.serial = serial};
    verdict_compile(verdicts, side, kind);
    if (side == KINDS_SLOT) {
        verdicts->log = number_array_grow(verdicts->log, verdicts->log_count, &verdicts->log_room,
                                          sizeof *verdicts->log);
        verdicts->log[verdicts->log_count++] = kind;
    } else {
        verdicts->jobs =
            number_array_grow_to(verdicts->jobs, kind, &verdicts->job_room, sizeof *verdicts->jobs);
        job_fini(&verdicts->jobs[kind]);
    }
}

static void clear_side(struct side_state *state)
{
    for (uint32_t i = 0; i < state->template_count; i++) {
        struct template *template = &state->templates[i];
        for (size_t j = 0; j < template->count; j++) {
            ad_expr_destroy(template->demands[j].expr);
            ad_expr_destroy(template->demands[j].own);
            mem_free(template->demands[j].own_name);
        }
        mem_free(template->demands);
    }
    for (uint32_t i = 0; i < state->program_count; i++) {
        verdict_program_fini(&state->programs[i]);
    }
    mem_free(state->templates);
    mem_free(state->programs);
    mem_free(state->members);
    number_table_fini(&state->template_table);
    number_table_fini(&state->program_table);
    *state = (struct side_state){0};
}

static void clear_verdicts(struct verdicts *verdicts)
{
    for (uint32_t i = 0; i < verdicts->job_room; i++) {
        job_fini(&verdicts->jobs[i]);
    }
    for (int side = 0; side < KINDS_SIDES; side++) {
        clear_side(&verdicts->sides[side]);
    }
    verdicts->log_count = 0;
    verdicts->later_at = verdicts->later_count = verdicts->costly_count = 0;
}

static void begin_anew(struct verdicts *verdicts)
{
    clear_verdicts(verdicts);
    readings_reset(verdicts->readings);
    verdicts->structure = kinds_structure(verdicts->kinds);
    for (int side = 0; side < KINDS_SIDES; side++) {
        for (uint32_t i = 0; i < kinds_limit(verdicts->kinds, (enum kinds_side)side); i++) {
            if (kinds_exists(verdicts->kinds, (enum kinds_side)side, i)) {
                verdicts_add(verdicts, (enum kinds_side)side, i);
            }
        }
    }
}

static bool is_there(const struct verdicts *verdicts, enum kinds_side side, uint32_t kind,
                     uint64_t serial)
{
    return kind < kinds_limit(verdicts->kinds, side) && kinds_exists(verdicts->kinds, side, kind) &&
           kinds_serial(verdicts->kinds, side, kind) == serial;
}

/* Collects the kinds to judge again because they read the clock; kinds that are too costly are not
 * judged again. */
static void note_timely(struct verdicts *verdicts, enum kinds_side side)
{
    const struct side_state *state = &verdicts->sides[side];
    for (uint32_t i = 0; i < state->room; i++) {
        const struct member *member = &state->members[i];
        if (member->serial != 0 && !member->is_costly &&
            is_there(verdicts, side, i, member->serial) &&
            readings_is_timely(verdicts->readings, side, i)) {
            verdicts->later = number_array_grow(verdicts->later, verdicts->later_count,
                                                &verdicts->later_room, sizeof *verdicts->later);
            verdicts->later[verdicts->later_count++] = (struct kind_name){side, i, member->serial};
        }
    }
}

bool verdicts_catch_up(struct verdicts *verdicts, uint64_t end)
{
    while (verdicts->later_at < verdicts->later_count && verdicts->work.steps < end) {
        const struct kind_name *name = &verdicts->later[verdicts->later_at++];
        struct side_state *state = &verdicts->sides[name->side];
        if (name->kind < state->room && state->members[name->kind].serial == name->serial &&
            is_there(verdicts, name->side, name->kind, name->serial)) {
            readings_forget(verdicts->readings, name->side, name->kind, true);
            state->members[name->kind].serial = UINT64_MAX; /* of no kind */
            verdicts_add(verdicts, name->side, name->kind);
        }
        verdicts->work.steps += KIND_STEPS;
    }
    if (verdicts->later_at < verdicts->later_count) {
        return false;
    }
    verdicts->later_at = verdicts->later_count = 0;
    return true;
}

bool verdicts_take_costly(struct verdicts *verdicts, enum kinds_side *side, uint32_t *kind)
{
    while (verdicts->costly_count > 0) {
        const struct kind_name *name = &verdicts->costly[--verdicts->costly_count];
        if (is_there(verdicts, name->side, name->kind, name->serial)) {
            *side = name->side;
            *kind = name->kind;
            return true;
        }
    }
    return false;
}

uint64_t verdicts_steps(const struct verdicts *verdicts)
{
    return verdicts->work.steps;
}

static void shorten_log(struct verdicts *verdicts)
{
    const struct side_state *state = &verdicts->sides[KINDS_JOB];
    uint32_t limit = kinds_limit(verdicts->kinds, KINDS_JOB);
    for (uint32_t i = 0; i < verdicts->job_room; i++) {
        if (verdicts->jobs[i].begun && i < limit && kinds_exists(verdicts->kinds, KINDS_JOB, i) &&
            kinds_serial(verdicts->kinds, KINDS_JOB, i) == state->members[i].serial) {
            (void)verdicts_of(verdicts, i);
        }
        verdicts->jobs[i].seen = 0;
        verdicts->jobs[i].first = 0; /* of one that has not seen all: from the beginning */
    }
    verdicts->log_count = 0;
}

void verdicts_begin(struct verdicts *verdicts, const struct ad_context *context, bool full)
{
    verdicts->context = context != NULL ? *context : (struct ad_context){0};
    verdicts->work.steps_max = VERDICT_STEPS_MAX;
    verdicts->context.work = &verdicts->work;
    readings_begin(verdicts->readings, &verdicts->context);
    size_t kept = readings_count(verdicts->readings);
    for (int side = 0; side < KINDS_SIDES; side++) {
        kept += verdicts->sides[side].program_count +
                TEMPLATE_WEIGHT * verdicts->sides[side].template_count;
    }
    size_t live =
        kinds_count(verdicts->kinds, KINDS_SLOT) + kinds_count(verdicts->kinds, KINDS_JOB);
    bool have_left = FEW_OF * live + KINDS_ALWAYS < verdicts->live_most;
    verdicts->live_most = live > verdicts->live_most ? live : verdicts->live_most;
    verdicts->kept_max = verdicts->kept_max > 0 ? verdicts->kept_max : 2 * kept + KEPT_ALWAYS;
    if (kinds_structure(verdicts->kinds) != verdicts->structure || kept > verdicts->kept_max ||
        have_left) {
        begin_anew(verdicts);
        verdicts->kept_max = 0;
        verdicts->live_most = live;
        return;
    }
    if (full) {
        verdicts->later_at = verdicts->later_count = 0;
        note_timely(verdicts, KINDS_SLOT);
        note_timely(verdicts, KINDS_JOB);
    }
    if (verdicts->log_count > 1024 + 2 * kinds_limit(verdicts->kinds, KINDS_SLOT)) {
        shorten_log(verdicts);
    }
}

void verdicts_set_ranks(struct verdicts *verdicts, const struct ad_expr *pre_job,
                        const struct ad_expr *post_job)
{
    verdicts->pre_job = pre_job;
    verdicts->post_job = post_job;
    for (uint32_t i = 0; i < verdicts->job_room; i++) {
        verdicts->jobs[i].ranked = false;
    }
}

size_t verdicts_evaluated(const struct verdicts *verdicts)
{
    return readings_evaluated(verdicts->readings);
}

struct verdicts *verdicts_create(struct kinds *kinds)
{
    struct verdicts *verdicts = mem_zalloc(sizeof *verdicts);
    verdicts->kinds = kinds;
    verdicts->readings = readings_create(kinds);
    return verdicts;
}

void verdicts_destroy(struct verdicts *verdicts)
{
    if (verdicts != NULL) {
        clear_verdicts(verdicts);
        readings_destroy(verdicts->readings);
        mem_free(verdicts->jobs);
        mem_free(verdicts->log);
        mem_free(verdicts->list);
        mem_free(verdicts->costly);
        mem_free(verdicts->later);
        mem_free(verdicts);
    }
}
