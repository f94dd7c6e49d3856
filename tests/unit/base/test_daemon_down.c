/* The note of a daemon that is to stay down: what it says, in which boot it counts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>
#include <unistd.h>

#include "base/config/config.h"
#include "base/daemon/daemon_down.h"
#include "base/err.h"
#include "base/knob.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/os/os_run.h"

struct fixture {
    struct os *os;
    struct config *config;
    char top[64], text[256];
};

static int read_text(void *context, const char *path, size_t max, char **text, size_t *length,
                     struct err *err)
{
    const struct fixture *f = context;
    (void)path, (void)max, (void)err;
    *text = mem_strdup(f->text);
    *length = strlen(f->text);
    return 0;
}

static int no_list(void *context, const char *path, struct vec *names, struct err *err)
{
    (void)context, (void)path, (void)names;
    return err_set(err, -ENOENT, "no directory");
}

static const char *no_env(void *context, const char *name)
{
    (void)context, (void)name;
    return NULL;
}

static int setup(void **state)
{
    static const struct knob_table *const TABLES[] = {&knobs_common};
    struct fixture *f = mem_zalloc(sizeof(*f));
    assert_int_equal(os_create(NULL, &f->os, NULL), 0);
    (void)snprintf(f->top, sizeof(f->top), "/tmp/roost-test-XXXXXX");
    assert_non_null(mkdtemp(f->top));
    (void)snprintf(f->text, sizeof(f->text), "LOCK = \"%s\"\n", f->top);
    const struct config_source source = {.read_file = read_text,
                                         .list_directory = no_list,
                                         .get_env = no_env,
                                         .context = f};
    const struct config_options options = {.subsystem = "STARTD",
                                           .path = "/roost.conf",
                                           .tables = TABLES,
                                           .table_count = 1};
    struct err err = {""};
    if (config_load(&source, &options, &f->config, &err) != 0) {
        fail_msg("%s", err.text);
    }
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(os_remove_tree(f->os, f->top, NULL), 0);
    config_destroy(f->config);
    os_destroy(f->os);
    mem_free(f);
    return 0;
}

static bool reads(struct fixture *f, bool *same_boot, char why[DAEMON_DOWN_WHY_MAX])
{
    return daemon_down_read(f->os, f->config, "startd", same_boot, why);
}

static void a_note_is_there_until_it_is_taken_back(void **state)
{
    struct fixture *f = *state;
    char why[DAEMON_DOWN_WHY_MAX];
    bool same_boot = false;
    assert_false(reads(f, &same_boot, why));
    assert_int_equal(daemon_down_write(f->os, f->config, "startd", "drained by 12", NULL), 0);
    assert_true(reads(f, &same_boot, why));
    assert_true(same_boot);
    assert_string_equal(why, "drained by 12");
    assert_false(daemon_down_read(f->os, f->config, "schedd", &same_boot, why)); /* of its own */
    assert_int_equal(daemon_down_remove(f->os, f->config, "startd", NULL), 0);
    assert_false(reads(f, &same_boot, why));
    assert_int_equal(daemon_down_remove(f->os, f->config, "startd", NULL), 0);
}

static void a_note_counts_in_its_own_boot(void **state)
{
    struct fixture *f = *state;
    char why[DAEMON_DOWN_WHY_MAX], path[128];
    bool same_boot = true;
    static const char OLD[] = "0-of-before\nlong ago\n";
    (void)snprintf(path, sizeof(path), "%s/startd.down", f->top);
    assert_int_equal(os_write_file(f->os, path, OLD, strlen(OLD), 0644, false, NULL), 0);
    assert_true(reads(f, &same_boot, why));
    assert_false(same_boot);
    assert_string_equal(why, "long ago");
}

static void a_note_that_says_nothing_counts(void **state)
{
    struct fixture *f = *state;
    char why[DAEMON_DOWN_WHY_MAX], path[128];
    bool same_boot = false;
    (void)snprintf(path, sizeof(path), "%s/startd.down", f->top);
    assert_int_equal(os_write_file(f->os, path, "", 0, 0644, false, NULL), 0);
    assert_true(reads(f, &same_boot, why));
    assert_true(same_boot);
    assert_string_equal(why, "unknown: the .down file in LOCK cannot be read");
}

static void a_long_reason_is_cut_and_a_missing_directory_is_named(void **state)
{
    struct fixture *f = *state;
    char why[DAEMON_DOWN_WHY_MAX], text[2 * DAEMON_DOWN_WHY_MAX];
    bool same_boot;
    struct err err = {""};
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    assert_int_equal(daemon_down_write(f->os, f->config, "startd", text, NULL), 0);
    assert_true(reads(f, &same_boot, why));
    assert_int_equal(strlen(why), DAEMON_DOWN_WHY_MAX - 1);
    assert_int_equal(daemon_down_write(f->os, f->config, "no/startd", "x", &err), -ENOENT);
    assert_non_null(strstr(err.text, "no/startd.down"));
}

#define NOTE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

UNIT_TESTS(NOTE(a_note_is_there_until_it_is_taken_back), NOTE(a_note_counts_in_its_own_boot),
           NOTE(a_note_that_says_nothing_counts),
           NOTE(a_long_reason_is_cut_and_a_missing_directory_is_named))
