/* rsyscall_fuse/begin_linux.c - see begin_linux.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rsyscall_fuse/begin_linux.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "rsyscall_fuse/mount.h"

/* words before the program: our name, --begin, kind, three streams */
#define WORDS         6
#define SIGNALS_COUNT 64

static int refuse_file(int fd, const char *path)
{
    char text[4400];
    int length =
        snprintf(text, sizeof text, "roost-rsys-mount: %s: %s\n", path, err_code_text(-errno));
    (void)!write(fd, text, length > 0 && (size_t)length < sizeof text ? (size_t)length : 0);
    return RFS_MOUNT_REFUSED;
}

static int open_stream(int number, const char *const *paths)
{
    const char *path = paths[number];
    if (strcmp(path, "-") == 0) {
        return 0;
    }
    if (number == STDERR_FILENO && strcmp(path, paths[STDOUT_FILENO]) == 0) {
        return dup2(STDOUT_FILENO, STDERR_FILENO) < 0 ? -errno : 0;
    }
    int flags = number == STDIN_FILENO ? O_RDONLY : O_WRONLY | O_CREAT | O_TRUNC;
    int fd = open(path, flags | O_CLOEXEC | O_NOCTTY, 0666);
    if (fd < 0 || dup2(fd, number) < 0) {
        return -errno;
    }
    (void)close(fd);
    return 0;
}

/* Executes the program; returns only when that fails. */
static void execute_program(const char *kind, char **argv)
{
    if (strcmp(kind, RFS_BEGIN_HERE) == 0) {
        (void)execvp(argv[0], argv);
        return;
    }
    int fd = open(argv[0], O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fexecve(fd, argv, environ);
    }
}

int rfs_begin(int argc, char **argv)
{
    if (argc <= WORDS) {
        return 2;
    }
    const char *const *paths = (const char *const *)argv + WORDS - 3;
    int ours = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    for (int i = 0; i < 3; i++) {
        if (open_stream(i, paths) != 0) {
            return refuse_file(ours, paths[i]);
        }
    }
    for (int i = 1; i < SIGNALS_COUNT; i++) {
        (void)signal(i, SIG_DFL);
    }
    execute_program(argv[2], argv + WORDS);
    return refuse_file(ours, argv[WORDS]);
}
