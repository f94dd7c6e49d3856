/* sim/process_sim.c - simulated processes: start, the one entrance to their code, signals, end.
 *
 * Everything that a process owns hangs on its struct, so its end is one function that runs none of
 * its code.  A process that ends itself inside a callback jumps back to sim_enter(), which ends it
 * there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/os/os_cage.h"
#include "sim/sim_private.h"

#define EXEC_MIN_US   800 /* from os_spawn() to the first line of main() */
#define EXEC_MAX_US   25000
#define SIGNAL_MAX_US 300
#define NEWS_MAX_US   3000 /* until the parent learns of the end */
#define PROGRAM_MARK  "#!/sim/"

/* ---- start ----------------------------------------------------------------------------------- */

const struct sim_program *sim_program_find(struct sim *sim, const struct sim_node *node)
{
    const char *text = (const char *)node->data;
    size_t mark = sizeof(PROGRAM_MARK) - 1;
    if (node->type != SIM_FILE || text == NULL || strncmp(text, PROGRAM_MARK, mark) != 0) {
        return NULL;
    }
    size_t length = strcspn(text + mark, " \n");
    for (size_t i = 0; sim->programs[i] != NULL; i++) {
        const char *name = sim->programs[i]->name;
        if (strlen(name) == length && strncmp(text + mark, name, length) == 0) {
            return sim->programs[i];
        }
    }
    return NULL;
}

static char **texts_copy(const char *const *texts, size_t *count)
{
    size_t n = 0;
    while (texts != NULL && texts[n] != NULL) {
        n++;
    }
    char **copy = sim_alloc((n + 1) * sizeof(char *));
    for (size_t i = 0; i < n; i++) {
        copy[i] = sim_strdup(texts[i]);
    }
    if (count != NULL) {
        *count = n;
    }
    return copy;
}

static void texts_free(char **texts)
{
    for (size_t i = 0; texts != NULL && texts[i] != NULL; i++) {
        sim_free(texts[i]);
    }
    sim_free(texts);
}

static void env_set(char ***env, const char *assignment)
{
    size_t name = strcspn(assignment, "="), count = 0;
    for (; (*env)[count] != NULL; count++) {
        if (strncmp((*env)[count], assignment, name + 1) == 0) {
            sim_free((*env)[count]);
            (*env)[count] = sim_strdup(assignment);
            return;
        }
    }
    *env = sim_realloc(*env, (count + 2) * sizeof(char *));
    (*env)[count] = sim_strdup(assignment);
    (*env)[count + 1] = NULL;
}

void sim_process_env(struct sim_process *process, const char *assignment)
{
    env_set(&process->env, assignment);
}

/* ---- file systems and streams ---------------------------------------------------------------- */

static bool is_below(const char *path, const char *directory)
{
    size_t length = strlen(directory);
    return strncmp(path, directory, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

static bool through_binds(const struct sim_bind *binds, size_t count, const char *cwd,
                          const char *path, char out[SIM_PATH_MAX])
{
    char seen[SIM_PATH_MAX];
    if (!sim_path(cwd, path, seen)) {
        return false;
    }
    for (size_t i = count; i > 0; i--) { /* the last mount at a place counts */
        const struct sim_bind *bind = &binds[i - 1];
        if (is_below(seen, bind->to)) {
            int length = snprintf(out, SIM_PATH_MAX, "%s%s", bind->from, seen + strlen(bind->to));
            return length > 0 && length < SIM_PATH_MAX;
        }
    }
    memcpy(out, seen, sizeof(seen));
    return true;
}

bool sim_process_path(const struct sim_process *process, const char *path, char out[SIM_PATH_MAX])
{
    return through_binds(process->binds, process->bind_count, process->cwd, path, out);
}

static size_t binds_create(const struct os_spawn *spec, struct sim_bind **ret)
{
    const struct os_cage *cage = spec != NULL ? spec->cage : NULL;
    size_t count = 0;
    *ret = NULL;
    for (size_t i = 0; cage != NULL && cage->namespaces && i < cage->mount_count; i++) {
        const struct os_mount *mount = &cage->mounts[i];
        if (mount->kind == OS_MOUNT_BIND) {
            *ret = sim_realloc(*ret, (count + 1) * sizeof(**ret));
            (*ret)[count++] =
                (struct sim_bind){.from = sim_strdup(mount->from), .to = sim_strdup(mount->to)};
        }
    }
    return count;
}

static void binds_free(struct sim_bind *binds, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sim_free(binds[i].from);
        sim_free(binds[i].to);
    }
    sim_free(binds);
}

/* Returns the path to which a stream goes; NULL: nowhere. */
static char *stream_path(const struct sim_process *process, const char *name, const char *parents)
{
    char path[SIM_PATH_MAX];
    if (name != NULL && strcmp(name, "-") == 0) {
        return parents != NULL ? sim_strdup(parents) : NULL;
    }
    return name != NULL && strcmp(name, "/dev/null") != 0 && sim_process_path(process, name, path)
               ? sim_strdup(path)
               : NULL;
}

static void set_surroundings(struct sim_process *process, const struct sim_spawn *how)
{
    const struct os_spawn *spec = how->spec;
    const struct sim_process *parent = how->parent;
    const char *const *env = spec != NULL ? spec->env : NULL;
    if (env == NULL && parent != NULL) {
        env = (const char *const *)parent->env;
    }
    process->env = texts_copy(env, NULL);
    for (size_t i = 0; spec != NULL && spec->env_add != NULL && spec->env_add[i] != NULL; i++) {
        env_set(&process->env, spec->env_add[i]);
    }
    char path[SIM_PATH_MAX];
    const char *from = parent != NULL ? parent->cwd : "/";
    process->cwd = sim_strdup(
        spec != NULL && spec->cwd != NULL && sim_path(from, spec->cwd, path) ? path : from);
    if (spec != NULL) {
        process->stdout_path =
            stream_path(process, spec->stdout_path, parent != NULL ? parent->stdout_path : NULL);
        process->stderr_path =
            stream_path(process, spec->stderr_path, parent != NULL ? parent->stderr_path : NULL);
        process->stdout_seen = spec->stdout_path != NULL ? sim_strdup(spec->stdout_path) : NULL;
    }
    process->uid = parent != NULL ? parent->uid : 1000;
    process->gid = parent != NULL ? parent->gid : 1000;
    if (spec != NULL && spec->change_user) {
        process->uid = spec->uid;
        process->gid = spec->gid;
    }
}

/* Creates the file to which a stream goes, as the kernel does before exec. */
static int open_output(struct sim_process *process, const char *path, bool truncate)
{
    if (path == NULL) {
        return 0;
    }
    char name[256];
    struct sim_node *dir = sim_tree_parent(process->host, path, name, sizeof(name));
    if (dir == NULL) {
        return -ENOENT;
    }
    struct sim_node *node = sim_dir_get(dir, name);
    if (node == NULL) {
        sim_dir_set(dir, name, sim_node_create(process->host, SIM_FILE, 0644));
    } else if (truncate) {
        return sim_node_truncate(node, 0);
    }
    return 0;
}

static void run_start(void *arg)
{
    struct sim_process *process = arg;
    struct sim_env env = {.sim = process->sim,
                          .process = process,
                          .loop = &process->loop,
                          .os = &process->os,
                          .argc = process->argc,
                          .argv = process->argv,
                          .program = process->program};
    int status = process->program->start(&env, &process->state);
    process->started = status == SIM_STAYS;
    if (status != SIM_STAYS) {
        process->loop.stopping = true;
        process->loop.exit_status = status;
    }
}

static void begin_process(void *arg)
{
    (void)sim_enter(arg, run_start, arg);
}

static void lists_init(struct sim_process *process)
{
    sim_heap_init(&process->heap);
    sim_list_init(&process->events);
    sim_list_init(&process->watches);
    sim_list_init(&process->watched);
    sim_list_init(&process->streams);
    sim_list_init(&process->listeners);
    sim_list_init(&process->incomings);
    sim_list_init(&process->locks);
    sim_list_init(&process->files);
    sim_list_init(&process->vfs_files);
    sim_list_init(&process->pipes);
}

/* Finds the program of argv[0]; *argv moves on if the program becomes another one. */
static int find_program(struct sim_host *host, const struct sim_process *process,
                        const char *const **argv, const struct sim_program **ret)
{
    for (;;) {
        char path[SIM_PATH_MAX];
        if (!sim_process_path(process, (*argv)[0], path)) {
            return -ENAMETOOLONG;
        }
        const struct sim_node *node = sim_tree_find(host, path);
        if (node == NULL) {
            return -ENOENT;
        }
        *ret = sim_program_find(host->sim, node);
        if (*ret == NULL || (node->mode & 0111) == 0) {
            return *ret == NULL ? -ENOEXEC : -EACCES;
        }
        size_t skipped = (*ret)->becomes != NULL ? (*ret)->becomes(*argv) : 0;
        if (skipped == 0) {
            return 0;
        }
        *argv += skipped;
    }
}

static void free_texts(struct sim_process *process)
{
    texts_free(process->argv);
    texts_free(process->env);
    sim_free(process->cwd);
    sim_free(process->stdout_path);
    sim_free(process->stderr_path);
    sim_free(process->stdout_seen);
    sim_free(process->job_key);
    sim_free(process->lease_path);
    binds_free(process->binds, process->bind_count);
    sim_free(process);
}

int sim_process_create(struct sim_host *host, const struct sim_spawn *how, struct sim_process **ret)
{
    struct sim *sim = host->sim;
    const char *const *argv = how->argv;
    struct sim_process *process = sim_alloc(sizeof(*process));
    size_t argc = 0;
    process->sim = sim;
    process->host = host;
    process->bind_count = binds_create(how->spec, &process->binds);
    set_surroundings(process, how);
    int result = find_program(host, process, &argv, &process->program);
    if (result != 0) {
        free_texts(process);
        return result;
    }
    process->argv = texts_copy(argv, &argc);
    process->argc = (int)argc;
    lists_init(process);
    sim_loop_init(&process->loop, process);
    process->os.process = process;
    process->pid = ++host->last_pid;
    process->group = how->parent != NULL ? how->parent->group : process->pid;
    if (how->spec == NULL || how->spec->new_session) {
        process->group = process->pid;
    }
    bool detached = how->spec != NULL && how->spec->kin == OS_DETACHED;
    process->parent = how->parent != NULL && !detached ? how->parent->pid : 1;
    process->serial = ++sim->process_serial;
    process->started_us = sim->now_us;
    process->start_time = sim_host_up_us(host) / 10000; /* ticks of 1/100 s */
    bool truncate = how->spec != NULL && how->spec->truncate_output;
    result = open_output(process, process->stdout_path, truncate);
    result = result != 0 ? result : open_output(process, process->stderr_path, truncate);
    if (result != 0) {
        free_texts(process);
        return result;
    }
    sim_list_add(&sim->processes, &process->link, process);
    sim_list_add(&host->processes, &process->of_host, process);
    (void)sim_at_process(process, sim->now_us + sim_between(sim, EXEC_MIN_US, EXEC_MAX_US),
                         begin_process, process);
    if (how->spec != NULL && how->spec->terminal != NULL) {
        sim_pipes_attach(how->spec->terminal, process);
    }
    const struct os_cage *cage = how->spec != NULL ? how->spec->cage : NULL;
    process->caged = cage != NULL && cage->namespaces;
    if (process->caged && cage->lease_path != NULL && sim->options.lease_timers) {
        process->lease_path = sim_strdup(cage->lease_path);
        sim_process_lease(process, cage->lease_end_ms);
    }
    sim_count(sim, SIM_COUNT_SPAWNS);
    sim_trace(sim, process, "spawned by %d: %s", (int)process->parent,
              argc > 1 ? process->argv[argc - 1] : "");
    *ret = process;
    return 0;
}

/* ---- the entrance ---------------------------------------------------------------------------- */

static bool call_inside(struct sim_process *process, void (*call)(void *arg), void *arg)
{
    jmp_buf escape;
    process->escape = &escape;
    process->sim->current = process;
    if (setjmp(escape) == 0) {
        call(arg);
        return true;
    }
    return false;
}

bool sim_enter(struct sim_process *process, void (*call)(void *arg), void *arg)
{
    struct sim *sim = process->sim;
    CHECK(sim->current == NULL && !process->dead);
    bool returned = call_inside(process, call, arg);
    if (returned && process->loop.stopping) {
        if (process->started && process->program->destroy != NULL) {
            returned = call_inside(process, process->program->destroy, process->state);
        }
        if (returned) {
            process->end_status = process->loop.exit_status;
            process->end_signal = 0;
            returned = false;
            if (process->heap.count > 0) {
                sim_trace(sim, process, "leaves %zu blocks behind", process->heap.count);
            }
        }
    }
    sim->current = NULL;
    process->escape = NULL;
    if (!returned) {
        sim_process_end(process, process->end_status, process->end_signal);
    }
    return returned;
}

_Noreturn void sim_process_escape(struct sim_process *process, int status, int signal_number)
{
    CHECK(process->escape != NULL && process->sim->current == process);
    process->end_status = status;
    process->end_signal = signal_number;
    longjmp(*process->escape, 1);
}

/* ---- finding processes ----------------------------------------------------------------------- */

struct sim_process *sim_spawn(struct sim_host *host, const char *const *argv)
{
    struct sim_spawn how = {.argv = argv};
    struct sim_process *process = NULL;
    return sim_process_create(host, &how, &process) == 0 ? process : NULL;
}

struct sim_process *sim_process_first(const struct sim_link *list,
                                      bool (*is_one)(const struct sim_process *, const void *),
                                      const void *arg)
{
    for (const struct sim_link *at = list->next; at != list; at = at->next) {
        if (is_one(at->item, arg)) {
            return at->item;
        }
    }
    return NULL;
}

static bool has_pid(const struct sim_process *process, const void *pid)
{
    return process->pid == *(const pid_t *)pid;
}

struct sim_process *sim_process_find(struct sim_host *host, pid_t pid)
{
    return sim_process_first(&host->processes, has_pid, &pid);
}

struct sim_process *sim_process_next(struct sim *sim, uint64_t *at)
{
    const struct sim_link *head = &sim->processes;
    for (struct sim_link *link = head->next; link != head; link = link->next) {
        struct sim_process *process = link->item;
        if (process->serial > *at) {
            *at = process->serial;
            return process;
        }
    }
    return NULL;
}

pid_t sim_process_pid(const struct sim_process *process)
{
    return process->pid;
}

uint64_t sim_process_serial(const struct sim_process *process)
{
    return process->serial;
}

const char *sim_process_program(const struct sim_process *process)
{
    return process->program->name;
}

struct sim_host *sim_process_host(const struct sim_process *process)
{
    return process->host;
}

const char *sim_process_arg(const struct sim_process *process, int index)
{
    return index < process->argc ? process->argv[index] : NULL;
}

void *sim_process_state(const struct sim_process *process)
{
    return process->state;
}

bool sim_process_in_lane(const struct sim_process *process)
{
    return process->lane_work > 0;
}

size_t sim_process_blocks(const struct sim_process *process)
{
    return process->heap.count;
}

/* ---- signals --------------------------------------------------------------------------------- */

static void deliver_kill(void *arg)
{
    sim_process_end(arg, -1, SIGKILL);
}

static void deliver_stop(void *arg)
{
    struct sim_process *process = arg;
    if (!process->stopped) {
        process->stopped = true;
        process->stopped_us = process->sim->now_us;
    }
}

static void deliver_cont(void *arg)
{
    struct sim_process *process = arg;
    if (!process->stopped) {
        return;
    }
    process->stopped = false;
    uint64_t now_us = process->sim->now_us;
    process->stood_us += now_us - process->stopped_us;
    uint64_t shift_us = process->program->timed ? now_us - process->stopped_us : 0;
    for (struct sim_link *at = process->events.next; at != &process->events; at = at->next) {
        struct sim_event *event = at->item;
        if (event->even_stopped) {
            continue; /* a signal on its way: SIGKILL does not wait as long as the process stood
                         still */
        }
        if (event->slot == SIZE_MAX || shift_us > 0) {
            sim_event_park(event);
            sim_event_resume(event, event->at_us + shift_us);
        }
    }
}

void sim_process_stand(struct sim_process *process, uint64_t for_us)
{
    struct sim *sim = process->sim;
    deliver_stop(process);
    struct sim_event *event = sim_at_process(process, sim->now_us + for_us, deliver_cont, process);
    event->even_stopped = true;
}

static void deliver_signal(void *arg)
{
    struct sim_process *process = arg;
    for (int number = 1; number < SIM_SIGNALS - 1; number++) {
        uint64_t bit = UINT64_C(1) << number;
        if ((process->pending_signals & bit) == 0) {
            continue;
        }
        process->pending_signals &= ~bit;
        if (process->loop.signals[number].call != NULL) {
            (void)sim_enter(process, process->loop.signals[number].call,
                            process->loop.signals[number].arg);
        } else if (number == SIGTSTP) {
            deliver_stop(process);
        } else if (number != SIGCHLD && number != SIGWINCH && number != SIGURG) {
            sim_process_end(process, -1, number);
        }
        return;
    }
}

void sim_process_signal(struct sim_process *process, int signal_number)
{
    struct sim *sim = process->sim;
    if (signal_number <= 0 || signal_number >= SIM_SIGNALS - 1) {
        return;
    }
    void (*call)(void *arg) = deliver_signal;
    switch (signal_number) {
    case SIGKILL:
        call = deliver_kill;
        break;
    case SIGSTOP:
        call = deliver_stop;
        break;
    case SIGCONT:
        call = deliver_cont;
        break;
    default:
        process->pending_signals |= UINT64_C(1) << signal_number;
        break;
    }
    struct sim_event *event =
        sim_at_process(process, sim->now_us + sim_between(sim, 1, SIGNAL_MAX_US), call, process);
    event->even_stopped = call != deliver_signal;
}

/* ---- the lease of a cage -------------------------------------------------------------------- */

/* The kernel's timer, which kills also who is stopped. */
static void lease_over(void *arg)
{
    struct sim_process *process = arg;
    process->lease_event = NULL;
    process->keeper_killed = true;
    sim_count(process->sim, SIM_COUNT_LEASE_KILLS);
    sim_trace(process->sim, process, "the lease of its cage is over");
    sim_process_end(process, -1, SIGKILL);
}

void sim_process_lease(struct sim_process *process, uint64_t end_ms)
{
    uint64_t at_us = process->host->booted_us + (end_ms + OS_CAGE_GRACE_MS) * SIM_MS;
    uint64_t now_us = process->sim->now_us;
    sim_cancel(process->lease_event);
    process->lease_event =
        sim_at_process(process, at_us > now_us ? at_us : now_us, lease_over, process);
    process->lease_event->even_stopped = true;
}

/* ---- telling the parent of an end ------------------------------------------------------------ */

static void run_news(void *arg)
{
    struct sim_watch *watch = arg;
    os_exit_f call = watch->call;
    void *call_arg = watch->arg;
    struct os_exit how = watch->how;
    pid_t pid = watch->pid;
    sim_list_remove(&watch->of_watcher);
    sim_free(watch);
    call(call_arg, pid, &how);
}

static void deliver_news(void *arg)
{
    struct sim_watch *watch = arg;
    (void)sim_enter(watch->watcher, run_news, watch);
}

static void send_news(struct sim_watch *watch)
{
    struct sim *sim = watch->watcher->sim;
    watch->event = sim_at_process(watch->watcher, sim->now_us + sim_between(sim, 20, NEWS_MAX_US),
                                  deliver_news, watch);
}

void sim_watch_add(struct sim_process *watcher, struct sim_process *watched, pid_t pid,
                   os_exit_f call, void *arg, bool child)
{
    struct sim_watch *watch = sim_alloc(sizeof(*watch));
    watch->watcher = watcher;
    watch->pid = pid;
    watch->call = call;
    watch->arg = arg;
    watch->child = child;
    sim_list_add(&watcher->watches, &watch->of_watcher, watch);
    if (watched != NULL) {
        sim_list_add(&watched->watched, &watch->of_watched, watch);
    } else {
        watch->how.status = -1;
        watch->how.unknown = true;
        send_news(watch);
    }
}

/* ---- end ------------------------------------------------------------------------------------- */

static pid_t new_parent(const struct sim_process *process)
{
    pid_t pid = process->parent;
    for (unsigned depth = 0; pid > 1 && depth < 1000; depth++) {
        const struct sim_process *above = sim_process_find(process->host, pid);
        if (above == NULL) {
            break;
        }
        if (above->subreaper) {
            return pid;
        }
        pid = above->parent;
    }
    return 1;
}

static void adopt_children(struct sim_process *process)
{
    pid_t heir = new_parent(process);
    const struct sim_link *head = &process->host->processes;
    for (struct sim_link *at = head->next; at != head; at = at->next) {
        struct sim_process *child = at->item;
        if (child->parent == process->pid) {
            child->parent = heir;
        }
    }
}

static void tell_watchers(struct sim_process *process, int status, int signal_number)
{
    double ran_s = (double)(process->sim->now_us - process->started_us) / 1e6;
    struct sim_watch *watch;
    while ((watch = sim_list_first(&process->watched)) != NULL) {
        sim_list_remove(&watch->of_watched);
        if (watch->child) {
            watch->how = (struct os_exit){.status = signal_number != 0 ? -1 : status,
                                          .signal = signal_number,
                                          .keeper_killed = process->keeper_killed,
                                          .user_cpu_s = ran_s,
                                          .max_rss_kib = 4096};
        } else {
            watch->how = (struct os_exit){.status = -1, .unknown = true};
        }
        send_news(watch);
    }
    while ((watch = sim_list_first(&process->watches)) != NULL) {
        sim_list_remove(&watch->of_watcher);
        sim_list_remove(&watch->of_watched);
        sim_free(watch);
    }
}

void sim_process_end(struct sim_process *process, int status, int signal_number)
{
    struct sim *sim = process->sim;
    CHECK(sim->current == NULL && !process->dead);
    sim_trace(sim, process, "ends, status %d signal %d", status, signal_number);
    SIM_TELL(sim, process_ended, process, status, signal_number);
    if (process->job_key != NULL) {
        SIM_TELL(sim, job_ended, process, process->job_key, signal_number == 0);
    }
    sim_net_drop_process(process);
    process->dead = true;
    sim_list_remove(&process->link);
    sim_list_remove(&process->of_host);
    struct sim_event *event;
    while ((event = sim_list_first(&process->events)) != NULL) {
        sim_cancel(event);
    }
    sim_pipes_drop(process);
    sim_vfs_files_drop(process);
    sim_heap_drop(&process->heap);
    sim_files_drop(process);
    sim_loop_drop(&process->loop);
    adopt_children(process);
    tell_watchers(process, status, signal_number);
    if (process->parent == 1) {
        sim_host_child_ended(process->host, process->pid, status, signal_number);
    }
    free_texts(process);
}

void sim_kill(struct sim_process *process)
{
    struct sim *sim = process->sim;
    sim_count(sim, SIM_COUNT_KILLS);
    if (process->lane_work > 0) {
        sim_count(sim, SIM_COUNT_COMMIT_KILLS);
    }
    sim_trace(sim, process, "killed%s", process->lane_work > 0 ? " with work under way" : "");
    sim_process_end(process, -1, SIGKILL);
}
