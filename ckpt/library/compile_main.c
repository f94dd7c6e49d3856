/* ckpt/library/compile_main.c - roost-compile: runs a compiler or a linker, and the program that it
 * links can have images made of itself (roost_checkpoint.h).
 *
 * The library and its header lie beside the folder that this program is in: ../lib/roost,
 * ../include.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "ckpt/compile_plan.h"
#include "ckpt/library/tag.h"

#define USAGE     2
#define NOT_FOUND 127

extern char **environ;

static int print_failure(const char *text, const char *thing)
{
    (void)fprintf(stderr, "roost-compile: %s: %s\n", thing, text);
    return 1;
}

/* Finds our directory, which is FOLDER/bin. */
static int find_installation(char *object, char *remote, char *include, size_t size)
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = '\0';
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(self, '/');
        if (slash == NULL) {
            return print_failure("cannot find out where roost-compile is installed",
                                 "roost-compile");
        }
        *slash = '\0';
    }
    if ((size_t)snprintf(object, size, "%s/lib/roost/roost_checkpoint.o", self) >= size ||
        (size_t)snprintf(remote, size, "%s/lib/roost/roost_remote.o", self) >= size ||
        (size_t)snprintf(include, size, "%s/include", self) >= size) {
        return print_failure(err_code_text(-ENAMETOOLONG), self);
    }
    return access(object, R_OK) == 0 ? 0 : print_failure(err_code_text(-errno), object);
}

/* Runs the command; returns its exit status as a shell reports it. */
static int run_command(const char *const *command)
{
    pid_t pid;
    int status = 0;
    int rc = posix_spawnp(&pid, command[0], NULL, NULL, (char *const *)(uintptr_t)command, environ);
    if (rc != 0) {
        (void)print_failure(err_code_text(-rc), command[0]);
        return NOT_FOUND;
    }
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR) {
            return print_failure(err_code_text(-errno), command[0]);
        }
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Returns whether a program was linked without the library: then the command did not do what was
 * asked. */
static bool lacks_library(int fd, size_t bytes)
{
    static const char TAG[] = LIBRARY_TAG;
    unsigned char *file = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    if (file == MAP_FAILED) {
        return false;
    }
    bool is_program =
        bytes > 17 && memcmp(file, "\177ELF", 4) == 0 && (file[16] == 2 || file[16] == 3);
    bool lacks = is_program && memmem(file, bytes, TAG, sizeof TAG) == NULL;
    (void)munmap(file, bytes);
    return lacks;
}

static int check_output(const char *output)
{
    struct stat st;
    int fd = open(output, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return errno == ENOENT
                   ? print_failure("the command did not write the program: no such file", output)
                   : 0;
    }
    bool bad = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && lacks_library(fd, (size_t)st.st_size);
    (void)close(fd);
    return bad ? print_failure(
                     "linked without Roost's library; is the command a compiler or linker?", output)
               : 0;
}

int main(int argc, char **argv)
{
    char object[PATH_MAX], remote[PATH_MAX], include[PATH_MAX];
    bool is_remote = argc > 1 && strcmp(argv[1], "--remote") == 0;
    argc -= is_remote ? 1 : 0;
    argv += is_remote ? 1 : 0;
    struct compile_plan plan;
    const char *const *command = (const char *const *)argv + 1;
    if (argc < 2 || strcmp(argv[1], "--help") == 0) {
        (void)
            fprintf(argc < 2 ? stderr : stdout,
                    "usage: roost-compile [--remote] COMMAND [ARGUMENT...]\nCOMMAND is a "
                    "compiler or linker (cc, g++, gfortran, ld ...).  A program that it links "
                    "writes\na checkpoint image of itself on SIGUSR2, on SIGTSTP (and then ends), "
                    "at an interval, or when\nit calls roost_checkpoint(); see "
                    "roost_checkpoint.h and roost-compile(1).\n  --remote  the program uses the "
                    "files of another machine when\n            `roost-rsys-mount --wrap` starts "
                    "it\n");
        return argc < 2 ? USAGE : 0;
    }
    const char *why = compile_plan_read(argc - 1, command, &plan);
    if (why != NULL) {
        (void)print_failure(why, argv[1]);
        return USAGE;
    }
    if (find_installation(object, remote, include, sizeof object) != 0) {
        return 1;
    }
    if (is_remote && access(remote, R_OK) != 0) {
        return print_failure(err_code_text(-errno), remote);
    }
    const char **full = mem_alloc(((size_t)argc + COMPILE_PLAN_MORE) * sizeof *full);
    compile_plan_fill(&plan, argc - 1, command, object, is_remote ? remote : NULL, include, full);
    int status = run_command(full);
    mem_free(full);
    return status == 0 && plan.links && plan.output != NULL ? check_output(plan.output) : status;
}
