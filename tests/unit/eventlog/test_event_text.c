/* The layouts are HTCondor's own, as in tests/conformance/eventlog.
 *
 * LINK: eventlog
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/check.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "eventlog/event_text.h"

#define WHEN_MS INT64_C(1795165730455) /* 2026-11-20 09:08:50.455 UTC */

static void check_as(const char *json, const struct event_format *format, int32_t zone_s,
                     const char *expected)
{
    struct ad *event = NULL;
    struct err err = {{0}};
    if (ad_parse_json(json, strlen(json), NULL, &event, NULL, &err) != 0) {
        fail_msg("%s", err.text);
    }
    struct strbuf out;
    strbuf_init(&out, 0);
    event_print(event, WHEN_MS, zone_s, format, &out);
    assert_string_equal(strbuf_text(&out), expected);
    strbuf_fini(&out);
    ad_destroy(event);
}

static void check(const char *json, const char *expected)
{
    static const struct event_format DEFAULT = {0};
    check_as(json, &DEFAULT, 0, expected);
}

#define JOB "\"Cluster\":8,\"Proc\":0,\"Subproc\":0,"
#define RUN                                                                    \
    "\"RunRemoteUsage\":\"Usr 0 00:00:01, Sys 0 00:00:00\","                   \
    "\"RunLocalUsage\":\"Usr 0 00:00:00, Sys 0 00:00:00\",\"SentBytes\":11.0," \
    "\"ReceivedBytes\":48.0,"
#define TABLE                                                                               \
    "\"PartitionableResources\":\"Cpus Disk GPUs Memory TimeExecute TimeSlotBusy\","        \
    "\"Cpus\":1,\"RequestCpus\":1,\"Disk\":19681792,\"RequestDisk\":1000,\"DiskUsage\":45," \
    "\"GPUs\":0,\"Memory\":1024,\"RequestMemory\":100,\"MemoryUsage\":6,"                   \
    "\"TimeExecuteUsage\":0,\"TimeSlotBusyUsage\":0"
#define TABLE_TEXT                                               \
    "\tPartitionable Resources :    Usage  Request Allocated \n" \
    "\t   Cpus                 :                 1         1 \n" \
    "\t   Disk (KB)            :       45     1000  19681792 \n" \
    "\t   GPUs                 :                           0 \n" \
    "\t   Memory (MB)          :        6      100      1024 \n" \
    "\t   TimeExecute (s)      :        0                    \n" \
    "\t   TimeSlotBusy (s)     :        0                    \n"
#define RUN_TEXT                                                \
    "\t\tUsr 0 00:00:01, Sys 0 00:00:00  -  Run Remote Usage\n" \
    "\t\tUsr 0 00:00:00, Sys 0 00:00:00  -  Run Local Usage\n"
#define HEAD(number) number " (008.000.000) 2026-11-20 09:08:50 "

static void a_submit_event_names_the_host(void **state)
{
    (void)state;
    check("{\"EventTypeNumber\":0," JOB "\"SubmitHost\":\"<192.0.2.10:9618>\"}",
          HEAD("000") "Job submitted from host: <192.0.2.10:9618>\n...\n");
}

static void notes_of_a_submission_follow_with_an_indent(void **state)
{
    (void)state;
    check("{\"EventTypeNumber\":0," JOB
          "\"SubmitHost\":\"<h>\",\"LogNotes\":\"DAG Node: A\",\"UserNotes\":\"mine\"}",
          HEAD("000") "Job submitted from host: <h>\n    DAG Node: A\n    mine\n...\n");
}

static void an_execute_event_lists_the_slot_in_order_of_names(void **state)
{
    (void)state;
    check("{\"EventTypeNumber\":1," JOB
          "\"ExecuteHost\":\"<h>\",\"SlotName\":\"slot3@node001.example\",\"ExecuteProps\":{"
          "\"Memory\":1024,\"Cpus\":1,\"GPUs\":0,\"Disk\":19681792,"
          "\"CondorScratchDir\":\"/scratch/execute/dir_3207/scratch\"}}",
          HEAD("001") "Job executing on host: <h>\n\tSlotName: slot3@node001.example\n"
                      "\tCondorScratchDir = \"/scratch/execute/dir_3207/scratch\"\n\tCpus = 1\n"
                      "\tDisk = 19681792\n\tGPUs = 0\n\tMemory = 1024\n...\n");
}

static void an_eviction_tells_code_use_and_resources(void **state)
{
    (void)state;
    check("{\"EventTypeNumber\":4," JOB RUN "\"Reason\":\"Job vacated by schedd\","
          "\"ReasonCode\":1022," TABLE "}",
          HEAD("004") "Job was evicted. Code 1022 Subcode 0\n\t(0) CPU times\n" RUN_TEXT
                      "\t11  -  Run Bytes Sent By Job\n\t48  -  Run Bytes Received By Job\n"
                      "\tReason: Job vacated by schedd\n" TABLE_TEXT "...\n");
}

static void a_checkpoint_tells_its_use_and_size(void **state)
{
    (void)state;
    check("{\"EventTypeNumber\":3," JOB RUN "\"TargetType\":\"x\"}",
          HEAD("003") "Job was checkpointed.\n" RUN_TEXT
                      "\t11  -  Run Bytes Sent By Job For Checkpoint\n...\n");
    check(
        "{\"EventTypeNumber\":4," JOB RUN "\"Checkpointed\":true," TABLE "}",
        HEAD(
            "004") "Job was evicted.\n\t(1) Job was checkpointed.\n" RUN_TEXT
                   "\t11  -  Run Bytes Sent By Job\n\t48  -  Run Bytes Received By Job\n" TABLE_TEXT
                   "...\n");
}

static void a_job_that_tries_again_was_evicted_with_its_exit(void **state)
{
    (void)state;
    check("{\"EventTypeNumber\":4," JOB RUN
          "\"TerminatedAndRequeued\":true,\"TerminatedNormally\":true,\"ReturnValue\":3,"
          "\"Reason\":\"because\"," TABLE "}",
          HEAD("004") "Job was evicted.\n\t(0) Job terminated and was requeued\n" RUN_TEXT
                      "\t11  -  Run Bytes Sent By Job\n\t48  -  Run Bytes Received By Job\n"
                      "\t(1) Normal termination (return value 3)\n\tbecause\n...\n");
}

#define TOTALS                                                 \
    "\"TotalRemoteUsage\":\"Usr 1 02:03:04, Sys 0 00:00:00\"," \
    "\"TotalSentBytes\":22.0,\"TotalReceivedBytes\":96.0,"
#define TERMINATED_TEXT                                                                            \
    RUN_TEXT "\t\tUsr 1 02:03:04, Sys 0 00:00:00  -  Total Remote Usage\n"                         \
             "\t\tUsr 0 00:00:00, Sys 0 00:00:00  -  Total Local Usage\n"                          \
             "\t11  -  Run Bytes Sent By Job\n\t48  -  Run Bytes Received By Job\n"                \
             "\t22  -  Total Bytes Sent By Job\n\t96  -  Total Bytes Received By Job\n" TABLE_TEXT \
             "...\n"

static void an_exit_is_told_with_its_value(void **state)
{
    (void)state;
    check(
        "{\"EventTypeNumber\":5," JOB RUN TOTALS
        "\"TerminatedNormally\":true,\"ReturnValue\":3," TABLE "}",
        HEAD("005") "Job terminated.\n\t(1) Normal termination (return value 3)\n" TERMINATED_TEXT);
}

static void an_end_by_a_signal_is_told_with_its_core(void **state)
{
    (void)state;
    check("{\"EventTypeNumber\":5," JOB RUN TOTALS
          "\"TerminatedNormally\":false,\"TerminatedBySignal\":11," TABLE "}",
          HEAD("005") "Job terminated.\n\t(0) Abnormal termination (signal 11)\n"
                      "\t(0) No core file\n" TERMINATED_TEXT);
    check("{\"EventTypeNumber\":5," JOB RUN TOTALS "\"TerminatedNormally\":false,"
          "\"CoreFile\":\"/home/user/core.8.0\",\"TerminatedBySignal\":11," TABLE "}",
          HEAD("005") "Job terminated.\n\t(0) Abnormal termination (signal 11)\n"
                      "\t(1) Corefile in: /home/user/core.8.0\n" TERMINATED_TEXT);
}

static void columns_of_resources_grow_with_what_is_in_them(void **state)
{
    (void)state;
    check("{\"EventTypeNumber\":4," JOB
          "\"PartitionableResources\":\"Cpus AVeryLongNameOfAResource\",\"Cpus\":1,"
          "\"CpusUsage\":0.256,\"AVeryLongNameOfAResource\":12345678901,\"RequestCpus\":1,"
          "\"AssignedCpus\":\"7\"}",
          HEAD("004") "Job was evicted.\n\t(0) CPU times\n"
                      "\t\tUsr 0 00:00:00, Sys 0 00:00:00  -  Run Remote Usage\n"
                      "\t\tUsr 0 00:00:00, Sys 0 00:00:00  -  Run Local Usage\n"
                      "\t0  -  Run Bytes Sent By Job\n\t0  -  Run Bytes Received By Job\n"
                      "\tPartitionable Resources     :    Usage  Request   Allocated Assigned\n"
                      "\t   AVeryLongNameOfAResource :                   12345678901 \n"
                      "\t   Cpus                     :     0.26        1           1 \"7\"\n...\n");
}

static void the_small_events_are_told_as_htcondor_does(void **state)
{
    (void)state;
    static const struct {
        const char *json, *text;
    } CASES[] = {
        {"\"EventTypeNumber\":2,\"ExecuteErrorType\":0", "002|(0) Job file not executable.\n"},
        {"\"EventTypeNumber\":6,\"Size\":45,\"MemoryUsage\":6,\"ResidentSetSize\":5808",
         "006|Image size of job updated: 45\n\t6  -  MemoryUsage of job (MB)\n"
         "\t5808  -  ResidentSetSize of job (KB)\n"},
        {"\"EventTypeNumber\":7,\"Message\":\"out of luck\"",
         "007|Shadow exception!\n\tout of luck\n\t0  -  Run Bytes Sent By Job\n"
         "\t0  -  Run Bytes Received By Job\n"},
        {"\"EventTypeNumber\":9,\"Reason\":\"via condor_rm (by user user)\"",
         "009|Job was aborted.\n\tvia condor_rm (by user user)\n"},
        {"\"EventTypeNumber\":10,\"NumberOfPIDs\":1",
         "010|Job was suspended.\n\tNumber of processes actually suspended: 1\n"},
        {"\"EventTypeNumber\":11", "011|Job was unsuspended.\n"},
        {"\"EventTypeNumber\":12,\"HoldReason\":\"exit code was 3\",\"HoldReasonCode\":3,"
         "\"HoldReasonSubCode\":77",
         "012|Job was held.\n\texit code was 3\n\tCode 3 Subcode 77\n"},
        {"\"EventTypeNumber\":12", "012|Job was held.\n\tReason unspecified\n\tCode 0 Subcode 0\n"},
        {"\"EventTypeNumber\":33,\"Attribute\":\"JobPrio\",\"Value\":\"7\",\"OldValue\":\"0\"",
         "033|Changing job attribute JobPrio from 0 to 7\n"},
        {"\"EventTypeNumber\":33,\"Attribute\":\"Note\",\"Value\":\"\\\"a\\nb\\\"\"",
         "033|Setting job attribute Note to \"a b\"\n"},
        {"\"EventTypeNumber\":13,\"Reason\":\"go on\"", "013|Job was released.\n\tgo on\n"},
        {"\"EventTypeNumber\":21,\"Daemon\":\"starter\",\"ExecuteHost\":\"n1\","
         "\"ErrorMsg\":\"no disk\"",
         "021|Error from starter on n1:\n\tno disk\n"},
        {"\"EventTypeNumber\":22,\"DisconnectReason\":\"cut\",\"StartdName\":\"slot1@n1\","
         "\"StartdAddr\":\"<a>\"",
         "022|Job disconnected, attempting to reconnect\n    cut\n"
         "    Trying to reconnect to slot1@n1 <a>\n"},
        {"\"EventTypeNumber\":23,\"StartdName\":\"slot1@n1\",\"StartdAddr\":\"<a>\","
         "\"StarterAddr\":\"<b>\"",
         "023|Job reconnected to slot1@n1\n    startd address: <a>\n    starter address: <b>\n"},
        {"\"EventTypeNumber\":24,\"StartdName\":\"slot1@n1\",\"Reason\":\"gone\"",
         "024|Job reconnection failed\n    gone\n"
         "    Can not reconnect to slot1@n1, rescheduling job\n"},
        {"\"EventTypeNumber\":28,\"Size\":45",
         "028|Job ad information event triggered.\nSize = 45\n"},
        {"\"EventTypeNumber\":37,\"Reason\":\"bad row\",\"PauseCode\":2",
         "037|Job Materialization Paused\n\tbad row\n\tPauseCode 2\n"},
        {"\"EventTypeNumber\":38,\"Reason\":\"go\"", "038|Job Materialization Resumed\n\tgo\n"},
        {"\"EventTypeNumber\":40,\"Type\":2,\"Host\":\"<h>\"",
         "040|Started transferring input files\n\tTransferring to host: <h>\n"},
        {"\"EventTypeNumber\":40,\"Type\":3", "040|Finished transferring input files\n"},
        {"\"EventTypeNumber\":40,\"Type\":5", "040|Started transferring output files\n"},
        {"\"EventTypeNumber\":40,\"Type\":6", "040|Finished transferring output files\n"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(CASES); i++) {
        struct strbuf json, text;
        strbuf_init(&json, 0);
        strbuf_init(&text, 0);
        strbuf_printf(&json, "{" JOB "%s}", CASES[i].json);
        strbuf_printf(&text, "%.3s (008.000.000) 2026-11-20 09:08:50 %s...\n", CASES[i].text,
                      CASES[i].text + 4);
        check(strbuf_text(&json), strbuf_text(&text));
        strbuf_fini(&json);
        strbuf_fini(&text);
    }
}

static void events_of_a_cluster_have_no_proc(void **state)
{
    (void)state;
    check("{\"EventTypeNumber\":35,\"Cluster\":12,\"SubmitHost\":\"<h>\"}",
          "035 (012.-01.000) 2026-11-20 09:08:50 Cluster submitted from host: <h>\n...\n");
    check("{\"EventTypeNumber\":36,\"Cluster\":12,\"NextProcId\":3,\"NextRow\":0,"
          "\"Completion\":1}",
          "036 (012.-01.000) 2026-11-20 09:08:50 Cluster removed\n"
          "\tMaterialized 3 jobs from 0 items.\tComplete\n...\n");
    check("{\"EventTypeNumber\":36,\"Cluster\":12,\"NextProcId\":3,\"Completion\":-2}",
          "036 (012.-01.000) 2026-11-20 09:08:50 Cluster removed\n"
          "\tMaterialized 3 jobs from 0 items.\tError -2\n...\n");
}

static void a_reason_of_several_lines_stays_one_line(void **state)
{
    (void)state;
    check("{\"EventTypeNumber\":13," JOB "\"Reason\":\"a\\n...\\n009 (008.000.000) lie\"}",
          HEAD("013") "Job was released.\n\ta ... 009 (008.000.000) lie\n...\n");
}

static void dates_come_in_the_ways_that_are_asked_for(void **state)
{
    (void)state;
    static const struct {
        const char *words, *text;
    } CASES[] = {
        {"", "2026-11-20 10:08:50 "},
        {"ISO_DATE", "2026-11-20 10:08:50 "},
        {"LEGACY", "11/20 10:08:50 "},
        {"ISO_DATE SUB_SECOND", "2026-11-20 10:08:50.455 "},
        {"LEGACY|SUB_SECOND", "11/20 10:08:50.455 "},
        {"utc, SUB_SECOND", "2026-11-20 09:08:50.455Z "},
        {"UTC !UTC", "2026-11-20 10:08:50 "},
    };
    for (size_t i = 0; i < ARRAY_COUNT(CASES); i++) {
        struct event_format format;
        struct strbuf text;
        strbuf_init(&text, 0);
        assert_int_equal(event_format_parse(CASES[i].words, &format, NULL), 0);
        strbuf_printf(&text, "011 (008.000.000) %sJob was unsuspended.\n...\n", CASES[i].text);
        check_as("{\"EventTypeNumber\":11," JOB "\"x\":1}", &format, 3600, strbuf_text(&text));
        strbuf_fini(&text);
    }
}

static void an_unknown_word_of_a_format_is_named(void **state)
{
    (void)state;
    struct event_format format = {.legacy = true};
    struct err err;
    assert_int_equal(event_format_parse("ISO_DATE SUBSECOND", &format, &err), -EINVAL);
    assert_non_null(strstr(err.text, "'SUBSECOND'"));
    assert_true(format.legacy);
}

static void json_and_xml_are_the_ad_with_its_time(void **state)
{
    (void)state;
    static const struct event_format JSON = {.form = EVENT_AS_JSON};
    static const struct event_format XML = {.form = EVENT_AS_XML};
    check_as("{\"EventTypeNumber\":11,\"PartitionableResources\":\"Cpus\"}", &JSON, 0,
             "{\n  \"EventTime\": \"2026-11-20T09:08:50.455\",\n  \"EventTypeNumber\": 11\n}\n");
    check_as("{\"EventTypeNumber\":11}", &XML, 0,
             "<c>\n    <a n=\"EventTime\"><s>2026-11-20T09:08:50.455</s></a>\n"
             "    <a n=\"EventTypeNumber\"><i>11</i></a>\n</c>\n");
}

static void a_new_event_has_the_name_of_its_number(void **state)
{
    (void)state;
    struct ad *event = event_create(EVENT_TERMINATED, 12, 3);
    assert_string_equal(ad_string_or(event, "MyType", ""), "JobTerminatedEvent");
    assert_int_equal(ad_int_or(event, "EventTypeNumber", 0), 5);
    assert_int_equal(ad_int_or(event, "Proc", -1), 3);
    ad_destroy(event);
    event = event_create(EVENT_CLUSTER_SUBMIT, 12, -1);
    assert_false(ad_has(event, "Proc"));
    ad_destroy(event);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_submit_event_names_the_host),
        cmocka_unit_test(notes_of_a_submission_follow_with_an_indent),
        cmocka_unit_test(an_execute_event_lists_the_slot_in_order_of_names),
        cmocka_unit_test(an_eviction_tells_code_use_and_resources),
        cmocka_unit_test(a_checkpoint_tells_its_use_and_size),
        cmocka_unit_test(a_job_that_tries_again_was_evicted_with_its_exit),
        cmocka_unit_test(an_exit_is_told_with_its_value),
        cmocka_unit_test(an_end_by_a_signal_is_told_with_its_core),
        cmocka_unit_test(columns_of_resources_grow_with_what_is_in_them),
        cmocka_unit_test(the_small_events_are_told_as_htcondor_does),
        cmocka_unit_test(events_of_a_cluster_have_no_proc),
        cmocka_unit_test(a_reason_of_several_lines_stays_one_line),
        cmocka_unit_test(dates_come_in_the_ways_that_are_asked_for),
        cmocka_unit_test(an_unknown_word_of_a_format_is_named),
        cmocka_unit_test(json_and_xml_are_the_ad_with_its_time),
        cmocka_unit_test(a_new_event_has_the_name_of_its_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
