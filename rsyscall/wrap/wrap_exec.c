/* rsyscall/wrap/wrap_exec.c - processes and programs that the program starts: see wrap.h.
 *
 * A program that is executed finds the server's socket by its environment, and the open remote
 * files by looking at its descriptors.  So before it is executed, the offsets are stored where it
 * can see them, and our connection stays open until it has its own.  pthread_atfork() tells us of
 * fork().  A child of vfork() would share our lock and our connection with its parent, so vfork()
 * is fork() here.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rsyscall/wrap/wrap_calls.h"

#define ARGUMENTS_MAX ((size_t)4096) /* most arguments of execl() */

#define NUMBER_SIZE     12
#define KEPT_FDS_SIZE   64
#define PIECE           ((size_t)64 << 10)
#define SCRIPT_LINE_MAX 255 /* longest first line of a script, as in the kernel */

static const char HERE[] = "ROOST_REMOTE_CWD=";
static const char KEPT[] = WRAP_KEPT_NAME "=";
static const char *const PASSED[] = {"ROOST_REMOTE_SOCKET=", "ROOST_REMOTE_LOCAL=", "LD_PRELOAD="};
#define PASSED_COUNT (sizeof PASSED / sizeof PASSED[0])

static char *find_in(char *const *env, const char *start)
{
    for (; env != NULL && *env != NULL; env++) {
        if (strncmp(*env, start, strlen(start)) == 0) {
            return *env;
        }
    }
    return NULL;
}

/* Returns a copy of env with the current working directory (a shell has an environment of its own,
 * which knows only where we began), and with those variables of PASSED that env lacks and our own
 * environment has.  A mapping of *size bytes; NULL: no memory. */
static char **complete(char *const *env, size_t *size)
{
    size_t count = 0, made = 0;
    while (env != NULL && env[count] != NULL) {
        count++;
    }
    size_t list = (count + PASSED_COUNT + 3) * sizeof(char *);
    *size = list + sizeof HERE + WRAP_PATH_SIZE + sizeof KEPT + NUMBER_SIZE + KEPT_FDS_SIZE;
    char **ret = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if ((void *)ret == MAP_FAILED) {
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        if (strncmp(env[i], HERE, sizeof HERE - 1) != 0) {
            ret[made++] = env[i];
        }
    }
    for (size_t i = 0; i < PASSED_COUNT; i++) {
        char *ours = find_in(environ, PASSED[i]);
        if (find_in(env, PASSED[i]) == NULL && ours != NULL) {
            ret[made++] = ours;
        }
    }
    char *here = (char *)ret + list;
    memcpy(here, HERE, sizeof HERE - 1);
    memcpy(here + sizeof HERE - 1, wrap_all.cwd, WRAP_PATH_SIZE);
    ret[made++] = here;
    if (wrap_all.fd >= 0) {
        const char *locks = wrap_all.has_locks && wrap_files_are_locked() ? "l" : "";
        char *kept = here + sizeof HERE + WRAP_PATH_SIZE;
        int length = snprintf(kept, sizeof KEPT + NUMBER_SIZE, "%s%d%s", KEPT, wrap_all.fd, locks);
        wrap_taken_tell(kept + length, KEPT_FDS_SIZE);
        ret[made] = kept;
    }
    return ret;
}

static int execute_program(const char *path, char *const *argv, char *const *env)
{
    sigset_t old;
    size_t size = 0;
    char **full = (char **)(uintptr_t)env;
    if (wrap_enter(&old)) {
        wrap_settle();
        wrap_files_share();
        full = complete(env, &size);
        (void)syscall(SYS_fcntl, wrap_all.fd, F_SETFD, 0); /* it holds what is inherited */
        wrap_leave(&old);
    }
    if (full == NULL && wrap_all.on) {
        return (int)wrap_result(-ENOMEM);
    }
    int code = (int)syscall(SYS_execve, path, argv, full);
    if (size > 0) {
        int saved = errno;
        (void)syscall(SYS_fcntl, wrap_all.fd, F_SETFD, FD_CLOEXEC);
        (void)munmap(full, size);
        errno = saved;
    }
    return code;
}

/* ---- programs on this machine ---------------------------------------------------------------- */

/* Executes a script's interpreter, as in "#!/bin/sh -e", with the script's name as an argument.
 * head is the beginning of the script. */
static int execute_script(char *head, const char *path, char *const *argv, char *const *env)
{
    size_t count = 0, made = 0, size;
    head[strcspn(head, "\n")] = '\0';
    char *program = head + 2 + strspn(head + 2, " \t");
    char *word = program + strcspn(program, " \t");
    if (*word != '\0') {
        *word++ = '\0';
        word += strspn(word, " \t");
    }
    while (argv != NULL && argv[count] != NULL) {
        count++;
    }
    size = (count + 4) * sizeof(char *);
    char **full = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if ((void *)full == MAP_FAILED) {
        return (int)wrap_result(-ENOMEM);
    }
    full[made++] = program;
    if (*word != '\0') {
        full[made++] = word;
    }
    full[made++] = (char *)(uintptr_t)path;
    for (size_t i = 1; i < count; i++) {
        full[made++] = argv[i];
    }
    (void)execve(program, full, env);
    int saved = errno;
    (void)munmap((void *)full, size);
    errno = saved;
    return -1;
}

/* Executes a remote program from a copy in memory, because the kernel can execute only files that
 * it has.  An image of the process contains the copy. */
static int execute_copy(int fd, const char *path, char *const *argv, char *const *env)
{
    char piece[PIECE], name[32];
    int copy = (int)syscall(SYS_memfd_create, "remote program", MFD_CLOEXEC);
    off_t at = 0;
    ssize_t got = copy < 0 ? -1 : pread(fd, piece, sizeof piece - 1, 0);
    if (got > 2 && piece[0] == '#' && piece[1] == '!') {
        piece[got < SCRIPT_LINE_MAX ? got : SCRIPT_LINE_MAX] = '\0';
        (void)syscall(SYS_close, copy);
        return execute_script(piece, path, argv, env);
    }
    while (got > 0 && syscall(SYS_write, copy, piece, (size_t)got) == got) {
        at += got;
        got = pread(fd, piece, sizeof piece - 1, at);
    }
    if (got == 0) {
        (void)snprintf(name, sizeof name, "/proc/self/fd/%d", copy);
        (void)execute_program(name, argv, env);
    } else if (got > 0) {
        errno = ENOMEM;
    }
    int saved = errno;
    (void)syscall(SYS_close, copy);
    errno = saved;
    return -1;
}

static int execute_open(int fd, const char *path, char *const *argv, char *const *env)
{
    return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0 ? execute_copy(fd, path, argv, env)
                                                            : -1;
}

WRAP_EXPORT int fexecve(int fd, char *const *argv, char *const *env)
{
    struct wrap_record record;
    char name[32];
    if (!wrap_is_ours(fd)) {
        (void)snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
        return execute_program(name, argv, env);
    }
    if (!wrap_record_read(fd, &record)) {
        return (int)wrap_result(-EIO);
    }
    return execute_open(fd, record.path, argv, env);
}

/* Executes a program of this machine or, if it does not exist, the server's. */
WRAP_EXPORT int execve(const char *path, char *const *argv, char *const *env)
{
    int code = execute_program(path, argv, env);
    if (errno != ENOENT || !wrap_is_on()) {
        return code;
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (!wrap_is_ours(fd)) {
        errno = fd >= 0 ? ENOENT : errno;
        return code;
    }
    (void)execute_open(fd, path, argv, env);
    int saved = errno;
    (void)close(fd);
    errno = saved;
    return code;
}

WRAP_EXPORT int execv(const char *path, char *const *argv)
{
    return execve(path, argv, environ);
}

WRAP_EXPORT int execvpe(const char *name, char *const *argv, char *const *env)
{
    const char *folders = getenv("PATH");
    char path[WRAP_PATH_SIZE];
    bool denied = false;
    if (strchr(name, '/') != NULL || *name == '\0') {
        return execve(name, argv, env);
    }
    for (const char *at = folders != NULL ? folders : "/bin:/usr/bin"; at != NULL;) {
        size_t length = strcspn(at, ":");
        int end = length == 0 ? snprintf(path, sizeof path, "%s", name)
                              : snprintf(path, sizeof path, "%.*s/%s", (int)length, at, name);
        if (end > 0 && (size_t)end < sizeof path) {
            (void)execve(path, argv, env);
            if (errno != ENOENT && errno != ENOTDIR && errno != EACCES) {
                return -1;
            }
            denied = denied || errno == EACCES;
        }
        at = at[length] == ':' ? at + length + 1 : NULL;
    }
    return (int)wrap_result(denied ? -EACCES : -ENOENT);
}

WRAP_EXPORT int execvp(const char *name, char *const *argv)
{
    return execvpe(name, argv, environ);
}

/* Returns the arguments of execl() as an array; *env: the argument after their end. */
static char **gather(const char *first, va_list more, char *const **env)
{
    char **argv = mmap(NULL, ARGUMENTS_MAX * sizeof(char *), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if ((void *)argv == MAP_FAILED) {
        errno = ENOMEM;
        return NULL;
    }
    size_t count = 0;
    for (char *word = (char *)(uintptr_t)first; word != NULL; word = va_arg(more, char *)) {
        if (count + 1 >= ARGUMENTS_MAX) {
            (void)munmap(argv, ARGUMENTS_MAX * sizeof(char *));
            errno = E2BIG;
            return NULL;
        }
        argv[count++] = word;
    }
    if (env != NULL) {
        *env = va_arg(more, char *const *);
    }
    return argv;
}

static int exec_failed(char **argv)
{
    int saved = errno;
    (void)munmap(argv, ARGUMENTS_MAX * sizeof(char *));
    errno = saved;
    return -1;
}

WRAP_EXPORT int execl(const char *path, const char *first, ...)
{
    va_list more;
    va_start(more, first);
    char **argv = gather(first, more, NULL);
    va_end(more);
    return argv != NULL && execve(path, argv, environ) != 0 ? exec_failed(argv) : -1;
}

WRAP_EXPORT int execlp(const char *name, const char *first, ...)
{
    va_list more;
    va_start(more, first);
    char **argv = gather(first, more, NULL);
    va_end(more);
    return argv != NULL && execvpe(name, argv, environ) != 0 ? exec_failed(argv) : -1;
}

WRAP_EXPORT int execle(const char *path, const char *first, ...)
{
    va_list more;
    char *const *env = NULL;
    va_start(more, first);
    char **argv = gather(first, more, &env);
    va_end(more);
    return argv != NULL && execve(path, argv, env) != 0 ? exec_failed(argv) : -1;
}

/* ---- exit: our data must be written for whoever waits for us --------------------------------- */

/* Runs before the C library writes the data of its streams, so later writes are not deferred any
 * more. */
__attribute__((destructor)) static void end_deferred_writes(void)
{
    wrap_write_no_later();
}

WRAP_EXPORT void _exit(int status)
{
    wrap_write_no_later();
    for (;;) {
        (void)syscall(SYS_exit_group, status);
    }
}

WRAP_EXPORT void _Exit(int status)
{
    _exit(status);
}

WRAP_EXPORT int kill(pid_t pid, int number)
{
    wrap_settle_for_others();
    return (int)syscall(SYS_kill, pid, number);
}

WRAP_EXPORT pid_t vfork(void)
{
    return fork();
}
