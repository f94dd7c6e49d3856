/* What `roost factory` prints.
 *
 * LINK: cli
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/cli/ads.h"

#include "cli/factory_plan.h"

static const struct ad_context CONTEXT = {.now_s = 1000000};
static const struct terminal WIDE = {0};

#define CAMPUS                                                                                   \
    "[Name = \"campus@factory\"; Site = \"campus\"; Factory = \"factory\"; State = "             \
    "\"LeftAlone\"; "                                                                            \
    "Why = \"left alone for 8 s more\"; Wanted = 3; Coming = 1; Queued = 1; Held = 0; "          \
    "Running = 2; Idle = 0; Total = 3; Submitted = 9; EndedUnused = 1; Samples = 2; "            \
    "Delinquent = true; LogOf = \"f-9\"; LogEnd = \"no disk\"; Ghosts = 1; Trouble = \"sbatch: " \
    "no\\tsuch account\"; TroubleTime = 999940]"
#define QUIET                                                                                   \
    "[Name = \"quiet@factory\"; Site = \"quiet\"; Factory = \"factory\"; State = \"Serving\"; " \
    "Why = \"\"; Wanted = 0; Coming = 0; Queued = 0; Held = 0; Running = 0; Idle = 0; "         \
    "Total = 0; Submitted = 0; EndedUnused = 0; Samples = 0; Trouble = \"\"; TroubleTime = 0]"
#define OTHER                                                                                      \
    "[Name = \"campus@north\"; Site = \"campus\"; Factory = \"north\"; State = \"Paused\"; "       \
    "Why = \"\"; Wanted = 0; Coming = 0; Queued = 0; Held = 0; Running = 0; Idle = 0; Total = 5; " \
    "Samples = 1; Trouble = \"\"]"
#define SAMPLE                                                                             \
    "[Name = \"factory-campus-offline-1\"; Offline = true; PreviousName = \"slot1@f-1\"; " \
    "GLIDEIN_Site = \"campus\"; GLIDEIN_Factory = \"factory\"; OfflineMultiplicity = 4; "  \
    "Cpus = 8; Memory = 16000; Disk = 1000; OfflineSince = 999000; OfflineMatches = { "    \
    "[Schedd = \"s\"; AutoCluster = 3; Count = 5; Until = 1000100], "                      \
    "[Schedd = \"s\"; AutoCluster = 4; Count = 7; Until = 999999] }]"
#define EXAMPLE                                                                           \
    "[Name = \"factory-campus-example\"; Offline = true; PreviousName = \"example\"; "    \
    "GLIDEIN_Site = \"campus\"; GLIDEIN_Factory = \"factory\"; OfflineMultiplicity = 1; " \
    "Cpus = 1; Memory = 1024; Disk = 2000]"

typedef void (*put_f)(const struct ad *const *ads, size_t count, const struct terminal *terminal,
                      const struct ad_context *context, struct strbuf *out);

static void expect_table(put_f put, const char *const *ads, size_t count, const char *text)
{
    struct vec list = {0};
    struct strbuf out;
    strbuf_init(&out, 0);
    for (size_t i = 0; i < count; i++) {
        ads_add(&list, ads[i]);
    }
    put(ads_list(&list), list.count, &WIDE, &CONTEXT, &out);
    vec_fini(&list, ads_destroy_one);
    ads_expect(&out, text);
}

static void put_factories(const struct ad *const *ads, size_t count,
                          const struct terminal *terminal, const struct ad_context *context,
                          struct strbuf *out)
{
    (void)terminal;
    factory_plan_factories(ads, count, context, out);
}

static void put_troubles(const struct ad *const *ads, size_t count, const struct terminal *terminal,
                         const struct ad_context *context, struct strbuf *out)
{
    (void)terminal;
    factory_plan_troubles(ads, count, context, out);
}

static void a_factory_is_one_line_with_what_is_wrong(void **state)
{
    (void)state;
    const char *const ads[] = {
        "[Name = \"factory\"; Sites = 2; Glideins = 1; DaemonStartTime = 999940]",
        "[Name = \"north\"; Sites = 1; Glideins = 0; DaemonStartTime = 999999; "
        "StoreProblem = \"the disk\\nis full\"]",
        "[Name = \"south\"; Sites = 1; Glideins = 3; DaemonStartTime = 999000; "
        "NotRespondingSince = 999990]"};
    expect_table(put_factories, ads, 3,
                 "Factory factory: 2 sites, 1 glidein, running for 0+00:01:00\n"
                 "Factory north: 1 site, 0 glideins, running for 0+00:00:01; the disk?is full\n"
                 "Factory south: 1 site, 3 glideins, running for 0+00:16:40; it has not responded "
                 "for 0+00:00:10, so what is shown of its sites may be old\n");
    expect_table(put_factories, ads, 0, "");
}

static void sites_have_the_names_that_tell_them_apart(void **state)
{
    (void)state;
    const char *const one[] = {CAMPUS, QUIET}, *const two[] = {CAMPUS, OTHER};
    expect_table(
        factory_plan_sites, one, 2,
        "Site             State     Wanted Coming Queued Held Running Idle Total Samples\n"
        "\n"
        "campus           LeftAlone      3      1      1    0       2    0     3       2\n"
        "quiet            Serving        0      0      0    0       0    0     0       0\n");
    expect_table(
        factory_plan_sites, two, 2,
        "Site             State     Wanted Coming Queued Held Running Idle Total Samples\n"
        "\n"
        "campus@factory   LeftAlone      3      1      1    0       2    0     3       2\n"
        "campus@north     Paused         0      0      0    0       0    0     5       1\n");
    expect_table(factory_plan_sites, one, 0, "");
}

static void only_sites_with_something_to_say_are_explained(void **state)
{
    (void)state;
    const char *const ads[] = {QUIET, CAMPUS,
                               "[Site = \"late\"; Factory = \"factory\"; Why = \"max_total is "
                               "reached\"; Trouble = \"\"; TroubleTime = 0]",
                               "[Site = \"poor\"; Factory = \"factory\"; Why = \"\"; "
                               "Trouble = \"a quota\"; TroubleTime = 999999]",
                               "[Site = \"odd\"; Factory = \"factory\"; Trouble = \"no time\"]"};
    expect_table(put_troubles, ads, 5,
                 "\n"
                 "campus: left alone for 8 s more\n"
                 "    last trouble, 0+00:01:00 ago: sbatch: no?such account\n"
                 "late: max_total is reached\n"
                 "poor:\n"
                 "    last trouble, 0+00:00:01 ago: a quota\n"
                 "odd:\n"
                 "    last trouble: no time\n");
    expect_table(put_troubles, ads, 1, "");
}

static void glideins_show_their_age_and_reason(void **state)
{
    (void)state;
    const char *const ads[] = {
        "[Name = \"factory-campus-1a.1\"; Site = \"campus\"; State = \"Held\"; SiteId = \"77_1\"; "
        "SubmitTime = 996400; Claims = 0; Reason = \"BadConstraints\"]"};
    expect_table(factory_plan_glideins, ads, 1,
                 "Name                 Site     State    SiteId           Age Claims Reason\n"
                 "\n"
                 "factory-campus-1a.1  campus   Held     77_1      0+01:00:00      0 "
                 "BadConstraints\n");
    expect_table(factory_plan_glideins, ads, 0, "");
}

struct scene {
    struct vec sites, samples;
};

static void begin(struct scene *scene, const char *site)
{
    *scene = (struct scene){0};
    ads_add(&scene->sites, site);
}

static void expect_why(struct scene *scene, const char *text)
{
    struct strbuf out;
    strbuf_init(&out, 0);
    factory_plan_why(scene->sites.items[0], ads_list(&scene->samples), scene->samples.count,
                     &CONTEXT, &out);
    vec_fini(&scene->sites, ads_destroy_one);
    vec_fini(&scene->samples, ads_destroy_one);
    ads_expect(&out, text);
}

static void a_site_is_explained_in_sentences(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene, CAMPUS);
    ads_add(&scene.samples, SAMPLE);
    ads_add(&scene.samples, EXAMPLE);
    expect_why(
        &scene,
        "Site campus of factory factory is left alone for a while, because it failed or refused.\n"
        "  5 jobs wait for it, which makes 3 wanted glideins; 1 is on the way.\n"
        "  No more are asked for: left alone for 8 s more.\n"
        "  Its last trouble, 0+00:01:00 ago: sbatch: no?such account.\n"
        "  The log of glidein f-9 ends with: no disk\n"
        "  It has 3 glideins: 1 queued, 0 held, 2 running (0 idle).\n"
        "  9 glideins were submitted since the factory started; 1 ended before joining the "
        "pool.\n"
        "  Site, journal and pool disagree about 0 orphans, 0 zombies and 1 ghost; `roost factory "
        "reconcile` names them.\n"
        "  Its samples, with which jobs are matched (fewer than the site should have):\n"
        "    factory-campus-offline-1 stands for 4 glideins with 8 CPUs, 16000 MiB of memory and "
        "1000 KiB of disk; slot1@f-1 was like it 0+00:16:40 ago; 5 jobs wait for it.\n"
        "    factory-campus-example stands for 1 glidein with 1 CPU, 1024 MiB of memory and 2000 "
        "KiB of disk; the configuration describes it; 0 jobs wait for it.\n");
}

static void a_site_without_samples_says_what_that_means(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene, QUIET);
    expect_why(&scene,
               "Site quiet of factory factory works.\n"
               "  0 jobs wait for it, which makes 0 wanted glideins; 0 are on the way.\n"
               "  Nothing has gone wrong there since the factory started.\n"
               "  It has 0 glideins: 0 queued, 0 held, 0 running (0 idle).\n"
               "  0 glideins were submitted since the factory started; 0 ended before joining "
               "the pool.\n"
               "  It has no samples, so no job can wait for it; set `example` or `learn` in its "
               "section.\n");
    begin(&scene, "[Site = \"s\"; Factory = \"f\"; State = \"Odd\"; Samples = 1; Wanted = 1]");
    expect_why(&scene,
               "Site s of factory f Odd.\n"
               "  0 jobs wait for it, which makes 1 wanted glidein; 0 are on the way.\n"
               "  Nothing has gone wrong there since the factory started.\n"
               "  It has 0 glideins: 0 queued, 0 held, 0 running (0 idle).\n"
               "  0 glideins were submitted since the factory started; 0 ended before joining "
               "the pool.\n"
               "  It has 1 sample, which cannot be matched while it could start no glidein.\n");
}

static void the_answer_as_an_ad_has_the_site_and_its_samples(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene, CAMPUS);
    ads_add(&scene.samples, SAMPLE);
    ads_add(&scene.samples, EXAMPLE);
    struct ad *ad =
        factory_plan_why_ad(scene.sites.items[0], ads_list(&scene.samples), 2, &CONTEXT);
    assert_string_equal(ad_string_or(ad, "Site", ""), "campus");
    assert_int_equal(ad_int_or(ad, "JobsWaiting", -1), 5);
    assert_int_equal(ad_int_or(ad, "SampleMultiplicity", -1), 5);
    assert_true(ad_has(ad, "SampleNames"));
    assert_non_null(strstr(ad_string_or(ad, "Text", ""), "5 jobs wait for it"));
    ad_destroy(ad);
    vec_fini(&scene.sites, ads_destroy_one);
    vec_fini(&scene.samples, ads_destroy_one);
}

static void samples_and_names_are_of_one_factory(void **state)
{
    (void)state;
    struct vec ads = {0};
    ads_add(&ads, CAMPUS);
    ads_add(&ads, OTHER);
    ads_add(&ads, SAMPLE);
    ads_add(&ads, "[Offline = true; GLIDEIN_Site = \"campus\"; GLIDEIN_Factory = \"factory\"]");
    ads_add(&ads, "[Offline = true; PreviousName = \"x\"; GLIDEIN_Site = \"quiet\"; "
                  "GLIDEIN_Factory = \"factory\"]");
    assert_true(factory_plan_is_called(ads.items[0], "campus"));
    assert_true(factory_plan_is_called(ads.items[0], "campus@factory"));
    assert_false(factory_plan_is_called(ads.items[1], "campus@factory"));
    assert_true(factory_plan_is_sample_of(ads.items[0], ads.items[2]));
    assert_false(factory_plan_is_sample_of(ads.items[1], ads.items[2]));
    assert_false(factory_plan_is_sample_of(ads.items[0], ads.items[3]));
    assert_false(factory_plan_is_sample_of(ads.items[0], ads.items[4]));
    vec_fini(&ads, ads_destroy_one);
}

static void an_answer_names_what_differs(void **state)
{
    (void)state;
    struct vec ads = {0};
    struct strbuf out;
    strbuf_init(&out, 0);
    ads_add(&ads, "[Site = \"campus\"; Text = \"1 agrees\"; OrphanNames = {\"f-1\"}; ZombieNames = "
                  "{}; GhostNames = {\"f\\t2\"}]");
    factory_plan_answer(ads.items[0], &out);
    ads_expect(&out, "campus: 1 agrees\n"
                     "  orphan: f-1\n"
                     "  ghost: f?2\n");
    vec_fini(&ads, ads_destroy_one);
}

static void a_log_cannot_control_the_terminal(void **state)
{
    (void)state;
    struct strbuf out;
    strbuf_init(&out, 0);
    strbuf_puts(&out, "one\n\x1b[31mred\a\n\nlast");
    factory_plan_clean_lines(&out);
    ads_expect(&out, "one\n?[31mred?\n\nlast");
}

static void a_test_is_told_step_by_step(void **state)
{
    (void)state;
    struct vec ads = {0};
    struct strbuf out;
    strbuf_init(&out, 0);
    ads_add(&ads, "[Step = 5; Text = \"joined the pool\"; Seconds = 12.345]");
    ads_add(&ads, "[Site = \"campus\"; Glidein = \"f-1\"; Text = \"the test has failed\"]");
    factory_plan_step(ads.items[0], &out);
    factory_plan_test(ads.items[1], "no\x1b disk", &out);
    factory_plan_test(ads.items[1], "", &out);
    ads_expect(&out, "   12.35 s  joined the pool\n"
                     "campus: the test has failed\n"
                     "The log of glidein f-1 ends with:\n"
                     "no? disk\n"
                     "campus: the test has failed\n");
    vec_fini(&ads, ads_destroy_one);
}

UNIT_TESTS(UNIT(a_factory_is_one_line_with_what_is_wrong),
           UNIT(sites_have_the_names_that_tell_them_apart),
           UNIT(only_sites_with_something_to_say_are_explained),
           UNIT(glideins_show_their_age_and_reason), UNIT(a_site_is_explained_in_sentences),
           UNIT(a_site_without_samples_says_what_that_means),
           UNIT(the_answer_as_an_ad_has_the_site_and_its_samples),
           UNIT(samples_and_names_are_of_one_factory), UNIT(an_answer_names_what_differs),
           UNIT(a_log_cannot_control_the_terminal), UNIT(a_test_is_told_step_by_step))
