/* tests/unit/base/test_plain_env.c - what of our environment a process of another account gets.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include "base/loop.h"
#include "base/loop_run.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/os/os_run.h"
#include "base/plain_env.h"
#include "base/vec.h"
#include "tests/unit/base/config_fixture.h"

static bool has(const struct vec *env, const char *entry)
{
    for (size_t i = 0; env->items[i] != NULL; i++) {
        if (strcmp(env->items[i], entry) == 0) {
            return true;
        }
    }
    return false;
}

static bool has_name(const struct vec *env, const char *name)
{
    for (size_t i = 0; env->items[i] != NULL; i++) {
        if (strncmp(env->items[i], name, strlen(name)) == 0) {
            return true;
        }
    }
    return false;
}

static void only_what_a_daemon_needs_goes_to_another_account(void **state)
{
    (void)state;
    static const char *const KEPT[] = {"ROOST_CONFIG", "LC_TIME", "TZ", "OF_THE_CONFIGURATION"};
    static const char *const SECRET[] = {
        "AWS_SECRET_ACCESS_KEY",    "SSH_AUTH_SOCK", "LC_", "XROOST_A",
        "OF_THE_CONFIGURATION_NOT", "PATHS"};
    struct config_memory memory = {.files = {{"/etc/roost.conf",
                                              "NOTE = \"$ENV(OF_THE_CONFIGURATION)\""}},
                                   .environment = {{"OF_THE_CONFIGURATION", "x"}}};
    struct config *config = load_good(&memory);
    struct loop *loop = NULL;
    struct os *os = NULL;
    struct vec env = {0};
    for (size_t i = 0; i < ARRAY_COUNT(KEPT); i++) {
        assert_int_equal(setenv(KEPT[i], "x", 1), 0);
    }
    for (size_t i = 0; i < ARRAY_COUNT(SECRET); i++) {
        assert_int_equal(setenv(SECRET[i], "x", 1), 0);
    }
    assert_int_equal(loop_create(&loop, NULL), 0);
    assert_int_equal(os_create(loop, &os, NULL), 0);
    plain_env_make(os, config, &env);
    assert_null(env.items[env.count - 1]);
    for (size_t i = 0; i < ARRAY_COUNT(KEPT); i++) {
        char entry[64];
        (void)snprintf(entry, sizeof(entry), "%s=x", KEPT[i]);
        assert_true(has(&env, entry));
    }
    for (size_t i = 0; i < ARRAY_COUNT(SECRET); i++) {
        char begin[64];
        (void)snprintf(begin, sizeof(begin), "%s=", SECRET[i]);
        assert_false(has_name(&env, begin));
    }
    assert_false(has_name(&env, "HOME="));
    vec_fini(&env, mem_free);
    config_destroy(config);
    os_destroy(os);
    loop_destroy(loop);
}

UNIT_TESTS(UNIT(only_what_a_daemon_needs_goes_to_another_account))
