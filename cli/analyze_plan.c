/* cli/analyze_plan.c - see analyze_plan.h.
 *
 * A step is a test of the Requirements expression, or two earlier steps joined by && or ||.  Steps
 * are numbered from the left.  Steps that tell nothing are left out (derived from what condor_q
 * prints):
 *   - && when not fewer slots meet it than meet one of its sides;
 *   - the right side of && when no slot meets the left side;
 *   - || when not more slots meet it than meet one of its sides;
 *   - the right side of || when all slots meet the left side.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/analyze_plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/text.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "classad/ad_clauses.h"
#include "classad/ad_time.h"
#include "cli/why/why_groups_plan.h"
#include "cli/why/why_text_plan.h"
#include "offline_ads/offline_ads.h"

#define WIDTH 80
#define NONE  ((size_t)-1)

struct step {
    enum ad_clause_kind kind;
    /* the steps that are joined, as indexes; a test has none (NONE), NOT has only left */
    size_t left, right;
    const struct ad_expr *expr;
    int64_t matched;
    bool pruned;
};

struct steps {
    struct step *items;
    size_t count;
    enum ad_truth *truths; /* of one slot, one value for each step */
};

/* ---- the steps ---- */

static size_t add_step(struct steps *steps, enum ad_clause_kind kind, size_t left, size_t right,
                       const struct ad_expr *expr)
{
    steps->items = mem_realloc(steps->items, (steps->count + 1) * sizeof *steps->items);
    steps->items[steps->count] =
        (struct step){.kind = kind, .left = left, .right = right, .expr = expr};
    return steps->count++;
}

static size_t add_clause(struct steps *steps, const struct ad_clauses *clauses, size_t index)
{
    const struct ad_clause *clause = ad_clauses_at(clauses, index);
    if (clause->kind == AD_CLAUSE_TEST) {
        return add_step(steps, AD_CLAUSE_TEST, NONE, NONE, clause->expr);
    }
    size_t all = add_clause(steps, clauses, clause->kids[0]);
    if (clause->kind == AD_CLAUSE_NOT) {
        return add_step(steps, AD_CLAUSE_NOT, all, NONE, NULL);
    }
    for (size_t i = 1; i < clause->kid_count; i++) {
        size_t right = add_clause(steps, clauses, clause->kids[i]);
        all = add_step(steps, clause->kind, all, right, NULL);
    }
    return all;
}

static enum ad_truth join_truths(enum ad_clause_kind kind, enum ad_truth left, enum ad_truth right)
{
    enum ad_truth decisive = kind == AD_CLAUSE_OR ? AD_TRUE : AD_FALSE;
    if (left == decisive || left == AD_ERROR) {
        return left;
    }
    if (right == decisive || right == AD_ERROR) {
        return right;
    }
    return left == AD_UNDEFINED ? left : right;
}

static enum ad_truth negate_truth(enum ad_truth truth)
{
    return truth == AD_TRUE ? AD_FALSE : truth == AD_FALSE ? AD_TRUE : truth;
}

static void judge_slot(struct steps *steps, const struct why_question *question,
                       const struct ad *slot, int64_t weight)
{
    for (size_t i = 0; i < steps->count; i++) {
        struct step *step = &steps->items[i];
        steps->truths[i] =
            step->kind == AD_CLAUSE_TEST
                ? ad_eval_bool(step->expr, question->ad, slot, question->context)
            : step->kind == AD_CLAUSE_NOT
                ? negate_truth(steps->truths[step->left])
                : join_truths(step->kind, steps->truths[step->left], steps->truths[step->right]);
        step->matched += steps->truths[i] == AD_TRUE ? weight : 0;
    }
}

static void judge_steps(struct steps *steps, const struct why_question *question)
{
    const struct ad **ads = mem_alloc((question->other_count + 1) * sizeof *ads);
    for (size_t i = 0; i < question->other_count; i++) {
        ads[i] = question->others[i].ad;
    }
    struct why_groups *groups = why_groups_create(question->ad, ads, question->other_count);
    int64_t *weights = mem_zalloc((groups->count + 1) * sizeof *weights);
    for (size_t i = 0; i < question->other_count; i++) {
        weights[groups->group_of[i]] += question->others[i].weight;
    }
    steps->truths = mem_zalloc((steps->count + 1) * sizeof *steps->truths);
    for (size_t i = 0; i < groups->count; i++) {
        if (why_is_over(question)) {
            break;
        }
        judge_slot(steps, question, ads[groups->first[i]], weights[i]);
    }
    mem_free(weights);
    why_groups_destroy(groups);
    mem_free(ads);
}

static void prune_steps(struct steps *steps, int64_t total)
{
    for (size_t i = 0; i < steps->count; i++) {
        struct step *step = &steps->items[i];
        if (step->kind != AD_CLAUSE_AND && step->kind != AD_CLAUSE_OR) {
            continue;
        }
        int64_t left = steps->items[step->left].matched, right = steps->items[step->right].matched;
        if (step->kind == AD_CLAUSE_AND) {
            steps->items[step->right].pruned |= left == 0;
            step->pruned |= step->matched >= (left < right ? left : right);
        } else {
            steps->items[step->right].pruned |= left == total;
            step->pruned |= step->matched <= (left > right ? left : right);
        }
    }
}

/* ---- printing ---- */

static void put_number(size_t number, size_t width, struct strbuf *out)
{
    size_t begin = out->length;
    strbuf_printf(out, "[%zu]", number);
    while (out->length < begin + width && !out->failed) {
        strbuf_putc(out, ' ');
    }
}

static void put_step(const struct steps *steps, size_t index, struct strbuf *out)
{
    const struct step *step = &steps->items[index];
    if (step->kind == AD_CLAUSE_TEST) {
        char *text = why_text_clause(step->expr);
        strbuf_puts(out, text);
        mem_free(text);
    } else if (step->kind == AD_CLAUSE_NOT) {
        strbuf_printf(out, "! [%zu]", step->left);
    } else {
        strbuf_printf(out, "[%zu] %s [%zu]", step->left, step->kind == AD_CLAUSE_AND ? "&&" : "||",
                      step->right);
    }
}

/* Appends text, broken into lines after && and || as far to the right as fits; lines that continue
 * inside parentheses are indented. */
static void put_wrapped(const char *text, struct strbuf *out)
{
    size_t line = 0, last = 0; /* where the line begins, and its last possible end */
    int depth = 0, last_depth = 0, indent = 4;
    bool quoted = false;
    for (size_t i = 0;; i++) {
        char c = text[i];
        quoted = c == '"' && (i == 0 || text[i - 1] != '\\') ? !quoted : quoted;
        depth += quoted ? 0 : c == '(' ? 1 : c == ')' ? -1 : 0;
        bool joint = !quoted && i > 0 && (c == '&' || c == '|') && text[i - 1] == c;
        if (!joint && c != '\0') {
            continue;
        }
        size_t end = c == '\0' ? i : i + 1;
        if (last > line && indent + (int)(end - line) > WIDTH) {
            strbuf_printf(out, "%*s%.*s\n", indent, "", (int)(last - line), text + line);
            line = text[last] == ' ' ? last + 1 : last;
            indent = 4 + 2 * (last_depth > 0 ? last_depth : 0);
        }
        last = end;
        last_depth = depth;
        if (c == '\0') {
            break;
        }
    }
    strbuf_printf(out, "%*s%s\n", indent, "", text + line);
}

static void note_name(void *arg, enum ad_side side, const char *name)
{
    if (side == AD_SIDE_MY) {
        vec_push(arg, (void *)(uintptr_t)name);
    }
}

static int by_name(const void *left, const void *right)
{
    return ad_name_compare(*(const char *const *)left, *(const char *const *)right);
}

static void put_attributes(const struct ad *job, const struct ad_expr *requirements,
                           struct strbuf *out)
{
    struct vec names = {0};
    ad_clause_names(requirements, job, note_name, &names);
    if (names.count > 1) {
        qsort(names.items, names.count, sizeof *names.items, by_name);
    }
    for (size_t i = 0; i < names.count; i++) {
        const char *name = names.items[i];
        const struct ad_expr *expr = ad_lookup(job, name);
        char *text = expr != NULL ? why_text_clause(expr) : mem_strdup("undefined");
        const char *unit = text_equal_nocase(name, "RequestMemory") ? " (mb)"
                           : text_equal_nocase(name, "RequestDisk") ? " (kb)"
                                                                    : "";
        strbuf_printf(out, "    %s = %s%s\n", name, text, unit);
        mem_free(text);
    }
    vec_fini(&names, NULL);
}

static void put_requirements(const struct why_question *question, const char *id, int64_t total,
                             struct strbuf *out)
{
    const struct ad_expr *requirements = ad_lookup(question->ad, "Requirements");
    if (requirements == NULL) {
        strbuf_printf(out, "Job %s has no Requirements expression\n\n", id);
        return;
    }
    struct ad_clauses *clauses = ad_clauses_create(requirements, NULL);
    struct steps steps = {0};
    struct strbuf text;
    strbuf_init(&text, (size_t)1 << 20);
    ad_expr_print(requirements, AD_OLD, &text);
    strbuf_printf(out, "The Requirements expression for job %s is\n\n", id);
    put_wrapped(text.failed ? "(too long to show)" : strbuf_text(&text), out);
    strbuf_fini(&text);
    (void)add_clause(&steps, clauses, 0);
    judge_steps(&steps, question);
    prune_steps(&steps, total);
    strbuf_puts(out, "\n");
    for (size_t i = 0; i < steps.count; i++) {
        strbuf_puts(out, "    ");
        put_number(i, 6, out);
        strbuf_puts(out, " : ");
        put_step(&steps, i, out);
        strbuf_putc(out, '\n');
    }
    strbuf_printf(out, "\nJob %s defines the following attributes:\n\n", id);
    put_attributes(question->ad, requirements, out);
    strbuf_printf(out,
                  "\nThe Requirements expression for job %s reduces to these conditions:\n\n"
                  "        Slots\nStep   Matched  Condition\n----- --------- ---------\n",
                  id);
    for (size_t i = 0; i < steps.count; i++) {
        if (!steps.items[i].pruned) {
            put_number(i, 5, out);
            strbuf_printf(out, " %9lld  ", (long long)steps.items[i].matched);
            put_step(&steps, i, out);
            strbuf_putc(out, '\n');
        }
    }
    strbuf_puts(out, "\n\n");
    mem_free(steps.items);
    mem_free(steps.truths);
    ad_clauses_destroy(clauses);
}

static size_t machine_count(const struct why_question *question)
{
    struct strmap *machines = strmap_create(STRMAP_CASE_IGNORED);
    for (size_t i = 0; i < question->other_count; i++) {
        const char *machine = ad_string_or(question->others[i].ad, "Machine", "");
        (void)strmap_set(machines, machine, machines); /* only presence counts */
    }
    size_t count = strmap_count(machines);
    strmap_destroy(machines, NULL);
    return count;
}

/* Appends a time such as "Fri Nov 20 09:17:50 2026". */
static void put_time(const struct why_question *question, int64_t at_s, struct strbuf *out)
{
    static const char DAYS[] = "SunMonTueWedThuFriSat",
                      MONTHS[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    const struct ad_context *context = question->context;
    struct ad_calendar calendar;
    at_s += context->zone_offset_s != NULL ? context->zone_offset_s(context->arg, at_s) : 0;
    ad_calendar_of(at_s, &calendar);
    int64_t day = (at_s - (at_s % 86400 + 86400) % 86400) / 86400; /* 1970-01-01 was a Thursday */
    strbuf_printf(out, "%.3s %.3s %2d %02d:%02d:%02d %lld", DAYS + 3 * (((day + 4) % 7 + 7) % 7),
                  MONTHS + 3 * (calendar.month - 1), (int)calendar.day, (int)calendar.hour,
                  (int)calendar.minute, (int)calendar.second, (long long)calendar.year);
}

static void put_last_matches(const struct why_question *question, struct strbuf *out)
{
    const struct ad *job = question->ad;
    int64_t at_s;
    if (ad_get_int(job, "LastMatchTime", &at_s) == 0) {
        strbuf_puts(out, "\nLast successful match: ");
        put_time(question, at_s, out);
        strbuf_putc(out, '\n');
    } else {
        strbuf_puts(out, "\nNo successful match recorded.\n");
    }
    if (ad_get_int(job, "LastRejMatchTime", &at_s) == 0) {
        strbuf_puts(out, "Last failed match: ");
        put_time(question, at_s, out);
        const char *from = ad_string_or(job, "LastRejMatchNegotiator", "");
        strbuf_printf(out, from[0] != '\0' ? " from %s\n" : "%s\n", from);
        strbuf_printf(out, "Reason for last match failure: %s\n",
                      ad_string_or(job, "LastRejMatchReason", "no match found"));
    }
}

static void put_summary(const struct why_question *question, const struct why_answer *answer,
                        struct strbuf *out)
{
    const struct ad *job = question->ad;
    int64_t mine = 0, others = 0, willing = 0, full = 0;
    for (size_t i = 0; i < question->other_count; i++) {
        const struct ad *slot = question->others[i].ad;
        if (!answer->matches[i]) {
            continue;
        }
        const struct ad *now = question->others[i].now;
        if (offline_ads_is_silent(slot)) {
            continue; /* nobody knows what it runs */
        }
        if (now != NULL && !ad_match(job, now, question->context)) {
            full++;
        } else if (strcmp(ad_string_or(slot, "State", ""), "Claimed") != 0) {
            willing++;
        } else if (strcmp(ad_string_or(slot, "RemoteUser", ""), ad_string_or(job, "User", "?")) ==
                   0) {
            mine++;
        } else {
            others++;
        }
    }
    strbuf_printf(out,
                  "%03lld.%03lld:  Run analysis summary ignoring user priority.  Of %lld slots on "
                  "%zu machines,\n"
                  "%7lld slots are rejected by your job's requirements\n"
                  "%7lld slots reject your job because of their own requirements\n",
                  (long long)ad_int_or(job, "ClusterId", 0), (long long)ad_int_or(job, "ProcId", 0),
                  (long long)why_sum(answer->total), machine_count(question),
                  (long long)why_sum(answer->refused_by_ad),
                  (long long)why_sum(answer->refused_by_others));
    if (full > 0) {
        strbuf_printf(out, "%7lld slots are exhausted partitionable slots\n", (long long)full);
    }
    if (mine > 0) {
        strbuf_printf(out, "%7lld slots match and are already running your jobs\n",
                      (long long)mine);
    }
    if (others > 0) {
        strbuf_printf(out, "%7lld slots match but are serving other users\n", (long long)others);
    }
    strbuf_printf(out, "%7lld slots match and are willing to run your job\n", (long long)willing);
    if (why_sum(answer->matching) == 0) {
        strbuf_puts(out, "\nWARNING:  Be advised:\n   No machines matched the job's constraints\n");
    }
    put_last_matches(question, out);
}

static bool put_state(const struct ad *job, struct strbuf *out)
{
    static const char *const STATES[] = {
        NULL, NULL, "running", "removed", "completed", "held", "transferring output", "suspended"};
    int64_t status = ad_int_or(job, "JobStatus", 1);
    if (status <= 1 || status > 7) {
        return false;
    }
    strbuf_printf(out, "%03lld.%03lld:  Job is %s.\n\n", (long long)ad_int_or(job, "ClusterId", 0),
                  (long long)ad_int_or(job, "ProcId", 0), STATES[status]);
    if (status == 5) {
        char *reason = mem_strdup(ad_string_or(job, "HoldReason", "Unspecified"));
        for (char *at = reason; *at != '\0'; at++) {
            *at = (unsigned char)*at < ' ' || *at == 127 ? '?' : *at;
        }
        strbuf_printf(out, "Hold reason: %s\n\n", reason);
        mem_free(reason);
    }
    return true;
}

void analyze_plan_print(const struct why_question *question, const struct why_answer *answer,
                        struct strbuf *out)
{
    const struct ad *job = question->ad;
    struct strbuf id;
    strbuf_init(&id, 0);
    strbuf_printf(&id, "%lld.%03lld", (long long)ad_int_or(job, "ClusterId", 0),
                  (long long)ad_int_or(job, "ProcId", 0));
    if (!put_state(job, out)) {
        put_requirements(question, strbuf_text(&id), why_sum(answer->total), out);
        put_summary(question, answer, out);
    }
    strbuf_fini(&id);
}
