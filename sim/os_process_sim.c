/* sim/os_process_sim.c - base/os/os.h for a simulated process: starting, watching and signalling
 * other processes.
 *
 * The file at a path decides which program is run: see sim_program_put().
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "sim/host_faults.h"
#include "sim/sim_private.h"

int os_spawn(struct os *os, const struct os_spawn *spec, os_exit_f on_exit, void *arg, pid_t *ret,
             struct err *err)
{
    struct sim_spawn how = {.argv = spec->argv, .spec = spec, .parent = os->process};
    struct sim_process *process = NULL;
    int code = sim_spawn_refusal(os->process->host);
    code = code != 0 ? code : sim_process_create(os->process->host, &how, &process);
    if (code != 0) {
        return err_set(err, code, "%s: %s", spec->argv[0], err_code_text(code));
    }
    if (on_exit != NULL && spec->kin != OS_DETACHED) {
        sim_watch_add(os->process, process, process->pid, on_exit, arg, true);
    }
    if (ret != NULL) {
        *ret = process->pid;
    }
    return 0;
}

/* Does nothing: a simulated program needs no preparation. */
void os_prepare(struct os *os, const char *program)
{
    (void)os;
    (void)program;
}

int os_watch(struct os *os, pid_t pid, uint64_t start_time, os_exit_f on_exit, void *arg,
             struct err *err)
{
    (void)err;
    struct sim_process *process = sim_process_find(os->process->host, pid);
    if (process != NULL && process->start_time != start_time) {
        process = NULL;
    }
    sim_watch_add(os->process, process, pid, on_exit, arg, false);
    return 0;
}

void os_forget(struct os *os, pid_t pid)
{
    struct sim_link *head = &os->process->watches;
    for (struct sim_link *at = head->next, *next; at != head; at = next) {
        struct sim_watch *watch = at->item;
        next = at->next;
        if (watch->pid == pid) {
            sim_list_remove(&watch->of_watcher);
            sim_list_remove(&watch->of_watched);
            sim_cancel(watch->event);
            sim_free(watch);
        }
    }
}

uint64_t os_start_time(struct os *os, pid_t pid)
{
    const struct sim_process *process = sim_process_find(os->process->host, pid);
    return process != NULL ? process->start_time : 0;
}

int os_kill(struct os *os, pid_t pid, int signal_number)
{
    struct sim_process *process = pid > 0 ? sim_process_find(os->process->host, pid) : NULL;
    if (process == NULL) {
        return -ESRCH;
    }
    if (os->process->uid != 0 && process->uid != os->process->uid) {
        return -EPERM;
    }
    if (signal_number != 0) {
        sim_process_signal(process, signal_number);
    }
    return 0;
}

int os_kill_group(struct os *os, pid_t group, int signal_number)
{
    const struct sim_link *head = &os->process->host->processes;
    bool any = false;
    for (struct sim_link *at = head->next; at != head; at = at->next) {
        struct sim_process *process = at->item;
        if (process->group == group) {
            any = true;
            if (signal_number != 0) {
                sim_process_signal(process, signal_number);
            }
        }
    }
    return any ? 0 : -ESRCH;
}

pid_t os_pid(struct os *os)
{
    return os->process->pid;
}

pid_t os_group(struct os *os)
{
    return os->process->group;
}

void os_become_subreaper(struct os *os)
{
    os->process->subreaper = true;
}

static bool descends_from(const struct sim_process *process, const struct sim_process *from)
{
    pid_t pid = process->parent;
    for (unsigned depth = 0; pid > 1 && depth < 1000; depth++) {
        if (pid == from->pid) {
            return true;
        }
        const struct sim_process *above = sim_process_find(process->host, pid);
        if (above == NULL) {
            return false;
        }
        pid = above->parent;
    }
    return false;
}

size_t os_descendants_kill(struct os *os, int signal_number)
{
    const struct sim_link *head = &os->process->host->processes;
    size_t count = 0;
    for (struct sim_link *at = head->next; at != head; at = at->next) {
        struct sim_process *process = at->item;
        if (descends_from(process, os->process)) {
            count++;
            if (signal_number != 0) {
                sim_process_signal(process, signal_number);
            }
        }
    }
    return count;
}

size_t os_children_kill(struct os *os, int signal_number)
{
    const struct sim_link *head = &os->process->host->processes;
    size_t count = 0;
    for (struct sim_link *at = head->next; at != head; at = at->next) {
        struct sim_process *process = at->item;
        if (process->parent == os->process->pid) {
            count++;
            sim_process_signal(process, signal_number);
        }
    }
    return count;
}

size_t os_marked_kill(struct os *os, const char *mark, int signal_number)
{
    const struct sim_link *head = &os->process->host->processes;
    size_t count = 0;
    for (struct sim_link *at = head->next; at != head; at = at->next) {
        struct sim_process *process = at->item;
        bool marked = false;
        for (size_t i = 0; process->env[i] != NULL && !marked; i++) {
            marked = strcmp(process->env[i], mark) == 0;
        }
        if (marked && process != os->process) {
            count++;
            if (signal_number != 0) {
                sim_process_signal(process, signal_number);
            }
        }
    }
    return count;
}

/* Runs a program that needs only one step, because nothing can block in a simulation. */
int os_run(struct os *os, const struct os_spawn *spec, unsigned wait_ms, struct os_exit *how,
           struct err *err)
{
    char path[SIM_PATH_MAX];
    const struct sim_process *process = os->process;
    const struct sim_node *node =
        sim_path(process->cwd, spec->argv[0], path) ? sim_tree_find(process->host, path) : NULL;
    const struct sim_program *program = node != NULL ? sim_program_find(process->sim, node) : NULL;
    (void)wait_ms;
    if (program == NULL || program->at_once == NULL) {
        return err_set(err, -ENOSYS, "%s: nothing blocks in a simulation", spec->argv[0]);
    }
    struct strbuf said;
    strbuf_init(&said, 0);
    *how = (struct os_exit){.status = program->at_once(os, spec->argv, &said)};
    int rc = spec->stdout_path == NULL ? 0
                                       : os_write_file(os, spec->stdout_path, strbuf_text(&said),
                                                       said.length, 0644, false, err);
    strbuf_fini(&said);
    return rc;
}

/* Counts the running processes; a timed program uses one CPU while it is not stopped. */
void os_families_running(struct os *os, const pid_t *roots, size_t count, int64_t *running)
{
    const struct sim_link *head = &os->process->host->processes;
    for (size_t i = 0; i < count; i++) {
        const struct sim_process *root = sim_process_find(os->process->host, roots[i]);
        running[i] = 0;
        for (struct sim_link *at = head->next; root != NULL && at != head; at = at->next) {
            const struct sim_process *process = at->item;
            if (process == root || descends_from(process, root)) {
                running[i] += process->program->timed && !process->stopped ? 1 : 0;
            }
        }
    }
}
