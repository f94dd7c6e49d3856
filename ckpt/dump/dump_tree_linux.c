/* ckpt/dump/dump_tree_linux.c - finds the processes of a job and stops all of them.
 *
 * A job is a process and its descendants.  If it has a keeper (process 1 of a namespace), processes
 * whose parents have ended belong to it, too.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <linux/kcmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "ckpt/dump/dump.h"
#include "ckpt/dump/dump_linux.h"
#include "ckpt/image/image.h"
#include "ckpt/image/image_linux.h"
#include "ckpt/proc_linux.h"

#define FORKED 0x40 /* the kernel's PF_FORKNOEXEC, for all to see in proc(5) */
/* most bytes of a list of process ids, with the terminating zero */
#define NUMBERS_MAX   65536
#define TRY_AGAIN_NS  5000000
#define COPY_PAUSE_NS 1000000
#define COPY_TRIES    500
#define TRIES         2000 /* 10 s */

/* ---- asking /proc */

struct stat_line { /* of /proc/PID/stat */
    char state;
    bool is_copy;      /* by its name: one that we make of a process */
    bool is_as_forked; /* it has not executed a program since */
    pid_t parent;
    int exit_signal, exit_code;
    long threads;
};

static int read_stat(pid_t pid, struct stat_line *ret)
{
    char path[64], text[2048], *rest = NULL;
    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return -ESRCH;
    }
    size_t got = fread(text, 1, sizeof text - 1, file);
    text[got] = '\0';
    (void)fclose(file);
    char *at = strrchr(text, ')');
    if (at == NULL) {
        return -ESRCH;
    }
    int field = 3;
    const char *name = strchr(text, '(');
    size_t length = name != NULL && name < at ? (size_t)(at - name) - 1 : 0;
    *ret = (struct stat_line){.state = '?',
                              .is_copy = length == strlen(GUARD_COPY) &&
                                         memcmp(name + 1, GUARD_COPY, length) == 0};
    for (char *word = strtok_r(at + 1, " \n", &rest); word != NULL;
         word = strtok_r(NULL, " \n", &rest), field++) {
        long number = strtol(word, NULL, 10);
        switch (field) {
        case 3:
            ret->state = word[0];
            break;
        case 4:
            ret->parent = (pid_t)number;
            break;
        case 9:
            ret->is_as_forked = (number & FORKED) != 0;
            break;
        case 20:
            ret->threads = number;
            break;
        case 38:
            ret->exit_signal = (int)number;
            break;
        case 52:
            ret->exit_code = (int)number;
            break;
        default:
            break;
        }
    }
    return 0;
}

/* ---- holding them */

static struct subject *find_process(const struct dump *dump, pid_t pid)
{
    for (size_t i = 0; i < dump->count; i++) {
        if (dump->subjects[i]->tracee.pid == pid) {
            return dump->subjects[i];
        }
    }
    return NULL;
}

static uint32_t index_of(const struct dump *dump, pid_t pid)
{
    for (size_t i = 0; i < dump->count; i++) {
        if (dump->subjects[i]->tracee.pid == pid) {
            return (uint32_t)i;
        }
    }
    return CKPT_NOBODY;
}

/* Adds and stops a process. parent: whose child it must be, because its number may be another
 * process's by now; 0: anybody's. */
static int add_process(struct dump *dump, pid_t pid, pid_t parent, struct err *err)
{
    struct stat_line line;
    struct subject *subject = mem_zalloc(sizeof *subject);
    struct ckpt_process *process = &subject->process;
    subject->inner = -1;
    subject->source = &subject->tracee;
    int rc = read_stat(pid, &line);
    bool zombie = rc == 0 && line.state == 'Z';
    if (zombie && line.threads > 1) {
        mem_free(subject);
        return err_set(
            err, -EBUSY,
            "process %d: its first thread has ended while others run, which is not supported",
            (int)pid);
    }
    if (rc == 0 && !zombie) {
        rc = tracee_hold(pid, &subject->tracee, err);
        if (rc == 0 || rc == -EPERM) { /* it may have ended meanwhile: such cannot be held */
            int gone = read_stat(pid, &line);
            rc = gone != 0 ? gone : line.state == 'Z' ? 0 : rc;
        }
    } else if (zombie) {
        subject->tracee.pid = pid;
    }
    bool is_other = rc == 0 && parent != 0 && line.parent != parent;
    if (rc != 0 || is_other || (!zombie && line.state == 'Z')) {
        tracee_release(&subject->tracee, false);
        mem_free(subject);
        if (is_other || (rc == -ESRCH && dump->count > 0)) {
            return 0; /* it has ended, and was waited for */
        }
        return rc == -ESRCH ? err_set(err, rc, "no such process: %d", (int)pid)
               : rc != 0    ? rc
                            : add_process(dump, pid, parent, err);
    }
    *process = (struct ckpt_process){.parent = index_of(dump, line.parent),
                                     .pid = proc_innermost(pid, 0, "NSpid:"),
                                     .pgid = proc_innermost(pid, 0, "NSpgid:"),
                                     .sid = proc_innermost(pid, 0, "NSsid:"),
                                     .exit_signal = line.exit_signal};
    if (zombie) {
        process->flags = CKPT_ZOMBIE;
        process->status = line.exit_code;
    } else if (subject->tracee.threads[0].was_stopped) {
        process->flags = process->parent != CKPT_NOBODY ? CKPT_STOPPED : 0; /* others go on */
    }
    if (dump->count == dump->capacity) {
        dump->capacity = dump->capacity > 0 ? dump->capacity * 2 : 8;
        dump->subjects = mem_realloc(dump->subjects, dump->capacity * sizeof(struct subject *));
    }
    dump->subjects[dump->count++] = subject;
    return 0;
}

/* Returns whether it is a copy that a dumper made and did not live to reap.  It ends with that
 * dumper, and the next one reaps it; if it does not end it belongs to a dumper that lives. */
static bool is_copy(struct dump *dump, pid_t parent, pid_t child)
{
    const struct timespec pause = {.tv_nsec = COPY_PAUSE_NS};
    struct stat_line line;
    struct subject *subject = find_process(dump, parent);
    int rc = read_stat(child, &line);
    bool copy = rc == 0 && line.is_copy && line.exit_signal == 0;
    for (unsigned i = 0; copy && rc == 0 && line.state != 'Z' && i < COPY_TRIES; i++) {
        (void)nanosleep(&pause, NULL);
        rc = read_stat(child, &line);
    }
    bool known = false;
    for (size_t i = 0; subject != NULL && i < subject->stale_count; i++) {
        known = known || subject->stale[i] == child;
    }
    if (copy && rc == 0 && line.state == 'Z' && subject != NULL && !known &&
        subject->stale_count < STALE_MAX) {
        subject->stale[subject->stale_count++] = child;
    }
    return copy;
}

/* Adds the children of a thread that are not stopped yet.  If a job dumps itself (library/), we are
 * a descendant of it, too, and do not belong to it. */
static int add_children(struct dump *dump, pid_t pid, pid_t tid, bool *more, struct err *err)
{
    char path[96], *text, *rest = NULL;
    int rc = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)tid);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return 0;
    }
    text = mem_alloc(NUMBERS_MAX);
    size_t got = fread(text, 1, NUMBERS_MAX - 1, file);
    text[got] = '\0';
    (void)fclose(file);
    for (char *word = strtok_r(text, " \n", &rest); rc == 0 && word != NULL;
         word = strtok_r(NULL, " \n", &rest)) {
        pid_t child = (pid_t)strtol(word, NULL, 10);
        if (child != getpid() && child != dump->unseen && find_process(dump, child) == NULL &&
            !is_copy(dump, pid, child)) {
            *more = true;
            rc = add_process(dump, child, pid, err);
        }
    }
    mem_free(text);
    return rc;
}

static int add_descendants(struct dump *dump, bool *more, struct err *err)
{
    for (size_t i = 0; i < dump->count; i++) {
        const struct subject *subject = dump->subjects[i];
        for (size_t j = 0; j < subject->tracee.count; j++) {
            int rc =
                add_children(dump, subject->tracee.pid, subject->tracee.threads[j].tid, more, err);
            if (rc != 0) {
                return rc;
            }
        }
    }
    return 0;
}

/* Refuses two processes with one memory, or one table of descriptors: mostly a vfork() that has not
 * reached its exec. */
static int check_apart(const struct dump *dump, struct err *err)
{
    for (size_t i = 0; i < dump->count; i++) {
        const struct subject *child = dump->subjects[i];
        pid_t pid = child->tracee.pid;
        if (child->process.parent == CKPT_NOBODY || (child->process.flags & CKPT_ZOMBIE) != 0) {
            continue;
        }
        pid_t parent = dump->subjects[child->process.parent]->tracee.pid;
        if (syscall(SYS_kcmp, pid, parent, KCMP_VM, 0, 0) == 0 ||
            syscall(SYS_kcmp, pid, parent, KCMP_FILES, 0, 0) == 0 ||
            syscall(SYS_kcmp, pid, parent, KCMP_FS, 0, 0) == 0) {
            return err_set(err, -EAGAIN,
                           "process %d shares memory or descriptors with its parent, as between "
                           "vfork and exec; try again",
                           (int)pid);
        }
    }
    return 0;
}

static bool is_leader(const struct dump *dump, int number)
{
    for (size_t i = 0; i < dump->count; i++) {
        if (dump->subjects[i]->process.pid == number) {
            return true;
        }
    }
    return false;
}

/* A session comes by birth: checks that each process can get its session.  A process whose parent
 * has ended gets it from the session's leader. */
static int check_sessions(const struct dump *dump, struct err *err)
{
    for (size_t i = 1; i < dump->count; i++) {
        const struct ckpt_process *process = &dump->subjects[i]->process, *from = process;
        while (from->parent != CKPT_NOBODY && from->sid == process->sid && from->sid != from->pid) {
            from = &dump->subjects[from->parent]->process;
        }
        bool fits = from->sid == process->sid || (from != process && from->sid == from->pid);
        if (process->sid != process->pid && !fits) {
            return err_set(
                err, -EOPNOTSUPP,
                "process %d is in a session that its parent was never in, which is not supported",
                (int)dump->subjects[i]->tracee.pid);
        }
    }
    return 0;
}

/* In a namespace of its own, groups and sessions of others are 0.  Otherwise they have numbers that
 * mean nothing when the job is resumed: those in which the first process was started. */
static void forget_outside(struct dump *dump)
{
    int pgid = dump->subjects[0]->process.pgid, sid = dump->subjects[0]->process.sid;
    for (size_t i = 0; i < dump->count; i++) {
        struct ckpt_process *process = &dump->subjects[i]->process;
        process->pgid = process->pgid == pgid && !is_leader(dump, pgid) ? 0 : process->pgid;
        process->sid = process->sid == sid && !is_leader(dump, sid) ? 0 : process->sid;
    }
}

static bool is_named_keeper(pid_t pid)
{
    char path[64], name[32] = "";
    (void)snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
    FILE *file = fopen(path, "re");
    bool named = file != NULL && fgets(name, sizeof name, file) != NULL &&
                 strcmp(name, "roost-keeper\n") == 0;
    if (file != NULL) {
        (void)fclose(file);
    }
    return named;
}

/* Returns whether it is process 1 of a namespace in which a job lives, seen from outside or
 * inside. */
static bool is_keeper(pid_t pid)
{
    return proc_innermost(pid, 0, "NSpid:") == 1 && (pid != 1 || is_named_keeper(pid));
}

/* A process that is still being resumed from its image runs in the window: what it has then is not
 * all its own.  (The parking may contain the vdso of another kernel than the one on which it
 * began.) */
static int check_resumed(const struct subject *subject, struct err *err)
{
    const struct ckpt_head *head = subject->before != NULL ? image_head(subject->before) : NULL;
    for (size_t i = 0; head != NULL && i < subject->tracee.count; i++) {
        uint64_t at = subject->tracee.threads[i].registers.rip;
        if (at >= head->window && at < head->parking && !dump_is_waiting(subject->before, at) &&
            dump_halted(subject, &subject->tracee.threads[i]) == NULL) {
            return err_set(err, -EAGAIN, "process %d is being resumed; try again",
                           (int)subject->tracee.pid);
        }
    }
    return 0;
}

/* Finds the image from which the process was resumed, and what it was there: the stub has left a
 * note of that. */
static int find_before(struct subject *subject, struct err *err)
{
    int rc = image_of_process(subject->tracee.pid, &subject->before, err);
    if (rc != 0 || subject->before == NULL) {
        return rc;
    }
    rc = check_resumed(subject, err);
    if (rc != 0) {
        return rc;
    }
    const struct ckpt_head *head = image_head(subject->before);
    uint64_t tables = (head->tables_bytes + CKPT_PAGE - 1) / CKPT_PAGE * CKPT_PAGE;
    uint64_t place = head->stacks - tables + offsetof(struct ckpt_head, self);
    uint32_t self = 0;
    if (tracee_read(&subject->tracee, place, &self, sizeof self) != (ssize_t)sizeof self ||
        self >= image_count(subject->before, CKPT_PROCESSES)) {
        return err_set(err, -EBADMSG,
                       "process %d has unmapped the tables of the image that it was resumed from",
                       (int)subject->tracee.pid);
    }
    subject->was = image_process(subject->before, self);
    return 0;
}

/* Returns the first child of that process; 0: none. */
static pid_t first_child(pid_t pid)
{
    char path[64];
    int child = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
    FILE *file = fopen(path, "re");
    if (file != NULL) {
        if (fscanf(file, "%d", &child) != 1) {
            child = 0;
        }
        (void)fclose(file);
    }
    return (pid_t)child;
}

pid_t ckpt_job_of(pid_t pid, unsigned kept)
{
    for (unsigned times = 0; pid > 0 && (kept == 0 || times < kept); times++) {
        pid_t keeper = first_child(pid);
        if (kept == 0 && !(is_keeper(keeper) && is_named_keeper(keeper))) {
            return pid;
        }
        pid = keeper > 0 ? first_child(keeper) : 0;
    }
    return pid;
}

/* If its keeper has not yet made it execute the program, it has what is the keeper's, and no image
 * of it would be one of the job.  If we may not look at the keeper, it is enough that it was
 * forked. */
static int check_begun(const struct dump *dump, struct err *err)
{
    const struct subject *first = dump->subjects[0];
    char keepers[64], its[64];
    struct stat a, b;
    struct stat_line line;
    if (dump->keeper <= 0 || first->before != NULL || read_stat(first->tracee.pid, &line) != 0 ||
        !line.is_as_forked) {
        return 0;
    }
    (void)snprintf(keepers, sizeof keepers, "/proc/%d/exe", (int)dump->keeper);
    (void)snprintf(its, sizeof its, "/proc/%d/exe", (int)first->tracee.pid);
    bool other = stat(keepers, &a) == 0 && stat(its, &b) == 0 &&
                 (a.st_dev != b.st_dev || a.st_ino != b.st_ino);
    return other ? 0
                 : err_set(err, -EAGAIN, "process %d has not started yet; try again",
                           (int)first->tracee.pid);
}

pid_t ckpt_keeper(pid_t job)
{
    struct stat_line line;
    return read_stat(job, &line) == 0 && is_keeper(line.parent) ? line.parent : 0;
}

static int hold_all(struct dump *dump, pid_t pid, struct err *err)
{
    bool more = true;
    int rc = add_process(dump, pid, 0, err);
    if (rc == 0 && (dump->subjects[0]->process.flags & CKPT_ZOMBIE) != 0) {
        rc = err_set(err, -ESRCH, "no such process: %d", (int)pid);
    }
    dump->keeper = rc == 0 ? ckpt_keeper(pid) : 0;
    while (rc == 0 && more) {
        more = false;
        rc = add_descendants(dump, &more, err);
        if (rc == 0 && dump->keeper > 0) {
            rc = add_children(dump, dump->keeper, dump->keeper, &more, err);
        }
    }
    if (rc == 0 && dump->count > CKPT_PROCESSES_MAX) {
        rc = err_set(err, -E2BIG, "process %d has more than %u descendants, which is not supported",
                     (int)pid, CKPT_PROCESSES_MAX);
    }
    if (rc == 0 && dump->keeper == 0) {
        forget_outside(dump);
    }
    rc = rc != 0 ? rc : check_sessions(dump, err);
    rc = rc != 0 ? rc : check_apart(dump, err);
    for (size_t i = 0; rc == 0 && i < dump->count; i++) {
        if ((dump->subjects[i]->process.flags & CKPT_ZOMBIE) == 0) {
            rc = find_before(dump->subjects[i], err);
        }
    }
    return rc != 0 ? rc : check_begun(dump, err);
}

int dump_hold_all(struct dump *dump, pid_t pid, struct err *err)
{
    int rc = hold_all(dump, pid, err);
    for (unsigned tries = 0; rc == -EAGAIN && tries < TRIES; tries++) {
        const struct timespec wait = {.tv_nsec = TRY_AGAIN_NS};
        dump_release_all(dump, false);
        dump_fini_subjects(dump);
        (void)nanosleep(&wait, NULL);
        rc = hold_all(dump, pid, err);
    }
    return rc;
}

void dump_release_all(struct dump *dump, bool kill_them)
{
    for (size_t i = dump->count; i > 0; i--) { /* children first: no parent notices one missing */
        if (kill_them) {
            (void)kill(dump->subjects[i - 1]->tracee.pid, SIGKILL);
        }
    }
    for (size_t i = dump->count; i > 0; i--) {
        tracee_release(&dump->subjects[i - 1]->tracee, kill_them);
    }
}

void dump_fini_subjects(struct dump *dump)
{
    for (size_t i = 0; i < dump->count; i++) {
        struct subject *subject = dump->subjects[i];
        image_destroy(subject->before);
        maps_fini(&subject->maps);
        mem_free(subject->runs.items);
        mem_free(subject);
    }
    mem_free(dump->subjects);
    dump->subjects = NULL;
    dump->count = dump->capacity = 0;
}
