/* What `roost q` and `roost history` print.
 *
 * LINK: cli
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/cli/ads.h"

#include "base/check.h"
#include "cli/jobs/jobs_plan.h"

#define NOW 1795166147 /* 11/20/26 09:15:47 UTC */

static const struct ad_context CONTEXT = {.now_s = NOW};

static void add_job(struct vec *ads, int cluster, int proc, int status, const char *more)
{
    char text[600];
    (void)snprintf(text, sizeof text,
                   "[ClusterId = %d; ProcId = %d; JobStatus = %d; Owner = \"user\";"
                   " QDate = 1795166140; JobPrio = 0; JobUniverse = 5; %s]",
                   cluster, proc, status, more);
    ads_add(ads, text);
}

static void expect(const struct jobs_layout *layout, struct vec *ads, const char *text)
{
    struct strbuf out;
    assert_non_null(layout);
    strbuf_init(&out, 0);
    jobs_plan_print(layout, ads_list(ads), ads->count, &CONTEXT, &out);
    vec_fini(ads, ads_destroy_one);
    ads_expect(&out, text);
}

static void a_batch_is_a_line(void **state)
{
    (void)state;
    struct vec ads = {0};
    ads_add(&ads, "[Owner = \"user\"; JobBatchName = \"survey\"; QDate = 1795166140;"
                  " ClusterId = 33; ProcId = 0; LastClusterId = 33; LastProcId = 5;"
                  " IdleJobs = 2; RunningJobs = 4; TotalSubmitProcs = 6]");
    ads_add(&ads, "[Owner = \"user\"; QDate = 1795166140; ClusterId = 34; ProcId = 0;"
                  " LastClusterId = 34; LastProcId = 1; HeldJobs = 2]");
    ads_add(&ads, "[Owner = \"user\"; QDate = 1795166140; ClusterId = 35; ProcId = 0;"
                  " IdleJobs = 1]");
    expect(jobs_layout_find(""), &ads,
           "OWNER    BATCH_NAME    SUBMITTED   DONE   RUN    IDLE   HOLD  TOTAL JOB_IDS\n"
           "user     survey      11/20 09:15      _      4      2      _      6 33.0-5\n"
           "user     ID: 34      11/20 09:15      _      _      _      2      2 34.0-1\n"
           "user     ID: 35      11/20 09:15      _      _      1      _      1 35.0\n");
}

static void a_batch_tells_what_is_done_and_spans_clusters(void **state)
{
    (void)state;
    struct vec ads = {0};
    ads_add(&ads, "[Owner = \"user\"; JobBatchName = \"b\"; QDate = 1795166140; ClusterId = 40;"
                  " ProcId = 1; LastClusterId = 41; LastProcId = 0; IdleJobs = 1;"
                  " RunningJobs = 1; SuspendedJobs = 1; TotalSubmitProcs = 6]");
    expect(jobs_layout_find(""), &ads,
           "OWNER    BATCH_NAME    SUBMITTED   DONE   RUN    IDLE  TOTAL JOB_IDS\n"
           "user     b           11/20 09:15      3      2      1      6 40.1 ... 41.0\n");
}

static void the_hold_column_is_there_where_a_batch_has_held_jobs(void **state)
{
    (void)state;
    struct vec ads = {0};
    ads_add(&ads, "[Owner = \"user\"; QDate = 1795166140; ClusterId = 40; IdleJobs = 1]");
    ads_add(&ads, "[Owner = \"user\"; QDate = 1795166140; ClusterId = 41; HeldJobs = 1]");
    expect(jobs_layout_find(""), &ads,
           "OWNER    BATCH_NAME    SUBMITTED   DONE   RUN    IDLE   HOLD  TOTAL JOB_IDS\n"
           "user     ID: 40      11/20 09:15      _      _      1      _      1 40.0\n"
           "user     ID: 41      11/20 09:15      _      _      _      1      1 41.0\n");
}

static void jobs_that_are_still_to_be_made_are_not_done(void **state)
{
    (void)state;
    struct vec ads = {0};
    ads_add(&ads, "[Owner = \"user\"; QDate = 1795166140; ClusterId = 40; ProcId = 1; IdleJobs = 1;"
                  " LastProcId = 1; TotalSubmitProcs = 10; UnmaterializedJobs = 8]");
    ads_add(&ads, "[Owner = \"user\"; QDate = 1795166140; ClusterId = 41; ProcId = 2;"
                  " TotalSubmitProcs = 4; UnmaterializedJobs = 2; JobMaterializePaused = 1]");
    expect(jobs_layout_find(""), &ads,
           "OWNER    BATCH_NAME    SUBMITTED   DONE   RUN    IDLE  TOTAL JOB_IDS\n"
           "user     ID: 40      11/20 09:15      1      _      1     10 40.1\n"
           "user     ID: 41      11/20 09:15      2      _      _      4 41 (paused)\n");
}

static void names_of_other_alphabets_stand_in_their_columns(void **state)
{
    (void)state;
    struct vec ads = {0};
    ads_add(&ads, "[Owner = \"user\"; QDate = 1795166140; ClusterId = 40; IdleJobs = 1;"
                  " JobBatchName = \"caf\xc3\xa9\"]");
    ads_add(&ads, "[Owner = \"user\"; QDate = 1795166140; ClusterId = 41; IdleJobs = 1;"
                  " JobBatchName = \"\xe8\xa8\x88\xe7\xae\x97\"]");
    expect(
        jobs_layout_find(""), &ads,
        "OWNER    BATCH_NAME    SUBMITTED   DONE   RUN    IDLE  TOTAL JOB_IDS\n"
        "user     caf\xc3\xa9        11/20 09:15      _      _      1      1 40.0\n"
        "user     \xe8\xa8\x88\xe7\xae\x97        11/20 09:15      _      _      1      1 41.0\n");
}

static void lines_are_cut_at_the_edge_of_the_terminal(void **state)
{
    (void)state;
    struct vec ads = {0};
    struct strbuf out;
    ads_add(&ads, "[ClusterId = 33; ProcId = 0; JobStatus = 5; Owner = \"user\";"
                  " EnteredCurrentStatus = 1795166140; HoldReasonCode = 1; HoldReason = \"a long"
                  " one with much to say, more than anybody likes to read\"]");
    strbuf_init(&out, 0);
    jobs_plan_lines(jobs_layout_find("-hold"), ads_list(&ads), 1, 50, &CONTEXT, &out);
    ads_expect(&out, "  33.0   user           11/20 09:15    1     a lon\n");
    vec_fini(&ads, ads_destroy_one);
}

static void files_on_their_way_are_seen_in_the_state(void **state)
{
    (void)state;
    static const struct {
        const char *ad, *text;
    } CASES[] = {{"[JobStatus = 2]", "R"},
                 {"[JobStatus = 2; TransferringInput = true]", "<"},
                 {"[JobStatus = 2; TransferringInput = true; TransferQueued = true]", "<q"},
                 {"[JobStatus = 2; TransferringOutput = true]", ">"},
                 {"[JobStatus = 2; TransferringOutput = true; TransferQueued = true]", "q>"},
                 {"[JobStatus = 6]", ">"},
                 {"[JobStatus = 5; TransferringInput = true]", "H"},
                 {"[JobStatus = 99]", "?"}};
    for (size_t i = 0; i < ARRAY_COUNT(CASES); i++) {
        struct vec ads = {0};
        ads_add(&ads, CASES[i].ad);
        assert_string_equal(jobs_status_text(ads.items[0]), CASES[i].text);
        vec_fini(&ads, ads_destroy_one);
    }
}

static void the_run_time_is_of_all_runs_of_this_one_or_of_processors(void **state)
{
    (void)state;
    struct vec ads = {0};
    struct strbuf out;
    char text[400];
    (void)snprintf(text, sizeof text,
                   "[ClusterId = 1; ProcId = 0; JobStatus = 2; Owner = \"user\"; Cmd = \"/bin/a\";"
                   " RemoteWallClockTime = 100.0; RemoteUserCpu = 7.0; JobCurrentStartDate = %lld]",
                   (long long)CONTEXT.now_s - 30);
    ads_add(&ads, text);
    static const char *const TIMES[] = {"0+00:02:10", "0+00:00:30", "0+00:00:07"};
    for (int time = JOBS_TIME_ALL; time <= JOBS_TIME_CPU; time++) {
        const struct jobs_layout *layout =
            jobs_layout_timed(jobs_layout_find("-nobatch"), (enum jobs_time)time);
        strbuf_init(&out, 0);
        jobs_plan_print(layout, ads_list(&ads), 1, &CONTEXT, &out);
        assert_non_null(strstr(strbuf_text(&out), TIMES[time]));
        assert_non_null(strstr(strbuf_text(&out), time == JOBS_TIME_CPU ? "CPU_TIME" : "RUN_TIME"));
        strbuf_fini(&out);
    }
    assert_ptr_equal(jobs_layout_timed(jobs_layout_find("-idle"), JOBS_TIME_CPU),
                     jobs_layout_find("-idle"));
    vec_fini(&ads, ads_destroy_one);
}

static void transfers_and_goodput_have_layouts(void **state)
{
    (void)state;
    struct vec ads = {0};
    struct strbuf out;
    ads_add(&ads, "[ClusterId = 1; ProcId = 0; JobStatus = 5; Owner = \"user\"; NumJobStarts = 2;"
                  " BytesRecvd = 1048576.0; BytesSent = 2048.0; RemoteWallClockTime = 100.0;"
                  " CommittedTime = 50; RemoteUserCpu = 25.0; QDate = 1795166140]");
    strbuf_init(&out, 0);
    jobs_plan_print(jobs_layout_find("-io"), ads_list(&ads), 1, &CONTEXT, &out);
    ads_expect(&out, " ID      OWNER          RUNS ST     INPUT    OUTPUT        RATE MISC\n"
                     "   1.0   user              2 H     1.0 MB    2.0 KB   10.3 KB/s Vanilla\n");
    strbuf_init(&out, 0);
    jobs_plan_print(jobs_layout_find("-goodput"), ads_list(&ads), 1, &CONTEXT, &out);
    ads_expect(&out, " ID      OWNER            SUBMITTED     RUN_TIME GOODPUT CPU_UTIL   Mb/s\n"
                     "   1.0   user           11/20 09:15   0+00:01:40   50.0%    50.0%   0.08\n");
    vec_fini(&ads, ads_destroy_one);
}

static void checkpoints_are_shown_with_age_size_and_what_they_saved(void **state)
{
    (void)state;
    struct vec ads = {0};
    add_job(&ads, 33, 0, 2,
            "NumCkpts = 12; CkptSequence = 12; LastCkptTime = 1795165922; CkptImageSize ="
            " 5242880; CkptFilesSize = 524288; CommittedTime = 90061; Cmd = \"/x/long\"");
    add_job(&ads, 33, 1, 1, "NumCkpts = 3; CkptSequence = 0; LastCkptTime = 5; Cmd = \"b\"");
    add_job(&ads, 33, 2, 2, "CkptSequence = 1; LastCkptTime = 1795166200; Cmd = \"c\"");
    expect(jobs_layout_find("-ckpt"), &ads,
           " ID      OWNER          CKPTS ST   LAST_CKPT      SIZE   COMMITTED CMD\n"
           "  33.0   user              12 R   0+00:03:45    5.5 MB  1+01:01:01 long\n"
           "  33.1   user               3 I         none         -  0+00:00:00 b\n"
           "  33.2   user               0 R   0+00:00:00     0.0 B  0+00:00:00 c\n");
    assert_string_equal(jobs_layout_constraint(jobs_layout_find("-ck")), "WantCheckpoint =?= true");
    assert_true(jobs_layout_is_bare(jobs_layout_find("-totals")));
    add_job(&ads, 1, 0, 1, "");
    ad_set_int(ads.items[0], "JobUniverse", 1);
    expect(jobs_layout_find("-idle"), &ads,
           " ID      OWNER          UNIVERSE  CPUS MEMORY STARTS LAST_HOST\n"
           "   1.0   user           Standard     1      0      0 undefined\n");
}

/* As they come in a shared answer. */
static void expect_rows(const char *option, const char *const *ads, const char *text)
{
    struct vec list = {0};
    struct strbuf out;
    struct jobs_rows *rows = jobs_rows_create(jobs_layout_find(option), 0, &CONTEXT);
    strbuf_init(&out, 0);
    for (; *ads != NULL; ads++) {
        ads_add(&list, *ads);
    }
    for (size_t i = 0; i < list.count; i++) {
        jobs_rows_add(rows, list.items[i], &out);
    }
    jobs_plan_totals("query", jobs_rows_totals(rows), &out);
    jobs_rows_destroy(rows);
    vec_fini(&list, ads_destroy_one);
    ads_expect(&out, text);
}

#define COMMON "Owner = \"user\"; QDate = 1795166140; JobPrio = 0; Cmd = \"/home/user/work.sh\";"

static void rows_that_share_are_the_lines_of_whole_ads(void **state)
{
    (void)state;
    static const char *const ADS[] = {
        "[ClusterId = 33; " COMMON "]",
        "[ProcId = 0; JobStatus = 2; Args = \"0\"; JobCurrentStartDate = 1795166142]",
        "[ProcId = 1; JobStatus = 1; ProcCount = 2]",
        "[ProcId = 3; JobStatus = 5; Args = \"3\"]",
        "[ProcId = 4; JobStatus = 1; JobPrio = 7]",
        "[ProcId = 5; JobStatus = 2; JobCurrentStartDate = 1795166143]",
        "[ProcId = 6; JobStatus = 1]",
        "[ClusterId = 34; Owner = \"bob\"; QDate = 1795166140; Cmd = \"b\"]",
        "[ProcId = 0; JobStatus = 1]",
        NULL};
    expect_rows("-nobatch", ADS,
                "  33.0   user           11/20 09:15   0+00:00:05 R  0    0.0 work.sh 0\n"
                "  33.1   user           11/20 09:15   0+00:00:00 I  0    0.0 work.sh\n"
                "  33.2   user           11/20 09:15   0+00:00:00 I  0    0.0 work.sh\n"
                "  33.3   user           11/20 09:15   0+00:00:00 H  0    0.0 work.sh 3\n"
                "  33.4   user           11/20 09:15   0+00:00:00 I  7    0.0 work.sh\n"
                "  33.5   user           11/20 09:15   0+00:00:04 R  0    0.0 work.sh\n"
                "  33.6   user           11/20 09:15   0+00:00:00 I  0    0.0 work.sh\n"
                "  34.0   bob            11/20 09:15   0+00:00:00 I  0    0.0 b\n"
                "Total for query: 8 jobs; 0 completed, 0 removed, 5 idle, 2 running, 1 held, 0 "
                "suspended");
}

static void how_far_files_on_their_way_are_stands_before_the_command(void **state)
{
    (void)state;
    static const char *const ADS[] = {
        "[ClusterId = 33; " COMMON "]",
        "[ProcId = 0; JobStatus = 2; TransferringInput = true; TransferDoneBytes = 1610612736;"
        " TransferTotalBytes = 3221225472]",
        "[ProcId = 1; JobStatus = 2; TransferringOutput = true; TransferDoneBytes = 2000;"
        " TransferTotalBytes = 1024]",
        "[ProcId = 2; JobStatus = 2; TransferringInput = true; TransferQueued = true;"
        " TransferDoneBytes = 512; TransferTotalBytes = 1024]",
        "[ProcId = 3; JobStatus = 2; TransferDoneBytes = 512; TransferTotalBytes = 1024]",
        "[ProcId = 4; JobStatus = 2; TransferringInput = true]",
        NULL};
    expect_rows("-nobatch", ADS,
                "  33.0   user           11/20 09:15   0+00:00:00 <  0    0.0 (50% of 3.0 GB) "
                "work.sh\n"
                "  33.1   user           11/20 09:15   0+00:00:00 >  0    0.0 (100% of 1.0 KB) "
                "work.sh\n"
                "  33.2   user           11/20 09:15   0+00:00:00 <q 0    0.0 work.sh\n"
                "  33.3   user           11/20 09:15   0+00:00:00 R  0    0.0 work.sh\n"
                "  33.4   user           11/20 09:15   0+00:00:00 <  0    0.0 work.sh\n"
                "Total for query: 5 jobs; 0 completed, 0 removed, 0 idle, 5 running, 0 held, 0 "
                "suspended");
}

static void what_is_computed_is_computed_for_each_row(void **state)
{
    (void)state;
    static const char *const ADS[] = {
        "[ClusterId = 33; " COMMON " MemoryUsage = (ResidentSetSize + 1023) / 1024]",
        "[ProcId = 0; JobStatus = 1; ResidentSetSize = 2048]",
        "[ProcId = 1; JobStatus = 1; ResidentSetSize = 8192]",
        "[ClusterId = 33; ProcId = 2; JobStatus = 1; Owner = \"user\"; Cmd = \"x\"]", NULL};
    expect_rows("-nobatch", ADS,
                "  33.0   user           11/20 09:15   0+00:00:00 I  0    2.0 work.sh\n"
                "  33.1   user           11/20 09:15   0+00:00:00 I  0    8.0 work.sh\n"
                "  33.2   user           11/20 09:15   0+00:00:00 I  0    0.0 x\n"
                "Total for query: 3 jobs; 0 completed, 0 removed, 3 idle, 0 running, 0 held, 0 "
                "suspended");
}

static void what_a_job_says_cannot_move_the_cursor(void **state)
{
    (void)state;
    struct vec ads = {0};
    add_job(&ads, 1, 0, 1, "Cmd = \"a\\033[2Jb\"; Args = \"x\\ny\\177\"");
    expect(jobs_layout_find("-nobatch"), &ads,
           " ID      OWNER            SUBMITTED     RUN_TIME ST PRI SIZE CMD\n"
           "   1.0   user           11/20 09:15   0+00:00:00 I  0    0.0 a?[2Jb x?y?\n");
}

static void an_empty_queue_has_headings(void **state)
{
    (void)state;
    struct vec ads = {0};
    expect(jobs_layout_find(""), &ads,
           "OWNER BATCH_NAME      SUBMITTED   DONE   RUN    IDLE   HOLD  TOTAL JOB_IDS\n");
}

static void nobatch_is_a_line_for_each_job(void **state)
{
    (void)state;
    struct vec ads = {0};
    add_job(&ads, 33, 0, 2,
            "Cmd = \"/home/user/work.sh\"; Args = \"0\"; JobCurrentStartDate = 1795166142");
    add_job(&ads, 33, 4, 1, "Cmd = \"/home/user/work.sh\"; Args = \"4\"");
    add_job(&ads, 34, 0, 5, "Cmd = \"work.sh\"; Arguments = \"b\"; JobPrio = 7; MemoryUsage = 12");
    add_job(&ads, 36, 0, 6, "Cmd = \"/bin/true\"; RemoteWallClockTime = 90061.0");
    expect(jobs_layout_find("-nobatch"), &ads,
           " ID      OWNER            SUBMITTED     RUN_TIME ST PRI SIZE CMD\n"
           "  33.0   user           11/20 09:15   0+00:00:05 R  0    0.0 work.sh 0\n"
           "  33.4   user           11/20 09:15   0+00:00:00 I  0    0.0 work.sh 4\n"
           "  34.0   user           11/20 09:15   0+00:00:00 H  7   12.0 work.sh b\n"
           "  36.0   user           11/20 09:15   1+01:01:01 >  0    0.0 true\n");
}

static void hold_shows_code_and_reason(void **state)
{
    (void)state;
    struct vec ads = {0};
    add_job(&ads, 34, 0, 5,
            "EnteredCurrentStatus = 1795166140; HoldReasonCode = 15; HoldReasonSubCode = 0;"
            " HoldReason = \"submitted on hold at user's request\"");
    add_job(&ads, 34, 1, 5,
            "EnteredCurrentStatus = 1795166140; HoldReasonCode = 13; HoldReasonSubCode = 2;"
            " HoldReason = \"no such file\"");
    expect(jobs_layout_find("-hold"), &ads,
           " ID      OWNER          HELD_SINCE  CODE/SUB HOLD_REASON\n"
           "  34.0   user           11/20 09:15   15     submitted on hold at user's request\n"
           "  34.1   user           11/20 09:15   13/2   no such file\n");
}

static void idle_shows_what_is_asked_for(void **state)
{
    (void)state;
    struct vec ads = {0};
    add_job(&ads, 33, 4, 1, "RequestCpus = 1; RequestMemory = 50 * 2; NumJobStarts = 0");
    add_job(&ads, 35, 0, 1, "RequestMemory = 999999; LastRemoteHost = \"slot1@wn01\"");
    expect(jobs_layout_find("-idle"), &ads,
           " ID      OWNER          UNIVERSE  CPUS MEMORY STARTS LAST_HOST\n"
           "  33.4   user           Vanilla      1    100      0 undefined\n"
           "  35.0   user           Vanilla      1 999999      0 slot1@wn01\n");
}

static void run_shows_the_slot(void **state)
{
    (void)state;
    struct vec ads = {0};
    add_job(&ads, 33, 0, 2,
            "RemoteHost = \"slot1@node001.example\"; JobCurrentStartDate = 1795166142");
    expect(jobs_layout_find("-run"), &ads,
           " ID      OWNER            SUBMITTED     RUN_TIME HOST(S)\n"
           "  33.0   user           11/20 09:15   0+00:00:05 slot1@node001.example\n");
}

static void history_shows_when_jobs_completed(void **state)
{
    (void)state;
    struct vec ads = {0};
    add_job(&ads, 48, 2, 4,
            "Cmd = \"/x/s2.sh\"; RemoteWallClockTime = 2.0; CompletionDate = 1795166160");
    add_job(&ads, 33, 2, 3, "Cmd = \"work.sh\"; Args = \"2\"; RemoteWallClockTime = 5");
    expect(jobs_layout_history(), &ads,
           " ID          OWNER            SUBMITTED   RUN_TIME   ST   COMPLETED CMD\n"
           "48.2         user           11/20 09:15   0+00:00:02 C  11/20 09:16 s2.sh\n"
           "33.2         user           11/20 09:15   0+00:00:05 X              work.sh 2\n");
}

static void titles_and_totals_read_as_in_htcondor(void **state)
{
    (void)state;
    struct strbuf out;
    struct jobs_totals totals;
    struct vec ads = {0};
    add_job(&ads, 1, 0, 1, "");
    add_job(&ads, 1, 1, 2, "");
    add_job(&ads, 1, 2, 6, "");
    add_job(&ads, 1, 3, 5, "");
    strbuf_init(&out, 0);
    jobs_plan_title("user@node001.example", "192.0.2.10:9618", &CONTEXT, &out);
    jobs_plan_count(ads_list(&ads), ads.count, &totals);
    jobs_plan_totals("query", &totals, &out);
    vec_fini(&ads, ads_destroy_one);
    ads_expect(&out, "\n\n-- Schedd: user@node001.example : <192.0.2.10:9618> @ 11/20/26 09:15:47\n"
                     "Total for query: 4 jobs; 0 completed, 0 removed, 1 idle, 2 running, 1 held, "
                     "0 suspended");
}

static void jobs_whose_machine_is_not_heard_do_not_count_as_running(void **state)
{
    (void)state;
    struct strbuf out;
    struct jobs_totals totals = {0};
    struct vec ads = {0};
    add_job(&ads, 1, 0, 2, "");
    add_job(&ads, 1, 1, 2, "JobDisconnectedDate = 5");
    add_job(&ads, 1, 2, 7, "JobDisconnectedDate = 5");
    add_job(&ads, 1, 3, 7, "");
    add_job(&ads, 1, 4, 1, "JobDisconnectedDate = 5"); /* of an earlier run */
    strbuf_init(&out, 0);
    jobs_plan_count(ads_list(&ads), ads.count, &totals);
    jobs_plan_totals("query", &totals, &out);
    vec_fini(&ads, ads_destroy_one);
    assert_int_equal(jobs_plan_running(&totals), 0);
    ads_expect(&out, "Total for query: 5 jobs; 0 completed, 0 removed, 1 idle, 0 running, 0 held, "
                     "2 suspended, 2 disconnected");
    struct ad *said = ad_create();
    ad_set_int(said, "OwnerRunningJobs", 9);
    ad_set_int(said, "OwnerDisconnectedJobs", 4);
    totals = (struct jobs_totals){0};
    jobs_plan_read_totals(said, "Owner", &totals);
    ad_destroy(said);
    strbuf_init(&out, 0);
    jobs_plan_totals("user", &totals, &out);
    ads_expect(&out, "Total for user: 9 jobs; 0 completed, 0 removed, 0 idle, 5 running, 0 held, "
                     "0 suspended, 4 disconnected");
}

static int32_t two_hours_east(void *arg, int64_t at_s)
{
    (void)arg;
    (void)at_s;
    return 7200;
}

static void dates_are_in_the_local_zone(void **state)
{
    (void)state;
    struct strbuf out;
    const struct ad_context context = {.now_s = NOW, .zone_offset_s = two_hours_east};
    strbuf_init(&out, 0);
    jobs_plan_title("s", "a", &context, &out);
    ads_expect(&out, "\n\n-- Schedd: s : <a> @ 11/20/26 11:15:47\n");
}

static void expect_selected(const char *word, const char *text)
{
    struct strbuf out;
    strbuf_init(&out, 0);
    assert_int_equal(jobs_plan_select(word, &out, NULL), 0);
    ads_expect(&out, text);
}

static void words_name_clusters_jobs_and_owners(void **state)
{
    (void)state;
    expect_selected("12", "ClusterId == 12");
    expect_selected("12.3", "ClusterId == 12 && ProcId == 3");
    expect_selected("alice", "Owner == \"alice\"");
    expect_selected("alice@pool", "User == \"alice@pool\"");
}

static void other_words_are_refused_by_name(void **state)
{
    (void)state;
    static const char *const WORDS[] = {"",    "12.",  "12.x", "1.2.3",
                                        "12x", "a\"b", "a b",  "9999999999999999"};
    for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++) {
        struct strbuf out;
        struct err err;
        strbuf_init(&out, 0);
        assert_int_equal(jobs_plan_select(WORDS[i], &out, &err), -EINVAL);
        assert_non_null(strstr(err.text, WORDS[i]));
        assert_int_equal(out.length, 0);
        strbuf_fini(&out);
    }
}

static void layouts_are_found_by_their_beginning(void **state)
{
    (void)state;
    assert_ptr_equal(jobs_layout_find("-held"), jobs_layout_find("--hold"));
    assert_ptr_equal(jobs_layout_find("-tot"), jobs_layout_find("-totals"));
    assert_false(jobs_layout_totals(jobs_layout_find("-run")));
    assert_true(jobs_layout_totals(jobs_layout_find("-tot")));
    assert_null(jobs_layout_find("-nosuch"));
    assert_null(jobs_layout_find("33"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_is_a_line),
        cmocka_unit_test(the_hold_column_is_there_where_a_batch_has_held_jobs),
        cmocka_unit_test(jobs_that_are_still_to_be_made_are_not_done),
        cmocka_unit_test(names_of_other_alphabets_stand_in_their_columns),
        cmocka_unit_test(lines_are_cut_at_the_edge_of_the_terminal),
        cmocka_unit_test(files_on_their_way_are_seen_in_the_state),
        cmocka_unit_test(the_run_time_is_of_all_runs_of_this_one_or_of_processors),
        cmocka_unit_test(transfers_and_goodput_have_layouts),
        cmocka_unit_test(checkpoints_are_shown_with_age_size_and_what_they_saved),
        cmocka_unit_test(a_batch_tells_what_is_done_and_spans_clusters),
        cmocka_unit_test(rows_that_share_are_the_lines_of_whole_ads),
        cmocka_unit_test(how_far_files_on_their_way_are_stands_before_the_command),
        cmocka_unit_test(what_is_computed_is_computed_for_each_row),
        cmocka_unit_test(what_a_job_says_cannot_move_the_cursor),
        cmocka_unit_test(an_empty_queue_has_headings),
        cmocka_unit_test(nobatch_is_a_line_for_each_job),
        cmocka_unit_test(hold_shows_code_and_reason),
        cmocka_unit_test(idle_shows_what_is_asked_for),
        cmocka_unit_test(run_shows_the_slot),
        cmocka_unit_test(history_shows_when_jobs_completed),
        cmocka_unit_test(titles_and_totals_read_as_in_htcondor),
        cmocka_unit_test(jobs_whose_machine_is_not_heard_do_not_count_as_running),
        cmocka_unit_test(dates_are_in_the_local_zone),
        cmocka_unit_test(words_name_clusters_jobs_and_owners),
        cmocka_unit_test(other_words_are_refused_by_name),
        cmocka_unit_test(layouts_are_found_by_their_beginning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
