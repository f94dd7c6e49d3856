/* bench/ckpt.c - how long a job stands still for its image, and how soon it is back.
 *
 * The job (bench/programs/ckpt_job.c) has a heap of random bytes, looks at its clock without end,
 * and writes to a page that it shares with us when it did so last and how long the longest gap was:
 * so it is the job itself that says how long it stood still, and never the command.  What is run is
 * roost-ckpt as a user would.
 *
 *     ckpt_freeze        dump --leave-running: the longest gap in the job's clock
 *     ckpt_stop_write    dump --kill: from the job's last look at its clock until the image is
 * there under its name, durable ckpt_lazy_resume   from the start of IMAGE --lazy until the job
 * looks at its clock ckpt_delta_freeze  follow: an image after a twentieth of the pages were
 * written to, at random ckpt_untouched     image of a heap that was never written to
 *
 * Beside them, in the same run and in turns: write() of as many bytes to a new file.  Files are in
 * memory.  What is said is the median of BENCH_ROUNDS rounds, and the ratio to the median of the
 * writes.  The job computes all the time, on a processor of its own, as jobs do.
 *
 * Environment: ROOST_BIN and ROOST_BUILD (needed), BENCH_MIB, BENCH_ROUNDS, BENCH_ONLY (freeze,
 * kill or follow). Root runs it as nobody.
 *
 * SHORT: BENCH_MIB=16 BENCH_ROUNDS=1
 * LINK: base
 * SPDX-License-Identifier: Apache-2.0
 */
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "bench/bench_env.h"
#include "bench/ckpt_board.h"
#include "tests/support/fast_dir.h"

#define ROUNDS_MAX 25
#define NOBODY     65534
#define DELTAS     4U /* a round: their median counts */
#define WAITS_MS   60000

enum figure { WRITE, FREEZE, STOP_WRITE, STOP_CPU, RESUME, DELTA, FIGURES };

static double seen[FIGURES][ROUNDS_MAX];

static bool is_wanted(const char *name)
{
    const char *only = getenv("BENCH_ONLY");
    return only == NULL || strcmp(only, name) == 0;
}

static void path_in(char *ret, size_t size, const char *dir, const char *name)
{
    CHECK((size_t)snprintf(ret, size, "%s/%s", dir, name) < size);
}

/* ---- programs that are run ------------------------------------------------------------------- */

struct bench {
    char dir[FAST_DIR_SIZE], board_path[256], image[256], folder[256], plain[256], ckpt[512],
        job[512];
    struct board *board;
    uint64_t bytes;
    int moves; /* inotify: what came under its name in the folder */
};

/* Not by fork(), which would copy the tables of all our own pages. */
static pid_t start(char *const argv[], int in, int out)
{
    pid_t pid = -1;
    posix_spawn_file_actions_t files;
    int rc = posix_spawn_file_actions_init(&files);
    for (int fd = STDIN_FILENO; rc == 0 && fd <= STDOUT_FILENO; fd++) {
        int from = fd == STDIN_FILENO ? in : out;
        rc = from >= 0 ? posix_spawn_file_actions_adddup2(&files, from, fd)
                       : posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
    }
    CHECK(rc == 0 && posix_spawn(&pid, argv[0], &files, NULL, argv, environ) == 0);
    (void)posix_spawn_file_actions_destroy(&files); /* cannot fail */
    return pid;
}

static int end_of(pid_t pid, struct rusage *usage)
{
    int status = -1;
    struct rusage unused;
    CHECK(wait4(pid, &status, 0, usage != NULL ? usage : &unused) == pid);
    return status;
}

static pid_t child_of(pid_t pid)
{
    char path[96];
    long child = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
    while (child == 0) { /* it may be made this moment */
        FILE *file = fopen(path, "re");
        CHECK(file != NULL);
        (void)!fscanf(file, "%ld", &child);
        (void)fclose(file);
    }
    return (pid_t)child;
}

static void order(struct bench *bench, enum board_order order)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    board_set(&bench->board->order, order);
    while (board_get(&bench->board->obeyed) != order) {
        (void)nanosleep(&pause, NULL);
    }
    board_set(&bench->board->order, BOARD_NOTHING);
    while (board_get(&bench->board->obeyed) != BOARD_NOTHING) {
        (void)nanosleep(&pause, NULL);
    }
}

/* The job of its own keeper; *ret: what it is known by from here. */
static pid_t start_job(struct bench *bench, bool untouched, pid_t *ret)
{
    char bytes[32];
    char *argv[] = {bench->ckpt,
                    "run",
                    "--",
                    bench->job,
                    bench->board_path,
                    bytes,
                    untouched ? "untouched" : "random",
                    NULL};
    (void)snprintf(bytes, sizeof bytes, "%llu", (unsigned long long)bench->bytes);
    memset(bench->board, 0, sizeof *bench->board);
    pid_t pid = start(argv, -1, -1);
    order(bench, BOARD_FORGET_GAPS); /* its heap is there then */
    *ret = child_of(child_of(pid));
    return pid;
}

static void end_job(pid_t pid)
{
    CHECK(kill(pid, SIGKILL) == 0);
    (void)end_of(pid, NULL);
}

/* ---- figures --------------------------------------------------------------------------------- */

static void measure_write(struct bench *bench, const uint64_t *heap, unsigned round)
{
    uint64_t done = 0, from = board_now_ns();
    int fd = open(bench->plain, O_WRONLY | O_CREAT | O_EXCL, 0600);
    CHECK(fd >= 0);
    while (done < bench->bytes) {
        ssize_t got = write(fd, (const char *)heap + done, bench->bytes - done);
        CHECK(got > 0);
        done += (uint64_t)got;
    }
    CHECK(fsync(fd) == 0);
    seen[WRITE][round] = (double)(board_now_ns() - from) / 1e6;
    CHECK(close(fd) == 0 && unlink(bench->plain) == 0);
}

static pid_t start_dump(struct bench *bench, pid_t job_pid, const char *how)
{
    char number[16];
    (void)snprintf(number, sizeof number, "%d", (int)job_pid);
    char *argv[] = {bench->ckpt, "dump", number, bench->image, (char *)(uintptr_t)how, NULL};
    return start(argv, -1, -1);
}

static void await_name(struct bench *bench, const char *name)
{
    char events[4096] __attribute__((aligned(8)));
    struct pollfd moves = {.fd = bench->moves, .events = POLLIN};
    for (;;) {
        CHECK(poll(&moves, 1, WAITS_MS) == 1);
        ssize_t got = read(bench->moves, events, sizeof events);
        for (ssize_t at = 0; at < got;) {
            const struct inotify_event *event = (const void *)(events + at);
            if (strcmp(event->name, name) == 0) {
                return;
            }
            at += (ssize_t)(sizeof *event + event->len);
        }
    }
}

static void measure_freeze(struct bench *bench, pid_t job_pid, unsigned round)
{
    order(bench, BOARD_FORGET_GAPS);
    CHECK(end_of(start_dump(bench, job_pid, "--leave-running"), NULL) == 0);
    await_name(bench, "image");
    seen[FREEZE][round] = (double)board_get(&bench->board->gap_ns) / 1e6;
    CHECK(unlink(bench->image) == 0);
}

static void measure_stop(struct bench *bench, pid_t pid, pid_t job_pid, unsigned round)
{
    struct rusage usage;
    pid_t dumper = start_dump(bench, job_pid, "--kill");
    await_name(bench, "image");
    uint64_t there = board_now_ns();
    CHECK(end_of(dumper, &usage) == 0);
    (void)end_of(pid, NULL);
    seen[STOP_WRITE][round] = (double)(there - board_get(&bench->board->last_ns)) / 1e6;
    seen[STOP_CPU][round] = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3 +
                            (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e3;
}

static void measure_resume(struct bench *bench, unsigned round)
{
    char *argv[] = {bench->image, "--lazy", NULL};
    uint64_t before = board_get(&bench->board->looks), from = board_now_ns();
    pid_t pid = start(argv, -1, -1);
    while (board_get(&bench->board->looks) == before) {
        CHECK(board_now_ns() - from < (uint64_t)WAITS_MS * 1000000);
    }
    seen[RESUME][round] = (double)(board_now_ns() - from) / 1e6;
    end_job(pid);
    CHECK(unlink(bench->image) == 0);
}

static void ask_follower(FILE *out, int in, const char *wanted, char *path)
{
    char kind[16], line[512];
    CHECK(write(in, "image\n", 6) == 6 && fgets(line, sizeof line, out) != NULL);
    CHECK(sscanf(line, "%15s %255s", kind, path) == 2 && strcmp(kind, wanted) == 0);
    CHECK(unlink(path) == 0);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *values, unsigned count)
{
    qsort(values, count, sizeof *values, by_value);
    return count % 2 != 0 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static void measure_deltas(struct bench *bench, unsigned round)
{
    char number[16], path[256];
    double gaps[DELTAS];
    int in[2], out[2];
    pid_t job_pid, pid = start_job(bench, false, &job_pid);
    (void)snprintf(number, sizeof number, "%d", (int)job_pid);
    char *argv[] = {bench->ckpt, "follow", number, bench->folder, NULL};
    CHECK(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
    pid_t follower = start(argv, in[0], out[1]);
    FILE *answers = fdopen(out[0], "re");
    CHECK(answers != NULL && close(in[0]) == 0 && close(out[1]) == 0);
    ask_follower(answers, in[1], "whole", path);
    for (unsigned i = 0; i < DELTAS; i++) {
        order(bench, BOARD_DIRTY_PAGES);
        ask_follower(answers, in[1], "delta", path);
        gaps[i] = (double)board_get(&bench->board->gap_ns) / 1e6;
    }
    seen[DELTA][round] = median(gaps, DELTAS);
    CHECK(close(in[1]) == 0 && fclose(answers) == 0 && end_of(follower, NULL) == 0);
    end_job(pid);
}

static double measure_untouched(struct bench *bench)
{
    struct stat image;
    pid_t job_pid, pid = start_job(bench, true, &job_pid);
    CHECK(end_of(start_dump(bench, job_pid, "--kill"), NULL) == 0);
    (void)end_of(pid, NULL);
    CHECK(stat(bench->image, &image) == 0 && unlink(bench->image) == 0);
    return (double)image.st_size / 1e6;
}

static void say(const char *name, enum figure figure, unsigned rounds, double write_ms)
{
    double value = median(seen[figure], rounds);
    printf("BENCH %s %.2f ms ratio %.3f vs write\n", name, value, value / write_ms);
    (void)fprintf(stderr, "%s: %.2f to %.2f ms\n", name, seen[figure][0], seen[figure][rounds - 1]);
}

static void run(struct bench *bench)
{
    unsigned rounds = (unsigned)number("BENCH_ROUNDS", 5, ROUNDS_MAX);
    uint64_t *heap = board_heap(bench->bytes);
    CHECK(heap != NULL);
    board_fill(heap, bench->bytes);
    for (unsigned round = 0; round < rounds; round++) {
        measure_write(bench, heap, round);
        if (is_wanted("freeze") || is_wanted("kill")) {
            pid_t job_pid, pid = start_job(bench, false, &job_pid);
            if (is_wanted("freeze")) {
                measure_freeze(bench, job_pid, round);
            }
            measure_stop(bench, pid, job_pid, round);
            measure_resume(bench, round);
        }
        if (is_wanted("follow")) {
            measure_deltas(bench, round);
        }
    }
    CHECK(munmap(heap, bench->bytes) == 0);
    double untouched_mb = measure_untouched(bench), write_ms = median(seen[WRITE], rounds);
    printf("BENCH ckpt_write %.0f ms\n", write_ms);
    (void)fprintf(stderr, "ckpt_write: %.0f to %.0f ms\n", seen[WRITE][0], seen[WRITE][rounds - 1]);
    if (is_wanted("freeze")) {
        say("ckpt_freeze", FREEZE, rounds, write_ms);
    }
    if (is_wanted("freeze") || is_wanted("kill")) {
        say("ckpt_stop_write", STOP_WRITE, rounds, write_ms);
        say("ckpt_stop_write_cpu", STOP_CPU, rounds, write_ms);
        printf("BENCH ckpt_lazy_resume %.2f ms\n", median(seen[RESUME], rounds));
    }
    if (is_wanted("follow")) {
        say("ckpt_delta_freeze", DELTA, rounds, write_ms);
    }
    printf("BENCH ckpt_untouched %.2f MB\n", untouched_mb);
}

int main(void)
{
    struct bench bench = {.bytes = (uint64_t)number("BENCH_MIB", 1024, 1000000) << 20};
    if (getuid() == 0) {
        CHECK(setgroups(0, NULL) == 0 && setgid(NOBODY) == 0 && setuid(NOBODY) == 0);
        CHECK(prctl(PR_SET_DUMPABLE, 1) == 0);
    }
    CHECK(getenv("ROOST_BIN") != NULL && getenv("ROOST_BUILD") != NULL && fast_dir_make(bench.dir));
    (void)snprintf(bench.ckpt, sizeof bench.ckpt, "%s/roost-ckpt", getenv("ROOST_BIN"));
    (void)snprintf(bench.job, sizeof bench.job, "%s/bench/programs/ckpt_job",
                   getenv("ROOST_BUILD"));
    path_in(bench.board_path, sizeof bench.board_path, bench.dir, "board");
    path_in(bench.image, sizeof bench.image, bench.dir, "image");
    path_in(bench.folder, sizeof bench.folder, bench.dir, "images");
    path_in(bench.plain, sizeof bench.plain, bench.dir, "plain");
    bench.board = board_map(bench.board_path, O_CREAT);
    bench.moves = inotify_init1(IN_CLOEXEC);
    CHECK(bench.board != NULL && inotify_add_watch(bench.moves, bench.dir, IN_MOVED_TO) >= 0);
    CHECK(mkdir(bench.folder, 0700) == 0);
    run(&bench);
    CHECK(unlink(bench.board_path) == 0 && rmdir(bench.folder) == 0 && rmdir(bench.dir) == 0);
    return 0;
}
