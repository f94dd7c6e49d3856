/* tests/support/death.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/death.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int death_by_abort(void (*act)(void *arg), void *arg, char *text, size_t text_size)
{
    int ends[2];
    if (pipe(ends) < 0) {
        return -1;
    }
    pid_t child = fork();
    if (child < 0) {
        (void)close(ends[0]);
        (void)close(ends[1]);
        return -1;
    }
    if (child == 0) {
        const struct rlimit no_core = {0, 0};
        (void)setrlimit(RLIMIT_CORE, &no_core);
        (void)signal(SIGABRT, SIG_DFL); /* cmocka catches it */
        (void)dup2(ends[1], STDERR_FILENO);
        act(arg);
        _exit(0);
    }
    (void)close(ends[1]);
    size_t used = 0;
    ssize_t got = 0;
    while (used < text_size - 1 && (got = read(ends[0], text + used, text_size - 1 - used)) > 0) {
        used += (size_t)got;
    }
    text[used] = '\0';
    (void)close(ends[0]);
    int status = 0;
    if (waitpid(child, &status, 0) != child) {
        return -1;
    }
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}
