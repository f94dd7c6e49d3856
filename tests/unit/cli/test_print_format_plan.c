/* Columns that a file describes.
 *
 * LINK: cli
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/cli/ads.h"

#include "cli/print_format_plan.h"

static const struct ad_context CONTEXT = {.now_s = 1795166147};

static void add_jobs(struct vec *ads)
{
    ads_add(ads, "[ClusterId = 33; ProcId = 0; Owner = \"user\"; JobStatus = 2; JobPrio = 0;"
                 " QDate = 1795166141; Cmd = \"/home/user/work.sh\"; Args = \"0\";"
                 " RemoteWallClockTime = 5.0; MemoryUsage = 0; RequestMemory = 100]");
    ads_add(ads, "[ClusterId = 33; ProcId = 11; Owner = \"user\"; JobStatus = 5; JobPrio = 0;"
                 " QDate = 1795166141; Cmd = \"/home/user/work.sh\"; Args = \"1\";"
                 " RemoteWallClockTime = 0.0; MemoryUsage = 8]");
}

static struct print_format *read_format(const char *text)
{
    struct print_format *format = NULL;
    struct err err;
    if (print_format_read(text, strlen(text), &CONTEXT, &format, &err) != 0) {
        fail_msg("%s", err.text);
    }
    return format;
}

static void prints(const char *text, const char *expected)
{
    struct vec ads = {0};
    struct strbuf out;
    struct print_format *format = read_format(text);
    add_jobs(&ads);
    strbuf_init(&out, 0);
    print_format_print(format, ads_list(&ads), ads.count, &CONTEXT, &out);
    print_format_destroy(format);
    vec_fini(&ads, ads_destroy_one);
    ads_expect(&out, expected);
}

static void the_manuals_example_prints_the_queue(void **state)
{
    (void)state;
    prints("# queue.cpf\n"
           "SELECT\n"
           "   ClusterId     AS \"    ID\"  NOSUFFIX WIDTH AUTO\n"
           "   ProcId        AS \" \"       NOPREFIX          PRINTF \".%-3d\"\n"
           "   Owner         AS \"OWNER\"         WIDTH -14   PRINTAS OWNER\n"
           "   QDate         AS \"  SUBMITTED\"   WIDTH 11    PRINTAS QDATE\n"
           "   RemoteUserCpu AS \"    RUN_TIME\"  WIDTH 12    PRINTAS CPU_TIME\n"
           "   JobStatus     AS ST                          PRINTAS JOB_STATUS\n"
           "   JobPrio       AS PRI\n"
           "   ImageSize     AS SIZE            WIDTH 6     PRINTAS MEMORY_USAGE\n"
           "   Cmd           AS CMD                         PRINTAS JOB_DESCRIPTION\n"
           "SUMMARY STANDARD\n",
           "    ID     OWNER            SUBMITTED     RUN_TIME ST PRI   SIZE CMD\n"
           "    33.0   user           11/20 09:15   0+00:00:05 R  0      0.0 work.sh 0\n"
           "    33.11  user           11/20 09:15   0+00:00:00 H  0      8.0 work.sh 1\n");
}

static void order_and_constraint_are_in_the_file(void **state)
{
    (void)state;
    struct print_format *format = read_format("SELECT BARE\nProcId\nWHERE JobStatus == 5\n"
                                              "  || JobStatus == 1\nGROUP BY ProcId DECENDING\n");
    assert_string_equal(print_format_constraint(format), "JobStatus == 5 || JobStatus == 1");
    assert_false(print_format_has_title(format));
    assert_false(print_format_has_summary(format));
    print_format_destroy(format);
    prints("SELECT NOHEADER\nProcId\nGROUP BY\n ProcId DECENDING\n", "11\n0\n");
}

static void labels_prefixes_and_expressions_are_taken(void **state)
{
    (void)state;
    prints("SELECT LABEL SEPARATOR \": \" FIELDSUFFIX ', ' RECORDSUFFIX ';\\n'\n"
           "ClusterId * 100 + ProcId AS Key\n"
           "RequestMemory AS Memory OR -\n",
           "Key: 3300, Memory: 100;\nKey: 3311, Memory: -;\n");
    prints("SELECT NOHEADER\nOwner WIDTH 2 TRUNCATE\nJobStatus PRINTAS JOB_STATUS_RAW WIDTH -9\n"
           "RequestMemory OR ?? WIDTH 3\n",
           "us Running   100\nus Held      ???\n");
}

static void what_cannot_be_read_is_refused_with_its_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *why;
    } CASES[] = {
        {"Owner\n", "line 1: the file does not begin with SELECT"},
        {"", "the file has no SELECT"},
        {"SELECT\nOwner AS\n", "line 2: 'AS' needs a value"},
        {"SELECT\nOwner PRINTAS NOSUCH\n", "line 2: 'NOSUCH' is not a known function of PRINTAS"},
        {"SELECT\nOwner WIDTH x\n", "line 2: 'x' is not a valid width"},
        {"SELECT FROM AUTOCLUSTER\n",
         "line 1: 'FROM' is not supported here; use roost q -autocluster"},
        {"SELECT SIDEWAYS\n", "line 1: 'SIDEWAYS' is not an option of SELECT"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct print_format *format = NULL;
        struct err err = {.text = ""};
        assert_int_equal(print_format_read(CASES[i].text, strlen(CASES[i].text), &CONTEXT, &format,
                                           &err),
                         -EINVAL);
        assert_string_equal(err.text, CASES[i].why);
        assert_null(format);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_manuals_example_prints_the_queue),
        cmocka_unit_test(order_and_constraint_are_in_the_file),
        cmocka_unit_test(labels_prefixes_and_expressions_are_taken),
        cmocka_unit_test(what_cannot_be_read_is_refused_with_its_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
