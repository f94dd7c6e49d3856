/* ckpt/command_linux.c - roost-ckpt dump|info|run: see command_linux.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ckpt/command_linux.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/err.h"
#include "ckpt/dump_linux.h"
#include "ckpt/image.h"
#include "ckpt/image_linux.h"
#include "ckpt/stub/keeper.h"

#define FAILED    1
#define USAGE     2
#define NOT_FOUND 127

static int usage(void)
{
    (void)fprintf(stderr, "usage: roost-ckpt dump PID IMAGE [--leave-running|--kill]\n"
                          "       roost-ckpt info IMAGE [--verify]\n"
                          "       roost-ckpt run -- PROGRAM [ARGUMENT...]\n"
                          "IMAGE is a program: run it, and the job goes on.\n");
    return USAGE;
}

static int fail(const struct err *err)
{
    (void)fprintf(stderr, "roost-ckpt: %s\n", err->text);
    return FAILED;
}

static int dump(int argc, char **argv)
{
    struct dump_options options = {.kill = false};
    struct dump_result result;
    struct err err;
    char *end = NULL;
    if (argc < 4) {
        return usage();
    }
    long pid = strtol(argv[2], &end, 10);
    for (int i = 4; i < argc; i++) {
        if (strcmp(argv[i], "--kill") == 0) {
            options.kill = true;
        } else if (strcmp(argv[i], "--leave-running") != 0) {
            return usage();
        }
    }
    if (*end != '\0' || pid <= 0 || pid > INT32_MAX) {
        (void)fprintf(stderr, "roost-ckpt: '%s' is not the number of a process\n", argv[2]);
        return USAGE;
    }
    if (ckpt_dump((pid_t)pid, argv[3], &options, &result, &err) != 0) {
        return fail(&err);
    }
    (void)printf("%s: %" PRIu64 " bytes, %" PRIu64 " of memory; stood still for %.1f ms\n", argv[3],
                 result.image_bytes, result.memory_bytes, (double)result.frozen_ns / 1e6);
    return 0;
}

static void show(const char *path, const struct image *image)
{
    const struct ckpt_head *head = image_head(image);
    const struct ckpt_process *process = image_process(image, 0);
    (void)printf("%s: image of process %d, %s\n", path, (int)process->pid,
                 image_text(image, process->exe));
    (void)printf("  made %" PRId64 " on %s, Linux %s\n", head->made_s,
                 image_text(image, head->host), image_text(image, head->kernel));
    (void)printf("  %u threads, %u mappings, %u descriptors, %u timers\n",
                 (unsigned)process->threads.count, (unsigned)process->regions.count,
                 (unsigned)process->fds.count, (unsigned)process->timers.count);
    (void)printf("  %" PRIu64 " bytes, %" PRIu64 " of memory; window at %" PRIx64 "\n",
                 head->image_bytes, head->memory_bytes, head->window);
    for (uint32_t i = 0; i < process->fds.count; i++) {
        const struct ckpt_fd *fd = image_fd(image, process->fds.first + i);
        const struct ckpt_file *file = image_file(image, fd->file);
        (void)printf("  descriptor %d: %s, at %" PRIu64 "\n", (int)fd->fd,
                     image_text(image, file->path), file->offset);
    }
}

static int info(int argc, char **argv)
{
    struct image *image = NULL;
    struct err err;
    bool verify = argc == 4 && strcmp(argv[3], "--verify") == 0;
    if (argc < 3 || (argc > 3 && !verify)) {
        return usage();
    }
    int rc = image_open(argv[2], &image, &err);
    if (rc == 0) {
        show(argv[2], image);
        rc = verify ? image_verify(argv[2], image, &err) : 0;
    }
    image_destroy(image);
    return rc != 0 ? fail(&err) : 0;
}

static void start_program(void *arg)
{
    char **argv = arg;
    (void)execvp(argv[0], argv);
    (void)fprintf(stderr, "roost-ckpt: %s: %s\n", argv[0], err_code_text(-errno));
    _exit(NOT_FOUND);
}

static int run(int argc, char **argv)
{
    const char *what = "";
    struct err err;
    int first = argc > 2 && strcmp(argv[2], "--") == 0 ? 3 : 2;
    if (argc <= first) {
        return usage();
    }
    /* Of what the caller left open the job gets 0 to 2: others' pipes cannot be saved. */
    (void)close_range(STDERR_FILENO + 1, ~0U, 0);
    const struct keeper keeper = {.job = start_program, .arg = argv + first};
    long status = keeper_run(&keeper, &what);
    if (status < 0) {
        (void)err_set(&err, (int)status, "%s: %s", what, err_code_text((int)status));
        return fail(&err);
    }
    keeper_end_as((int)status);
}

int ckpt_command(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(int argc, char **argv);
    } COMMANDS[] = {{"dump", dump}, {"info", info}, {"run", run}};
    for (size_t i = 0; argc > 1 && i < ARRAY_COUNT(COMMANDS); i++) {
        if (strcmp(argv[1], COMMANDS[i].name) == 0) {
            return COMMANDS[i].run(argc, argv);
        }
    }
    return usage();
}
