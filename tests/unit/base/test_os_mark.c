/* tests/unit/base/test_os_mark.c - processes are found by a variable in their environment.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os/os_mark.h"

#define SOMEBODY 54321
#define MARKED   3

/* "ROOST_TEST_MARK_<pid of the test>=": no other process has it. */
static char name[64];

struct found {
    unsigned count;
    pid_t pids[MARKED + 1];
    char values[MARKED + 1][64];
};

static void note(void *arg, pid_t pid, const char *value)
{
    struct found *found = arg;
    assert_true(found->count < MARKED + 1);
    found->pids[found->count] = pid;
    (void)snprintf(found->values[found->count++], sizeof(found->values[0]), "%s", value);
}

/* Starts a program with these words and this environment; it has begun when this returns. */
static pid_t start(char *const *argv, char *const *env)
{
    pid_t pid = vfork();
    if (pid == 0) {
        (void)execve(argv[0], argv, env);
        _exit(127);
    }
    assert_true(pid > 0);
    return pid;
}

static pid_t start_sleep(char *const *env)
{
    static char program[] = "/bin/sleep", seconds[] = "1000";
    char *const argv[] = {program, seconds, NULL};
    return start(argv, env);
}

static void stop(pid_t pid)
{
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static const char *value_of(const struct found *found, pid_t pid)
{
    for (unsigned i = 0; i < found->count; i++) {
        if (found->pids[i] == pid) {
            return found->values[i];
        }
    }
    return NULL;
}

static void each_process_with_the_variable_is_found_once(void **state)
{
    (void)state;
    struct found found = {0};
    static char one[128], twice[128], part[128], longer[128], much[100001], empty[128];
    (void)snprintf(one, sizeof(one), "%sone = two", name);
    (void)snprintf(twice, sizeof(twice), "%sagain", name);
    (void)snprintf(part, sizeof(part), "X%sno", name);
    (void)snprintf(longer, sizeof(longer), "%.*sX=no", (int)strlen(name) - 1, name);
    (void)snprintf(empty, sizeof(empty), "%s", name);
    memset(much, 'x', sizeof(much) - 1); /* more than is read at first */
    char *const first[] = {one, twice, NULL}, *const last[] = {much, part, twice, NULL};
    char *const no_value[] = {empty, NULL}, *const others[] = {part, longer, much, NULL};
    pid_t pids[] = {start_sleep(first), start_sleep(last), start_sleep(no_value),
                    start_sleep(others)};
    os_mark_each(name, note, &found);
    for (size_t i = 0; i < sizeof(pids) / sizeof(pids[0]); i++) {
        stop(pids[i]);
    }
    assert_int_equal(found.count, MARKED);
    assert_string_equal(value_of(&found, pids[0]), "one = two");
    assert_string_equal(value_of(&found, pids[1]), "again");
    assert_string_equal(value_of(&found, pids[2]), "");
    found.count = 0;
    os_mark_each(name, note, &found);
    assert_int_equal(found.count, 0);
}

static void the_process_that_asks_is_not_found(void **state)
{
    (void)state;
    int status = -1;
    static char program[] = "/proc/self/exe", word[] = "asks", one[128];
    (void)snprintf(one, sizeof(one), "%sone", name);
    char *const argv[] = {program, word, name, NULL}, *const env[] = {one, NULL};
    pid_t other = start_sleep(env), asking = start(argv, env);
    assert_int_equal(waitpid(asking, &status, 0), asking);
    stop(other);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 1); /* the other one */
}

static void processes_of_others_are_left_out(void **state)
{
    (void)state;
    int status = -1;
    static char one[128];
    if (geteuid() != 0) {
        skip();
    }
    (void)snprintf(one, sizeof(one), "%sone", name);
    char *const env[] = {one, NULL};
    pid_t other = start_sleep(env), asking = fork();
    if (asking == 0) {
        struct found found = {0};
        if (setresgid(SOMEBODY, SOMEBODY, SOMEBODY) != 0 ||
            setresuid(SOMEBODY, SOMEBODY, SOMEBODY) != 0) {
            _exit(99);
        }
        os_mark_each(name, note, &found);
        _exit((int)found.count);
    }
    assert_int_equal(waitpid(asking, &status, 0), asking);
    stop(other);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(int argc, char **argv)
{
    if (argc == 3) { /* of the_process_that_asks_is_not_found() */
        struct found found = {0};
        os_mark_each(argv[2], note, &found);
        return (int)found.count;
    }
    (void)snprintf(name, sizeof(name), "ROOST_TEST_MARK_%d=", (int)getpid());
    const struct CMUnitTest tests[] = {UNIT(each_process_with_the_variable_is_found_once),
                                       UNIT(the_process_that_asks_is_not_found),
                                       UNIT(processes_of_others_are_left_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
