/* base/daemon/daemon_linux.c - daemon_main(): runs a daemon as a process of its own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/daemon/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/daemon/daemon_run.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/loop_run.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/os/os_run.h"
#include "base/symbol_linux.h"

#define OVERRUN_LOG_MS 10000 /* at most one line about slow callbacks in so long */

/* Makes sure that descriptors 0-2 are open: a socket with number 2 would receive our error
 * messages. */
static void take_standard_descriptors(void)
{
    int fd;
    do {
        fd = open("/dev/null", O_RDWR);
    } while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0) {
        close(fd);
    }
}

/* Makes our children read the configuration that we have read, whatever their working directory. */
static void export_config_path(struct os *os, int argc, char **argv)
{
    const char *path = getenv("ROOST_CONFIG");
    for (int i = 1; i + 1 < argc; i++) {
        if (strcmp(argv[i], "-config") == 0 || strcmp(argv[i], "--config") == 0) {
            path = argv[i + 1];
        }
    }
    char *absolute = NULL;
    if (path != NULL && path[0] != '\0' && os_absolute(os, path, &absolute, NULL) == 0) {
        CHECK(setenv("ROOST_CONFIG", absolute, 1) == 0);
        mem_free(absolute);
    }
}

static void tell_ready(void)
{
    const char *text = getenv("ROOST_READY_FD");
    if (text != NULL) {
        char *end;
        long fd = strtol(text, &end, 10);
        if (*text != '\0' && *end == '\0' && fd > STDERR_FILENO && fd < INT32_MAX) {
            (void)!write((int)fd, "\n", 1); /* nobody waits: not our business */
            close((int)fd);
        }
        (void)unsetenv("ROOST_READY_FD");
    }
}

struct overruns {
    struct loop *loop;
    struct log *log;
    uint64_t logged_ms;
    uint64_t unlogged;
};

static void note_overrun(void *arg, const char *what, uintptr_t function, uint64_t took_ms)
{
    struct overruns *overruns = arg;
    uint64_t now_ms = loop_now_ms(overruns->loop);
    overruns->unlogged++;
    if (overruns->logged_ms != 0 && now_ms - overruns->logged_ms < OVERRUN_LOG_MS) {
        return;
    }
    char place[200];
    if (!symbol_name(function, place, sizeof(place))) {
        (void)snprintf(place, sizeof(place), "%#llx", (unsigned long long)symbol_offset(function));
    }
    log_warn(overruns->log, "loop.overrun", "a callback took too long", LOG_TEXT("kind", what),
             LOG_TEXT("function", place), LOG_INT("took_ms", took_ms),
             LOG_INT("count", overruns->unlogged));
    overruns->logged_ms = now_ms;
    overruns->unlogged = 0;
}

static bool asks_for(const char *word, const char *name)
{
    return word[0] == '-' && strcmp(word + (word[1] == '-' ? 2 : 1), name) == 0;
}

/* Answers "-help" and "-version". */
static bool answer_word(const struct daemon *daemon, const char *word)
{
    if (asks_for(word, "version")) {
        (void)printf("roost-%s %s\n", daemon->name, ROOST_VERSION);
        return true;
    }
    if (asks_for(word, "help")) {
        (void)
            printf("usage: roost-%s [-config FILE] [-log FILE|-] [-pidfile FILE] [-instance NAME] "
                   "[-noresurrect] [-check] [-version]\n"
                   "Reads the configuration FILE; without -config, the file that ROOST_CONFIG "
                   "names.  With "
                   "-check, it is only checked.\n",
                   daemon->name);
        return true;
    }
    return false;
}

static void print_doubt(void *arg, const char *text)
{
    (void)arg;
    (void)fprintf(stderr, "WARNING: %s\n", text);
}

int daemon_main_begun(const struct daemon *daemon, int argc, char **argv,
                      void (*adopt)(struct loop *loop, void *begun), void *begun)
{
    struct loop *loop = NULL;
    struct os *os = NULL;
    struct daemon_run *run = NULL;
    struct err err = {""};
    int status = 1;
    take_standard_descriptors();
    if (argc == 2 && answer_word(daemon, argv[1])) {
        return 0;
    }
    (void)umask(022);
    if (loop_create(&loop, &err) != 0 || os_create(loop, &os, &err) != 0) {
        goto out;
    }
    bool is_check = false;
    struct err fault = {""};
    status =
        daemon_run_check(daemon, loop, os, argc, argv, print_doubt, &is_check, &fault) == 0 ? 0 : 1;
    if (status != 0) {
        err = fault;
    }
    if (is_check) {
        goto out;
    }
    if (adopt != NULL) {
        adopt(loop, begun);
    }
    os_raise_file_limit(); /* with fewer it works, too, for fewer */
    export_config_path(os, argc, argv);
    status = daemon_run_start(daemon, loop, os, NULL, argc, argv, &run, &err);
    if (status != 0) {
        goto out;
    }
    struct overruns overruns = {.loop = loop, .log = daemon_run_log(run)};
    loop_on_overrun(loop, note_overrun, &overruns);
    tell_ready();
    status = loop_run(loop);
    loop_on_overrun(loop, NULL, NULL);
out:
    if (err.text[0] != '\0') {
        (void)fprintf(stderr, "roost-%s: %s\n", daemon->name, err.text);
    }
    daemon_run_destroy(run);
    os_destroy(os);
    loop_destroy(loop);
    return status;
}

int daemon_main(const struct daemon *daemon, int argc, char **argv)
{
    return daemon_main_begun(daemon, argc, argv, NULL, NULL);
}
