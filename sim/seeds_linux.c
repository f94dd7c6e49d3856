/* sim/seeds_linux.c - see seeds.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/seeds.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/ckpt_days.h"
#include "sim/factory_days.h"
#include "sim/power_days.h"
#include "sim/sim_private.h"

#define TRACE_SHOWN 200

struct child {
    pid_t pid;
    int fd;
    uint64_t seed;
};

struct sum {
    uint64_t counts[SIM_COUNT_MAX];
    uint64_t seeds, failed, completed, wakes, runs, audits, pieces, preemptions, reclaims, prompt;
};

/* Handles a failed CHECK or a crash in a daemon or the simulator. */
static void on_crash(int signal_number)
{
    const struct sim *sim = sim_mem_running();
    if (sim != NULL) {
        if (sim->current != NULL) {
            (void)dprintf(STDOUT_FILENO, "in %s on %s\n", sim->current->program->name,
                          sim->current->host->name);
        }
        sim_trace_dump(sim, STDOUT_FILENO, TRACE_SHOWN);
    }
    (void)signal(signal_number, SIG_DFL);
    (void)raise(signal_number);
}

static _Noreturn void run_child(const struct pool_options *options, const struct seeds *seeds,
                                int fd)
{
    struct pool_result result;
    (void)signal(SIGABRT, on_crash);
    (void)signal(SIGSEGV, on_crash);
    if (seeds->hours > 0) {
        const struct power_days_options days = {.seed = options->seed,
                                                .nodes = options->nodes,
                                                .hours = seeds->hours,
                                                .queue = seeds->queue,
                                                .trace = options->trace};
        power_days_run(&days, &result);
    } else if (seeds->checkpoints) {
        const struct ckpt_days_options days = {.seed = options->seed,
                                               .nodes = options->nodes,
                                               .jobs = options->jobs,
                                               .calm = !options->chaos,
                                               .trace = options->trace};
        ckpt_days_run(&days, &result);
    } else if (seeds->sites > 0) {
        const struct factory_days_options days = {.seed = options->seed,
                                                  .sites = seeds->sites,
                                                  .glideins = seeds->glideins,
                                                  .jobs = options->jobs,
                                                  .pause_s = options->pause_s,
                                                  .calm = !options->chaos,
                                                  .trace = options->trace};
        factory_days_run(&days, &result);
    } else {
        pool_run(options, &result);
    }
    (void)fflush(stdout);
    bool told = write(fd, &result, sizeof(result)) == (ssize_t)sizeof(result);
    exit(told && result.verdict[0] == '\0' ? 0 : 1);
}

static bool start_seed(struct child *child, const struct seeds *seeds, uint64_t seed)
{
    int fds[2];
    struct pool_options options = seeds->pool;
    options.seed = seed;
    (void)fflush(stdout);
    if (pipe(fds) != 0) {
        return false;
    }
    pid_t pid = fork();
    if (pid == 0) {
        (void)close(fds[0]);
        run_child(&options, seeds, fds[1]);
    }
    (void)close(fds[1]);
    *child = (struct child){pid, fds[0], seed};
    return pid > 0;
}

static void finish_seed(const struct child *child, struct sum *sum)
{
    struct pool_result result;
    int status = 0;
    bool told = read(child->fd, &result, sizeof(result)) == (ssize_t)sizeof(result);
    (void)close(child->fd);
    (void)waitpid(child->pid, &status, 0);
    sum->seeds++;
    if (!told) {
        sum->failed++;
        printf("seed %llu: CRASHED (signal %d)\n", (unsigned long long)child->seed,
               WIFSIGNALED(status) ? WTERMSIG(status) : 0);
        return;
    }
    for (unsigned i = 0; i < SIM_COUNT_MAX; i++) {
        sum->counts[i] += result.counts[i];
    }
    sum->completed += result.completed;
    sum->wakes += result.wakes;
    sum->runs += result.runs;
    sum->audits += result.audits;
    sum->pieces += result.pieces;
    sum->preemptions += result.preemptions;
    sum->reclaims += result.reclaims;
    sum->prompt += result.prompt;
    printf("seed %llu: %s, %u jobs, %u runs, %u wakes, %.0f s, hash %016llx\n",
           (unsigned long long)child->seed, result.verdict[0] == '\0' ? "ok" : "BROKEN",
           result.completed, result.runs, result.wakes, (double)result.end_us / 1e6,
           (unsigned long long)result.hash);
    if (result.figures[0] != '\0') {
        printf("seed %llu: %s\n", (unsigned long long)child->seed, result.figures);
    }
    if (result.verdict[0] != '\0') {
        sum->failed++;
        printf("seed %llu at %.6f s: INVARIANT %s\n", (unsigned long long)child->seed,
               (double)result.end_us / 1e6, result.verdict);
    }
}

int seeds_run(const struct seeds *seeds)
{
    struct child children[SEEDS_PARALLEL_MAX];
    struct sum sum = {0};
    unsigned running = 0;
    uint64_t next = seeds->first;
    for (;;) {
        if (seeds->stop && sum.failed > 0) {
            next = seeds->last + 1;
        }
        if (next > seeds->last && running == 0) {
            break;
        }
        if (next <= seeds->last && running < seeds->parallel) {
            if (!start_seed(&children[running], seeds, next)) {
                (void)fprintf(stderr, "roost-sim: cannot start a process: %s\n", strerror(errno));
                return 1;
            }
            running++;
            next++;
        } else { /* the oldest: output stays in the order of seeds */
            finish_seed(&children[0], &sum);
            (void)fflush(stdout);
            running--;
            memmove(children, children + 1, running * sizeof(children[0]));
        }
    }
    printf("injected:");
    for (unsigned i = 0; i < SIM_COUNT_MAX; i++) {
        printf(" %s=%llu", sim_count_name((enum sim_count)i), (unsigned long long)sum.counts[i]);
    }
    printf("\nseeds=%llu failed=%llu jobs=%llu runs=%llu wakes=%llu audits=%llu pieces=%llu "
           "preemptions=%llu reclaims=%llu prompt=%llu\n",
           (unsigned long long)sum.seeds, (unsigned long long)sum.failed,
           (unsigned long long)sum.completed, (unsigned long long)sum.runs,
           (unsigned long long)sum.wakes, (unsigned long long)sum.audits,
           (unsigned long long)sum.pieces, (unsigned long long)sum.preemptions,
           (unsigned long long)sum.reclaims, (unsigned long long)sum.prompt);
    return sum.failed > 0 ? 1 : 0;
}
