/* What runs with what around it, and what comes back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>
#include <stdbool.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "starter/starter_plan.h"

static struct ad *parse(const char *text)
{
    struct ad *ad = NULL;
    struct err err = {{0}};
    if (ad_parse(text, strlen(text), &ad, &err) != 0) {
        fail_msg("%s: %s", text, err.text);
    }
    return ad;
}

/* The words with '|' between; empties list. */
static const char *join(struct vec *list)
{
    static _Thread_local char text[2048];
    text[0] = '\0';
    for (size_t i = 0, at = 0; i < list->count; i++) {
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", i > 0 ? "|" : "",
                               (const char *)list->items[i]);
    }
    vec_fini(list, mem_free);
    *list = (struct vec){0};
    return text;
}

static int argv(const char *job_text, struct vec *words, struct err *err)
{
    struct ad *job = parse(job_text);
    int rc = starter_plan_argv(job, "/x/prog", words, err);
    ad_destroy(job);
    return rc;
}

static void arguments_of_both_syntaxes_follow_the_program(void **state)
{
    (void)state;
    struct vec words = {0};
    assert_int_equal(argv("[x = 1]", &words, NULL), 0);
    assert_string_equal(join(&words), "/x/prog");
    assert_int_equal(argv("[Arguments = \"a 'b c' 'it''s'\"]", &words, NULL), 0);
    assert_string_equal(join(&words), "/x/prog|a|b c|it's");
    assert_int_equal(argv("[Args = \"a 'b c'\"]", &words, NULL), 0);
    assert_string_equal(join(&words), "/x/prog|a|'b|c'");
    assert_int_equal(argv("[Args = \"old\"; Arguments = \"new\"]", &words, NULL), 0);
    assert_string_equal(join(&words), "/x/prog|new");
}

static void bad_arguments_are_refused_with_the_name_of_the_attribute(void **state)
{
    (void)state;
    struct vec words = {0};
    struct err err = {{0}};
    assert_int_equal(argv("[Arguments = \"a 'b\"]", &words, &err), -EINVAL);
    assert_non_null(strstr(err.text, "Arguments"));
    vec_fini(&words, mem_free);
}

static const char *const THREADS[] = {"OMP_NUM_THREADS", "MKL_NUM_THREADS", NULL};
static const struct starter_place PLACE = {.sandbox = "/ex/dir/sandbox",
                                           .directory = "/ex/dir",
                                           .slot = "slot1@m",
                                           .boot_id = "boot-7",
                                           .boot_time_s = 1764000000,
                                           .cpus = 3,
                                           .threads = THREADS,
                                           .site = "SITE=north 'TMP=/never mind' PATH=/site/bin",
                                           .wrapper_errors = ".job_wrapper_failure"};

/* The value of name, or NULL; fails the test when it is there twice. */
static const char *value_of(const struct vec *entries, const char *name)
{
    const char *found = NULL;
    size_t length = strlen(name);
    for (size_t i = 0; i < entries->count; i++) {
        const char *entry = entries->items[i];
        if (strncmp(entry, name, length) == 0 && entry[length] == '=') {
            assert_null(found);
            found = entry + length + 1;
        }
    }
    return found;
}

static void the_machine_adds_what_a_job_may_rely_on(void **state)
{
    (void)state;
    struct ad *job = parse("[x = 1]");
    struct vec entries = {0};
    assert_int_equal(starter_plan_env(job, &PLACE, &entries, NULL), 0);
    static const char *const EXPECTED[][2] = {
        {"_CONDOR_SCRATCH_DIR", "/ex/dir/sandbox"},
        {"_CONDOR_SLOT", "slot1@m"},
        {"_CONDOR_JOB_IWD", "/ex/dir/sandbox"},
        {"_CONDOR_JOB_AD", "/ex/dir/sandbox/.job.ad"},
        {"_CONDOR_MACHINE_AD", "/ex/dir/sandbox/.machine.ad"},
        {"ROOST_STARTER_DIR", "/ex/dir"},
        {"ROOST_BOOT_ID", "boot-7"},
        {"ROOST_BOOT_TIME", "1764000000"},
        {"OMP_NUM_THREADS", "3"},
        {"MKL_NUM_THREADS", "3"},
        {"BATCH_SYSTEM", "HTCondor"},
        {"SITE", "north"},
        {"_CONDOR_WRAPPER_ERROR_FILE", "/ex/dir/sandbox/.job_wrapper_failure"},
        {"PATH", "/site/bin"},
        {"TMPDIR", "/ex/dir/sandbox"},
        {"TMP", "/never mind"},
        {"TEMP", "/ex/dir/sandbox"},
    };
    for (size_t i = 0; i < sizeof EXPECTED / sizeof EXPECTED[0]; i++) {
        const char *value = value_of(&entries, EXPECTED[i][0]);
        if (value == NULL || strcmp(value, EXPECTED[i][1]) != 0) {
            fail_msg("%s is %s", EXPECTED[i][0], value != NULL ? value : "absent");
        }
    }
    vec_fini(&entries, mem_free);
    ad_destroy(job);
}

static void a_bad_environment_of_the_site_is_named(void **state)
{
    (void)state;
    struct ad *job = parse("[x = 1]");
    struct starter_place place = PLACE;
    struct vec entries = {0};
    struct err err = {{0}};
    place.site = "A='b";
    assert_int_equal(starter_plan_env(job, &place, &entries, &err), -EINVAL);
    assert_non_null(strstr(err.text, "STARTER_JOB_ENVIRONMENT"));
    vec_fini(&entries, mem_free);
    ad_destroy(job);
}

static void a_job_is_told_which_units_of_a_resource_are_its_own(void **state)
{
    (void)state;
    static const char *const UNITS[][2] = {{"CUDA1,CUDA12", "1,12"},
                                           {"GPU-0a1b,CUDA3", "GPU-0a1b,3"},
                                           {"", ""},
                                           {"CUDA", ""},
                                           {"CUDA7", "7"}};
    for (size_t i = 0; i < sizeof UNITS / sizeof UNITS[0]; i++) {
        struct ad *job = parse("[x = 1]"), *machine = parse("[AssignedTapes = \"T1\"; Cpus = 2]");
        struct starter_place place = PLACE;
        struct vec entries = {0};
        ad_set_string(machine, "AssignedGPUs", UNITS[i][0]);
        place.machine = machine;
        assert_int_equal(starter_plan_env(job, &place, &entries, NULL), 0);
        assert_string_equal(value_of(&entries, "_CONDOR_AssignedGPUs"), UNITS[i][0]);
        assert_string_equal(value_of(&entries, "CUDA_VISIBLE_DEVICES"), UNITS[i][1]);
        assert_string_equal(value_of(&entries, "_CONDOR_AssignedTapes"), "T1");
        vec_fini(&entries, mem_free);
        ad_destroy(machine);
        ad_destroy(job);
    }
}

static void the_jobs_own_environment_wins_but_for_names_of_ours(void **state)
{
    (void)state;
    struct ad *job = parse("[Environment = \"PATH=/mine OMP_NUM_THREADS=9 _CONDOR_SLOT=fake "
                           "ROOST_STARTER_DIR=/elsewhere ROOST_BOOT_ID=none PATHS=x 'A=b c' "
                           "ROOST_CKPT_CPU=x86-64-v2 ROOST_CKPT_CPUS=none\"]");
    struct vec entries = {0};
    assert_int_equal(starter_plan_env(job, &PLACE, &entries, NULL), 0);
    assert_string_equal(value_of(&entries, "PATH"), "/mine");
    assert_string_equal(value_of(&entries, "PATHS"), "x");
    assert_string_equal(value_of(&entries, "OMP_NUM_THREADS"), "9");
    assert_string_equal(value_of(&entries, "A"), "b c");
    assert_string_equal(value_of(&entries, "_CONDOR_SLOT"), "slot1@m");
    assert_string_equal(value_of(&entries, "ROOST_STARTER_DIR"), "/ex/dir");
    assert_string_equal(value_of(&entries, "ROOST_BOOT_ID"), "boot-7");
    assert_string_equal(value_of(&entries, "ROOST_CKPT_CPU"), "x86-64-v2");
    assert_null(value_of(&entries, "ROOST_CKPT_CPUS"));
    vec_fini(&entries, mem_free);
    ad_destroy(job);
}

static void the_old_syntax_of_the_environment_is_read_too(void **state)
{
    (void)state;
    struct ad *job = parse("[Env = \"A=b c;D=e\"]");
    struct vec entries = {0};
    assert_int_equal(starter_plan_env(job, &PLACE, &entries, NULL), 0);
    assert_string_equal(value_of(&entries, "A"), "b c");
    assert_string_equal(value_of(&entries, "D"), "e");
    vec_fini(&entries, mem_free);
    ad_destroy(job);
}

static void an_environment_that_does_not_parse_is_refused(void **state)
{
    (void)state;
    struct ad *job = parse("[Environment = \"A\"]");
    struct vec entries = {0};
    struct err err = {{0}};
    assert_int_equal(starter_plan_env(job, &PLACE, &entries, &err), -EINVAL);
    assert_non_null(strstr(err.text, "environment"));
    vec_fini(&entries, mem_free);
    ad_destroy(job);
}

static const struct starter_file BEFORE[] = {
    {"condor_exec.exe", 10, 100, true}, {".job.ad", 5, 100, true},   {".machine.ad", 5, 100, true},
    {"in.txt", 7, 100, true},           {"grows.txt", 7, 100, true}, {"touched", 7, 100, true},
};
static const struct starter_file AFTER[] = {
    {"_condor_stdout", 0, 150, true}, {"condor_exec.exe", 11, 160, true},
    {".job.ad", 6, 160, true},        {".machine.ad", 6, 160, true},
    {"in.txt", 7, 100, true},         {"grows.txt", 8, 100, true},
    {"touched", 7, 130, true},        {"new.txt", 1, 140, true},
    {"subdir", 0, 140, false},        {"_condor_stderr", 3, 150, true},
};

static void what_is_new_or_changed_goes_back(void **state)
{
    (void)state;
    struct vec names = {0};
    starter_plan_outputs(BEFORE, sizeof BEFORE / sizeof BEFORE[0], AFTER,
                         sizeof AFTER / sizeof AFTER[0], &names);
    assert_string_equal(join(&names), "grows.txt|touched|new.txt");
}

static const char *account(const char *job_text, const char *domain)
{
    static _Thread_local char name[64];
    struct ad *job = parse(job_text);
    const char *ret = starter_plan_account(job, domain);
    (void)snprintf(name, sizeof name, "%s", ret != NULL ? ret : "(low)");
    ad_destroy(job);
    return name;
}

static void a_job_gets_its_owners_account_only_where_the_domains_agree(void **state)
{
    (void)state;
    assert_string_equal(account("[Owner = \"ann\"; User = \"ann@site\"]", "site"), "ann");
    assert_string_equal(account("[Owner = \"ann\"; User = \"ann@SITE\"]", "site"), "ann");
    assert_string_equal(account("[Owner = \"ann\"; User = \"ann@else\"]", "site"), "(low)");
    assert_string_equal(account("[Owner = \"ann\"; User = \"ann\"]", "site"), "(low)");
    assert_string_equal(account("[Owner = \"ann\"; User = \"ann@x@site\"]", "x"), "(low)");
    assert_string_equal(account("[Owner = \"root\"; User = \"root@site\"]", "site"), "(low)");
    assert_string_equal(account("[User = \"ann@site\"]", "site"), "(low)");
    assert_string_equal(account("[Owner = \"ann\"]", "site"), "(low)");
    assert_string_equal(account("[Owner = \"ann\"; User = \"ann@site\"]", NULL), "(low)");
}

static void an_owner_who_is_not_the_user_does_not_choose_an_account(void **state)
{
    (void)state;
    assert_string_equal(account("[Owner = \"bob\"; User = \"ann@site\"]", "site"), "(low)");
    assert_string_equal(account("[Owner = \"\"; User = \"@site\"]", "site"), "(low)");
}

static void neither_root_nor_its_group_runs_jobs(void **state)
{
    (void)state;
    assert_true(starter_plan_may_run_as(65534, 65534));
    assert_false(starter_plan_may_run_as(0, 65534));
    assert_false(starter_plan_may_run_as(65534, 0));
}

static void a_gap_is_more_than_a_third_of_the_lease_beyond_the_tick(void **state)
{
    (void)state;
    assert_false(starter_plan_is_gap(1000, 1500, 500, 30));
    assert_false(starter_plan_is_gap(1000, 11500, 500, 30));
    assert_true(starter_plan_is_gap(1000, 11501, 500, 30));
}

static enum starter_deferral deferral(const char *text, int64_t *begin_s, int64_t *until_s)
{
    struct ad *job = parse(text);
    enum starter_deferral result = starter_plan_deferral_read(job, 1000, begin_s, until_s);
    ad_destroy(job);
    return result;
}

static void a_job_begins_at_its_time_or_within_its_window(void **state)
{
    (void)state;
    int64_t begin_s = -1, until_s = -1;
    assert_int_equal(deferral("[x = 1]", &begin_s, &until_s), DEFERRAL_NONE);
    assert_int_equal(deferral("[DeferralTime = undefined]", &begin_s, &until_s), DEFERRAL_NONE);
    assert_int_equal(deferral("[DeferralTime = 1200]", &begin_s, &until_s), DEFERRAL_WAITS);
    assert_int_equal(begin_s, 1200);
    assert_int_equal(until_s, 1200);
    assert_int_equal(deferral("[DeferralTime = time() + 5; DeferralWindow = 2.0 * 30]", &begin_s,
                              &until_s),
                     DEFERRAL_WAITS);
    assert_int_equal(begin_s, 1005);
    assert_int_equal(until_s, 1065);
    assert_int_equal(deferral("[DeferralTime = 9; DeferralWindow = 9223372036854775807]", &begin_s,
                              &until_s),
                     DEFERRAL_WAITS);
    assert_true(until_s == INT64_MAX);
}

static void a_deferral_time_that_is_none_is_said(void **state)
{
    (void)state;
    int64_t begin_s = 0, until_s = 0;
    assert_int_equal(deferral("[DeferralTime = \"noon\"]", &begin_s, &until_s), DEFERRAL_INVALID);
    assert_int_equal(deferral("[DeferralTime = -5]", &begin_s, &until_s), DEFERRAL_INVALID);
    assert_int_equal(deferral("[DeferralTime = 1/0]", &begin_s, &until_s), DEFERRAL_INVALID);
}

static int soft_signal(const char *text, const char *kind)
{
    struct ad *job = parse(text);
    int number = starter_plan_soft_signal(job, starter_plan_stop_kind(kind));
    ad_destroy(job);
    return number;
}

static void each_kind_of_end_has_its_signal(void **state)
{
    (void)state;
    static const char ALL[] =
        "[KillSig = \"SIGUSR1\"; RemoveKillSig = \"SIGUSR2\"; HoldKillSig = \"SIGHUP\"]";
    assert_int_equal(soft_signal("[x = 1]", ""), 15);
    assert_int_equal(soft_signal("[x = 1]", "Remove"), 15);
    assert_int_equal(soft_signal(ALL, ""), 10);
    assert_int_equal(soft_signal(ALL, "Vacate"), 10);
    assert_int_equal(soft_signal(ALL, "Remove"), 12);
    assert_int_equal(soft_signal(ALL, "Hold"), 1);
    assert_int_equal(soft_signal("[KillSig = \"SIGINT\"; HoldKillSig = \"SIGNONE\"]", "Hold"), 2);
}

static void a_job_may_shorten_its_grace(void **state)
{
    (void)state;
    struct ad *job = parse("[KillSigTimeout = 5]"), *other = parse("[KillSigTimeout = \"x\"]");
    assert_int_equal(starter_plan_grace_s(job, 30), 5);
    assert_int_equal(starter_plan_grace_s(job, 3), 3);
    assert_int_equal(starter_plan_grace_s(other, 30), 30);
    ad_destroy(job);
    ad_destroy(other);
}

static void a_stale_renewal_changes_nothing(void **state)
{
    (void)state;
    uint64_t sent_ms = 7;
    assert_true(starter_plan_renews(70000, 20, 0, &sent_ms));
    assert_int_equal(sent_ms, 50000);
    assert_false(starter_plan_renews(70000, 20, 50000, &sent_ms)); /* the same again */
    assert_false(starter_plan_renews(69000, 20, 50000, &sent_ms));
    assert_true(starter_plan_renews(71000, 20, 50000, &sent_ms));
    assert_true(starter_plan_renews(65000, 10, 50000, &sent_ms)); /* newer, and shorter */
    assert_int_equal(sent_ms, 55000);
    assert_false(starter_plan_renews(0, 20, 0, &sent_ms));
    assert_false(starter_plan_renews(70000, 0, 0, &sent_ms));
    assert_false(starter_plan_renews(INT64_MAX, INT64_MAX / 2, 0, &sent_ms));
}

static void a_renewal_from_before_a_gap_does_not_end_it(void **state)
{
    (void)state;
    assert_false(starter_plan_ends_gap(50000, 60000));
    assert_true(starter_plan_ends_gap(60001, 60000));
    assert_true(starter_plan_ends_gap(59500, 60000)); /* the startd went on a moment before us */
    assert_true(starter_plan_ends_gap(50000, 0));     /* there was none */
}

static void a_lease_whose_end_was_slept_through_is_late(void **state)
{
    (void)state;
    assert_false(starter_plan_is_late(60000, 60020));
    assert_true(starter_plan_is_late(60000, 61000));
}

UNIT_TESTS(UNIT(a_stale_renewal_changes_nothing), UNIT(a_renewal_from_before_a_gap_does_not_end_it),
           UNIT(a_lease_whose_end_was_slept_through_is_late),
           UNIT(arguments_of_both_syntaxes_follow_the_program),
           UNIT(bad_arguments_are_refused_with_the_name_of_the_attribute),
           UNIT(the_machine_adds_what_a_job_may_rely_on),
           UNIT(a_bad_environment_of_the_site_is_named),
           UNIT(a_job_is_told_which_units_of_a_resource_are_its_own),
           UNIT(the_jobs_own_environment_wins_but_for_names_of_ours),
           UNIT(the_old_syntax_of_the_environment_is_read_too),
           UNIT(an_environment_that_does_not_parse_is_refused),
           UNIT(what_is_new_or_changed_goes_back),
           UNIT(a_job_gets_its_owners_account_only_where_the_domains_agree),
           UNIT(an_owner_who_is_not_the_user_does_not_choose_an_account),
           UNIT(neither_root_nor_its_group_runs_jobs),
           UNIT(a_job_begins_at_its_time_or_within_its_window),
           UNIT(a_deferral_time_that_is_none_is_said), UNIT(each_kind_of_end_has_its_signal),
           UNIT(a_job_may_shorten_its_grace),
           UNIT(a_gap_is_more_than_a_third_of_the_lease_beyond_the_tick))
