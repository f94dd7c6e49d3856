/* rsyscall/wrap/wrap_spawn.c - posix_spawn(), system(), popen().  See wrap.h.
 *
 * The C library's versions make processes with internal calls, and would open this machine's files
 * in them.  Here they are made of the wrapped fork() and execve().  Our functions keep the actions
 * on descriptors in the program's struct.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rsyscall/wrap/wrap_calls.h"

#define ACTIONS_MAX    1024
#define EXIT_NOT_BEGUN 127

enum act { ACT_OPEN, ACT_CLOSE, ACT_DUP, ACT_CHDIR, ACT_FCHDIR, ACT_CLOSE_FROM, ACT_TERMINAL };

struct action {
    enum act act;
    int fd, to, flags;
    mode_t mode;
    char *path;
};

/* ---- actions --------------------------------------------------------------------------------- */

static struct action *list_of(const posix_spawn_file_actions_t *actions)
{
    return (struct action *)(void *)actions->__actions;
}

WRAP_EXPORT int posix_spawn_file_actions_init(posix_spawn_file_actions_t *actions)
{
    memset(actions, 0, sizeof *actions);
    return 0;
}

WRAP_EXPORT int posix_spawn_file_actions_destroy(posix_spawn_file_actions_t *actions)
{
    struct action *list = list_of(actions);
    for (int i = 0; i < actions->__used; i++) {
        free(list[i].path);
    }
    free(list);
    memset(actions, 0, sizeof *actions);
    return 0;
}

static int add_action(posix_spawn_file_actions_t *actions, const struct action *action,
                      const char *path)
{
    struct action *list = list_of(actions);
    if (action->fd < 0 || action->to < 0) {
        return EBADF;
    }
    if (actions->__used == actions->__allocated) {
        int room = actions->__allocated != 0 ? actions->__allocated * 2 : 8;
        list = room <= ACTIONS_MAX ? realloc(list, (size_t)room * sizeof *list) : NULL;
        if (list == NULL) {
            return ENOMEM;
        }
        actions->__allocated = room;
        actions->__actions = (struct __spawn_action *)(void *)list;
    }
    char *copy = NULL;
    if (path != NULL) {
        size_t length = strlen(path) + 1;
        copy = malloc(length);
        if (copy == NULL) {
            return ENOMEM;
        }
        memcpy(copy, path, length);
    }
    list[actions->__used] = *action;
    list[actions->__used++].path = copy;
    return 0;
}

WRAP_EXPORT int posix_spawn_file_actions_addopen(posix_spawn_file_actions_t *actions, int fd,
                                                 const char *path, int flags, mode_t mode)
{
    return add_action(actions, &(struct action){ACT_OPEN, fd, 0, flags, mode, NULL}, path);
}

WRAP_EXPORT int posix_spawn_file_actions_addclose(posix_spawn_file_actions_t *actions, int fd)
{
    return add_action(actions, &(struct action){ACT_CLOSE, fd, 0, 0, 0, NULL}, NULL);
}

WRAP_EXPORT int posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t *actions, int fd,
                                                 int to)
{
    return add_action(actions, &(struct action){ACT_DUP, fd, to, 0, 0, NULL}, NULL);
}

WRAP_EXPORT int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *actions,
                                                     const char *path)
{
    return add_action(actions, &(struct action){ACT_CHDIR, 0, 0, 0, 0, NULL}, path);
}

WRAP_EXPORT int posix_spawn_file_actions_addfchdir_np(posix_spawn_file_actions_t *actions, int fd)
{
    return add_action(actions, &(struct action){ACT_FCHDIR, fd, 0, 0, 0, NULL}, NULL);
}

WRAP_EXPORT int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions,
                                                         int fd)
{
    return add_action(actions, &(struct action){ACT_CLOSE_FROM, fd, 0, 0, 0, NULL}, NULL);
}

WRAP_EXPORT int posix_spawn_file_actions_addtcsetpgrp_np(posix_spawn_file_actions_t *actions,
                                                         int fd)
{
    return add_action(actions, &(struct action){ACT_TERMINAL, fd, 0, 0, 0, NULL}, NULL);
}

/* ---- in the child ---------------------------------------------------------------------------- */

/* Carries out one action.  Returns -1 with errno on failure. */
static int do_action(const struct action *action)
{
    switch (action->act) {
    case ACT_OPEN: {
        int fd = open(action->path, action->flags, action->mode);
        if (fd < 0 || fd == action->fd) {
            return fd;
        }
        int code = dup2(fd, action->fd);
        (void)close(fd);
        return code;
    }
    case ACT_CLOSE:
        (void)close(action->fd);
        return 0;
    case ACT_DUP:
        if (action->fd == action->to) { /* it is to be inherited */
            int flags = fcntl(action->fd, F_GETFD);
            return flags < 0 ? -1 : fcntl(action->fd, F_SETFD, flags & ~FD_CLOEXEC);
        }
        return dup2(action->fd, action->to);
    case ACT_CHDIR:
        return chdir(action->path);
    case ACT_FCHDIR:
        return fchdir(action->fd);
    case ACT_CLOSE_FROM:
        closefrom(action->fd);
        return 0;
    case ACT_TERMINAL:
        return tcsetpgrp(action->fd, getpgrp());
    }
    return (int)wrap_result(-EINVAL);
}

static int set_signals(const posix_spawnattr_t *attr, short flags)
{
    sigset_t set;
    if ((flags & POSIX_SPAWN_SETSIGDEF) != 0 && posix_spawnattr_getsigdefault(attr, &set) == 0) {
        for (int number = 1; number < NSIG; number++) {
            if (sigismember(&set, number) == 1 && signal(number, SIG_DFL) == SIG_ERR &&
                errno != EINVAL) {
                return -1;
            }
        }
    }
    if ((flags & POSIX_SPAWN_SETSIGMASK) != 0 && posix_spawnattr_getsigmask(attr, &set) == 0) {
        return sigprocmask(SIG_SETMASK, &set, NULL);
    }
    return 0;
}

static int apply_attributes(const posix_spawnattr_t *attr)
{
    short flags = 0;
    pid_t group = 0;
    struct sched_param param;
    int policy;
    if (attr == NULL || posix_spawnattr_getflags(attr, &flags) != 0) {
        return 0;
    }
    if ((flags & POSIX_SPAWN_SETSCHEDULER) != 0) {
        (void)posix_spawnattr_getschedpolicy(attr, &policy);
        (void)posix_spawnattr_getschedparam(attr, &param);
        if (sched_setscheduler(0, policy, &param) != 0) {
            return -1;
        }
    } else if ((flags & POSIX_SPAWN_SETSCHEDPARAM) != 0) {
        (void)posix_spawnattr_getschedparam(attr, &param);
        if (sched_setparam(0, &param) != 0) {
            return -1;
        }
    }
    if ((flags & POSIX_SPAWN_SETSID) != 0 && setsid() < 0) {
        return -1;
    }
    if ((flags & POSIX_SPAWN_SETPGROUP) != 0 && posix_spawnattr_getpgroup(attr, &group) == 0 &&
        setpgid(0, group) != 0) {
        return -1;
    }
    if ((flags & POSIX_SPAWN_RESETIDS) != 0 && (setegid(getgid()) != 0 || seteuid(getuid()) != 0)) {
        return -1;
    }
    return set_signals(attr, flags);
}

struct program {
    const char *name;
    bool by_path;
    const posix_spawn_file_actions_t *actions;
    const posix_spawnattr_t *attr;
    char *const *argv, *const *env;
};

/* Executes the program in the child; returns only on failure. */
static void begin_program(const struct program *program)
{
    const struct action *list = program->actions != NULL ? list_of(program->actions) : NULL;
    int count = program->actions != NULL ? program->actions->__used : 0;
    int code = apply_attributes(program->attr);
    for (int i = 0; i < count && code >= 0; i++) {
        code = do_action(&list[i]);
    }
    if (code < 0) {
        return;
    }
    if (program->by_path) {
        (void)execvpe(program->name, program->argv, program->env);
    } else {
        (void)execve(program->name, program->argv, program->env);
    }
}

/* Starts the program.  A pipe that execve() closes tells whether it was executed; otherwise errno
 * comes through it. */
static int spawn_program(pid_t *ret, const struct program *program)
{
    int pipe_ends[2], error = 0;
    if (pipe2(pipe_ends, O_CLOEXEC) != 0) {
        return errno;
    }
    int high = fcntl(pipe_ends[1], F_DUPFD_CLOEXEC, 500); /* not what actions are about */
    if (high >= 0) {
        (void)close(pipe_ends[1]);
        pipe_ends[1] = high;
    }
    pid_t child = fork();
    if (child == 0) {
        (void)close(pipe_ends[0]);
        begin_program(program);
        error = errno;
        (void)write(pipe_ends[1], &error, sizeof error);
        _exit(EXIT_NOT_BEGUN);
    }
    int failed = child < 0 ? errno : 0;
    (void)close(pipe_ends[1]);
    if (child > 0) {
        ssize_t got;
        do {
            got = read(pipe_ends[0], &error, sizeof error);
        } while (got < 0 && errno == EINTR);
        failed = got == (ssize_t)sizeof error ? error : 0;
        if (failed != 0) {
            while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
            }
        }
    }
    (void)close(pipe_ends[0]);
    if (failed == 0 && ret != NULL) {
        *ret = child;
    }
    return failed;
}

WRAP_EXPORT int posix_spawn(pid_t *ret, const char *path, const posix_spawn_file_actions_t *actions,
                            const posix_spawnattr_t *attr, char *const *argv, char *const *env)
{
    int before = errno;
    int code = spawn_program(ret, &(struct program){path, false, actions, attr, argv, env});
    errno = before;
    return code;
}

WRAP_EXPORT int posix_spawnp(pid_t *ret, const char *name,
                             const posix_spawn_file_actions_t *actions,
                             const posix_spawnattr_t *attr, char *const *argv, char *const *env)
{
    int before = errno;
    int code = spawn_program(ret, &(struct program){name, true, actions, attr, argv, env});
    errno = before;
    return code;
}

/* ---- by a shell ------------------------------------------------------------------------------ */

WRAP_EXPORT int system(const char *command)
{
    static const struct sigaction IGNORE = {.sa_handler = SIG_IGN};
    const char *const argv[] = {"sh", "-c", command, NULL};
    struct sigaction interrupt, quit;
    sigset_t block, mask, by_default;
    posix_spawnattr_t attr;
    pid_t child;
    int status = -1;
    if (command == NULL) {
        return 1;
    }
    (void)sigaction(SIGINT, &IGNORE, &interrupt);
    (void)sigaction(SIGQUIT, &IGNORE, &quit);
    (void)sigemptyset(&block);
    (void)sigaddset(&block, SIGCHLD);
    (void)sigprocmask(SIG_BLOCK, &block, &mask);
    (void)sigemptyset(&by_default);
    if (interrupt.sa_handler != SIG_IGN) {
        (void)sigaddset(&by_default, SIGINT);
    }
    if (quit.sa_handler != SIG_IGN) {
        (void)sigaddset(&by_default, SIGQUIT);
    }
    (void)posix_spawnattr_init(&attr);
    (void)posix_spawnattr_setsigmask(&attr, &mask);
    (void)posix_spawnattr_setsigdefault(&attr, &by_default);
    (void)posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    int code = posix_spawn(&child, "/bin/sh", NULL, &attr, (char *const *)(uintptr_t)argv, environ);
    (void)posix_spawnattr_destroy(&attr);
    if (code == 0) {
        while (waitpid(child, &status, 0) < 0) {
            if (errno != EINTR) {
                status = -1;
                break;
            }
        }
    } else {
        status = W_EXITCODE(EXIT_NOT_BEGUN, 0);
    }
    (void)sigaction(SIGINT, &interrupt, NULL);
    (void)sigaction(SIGQUIT, &quit, NULL);
    (void)sigprocmask(SIG_SETMASK, &mask, NULL);
    return status;
}

/* Uses the C library's popen(), because its stream knows the child.  The child finds the remote
 * files by its environment. */
FILE *_IO_popen(const char *command, const char *mode);

WRAP_EXPORT FILE *popen(const char *command, const char *mode)
{
    sigset_t old;
    if (wrap_enter(&old)) {
        wrap_settle();
        wrap_files_share();
        wrap_leave(&old);
    }
    return _IO_popen(command, mode);
}
