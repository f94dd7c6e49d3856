/* ckpt/library/helper_main.c - makes the image of the program that carries and started it.
 *
 * roost-checkpoint PID IMAGE go|end ADDRESS LOG.  ADDRESS: of a struct outcome in that program.
 * LOG may be "".  Nothing is printed: its descriptors 0 to 2 are not the job's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "ckpt/dump/dump_linux.h"
#include "ckpt/library/outcome.h"

#define ARGUMENTS 6
#define EXIT_MAX  255 /* it ends with the number of its error */

struct program {
    pid_t pid;
    uint64_t address; /* of its outcome */
};

static void poke_memory(const struct program *program, size_t offset, const void *from,
                        size_t bytes)
{
    struct iovec here = {(void *)(uintptr_t)from, bytes};
    struct iovec there = {(void *)(uintptr_t)(program->address + offset), bytes};
    (void)process_vm_writev(program->pid, &here, 1, &there, 1, 0); /* it may have ended */
}

static void tell_freed(void *arg)
{
    const uint32_t yes = 1;
    poke_memory(arg, offsetof(struct outcome, is_held_no_more), &yes, sizeof yes);
}

static void tell_result(const struct program *program, int result, const struct err *err)
{
    struct outcome outcome = {.is_told = 1, .result = result};
    if (result != 0) {
        (void)snprintf(outcome.text, sizeof outcome.text, "%s", err->text);
    }
    size_t from = offsetof(struct outcome, is_told);
    poke_memory(program, from, &outcome.is_told, sizeof outcome - from);
}

static void write_log(const char *path, const char *image, pid_t pid, int rc,
                      const struct dump_result *result, const struct err *err)
{
    char line[2048], when[64];
    time_t now = time(NULL);
    struct tm parts;
    int fd = path[0] != '\0' ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666) : -1;
    if (fd < 0) {
        return;
    }
    (void)strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &parts));
    int length =
        rc == 0
            ? snprintf(line, sizeof line,
                       "%s %d %s: %" PRIu64 " bytes, %" PRIu64 " of memory; stopped for %.1f ms\n",
                       when, (int)pid, image, result->image_bytes, result->memory_bytes,
                       (double)result->frozen_ns / 1e6)
            : snprintf(line, sizeof line, "%s %d no image: %s\n", when, (int)pid, err->text);
    (void)!write(fd, line, length < (int)sizeof line ? (size_t)length : sizeof line - 1);
    (void)close(fd);
}

/* Checks that the process numbers in /proc are those of our own namespace. */
static int check_proc(struct err *err)
{
    char link[32];
    ssize_t length = readlink("/proc/self", link, sizeof link - 1);
    link[length > 0 ? length : 0] = '\0';
    return strtol(link, NULL, 10) == (long)getpid()
               ? 0
               : err_set(err, -ENOSYS,
                         "/proc shows the processes of another PID namespace than this program's");
}

int main(int argc, char **argv)
{
    struct err err = {.text = ""};
    struct dump_result result = {.image_bytes = 0};
    if (argc != ARGUMENTS) {
        return 2;
    }
    struct program program = {.pid = (pid_t)strtol(argv[1], NULL, 10),
                              .address = strtoull(argv[4], NULL, 10)};
    bool ends = strcmp(argv[3], "end") == 0;
    const struct dump_options options = {.kill = ends,
                                         .end_signal = SIGUSR2,
                                         .freed = tell_freed,
                                         .arg = &program,
                                         .unseen = getppid()};
    (void)prctl(PR_SET_NAME, "roost-ckpt");
    (void)signal(SIGXFSZ, SIG_IGN); /* an error, and not our end */
    int rc = argv[2][0] == '\0' ? err_set(&err, -ENAMETOOLONG, "the path of the image is too long")
                                : check_proc(&err);
    rc = rc != 0 ? rc : ckpt_dump(program.pid, argv[2], &options, &result, &err);
    write_log(argv[5], argv[2], program.pid, rc, &result, &err);
    tell_result(&program, rc, &err);
    return rc < 0 && rc >= -EXIT_MAX ? -rc : 0;
}
