/* tests/unit/site/test_site_request.c - what the factory may ask, and what is refused.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "site/site_request.h"

#include <string.h>

#include "base/err.h"
#include "tests/support/unit.h"

static int parse(const char *line, struct site_request *ret, struct err *err)
{
    return site_request_parse(line, strlen(line), ret, err);
}

static void check_refused(const char *line, int64_t id, const char *why)
{
    struct site_request request;
    struct err err = {""};
    assert_int_not_equal(parse(line, &request, &err), 0);
    if (strstr(err.text, why) == NULL) {
        fail_msg("%s: '%s', not '%s'", line, err.text, why);
    }
    assert_int_equal(request.id, id);
    site_request_fini(&request);
}

static void begin_has_names_and_options(void **state)
{
    struct site_request request;
    (void)state;
    assert_int_equal(
        parse("{\"id\":1,\"do\":\"begin\",\"deadline\":9,\"site\":\"s\",\"factory\":\"f\","
              "\"options\":{\"a\":\"b\",\"c\":\"\"}}",
              &request, NULL),
        0);
    assert_int_equal(request.operation, SITE_BEGIN);
    assert_int_equal(request.deadline_s, 9);
    assert_string_equal(request.site, "s");
    assert_string_equal(request.factory, "f");
    assert_int_equal(request.option_count, 2);
    assert_string_equal(request.options[0].name, "a");
    assert_string_equal(request.options[1].value, "");
    site_request_fini(&request);
}

#define SUBMIT                                                                     \
    "{\"id\":3,\"do\":\"submit\",\"deadline\":9,\"batch\":\"f-s-1\",\"pilot\":\"/" \
    "p\",\"secret\":\"x\\ny\","                                                    \
    "\"cpus\":2,\"memory\":300,\"lifetime\":60,"

static void submit_has_all_that_a_glidein_needs(void **state)
{
    struct site_request request;
    (void)state;
    assert_int_equal(parse(SUBMIT "\"count\":5,\"arguments\":[\"--a\",\"\"]}", &request, NULL), 0);
    assert_int_equal(request.operation, SITE_SUBMIT);
    assert_string_equal(request.batch, "f-s-1");
    assert_int_equal(request.count, 5);
    assert_string_equal(request.pilot, "/p");
    assert_string_equal(request.secret, "x\ny");
    assert_int_equal(request.cpus, 2);
    assert_int_equal(request.memory_mib, 300);
    assert_int_equal(request.lifetime_s, 60);
    assert_int_equal(request.argument_count, 2);
    assert_string_equal(request.arguments[1], "");
    site_request_fini(&request);
    check_refused(SUBMIT "\"arguments\":[]}", 3, "'count'");
    check_refused(SUBMIT "\"count\":0,\"arguments\":[]}", 3, "'count'");
    check_refused(SUBMIT "\"count\":1,\"arguments\":[1]}", 3, "'arguments'");
    check_refused(SUBMIT "\"count\":1,\"arguments\":[\"a\\nb\"]}", 3, "control character");
    check_refused(SUBMIT "\"count\":1,\"count\":2,\"arguments\":[]}", 0, "not a JSON object");
}

static void each_glidein_has_its_ticket(void **state)
{
    struct site_request request;
    (void)state;
    assert_int_equal(parse(SUBMIT "\"count\":2,\"arguments\":[],\"tickets\":[\"a\\n\",\"b\\n\"]}",
                           &request, NULL),
                     0);
    assert_string_equal(site_request_ticket(&request, "f-s-1.1"), "a\n");
    assert_string_equal(site_request_ticket(&request, "f-s-1.2"), "b\n");
    assert_string_equal(site_request_ticket(&request, "f-s-1.3"), "");
    assert_string_equal(site_request_ticket(&request, "f-s-1.0"), "");
    site_request_fini(&request);
    assert_int_equal(parse(SUBMIT "\"count\":2,\"arguments\":[]}", &request, NULL), 0);
    assert_string_equal(site_request_ticket(&request, "f-s-1.1"), "");
    site_request_fini(&request);
    check_refused(SUBMIT "\"count\":2,\"arguments\":[],\"tickets\":[\"a\"]}", 3, "'tickets'");
    check_refused(SUBMIT "\"count\":1,\"arguments\":[],\"tickets\":[1]}", 3, "'tickets'");
    check_refused(SUBMIT "\"count\":1,\"arguments\":[],\"tickets\":\"a\"}", 3, "'tickets'");
}

static void a_request_without_an_id_is_refused(void **state)
{
    (void)state;
    check_refused("", 0, "not a JSON object");
    check_refused("[1]", 0, "not a JSON object");
    check_refused("{\"do\":\"look\",\"deadline\":1}", 0, "'id'");
    check_refused("{\"id\":\"1\",\"do\":\"look\",\"deadline\":1}", 0, "'id'");
    check_refused("{\"id\":4,\"do\":\"look\"}", 4, "'deadline'");
    check_refused("{\"id\":4,\"do\":\"look\",\"deadline\":0}", 4, "'deadline'");
    check_refused("{\"id\":4,\"do\":\"sing\",\"deadline\":1}", 4, "unknown operation 'sing'");
}

static void names_are_words_of_no_shell(void **state)
{
    static const char *const GOOD[] = {"a-b-1.1", "F_x.999999", "9.9"};
    static const char *const BAD[] = {"",      "a",    "a.",        "a.0",   "a.01",
                                      ".1",    "-a.1", "a b.1",     "a;b.1", "a/b.1",
                                      "a.1.1", "1",    "a.1000000", "a$.1"};
    (void)state;
    for (size_t i = 0; i < sizeof(GOOD) / sizeof(GOOD[0]); i++) {
        assert_true(site_request_is_name(GOOD[i], strlen(GOOD[i]), true));
    }
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        if (site_request_is_name(BAD[i], strlen(BAD[i]), true)) {
            fail_msg("'%s' is a name", BAD[i]);
        }
    }
    check_refused("{\"id\":4,\"do\":\"remove\",\"deadline\":1,\"names\":[\"a.1\",\"$(id).1\"]}", 4,
                  "not the name of a glidein");
    check_refused("{\"id\":4,\"do\":\"log\",\"deadline\":1,\"name\":\"../x.1\"}", 4,
                  "not the name of a glidein");
}

UNIT_TESTS(UNIT(begin_has_names_and_options), UNIT(submit_has_all_that_a_glidein_needs),
           UNIT(each_glidein_has_its_ticket), UNIT(a_request_without_an_id_is_refused),
           UNIT(names_are_words_of_no_shell))
