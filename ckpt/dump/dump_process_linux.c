/* ckpt/dump/dump_process_linux.c - saves what the kernel knows about a process and its threads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "ckpt/dump/dump.h"
#include "ckpt/image/image.h"
#include "ckpt/proc_linux.h"

#define SIGNALS         64
#define SIGNAL_BYTES    8
#define STABLE_TRIES    20
#define AUXV_MAX        128
#define CPUS_RSEQ_BYTES 32

#ifndef ARCH_GET_XCOMP_PERM
#define ARCH_GET_XCOMP_PERM 0x1022
#endif

/* ---- the process */

struct kernel_action {
    uint64_t handler, flags, restorer, mask;
};

/* Saves only signals that are caught or ignored: all others are as at the start of a program. */
static int read_actions(struct dump *dump, const char *status)
{
    struct tracee *tracee = &dump->now->tracee;
    uint64_t set = proc_word(status, "\nSigCgt:", 16) | proc_word(status, "\nSigIgn:", 16);
    dump->now->process.actions.first = dump->tables.counts[CKPT_ACTIONS];
    for (unsigned signal = 1; signal <= SIGNALS; signal++) {
        struct kernel_action action;
        if ((set & (UINT64_C(1) << (signal - 1))) == 0) {
            continue;
        }
        long rc =
            TRACEE_CALL(tracee, 0, SYS_rt_sigaction, signal, 0, tracee->scratch, SIGNAL_BYTES);
        if (rc != 0) {
            return (int)rc;
        }
        if (tracee_read(tracee, tracee->scratch, &action, sizeof action) !=
            (ssize_t)sizeof action) {
            return -EIO;
        }
        const struct ckpt_action saved = {.signal = signal,
                                          .handler = action.handler,
                                          .flags = action.flags,
                                          .restorer = action.restorer,
                                          .mask = action.mask};
        (void)tables_add(&dump->tables, CKPT_ACTIONS, &saved);
    }
    dump->now->process.actions.count =
        dump->tables.counts[CKPT_ACTIONS] - dump->now->process.actions.first;
    return 0;
}

static int read_itimers(struct dump *dump)
{
    struct tracee *tracee = &dump->now->tracee;
    for (uint64_t which = 0; which < 3; which++) {
        struct itimerval timer;
        long rc = TRACEE_CALL(tracee, 0, SYS_getitimer, which, tracee->scratch);
        if (rc != 0) {
            return (int)rc;
        }
        if (tracee_read(tracee, tracee->scratch, &timer, sizeof timer) != (ssize_t)sizeof timer) {
            return -EIO;
        }
        dump->now->process.itimers[which][0] = timer.it_interval.tv_sec;
        dump->now->process.itimers[which][1] = timer.it_interval.tv_usec;
        dump->now->process.itimers[which][2] = timer.it_value.tv_sec;
        dump->now->process.itimers[which][3] = timer.it_value.tv_usec;
    }
    return 0;
}

static int read_timer(struct dump *dump, struct ckpt_timer *timer)
{
    struct tracee *tracee = &dump->now->tracee;
    struct itimerspec left;
    long rc = TRACEE_CALL(tracee, 0, SYS_timer_gettime, (uint64_t)timer->id, tracee->scratch);
    if (rc == 0 &&
        tracee_read(tracee, tracee->scratch, &left, sizeof left) != (ssize_t)sizeof left) {
        rc = -EIO;
    }
    if (rc == 0) {
        timer->interval_s = left.it_interval.tv_sec;
        timer->interval_ns = left.it_interval.tv_nsec;
        timer->left_s = left.it_value.tv_sec;
        timer->left_ns = left.it_value.tv_nsec;
        (void)tables_add(&dump->tables, CKPT_TIMERS, timer);
    }
    return (int)rc;
}

/* Returns the number that a thread has inside its namespace. */
static int32_t inner_of(const struct dump *dump, pid_t tid)
{
    for (uint32_t i = 0; i < dump->now->tracee.count; i++) {
        if (dump->now->tracee.threads[i].tid == tid) {
            const struct ckpt_thread *threads = (const void *)dump->tables.bytes[CKPT_THREADS].data;
            return threads[dump->now->process.threads.first + i].tid;
        }
    }
    return 0;
}

static int by_number(const void *a, const void *b)
{
    int32_t x = ((const struct ckpt_timer *)a)->id, y = ((const struct ckpt_timer *)b)->id;
    return x < y ? -1 : x > y;
}

/* Sorts the timers by number, because the kernel gives numbers in the order in which they are
 * made. */
static void sort_timers(struct dump *dump, struct ckpt_span timers)
{
    if (timers.count > 1) {
        qsort(tables_at(&dump->tables, CKPT_TIMERS, timers.first), timers.count,
              sizeof(struct ckpt_timer), by_number);
    }
}

/* Each timer is described as "ID: 0\nsignal: 14/VALUE\nnotify: signal/pid.123\nClockID: 0\n". */
static int read_timers(struct dump *dump)
{
    struct strbuf text;
    char *rest = NULL;
    struct ckpt_timer timer = {.id = -1};
    strbuf_init(&text, 0);
    int rc = proc_read(dump->now->tracee.pid, "timers", &text);
    dump->now->process.timers.first = dump->tables.counts[CKPT_TIMERS];
    for (char *line = rc == 0 && text.length > 0 ? strtok_r((char *)text.data, "\n", &rest) : NULL;
         rc == 0 && line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        char how[16], whose[8];
        int signal, id;
        uint64_t value;
        if (sscanf(line, "ID: %d", &timer.id) == 1) {
            timer = (struct ckpt_timer){.id = timer.id};
        } else if (sscanf(line, "signal: %d/%" SCNx64, &signal, &value) == 2) {
            timer.signal = signal;
            timer.value = value;
        } else if (sscanf(line, "notify: %15[^/]/%7[^.].%d", how, whose, &id) == 3) {
            bool thread = strcmp(whose, "tid") == 0;
            timer.notify = strcmp(how, "none") == 0 ? SIGEV_NONE
                           : thread                 ? SIGEV_THREAD_ID
                                                    : SIGEV_SIGNAL;
            timer.tid = thread ? inner_of(dump, id) : 0;
        } else if (sscanf(line, "ClockID: %d", &timer.clock) == 1) {
            rc = read_timer(dump, &timer);
        }
    }
    dump->now->process.timers.count =
        dump->tables.counts[CKPT_TIMERS] - dump->now->process.timers.first;
    sort_timers(dump, dump->now->process.timers);
    strbuf_fini(&text);
    return rc == -ENOENT ? 0 : rc; /* a kernel without them */
}

static int read_limits(struct dump *dump)
{
    dump->now->process.limits.first = dump->tables.counts[CKPT_LIMITS];
    for (uint32_t resource = 0; resource < RLIM_NLIMITS; resource++) {
        struct rlimit limit;
        if (prlimit(dump->now->tracee.pid, (enum __rlimit_resource)resource, NULL, &limit) != 0) {
            return -errno;
        }
        const struct ckpt_limit saved = {.resource = resource,
                                         .soft = limit.rlim_cur,
                                         .hard = limit.rlim_max};
        (void)tables_add(&dump->tables, CKPT_LIMITS, &saved);
    }
    dump->now->process.limits.count = RLIM_NLIMITS;
    return 0;
}

/* The fields of /proc/PID/stat that say where its memory is, by their numbers in proc(5). */
static int read_places(struct dump *dump)
{
    struct ckpt_layout *layout = &dump->now->process.layout;
    struct {
        int field;
        uint64_t *place;
    } places[] = {{26, &layout->start_code}, {27, &layout->end_code}, {28, &layout->start_stack},
                  {45, &layout->start_data}, {46, &layout->end_data}, {47, &layout->start_brk},
                  {48, &layout->arg_start},  {49, &layout->arg_end},  {50, &layout->env_start},
                  {51, &layout->env_end}};
    struct strbuf text;
    char *rest = NULL;
    strbuf_init(&text, 0);
    int rc = proc_read(dump->now->tracee.pid, "stat", &text), field = 3;
    char *at = rc == 0 ? strrchr(strbuf_text(&text), ')') : NULL;
    rc = rc == 0 && at == NULL ? -EIO : rc;
    for (char *word = rc == 0 ? strtok_r(at + 1, " ", &rest) : NULL; word != NULL;
         word = strtok_r(NULL, " ", &rest), field++) {
        for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
            if (places[i].field == field) {
                *places[i].place = strtoull(word, NULL, 10);
            }
        }
    }
    strbuf_fini(&text);
    long brk = TRACEE_CALL(&dump->now->tracee, 0, SYS_brk, 0);
    layout->brk = (uint64_t)brk;
    return rc;
}

static int read_auxv(struct dump *dump)
{
    uint64_t auxv[AUXV_MAX];
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/auxv", (int)dump->now->tracee.pid);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return -errno;
    }
    size_t words = fread(auxv, sizeof auxv[0], AUXV_MAX, file);
    (void)fclose(file);
    dump->now->process.auxv.first = dump->tables.counts[CKPT_AUXV];
    dump->now->process.auxv.count = (uint32_t)words;
    for (size_t i = 0; i < words; i++) {
        (void)tables_add(&dump->tables, CKPT_AUXV, &auxv[i]);
    }
    return 0;
}

static uint32_t ask_prctl(struct dump *dump, uint64_t option, uint32_t otherwise)
{
    struct tracee *tracee = &dump->now->tracee;
    uint32_t word = otherwise;
    if (TRACEE_CALL(tracee, 0, SYS_prctl, option, tracee->scratch) == 0) {
        (void)tracee_read(tracee, tracee->scratch, &word, sizeof word);
    }
    return word;
}

static uint32_t ask_result(struct dump *dump, uint64_t option)
{
    long result = TRACEE_CALL(&dump->now->tracee, 0, SYS_prctl, option);
    return result > 0 ? (uint32_t)result : 0;
}

static void read_link(const struct dump *dump, const char *name, char *path, size_t size)
{
    char link[64];
    (void)snprintf(link, sizeof link, "/proc/%d/%s", (int)dump->now->tracee.pid, name);
    ssize_t length = readlink(link, path, size - 1);
    path[length > 0 ? length : 0] = '\0';
}

static void read_names(struct dump *dump)
{
    struct ckpt_process *process = &dump->now->process;
    char path[4096];
    read_link(dump, "exe", path, sizeof path);
    process->exe =
        tables_text(&dump->tables, dump->now->was != NULL
                                       ? image_text(dump->now->before, dump->now->was->exe)
                                       : path);
    read_link(dump, "cwd", path, sizeof path);
    process->cwd = tables_text(&dump->tables, path);
    read_link(dump, "root", path, sizeof path);
    process->root = tables_text(&dump->tables, path);
    const struct ckpt_thread *first =
        tables_at(&dump->tables, CKPT_THREADS, process->threads.first);
    process->command = first->command;
}

/* ---- timers go on while the process stands still */

static bool has_timers(const struct ckpt_process *process)
{
    bool any = process->timers.count > 0;
    for (size_t i = 0; i < sizeof process->itimers / sizeof process->itimers[0]; i++) {
        any = any || process->itimers[i][2] != 0 || process->itimers[i][3] != 0;
    }
    return any;
}

/* Returns a value that changes when a signal comes. */
static uint64_t sum_of_pending(const struct dump *dump)
{
    const struct tracee *tracee = &dump->now->tracee;
    struct strbuf status;
    uint64_t sum = 0;
    strbuf_init(&status, 0);
    for (size_t i = 0; i < tracee->count; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "task/%d/status", (int)tracee->threads[i].tid);
        if (proc_read(tracee->pid, name, &status) == 0) {
            sum = sum * 31 + proc_word(strbuf_text(&status), "\nSigPnd:", 16);
            sum = sum * 31 + (i == 0 ? proc_word(strbuf_text(&status), "\nShdPnd:", 16) : 0);
        }
    }
    strbuf_fini(&status);
    return sum;
}

static int read_signals_again(struct dump *dump)
{
    struct ckpt_process *process = &dump->now->process;
    int rc = dump_signals(dump, dump->now->tracee.pid, true, &process->signals);
    for (uint32_t i = 0; rc == 0 && process->timers.count > 0 && i < process->threads.count; i++) {
        struct ckpt_span signals;
        rc = dump_signals(dump, dump->now->tracee.threads[i].tid, false, &signals);
        struct ckpt_thread *thread =
            tables_at(&dump->tables, CKPT_THREADS, process->threads.first + i);
        thread->signals = rc == 0 ? signals : thread->signals;
    }
    return rc;
}

/* A timer that expires meanwhile must be saved either as not yet expired or by its pending signal,
 * neither both nor none. */
static int read_timers_and_signals(struct dump *dump)
{
    for (int i = 0; i < STABLE_TRIES; i++) {
        int rc = read_itimers(dump);
        rc = rc != 0 ? rc : read_timers(dump);
        bool any = i > 0 || has_timers(&dump->now->process);
        uint64_t before = any ? sum_of_pending(dump) : 0;
        if (rc == 0 && any) { /* once more: what had not gone off before that sum */
            rc = read_itimers(dump);
            rc = rc != 0 ? rc : read_timers(dump);
        }
        rc = rc != 0 ? rc : read_signals_again(dump);
        if (rc != 0 || !any || before == sum_of_pending(dump)) {
            return rc;
        }
    }
    return -EBUSY;
}

/* What its status says. */
static int read_status(struct dump *dump)
{
    struct ckpt_process *process = &dump->now->process;
    struct strbuf status;
    strbuf_init(&status, 0);
    int rc = proc_read(dump->now->tracee.pid, "status", &status);
    if (rc == 0) {
        const char *text = strbuf_text(&status);
        process->umask = (uint32_t)proc_word(text, "\nUmask:", 8);
        process->no_new_privs = (uint32_t)proc_word(text, "\nNoNewPrivs:", 10);
        rc = read_actions(dump, text);
    }
    strbuf_fini(&status);
    return rc;
}

int dump_process(struct dump *dump, struct err *err)
{
    struct ckpt_process *process = &dump->now->process;
    read_names(dump);
    int rc = read_status(dump);
    rc = rc != 0 ? rc : read_timers_and_signals(dump);
    if (rc == 0) {
        dump_pending(dump);
    }
    rc = rc != 0 ? rc : read_limits(dump);
    rc = rc != 0 ? rc : read_places(dump);
    rc = rc != 0 ? rc : read_auxv(dump);
    if (rc != 0) {
        return err_set(err, rc, "process %d: %s", (int)dump->now->tracee.pid, err_code_text(rc));
    }
    process->death_signal = (int32_t)ask_prctl(dump, PR_GET_PDEATHSIG, 0);
    process->subreaper = ask_prctl(dump, PR_GET_CHILD_SUBREAPER, 0);
    process->dumpable = ask_result(dump, PR_GET_DUMPABLE);
    process->thp_disable = ask_result(dump, PR_GET_THP_DISABLE);
    if (TRACEE_CALL(&dump->now->tracee, 0, SYS_arch_prctl, ARCH_GET_XCOMP_PERM,
                    dump->now->tracee.scratch) == 0) {
        (void)tracee_read(&dump->now->tracee, dump->now->tracee.scratch, &process->xstate_allowed,
                          sizeof process->xstate_allowed);
    }
    long persona = TRACEE_CALL(&dump->now->tracee, 0, SYS_personality, 0xffffffff);
    process->personality = persona > 0 ? (uint32_t)persona : 0;
    return 0;
}
