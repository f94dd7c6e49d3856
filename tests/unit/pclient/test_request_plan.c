/* tests/unit/pclient/test_request_plan.c - the promises of pclient/request_plan.h.
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

#include "base/err.h"
#include "base/strbuf.h"
#include "pclient/protocol.h"
#include "pclient/request_plan.h"

static void parse(const char *line, struct request *ret)
{
    struct err err = {""};
    if (request_plan_parse(line, strlen(line), ret, &err) != 0) {
        fail_msg("%s: %s", line, err.text);
    }
}

static void assert_refused(const char *line, const char *why)
{
    struct request request;
    struct err err = {""};
    int rc = request_plan_parse(line, strlen(line), &request, &err);
    if (rc >= 0 || strstr(err.text, why) == NULL) {
        fail_msg("%s: %d, '%s'", line, rc, err.text);
    }
    request_fini(&request);
}

static void a_job_is_its_words_behind_the_options(void **state)
{
    (void)state;
    struct request request;
    parse("job /bin/echo 'a b' -timeout 3", &request);
    assert_int_equal(request.kind, REQUEST_JOB);
    assert_string_equal(request.argv[0], "/bin/echo");
    assert_string_equal(request.argv[1], "a b");
    assert_string_equal(request.argv[2], "-timeout");
    assert_string_equal(request.argv[3], "3");
    assert_null(request.argv[4]);
    assert_int_equal(request.timeout_ms, 0);
    assert_null(request.mark);
    request_fini(&request);
    parse("job -timeout 2.5 -- -x", &request);
    assert_int_equal(request.timeout_ms, 2500);
    assert_string_equal(request.argv[0], "-x");
    assert_null(request.argv[1]);
    request_fini(&request);
}

static void a_detached_job_has_a_mark_a_lease_and_files(void **state)
{
    (void)state;
    struct request request;
    parse("job -detach a.b-C_1 -lease 20 -stdout /o -stderr e true", &request);
    assert_string_equal(request.mark, "a.b-C_1");
    assert_int_equal(request.lease_s, 20);
    assert_string_equal(request.stdout_path, "/o");
    assert_string_equal(request.stderr_path, "e");
    assert_string_equal(request.argv[0], "true");
    request_fini(&request);
    parse("job -detach m true", &request);
    assert_int_equal(request.lease_s, REQUEST_JOB_LEASE_S);
    assert_null(request.stdout_path);
    request_fini(&request);
}

static void wrong_jobs_are_refused(void **state)
{
    (void)state;
    static const char *const CASES[][2] = {
        {"job", "no command"},
        {"job ''", "no command"},
        {"job --", "no command"},
        {"job -timeout 3", "no command"},
        {"job -timeout", "-timeout needs a value"},
        {"job -timeout 0 true", "expected 0.001"},
        {"job -timeout -1 true", "expected 0.001"},
        {"job -timeout 1e300 true", "expected 0.001"},
        {"job -timeout nan true", "nan"},
        {"job -timeout 2s true", "2s"},
        {"job -nice 3 true", "unknown option '-nice'"},
        {"job -lease 20 true", "need -detach"},
        {"job -stdout f true", "need -detach"},
        {"job -stderr f true", "need -detach"},
        {"job -detach m -timeout 1 true", "-timeout is not for -detach"},
        {"job -detach m -lease 1 true", "expected 2 to 86400"},
        {"job -detach m -lease 86401 true", "expected 2 to 86400"},
        {"job -detach m -stdout '' true", "-stdout needs a value"},
        {"job -detach .m true", "cannot be the mark"},
        {"job -detach -m true", "cannot be the mark"},
        {"job -detach 'a b' true", "cannot be the mark"},
        {"job -detach a/b true", "cannot be the mark"},
        {"job -detach "
         "a1234567890123456789012345678901234567890123456789012345678901234 true",
         "cannot be the mark"},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        assert_refused(CASES[i][0], CASES[i][1]);
    }
}

static void each_request_has_its_kind(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        enum request_kind kind;
    } CASES[] = {
        {"", REQUEST_NONE},         {" # job true", REQUEST_NONE}, {"status", REQUEST_STATUS},
        {"stdout", REQUEST_STDOUT}, {"stderr", REQUEST_STDERR},    {"reset", REQUEST_RESET},
        {"kill", REQUEST_KILL},     {"jobs", REQUEST_JOBS},        {"renew m", REQUEST_RENEW},
        {"lease 5", REQUEST_LEASE}, {"ping", REQUEST_PING},        {"follow n", REQUEST_FOLLOW},
        {"ack 5", REQUEST_ACK},     {"help", REQUEST_HELP},        {"exit # now", REQUEST_EXIT},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct request request;
        parse(CASES[i].line, &request);
        assert_int_equal(request.kind, CASES[i].kind);
        request_fini(&request);
    }
}

static void words_of_the_other_requests(void **state)
{
    (void)state;
    struct request request;
    parse("stdout -take", &request);
    assert_true(request.take);
    request_fini(&request);
    parse("stderr", &request);
    assert_false(request.take);
    request_fini(&request);
    parse("kill m-1", &request);
    assert_string_equal(request.mark, "m-1");
    request_fini(&request);
    parse("kill", &request);
    assert_null(request.mark);
    request_fini(&request);
    parse("renew m 30", &request);
    assert_string_equal(request.mark, "m");
    assert_int_equal(request.lease_s, 30);
    request_fini(&request);
    parse("renew m", &request);
    assert_int_equal(request.lease_s, 0);
    request_fini(&request);
    parse("lease 86400", &request);
    assert_int_equal(request.lease_s, 86400);
    request_fini(&request);
    parse("ping 17", &request);
    assert_string_equal(request.word, "17");
    request_fini(&request);
    parse("follow n0nce", &request);
    assert_string_equal(request.word, "n0nce");
    assert_int_equal(request.bytes, PCLIENT_WINDOW);
    request_fini(&request);
    parse("follow n 4096", &request);
    assert_int_equal(request.bytes, 4096);
    request_fini(&request);
    parse("ack 123456789012", &request);
    assert_true(request.bytes == 123456789012);
    request_fini(&request);
}

static void wrong_requests_are_refused_with_their_reason(void **state)
{
    (void)state;
    static const char *const CASES[][2] = {
        {"jab true", "unknown request 'jab'; 'help' lists the requests"},
        {"JOB true", "unknown request 'JOB'"},
        {"'' true", "unknown request ''"},
        {"job a | b", "column 7"},
        {"status 1", "status: unexpected word '1'"},
        {"stdout -drop", "stdout: unexpected word '-drop'"},
        {"stdout -take -take", "unexpected word"},
        {"reset now", "unexpected word"},
        {"kill a b", "unexpected word 'b'"},
        {"kill a/b", "cannot be the mark"},
        {"renew", "mark of a detached job is missing"},
        {"renew m 1", "expected 2 to 86400"},
        {"renew m 10 11", "unexpected word '11'"},
        {"lease", "seconds are missing"},
        {"lease 0", "expected 2 to 86400"},
        {"lease 5s", "5s"},
        {"ping a b", "unexpected word 'b'"},
        {"follow", "nonce is missing"},
        {"follow ''", "nonce is missing"},
        {"follow $'a\\nb'", "may not have blanks"},
        {"follow n 4095", "expected 4096 to"},
        {"follow n 67108865", "expected 4096 to"},
        {"follow n 4096 x", "unexpected word 'x'"},
        {"ack", "number of bytes is missing"},
        {"ack -1", "expected 0 to"},
        {"ack x", "x"},
        {"exit 3", "unexpected word"},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        assert_refused(CASES[i][0], CASES[i][1]);
    }
}

static void a_status_names_the_end_and_its_reason(void **state)
{
    (void)state;
    static const struct {
        int exit_status, signal_number;
        enum request_reason why;
        const char *words;
    } CASES[] = {
        {0, 0, REASON_NONE, "EXIT 0"},
        {255, 0, REASON_NONE, "EXIT 255"},
        {3, 0, REASON_KILLED, "EXIT 3"}, /* it was faster than the signal */
        {-1, 11, REASON_NONE, "CRASH 11"},
        {-1, 9, REASON_TIMEOUT, "CRASH 9 timeout"},
        {-1, 9, REASON_KILLED, "CRASH 9 killed"},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct strbuf out;
        strbuf_init(&out, 0);
        request_plan_status(&out, CASES[i].exit_status, CASES[i].signal_number, CASES[i].why);
        assert_string_equal(strbuf_text(&out), CASES[i].words);
        strbuf_fini(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_is_its_words_behind_the_options),
        cmocka_unit_test(a_detached_job_has_a_mark_a_lease_and_files),
        cmocka_unit_test(wrong_jobs_are_refused),
        cmocka_unit_test(each_request_has_its_kind),
        cmocka_unit_test(words_of_the_other_requests),
        cmocka_unit_test(wrong_requests_are_refused_with_their_reason),
        cmocka_unit_test(a_status_names_the_end_and_its_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
