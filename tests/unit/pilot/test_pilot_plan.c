/* tests/unit/pilot/test_pilot_plan.c - arguments, token files, and the configuration that comes of
 * them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "pilot/pilot_plan.h"

#define CERTIFICATE "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
#define KEY         "-----BEGIN PUBLIC KEY-----\nMFkw\n-----END PUBLIC KEY-----\n"

static int options_of(const char *text, struct pilot_options *ret, struct err *err)
{
    static char words[1024];
    char *argv[32] = {(char *)(uintptr_t) "roost-pilot"};
    int argc = 1;
    (void)snprintf(words, sizeof words, "%s", text);
    for (char *at = words; *at != '\0' && argc < 32;) {
        argv[argc++] = at;
        at += strcspn(at, " ");
        while (*at == ' ') {
            *at++ = '\0';
        }
    }
    return pilot_plan_options(argc, argv, ret, err);
}

static void what_is_said_is_understood(void **state)
{
    struct pilot_options options;
    (void)state;
    assert_int_equal(
        options_of("--collector cm:9618 --token t --cpus 4 --memory 512 --lifetime 12h "
                   "-idle-timeout 0 --name n --execute /x --ca c --key a.pub --key b "
                   "START=true STARTD_ATTRS+=A",
                   &options, NULL),
        0);
    assert_string_equal(options.collector, "cm:9618");
    assert_string_equal(options.token_file, "t");
    assert_string_equal(options.ca_file, "c");
    assert_string_equal(options.name, "n");
    assert_string_equal(options.execute, "/x");
    assert_int_equal(options.cpus, 4);
    assert_int_equal(options.memory_mib, 512);
    assert_int_equal(options.lifetime_s, 43200);
    assert_int_equal(options.idle_timeout_s, 0);
    assert_int_equal(options.key_count, 2);
    assert_string_equal(options.key_files[1], "b");
    assert_int_equal(options.setting_count, 2);
    assert_int_equal(options_of("--collector c --token t", &options, NULL), 0);
    assert_int_equal(options.idle_timeout_s, PILOT_IDLE_TIMEOUT_S);
    assert_int_equal(options.lifetime_s, 0);
    assert_int_equal(options_of("--help", &options, NULL), 0);
    assert_true(options.help);
    assert_int_equal(options_of("-version", &options, NULL), 0);
    assert_true(options.version);
}

static void what_is_wrong_is_named(void **state)
{
    static const char *const CASES[][2] = {
        {"", "--collector is missing"},
        {"--collector c", "--token is missing"},
        {"--collector", "its argument is missing"},
        {"--collector c --token t --cpus 0", "--cpus: '0'"},
        {"--collector c --token t --memory x", "--memory: 'x'"},
        {"--collector c --token t --lifetime soon", "--lifetime: 'soon'"},
        {"--collector c --token t --idle-timeout -1", "--idle-timeout: '-1'"},
        {"--collector c --token t --what x", "unknown argument '--what'"},
        {"--collector c --token t START", "neither an option nor of the form KNOB=VALUE"},
        {"--collector c --token t =x", "neither an option"},
        {"--collector c --token t A+B=x", "neither an option"},
        {"--collector c --token t 1A=x", "neither an option"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct pilot_options options;
        struct err err = {""};
        assert_int_equal(options_of(CASES[i][0], &options, &err), -EINVAL);
        if (strstr(err.text, CASES[i][1]) == NULL) {
            fail_msg("%s: %s", CASES[i][0], err.text);
        }
    }
}

#define HOLDER "-----BEGIN PRIVATE KEY-----\nMIGH\n-----END PRIVATE KEY-----\n"

static void a_bundle_is_taken_apart(void **state)
{
    struct pilot_bundle bundle;
    (void)state;
    assert_int_equal(pilot_plan_bundle("# ours\na.b.c \r\n" HOLDER "\n" CERTIFICATE KEY
                                       "kid: new\n" KEY CERTIFICATE,
                                       &bundle, NULL),
                     0);
    assert_string_equal(bundle.token, "a.b.c");
    assert_string_equal(bundle.holder, HOLDER);
    assert_string_equal(bundle.ca, CERTIFICATE CERTIFICATE);
    assert_int_equal(bundle.keys.count, 2);
    const struct pilot_key *key = bundle.keys.items[0];
    assert_string_equal(key->kid, "POOL");
    assert_string_equal(key->pem, KEY);
    key = bundle.keys.items[1];
    assert_string_equal(key->kid, "new");
    pilot_bundle_fini(&bundle);
    assert_int_equal(pilot_plan_bundle("a.b.c\n" HOLDER, &bundle, NULL), 0); /* nothing else */
    assert_null(bundle.ca);
    assert_int_equal(bundle.keys.count, 0);
    pilot_bundle_fini(&bundle);
}

static void what_is_no_token_file_is_refused(void **state)
{
    static const char *const CASES[][2] = {
        {"", "no token"},
        {CERTIFICATE, "no token"},
        {"a.b.c\nd.e.f\n", "'d.e.f' is not expected"},
        {"a b", "'a b' is not expected"},
        {"a.b.c\n-----BEGIN PUBLIC KEY-----\nMFkw\n", "'-----END PUBLIC KEY-----' is missing"},
        {"a.b.c\n", "the private key of the token is missing"},
        {"a.b.c\n" HOLDER HOLDER, "'-----BEGIN PRIVATE KEY-----' is not expected"},
        {"a.b.c\n-----BEGIN EC PRIVATE KEY-----\nMIGH\n-----END EC PRIVATE KEY-----\n",
         "is not expected"},
        {"a.b.c\nkid: ../x\n" KEY, "'../x' is not a valid key name"},
        {"a.b.c\nkid: .x\n" KEY, "'.x' is not a valid key name"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct pilot_bundle bundle;
        struct err err = {""};
        assert_int_equal(pilot_plan_bundle(CASES[i][0], &bundle, &err), -EINVAL);
        if (strstr(err.text, CASES[i][1]) == NULL) {
            fail_msg("%s: %s", CASES[i][0], err.text);
        }
    }
}

static int config_of(const char *arguments, struct strbuf *text, struct err *err)
{
    const struct pilot_place place = {.directory = "/tmp/p", .name = "gl@here", .now_s = 1000};
    struct pilot_options options;
    strbuf_init(text, 0);
    assert_int_equal(options_of(arguments, &options, err), 0);
    return pilot_plan_config(&options, &place, text, err);
}

static bool has_line(struct strbuf *text, const char *line)
{
    const char *found = strstr(strbuf_text(text), line);
    return found != NULL && (found == strbuf_text(text) || found[-1] == '\n') &&
           found[strlen(line)] == '\n';
}

static void the_startd_is_told_what_the_pilot_was_told(void **state)
{
    struct strbuf text;
    (void)state;
    assert_int_equal(config_of("--collector cm:1 --token t --cpus 3 --memory 99 --lifetime 50 "
                               "--idle-timeout 7 GLIDEIN_Site=\"X\" RANK=${a}\\b START+=c",
                               &text, NULL),
                     0);
    static const char *const LINES[] = {
        "LOCAL_DIR = \"/tmp/p\"",
        "EXECUTE = \"$(LOCAL_DIR)/execute\"",
        "COLLECTOR_HOST = \"cm:1\"",
        "STARTD_NAME = \"gl@here\"",
        "UID_DOMAIN = \"gl@here\"",
        "NUM_CPUS = 3",
        "MEMORY = 99",
        "STARTD_NOCLAIM_SHUTDOWN = 7",
        "STARTD_IS_GLIDEIN = true",
        "GLIDEIN_ToRetire = 1050",
        "DAEMON_SHUTDOWN = \"time() >= GLIDEIN_ToRetire\"",
        "STARTD_ATTRS += \"GLIDEIN_ToRetire\"",
        "GLIDEIN_Site = \"\\\"X\\\"\"",
        "STARTD_ATTRS += \"GLIDEIN_Site\"",
        "RANK = \"\\${a}\\\\b\"",
        "START += \"c\"",
    };
    for (size_t i = 0; i < sizeof LINES / sizeof LINES[0]; i++) {
        if (!has_line(&text, LINES[i])) {
            fail_msg("'%s' is not in\n%s", LINES[i], strbuf_text(&text));
        }
    }
    strbuf_fini(&text);
}

static void what_is_not_said_is_left_to_the_startd(void **state)
{
    struct strbuf text;
    (void)state;
    assert_int_equal(config_of("--collector cm --token t", &text, NULL), 0);
    assert_null(strstr(strbuf_text(&text), "NUM_CPUS"));
    assert_null(strstr(strbuf_text(&text), "\nMEMORY"));
    assert_null(strstr(strbuf_text(&text), "DAEMON_SHUTDOWN"));
    assert_true(has_line(&text, "STARTD_NOCLAIM_SHUTDOWN = 1200"));
    strbuf_fini(&text);
}

static void a_value_cannot_begin_another_line(void **state)
{
    struct strbuf text;
    struct err err = {""};
    (void)state;
    assert_int_equal(config_of("--collector cm --token t START=a\nTOKEN_FILE=b", &text, &err),
                     -EINVAL);
    assert_non_null(strstr(err.text, "START: a value cannot contain a control character"));
    strbuf_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_said_is_understood),
        cmocka_unit_test(what_is_wrong_is_named),
        cmocka_unit_test(a_bundle_is_taken_apart),
        cmocka_unit_test(what_is_no_token_file_is_refused),
        cmocka_unit_test(the_startd_is_told_what_the_pilot_was_told),
        cmocka_unit_test(what_is_not_said_is_left_to_the_startd),
        cmocka_unit_test(a_value_cannot_begin_another_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
