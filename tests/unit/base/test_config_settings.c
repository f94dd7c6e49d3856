/* Tests of base/config/config.h: what is set at run time, and what a new configuration changes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/config/config.h"

#include <errno.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "tests/unit/base/config_fixture.h"

#define BASE "PERSISTENT_CONFIG_DIR = /p\nENABLE_PERSISTENT_CONFIG = true\n"

/* The file after one change; release it.  NULL: refused. */
static char *edit(const char *text, const char *name, const char *value, struct err *err)
{
    struct strbuf out;
    strbuf_init(&out, 0);
    int rc = config_settings_edit("/p/startd.conf", text, name, value, &out, err);
    assert_true(rc == 0 || err->text[0] != '\0');
    char *made = strbuf_take(&out);
    if (rc < 0) {
        mem_free(made);
        return NULL;
    }
    return made;
}

static struct config *with_settings(char *text)
{
    struct config_memory memory = {
        .files = {{"/etc/roost.conf", BASE "START = a\n"}, {"/p/startd.conf", text}}};
    struct config *config = load_good(&memory);
    mem_free(text);
    return config;
}

static void a_value_comes_back_as_it_was_given(void **state)
{
    (void)state;
    static const char *const VALUES[] = {
        "x == \"a b\" && y < 3",
        "a\\b\\",
        "\\\"",
        "${HOME} $ { } # no comment // nor this",
        "'",
        "",
        "it's {a, b}; include(\"/etc/passwd\")",
        "= += \xc3\xa4",
    };
    struct err err = {""};
    for (size_t i = 0; i < ARRAY_COUNT(VALUES); i++) {
        char *once = edit("", "NOTE", VALUES[i], &err);
        assert_non_null(once);
        char *twice = edit(once, "PORT", "7", &err); /* read and written once more */
        mem_free(once);
        struct config *config = with_settings(twice);
        assert_string_equal(config_string(config, "NOTE"), VALUES[i]);
        assert_int_equal(config_int(config, "PORT"), 7);
        config_destroy(config);
    }
}

static void a_setting_replaces_its_former_self_and_can_be_taken_back(void **state)
{
    (void)state;
    struct err err = {""};
    char *first = edit("", "START", "$(START) && b", &err);
    char *second = edit(first, "start", "$(START) && c", &err);
    char *third = edit(second, "FACTOR", "0.25", &err);
    struct config *config = with_settings(mem_strdup(third));
    assert_string_equal(config_expr(config, "START"), "a && c");
    struct strbuf names;
    strbuf_init(&names, 0);
    config_settings_names(config, &names);
    assert_string_equal(strbuf_text(&names), "START, FACTOR");
    strbuf_fini(&names);
    config_destroy(config);
    config = with_settings(edit(third, "Start", NULL, &err));
    assert_string_equal(config_expr(config, "START"), "a");
    assert_true(config_real(config, "FACTOR") == 0.25);
    config_destroy(config);
    assert_null(edit(third, "PORT", NULL, &err));
    assert_string_equal(err.text, "PORT was not set at run time");
    mem_free(first);
    mem_free(second);
    mem_free(third);
}

static void hostile_values_and_names_are_refused(void **state)
{
    (void)state;
    struct err err = {""};
    assert_null(edit("", "NOTE", "a\nPORT = 1", &err));
    assert_string_equal(
        err.text, "NOTE: the value contains a control character; a value is one line of text");
    assert_null(edit("", "NOTE", "\x7f", &err));
    assert_null(edit("", "NOTE = 1\nPORT", "1", &err));
    assert_null(edit("", "", "1", &err));
    assert_null(edit("", "include", "1", &err));
    assert_null(edit("node a { }", "NOTE", "1", &err));
    assert_string_equal(err.text, "/p/startd.conf: line 1 is not of the form KNOB = VALUE");
    assert_null(edit("NOTE += a", "PORT", "1", &err));
    assert_null(edit("ATTRS = {\"a b\"}", "PORT", "1", &err));
    assert_null(edit("NOTE = {", "PORT", "1", &err));
    char *large = mem_alloc(CONFIG_SETTINGS_MAX + 1);
    memset(large, 'x', CONFIG_SETTINGS_MAX);
    large[CONFIG_SETTINGS_MAX] = '\0';
    assert_null(edit("", "NOTE", large, &err));
    assert_string_equal(err.text, "NOTE: the value is longer than 65536 bytes");
    large[CONFIG_VALUE_MAX] = '\0';
    char *text = mem_strdup("");
    for (unsigned i = 0; text != NULL; i++) { /* until the file is too large */
        char name[16];
        (void)snprintf(name, sizeof(name), "N%u", i);
        char *next = edit(text, name, large, &err);
        assert_true(i < CONFIG_SETTINGS_MAX / CONFIG_VALUE_MAX);
        mem_free(text);
        text = next;
    }
    assert_string_equal(err.text, "/p/startd.conf would be longer than 1048576 bytes");
    mem_free(large);
}

static void only_what_the_daemon_has_may_be_named(void **state)
{
    (void)state;
    struct config *config = load_one(BASE "StartIdleTime = 5\n");
    struct err err = {""};
    assert_int_equal(config_settings_may_name(config, "start", &err), 0);
    assert_int_equal(config_settings_may_name(config, "STARTIDLETIME", &err), 0);
    assert_int_equal(config_settings_may_name(config, "SLOT_TYPE_3", &err), 0);
    assert_int_equal(config_settings_may_name(config, "STARTD_DEBUG", &err), 0);
    assert_int_equal(config_settings_may_name(config, "STRAT", &err), -ENOENT);
    assert_string_equal(err.text, "unknown knob 'STRAT' (did you mean START?)");
    assert_int_equal(config_settings_may_name(config, "NEGOTIATOR_INTERVAL", &err), -ENOENT);
    assert_int_equal(config_settings_may_name(config, "HOSTNAME", &err), -ENOENT);
    assert_int_equal(config_settings_may_name(config, "a b", &err), -EINVAL);
    assert_int_equal(config_settings_may_name(config, "settable_attrs_WRITE", &err), -EPERM);
    assert_int_equal(config_settings_may_name(config, "ENABLE_PERSISTENT_CONFIG", &err), -EPERM);
    assert_int_equal(config_settings_may_name(config, "PERSISTENT_CONFIG_DIR", &err), -EPERM);
    config_destroy(config);
}

static void settings_on_trial_stand_for_the_file(void **state)
{
    (void)state;
    static const struct knob_table *const tables[] = {&TABLE, &knobs_common};
    struct config_memory memory = {
        .files = {{"/etc/roost.conf", BASE}, {"/p/startd.conf", "PORT = 1\n"}}};
    const struct config_source source = config_memory_source(&memory);
    struct config_options options = {.subsystem = "STARTD",
                                     .path = "/etc/roost.conf",
                                     .tables = tables,
                                     .table_count = 2,
                                     .settings = "FACTOR = 0.25\n"};
    struct config *config = NULL;
    struct err err = {""};
    assert_int_equal(config_load(&source, &options, &config, &err), 0);
    assert_int_equal(config_int(config, "PORT"), 9618);
    assert_true(config_real(config, "FACTOR") == 0.25);
    config_destroy(config);
    options.settings = "\nNOTE = \"$(NOTE2)\"\nNOTE2 = \"$(NOTE)\"\n";
    assert_int_equal(config_load(&source, &options, &config, &err), -ELOOP);
    assert_string_equal(
        err.text, "/p/startd.conf:3: NOTE2: the value refers to itself: NOTE -> NOTE2 -> NOTE");
}

static const char *differs(const char *before, const char *after)
{
    static char text[1000];
    struct config *old = load_one(before), *fresh = load_one(after);
    struct strbuf changed, restart;
    strbuf_init(&changed, 0);
    strbuf_init(&restart, 0);
    config_compare(old, fresh, &changed, &restart);
    (void)snprintf(text, sizeof(text), "%s; %s", strbuf_text(&changed), strbuf_text(&restart));
    strbuf_fini(&changed);
    strbuf_fini(&restart);
    config_destroy(old);
    config_destroy(fresh);
    return text;
}

static void a_comparison_names_what_changed_and_what_needs_a_restart(void **state)
{
    (void)state;
    assert_string_equal(differs("", ""), "; ");
    assert_string_equal(differs("START = a\n", "START = b\nPORT = 1\n"), "START, PORT; PORT");
    assert_string_equal(differs("", "HIBERNATE = a\n"), "HIBERNATE; ");
    assert_string_equal(differs("HIBERNATE = a\n", ""), "HIBERNATE; ");
    assert_string_equal(differs("INTERVAL = 60\nBEAT = 1s\nMAX_SIZE = 1k\nENABLED = yes\n",
                                "INTERVAL = 1m\nBEAT = 1000\nMAX_SIZE = 1024\nENABLED = on\n"),
                        "; ");
    assert_string_equal(differs("ENABLED = yes\n", "ENABLED = no\nBEAT = 2\n"), "ENABLED, BEAT; ");
    assert_string_equal(differs("A = 1\nFACTOR = \"0.$(A)\"\n", "A = 2\nFACTOR = \"0.$(A)\"\n"),
                        "FACTOR; ");
    assert_string_equal(differs("A = 1\n", "A = 2\n"), "; ");
    assert_string_equal(differs("SLOT_TYPE_1 = a\nSLOT_TYPE_2 = a\n", "SLOT_TYPE_1 = b\n"),
                        "SLOT_TYPE_1, SLOT_TYPE_2; SLOT_TYPE_1, SLOT_TYPE_2");
    assert_string_equal(differs("MORE_ATTRS = a B\nA = 1\nB = $(A)\nC = 1\n",
                                "MORE_ATTRS = a B\nA = 1\nB = 2\nC = 2\n"),
                        "B; ");
    assert_string_equal(differs("MORE_ATTRS = a\n", "MORE_ATTRS = a\nA = 1\n"), "A; ");
    assert_string_equal(differs("", "SLOT_TYPE_3 = a\n"), "SLOT_TYPE_3; SLOT_TYPE_3");
    assert_string_equal(differs("node a { watts = 1 }\n", "node a { watts = 2 }\n"), "node; ");
    assert_string_equal(differs("node a { watts = 1 }\n", "node b { watts = 1 }\n"), "node; ");
    assert_string_equal(differs("node a { }\n", "node a { }\nnode b { }\n"), "node; ");
    assert_string_equal(differs("node a { poll = 1s }\n", "node a { poll = 1000 }\n"), "; ");
}

UNIT_TESTS(UNIT(a_value_comes_back_as_it_was_given),
           UNIT(a_setting_replaces_its_former_self_and_can_be_taken_back),
           UNIT(hostile_values_and_names_are_refused), UNIT(only_what_the_daemon_has_may_be_named),
           UNIT(settings_on_trial_stand_for_the_file),
           UNIT(a_comparison_names_what_changed_and_what_needs_a_restart))
