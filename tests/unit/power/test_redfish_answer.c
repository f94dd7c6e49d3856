/* What is believed of a controller's answer.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>

#include "base/err.h"
#include "power/redfish_answer.h"

static struct redfish_answer *parsed(const char *text)
{
    struct redfish_answer *answer = NULL;
    struct err err = {""};
    if (redfish_answer_parse(text, strlen(text), &answer, &err) != 0) {
        fail_msg("%s", err.text);
    }
    return answer;
}

static void what_is_not_http_is_refused(void **state)
{
    (void)state;
    static const char *const BAD[] = {"",
                                      "{}",
                                      "HTTP/1.1 200 OK\r\n",
                                      "HTTP/1.1 2000 OK\r\n\r\n",
                                      "HTTP/1.1 99 OK\r\n\r\n",
                                      "HTTP/1.1 600 OK\r\n\r\n",
                                      "HTTP/1.1 100 Continue\r\n\r\n{}",
                                      "ICY 200 OK\r\n\r\n"};
    struct redfish_answer *answer = NULL;
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        assert_int_equal(redfish_answer_parse(BAD[i], strlen(BAD[i]), &answer, NULL), -EPROTO);
    }
    assert_int_equal(redfish_answer_parse("HTTP/1.1 200 OK\n\n\0", 18, &answer, NULL), -EPROTO);
    assert_null(answer);
}

static void headers_are_of_the_last_block_and_not_of_the_body(void **state)
{
    (void)state;
    char token[REDFISH_TOKEN_MAX] = "as it was", etag[REDFISH_ETAG_MAX];
    struct redfish_answer *answer = parsed("HTTP/1.1 100 Continue\r\nX-Auth-Token: first\r\n\r\n"
                                           "HTTP/1.1 201 Created\r\nx-auth-token:  second\r\n"
                                           "ETag: W/\"7\"\r\n\r\n{}\r\nRetry-After: 9\r\n");
    assert_int_equal(redfish_answer_status(answer), 201);
    assert_int_equal(redfish_answer_token(answer, token), 0);
    assert_string_equal(token, "second");
    redfish_answer_etag(answer, etag);
    assert_string_equal(etag, "W/\"7\"");
    assert_int_equal(redfish_answer_retry_s(answer, 5), 5);
    redfish_answer_destroy(answer);
}

static void a_token_that_could_be_more_than_one_is_refused(void **state)
{
    (void)state;
    static const char *const BAD[] = {"", "a b", "a\"b", "a\\b", "a\tb", "\xc3\xb6"};
    char text[200], token[REDFISH_TOKEN_MAX];
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        (void)snprintf(text, sizeof text, "HTTP/1.1 201 x\r\nX-Auth-Token: %s\r\n\r\n", BAD[i]);
        struct redfish_answer *answer = parsed(text);
        assert_int_equal(redfish_answer_token(answer, token), -EPROTO);
        redfish_answer_destroy(answer);
    }
    struct redfish_answer *answer = parsed("HTTP/1.1 201 x\r\n\r\n");
    assert_int_equal(redfish_answer_token(answer, token), -EPROTO);
    redfish_answer_destroy(answer);
}

static void of_a_url_only_the_path_is_used(void **state)
{
    (void)state;
    static const char *const GOOD[][2] = {{"/a", "/a"},
                                          {"https://elsewhere/a/b?c=d", "/a/b?c=d"},
                                          {"HTTP://[::1]:80/a", "/a"}};
    static const char *const BAD[] = {"",      "a",      "//elsewhere/a", "https://elsewhere",
                                      "/a b",  "/a\"b",  "/a\\b",         "/a/../b",
                                      "/a{b}", "/[1-9]", "ftp://h/a",     "/a#b"};
    char path[REDFISH_PATH_MAX], text[REDFISH_PATH_MAX + 10];
    for (size_t i = 0; i < sizeof GOOD / sizeof GOOD[0]; i++) {
        assert_int_equal(redfish_path(GOOD[i][0], path), 0);
        assert_string_equal(path, GOOD[i][1]);
    }
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        assert_int_equal(redfish_path(BAD[i], path), -EINVAL);
    }
    memset(text, 'a', sizeof text);
    text[0] = '/';
    text[REDFISH_PATH_MAX] = '\0';
    assert_int_equal(redfish_path(text, path), -EINVAL);
    text[REDFISH_PATH_MAX - 1] = '\0';
    assert_int_equal(redfish_path(text, path), 0);
}

static enum power_state state_in(const char *body, struct redfish_reset *reset)
{
    char text[1000];
    (void)snprintf(text, sizeof text, "HTTP/1.1 200 OK\r\n\r\n%s", body);
    struct redfish_answer *answer = parsed(text);
    enum power_state state = redfish_answer_system(answer, reset);
    redfish_answer_destroy(answer);
    return state;
}

static void a_state_is_one_of_two_words_or_unknown(void **state)
{
    (void)state;
    struct redfish_reset reset;
    assert_int_equal(state_in("{\"PowerState\":\"On\"}", &reset), POWER_ON);
    assert_int_equal(state_in("{\"PowerState\":\"Off\"}", &reset), POWER_OFF);
    static const char *const BODIES[] = {
        "",
        "{}",
        "[]",
        "{\"PowerState\":true}",
        "{\"PowerState\":\"on\"}",
        "{\"PowerState\":\"PoweringOff\"}",
        "{\"PowerState\":\"Off\",\"PowerState\":\"Off\"}",
        "{\"PowerState\":\"Off\"} {}",
        "{\"PowerState\":\"Off\"",
        "{\"PowerState\":\"Off\",\"x\":[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]}"};
    for (size_t i = 0; i < sizeof BODIES / sizeof BODIES[0]; i++) {
        assert_int_equal(state_in(BODIES[i], &reset), POWER_UNKNOWN);
    }
}

static void a_type_of_reset_is_one_that_was_told_or_the_standards(void **state)
{
    (void)state;
    struct redfish_reset reset;
    (void)state_in("{\"Actions\":{\"#ComputerSystem.Reset\":{\"target\":\"/r\","
                   "\"ResetType@Redfish.AllowableValues\":[\"ForceOn\",\"PushPowerButton\",7]}}}",
                   &reset);
    assert_string_equal(reset.target, "/r");
    assert_string_equal(redfish_reset_type(&reset, BMC_ORDER_ON), "ForceOn");
    assert_null(redfish_reset_type(&reset, BMC_ORDER_SOFT));
    assert_null(redfish_reset_type(&reset, BMC_ORDER_OFF));
    (void)state_in("{\"Actions\":{\"#ComputerSystem.Reset\":{\"target\":\"/r\"}}}", &reset);
    assert_string_equal(redfish_reset_type(&reset, BMC_ORDER_ON), "On");
    assert_string_equal(redfish_reset_type(&reset, BMC_ORDER_SOFT), "GracefulShutdown");
    assert_string_equal(redfish_reset_type(&reset, BMC_ORDER_OFF), "ForceOff");
    assert_null(redfish_reset_type(&reset, BMC_ASK));
}

static void a_task_ends_well_badly_or_not_yet(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum redfish_task task;
    } CASES[] = {
        {"HTTP/1.1 202 x\r\n\r\n", REDFISH_TASK_RUNS},
        {"HTTP/1.1 202 x\r\n\r\n{\"TaskState\":\"Completed\"}", REDFISH_TASK_RUNS},
        {"HTTP/1.1 200 x\r\n\r\n{\"TaskState\":\"Running\"}", REDFISH_TASK_RUNS},
        {"HTTP/1.1 200 x\r\n\r\n{\"TaskState\":\"Completed\"}", REDFISH_TASK_DONE},
        {"HTTP/1.1 204 x\r\n\r\n", REDFISH_TASK_DONE},
        {"HTTP/1.1 404 x\r\n\r\n", REDFISH_TASK_DONE},
        {"HTTP/1.1 410 x\r\n\r\n", REDFISH_TASK_DONE},
        {"HTTP/1.1 200 x\r\n\r\n{\"TaskState\":\"Exception\"}", REDFISH_TASK_FAILED},
        {"HTTP/1.1 200 x\r\n\r\n{\"TaskState\":\"Killed\"}", REDFISH_TASK_FAILED},
        {"HTTP/1.1 500 x\r\n\r\n{\"TaskState\":\"Completed\"}", REDFISH_TASK_FAILED},
        {"HTTP/1.1 302 x\r\n\r\n", REDFISH_TASK_FAILED},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct redfish_answer *answer = parsed(CASES[i].text);
        assert_int_equal(redfish_answer_task(answer), CASES[i].task);
        redfish_answer_destroy(answer);
    }
}

static void times_to_wait_are_bounded(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        int seconds;
    } CASES[] = {{"1", 1},  {"30", 30}, {"3600", REDFISH_RETRY_S},           {"0", 7},
                 {"-1", 7}, {"x", 7},   {"Fri, 20 Nov 2026 23:00:00 GMT", 7}};
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        char text[100];
        (void)snprintf(text, sizeof text, "HTTP/1.1 503 x\r\nRetry-After: %s\r\n\r\n",
                       CASES[i].value);
        struct redfish_answer *answer = parsed(text);
        assert_int_equal(redfish_answer_retry_s(answer, 7), CASES[i].seconds);
        redfish_answer_destroy(answer);
    }
}

static void a_complaint_is_one_line(void **state)
{
    (void)state;
    char complaint[20];
    struct redfish_answer *answer = parsed("HTTP/1.1 400 x\r\n\r\n{\"error\":{\"message\":\"b\","
                                           "\"@Message.ExtendedInfo\":[{\"Message\":\"one\\ntwo "
                                           "and so on, and on\"}]}}");
    redfish_answer_complaint(answer, complaint, sizeof complaint);
    assert_string_equal(complaint, "one two and so on, ");
    redfish_answer_destroy(answer);
    answer = parsed("HTTP/1.1 400 x\r\n\r\n{\"error\":{\"message\":\"b\"}}");
    redfish_answer_complaint(answer, complaint, sizeof complaint);
    assert_string_equal(complaint, "b");
    redfish_answer_destroy(answer);
}

static void a_login_carries_any_text_and_no_other_bytes(void **state)
{
    (void)state;
    char body[64];
    assert_int_equal(redfish_login_body("u", "a\"\\\n", body, sizeof body), 0);
    assert_string_equal(body, "{\"UserName\":\"u\",\"Password\":\"a\\\"\\\\\\n\"}");
    assert_int_equal(redfish_login_body("u", "\xff", body, sizeof body), -EINVAL);
    assert_int_equal(redfish_login_body("u", "a", body, 30), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_http_is_refused),
        cmocka_unit_test(headers_are_of_the_last_block_and_not_of_the_body),
        cmocka_unit_test(a_token_that_could_be_more_than_one_is_refused),
        cmocka_unit_test(of_a_url_only_the_path_is_used),
        cmocka_unit_test(a_state_is_one_of_two_words_or_unknown),
        cmocka_unit_test(a_type_of_reset_is_one_that_was_told_or_the_standards),
        cmocka_unit_test(a_task_ends_well_badly_or_not_yet),
        cmocka_unit_test(times_to_wait_are_bounded),
        cmocka_unit_test(a_complaint_is_one_line),
        cmocka_unit_test(a_login_carries_any_text_and_no_other_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
