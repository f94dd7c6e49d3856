/* tests/unit/transfer/test_transfer_plugins.c - real programs are asked which URLs they fetch.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/loop_rig.h"

#include <unistd.h>

#include "base/check.h"
#include "transfer/transfer_plugins.h"

struct fixture {
    struct loop *loop;
    struct os *os;
    struct log *log;
    struct strbuf log_text;
    char dir[FAST_DIR_SIZE];
    char path[4][LOOP_RIG_PATH_SIZE];
    unsigned programs;
    const char *curl;
    bool is_ready;
};

static int set_up(void **state)
{
    struct fixture *f = mem_zalloc(sizeof *f);
    /* Not in memory: such a file system may be mounted noexec. */
    (void)snprintf(f->dir, sizeof f->dir, "/tmp/roost-test-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    MUST(loop_create(&f->loop, err));
    MUST(os_create(f->loop, &f->os, err));
    strbuf_init(&f->log_text, 0);
    f->log = loop_rig_log(f->loop, LOG_LEVEL_INFO, &f->log_text);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    log_destroy(f->log);
    strbuf_fini(&f->log_text);
    loop_rig_close(f->loop, f->os, f->dir);
    mem_free(f);
    return 0;
}

/* Writes a plug-in whose answer the shell command `script` gives; returns its path. */
static const char *add_program(struct fixture *f, const char *script)
{
    char name[32], text[600];
    char *path = f->path[f->programs];
    (void)snprintf(name, sizeof name, "plugin%u", f->programs++);
    (void)snprintf(text, sizeof text, "#!/bin/sh\n[ \"$1\" = -classad ] || exit 9\n%s\n", script);
    loop_rig_write(f->os, f->dir, name, text, 0755);
    loop_rig_path(f->dir, name, path);
    return path;
}

static struct transfer_plugins *ask_all(struct fixture *f, uint64_t answer_ms)
{
    const char *paths[5] = {NULL};
    char scratch[LOOP_RIG_PATH_SIZE];
    for (unsigned i = 0; i < f->programs; i++) {
        paths[i] = f->path[i];
    }
    loop_rig_path(f->dir, "answer", scratch);
    const struct transfer_plugins_options options = {.loop = f->loop,
                                                     .os = f->os,
                                                     .log = f->log,
                                                     .paths = paths,
                                                     .curl = f->curl,
                                                     .scratch = scratch,
                                                     .answer_ms = answer_ms,
                                                     .ready = loop_rig_set_flag,
                                                     .arg = &f->is_ready};
    struct transfer_plugins *plugins = transfer_plugins_create(&options);
    loop_rig_await(f->loop, &f->is_ready, &f->log_text);
    assert_true(transfer_plugins_are_known(plugins));
    return plugins;
}

static void assert_methods(const struct transfer_plugins *plugins, const char *expected)
{
    struct strbuf methods;
    strbuf_init(&methods, 0);
    transfer_plugins_methods(plugins, &methods);
    assert_string_equal(strbuf_text(&methods), expected);
    strbuf_fini(&methods);
}

static void a_plugin_is_found_by_the_methods_that_it_names(void **state)
{
    struct fixture *f = *state;
    const char *path =
        add_program(f, "echo 'SupportedMethods = \"gs,s3\"'; echo 'MultipleFileSupport = true'");
    struct transfer_plugins *plugins = ask_all(f, 0);
    struct transfer_plugin found;
    assert_methods(plugins, "gs,s3");
    assert_true(transfer_plugins_find(plugins, "S3://bucket/file", &found));
    assert_string_equal(found.path, path);
    assert_true(found.takes_several);
    assert_false(transfer_plugins_find(plugins, "http://host/file", &found));
    assert_string_equal(strbuf_text(&f->log_text), "");
    transfer_plugins_destroy(plugins);
}

static void a_plugin_that_cannot_be_used_is_named_in_the_log(void **state)
{
    struct fixture *f = *state;
    static const char *const REASONS[] = {"it ended with status 3", "it was ended by signal 9",
                                          "names no SupportedMethods"};
    (void)add_program(f, "exit 3");
    (void)add_program(f, "kill -9 $$");
    (void)add_program(f, "echo 'Fetches = \"gs\"'");
    (void)add_program(f, "echo 'SupportedMethods = \"gs\"'");
    struct transfer_plugins *plugins = ask_all(f, 0);
    assert_methods(plugins, "gs");
    for (unsigned i = 0; i < ARRAY_COUNT(REASONS); i++) {
        assert_non_null(strstr(strbuf_text(&f->log_text), REASONS[i]));
        assert_non_null(strstr(strbuf_text(&f->log_text), f->path[i]));
    }
    transfer_plugins_destroy(plugins);
}

static void a_plugin_that_does_not_answer_holds_up_nobody(void **state)
{
    struct fixture *f = *state;
    (void)add_program(f, "sleep 1000 & wait");
    f->curl = f->path[0]; /* not asked: any program that exists */
    struct transfer_plugins *plugins = ask_all(f, 100);
    assert_methods(plugins, "ftp,http,https");
    assert_non_null(strstr(strbuf_text(&f->log_text), "no answer to -classad within 100 ms"));
    transfer_plugins_destroy(plugins);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_plugin_is_found_by_the_methods_that_it_names, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_plugin_that_cannot_be_used_is_named_in_the_log, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_plugin_that_does_not_answer_holds_up_nobody, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
