/* ckpt/command/command_linux.c - the subcommands of roost-ckpt: see command_linux.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ckpt/command/command_linux.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "base/err.h"
#include "ckpt/feature_list.h"
#include "ckpt/image/image.h"
#include "ckpt/image/image_linux.h"
#include "ckpt/machine.h"
#include "ckpt/mask_linux.h"
#include "ckpt/image/pack_linux.h"
#include "ckpt/stub/keeper.h"
#include "ckpt/follow/written_linux.h"

#define FAILED    1
#define USAGE     2
#define UNSUITED  3   /* info --verify: whole, but not for this machine */
#define REFUSED   126 /* mask: the file names no level, or cannot be used */
#define NOT_FOUND 127

static int print_usage(void)
{
    (void)fprintf(
        stderr, "usage: roost-ckpt dump PID IMAGE [--leave-running|--kill] [--kept] "
                "[--sync] [--attributes]\n"
                "            [--through SOCKET [--base ID]] [--pack [--with FILE]]\n"
                "            [--mirror FOLDER --of DIRECTORY [--as PATH]... [--known FILE]\n"
                "            [--since FILE [--without PATH]...]] "
                "[-- COMMAND [ARGUMENT...]]\n"
                "       roost-ckpt follow PID FOLDER [--kept] [--at SOCKET | --every SECONDS] "
                "[--whole-each N]\n"
                "       roost-ckpt merge [--pack] [--max BYTES] IMAGE DELTA... OUT\n"
                "       roost-ckpt join [--pack] [--max BYTES] ARCHIVE CHANGES OUT\n"
                "       roost-ckpt pack|unpack FILE...\n"
                "       roost-ckpt info IMAGE [--verify|--attributes]\n"
                "       roost-ckpt probe\n"
                "       roost-ckpt run [--cpu LEVEL] -- PROGRAM [ARGUMENT...]\n"
                "       roost-ckpt mask FILE -- PROGRAM [ARGUMENT...]\n"
                "IMAGE is a program; running it continues the job.  COMMAND is run while the job "
                "is stopped.\n"
                "PID may also be that of `roost-ckpt run`, of a resumed image, or of "
                "roost-rsys-mount; then\n"
                "the job that it runs is dumped.  --kept: PID is one of these and must run a job; "
                "give --kept\n"
                "twice for a resumed image that roost-rsys-mount runs.  --sync: first makes the "
                "server of the\n"
                "job's files store what the job has written.  mask: changes the environment in "
                "FILE as its\n"
                "variable ROOST_CKPT_CPU says, then runs PROGRAM.\n");
    return USAGE;
}

static int print_failure(const struct err *err)
{
    (void)fprintf(stderr, "roost-ckpt: %s\n", err->text);
    return FAILED;
}

/* ---- commands */

static void end_well(void *arg)
{
    (void)arg;
    _exit(0);
}

/* Tests whether jobs can be started here so that they can be resumed, and prints what kind of
 * machine this is. */
static int run_probe(int argc, char **argv)
{
    const struct keeper keeper = {.job = end_well};
    const char *what = "";
    uint32_t words[MACHINE_WORDS];
    struct utsname names;
    struct err err;
    (void)argv;
    if (argc != 2) {
        return print_usage();
    }
    long status = keeper_run(&keeper, &what);
    if (status < 0) {
        (void)err_set(&err, (int)status, "%s: %s", what, err_code_text((int)status));
        return print_failure(&err);
    }
    if (status != 0 || uname(&names) != 0) {
        (void)err_set(
            &err, -EIO,
            "a test program in namespaces of its own ended with wait status %ld, expected 0",
            status);
        return print_failure(&err);
    }
    machine_read(getauxval(AT_HWCAP2), words);
    (void)printf("HasCheckpointing = true\nCheckpointPlatform = \"LINUX %s %s\"\n", names.machine,
                 names.release);
    if (written_is_known()) {
        (void)printf("HasIncrementalCheckpoints = true\n");
    }
    ckpt_print_features(words, feature_list_rooms, words[MACHINE_XCR0]);
    return 0;
}

/* Prints what a machine must have to continue the job. */
static void show_machine(const struct ckpt_head *head)
{
    const char *names[128];
    enum machine_level level = machine_level(head->machine);
    size_t count = machine_features(head->machine, level, names, ARRAY_COUNT(names));
    (void)printf("  processor %s", machine_level_name(level));
    for (size_t i = 0; i < count && i < ARRAY_COUNT(names); i++) {
        (void)printf("%s%s", i == 0 ? " with " : ", ", names[i]);
    }
    (void)printf("\n");
}

static void show_image(const char *path, const struct image *image)
{
    const struct ckpt_head *head = image_head(image);
    const struct ckpt_process *process = image_process(image, 0);
    (void)printf("%s: image of process %d, %s\n", path, (int)process->pid,
                 image_text(image, process->exe));
    (void)printf("  made %" PRId64 " on %s, Linux %s\n", head->made_s,
                 image_text(image, head->host), image_text(image, head->kernel));
    show_machine(head);
    (void)printf("  %u threads, %u mappings, %u descriptors, %u timers\n",
                 (unsigned)process->threads.count, (unsigned)process->regions.count,
                 (unsigned)process->fds.count, (unsigned)process->timers.count);
    (void)printf("  %" PRIu64 " bytes, %" PRIu64
                 " of memory; its program and tables are mapped at %" PRIx64 "\n",
                 head->image_bytes, head->memory_bytes, head->window);
    if (image_is_delta(image)) {
        (void)printf("  a delta: of the memory, only what has changed since image %s\n",
                     image_text(image, head->base));
    }
    for (uint32_t i = 0; i < process->fds.count; i++) {
        const struct ckpt_fd *fd = image_fd(image, process->fds.first + i);
        const struct ckpt_file *file = image_file(image, fd->file);
        (void)printf("  descriptor %d: %s, at %" PRIu64 "\n", (int)fd->fd,
                     image_text(image, file->path), file->offset);
    }
}

/* Checks that as the stub does it. */
static int check_machine(const struct image *image, struct err *err)
{
    const struct ckpt_head *head = image_head(image);
    uint32_t here[MACHINE_WORDS];
    machine_read(getauxval(AT_HWCAP2), here);
    const char *missing = machine_missing(head->machine, here);
    if (missing != NULL) {
        return err_set(err, -EOPNOTSUPP, "this machine lacks features that the job may use: %s",
                       missing);
    }
    if (machine_outgrows(head->linker_room, here)) {
        return err_set(err, -EOPNOTSUPP,
                       "this processor has more registers than the job's dynamic linker makes room "
                       "for; start the job with roost-ckpt run --cpu");
    }
    return 0;
}

static int run_info(int argc, char **argv)
{
    struct image *image = NULL;
    struct err err;
    bool verify = argc == 4 && strcmp(argv[3], "--verify") == 0;
    bool attributes = argc == 4 && strcmp(argv[3], "--attributes") == 0;
    if (argc < 3 || (argc > 3 && !verify && !attributes)) {
        return print_usage();
    }
    int rc = image_open(argv[2], &image, &err);
    rc = rc == 0 && verify ? image_verify(argv[2], image, &err) : rc;
    if (rc == 0 && attributes) {
        ckpt_print_attributes(image);
    } else if (rc == 0) {
        show_image(argv[2], image);
    }
    rc = rc == 0 && verify ? check_machine(image, &err) : rc;
    image_destroy(image);
    return rc == -EOPNOTSUPP ? (print_failure(&err), UNSUITED) : rc != 0 ? print_failure(&err) : 0;
}

static void start_program(void *arg)
{
    char **argv = arg;
    (void)execvp(argv[0], argv);
    (void)fprintf(stderr, "roost-ckpt: %s: %s\n", argv[0], err_code_text(-errno));
    _exit(NOT_FOUND);
}

static int run_program(int argc, char **argv)
{
    const char *what = "";
    struct err err;
    enum machine_level level = MACHINE_ANY;
    bool masks = argc > 3 && strcmp(argv[2], "--cpu") == 0;
    int first = masks ? 4 : 2;
    first += argc > first && strcmp(argv[first], "--") == 0 ? 1 : 0;
    if (argc <= first) {
        return print_usage();
    }
    if (masks && !machine_level_named(argv[3], &level)) {
        (void)fprintf(stderr,
                      "roost-ckpt: unknown processor level '%s'; expected x86-64, x86-64-v2, "
                      "x86-64-v3 or x86-64-v4\n",
                      argv[3]);
        return USAGE;
    }
    if ((masks ? mask_environment(level, &err) : mask_as_told(&err)) != 0) {
        return print_failure(&err);
    }
    /* Of what the caller left open the job gets 0 to 2: others' pipes cannot be saved. */
    (void)close_range(STDERR_FILENO + 1, ~0U, 0);
    const char *outcome = getenv(KEEPER_OUTCOME);
    const struct keeper keeper = {.job = start_program, .arg = argv + first, .outcome = outcome};
    (void)unsetenv(KEEPER_OUTCOME); /* ours, and not the job's; what was found stays */
    long status = keeper_run(&keeper, &what);
    if (status < 0) {
        (void)err_set(&err, (int)status, "%s: %s", what, err_code_text((int)status));
        return print_failure(&err);
    }
    keeper_end_as((int)status);
}

static int run_dump(int argc, char **argv)
{
    int status = ckpt_dump_command(argc, argv);
    return status == USAGE ? print_usage() : status;
}

static int run_pack(int argc, char **argv)
{
    struct err err;
    int rc = 0;
    for (int i = 2; rc == 0 && i < argc; i++) {
        rc = strcmp(argv[1], "pack") == 0 ? pack_file(argv[i], argv[i], NULL, &err)
                                          : unpack_file(argv[i], argv[i], INT64_MAX, &err);
    }
    return argc < 3 ? print_usage() : rc != 0 ? print_failure(&err) : 0;
}

static int run_follow(int argc, char **argv)
{
    int status = ckpt_follow_command(argc, argv);
    return status == USAGE ? print_usage() : status;
}

static int run_merge(int argc, char **argv)
{
    int status = ckpt_merge_command(argc, argv);
    return status == USAGE ? print_usage() : status;
}

static int run_join(int argc, char **argv)
{
    int status = ckpt_join_command(argc, argv);
    return status == USAGE ? print_usage() : status;
}

static int run_mask(int argc, char **argv)
{
    struct err err;
    if (argc < 5 || strcmp(argv[3], "--") != 0) {
        return print_usage();
    }
    if (mask_file(argv[2], &err) != 0) {
        (void)print_failure(&err);
        return REFUSED;
    }
    (void)execvp(argv[4], argv + 4);
    (void)err_set(&err, -errno, "%s: %s", argv[4], err_code_text(-errno));
    (void)print_failure(&err);
    return NOT_FOUND;
}

/* Makes sure that all output was written: otherwise the command has failed, whatever else went
 * well. */
static int say_all(int status)
{
    if (fflush(stdout) == 0 && ferror(stdout) == 0) {
        return status;
    }
    (void)fprintf(stderr, "roost-ckpt: cannot print the result: %s\n",
                  err_code_text(errno != 0 ? -errno : -EIO));
    return status == 0 ? FAILED : status;
}

int ckpt_command(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(int argc, char **argv);
    } COMMANDS[] = {{"dump", run_dump}, {"follow", run_follow}, {"merge", run_merge},
                    {"join", run_join}, {"pack", run_pack},     {"unpack", run_pack},
                    {"info", run_info}, {"probe", run_probe},   {"run", run_program},
                    {"mask", run_mask}};
    for (size_t i = 0; argc > 1 && i < ARRAY_COUNT(COMMANDS); i++) {
        if (strcmp(argv[1], COMMANDS[i].name) == 0) {
            if (COMMANDS[i].run !=
                run_program) { /* what is too large is an error, and not our end */
                (void)signal(SIGXFSZ, SIG_IGN);
            }
            return say_all(COMMANDS[i].run(argc, argv));
        }
    }
    return print_usage();
}
