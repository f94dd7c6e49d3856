/* tests/unit/factory/test_site_words.c - the lines of docs/protocol/site.md.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "factory/site_words.h"
#include "tests/support/unit.h"

static void prints(const struct site_request *request, const char *line)
{
    struct strbuf out;
    strbuf_init(&out, 0);
    site_words_print(request, &out);
    assert_string_equal(strbuf_text(&out), line);
    strbuf_fini(&out);
}

static void requests_are_lines(void **state)
{
    (void)state;
    static const char *const OPTIONS[] = {"partition=long", "extra=a=b"};
    static const char *const ARGUMENTS[] = {"--cpus", "2", "X=\"y\""};
    static const char *const NAMES[] = {"f-s-1.1", "f-s-1.2"};
    prints(&(struct site_request){.operation = SITE_BEGIN,
                                  .id = 1,
                                  .deadline_s = 60,
                                  .site = "s",
                                  .factory = "f",
                                  .options = OPTIONS,
                                  .option_count = 2},
           "{\"id\":1,\"do\":\"begin\",\"deadline\":60,\"site\":\"s\",\"factory\":\"f\","
           "\"options\":{\"partition\":\"long\",\"extra\":\"a=b\"}}\n");
    prints(&(struct site_request){.operation = SITE_SUBMIT,
                                  .id = 2,
                                  .deadline_s = 60,
                                  .batch = "f-s-1",
                                  .count = 2,
                                  .pilot = "/p",
                                  .secret = "a\nb",
                                  .arguments = ARGUMENTS,
                                  .argument_count = 3,
                                  .cpus = 2,
                                  .memory_mib = 1024,
                                  .lifetime_s = 3600},
           "{\"id\":2,\"do\":\"submit\",\"deadline\":60,\"batch\":\"f-s-1\",\"count\":2,\"pilot\":"
           "\"/p\",\"arguments\":[\"--cpus\",\"2\",\"X=\\\"y\\\"\"],\"secret\":\"a\\nb\",\"cpus\":"
           "2,\"memory\":1024,\"lifetime\":3600}\n");
    prints(
        &(struct site_request){.operation = SITE_REMOVE, .id = 3, .names = NAMES, .name_count = 2},
        "{\"id\":3,\"do\":\"remove\",\"deadline\":0,\"names\":[\"f-s-1.1\",\"f-s-1.2\"]}\n");
    prints(&(struct site_request){.operation = SITE_LOOK, .id = 4},
           "{\"id\":4,\"do\":\"look\",\"deadline\":0}\n");
    prints(&(struct site_request){.operation = SITE_LOG, .id = 5, .names = NAMES, .name_count = 1},
           "{\"id\":5,\"do\":\"log\",\"deadline\":0,\"name\":\"f-s-1.1\"}\n");
}

static void an_answer_is_read(void **state)
{
    (void)state;
    static const char LOOK[] =
        "{\"id\":7,\"complete\":true,\"glideins\":[{\"name\":\"f-s-1.1\",\"state\":\"running\","
        "\"id\":\"42_1\"},{\"name\":\"f-s-1.2\",\"state\":\"held\",\"reason\":\"no\"}]}";
    struct site_answer answer;
    assert_int_equal(site_words_parse(LOOK, strlen(LOOK), &answer, NULL), 0);
    assert_int_equal(answer.id, 7);
    assert_int_equal(answer.outcome, SITE_DONE);
    assert_true(answer.complete);
    assert_int_equal(answer.glideins.count, 2);
    const struct site_glidein *first = answer.glideins.items[0], *second = answer.glideins.items[1];
    assert_string_equal(first->name, "f-s-1.1");
    assert_string_equal(first->id, "42_1");
    assert_int_equal(first->state, SITE_LISTS_RUNNING);
    assert_string_equal(first->reason, "");
    assert_int_equal(second->state, SITE_LISTS_HELD);
    assert_string_equal(second->reason, "no");
    site_answer_fini(&answer);
}

static void errors_have_three_words(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        enum site_outcome outcome;
    } LINES[] = {
        {"{\"id\":1,\"error\":\"refuses\",\"text\":\"quota\"}", SITE_REFUSES},
        {"{\"id\":1,\"error\":\"fails\",\"text\":\"quota\"}", SITE_FAILS},
        {"{\"id\":1,\"error\":\"wrong\",\"text\":\"quota\"}", SITE_WRONG},
        {"{\"id\":1,\"error\":\"explodes\",\"text\":\"quota\"}", SITE_FAILS},
    };
    for (size_t i = 0; i < sizeof(LINES) / sizeof(LINES[0]); i++) {
        struct site_answer answer;
        assert_int_equal(site_words_parse(LINES[i].line, strlen(LINES[i].line), &answer, NULL), 0);
        assert_int_equal(answer.outcome, LINES[i].outcome);
        assert_string_equal(answer.text, "quota");
        site_answer_fini(&answer);
    }
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    static const char *const LINES[] = {
        "",
        "hello",
        "[1]",
        "{\"id\":1",
        "{\"id\":\"1\"}",
        "{\"id\":1,\"taken\":-1}",
        "{\"id\":1,\"glideins\":[1]}",
        "{\"id\":1,\"glideins\":[{\"name\":\"a\"}]}",
        "{\"id\":1,\"glideins\":[{\"name\":\"a\",\"state\":\"lost\"}]}",
    };
    for (size_t i = 0; i < sizeof(LINES) / sizeof(LINES[0]); i++) {
        struct site_answer answer;
        struct err err = {""};
        assert_int_equal(site_words_parse(LINES[i], strlen(LINES[i]), &answer, &err), -EINVAL);
        assert_string_not_equal(err.text, "");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_lines),
        cmocka_unit_test(an_answer_is_read),
        cmocka_unit_test(errors_have_three_words),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
