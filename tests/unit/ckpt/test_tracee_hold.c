/* tests/unit/ckpt/test_tracee_hold.c - stopping a process whose threads come and go.
 *
 * LINK: ckpt base
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"
#include "ckpt/tracee/tracee_linux.h"

#define PATIENCE_MS 60000

struct pipes {
    int told[2]; /* the process tells its thread's id, the tracer that it holds it */
    int end[2];  /* a byte ends the thread */
};

static void *wait_and_end(void *arg)
{
    const struct pipes *pipes = arg;
    char byte;
    pid_t tid = gettid();
    (void)!write(pipes->told[1], &tid, sizeof tid);
    (void)!read(pipes->end[0], &byte, 1);
    return NULL;
}

/* A process with two threads. */
static pid_t start_process(struct pipes *pipes)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        pthread_t thread;
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* also of a test that fails */
        (void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
        if (pthread_create(&thread, NULL, wait_and_end, pipes) != 0) {
            _exit(1);
        }
        for (;;) {
            (void)pause();
        }
    }
    return pid;
}

/* Another tracer of that thread, which does not look after it. */
static pid_t start_tracer(const struct pipes *pipes, pid_t tid)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        int rc = ptrace(PTRACE_SEIZE, tid, NULL, NULL) == 0 ? 0 : errno;
        (void)!write(pipes->told[1], &rc, sizeof rc);
        for (;;) {
            (void)pause();
        }
    }
    return pid;
}

static int told(const struct pipes *pipes)
{
    struct pollfd news = {.fd = pipes->told[0], .events = POLLIN};
    int number = -1;
    assert_int_equal(poll(&news, 1, PATIENCE_MS), 1);
    assert_int_equal(read(pipes->told[0], &number, sizeof number), sizeof number);
    return number;
}

static char state_of(pid_t pid, pid_t tid)
{
    char path[64], line[512] = "";
    (void)snprintf(path, sizeof path, "/proc/%d/task/%d/stat", (int)pid, (int)tid);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    (void)fclose(file);
    return strrchr(line, ')')[2];
}

static void a_thread_that_has_ended_is_not_taken_for_one_of_another_tracer(void **state)
{
    (void)state;
    struct pipes pipes;
    struct tracee tracee;
    struct err err = {""};
    assert_int_equal(pipe(pipes.told), 0);
    assert_int_equal(pipe(pipes.end), 0);
    pid_t process = start_process(&pipes);
    pid_t tid = told(&pipes);
    pid_t tracer = start_tracer(&pipes, tid);
    assert_int_equal(told(&pipes), 0);
    /* As long as it runs it is the other's. */
    assert_int_equal(tracee_hold(process, &tracee, &err), -EPERM);
    assert_non_null(strstr(err.text, "is traced already"));
    assert_int_equal(write(pipes.end[1], "x", 1), 1);
    while (state_of(process, tid) != 'Z') {
        (void)poll(NULL, 0, 1); /* it has been told, and ends */
    }
    assert_int_equal(tracee_hold(process, &tracee, &err), 0);
    assert_true(tracee.count >= 1); /* a sanitizer has threads of its own */
    for (size_t i = 0; i < tracee.count; i++) {
        assert_int_not_equal(tracee.threads[i].tid, tid);
    }
    tracee_release(&tracee, false);
    assert_int_equal(kill(process, SIGKILL), 0);
    assert_int_equal(kill(tracer, SIGKILL), 0);
    assert_int_equal(waitpid(tracer, NULL, 0), tracer);
    assert_int_equal(waitpid(process, NULL, 0), process);
    for (int i = 0; i < 2; i++) {
        (void)close(pipes.told[i]);
        (void)close(pipes.end[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_that_has_ended_is_not_taken_for_one_of_another_tracer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
