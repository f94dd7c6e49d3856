/* tests/unit/base/test_os_family.c - what it costs to look at one's own family of processes; a
 * child that does not outlive its parent.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os/os.h"
#include "base/os/os_figures.h"
#include "base/os/os_run.h"

#define STRANGERS 50

/* Returns how many calls of read() this process has made; -1: the kernel does not count them. */
static long count_reads(void)
{
    char text[512] = "";
    FILE *file = fopen("/proc/self/io", "re");
    size_t length = file != NULL ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file != NULL) {
        (void)fclose(file); /* only read from */
    }
    text[length] = '\0';
    const char *at = strstr(text, "syscr: ");
    return at != NULL ? strtol(at + strlen("syscr: "), NULL, 10) : -1;
}

static long reads_of_a_look(struct os *os)
{
    struct os_figures figures;
    long before = count_reads();
    os_descendants_figures(os, false, &figures);
    return figures.processes == 1 ? count_reads() - before : -1;
}

static bool has_lists_of_children(void)
{
    char path[80];
    (void)snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    return access(path, R_OK) == 0;
}

/* Looks at its family, which is one child, before and after the strangers are there. */
static void be_looker(struct os *os, int ready, int go)
{
    char byte = 0;
    pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    (void)reads_of_a_look(os); /* as it will be from now on */
    long before = reads_of_a_look(os);
    bool told = write(ready, &byte, 1) == 1 && read(go, &byte, 1) == 1;
    long after = reads_of_a_look(os);
    (void)kill(child, SIGKILL);
    _exit(told && before > 0 && after == before ? 0 : 1);
}

/* Each starter without a cgroup looks each second or so: with as many jobs as that, the cost of all
 * looks would grow as the square of their number. */
static void the_processes_of_others_are_not_read(void **state)
{
    (void)state;
    struct os *os = NULL;
    int ready[2], go[2], status = -1;
    char byte = 0;
    pid_t strangers[STRANGERS];
    if (!has_lists_of_children() || count_reads() < 0) {
        skip();
    }
    assert_int_equal(os_create(NULL, &os, NULL), 0);
    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(go), 0);
    pid_t looker = fork();
    if (looker == 0) {
        be_looker(os, ready[1], go[0]);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    for (size_t i = 0; i < STRANGERS; i++) {
        strangers[i] = fork();
        if (strangers[i] == 0) {
            pause();
            _exit(0);
        }
    }
    assert_int_equal(write(go[1], &byte, 1), 1);
    assert_int_equal(waitpid(looker, &status, 0), looker);
    for (size_t i = 0; i < STRANGERS; i++) {
        (void)kill(strangers[i], SIGKILL);
        (void)waitpid(strangers[i], NULL, 0);
    }
    for (int i = 0; i < 2; i++) {
        (void)close(ready[i]);
        (void)close(go[i]);
    }
    os_destroy(os);
    assert_int_equal(status, 0);
}

static void a_bound_child_is_killed_when_its_parent_is(void **state)
{
    const char *const argv[] = {"/bin/sh", "-c", "exec sleep 1000", NULL};
    const struct os_spawn spec = {.argv = argv, .kin = OS_BOUND_CHILD, .new_session = true};
    struct os *os = NULL;
    int ends[2];
    pid_t pid = 0, parent;
    (void)state;
    assert_int_equal(os_create(NULL, &os, NULL), 0);
    assert_int_equal(pipe(ends), 0);
    parent = fork();
    if (parent == 0) {
        (void)(os_spawn(os, &spec, NULL, NULL, &pid, NULL) == 0 &&
               write(ends[1], &pid, sizeof(pid)) > 0 && pause());
        _exit(1);
    }
    assert_int_equal(read(ends[0], &pid, sizeof(pid)), sizeof(pid));
    uint64_t began = os_start_time(os, pid);
    assert_true(began > 0);
    assert_int_equal(kill(parent, SIGKILL), 0);
    assert_int_equal(waitpid(parent, NULL, 0), parent);
    for (int i = 0; i < 1000 && os_start_time(os, pid) == began; i++) {
        (void)usleep(10000);
    }
    assert_int_not_equal(os_start_time(os, pid), began);
    close(ends[0]);
    close(ends[1]);
    os_destroy(os);
}

UNIT_TESTS(UNIT(the_processes_of_others_are_not_read),
           UNIT(a_bound_child_is_killed_when_its_parent_is))
