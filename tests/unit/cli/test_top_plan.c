/* Frames of `roost top`, lines of `roost who`.
 *
 * LINK: cli
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/cli/ads.h"

#include "cli/terminal_plan.h"
#include "cli/top_plan.h"
#include "cli/who_plan.h"

static const struct ad_context CONTEXT = {.now_s = 1795166147}; /* 11/20/26 09:15:47 UTC */

static void add_pool(struct vec *slots, struct vec *batches, struct vec *jobs)
{
    ads_add(slots, "[Name = \"slot1@wn1\"; State = \"Claimed\"; Activity = \"Busy\"]");
    ads_add(slots, "[Name = \"slot2@wn1\"; State = \"Unclaimed\"; Activity = \"Idle\"]");
    ads_add(slots, "[Name = \"slot1@wn2\"; State = \"Unclaimed\"; Offline = true]");
    ads_add(slots, "[Name = \"slot2@wn2\"; State = \"Unclaimed\"; Offline = true;"
                   " PowerState = \"Waking\"]");
    ads_add(batches, "[Owner = \"user\"; QDate = 1795166140; ClusterId = 40; RunningJobs = 2;"
                     " LastProcId = 1]");
    ads_add(jobs, "[ClusterId = 40; ProcId = 0; Owner = \"user\"; JobStatus = 2;"
                  " JobCurrentStartDate = 1795166087; RemoteHost = \"slot1@wn1\"; CpusUsage = 0.5;"
                  " MemoryUsage = 12; Cmd = \"/bin/work.sh\"; Args = \"a rather long argument\"]");
    ads_add(jobs, "[ClusterId = 40; ProcId = 1; Owner = \"user\"; JobStatus = 2;"
                  " JobCurrentStartDate = 1795166127; TransferringInput = true;"
                  " TransferDoneBytes = 3000; TransferTotalBytes = 4096;"
                  " RemoteHost = \"slot1@wn1\"; Cmd = \"/bin/work.sh\"]");
}

static void frame_is(const struct terminal *terminal, const char *trouble, const char *expected)
{
    struct vec slots = {0}, batches = {0}, jobs = {0};
    struct strbuf out;
    add_pool(&slots, &batches, &jobs);
    const struct top_facts facts = {.pool = "here",
                                    .slots = ads_list(&slots),
                                    .slot_count = slots.count,
                                    .batches = ads_list(&batches),
                                    .batch_count = batches.count,
                                    .jobs = ads_list(&jobs),
                                    .job_count = jobs.count,
                                    .totals = {.running = 2, .idle = 3, .held = 1},
                                    .trouble = trouble};
    strbuf_init(&out, 0);
    top_plan_frame(&facts, terminal, &CONTEXT, &out);
    vec_fini(&slots, ads_destroy_one);
    vec_fini(&batches, ads_destroy_one);
    vec_fini(&jobs, ads_destroy_one);
    ads_expect(&out, expected);
}

#define HEAD                                                  \
    "roost top - 09:15:47, pool here\n"                       \
    "Slots: 4 total, 1 claimed, 1 free, 1 asleep, 1 waking\n" \
    "Jobs: 6 total, 2 running, 3 idle, 1 held\n"

static void a_frame_shows_machines_batches_and_running_jobs(void **state)
{
    (void)state;
    const struct terminal plain = {0};
    frame_is(&plain, NULL,
             HEAD "\n"
                  "OWNER    BATCH_NAME    SUBMITTED   DONE   RUN    IDLE  TOTAL JOB_IDS\n"
                  "user     ID: 40      11/20 09:15      _      2      _      2 40.0-1\n"
                  "\n"
                  " ID      OWNER          ST  RUN_TIME    CPU%   MEM_MB HOST             CMD\n"
                  "  40.1   user           <   0+00:00:20    0.0      0.0 slot1@wn1        "
                  "(73% of 4.0 KB) work.sh\n"
                  "  40.0   user           R   0+00:01:00   50.0     12.0 slot1@wn1        work.sh"
                  " a rather long argument\n");
}

static void a_frame_fits_the_screen(void **state)
{
    (void)state;
    const struct terminal small = {.columns = 40, .rows = 8};
    frame_is(&small, NULL,
             "roost top - 09:15:47, pool here\n"
             "Slots: 4 total, 1 claimed, 1 free, 1 asl\n"
             "Jobs: 6 total, 2 running, 3 idle, 1 held\n"
             "\n"
             "OWNER    BATCH_NAME    SUBMITTED   DONE \n"
             "user     ID: 40      11/20 09:15      _ \n"
             "\n"
             " ID      OWNER          ST  RUN_TIME    \n");
}

static void colours_do_not_count_as_columns(void **state)
{
    (void)state;
    const struct terminal colour = {.colour = true, .columns = 50, .rows = 20};
    frame_is(&colour, "cannot reach the collector",
             "roost top - 09:15:47, pool here\n"
             "Slots: 4 total, 1 claimed, 1 free, 1 asleep, 1 wak\n"
             "Jobs: 6 total, 2 running, 3 idle, 1 held\n"
             "cannot reach the collector\n"
             "\n"
             "OWNER    BATCH_NAME    SUBMITTED   DONE   RUN    I\n"
             "user     ID: 40      11/20 09:15      _      2    \n"
             "\n"
             "\x1b[1m ID      OWNER          ST  RUN_TIME    CPU%   MEM\x1b[0m\n"
             "  40.1   user           \x1b[36m<\x1b[0m   0+00:00:20    0.0     \n"
             "  40.0   user           \x1b[32mR\x1b[0m   0+00:01:00   50.0     \n");
}

static void daemons_are_a_line_each(void **state)
{
    (void)state;
    const struct top_daemon daemons[] = {
        {"", "schedd", 123, 10240, 3, 1.25, 60},
        {"wn01", "starter.slot1", 4567, 2048, 1, 0, 3600},
    };
    const struct terminal plain = {0};
    struct strbuf out;
    strbuf_init(&out, 0);
    top_plan_daemons(daemons, 2, &plain, &CONTEXT, &out);
    ads_expect(
        &out, "roost top - 09:15:47, daemons of this host\n"
              "\n"
              "NODE           DAEMON                   PID   CPU%   MEM_MB THREADS       UPTIME\n"
              "-              schedd                   123    1.2     10.0       3   0+00:01:00\n"
              "wn01           starter.slot1           4567    0.0      2.0       1   0+01:00:00\n");
}

static void who_shows_condor_whos_columns(void **state)
{
    (void)state;
    struct vec records = {0}, jobs = {0};
    struct strbuf out;
    const struct terminal narrow = {.columns = 74};
    ads_add(&records,
            "[SlotName = \"slot2@wn1\"; JobId = \"320.0\"; Job = [User = \"smith@ex\"; Owner ="
            " \"smith\"; Cmd = \"/bin/work\"; Args = \"1 2 3\"; ShadowBday = 1795166139];"
            " Slot = [ClientMachine = \"submit\"]]");
    ads_add(&records, "[Name = \"slot1@wn1\"; JobId = \"7.1\"; RemoteOwner = \"ann@ex\";"
                      " ClientMachine = \"other\"; JobStart = 1795166087; State = \"Claimed\"]");
    struct ad *first = who_plan_record(records.items[0]);
    ad_set_int(first, "JobPid", 7776);
    vec_push(&jobs, first);
    vec_push(&jobs, who_plan_slot(records.items[1]));
    strbuf_init(&out, 0);
    who_plan_print(ads_list(&jobs), jobs.count, &CONTEXT, &narrow, &out);
    vec_fini(&records, ads_destroy_one);
    vec_fini(&jobs, ads_destroy_one);
    ads_expect(&out, "OWNER    CLIENT      SLOT JOB   RUNTIME    PID    PROGRAM\n"
                     "smith@ex submit slot2@wn1 320.0 0+00:00:08 7776   /bin/work 1 2 3\n"
                     "ann@ex   other  slot1@wn1 7.1   0+00:01:00        \n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frame_shows_machines_batches_and_running_jobs),
        cmocka_unit_test(a_frame_fits_the_screen),
        cmocka_unit_test(colours_do_not_count_as_columns),
        cmocka_unit_test(daemons_are_a_line_each),
        cmocka_unit_test(who_shows_condor_whos_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
