/* starter/job/cage.c - makes, uses and removes the job's cage: its namespaces, mounts, cgroup and
 * limits.
 *
 * As root, a job runs in namespaces or not at all (JOB_NAMESPACES): if they cannot be made the job
 * is held, with the reason.  Only where nobody can have namespaces (in a container without
 * CAP_SYS_ADMIN, in a root directory that is not a mount point) does "auto" run the job without
 * them, with a warning.  Without root, a job has namespaces where the kernel lets users have them.
 * A cgroup is used where one can be made; otherwise watch.c measures what it would have limited.
 *
 * A file beside the record names the cgroup, so that a startd can kill what a dead starter has left
 * (startd/starters.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "starter/job/cage.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/config/config.h"
#include "base/cpu_list.h"
#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/os/os_below.h"
#include "base/os/os_cage.h"
#include "base/os/os_cgroup.h"
#include "base/plant.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "starter/job/cage_plan.h"
#include "starter/job_filter.h"
#include "starter/job_run.h"
#include "starter/files/kept.h"
#include "starter/job/nest.h"
#include "starter/starter.h"

#define OOM_SCORE   800  /* a job is killed before what the machine itself runs */
#define EMPTIED_MS  5000 /* for killed processes to be gone */
#define WEIGHT_EACH 100  /* of a CPU of the slot */
#define HIDDEN_MAX  10   /* of HIDDEN_FROM_JOBS */

/* Hidden from jobs, because programs outside the cage take orders there from the job's account: the
 * account's service manager, which would start anything for the job; the system bus, which starts
 * such a manager even for an account that is not logged in (lingering); and screen sessions.  And
 * the machine's message queues, which would outlive the job. */
static const char *const OUTSIDE[] = {"/run/user", "/run/dbus", "/run/screen", "/dev/mqueue"};

struct cage {
    struct os_cage spec;
    struct os_cgroup_limits limits; /* of spec.cgroup */
    char *cpu_list;                 /* of limits; NULL: none */
    struct cage_view view;
    char *images, *images_at; /* of view; NULL: no checkpoints */
    struct vec programs;      /* of view: directories */
    char *lease_path;         /* of spec */
    struct kept kept;         /* of view */
    bool required;            /* namespaces or nothing */
    bool closed;              /* nothing that can be had is left out */
    bool began;               /* something may run in it */
    bool is_roomy;            /* its limit of memory is raised */
};

static const struct ad *slot_of(const struct starter *starter)
{
    const struct ad *slot = NULL;
    return ad_get_ad(starter->run.record, "Slot", &slot) == 0 ? slot : NULL;
}

static struct os_cgroup_limits limits_of(const struct starter *starter)
{
    const struct config *config = starter->env.config;
    const struct ad *slot = slot_of(starter);
    int64_t cpus = slot != NULL ? ad_int_or(slot, "Cpus", 1) : 1;
    int64_t memory_mib = cage_memory_limit_mib(starter);
    return (struct os_cgroup_limits){
        .memory_bytes = memory_mib * 1024 * 1024,
        .no_swap = config_bool(config, "DISABLE_SWAP_FOR_JOB"),
        .processes = config_int(config, "JOB_MAX_PROCESSES"),
        .cpu_weight = WEIGHT_EACH * (cpus > 0 ? cpus : 1),
        .cpus = config_bool(config, "CGROUP_LIMIT_CPUS") ? (double)(cpus > 0 ? cpus : 1) : 0,
    };
}

int64_t cage_memory_limit_mib(const struct starter *starter)
{
    const struct ad *slot = slot_of(starter);
    if (slot == NULL ||
        strcmp(config_string(starter->env.config, "CGROUP_MEMORY_LIMIT_POLICY"), "none") == 0) {
        return 0;
    }
    return ad_int_or(slot, "Memory", 0);
}

static int make_group(struct starter *starter, struct cage *cage, struct err *err)
{
    const char *base = config_string(starter->env.config, "BASE_CGROUP");
    if (base == NULL || base[0] == '\0') {
        return 0;
    }
    struct strbuf text;
    char path[4096];
    int rc = 0;
    strbuf_init(&text, 0);
    cage->limits = limits_of(starter);
    if (cage->spec.limit_cpus) {
        cpu_list_print(cage->spec.cpus, &text);
        cage->limits.cpu_list = cage->cpu_list = strbuf_take(&text);
    }
    cage->spec.cgroup = nest_take_group(starter, &cage->limits);
    if (cage->spec.cgroup == NULL) {
        cage_plan_group_name(starter->run.directory, &text);
        rc = os_cgroup_create(starter->env.os, base, strbuf_text(&text), &cage->limits,
                              &cage->spec.cgroup, err);
    }
    strbuf_fini(&text);
    if (rc == -ENOTSUP) {
        log_info(starter->env.log, "job.no_cgroup", err->text,
                 LOG_TEXT("job", starter->run.job_id));
        return 0;
    }
    if (rc != 0) {
        return rc;
    }
    const char *places = os_cgroup_places(cage->spec.cgroup);
    (void)snprintf(path, sizeof path, "%s/" STARTER_CGROUPS_FILE, starter->run.directory);
    return os_rewrite_file(starter->env.os, path, places, strlen(places), 0600, err);
}

/* Returns whether the path is deeper than a directory of the root: those are needed by others,
 * too. */
static bool is_own_directory(const char *path)
{
    return path != NULL && path[0] == '/' && path[1] != '\0' && strchr(path + 1, '/') != NULL;
}

/* Adds the directories of the programs that start this job; mem_ blocks. */
static void find_programs(const struct starter *starter, struct vec *ret)
{
    const char *const knobs[] = {starter->run.ckpt.wanted ? "CKPT_PROGRAM" : NULL,
                                 job_run_is_remote(starter) ? "RSYS_MOUNT_PROGRAM" : NULL,
                                 "USER_JOB_WRAPPER"};
    for (size_t i = 0; i < ARRAY_COUNT(knobs); i++) {
        const char *path = knobs[i] != NULL ? config_path(starter->env.config, knobs[i]) : NULL;
        const char *end = path != NULL ? strrchr(path, '/') : NULL;
        bool known = end == NULL || end == path;
        for (size_t j = 0; j < ret->count && !known; j++) {
            const char *other = ret->items[j];
            known = strncmp(other, path, (size_t)(end - path)) == 0 && other[end - path] == '\0';
        }
        if (!known) {
            vec_push(ret, mem_strndup(path, (size_t)(end - path)));
        }
    }
}

/* Makes the job's own /tmp: writable for everybody in there, below a directory that only the
 * account may enter.  That belongs to the account while the job runs, so no link is followed. */
static int make_scratch(struct starter *starter, const char *path, struct err *err)
{
    struct os *os = starter->env.os;
    const char *top = starter->run.directory, *name = path + strlen(top) + 1;
    char *above = mem_strndup(name, (size_t)(strrchr(name, '/') - name));
    int rc = os_below_mkdirs(os, top, name, 0700, err);
    rc = rc != 0 ? rc : os_below_chmod(os, top, name, 01777, err);
    if (rc == 0 && starter->run.account.change_user) {
        rc = os_below_chown(os, top, name, starter->run.account.uid, starter->run.account.gid, err);
        rc = rc != 0 ? rc
                     : os_below_chown(os, top, above, starter->run.account.uid,
                                      starter->run.account.gid, err);
    }
    mem_free(above);
    return rc;
}

static int make_view(struct starter *starter, struct cage *cage, struct err *err)
{
    static const char *const DIRECTORIES[] = {"EXECUTE", "SPOOL", "SEC_DIRECTORY",
                                              "RUN",     "LOCK",  "LOG"};
    const struct config *config = starter->env.config;
    struct os *os = starter->env.os;
    const char *hide[ARRAY_COUNT(OUTSIDE) + ARRAY_COUNT(DIRECTORIES) + HIDDEN_MAX];
    const char *scratch[CAGE_SCRATCH_MAX];
    struct cage_place place = {.directory = starter->run.directory,
                               .sandbox = starter->run.sandbox,
                               .hide = hide,
                               .scratch = scratch,
                               .private_shm = config_bool(config, "MOUNT_PRIVATE_DEV_SHM")};
    struct os_stat stat;
    for (size_t i = 0; i < ARRAY_COUNT(OUTSIDE); i++) {
        hide[place.hide_count++] = OUTSIDE[i];
    }
    find_programs(starter, &cage->programs);
    place.programs = (const char *const *)cage->programs.items;
    place.program_count = cage->programs.count;
    for (size_t i = 0; i < ARRAY_COUNT(DIRECTORIES); i++) {
        const char *path = config_path(config, DIRECTORIES[i]);
        if (is_own_directory(path)) {
            hide[place.hide_count++] = path;
        }
    }
    size_t more_count = 0;
    const char *const *more = config_list(config, "HIDDEN_FROM_JOBS", &more_count);
    if (more_count > HIDDEN_MAX) {
        return err_set(err, -E2BIG, "HIDDEN_FROM_JOBS: more than %d directories", HIDDEN_MAX);
    }
    for (size_t i = 0; i < more_count; i++) {
        if (is_own_directory(more[i])) {
            hide[place.hide_count++] = more[i];
        }
    }
    int rc = os_uid(os) != 0 ? kept_find(os, config, hide, place.hide_count, &cage->kept, err) : 0;
    if (rc != 0) {
        return rc;
    }
    place.ways = (const char *const *)cage->kept.ways.items;
    place.way_count = cage->kept.ways.count;
    place.readonly = (const char *const *)cage->kept.readonly.items;
    place.readonly_count = cage->kept.readonly.count;
    const char *token = config_path(config, "TOKEN_FILE");
    if (token != NULL && os_stat(os, token, &stat) == 0 && stat.is_file) {
        place.secret = token;
    }
    const char *const *list = config_list(config, "MOUNT_UNDER_SCRATCH", NULL);
    for (; *list != NULL && place.scratch_count < CAGE_SCRATCH_MAX; list++) {
        if ((*list)[0] == '/' && os_stat(os, *list, &stat) == 0 && stat.is_dir) {
            scratch[place.scratch_count++] = *list;
        }
    }
    if (starter->run.ckpt.wanted) {
        rc = job_run_image_directory(starter, err);
        place.home = job_run_inside(starter);
        place.images = cage->images = job_run_image_path(starter, "");
        place.images_at = cage->images_at = job_run_image_inside(starter, "");
    }
    cage_plan_view(starter->run.job, &place, &cage->view);
    for (size_t i = 0; i < cage->view.name_count && rc == 0; i++) {
        rc = make_scratch(starter, cage->view.names[i], err);
    }
    return rc;
}

/* Finds the CPUs that the job may use: those assigned to its slot, or those that are configured.
 * False: any. */
static bool find_cpus(const struct starter *starter, uint64_t ret[OS_CAGE_CPUS_MAX / 64])
{
    const struct config *config = starter->env.config;
    const struct ad *slot = slot_of(starter);
    const char *name = ad_string_or(starter->run.record, "SlotName", "");
    char knobs[2][CAGE_KNOB_SIZE], number[24];
    if (slot != NULL && cpu_list_parse(ad_string_or(slot, "AssignedCpus", ""), ret, NULL) == 0) {
        return true;
    }
    if (!config_bool(config, "ENFORCE_CPU_AFFINITY")) {
        return false;
    }
    const char *list = NULL;
    cage_plan_slot_knobs(name, "CPU_AFFINITY", knobs);
    for (size_t i = 0; i < 2 && list == NULL; i++) {
        list = knobs[i][0] != '\0' ? config_text(config, knobs[i]) : NULL;
    }
    if (list == NULL && cage_plan_slot_number(name) > 0) {
        (void)snprintf(number, sizeof number, "%lld", (long long)cage_plan_slot_number(name) - 1);
        list = number;
    }
    if (list != NULL && cpu_list_parse(list, ret, NULL) != 0) {
        log_warn(starter->env.log, "job.cpus",
                 "the slot's list of CPUs is not valid, so its jobs are not bound to CPUs; "
                 "expected a list such as 0,2,4-7",
                 LOG_TEXT("slot", name), LOG_TEXT("CPU_AFFINITY", list));
        return false;
    }
    return list != NULL;
}

static int cage_open(struct starter *starter, struct err *err)
{
    const char *mode = config_string(starter->env.config, "JOB_NAMESPACES");
    const char *filter = config_string(starter->env.config, "JOB_SECCOMP");
    /* The mount makes namespaces; the job below it has the filter that is wanted. */
    filter = job_run_is_remote(starter) && strcmp(filter, "strict") == 0 ? "standard" : filter;
    bool root = os_uid(starter->env.os) == 0;
    int64_t core_bytes = ad_int_or(starter->run.job, "CoreSize", 0);
    int64_t stack_bytes = ad_int_or(starter->run.job, "StackSize", 0);
    struct cage *cage = mem_zalloc(sizeof *cage);
    starter->run.cage = cage;
    cage->required = strcmp(mode, "required") == 0;
    cage->closed = cage->required || root;
    cage->spec = (struct os_cage){
        .namespaces = strcmp(mode, "none") != 0,
        .user_namespace = !root,
        .oom_score = OOM_SCORE,
        .limit_core = true,
        .core_bytes = core_bytes < 0 ? UINT64_MAX : (uint64_t)core_bytes,
        .filter = strcmp(filter, "strict") == 0     ? &job_filter_strict
                  : strcmp(filter, "standard") == 0 ? &job_filter_standard
                                                    : NULL,
        .stack_bytes = stack_bytes > 0 ? (uint64_t)stack_bytes : 0,
    };
    struct strbuf lease_path;
    strbuf_init(&lease_path, 0);
    strbuf_printf(&lease_path, "%s/" STARTER_LEASE_FILE, starter->run.directory);
    cage->lease_path = strbuf_take(&lease_path);
    cage->spec.lease_path = PLANTED(lease_timer_missing) ? NULL : cage->lease_path;
    strbuf_fini(&lease_path);
    cage->spec.limit_cpus = find_cpus(starter, cage->spec.cpus);
    int rc = make_group(starter, cage, err);
    if (rc == 0 && cage->spec.limit_cpus &&
        (cage->spec.cgroup == NULL ||
         strstr(os_cgroup_controls(cage->spec.cgroup), "cpuset") == NULL)) {
        log_info(starter->env.log, "job.cpus",
                 "no cpuset is available, so the job could leave the CPUs of its slot",
                 LOG_TEXT("job", starter->run.job_id));
    }
    if (rc == 0 && cage->spec.namespaces) {
        rc = make_view(starter, cage, err);
        cage->spec.mounts = cage->view.mounts;
        cage->spec.mount_count = cage->view.mount_count;
    }
    return rc;
}

/* Logs that the job runs without namespaces: a warning for root, normal for an ordinary user. */
static void tell_open(const struct starter *starter, const char *why)
{
    if (os_uid(starter->env.os) == 0) {
        log_warn(starter->env.log, "job.no_namespaces", why, LOG_TEXT("job", starter->run.job_id),
                 LOG_TEXT("JOB_NAMESPACES", "auto: the job runs without namespaces"));
    } else {
        log_info(starter->env.log, "job.no_namespaces", why, LOG_TEXT("job", starter->run.job_id));
    }
}

int cage_spawn(struct starter *starter, const struct os_spawn *spec, os_exit_f on_exit, pid_t *ret,
               struct err *err)
{
    int rc = starter->run.cage == NULL ? cage_open(starter, err) : 0;
    if (rc != 0) { /* half a cage is none: made anew if this is tried again */
        cage_empty(starter);
        cage_close(starter);
        return rc;
    }
    struct cage *cage = starter->run.cage;
    struct os_spawn caged = *spec;
    caged.cage = &cage->spec;
    cage->spec.lease_end_ms = starter->run.lease.end_ms;
    cage->began = true;
    rc = os_spawn(starter->env.os, &caged, on_exit, starter, ret, err);
    if (rc == -EPROTONOSUPPORT && cage->spec.filter != &job_filter_strict) {
        log_warn(starter->env.log, "job.no_filter", err->text,
                 LOG_TEXT("job", starter->run.job_id));
        cage->spec.filter = NULL;
        rc = os_spawn(starter->env.os, &caged, on_exit, starter, ret, err);
    }
    /* Errors of err_is_shortage() are not among these: a job is not let out because the machine is
     * busy. */
    bool walls_failed = cage->spec.namespaces && (rc == -ENOTSUP || rc == -ENOSYS);
    if (walls_failed && starter->run.ckpt.wanted) { /* what it sees would have other names */
        return err_prefix(err, -EAGAIN, "a job with checkpoints needs namespaces");
    }
    if (walls_failed && !cage->required && (rc == -ENOSYS || !cage->closed)) {
        tell_open(starter, err->text);
        cage->spec.namespaces = cage->spec.user_namespace = false;
        rc = os_spawn(starter->env.os, &caged, on_exit, starter, ret, err);
    } else if (walls_failed) {
        rc = err_prefix(err, rc, "JOB_NAMESPACES is %s",
                        config_string(starter->env.config, "JOB_NAMESPACES"));
    }
    return rc;
}

/* As root the program enters the namespaces of the cage's keeper, which is ours: the job cannot
 * change them.  Without root the keeper is closed to us; we enter the namespaces of the job's
 * program, which has our account. */
int cage_spawn_beside(struct starter *starter, const struct os_spawn *spec, os_exit_f on_exit,
                      pid_t *ret, struct err *err)
{
    const struct cage *cage = starter->run.cage;
    if (cage == NULL || starter->run.process.pid <= 0) {
        return err_set(err, -ESRCH, "job %s is not running", starter->run.job_id);
    }
    struct os_cage limits = cage->spec;
    struct os_spawn beside = *spec;
    limits.namespaces = limits.user_namespace = false;
    limits.mounts = NULL;
    limits.mount_count = 0;
    limits.lease_path = NULL;
    limits.oom_score = 0; /* written by path, which is the job's in there */
    beside.cage = &limits;
    if (cage->spec.namespaces) {
        beside.beside = cage->spec.user_namespace
                            ? os_caged_pid(starter->env.os, starter->run.process.pid)
                            : starter->run.process.pid;
        if (beside.beside <= 0) {
            return err_set(err, -ESRCH, "the program of job %s has ended", starter->run.job_id);
        }
    }
    return os_spawn(starter->env.os, &beside, on_exit, starter, ret, err);
}

const struct os_cgroup *cage_group(const struct starter *starter)
{
    return starter->run.cage != NULL ? starter->run.cage->spec.cgroup : NULL;
}

bool cage_has_walls(const struct starter *starter)
{
    return starter->run.cage != NULL && starter->run.cage->spec.namespaces;
}

bool cage_scratch(const struct starter *starter, size_t index, const char **from, const char **to)
{
    const struct cage_view *view = &starter->run.cage->view;
    for (size_t i = 0; index < view->name_count && i < view->mount_count; i++) {
        if (view->mounts[i].from == view->names[index]) {
            *from = view->names[index];
            *to = view->mounts[i].to;
            return true;
        }
    }
    return false;
}

bool cage_mount_point(const struct starter *starter, size_t index, const char **to)
{
    const struct cage_view *view = &starter->run.cage->view;
    for (size_t i = view->kept_count; i < view->mount_count; i++) {
        enum os_mount_kind kind = view->mounts[i].kind;
        if ((kind == OS_MOUNT_BIND || kind == OS_MOUNT_READONLY) && index-- == 0) {
            *to = view->mounts[i].to;
            return true;
        }
    }
    return false;
}

const char *cage_scratch_inner(const struct starter *starter, const char *path)
{
    const struct cage_view *view = &starter->run.cage->view;
    for (size_t i = 0; i < view->name_count; i++) {
        const char *inner = strrchr(view->names[i], '/');
        size_t length = (size_t)(inner - view->names[i]);
        if (strncmp(view->names[i], path, length) == 0 && path[length] == '\0') {
            return inner + 1;
        }
    }
    return NULL;
}

void cage_figures(struct starter *starter, struct os_cgroup_usage *ret)
{
    *ret = (struct os_cgroup_usage){0};
    if (starter->run.cage != NULL && starter->run.cage->spec.cgroup != NULL) {
        os_cgroup_figures(starter->run.cage->spec.cgroup, ret);
    }
}

void cage_allow_copy(struct starter *starter, bool copied)
{
    struct cage *cage = starter->run.cage;
    if (cage == NULL || cage->spec.cgroup == NULL || cage->limits.memory_bytes <= 0 ||
        cage->is_roomy == copied) {
        return;
    }
    int rc = os_cgroup_limit_memory(cage->spec.cgroup, cage->limits.memory_bytes * (copied ? 2 : 1),
                                    cage->limits.no_swap);
    cage->is_roomy = copied || rc != 0; /* it is tried again */
}

void cage_kill(struct starter *starter)
{
    struct cage *cage = starter->run.cage;
    if (cage != NULL && cage->spec.cgroup != NULL) {
        os_cgroup_kill(cage->spec.cgroup);
    }
    if (starter->run.process.pid > 0) {
        (void)os_kill(starter->env.os, starter->run.process.pid,
                      SIGKILL); /* gone: its end is on its way */
    }
    if (cage == NULL || (cage->spec.cgroup == NULL && !cage->spec.namespaces)) {
        (void)os_descendants_kill(starter->env.os, SIGKILL);
    }
}

void cage_freeze(struct starter *starter, bool frozen)
{
    const struct cage *cage = starter->run.cage;
    if (cage == NULL || cage->spec.cgroup == NULL ||
        os_cgroup_freeze(cage->spec.cgroup, frozen) != 0) {
        (void)os_descendants_kill(starter->env.os, frozen ? SIGSTOP : SIGCONT);
    }
}

/* Without namespaces and cgroup, the job's processes are found as our descendants and by their
 * mark. */
static void kill_leftovers(struct starter *starter)
{
    struct strbuf mark;
    (void)os_descendants_kill(starter->env.os, SIGKILL);
    strbuf_init(&mark, 0);
    strbuf_printf(&mark, "ROOST_STARTER_DIR=%s", starter->run.directory);
    (void)os_marked_kill(starter->env.os, strbuf_text(&mark), SIGKILL);
    strbuf_fini(&mark);
}

void cage_empty(struct starter *starter)
{
    struct cage *cage = starter->run.cage;
    struct err err;
    bool walls = cage != NULL && cage->spec.namespaces;
    if (cage != NULL && cage->spec.cgroup != NULL && !cage->is_roomy &&
        nest_keep_group(starter, cage->spec.cgroup, &cage->limits)) {
        cage->spec.cgroup = NULL;
    } else if (cage != NULL && cage->spec.cgroup != NULL) {
        int rc = os_cgroup_remove(cage->spec.cgroup, EMPTIED_MS, &err);
        if (rc != 0) {
            log_error(starter->env.log, "cgroup.remove", err.text,
                      LOG_TEXT("job", starter->run.job_id));
            starter->run.end.odd = true;
        }
        walls = walls || rc == 0;
        os_cgroup_close(cage->spec.cgroup);
        cage->spec.cgroup = NULL;
    }
    if (!walls && (cage == NULL || cage->began)) {
        kill_leftovers(starter);
    }
    if (cage != NULL) {
        cage->began = false;
    }
}

void cage_close(struct starter *starter)
{
    struct cage *cage = starter->run.cage;
    if (cage == NULL) {
        return;
    }
    os_cgroup_close(cage->spec.cgroup);
    cage_view_fini(&cage->view);
    mem_free(cage->images);
    mem_free(cage->lease_path);
    mem_free(cage->images_at);
    vec_fini(&cage->programs, mem_free);
    kept_fini(&cage->kept);
    mem_free(cage->cpu_list);
    mem_free(cage);
    starter->run.cage = NULL;
}
