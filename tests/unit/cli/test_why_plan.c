/* tests/unit/cli/test_why_plan.c - clauses counted, changes tried.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/cli/ads.h"

#include "base/mem.h"
#include "base/random.h"
#include "classad/ad_clauses.h"
#include "cli/why/why_groups_plan.h"
#include "cli/why/why_plan.h"
#include "cli/why/why_text_plan.h"

static const struct ad_context CONTEXT = {.now_s = 1000};

struct bed {
    struct ad *job;
    struct vec ads;
    struct why_other *others;
    struct why_question question;
};

static void setup(struct bed *bed, const char *job)
{
    *bed = (struct bed){0};
    assert_int_equal(ad_parse(job, strlen(job), &bed->job, NULL), 0);
    bed->question = (struct why_question){.ad = bed->job, .context = &CONTEXT, .changes = true};
}

static void slot(struct bed *bed, bool offline, const char *text)
{
    ads_add(&bed->ads, text);
    bed->others = mem_realloc(bed->others, bed->ads.count * sizeof *bed->others);
    bed->others[bed->ads.count - 1] = (struct why_other){.ad = bed->ads.items[bed->ads.count - 1],
                                                         .offline = offline,
                                                         .weight = 1};
    bed->question.others = bed->others;
    bed->question.other_count = bed->ads.count;
}

static void teardown(struct bed *bed)
{
    vec_fini(&bed->ads, ads_destroy_one);
    mem_free(bed->others);
    ad_destroy(bed->job);
}

static const struct why_demand *demand_of(const struct why_answer *answer, const char *text)
{
    for (size_t i = 0; i < answer->demand_count; i++) {
        if (strcmp(answer->demands[i].text, text) == 0) {
            return &answer->demands[i];
        }
    }
    fail_msg("no clause '%s'", text);
    return NULL;
}

static void assert_count(struct why_count count, int64_t live, int64_t offline)
{
    assert_int_equal(count.live, live);
    assert_int_equal(count.offline, offline);
}

/* "RequestMemory = 4 (1+0), ..." */
static void assert_changes(const struct why_answer *answer, const char *expected)
{
    struct strbuf out;
    strbuf_init(&out, 0);
    for (size_t i = 0; i < answer->change_count; i++) {
        const struct why_change *change = &answer->changes[i];
        strbuf_puts(&out, i > 0 ? "; " : "");
        for (size_t j = 0; j < change->edit_count; j++) {
            const struct why_edit *edit = &change->edits[j];
            strbuf_puts(&out, j > 0 ? " and " : "");
            if (edit->kind == WHY_SET) {
                strbuf_printf(&out, "%s = %s", edit->name, edit->text);
            } else if (edit->kind == WHY_REPLACE) {
                strbuf_printf(&out, "%s", edit->text);
            } else {
                strbuf_printf(&out, "no %s", edit->was);
            }
        }
        strbuf_printf(&out, " (%d+%d)", (int)change->gain.live, (int)change->gain.offline);
    }
    ads_expect(&out, expected);
}

static void each_clause_tells_how_many_it_rules_out(void **state)
{
    (void)state;
    struct bed bed;
    setup(&bed, "[Requirements = TARGET.Memory >= RequestMemory && TARGET.Arch == \"X86_64\";"
                " RequestMemory = 100]");
    slot(&bed, false, "[Requirements = true; Memory = 50; Arch = \"X86_64\"]");
    slot(&bed, true, "[Requirements = true; Memory = 60; Arch = \"ARM\"]");
    slot(&bed, true, "[Requirements = true; Memory = 200; Arch = \"ARM\"]");
    slot(&bed, false, "[Requirements = true; Memory = 200; Arch = \"X86_64\"]");
    struct why_answer *answer = why_plan_answer(&bed.question);
    assert_count(answer->total, 2, 2);
    assert_count(answer->matching, 1, 0);
    assert_count(answer->refused_by_ad, 1, 2);
    assert_count(answer->refused_by_others, 0, 0);
    assert_true(answer->matches[3]);
    assert_false(answer->matches[0] || answer->matches[1] || answer->matches[2]);
    const struct why_demand *memory = demand_of(answer, "TARGET.Memory >= RequestMemory");
    assert_count(memory->refuses, 1, 1);
    assert_count(memory->alone, 1, 0);
    assert_string_equal(memory->values, "RequestMemory is 100; Memory is 50 to 60");
    const struct why_demand *arch = demand_of(answer, "TARGET.Arch == \"X86_64\"");
    assert_count(arch->refuses, 0, 2);
    assert_count(arch->alone, 0, 1);
    assert_string_equal(arch->values, "Arch is \"ARM\"");
    why_answer_destroy(answer);
    teardown(&bed);
}

static void the_slots_clauses_are_counted_by_their_text(void **state)
{
    (void)state;
    struct bed bed;
    setup(&bed, "[Requirements = true; Owner = \"bob\"]");
    slot(&bed, false, "[Requirements = Start && Big; Start = TARGET.Owner == \"ann\"; Big = true]");
    slot(&bed, false, "[Requirements = Start; Start = target.Owner == \"ann\"; Name = \"x\"]");
    slot(&bed, true,
         "[Requirements = Start; Start = TARGET.Owner == \"ann\" && Cpus > 1; Cpus = 1]");
    slot(&bed, true, "[Name = \"none\"]");
    struct why_answer *answer = why_plan_answer(&bed.question);
    assert_count(answer->refused_by_others, 2, 2);
    const struct why_demand *start = demand_of(answer, "TARGET.Owner == \"ann\"");
    assert_true(start->theirs);
    assert_string_equal(start->from, "Start");
    assert_count(start->refuses, 1, 1);
    assert_count(start->alone, 1, 0);
    assert_string_equal(start->values, "Owner is \"bob\"");
    assert_count(demand_of(answer, "Cpus > 1")->refuses, 0, 1);
    assert_string_equal(demand_of(answer, "Cpus > 1")->values, "Cpus is 1");
    assert_count(demand_of(answer, "undefined")->refuses, 0, 1);
    assert_changes(answer, ""); /* nobody changes whose job it is */
    why_answer_destroy(answer);
    teardown(&bed);
}

static void the_fourth_clause_that_refuses_tells_its_values_as_well(void **state)
{
    (void)state;
    struct bed bed;
    setup(&bed, "[Requirements = TARGET.A > 1 && TARGET.B > 1; Cpus = 1; C = 9]");
    slot(&bed, false, "[Requirements = TARGET.C < 1 && TARGET.Cpus >= C; A = 0; B = 1; C = 5]");
    struct why_answer *answer = why_plan_answer(&bed.question);
    assert_string_equal(demand_of(answer, "TARGET.B > 1")->values, "B is 1");
    assert_string_equal(demand_of(answer, "TARGET.C < 1")->values, "C is 9");
    assert_string_equal(demand_of(answer, "TARGET.Cpus >= C")->values, "Cpus is 1; C is 5");
    why_answer_destroy(answer);
    teardown(&bed);
}

static void values_are_told_as_a_range_or_a_few(void **state)
{
    (void)state;
    struct bed bed;
    setup(&bed, "[Requirements = TARGET.Memory > 100 && TARGET.Load < 1 && TARGET.Os == \"x\"]");
    slot(&bed, false, "[Requirements = true; Memory = 60; Load = 2.5; Os = \"a\"]");
    slot(&bed, false, "[Requirements = true; Memory = 50; Load = 2.5; Os = \"b\"]");
    slot(&bed, false, "[Requirements = true; Memory = 70; Load = 2.5; Os = \"c\"]");
    slot(&bed, false, "[Requirements = true; Memory = 65; Load = 2.5; Os = \"d\"]");
    struct why_answer *answer = why_plan_answer(&bed.question);
    assert_string_equal(answer->demands[0].values, "Memory is 50 to 70");
    assert_string_equal(answer->demands[1].values, "Load is 2.5");
    assert_string_equal(answer->demands[2].values, "Os is \"a\", \"b\", \"c\" ...");
    why_answer_destroy(answer);
    teardown(&bed);
    setup(&bed, "[Requirements = TARGET.Os == \"x\"]");
    slot(&bed, false,
         "[Requirements = true; Os = \"123456789 123456789 123456789 123456789 "
         "123456789 123456789\"]");
    answer = why_plan_answer(&bed.question);
    assert_int_equal(strlen(answer->demands[0].values), strlen("Os is ") + WHY_VALUE_MAX);
    why_answer_destroy(answer);
    teardown(&bed);
}

static void errors_are_told_from_what_is_false(void **state)
{
    (void)state;
    struct bed bed;
    setup(&bed, "[Requirements = Nothing > 1 && \"x\" + 1 && TARGET.Memory > 2]");
    slot(&bed, false, "[Requirements = true; Memory = 1]");
    struct why_answer *answer = why_plan_answer(&bed.question);
    assert_true(demand_of(answer, "\"x\" + 1")->is_error);
    assert_false(demand_of(answer, "Nothing > 1")->is_error);
    assert_false(demand_of(answer, "TARGET.Memory > 2")->is_error);
    assert_string_equal(demand_of(answer, "Nothing > 1")->values, "Nothing is undefined");
    assert_count(answer->errors, 1, 0); /* undefined && error */
    why_answer_destroy(answer);
    teardown(&bed);
    setup(&bed, "[Requirements = TARGET.Memory > 2 && TARGET.Memory > TARGET.Disk]");
    slot(&bed, false, "[Requirements = true; Memory = 1; Disk = \"a\"]");
    slot(&bed, true, "[Requirements = true; Memory = 3; Disk = \"a\"]");
    slot(&bed, true, "[Requirements = true; Memory = 3; Disk = 2]");
    answer = why_plan_answer(&bed.question);
    assert_count(answer->errors, 0, 1);
    assert_count(answer->refused_by_ad, 1, 1);
    why_answer_destroy(answer);
    teardown(&bed);
    setup(&bed, "[Owner = \"x\"]");
    slot(&bed, false, "[Requirements = true]");
    answer = why_plan_answer(&bed.question);
    assert_count(answer->refused_by_ad, 1, 0);
    assert_int_equal(answer->change_count, 0);
    why_answer_destroy(answer);
    teardown(&bed);
}

static void the_nearest_value_that_matches_is_told_and_the_one_that_gains_twice_as_much(
    void **state)
{
    (void)state;
    struct bed bed;
    setup(&bed, "[Requirements = TARGET.Memory >= RequestMemory; RequestMemory = 99999]");
    slot(&bed, false, "[Requirements = true; Memory = 65536]");
    slot(&bed, false, "[Requirements = true; Memory = 1024]");
    slot(&bed, true, "[Requirements = true; Memory = 1024]");
    slot(&bed, true, "[Requirements = TARGET.RequestMemory < 512; Memory = 90000]");
    struct why_answer *answer = why_plan_answer(&bed.question);
    assert_changes(answer, "RequestMemory = 65536 (1+0); RequestMemory = 511 (2+2)");
    assert_string_equal(answer->changes[0].edits[0].was, "99999");
    why_answer_destroy(answer);
    teardown(&bed);
}

static void literals_in_clauses_become_what_slots_have(void **state)
{
    (void)state;
    struct bed bed;
    setup(&bed, "[Requirements = TARGET.OpSys == \"WINDOWS\" && TARGET.Memory >= 10]");
    slot(&bed, false, "[Requirements = true; Memory = 20; OpSys = \"LINUX\"]");
    slot(&bed, false, "[Requirements = true; Memory = 20; OpSys = \"LINUX\"]");
    slot(&bed, true, "[Requirements = true; Memory = 20; OpSys = \"MACOS\"]");
    slot(&bed, true, "[Requirements = true; Memory = 5; OpSys = \"MACOS\"]");
    struct why_answer *answer = why_plan_answer(&bed.question);
    assert_changes(answer, "TARGET.OpSys == \"LINUX\" (2+0)");
    assert_string_equal(answer->changes[0].edits[0].was, "TARGET.OpSys == \"WINDOWS\"");
    why_answer_destroy(answer);
    teardown(&bed);
}

static void a_clause_that_no_value_satisfies_is_to_be_dropped(void **state)
{
    (void)state;
    struct bed bed;
    setup(&bed, "[Requirements = TARGET.NoSuch == 1 && regexp(\"^a\", TARGET.Name)]");
    slot(&bed, false, "[Requirements = true; Name = \"abc\"]");
    slot(&bed, false, "[Requirements = true; Name = \"xyz\"]");
    struct why_answer *answer = why_plan_answer(&bed.question);
    assert_changes(answer, "no TARGET.NoSuch == 1 (1+0)");
    why_answer_destroy(answer);
    teardown(&bed);
}

static void a_slot_that_wants_an_attribute_of_the_job_gets_it(void **state)
{
    (void)state;
    struct bed bed;
    setup(&bed, "[Requirements = true; RequestCpus = 8]");
    slot(&bed, false, "[Requirements = TARGET.WantLong =?= true]");
    slot(&bed, true, "[Requirements = (TARGET.RequestCpus <= MY.Cpus) || TARGET.Urgent; Cpus = 4]");
    struct why_answer *answer = why_plan_answer(&bed.question);
    assert_changes(answer, "RequestCpus = 4 (0+1); WantLong = true (1+0)");
    assert_string_equal(answer->changes[1].edits[0].was, "");
    why_answer_destroy(answer);
    teardown(&bed);
}

static void two_changes_are_told_when_one_is_not_enough(void **state)
{
    (void)state;
    struct bed bed;
    setup(&bed, "[Requirements = TARGET.Memory >= RequestMemory && TARGET.Arch == \"VAX\";"
                " RequestMemory = 100]");
    slot(&bed, true, "[Requirements = true; Memory = 50; Arch = \"ARM\"]");
    slot(&bed, false, "[Requirements = TARGET.Owner == \"ann\"; Memory = 500; Arch = \"VAX\"]");
    struct why_answer *answer = why_plan_answer(&bed.question);
    assert_changes(answer, "RequestMemory = 50 and TARGET.Arch == \"ARM\" (0+1)");
    why_answer_destroy(answer);
    teardown(&bed);
}

static void a_clause_that_is_written_twice_refuses_once(void **state)
{
    (void)state;
    struct bed bed;
    setup(&bed, "[Requirements = true; Size = 9]");
    slot(&bed, true,
         "[Requirements = (TARGET.Size < 2.5) && !(!(TARGET.Size < 2.5)) && !TARGET.Ill]");
    struct why_answer *answer = why_plan_answer(&bed.question);
    assert_count(demand_of(answer, "TARGET.Size < 2.5")->refuses, 0, 1);
    assert_count(demand_of(answer, "!TARGET.Ill")->refuses, 0, 1);
    assert_changes(answer, "Size = 2 and Ill = false (0+1)");
    why_answer_destroy(answer);
    teardown(&bed);
    setup(&bed, "[Requirements = true; Size = 9]");
    slot(&bed, true, "[Requirements = TARGET.Size <= 2.5]");
    answer = why_plan_answer(&bed.question);
    assert_changes(answer, "Size = 2.5 (0+1)");
    why_answer_destroy(answer);
    teardown(&bed);
}

static void both_sides_may_limit_one_attribute(void **state)
{
    (void)state;
    struct bed bed;
    setup(&bed, "[Requirements = TARGET.Memory >= RequestMemory; RequestMemory = 100]");
    slot(&bed, false, "[Requirements = TARGET.RequestMemory <= 20; Memory = 50]");
    struct why_answer *answer = why_plan_answer(&bed.question);
    assert_changes(answer, "RequestMemory = 20 (1+0)");
    why_answer_destroy(answer);
    teardown(&bed);
}

static void alike_slots_are_judged_once(void **state)
{
    (void)state;
    struct bed bed;
    setup(&bed, "[Requirements = TARGET.Memory >= 10 && TARGET.Big]");
    for (int i = 0; i < 300; i++) {
        char text[200];
        (void)snprintf(text, sizeof text,
                       "[Name = \"s%d\"; Requirements = Start; Start = Load < 1; Load = Busy / 2.0;"
                       " Busy = %d; Memory = %d; Big = true]",
                       i, i % 3, 10 + i % 2);
        slot(&bed, i % 5 == 0, text);
    }
    struct why_answer *answer = why_plan_answer(&bed.question);
    assert_int_equal(answer->kinds, 6);
    assert_count(answer->total, 240, 60);
    assert_count(answer->matching, 160, 40);
    why_answer_destroy(answer);
    teardown(&bed);
}

static void what_a_text_computes_makes_each_slot_a_kind(void **state)
{
    (void)state;
    struct bed bed;
    setup(&bed, "[Requirements = Eval(strcat(\"Nu\", \"mber\"))"
                " == 7]");
    for (int i = 0; i < 9; i++) {
        char text[64];
        (void)snprintf(text, sizeof text, "[Number = %d; Requirements = true]", i);
        slot(&bed, false, text);
    }
    struct why_answer *answer = why_plan_answer(&bed.question);
    assert_int_equal(answer->kinds, 9);
    assert_count(answer->matching, 1, 0);
    assert_true(answer->matches[7]);
    why_answer_destroy(answer);
    teardown(&bed);
}

static bool over_at_zero(void *arg)
{
    int *left = arg;
    return --*left < 0;
}

static void what_was_not_judged_in_time_is_counted(void **state)
{
    (void)state;
    struct bed bed;
    int left = 3;
    setup(&bed, "[Requirements = TARGET.Number > 3]");
    for (int i = 0; i < 10; i++) {
        char text[64];
        (void)snprintf(text, sizeof text, "[Number = %d; Requirements = true]", i);
        slot(&bed, i == 9, text);
    }
    bed.question.is_over = over_at_zero;
    bed.question.arg = &left;
    struct why_answer *answer = why_plan_answer(&bed.question);
    assert_count(answer->unjudged, 6, 1);
    assert_count(answer->refused_by_ad, 3, 0);
    assert_int_equal(answer->change_count, 0);
    why_answer_destroy(answer);
    teardown(&bed);
}

static void long_texts_are_cut_and_stay_on_their_line(void **state)
{
    (void)state;
    struct strbuf text;
    strbuf_init(&text, 0);
    strbuf_puts(&text, "x == \"a\nb");
    for (int i = 0; i < 1000; i++) {
        strbuf_puts(&text, "\xC3\xA4");
    }
    strbuf_puts(&text, "\"");
    struct ad_expr *expr = NULL;
    assert_int_equal(ad_expr_parse(strbuf_text(&text), text.length, AD_OLD, &expr, NULL), 0);
    char *shown = why_text_clause(expr);
    assert_in_range(strlen(shown), WHY_TEXT_MAX - 2, WHY_TEXT_MAX);
    assert_memory_equal(shown, "x == \"a?b\xC3\xA4", 11);
    assert_string_equal(shown + strlen(shown) - 6, "\xC3\xA4 ...");
    mem_free(shown);
    ad_expr_destroy(expr);
    strbuf_fini(&text);
}

/* ---- ads that mean ill: bounded, and told as what they are */

static void an_ad_of_ten_thousand_attributes_is_one_among_others(void **state)
{
    (void)state;
    struct bed bed;
    struct strbuf text;
    strbuf_init(&text, 0);
    setup(&bed, "[Requirements = TARGET.Memory >= RequestMemory; RequestMemory = 10]");
    strbuf_puts(&text, "[Memory = 20; Requirements = A0 > 0; A10000 = 1");
    for (int i = 0; i < 10000; i++) {
        strbuf_printf(&text, "; A%d = A%d + 1", i, i + 1);
    }
    strbuf_puts(&text, "]");
    slot(&bed, false, strbuf_text(&text));
    for (int i = 0; i < 500; i++) {
        slot(&bed, true, "[Memory = 5; Requirements = true]");
    }
    struct why_answer *answer = why_plan_answer(&bed.question);
    assert_count(answer->total, 1, 500);
    assert_count(demand_of(answer, "A0 > 0")->refuses, 1, 0); /* beyond the depth of evaluation */
    assert_true(demand_of(answer, "A0 > 0")->is_error);
    assert_changes(answer, "RequestMemory = 5 (0+500)");
    why_answer_destroy(answer);
    teardown(&bed);
    strbuf_fini(&text);
}

static void a_job_of_ten_thousand_clauses_is_bounded(void **state)
{
    (void)state;
    struct bed bed;
    struct strbuf text;
    strbuf_init(&text, 0);
    strbuf_puts(&text, "[X = 1; Requirements = A == 1");
    for (int i = 0; i < 10000; i++) {
        strbuf_printf(&text, " && B%d == %d", i, i);
    }
    strbuf_puts(&text, "]");
    setup(&bed, strbuf_text(&text));
    for (int i = 0; i < 50; i++) {
        slot(&bed, false, "[Requirements = true; A = 2]");
    }
    struct why_answer *answer = why_plan_answer(&bed.question);
    assert_int_equal(answer->own_count, 1);
    assert_count(answer->refused_by_ad, 50, 0);
    assert_in_range(strlen(answer->demands[0].text), 100, WHY_TEXT_MAX);
    why_answer_destroy(answer);
    teardown(&bed);
    strbuf_fini(&text);
}

static void slots_with_thousands_of_different_clauses_are_bounded(void **state)
{
    (void)state;
    struct bed bed;
    setup(&bed, "[Requirements = true; Owner = \"x\"]");
    for (int i = 0; i < 2000; i++) {
        char text[100];
        (void)snprintf(text, sizeof text, "[Requirements = TARGET.Owner == \"u%d\"]", i);
        slot(&bed, false, text);
    }
    struct why_answer *answer = why_plan_answer(&bed.question);
    assert_int_equal(answer->demand_count, 1 + WHY_DEMANDS_MAX);
    assert_count(answer->refused_by_others, 2000, 0);
    assert_count(demand_of(answer, "(other clauses)")->refuses, 2001 - WHY_DEMANDS_MAX, 0);
    assert_null(demand_of(answer, "(other clauses)")->from);
    assert_string_equal(demand_of(answer, "(other clauses)")->values, "");
    why_answer_destroy(answer);
    teardown(&bed);
}

static void a_hostile_pattern_and_a_self_reference_are_told(void **state)
{
    (void)state;
    struct bed bed;
    setup(&bed, "[Requirements = regexp(\"(a+)+$\", TARGET.Name) && Self; Self = Self && true]");
    for (int i = 0; i < 20; i++) {
        char text[200];
        (void)snprintf(
            text, sizeof text,
            "[Requirements = MY.Requirements; Name = \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
            "aaaaaaaaaaaaaa%db\"]",
            i);
        slot(&bed, false, text);
    }
    struct why_answer *answer = why_plan_answer(&bed.question);
    assert_count(answer->matching, 0, 0);
    assert_count(demand_of(answer, "Self")->refuses, 20, 0);
    assert_count(demand_of(answer, "MY.Requirements")->refuses, 20, 0);
    assert_count(demand_of(answer, "regexp(\"(a+)+$\",TARGET.Name)")->refuses, 20, 0);
    assert_int_equal(answer->change_count, 0);
    why_answer_destroy(answer);
    teardown(&bed);
}

/* ---- small random pools: everything that is told equals what trying it says */

static const char *pick(struct rng *rng, const char *const *list, size_t count)
{
    return list[rng_below(rng, count)];
}
#define PICK(rng, list) pick(rng, list, sizeof(list) / sizeof *(list))

static void random_job(struct rng *rng, struct strbuf *out)
{
    static const char *const CLAUSES[] = {"TARGET.Memory >= RequestMemory",
                                          "TARGET.Cpus >= MY.RequestCpus",
                                          "TARGET.OpSys == \"LINUX\"",
                                          "(TARGET.Arch == \"ARM\" || TARGET.Memory > 3)",
                                          "Disk < 3",
                                          "!(TARGET.Old || Disk > 8)",
                                          "TARGET.HasIt",
                                          "regexp(\"^s[1-3]\", TARGET.Name)",
                                          "Wish",
                                          "3 < TARGET.Memory",
                                          "TARGET.Bad + \"x\" == 1",
                                          "TARGET.Where =?= MY.Where"};
    strbuf_printf(out, "[RequestMemory = %d; RequestCpus = %d; Owner = \"%s\"; ",
                  (int)rng_below(rng, 9), (int)rng_below(rng, 4),
                  rng_below(rng, 2) ? "ann" : "bob");
    strbuf_puts(out, rng_below(rng, 2) ? "Wish = TARGET.Cpus == 2 && RequestCpus < 3; " : "");
    strbuf_puts(out, rng_below(rng, 2) ? "Where = \"here\"; " : "");
    strbuf_puts(out, "Requirements = ");
    for (size_t i = 0, n = 1 + rng_below(rng, 4); i < n; i++) {
        strbuf_printf(out, "%s%s", i > 0 ? " && " : "", PICK(rng, CLAUSES));
    }
    strbuf_puts(out, "]");
}

static void random_slot(struct rng *rng, int number, struct strbuf *out)
{
    static const char *const STARTS[] = {"true",
                                         "TARGET.RequestMemory < 5",
                                         "TARGET.Owner == \"ann\"",
                                         "TARGET.RequestCpus <= MY.Cpus && Memory > 1",
                                         "WantIt",
                                         "(Name != \"s2\") && TARGET.Nice =!= true",
                                         "isUndefined(TARGET.Where) || TARGET.RequestMemory == 2",
                                         "TARGET.RequestMemory + 1 < Limit"};
    static const char *const OS[] = {"LINUX", "WINDOWS", "MACOS"};
    strbuf_printf(out, "[Name = \"s%d\"; Memory = %d; Cpus = %d; OpSys = \"%s\"; Limit = Memory; ",
                  number, (int)rng_below(rng, 9), (int)rng_below(rng, 4), PICK(rng, OS));
    strbuf_puts(out, rng_below(rng, 2) ? "Arch = \"ARM\"; " : "");
    strbuf_puts(out, rng_below(rng, 3) ? "HasIt = true; Old = false; " : "");
    strbuf_puts(out, rng_below(rng, 2) ? "Where = \"here\"; " : "");
    strbuf_printf(out, "Disk = %d; Requirements = Start; Start = %s]", (int)rng_below(rng, 10),
                  PICK(rng, STARTS));
}

/* Counts each demand and each change the slow way. */
static void check_answer(const struct bed *bed, const struct why_answer *answer)
{
    struct why_count matching = {0};
    for (size_t i = 0; i < bed->ads.count; i++) {
        bool matches = ad_match(bed->job, bed->others[i].ad, &CONTEXT);
        assert_int_equal(matches, answer->matches[i]);
        matching.live += matches && !bed->others[i].offline;
        matching.offline += matches && bed->others[i].offline;
    }
    assert_count(answer->matching, matching.live, matching.offline);
    for (size_t d = 0; d < answer->own_count; d++) {
        const struct why_demand *demand = &answer->demands[d];
        int64_t refuses = 0, alone = 0;
        for (size_t i = 0; i < bed->ads.count; i++) {
            const struct ad *ad = bed->others[i].ad;
            if (ad_eval_bool(demand->expr, bed->job, ad, &CONTEXT) == AD_TRUE) {
                continue;
            }
            bool only = ad_match_half(ad, bed->job, &CONTEXT);
            for (size_t e = 0; e < answer->own_count; e++) {
                only = only &&
                       (strcmp(answer->demands[e].text, demand->text) == 0 ||
                        ad_eval_bool(answer->demands[e].expr, bed->job, ad, &CONTEXT) == AD_TRUE);
            }
            refuses++;
            alone += only;
        }
        bool twice = false; /* a clause that is written twice rules out nothing alone */
        for (size_t e = 0; e < answer->own_count; e++) {
            twice = twice || (e != d && strcmp(answer->demands[e].text, demand->text) == 0);
        }
        assert_int_equal(why_sum(demand->refuses), refuses);
        assert_int_equal(why_sum(demand->alone), twice ? 0 : alone);
    }
}

static struct ad *apply(const struct bed *bed, const struct why_answer *answer,
                        const struct why_change *change)
{
    struct ad *ad = ad_copy(bed->job);
    const struct ad_expr *replacement[64] = {NULL};
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
    if (rewritten) {
        ad_set(ad, "Requirements", ad_clauses_join(answer->clauses, replacement));
    }
    return ad;
}

static void check_changes(const struct bed *bed, const struct why_answer *answer)
{
    for (size_t c = 0; c < answer->change_count; c++) {
        const struct why_change *change = &answer->changes[c];
        struct ad *changed = apply(bed, answer, change);
        struct why_count gain = {0};
        for (size_t i = 0; i < bed->ads.count; i++) {
            bool gained = !answer->matches[i] && ad_match(changed, bed->others[i].ad, &CONTEXT);
            gain.live += gained && !bed->others[i].offline;
            gain.offline += gained && bed->others[i].offline;
        }
        assert_count(change->gain, gain.live, gain.offline);
        assert_true(why_sum(gain) > 0);
        ad_destroy(changed);
    }
}

static void random_pools_agree_with_counting_one_by_one(void **state)
{
    (void)state;
    struct rng rng;
    struct strbuf text;
    size_t changes = 0, pairs = 0, matching = 0;
    rng_seed(&rng, 11);
    strbuf_init(&text, 0);
    for (int round = 0; round < 4000; round++) {
        struct bed bed;
        strbuf_clear(&text);
        random_job(&rng, &text);
        setup(&bed, strbuf_text(&text));
        for (int i = 0, n = (int)rng_below(&rng, 9); i < n; i++) {
            strbuf_clear(&text);
            random_slot(&rng, i, &text);
            slot(&bed, rng_below(&rng, 2) == 0, strbuf_text(&text));
        }
        struct why_answer *answer = why_plan_answer(&bed.question);
        check_answer(&bed, answer);
        check_changes(&bed, answer);
        changes += answer->change_count;
        pairs += answer->change_count > 0 && answer->changes[0].edit_count > 1;
        matching += why_sum(answer->matching) > 0;
        why_answer_destroy(answer);
        teardown(&bed);
    }
    strbuf_fini(&text);
    assert_in_range(changes, 2000, 20000); /* the pools are such that there is something to see */
    assert_in_range(pairs, 200, 4000);
    assert_in_range(matching, 400, 3600);
}

UNIT_TESTS(UNIT(each_clause_tells_how_many_it_rules_out),
           UNIT(the_slots_clauses_are_counted_by_their_text),
           UNIT(the_fourth_clause_that_refuses_tells_its_values_as_well),
           UNIT(values_are_told_as_a_range_or_a_few), UNIT(errors_are_told_from_what_is_false),
           UNIT(the_nearest_value_that_matches_is_told_and_the_one_that_gains_twice_as_much),
           UNIT(literals_in_clauses_become_what_slots_have),
           UNIT(a_clause_that_no_value_satisfies_is_to_be_dropped),
           UNIT(a_slot_that_wants_an_attribute_of_the_job_gets_it),
           UNIT(two_changes_are_told_when_one_is_not_enough),
           UNIT(a_clause_that_is_written_twice_refuses_once),
           UNIT(both_sides_may_limit_one_attribute), UNIT(alike_slots_are_judged_once),
           UNIT(what_a_text_computes_makes_each_slot_a_kind),
           UNIT(what_was_not_judged_in_time_is_counted),
           UNIT(long_texts_are_cut_and_stay_on_their_line),
           UNIT(an_ad_of_ten_thousand_attributes_is_one_among_others),
           UNIT(a_job_of_ten_thousand_clauses_is_bounded),
           UNIT(slots_with_thousands_of_different_clauses_are_bounded),
           UNIT(a_hostile_pattern_and_a_self_reference_are_told),
           UNIT(random_pools_agree_with_counting_one_by_one))
