/* bench/process_cpu.h - the CPU time of all processes of a bench's pool, by program.
 *
 * The kernel counts nanoseconds for each thread (/proc/PID/task/TID/schedstat).  The time of
 * threads and processes that end between two looks is missing, so this is for pools at rest.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BENCH_PROCESS_CPU_H
#define BENCH_PROCESS_CPU_H

#include "bench/job_pool.h"

#define CPU_KINDS_MAX 16

struct process_cpu {
    struct {
        char name[64];
        double ms;
        int processes;
    } all[CPU_KINDS_MAX];
    size_t count;
    double ms; /* of all together */
};

static inline double thread_cpu_ms(int pid, const char *thread)
{
    char path[350], text[100] = "";
    (void)snprintf(path, sizeof path, "/proc/%d/task/%s/schedstat", pid, thread);
    FILE *file = fopen(path, "re");
    if (file != NULL) {
        (void)!fgets(text, sizeof text, file); /* a thread that has just ended: nothing */
        (void)fclose(file);
    }
    return (double)strtoll(text, NULL, 10) / 1e6;
}

static inline void process_cpu_add(void *arg, int pid, const char *name)
{
    struct process_cpu *cpu = arg;
    char path[64];
    size_t i = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR *directory = opendir(path);
    while (i < cpu->count && strcmp(cpu->all[i].name, name) != 0) {
        i++;
    }
    CHECK(i < CPU_KINDS_MAX);
    if (i == cpu->count) {
        (void)snprintf(cpu->all[i].name, sizeof cpu->all[i].name, "%s", name);
        cpu->count++;
    }
    cpu->all[i].processes++;
    struct dirent *entry;
    while (directory != NULL && (entry = readdir(directory)) != NULL) {
        double ms = entry->d_name[0] != '.' ? thread_cpu_ms(pid, entry->d_name) : 0;
        cpu->all[i].ms += ms;
        cpu->ms += ms;
    }
    if (directory != NULL) {
        (void)closedir(directory);
    }
}

/* The CPU time of the processes below ROOST_BIN, milliseconds a second, over that many seconds.
 * What each program took goes to stderr.  ms_of() and pausing are those of the pool's bench. */
static inline struct process_cpu process_cpu_rates(struct job_pool *pool, int seconds)
{
    struct process_cpu before = {.count = 0}, after = {.count = 0};
    pool_each_process(process_cpu_add, &before);
    double began_ms = ms_of(CLOCK_MONOTONIC);
    cli_pause(&pool->bench.cli, (uint64_t)seconds * 1000);
    double took_s = (ms_of(CLOCK_MONOTONIC) - began_ms) / 1e3;
    pool_each_process(process_cpu_add, &after);
    for (size_t i = 0; i < after.count; i++) {
        for (size_t k = 0; k < before.count; k++) {
            if (strcmp(before.all[k].name, after.all[i].name) == 0) {
                after.all[i].ms -= before.all[k].ms;
            }
        }
        after.all[i].ms /= took_s;
        (void)fprintf(stderr, "  %-18s %8.3f ms/s, %d processes\n", after.all[i].name,
                      after.all[i].ms, after.all[i].processes);
    }
    after.ms = (after.ms - before.ms) / took_s;
    return after;
}

/* What one process of this name took on average; 0 if there is none. */
static inline double process_cpu_each(const struct process_cpu *rates, const char *name)
{
    for (size_t i = 0; i < rates->count; i++) {
        if (strcmp(rates->all[i].name, name) == 0) {
            return rates->all[i].ms / rates->all[i].processes;
        }
    }
    return 0;
}

#endif
