/* tests/unit/ckpt/test_free_memory.c - how much memory a process may still take.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ckpt/free_memory_linux.h"

#include <ftw.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/support/unit.h"

#define JOB 7

static int make_root(void **state)
{
    char name[] = "/tmp/free_memory.XXXXXX";
    *state = mkdtemp(name) != NULL ? strdup(name) : NULL;
    return *state != NULL ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *stat, int kind, struct FTW *where)
{
    (void)stat;
    (void)kind;
    (void)where;
    return remove(path);
}

static int remove_root(void **state)
{
    int rc = nftw(*state, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    free(*state);
    return rc;
}

/* A file below the root, with the directories that it is in. */
static void put(const char *root, const char *name, const char *text)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s%s", root, name);
    for (char *at = path + strlen(root) + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        (void)mkdir(path, 0700); /* or it is there */
        *at = '/';
    }
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void the_machine_has_what_is_available_and_its_swap(void **state)
{
    put(*state, "/proc/meminfo",
        "MemTotal: 900 kB\nMemFree: 1 kB\nMemAvailable:  300 kB\nSwapTotal: 70 kB\nSwapFree: 50 "
        "kB\n");
    assert_int_equal(free_memory(*state, JOB), 350 * 1024);
}

static void where_nobody_says_there_is_no_end(void **state)
{
    assert_true(free_memory(*state, JOB) == UINT64_MAX);
}

static void the_least_of_all_groups_counts(void **state)
{
    put(*state, "/proc/meminfo", "MemAvailable: 1000 kB\n");
    put(*state, "/proc/7/cgroup", "4:memory:/other\n0::/pool/slot/job\n");
    put(*state, "/sys/fs/cgroup/pool/slot/job/memory.max", "max\n");
    put(*state, "/sys/fs/cgroup/pool/slot/job/memory.current", "5000\n");
    put(*state, "/sys/fs/cgroup/pool/slot/memory.max", "9000\n");
    put(*state, "/sys/fs/cgroup/pool/slot/memory.current", "5000\n");
    put(*state, "/sys/fs/cgroup/pool/memory.max", "90000\n");
    put(*state, "/sys/fs/cgroup/pool/memory.current", "5000\n");
    assert_int_equal(free_memory(*state, JOB), 4000);
    put(*state, "/sys/fs/cgroup/pool/memory.max", "8000\n");
    assert_int_equal(free_memory(*state, JOB), 3000);
    put(*state, "/sys/fs/cgroup/memory.max", "7000\n");
    put(*state, "/sys/fs/cgroup/memory.current", "5000\n");
    assert_int_equal(free_memory(*state, JOB), 2000);
}

static void what_is_of_files_is_free(void **state)
{
    put(*state, "/proc/7/cgroup", "0::/job\n");
    put(*state, "/sys/fs/cgroup/job/memory.max", "9000\n");
    put(*state, "/sys/fs/cgroup/job/memory.current", "8000\n");
    put(*state, "/sys/fs/cgroup/job/memory.stat",
        "anon 1\ninactive_anon 5\nactive_anon 5\ninactive_file 700\nactive_file 80\n");
    assert_int_equal(free_memory(*state, JOB), 1780);
}

static void a_group_above_its_limit_has_nothing(void **state)
{
    put(*state, "/proc/7/cgroup", "0::/job\n");
    put(*state, "/sys/fs/cgroup/job/memory.max", "9000\n");
    put(*state, "/sys/fs/cgroup/job/memory.current", "9001\n");
    assert_int_equal(free_memory(*state, JOB), 0);
}

static void a_group_that_is_not_to_be_seen_is_none(void **state)
{
    put(*state, "/proc/7/cgroup", "0::/../job\n");
    put(*state, "/sys/fs/job/memory.max", "9000\n");
    put(*state, "/sys/fs/job/memory.current", "1\n");
    put(*state, "/sys/fs/cgroup/unused", "");
    assert_true(free_memory(*state, JOB) == UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_machine_has_what_is_available_and_its_swap, make_root,
                                        remove_root),
        cmocka_unit_test_setup_teardown(where_nobody_says_there_is_no_end, make_root, remove_root),
        cmocka_unit_test_setup_teardown(the_least_of_all_groups_counts, make_root, remove_root),
        cmocka_unit_test_setup_teardown(what_is_of_files_is_free, make_root, remove_root),
        cmocka_unit_test_setup_teardown(a_group_above_its_limit_has_nothing, make_root,
                                        remove_root),
        cmocka_unit_test_setup_teardown(a_group_that_is_not_to_be_seen_is_none, make_root,
                                        remove_root),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
