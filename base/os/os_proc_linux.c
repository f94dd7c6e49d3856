/* base/os/os_proc_linux.c - processes: children and their ends, watches, descendants.
 *
 * Design note: every child and every watched process has a pidfd in the loop.  So there is no
 * SIGCHLD handler and no race with a reused pid: the descriptor means one process for ever.  Only a
 * subreaper listens to SIGCHLD, too, because it inherits children that it never started.  Where the
 * kernel (before 5.3) or a container's filter of system calls has no pidfd, processes are checked
 * every POLL_MS.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/os/os_linux.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/queue.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/loop_event.h"
#include "base/mem.h"
#include "base/os/os_cage.h"

#define POLL_MS         20
#define LOOK_MS         5 /* of os_run() */
#define KEEPER_DIES_MS  2000
#define KILL_ROUNDS_MAX 50 /* of os_descendants_kill(), while new ones appear */

struct process {
    LIST_ENTRY(process) entry;
    struct process_table *table;
    pid_t pid;
    bool child; /* ours to reap */
    int pidfd;  /* -1: gone already when it was to be watched, or looked at again and again */
    struct loop_fd *watch;
    uint64_t start_time;     /* of one that is looked at, and no child */
    struct loop_timer *gone; /* tells so, soon; or looks */
    os_exit_f on_exit;       /* NULL: nobody wants to know */
    void *arg;
    struct spawned caged; /* .end: NULL for what is not in a cage */
    int program_fd;       /* pidfd of the program in the cage; -1: none */
    int keeper_fd;        /* pidfd of the cage's keeper, if a lease process is between; -1: none */
    /* The lease process is dead, and `how` says how it ended; told when the keeper is dead, too. */
    bool waits_for_keeper;
    struct os_exit how;
};

struct process_table {
    struct os *os;
    LIST_HEAD(, process) processes;
    bool subreaper;
};

struct process_table *process_table_create(struct os *os)
{
    struct process_table *table = mem_zalloc(sizeof(*table));
    table->os = os;
    LIST_INIT(&table->processes);
    return table;
}

static void process_free(struct process *process)
{
    LIST_REMOVE(process, entry);
    loop_fd_destroy(process->watch);
    loop_timer_destroy(process->gone);
    if (process->pidfd >= 0) {
        close(process->pidfd);
    }
    if (process->program_fd >= 0) {
        close(process->program_fd);
    }
    if (process->keeper_fd >= 0) {
        close(process->keeper_fd);
    }
    if (process->caged.shared != NULL) {
        (void)munmap(process->caged.shared, process->caged.shared_bytes);
    }
    mem_free(process);
}

/* Kills a cage that we must leave: its keeper uses our memory. */
static void cage_end_now(const struct process *process)
{
    if (process->caged.end == NULL) {
        return;
    }
    if (!process->waits_for_keeper) {
        (void)kill(process->pid, SIGKILL);
        while (waitpid(process->pid, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    if (process->keeper_fd >= 0) {
        struct pollfd keeper = {.fd = process->keeper_fd, .events = POLLIN};
        (void)pidfd_send_signal(process->keeper_fd, SIGKILL, NULL, 0);
        (void)poll(&keeper, 1, KEEPER_DIES_MS);
    }
}

void process_table_destroy(struct process_table *table)
{
    if (table != NULL) {
        while (!LIST_EMPTY(&table->processes)) {
            cage_end_now(LIST_FIRST(&table->processes));
            process_free(LIST_FIRST(&table->processes));
        }
        mem_free(table);
    }
}

/* ---- ends ------------------------------------------------------------------------------------ */

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static struct os_exit describe_exit(int status, const struct rusage *usage)
{
    struct os_exit how = {.status = -1,
                          .user_cpu_s = seconds_of(usage->ru_utime),
                          .system_cpu_s = seconds_of(usage->ru_stime),
                          .max_rss_kib = usage->ru_maxrss};
    if (WIFEXITED(status)) {
        how.status = WEXITSTATUS(status);
    } else {
        how.signal = WTERMSIG(status);
        how.core = WCOREDUMP(status);
    }
    return how;
}

/* The process has ended: forgets it, then calls its callback. */
static void process_ended(struct process *process, const struct os_exit *how)
{
    struct loop *loop = process->table->os->loop;
    os_exit_f on_exit = process->on_exit;
    void *arg = process->arg;
    pid_t pid = process->pid;
    process_free(process);
    if (on_exit != NULL) {
        struct loop_account account;
        loop_account_begin(loop, &account);
        on_exit(arg, pid, how);
        loop_account_end(loop, &account, "exit", (void (*)(void))on_exit);
    }
}

static const struct os_exit UNKNOWN_END = {.status = -1, .unknown = true};

static void pidfd_ready(void *arg, unsigned ready);

/* A lease process died before its keeper, which the kernel kills then; the keeper is dead when
 * everything in there is.  Returns whether that is still to be waited for. */
static bool outlived_lease_process(struct process *process, const struct os_exit *how)
{
    const struct cage_end *end = process->caged.end;
    if (end == NULL || end->ended || end->keeper_reaped || process->keeper_fd < 0) {
        return false;
    }
    process->waits_for_keeper = true;
    process->how = *how;
    (void)pidfd_send_signal(process->keeper_fd, SIGKILL, NULL, 0);
    loop_fd_destroy(process->watch);
    process->watch =
        loop_fd_create(process->table->os->loop, process->keeper_fd, pidfd_ready, process);
    loop_fd_want(process->watch, LOOP_READ);
    return true;
}

static void pidfd_ready(void *arg, unsigned ready)
{
    (void)ready;
    struct process *process = arg;
    struct rusage usage;
    int status;
    if (process->waits_for_keeper) {
        siginfo_t info; /* it is our child since its lease process is dead, if we are a subreaper */
        (void)waitid(P_PIDFD, (id_t)process->keeper_fd, &info, WEXITED | WNOHANG);
        const struct os_exit how = process->how;
        process_ended(process, &how);
        return;
    }
    if (!process->child) {
        process_ended(process, &UNKNOWN_END);
        return;
    }
    pid_t pid = wait4(process->pid, &status, WNOHANG, &usage);
    if (pid == process->pid) {
        const struct cage_end *end = process->caged.end;
        bool told = end != NULL && end->ended; /* else the keeper was killed, and all with it */
        struct os_exit how =
            told ? describe_exit(end->status, &end->usage) : describe_exit(status, &usage);
        how.keeper_killed = end != NULL && !told;
        if (!outlived_lease_process(process, &how)) {
            process_ended(process, &how);
        }
    } else if (pid < 0 && errno != EINTR) { /* somebody else has reaped it */
        process_ended(process, &UNKNOWN_END);
    }
}

static void process_gone(void *arg)
{
    process_ended(arg, &UNKNOWN_END);
}

static void process_look(void *arg)
{
    struct process *process = arg;
    siginfo_t info = {.si_pid = 0};
    bool runs = process->child
                    ? waitid(P_PID, (id_t)process->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
                          info.si_pid == 0
                    : os_start_time(process->table->os, process->pid) == process->start_time;
    if (runs) {
        loop_timer_set(process->gone, POLL_MS);
    } else {
        pidfd_ready(process, LOOP_READ);
    }
}

/* Checks a process without a pidfd. */
static void process_poll(struct process *process, uint64_t start_time)
{
    loop_timer_destroy(process->gone);
    process->start_time = start_time;
    process->gone = loop_timer_create(process->table->os->loop, process_look, process);
    loop_timer_set(process->gone, POLL_MS);
}

/* EPERM: older filters of containers answer so to each call that they do not know. */
static bool is_unknown_call(int error)
{
    return error == ENOSYS || error == EPERM;
}

static struct process *process_add(struct os *os, pid_t pid, int pidfd, bool child,
                                   os_exit_f on_exit, void *arg)
{
    CHECK(os->loop != NULL);
    struct process *process = mem_zalloc(sizeof(*process));
    process->table = os->processes;
    process->pid = pid;
    process->child = child;
    process->pidfd = pidfd;
    process->program_fd = -1;
    process->keeper_fd = -1;
    process->on_exit = on_exit;
    process->arg = arg;
    LIST_INSERT_HEAD(&os->processes->processes, process, entry);
    if (pidfd >= 0) {
        process->watch = loop_fd_create(os->loop, pidfd, pidfd_ready, process);
        loop_fd_want(process->watch, LOOP_READ);
    } else {
        process->gone = loop_timer_create(os->loop, process_gone, process);
        loop_timer_set(process->gone, 0);
    }
    return process;
}

/* ---- who is who ------------------------------------------------------------------------------ */

/* Opens a pidfd of the keeper whose lease process is our child; -1: it is dead. */
static int open_keeper(const struct spawned *spawned)
{
    struct living stat;
    int fd = pidfd_open(spawned->end->keeper, 0);
    if (fd >= 0 && (!living_read(spawned->end->keeper, &stat) || stat.parent != spawned->pid)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* Opens a pidfd of the program in the cage; -1: it has ended, and its pid may be another
 * process's. */
static int open_program(const struct spawned *spawned)
{
    struct living stat;
    int fd = pidfd_open(spawned->end->program, 0);
    if (fd < 0 && is_unknown_call(errno)) { /* the directory, too, is of one process only */
        char path[64];
        (void)snprintf(path, sizeof(path), "/proc/%d", (int)spawned->end->program);
        fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
    if (fd >= 0 &&
        (!living_read(spawned->end->program, &stat) || stat.parent != spawned->end->keeper)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static const struct process *find_caged(const struct os *os, pid_t pid)
{
    const struct process *process;
    LIST_FOREACH(process, &os->processes->processes, entry)
    {
        if (process->pid == pid && process->caged.end != NULL) {
            return process;
        }
    }
    return NULL;
}

int spawn_watched(struct os *os, const struct os_spawn *spec, int stdin_fd, os_exit_f on_exit,
                  void *arg, pid_t *ret, struct err *err)
{
    struct spawned spawned = {0};
    struct os_spawn own = *spec;
    const struct process *caged = spec->beside > 0 ? find_caged(os, spec->beside) : NULL;
    own.beside =
        caged != NULL ? caged->caged.end->keeper : spec->beside; /* not of its lease process */
    int code = spawn_program(os, &own, stdin_fd, &spawned, err);
    if (code != 0) {
        return code;
    }
    if (spec->kin != OS_DETACHED && os->loop != NULL) {
        int pidfd = pidfd_open(spawned.pid, 0); /* not reaped yet: it cannot be another's */
        bool polled = pidfd < 0 && is_unknown_call(errno);
        if (pidfd < 0 && !polled) {
            code = err_set(err, -errno, "%s: cannot watch the process: %s", spec->argv[0],
                           strerror(errno));
            (void)kill(spawned.pid, SIGKILL);
            (void)waitpid(spawned.pid, NULL, 0);
            if (spawned.shared != NULL) {
                (void)munmap(spawned.shared, spawned.shared_bytes);
            }
            return code;
        }
        struct process *process = process_add(os, spawned.pid, pidfd, true, on_exit, arg);
        if (polled) {
            process_poll(process, 0);
        }
        process->caged = spawned;
        process->program_fd = spawned.end != NULL ? open_program(&spawned) : -1;
        process->keeper_fd =
            spawned.end != NULL && spawned.end->has_lease ? open_keeper(&spawned) : -1;
    }
    *ret = spawned.pid;
    return 0;
}

int os_spawn(struct os *os, const struct os_spawn *spec, os_exit_f on_exit, void *arg, pid_t *ret,
             struct err *err)
{
    if (spec->kin == OS_SUBREAPER_JOB) {
        os_become_subreaper(os);
    }
    return spec->prepared && prepared_spawn(os, spec, ret)
               ? 0
               : spawn_watched(os, spec, -1, on_exit, arg, ret, err);
}

int os_run(struct os *os, const struct os_spawn *spec, unsigned wait_ms, struct os_exit *how,
           struct err *err)
{
    struct spawned spawned;
    int status = 0;
    struct rusage usage;
    pid_t ended = 0;
    CHECK(spec->kin != OS_DETACHED && spec->cage == NULL && spec->new_session);
    int rc = spawn_program(os, spec, -1, &spawned, err);
    if (rc != 0) {
        return rc;
    }
    for (unsigned waited_ms = 0; ended == 0 && waited_ms < wait_ms; waited_ms += LOOK_MS) {
        const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000L};
        ended = wait4(spawned.pid, &status, WNOHANG, &usage);
        if (ended == 0) {
            (void)nanosleep(&pause, NULL); /* a signal: looked at earlier */
        }
    }
    if (ended != spawned.pid) {
        (void)kill(-spawned.pid, SIGKILL);
        (void)wait4(spawned.pid, &status, 0, &usage);
        return err_set(err, -ETIMEDOUT, "%s: the program did not end within %u s", spec->argv[0],
                       wait_ms / 1000);
    }
    *how = describe_exit(status, &usage);
    return 0;
}

pid_t os_caged_pid(struct os *os, pid_t pid)
{
    const struct process *process = find_caged(os, pid);
    return process == NULL ? pid : process->program_fd >= 0 ? process->caged.end->program : 0;
}

int os_watch(struct os *os, pid_t pid, uint64_t start_time, os_exit_f on_exit, void *arg,
             struct err *err)
{
    int pidfd = pid > 0 ? pidfd_open(pid, 0) : -1;
    bool polled = pidfd < 0 && pid > 0 && is_unknown_call(errno);
    if (pidfd < 0 && pid > 0 && !polled && errno != ESRCH && errno != EINVAL) {
        return err_set(err, -errno, "cannot watch process %d: %s", (int)pid, strerror(errno));
    }
    /* Only now: the descriptor and the start time are of the same process, or it is gone. */
    if (pidfd >= 0 && start_time != 0 && os_start_time(os, pid) != start_time) {
        close(pidfd);
        pidfd = -1;
    }
    uint64_t started = polled ? os_start_time(os, pid) : 0;
    struct process *process = process_add(os, pid, pidfd, false, on_exit, arg);
    if (started != 0 && (start_time == 0 || started == start_time)) {
        process_poll(process, started);
    }
    return 0;
}

void os_forget(struct os *os, pid_t pid)
{
    struct process *next;
    for (struct process *each = LIST_FIRST(&os->processes->processes); each != NULL; each = next) {
        next = LIST_NEXT(each, entry);
        if (each->pid == pid) {
            each->on_exit = NULL;
            if (!each->child) {
                process_free(each);
            }
        }
    }
}

/* ---- signals, names ---------------------------------------------------------------------------
 */

uint64_t os_start_time(struct os *os, pid_t pid)
{
    (void)os;
    struct living stat;
    return pid > 0 && living_read(pid, &stat) && !living_is_dead(stat.state) ? stat.start_time : 0;
}

static int signal_program(const struct process *caged, int signal_number)
{
    struct living stat;
    if (caged->program_fd < 0) {
        return -ESRCH;
    }
    if (pidfd_send_signal(caged->program_fd, signal_number, NULL, 0) == 0) {
        return 0;
    }
    if (!is_unknown_call(errno)) {
        return -errno;
    }
    if (!living_read(caged->caged.end->program, &stat) || stat.parent != caged->caged.end->keeper) {
        return -ESRCH;
    }
    return kill(caged->caged.end->program, signal_number) == 0 ? 0 : -errno;
}

int os_kill(struct os *os, pid_t pid, int signal_number)
{
    CHECK(pid != 0); /* kill(2) means something else by it: our own group */
    if (pid < 0) {
        return -ESRCH;
    }
    /* Who holds a cage is deaf to all but KILL: what is meant is the program in it. */
    const struct process *caged = find_caged(os, pid);
    if (caged != NULL && signal_number != SIGKILL) {
        return signal_program(caged, signal_number);
    }
    if (caged != NULL && caged->keeper_fd >= 0) {
        (void)pidfd_send_signal(caged->keeper_fd, SIGKILL, NULL,
                                0); /* its lease process may be stopped */
    }
    if (caged != NULL && caged->waits_for_keeper) {
        return 0; /* the pid may be another process's by now */
    }
    return kill(pid, signal_number) == 0 ? 0 : -errno;
}

int os_kill_group(struct os *os, pid_t group, int signal_number)
{
    (void)os;
    CHECK(group != 0);
    if (group <= 1) { /* -1 would be everybody */
        return -ESRCH;
    }
    return kill(-group, signal_number) == 0 ? 0 : -errno;
}

pid_t os_pid(struct os *os)
{
    (void)os;
    return getpid();
}

pid_t os_group(struct os *os)
{
    (void)os;
    return getpgrp();
}

/* ---- descendants ----------------------------------------------------------------------------- */

/* Reaps children that we have inherited.  If a child that we started comes first, its end is
 * reported as usual. */
static void reap_inherited(void *arg)
{
    struct os *os = arg;
    siginfo_t info;
    for (;;) {
        info.si_pid = 0;
        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) {
            return;
        }
        struct process *process;
        LIST_FOREACH(process, &os->processes->processes, entry)
        {
            if (process->pid == info.si_pid && process->child) {
                break;
            }
        }
        if (process != NULL) {
            pidfd_ready(process, LOOP_READ);
        } else {
            (void)waitpid(info.si_pid, NULL, WNOHANG);
        }
    }
}

void os_become_subreaper(struct os *os)
{
    if (os->processes->subreaper) {
        return;
    }
    CHECK(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0);
    os->processes->subreaper = true;
    if (os->loop != NULL) {
        loop_on_signal(os->loop, SIGCHLD, reap_inherited, os);
    }
}

size_t os_descendants_pids(pid_t *ret, size_t max)
{
    struct population family = {0};
    size_t count = 0;
    population_read_family(&family, getpid(), false);
    for (; count < family.count && count < max; count++) {
        ret[count] = family.all[count].pid;
    }
    mem_free(family.all);
    return count;
}

/* Returns whether the process is the lease process of a cage, which only KILL is for: one that is
 * stopped does not hear of renewals. */
static bool is_lease_process(const struct os *os, pid_t pid, int signal_number)
{
    const struct process *caged = signal_number != SIGKILL ? find_caged(os, pid) : NULL;
    return caged != NULL && caged->caged.end->has_lease;
}

/* In rounds, because they may fork meanwhile; each process gets the signal once. */
size_t os_descendants_kill(struct os *os, int signal_number)
{
    struct population before = {0}, now = {0};
    size_t total = 0, fresh = 1;
    for (int round = 0; round < KILL_ROUNDS_MAX && fresh > 0; round++) {
        fresh = 0;
        population_read(&now);
        population_mark(&now, getpid());
        for (size_t i = 0; i < now.count; i++) {
            struct living *each = &now.all[i];
            const struct living *known = population_find(&before, each->pid);
            each->killed = known != NULL && known->killed && known->start_time == each->start_time;
            if (each->ours && !each->killed && !is_lease_process(os, each->pid, signal_number)) {
                each->killed = true;
                fresh += kill(each->pid, signal_number) == 0 ? 1 : 0;
            }
        }
        total += fresh;
        struct population swap = before;
        before = now;
        now = swap;
    }
    mem_free(before.all);
    mem_free(now.all);
    return total;
}

size_t os_children_kill(struct os *os, int signal_number)
{
    (void)os;
    struct population all = {0};
    size_t count = 0;
    pid_t self = getpid();
    population_read(&all);
    for (size_t i = 0; i < all.count; i++) {
        if (all.all[i].parent == self) {
            count += kill(all.all[i].pid, signal_number) == 0 ? 1 : 0;
        }
    }
    mem_free(all.all);
    return count;
}

static bool is_load(char state)
{
    return state == 'R' || state == 'D';
}

/* The state of a process is that of its first thread only, so all threads are looked at. */
static int64_t running_threads(const struct living *process)
{
    char path[64];
    struct living stat;
    int64_t running = 0;
    if (process->threads <= 1) {
        return is_load(process->state) ? 1 : 0;
    }
    (void)snprintf(path, sizeof(path), "/proc/%d/task", (int)process->pid);
    DIR *directory = opendir(path);
    const struct dirent *entry;
    while (directory != NULL && (entry = readdir(directory)) != NULL) {
        char file[sizeof(path) + sizeof(entry->d_name) + 8];
        (void)snprintf(file, sizeof(file), "%s/%s/stat", path, entry->d_name);
        if (entry->d_name[0] != '.' && living_read_file(file, &stat)) {
            running += is_load(stat.state) ? 1 : 0;
        }
    }
    if (directory != NULL) {
        closedir(directory);
    }
    return running;
}

void os_families_running(struct os *os, const pid_t *roots, size_t count, int64_t *running)
{
    (void)os;
    struct population family = {0};
    for (size_t i = 0; i < count; i++) {
        struct living root;
        running[i] = 0;
        if (!living_read(roots[i], &root) || living_is_dead(root.state)) {
            continue;
        }
        running[i] = running_threads(&root);
        population_read_family(&family, roots[i], false);
        for (size_t k = 0; k < family.count; k++) {
            running[i] += running_threads(&family.all[k]);
        }
    }
    mem_free(family.all);
}
