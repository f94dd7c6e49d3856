/* What the daemons read and run, in a directory of the test's own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <unistd.h>

#include "base/check.h"
#include "base/config/config.h"
#include "starter/job/cage_plan.h"
#include "starter/files/kept.h"
#include "tests/support/config_memory.h"
#include "tests/support/loop_rig.h"

struct fixture {
    struct loop *loop;
    struct os *os;
    char dir[FAST_DIR_SIZE];
    struct config *config;
    struct kept kept;
};

static int set_up(void **state)
{
    struct fixture *fixture = mem_zalloc(sizeof(*fixture));
    loop_rig_open(&fixture->loop, &fixture->os, fixture->dir);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    kept_fini(&fixture->kept);
    config_destroy(fixture->config);
    loop_rig_close(fixture->loop, fixture->os, fixture->dir);
    mem_free(fixture);
    return 0;
}

static const char *at(const struct fixture *fixture, const char *name)
{
    static char path[4][128];
    static unsigned next;
    char *ret = path[next++ % 4];
    (void)snprintf(ret, sizeof(path[0]), "%s%s%s", fixture->dir, name[0] != '\0' ? "/" : "", name);
    return ret;
}

static void make_file(const struct fixture *fixture, const char *name)
{
    char above[128];
    (void)snprintf(above, sizeof(above), "%s", at(fixture, name));
    *strrchr(above, '/') = '\0';
    assert_int_equal(os_mkdirs(fixture->os, above, 0755, NULL), 0);
    assert_int_equal(os_write_file(fixture->os, at(fixture, name), "x", 1, 0755, false, NULL), 0);
}

static int find(struct fixture *fixture, const char *text, const char *hidden, struct err *err)
{
    static const struct knob_table *const tables[] = {&knobs_common};
    char said[8192];
    (void)snprintf(said, sizeof(said), "TOP = \"%s\"\nLOCAL_DIR = \"%s\"\nSBIN = \"%s/sbin\"\n%s",
                   fixture->dir, fixture->dir, fixture->dir, text);
    struct config_memory memory = {.files = {{"/nowhere/roost.conf", said}}};
    const struct config_source source = config_memory_source(&memory);
    const struct config_options options = {.subsystem = "STARTER",
                                           .path = "/nowhere/roost.conf",
                                           .tables = tables,
                                           .table_count = 1,
                                           .gather_texts = true};
    if (config_load(&source, &options, &fixture->config, err) != 0) {
        fail_msg("%s", err->text);
    }
    return kept_find(fixture->os, fixture->config, &hidden, hidden != NULL ? 1 : 0, &fixture->kept,
                     err);
}

static bool has(const struct vec *list, const char *path)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->items[i], path) == 0) {
            return true;
        }
    }
    return false;
}

static void named_files_are_readonly_and_stay_where_they_are(void **state)
{
    struct fixture *fixture = *state;
    struct err err;
    make_file(fixture, "sbin/roost-schedd");
    make_file(fixture, "tools/deep/wake");
    make_file(fixture, "tools/hook");
    make_file(fixture, "work/data");
    assert_int_equal(find(fixture,
                          "WAKE = \"$(TOP)/tools/deep/wake --now\"\n"
                          "OWN = \"size(\\\"$(TOP)/tools/hook\\\") > 0\"\n"
                          "WORK = \"$(TOP)/work\"\nNONE = \"$(TOP)/none\"\n",
                          NULL, &err),
                     0);
    const struct kept *kept = &fixture->kept;
    assert_true(has(&kept->readonly, at(fixture, "tools/deep/wake")));
    assert_true(has(&kept->readonly, at(fixture, "tools/hook")));
    assert_true(has(&kept->readonly, at(fixture, "sbin")));
    assert_true(has(&kept->ways, at(fixture, "tools/deep")));
    assert_true(has(&kept->ways, at(fixture, "tools")));
    assert_true(has(&kept->ways, fixture->dir));
    assert_false(has(&kept->readonly, at(fixture, "work"))); /* jobs may work there */
    assert_false(has(&kept->readonly, at(fixture, "sbin/roost-schedd")));
}

static void the_directory_of_a_link_is_readonly_and_what_it_leads_to(void **state)
{
    struct fixture *fixture = *state;
    struct err err;
    make_file(fixture, "real/deep/tool");
    assert_int_equal(os_mkdirs(fixture->os, at(fixture, "links"), 0755, NULL), 0);
    assert_int_equal(symlink("../real/./deep/../deep", at(fixture, "links/there")), 0);
    assert_int_equal(symlink("tool", at(fixture, "real/deep/again")), 0);
    assert_int_equal(symlink("round", at(fixture, "links/round")), 0);
    assert_int_equal(find(fixture, "A = \"$(TOP)/links/there/again\"\nB = \"$(TOP)/links/round\"\n",
                          NULL, &err),
                     0);
    const struct kept *kept = &fixture->kept;
    assert_true(has(&kept->readonly, at(fixture, "links")));
    assert_true(has(&kept->readonly, at(fixture, "real/deep"))); /* with the tool */
    assert_false(has(&kept->readonly, at(fixture, "real/deep/tool")));
    assert_true(has(&kept->ways, at(fixture, "real")));
    assert_false(has(&kept->readonly, fixture->dir));
}

static void what_is_hidden_is_made_and_stays_where_it_is(void **state)
{
    struct fixture *fixture = *state;
    struct err err;
    struct os_stat stat;
    char hidden[128];
    make_file(fixture, "a/b/secrets/password");
    (void)snprintf(hidden, sizeof(hidden), "%s", at(fixture, "a/b/secrets"));
    assert_int_equal(find(fixture, "PASSWORD = \"$(TOP)/a/b/secrets/password\"\n", hidden, &err),
                     0);
    assert_true(has(&fixture->kept.ways, at(fixture, "a/b")));
    assert_true(has(&fixture->kept.ways, at(fixture, "a")));
    assert_false(has(&fixture->kept.readonly, at(fixture, "a/b/secrets/password")));
    assert_int_equal(os_stat(fixture->os, at(fixture, "config"), &stat), 0); /* of settings */
    assert_true(stat.is_dir);
    assert_true(has(&fixture->kept.readonly, at(fixture, "config")));
}

static void a_hidden_directory_that_is_not_there_is_made(void **state)
{
    struct fixture *fixture = *state;
    struct err err;
    struct os_stat stat;
    char hidden[128];
    (void)snprintf(hidden, sizeof(hidden), "%s", at(fixture, "later/spool"));
    assert_int_equal(find(fixture, "", hidden, &err), 0);
    assert_int_equal(os_stat(fixture->os, hidden, &stat), 0);
    assert_true(stat.is_dir);
    assert_true(has(&fixture->kept.ways, at(fixture, "later")));
}

static void more_files_than_can_be_held_are_an_error_that_names_one(void **state)
{
    struct fixture *fixture = *state;
    struct err err;
    char text[8192], name[64];
    size_t used = 0;
    for (int i = 0; i <= CAGE_KEPT_MAX; i++) {
        (void)snprintf(name, sizeof(name), "tools/tool%d", i);
        make_file(fixture, name);
        used +=
            (size_t)snprintf(text + used, sizeof(text) - used, "T%d = \"$(TOP)/%s\"\n", i, name);
    }
    assert_int_equal(find(fixture, text, NULL, &err), -E2BIG);
    assert_non_null(strstr(err.text, "/tools/tool"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(named_files_are_readonly_and_stay_where_they_are),
        TEST(the_directory_of_a_link_is_readonly_and_what_it_leads_to),
        TEST(what_is_hidden_is_made_and_stays_where_it_is),
        TEST(a_hidden_directory_that_is_not_there_is_made),
        TEST(more_files_than_can_be_held_are_an_error_that_names_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
