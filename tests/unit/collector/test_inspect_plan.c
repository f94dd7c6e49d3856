/* What is said to be wrong with machine ads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include "base/err.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "collector/inspect_plan.h"

static struct ad *parsed(const char *text)
{
    struct ad *ad = NULL;
    struct err err = {""};
    if (ad_parse(text, strlen(text), &ad, &err) != 0) {
        fail_msg("%s: %s", text, err.text);
    }
    return ad;
}

static void said(const char *text, const char *expected)
{
    struct ad *ad = parsed(text);
    struct strbuf out;
    strbuf_init(&out, 0);
    inspect_plan_ad(ad, &(struct ad_context){.now_s = 1}, &out);
    assert_string_equal(strbuf_text(&out), expected);
    strbuf_fini(&out);
    ad_destroy(ad);
}

static void a_token_that_ends_soon_is_a_problem(void **state)
{
    (void)state;
    said("[ Requirements = true; TokenExpires = 1795000000 ]",
         "the startd's token ends at 2026-11-18T11:06:40Z");
    said("[ Requirements = true; TokenExpires = 1 ]",
         "token.expired: the startd's token expired at 1970-01-01T00:00:01Z");
}

static void nothing_is_said_of_a_good_ad(void **state)
{
    (void)state;
    said("[ Start = KeyboardIdle > 5 * 60 || TARGET.RequestMemory <= Memory; Memory = 1;"
         " Requirements = START && WithinResourceLimits && regexp(\"a+\", TARGET.Owner);"
         " WithinResourceLimits = TARGET.RequestCpus <= Cpus; Cpus = 1; Rank = 0.0;"
         " KeyboardIdle = 1 ]",
         "");
    said("[ Requirements = versionGE(split(TARGET.CondorVersion)[1], \"25.1\") ]", "");
    said("[ Requirements = false ]", "");
    said("[ Requirements = Cpus > 1; Cpus = TotalCpus; TotalCpus = 8; Memory = 0; Disk = 1.5 ]",
         "");
}

static void a_part_that_is_an_error_for_every_job_is_named(void **state)
{
    (void)state;
    said("[ Requirements = error ]", "Requirements is an error for every job: error");
    said("[ Requirements = Start && TARGET.Cpus > 1; Start = x + \"a\" > 1; x = 1 ]",
         "Requirements is an error for every job: x + \"a\" > 1");
    const char *pattern = "regexp(\"^(a*)*(a|aa)*(a*)*$\",\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaac\")";
    char ad[200], words[200];
    (void)snprintf(ad, sizeof(ad), "[ Requirements = %s ]", pattern);
    (void)snprintf(words, sizeof(words), "Requirements is an error for every job: %s", pattern);
    said(ad, words);
}

static void what_refers_to_itself_is_named(void **state)
{
    (void)state;
    said("[ Requirements = Requirements && TARGET.Cpus > 1 ]",
         "Requirements refers to itself: Requirements && TARGET.Cpus > 1");
    said("[ Requirements = Start; Start = A; A = B; B = MY.Start ]", "Start refers to itself: A");
    said("[ Rank = Rank + 1; Requirements = true ]", "Rank refers to itself: Rank + 1");
}

static void a_circle_of_what_requirements_needs_is_named(void **state)
{
    (void)state;
    said("[ Requirements = TARGET.Cpus > Cpus; Cpus = Memory; Memory = Cpus ]",
         "Cpus refers to itself: Memory");
    said("[ Requirements = Start; Start = Idle; Idle = Load + Idle; Load = 1 ]",
         "Idle refers to itself: Load + Idle");
    said("[ Requirements = true; NotNeeded = NotNeeded ]", "");
    struct strbuf text;
    strbuf_init(&text, 0);
    strbuf_puts(&text, "[ Requirements = A0; A299 = A299; ");
    for (int i = 0; i < 299; i++) {
        strbuf_printf(&text, "A%d = A%d; ", i, i + 1);
    }
    strbuf_puts(&text, "]");
    said(strbuf_text(&text), ""); /* there is an end to looking */
    strbuf_fini(&text);
}

static void a_slot_that_no_job_can_have_is_told(void **state)
{
    (void)state;
    said("[ Name = \"a\" ]", "the ad has no Requirements, so no job matches the machine");
    said("[ Requirements = true; Memory = \"lots\"; Cpus = -1; Disk = undefined ]",
         "Cpus is below 0: -1; Memory is not a number: \"lots\"; Disk is not a number: undefined");
}

static void an_ad_without_end_is_told_and_words_have_one(void **state)
{
    (void)state;
    struct strbuf text;
    strbuf_init(&text, 0);
    strbuf_puts(&text, "[ ");
    for (int i = 0; i < 2000; i++) {
        strbuf_printf(&text, "A%d = %d; ", i, i);
    }
    strbuf_puts(&text, "Rank = Rank; Requirements = error");
    for (int i = 0; i < 1000; i++) {
        strbuf_puts(&text, " + 1");
    }
    strbuf_puts(&text, " ]");
    struct ad *ad = parsed(strbuf_text(&text));
    strbuf_clear(&text);
    inspect_plan_ad(ad, NULL, &text);
    const char *begin = "the ad has 2002 attributes, an unusual number (more than 1000); "
                        "Requirements is an error for every job: error + 1 ";
    assert_memory_equal(strbuf_text(&text), begin, strlen(begin));
    assert_true(text.length < 300);
    assert_non_null(strstr(strbuf_text(&text), " ...; Rank refers to itself: Rank"));
    strbuf_fini(&text);
    ad_destroy(ad);
}

UNIT_TESTS(UNIT(nothing_is_said_of_a_good_ad), UNIT(a_token_that_ends_soon_is_a_problem),
           UNIT(a_part_that_is_an_error_for_every_job_is_named),
           UNIT(what_refers_to_itself_is_named), UNIT(a_circle_of_what_requirements_needs_is_named),
           UNIT(a_slot_that_no_job_can_have_is_told),
           UNIT(an_ad_without_end_is_told_and_words_have_one))
