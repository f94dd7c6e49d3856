/* base/os/os_cgroup_linux.c - control groups: see base/os/os_cgroup.h.
 *
 * Sources: the kernel's Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/os/os_cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/os/os_linux.h"
#include "base/strbuf.h"

#define PLACES_MAX     OS_CGROUP_PLACES_MAX
#define MOUNTS_BYTES   ((size_t)1 << 20)
#define DAEMONS_LEAF   "roost-daemons"    /* where we go ourselves, below what we divide */
#define LEFT_BYTES_MAX ((int64_t)1 << 20) /* of memory, in a group that is used again */
/* By so much the kernel may stay below a limit that it enforces by a kill. */
#define LIMIT_SLACK_BYTES ((int64_t)1 << 20)
#define CACHED_PAGES_V1   "total_inactive_file"
#define CACHED_PAGES_V2   "inactive_file"

enum control {
    CONTROL_MEMORY = 1,
    CONTROL_CPU = 2,
    CONTROL_CPUACCT = 4,
    CONTROL_PIDS = 8,
    CONTROL_FREEZER = 16,
    CONTROL_KILL = 32,
    CONTROL_CPUSET = 64,
};

static const struct {
    const char *name;
    unsigned bit;
} CONTROLS[] = {{"memory", CONTROL_MEMORY},   {"cpu", CONTROL_CPU},
                {"cpuacct", CONTROL_CPUACCT}, {"pids", CONTROL_PIDS},
                {"freezer", CONTROL_FREEZER}, {"kill", CONTROL_KILL},
                {"cpuset", CONTROL_CPUSET}};

struct place {
    char *path;
    unsigned controls;
    bool is_v2;
};

struct os_cgroup {
    struct place places[PLACES_MAX];
    size_t count;
    struct strbuf list, words;
    struct os_cgroup_usage before; /* what was counted up to the last os_cgroup_renew() */
};

/* ---- small files ----------------------------------------------------------------------------- */

static int put_text(const char *directory, const char *file, const char *text)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%.4000s/%.80s", directory, file);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) {
        return -errno;
    }
    size_t length = strlen(text);
    int code = write(fd, text, length) == (ssize_t)length ? 0 : -errno;
    close(fd);
    return code;
}

static int put_number(const char *directory, const char *file, int64_t number)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%lld", (long long)number);
    return put_text(directory, file, text);
}

static bool get_text(const char *directory, const char *file, char *ret, size_t size)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%.4000s/%.80s", directory, file);
    return os_read_small(path, ret, size) > 0;
}

static bool has_file(const char *directory, const char *file)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%.4000s/%.80s", directory, file);
    return access(path, F_OK) == 0;
}

static bool get_number(const char *directory, const char *file, int64_t *ret)
{
    char text[64], *end;
    if (!get_text(directory, file, text, sizeof text)) {
        return false;
    }
    long long number = strtoll(text, &end, 10);
    if (end == text) { /* "max" */
        return false;
    }
    *ret = number;
    return true;
}

/* Returns the number after a word that begins a line. */
static bool get_field(const char *directory, const char *file, const char *word, int64_t *ret)
{
    char text[8192];
    size_t length = strlen(word);
    if (!get_text(directory, file, text, sizeof text)) {
        return false;
    }
    for (const char *line = text; line != NULL && *line != '\0';) {
        if (strncmp(line, word, length) == 0 && line[length] == ' ') {
            *ret = strtoll(line + length, NULL, 10);
            return true;
        }
        line = strchr(line, '\n');
        line = line != NULL ? line + 1 : NULL;
    }
    return false;
}

/* ---- where groups can be made ---------------------------------------------------------------- */

static bool is_word_of(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; at != NULL && *at != '\0';) {
        size_t span = strcspn(at, ", \n");
        if (span == length && strncmp(at, word, length) == 0) {
            return true;
        }
        at += span;
        at += *at != '\0' ? 1 : 0;
    }
    return false;
}

static unsigned controls_of(const char *list)
{
    unsigned bits = 0;
    for (size_t i = 0; i < sizeof CONTROLS / sizeof CONTROLS[0]; i++) {
        bits |= is_word_of(list, CONTROLS[i].name) ? CONTROLS[i].bit : 0U;
    }
    return bits;
}

/* Finds our own group in the hierarchy of these controllers ("" for v2), in /proc/self/cgroup. */
static bool own_group(const char *groups, bool is_v2, const char *options, char *ret, size_t size)
{
    for (const char *line = groups; line != NULL && *line != '\0';) {
        const char *list = strchr(line, ':');
        const char *path = list != NULL ? strchr(list + 1, ':') : NULL;
        if (path == NULL) {
            return false;
        }
        char names[256];
        (void)snprintf(names, sizeof names, "%.*s", (int)(path - list - 1), list + 1);
        unsigned bits = controls_of(names);
        if (is_v2 ? names[0] == '\0' : bits != 0 && bits == controls_of(options)) {
            (void)snprintf(ret, size, "%.*s", (int)strcspn(path + 1, "\n"), path + 1);
            return true;
        }
        line = strchr(line, '\n');
        line = line != NULL ? line + 1 : NULL;
    }
    return false;
}

/* Finds the directory of our own group below a mount point, whose root may be only a part of the
 * hierarchy. */
static void own_directory(const char *mount, const char *root, const char *group, char *ret,
                          size_t size)
{
    size_t length = strcmp(root, "/") == 0 ? 0 : strlen(root);
    bool below = strncmp(group, root, length) == 0 && strstr(group, "/..") == NULL;
    const char *rest = below ? group + length : "";
    (void)snprintf(ret, size, "%s%s", mount, strcmp(rest, "/") == 0 ? "" : rest);
}

/* v2 gives controllers to the groups below a group only while that group itself has no processes:
 * so we, and all others in it, move to a leaf. */
static void allow_controllers(char *own, size_t size, const char *wanted)
{
    char pids[65536], leaf[4096];
    size_t length = strlen(own);
    const char *last = strrchr(own, '/');
    if (last != NULL && strcmp(last + 1, DAEMONS_LEAF) == 0) {
        own[length - strlen(last)] = '\0';
        (void)put_text(own, "cgroup.subtree_control", wanted);
        return;
    }
    if (put_text(own, "cgroup.subtree_control", wanted) != -EBUSY) {
        return; /* done, or not ours to divide: the groups then lack controllers */
    }
    (void)snprintf(leaf, sizeof leaf, "%.*s/" DAEMONS_LEAF, (int)(size - 32), own);
    if ((mkdir(leaf, 0755) != 0 && errno != EEXIST) ||
        !get_text(own, "cgroup.procs", pids, sizeof pids)) {
        return;
    }
    for (char *at = pids, *end; *at != '\0'; at = end + (*end != '\0' ? 1 : 0)) {
        long pid = strtol(at, &end, 10);
        if (end == at) {
            break;
        }
        (void)put_number(leaf, "cgroup.procs", pid); /* one that is gone needs no leaf */
    }
    (void)put_text(own, "cgroup.subtree_control", wanted);
}

static void wanted_controls(const char *own, char *ret, size_t size)
{
    char available[512] = "";
    (void)get_text(own, "cgroup.controllers", available, sizeof available);
    (void)snprintf(ret, size, "%s%s%s%s", is_word_of(available, "memory") ? "+memory " : "",
                   is_word_of(available, "cpu") ? "+cpu " : "",
                   is_word_of(available, "pids") ? "+pids " : "",
                   is_word_of(available, "cpuset") ? "+cpuset " : "");
}

static void add_place(struct os_cgroup *group, const char *path, bool is_v2)
{
    struct place *place = &group->places[group->count++];
    char available[512] = "";
    *place = (struct place){.path = mem_strdup(path), .is_v2 = is_v2};
    if (is_v2) {
        (void)get_text(path, "cgroup.controllers", available, sizeof available);
        place->controls = controls_of(available);
        place->controls |= has_file(path, "cgroup.freeze") ? CONTROL_FREEZER : 0U;
        place->controls |= has_file(path, "cgroup.kill") ? CONTROL_KILL : 0U;
        place->controls |= has_file(path, "cpu.stat") ? CONTROL_CPUACCT : 0U;
    } else {
        place->controls |= has_file(path, "memory.limit_in_bytes") ? CONTROL_MEMORY : 0U;
        place->controls |= has_file(path, "cpu.shares") ? CONTROL_CPU : 0U;
        place->controls |= has_file(path, "cpuacct.usage_user") ? CONTROL_CPUACCT : 0U;
        place->controls |= has_file(path, "pids.max") ? CONTROL_PIDS : 0U;
        place->controls |= has_file(path, "freezer.state") ? CONTROL_FREEZER : 0U;
        place->controls |= has_file(path, "cpuset.cpus") ? CONTROL_CPUSET : 0U;
    }
    strbuf_printf(&group->list, "%s\n", path);
}

/* A new group of v1 has no CPUs and no memory nodes, and takes no process before it has: copies the
 * parent's. */
static void inherit_cpuset(const char *parent, const char *path)
{
    static const char *const FILES[] = {"cpuset.mems", "cpuset.cpus"};
    char text[4096];
    for (size_t i = 0; i < sizeof FILES / sizeof FILES[0]; i++) {
        if (get_text(parent, FILES[i], text, sizeof text)) {
            (void)put_text(path, FILES[i],
                           text); /* if not: no process can join, and that is said */
        }
    }
}

/* Makes the group in one hierarchy.  A failure is not an error, because there may be other
 * hierarchies. */
static int make_place(struct os_cgroup *group, bool is_v2, char *own, size_t size, const char *base,
                      const char *name)
{
    char wanted[64] = "", parent[4096], path[4096];
    if (is_v2) {
        wanted_controls(own, wanted, sizeof wanted);
        if (wanted[0] != '\0') {
            allow_controllers(own, size, wanted);
        }
    }
    (void)snprintf(parent, sizeof parent, "%.*s/%.200s", (int)(sizeof parent - 256), own, base);
    (void)snprintf(path, sizeof path, "%.*s/%.250s", (int)(sizeof path - 256), parent, name);
    for (int attempt = 0; attempt < 3; attempt++) {
        if (mkdir(parent, 0755) != 0 && errno != EEXIST) {
            return -errno;
        }
        if (wanted[0] != '\0') {
            (void)put_text(parent, "cgroup.subtree_control", wanted);
        }
        if (!is_v2 && has_file(own, "cpuset.cpus")) {
            inherit_cpuset(own, parent);
        }
        if (mkdir(path, 0755) == 0) {
            if (!is_v2 && has_file(own, "cpuset.cpus")) {
                inherit_cpuset(parent, path);
            }
            add_place(group, path, is_v2);
            return 0;
        }
        if (errno == EEXIST) { /* of an earlier life of this very run */
            struct os_cgroup *old = os_cgroup_open(NULL, path);
            (void)os_cgroup_remove(old, 1000, NULL);
            os_cgroup_close(old);
        } else if (errno != ENOENT) { /* else another one's end took the parent away */
            return -errno;
        }
    }
    return -EBUSY;
}

static unsigned controls_had(const struct os_cgroup *group)
{
    unsigned bits = 0;
    for (size_t i = 0; i < group->count; i++) {
        bits |= group->places[i].controls;
    }
    return bits;
}

/* Makes the group in each hierarchy that adds a controller; v2 first, which may have all.  Each
 * costs every job a directory. */
static int make_places(struct os_cgroup *group, bool is_v2, const char *mounts, const char *groups,
                       const char *base, const char *name, unsigned unwanted)
{
    int code = -ENOTSUP;
    for (const char *line = mounts; line != NULL && *line != '\0';) {
        char root[1024], mount[1024], type[32], options[512], own[2048], directory[4096];
        const char *tail = strstr(line, " - ");
        const char *end = strchr(line, '\n');
        if (tail != NULL && (end == NULL || tail < end) &&
            sscanf(line, "%*s %*s %*s %1023s %1023s", root, mount) == 2 &&
            sscanf(tail, " - %31s %*s %511s", type, options) == 2 &&
            strcmp(type, is_v2 ? "cgroup2" : "cgroup") == 0) {
            unsigned bits = is_v2 ? CONTROL_KILL : controls_of(options);
            if ((bits & ~controls_had(group) & ~unwanted) != 0 && group->count < PLACES_MAX &&
                own_group(groups, is_v2, options, own, sizeof own)) {
                own_directory(mount, root, own, directory, sizeof directory);
                int rc = make_place(group, is_v2, directory, sizeof directory, base, name);
                code = rc == 0 || group->count > 0 ? 0 : rc;
            }
        }
        line = end != NULL ? end + 1 : NULL;
    }
    return code;
}

/* ---- limits ---------------------------------------------------------------------------------- */

static int limit_v2(const struct place *place, const struct os_cgroup_limits *limits)
{
    int code = 0;
    if ((place->controls & CONTROL_MEMORY) != 0 && limits->memory_bytes > 0) {
        code = put_number(place->path, "memory.max", limits->memory_bytes);
        (void)put_text(place->path, "memory.oom.group", "1"); /* half a job is none */
        if (limits->no_swap) {
            (void)put_text(place->path, "memory.swap.max", "0"); /* absent: there is no swap */
        }
    }
    if (code == 0 && (place->controls & CONTROL_PIDS) != 0 && limits->processes > 0) {
        code = put_number(place->path, "pids.max", limits->processes);
    }
    if (code == 0 && (place->controls & CONTROL_CPU) != 0 && limits->cpu_weight > 0) {
        int64_t weight = limits->cpu_weight > 10000 ? 10000 : limits->cpu_weight;
        code = put_number(place->path, "cpu.weight", weight);
    }
    if (code == 0 && (place->controls & CONTROL_CPU) != 0 && limits->cpus > 0) {
        char text[64];
        (void)snprintf(text, sizeof text, "%lld 100000", (long long)(limits->cpus * 100000));
        code = put_text(place->path, "cpu.max", text);
    }
    return code;
}

static int limit_v1(const struct place *place, const struct os_cgroup_limits *limits)
{
    int code = 0;
    if ((place->controls & CONTROL_MEMORY) != 0 && limits->memory_bytes > 0) {
        code = put_number(place->path, "memory.limit_in_bytes", limits->memory_bytes);
        if (limits->no_swap) {
            (void)put_number(place->path, "memory.memsw.limit_in_bytes", limits->memory_bytes);
        }
    }
    if (code == 0 && (place->controls & CONTROL_PIDS) != 0 && limits->processes > 0) {
        code = put_number(place->path, "pids.max", limits->processes);
    }
    if (code == 0 && (place->controls & CONTROL_CPU) != 0 && limits->cpu_weight > 0) {
        code = put_number(place->path, "cpu.shares", limits->cpu_weight * 1024 / 100);
    }
    if (code == 0 && (place->controls & CONTROL_CPU) != 0 && limits->cpus > 0) {
        code = put_number(place->path, "cpu.cfs_period_us", 100000);
        code = code != 0
                   ? code
                   : put_number(place->path, "cpu.cfs_quota_us", (int64_t)(limits->cpus * 100000));
    }
    return code;
}

int os_cgroup_limit_memory(struct os_cgroup *group, int64_t bytes, bool no_swap)
{
    int code = -ENOTSUP;
    for (size_t i = 0; i < group->count; i++) {
        const struct place *place = &group->places[i];
        if ((place->controls & CONTROL_MEMORY) == 0) {
            continue;
        }
        if (place->is_v2) {
            return put_number(place->path, "memory.max", bytes);
        }
        for (int k = 0; k < 2; k++) { /* with swap it is never less than without: in one order up */
            if (no_swap) {            /* and in the other down */
                (void)put_number(place->path, "memory.memsw.limit_in_bytes", bytes);
            }
            code = put_number(place->path, "memory.limit_in_bytes", bytes);
        }
    }
    return code;
}

/* CPUs that do not exist are no reason not to run the job. */
static void limit_cpus(struct place *place, const struct os_cgroup_limits *limits)
{
    if ((place->controls & CONTROL_CPUSET) != 0 &&
        (limits->cpu_list == NULL || put_text(place->path, "cpuset.cpus", limits->cpu_list) != 0)) {
        place->controls &= ~(unsigned)CONTROL_CPUSET;
    }
}

/* Writes as words what the group can do. */
static void tell_controls(struct os_cgroup *group)
{
    unsigned had = controls_had(group);
    strbuf_clear(&group->words);
    for (size_t i = 0; i < sizeof CONTROLS / sizeof CONTROLS[0]; i++) {
        if ((had & CONTROLS[i].bit) != 0) {
            strbuf_printf(&group->words, "%s%s", group->words.length > 0 ? " " : "",
                          CONTROLS[i].name);
        }
    }
}

static struct os_cgroup *group_create(void)
{
    struct os_cgroup *group = mem_zalloc(sizeof *group);
    strbuf_init(&group->list, 0);
    strbuf_init(&group->words, 0);
    return group;
}

int os_cgroup_create(struct os *os, const char *base, const char *name,
                     const struct os_cgroup_limits *limits, struct os_cgroup **ret, struct err *err)
{
    char *mounts = NULL, *groups = NULL;
    size_t length;
    int code = os_read_file(os, "/proc/self/mountinfo", MOUNTS_BYTES, &mounts, &length, err);
    code = code != 0 ? code
                     : os_read_file(os, "/proc/self/cgroup", MOUNTS_BYTES, &groups, &length, err);
    if (code != 0) {
        mem_free(mounts);
        return err_prefix(err, -ENOTSUP, "cgroups");
    }
    struct os_cgroup *group = group_create();
    unsigned unwanted = limits->cpu_list != NULL ? 0 : CONTROL_CPUSET;
    code = make_places(group, true, mounts, groups, base, name, unwanted);
    int v1 = make_places(group, false, mounts, groups, base, name, unwanted);
    code = group->count > 0 ? 0 : v1 != -ENOTSUP ? v1 : code;
    mem_free(mounts);
    mem_free(groups);
    if (code != 0) {
        os_cgroup_close(group);
        return err_set(err, -ENOTSUP, "cannot create a control group of any kind: %s",
                       strerror(-code));
    }
    for (size_t i = 0; i < group->count && code == 0; i++) {
        struct place *place = &group->places[i];
        limit_cpus(place, limits);
        code = place->is_v2 ? limit_v2(place, limits) : limit_v1(place, limits);
        if (code != 0) {
            (void)err_set(err, code, "%s: cannot set a limit: %s", place->path, strerror(-code));
        }
    }
    if (code != 0) {
        (void)os_cgroup_remove(group, 0, NULL);
        os_cgroup_close(group);
        return code;
    }
    tell_controls(group);
    *ret = group;
    return 0;
}

struct os_cgroup *os_cgroup_open(struct os *os, const char *places)
{
    (void)os;
    struct os_cgroup *group = group_create();
    for (const char *at = places; *at != '\0' && group->count < PLACES_MAX;) {
        size_t span = strcspn(at, "\n");
        char path[4096];
        (void)snprintf(path, sizeof path, "%.*s", (int)(span < 4000 ? span : 4000), at);
        if (has_file(path, "cgroup.procs")) {
            add_place(group, path, has_file(path, "cgroup.events"));
        }
        at += span + (at[span] == '\n' ? 1 : 0);
    }
    tell_controls(group);
    return group;
}

const char *os_cgroup_places(const struct os_cgroup *group)
{
    return strbuf_text((struct strbuf *)(uintptr_t)&group->list);
}

const char *os_cgroup_controls(const struct os_cgroup *group)
{
    return strbuf_text((struct strbuf *)(uintptr_t)&group->words);
}

/* ---- joining --------------------------------------------------------------------------------- */

int os_cgroup_open_procs(const struct os_cgroup *group, int fds[OS_CGROUP_PLACES_MAX],
                         size_t *count)
{
    *count = 0;
    for (size_t i = 0; group != NULL && i < group->count; i++) {
        char path[4096];
        (void)snprintf(path, sizeof path, "%.*s/cgroup.procs", (int)(sizeof path - 32),
                       group->places[i].path);
        int fd = open(path, O_WRONLY | O_CLOEXEC);
        if (fd < 0) {
            return -errno;
        }
        fds[(*count)++] = fd;
    }
    return 0;
}

/* ---- figures --------------------------------------------------------------------------------- */

/* v1 does not count how often the limit was reached (its failcnt stays 0 in recent kernels), so the
 * largest use is compared; this includes cached files that could have been given up. */
static uint64_t limit_hits(const struct place *place)
{
    int64_t hits = 0, peak = 0, limit = 0;
    if (place->is_v2) {
        (void)get_field(place->path, "memory.events", "oom", &hits);
        return (uint64_t)hits;
    }
    bool known = get_number(place->path, "memory.max_usage_in_bytes", &peak) &&
                 get_number(place->path, "memory.limit_in_bytes", &limit);
    return !known || peak >= limit - LIMIT_SLACK_BYTES ? 1 : 0;
}

static void memory_figures(const struct place *place, struct os_cgroup_usage *ret)
{
    int64_t now = 0, cached = 0, peak = 0, kills = 0;
    const char *file = place->is_v2 ? "memory.current" : "memory.usage_in_bytes";
    if (!get_number(place->path, file, &now)) {
        return;
    }
    ret->has_memory = true;
    (void)get_field(place->path, "memory.stat", place->is_v2 ? CACHED_PAGES_V2 : CACHED_PAGES_V1,
                    &cached);
    ret->memory_bytes = now > cached ? now - cached : 0;
    if (get_number(place->path, place->is_v2 ? "memory.peak" : "memory.max_usage_in_bytes",
                   &peak)) {
        ret->memory_peak_bytes = peak;
    }
    if (get_field(place->path, place->is_v2 ? "memory.events" : "memory.oom_control", "oom_kill",
                  &kills)) {
        ret->has_oom = true;
        ret->oom_kills = (uint64_t)kills;
        ret->limit_hits = kills > 0 ? limit_hits(place) : 0;
    }
}

static void cpu_figures(const struct place *place, struct os_cgroup_usage *ret)
{
    int64_t user = 0, system = 0;
    if (ret->has_cpu) {
        return;
    }
    if (place->is_v2 && get_field(place->path, "cpu.stat", "user_usec", &user) &&
        get_field(place->path, "cpu.stat", "system_usec", &system)) {
        ret->has_cpu = true;
        ret->user_cpu_s = (double)user / 1e6;
        ret->system_cpu_s = (double)system / 1e6;
    } else if (!place->is_v2 && get_number(place->path, "cpuacct.usage_user", &user) &&
               get_number(place->path, "cpuacct.usage_sys", &system)) {
        ret->has_cpu = true;
        ret->user_cpu_s = (double)user / 1e9;
        ret->system_cpu_s = (double)system / 1e9;
    }
}

static size_t for_each_process(const struct place *place, int signal_number)
{
    char path[4096], line[64];
    size_t count = 0;
    (void)snprintf(path, sizeof path, "%.*s/cgroup.procs", (int)(sizeof path - 32), place->path);
    FILE *file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        long pid = strtol(line, NULL, 10);
        if (pid > 1 && pid != getpid()) {
            count++;
            if (signal_number != 0) {
                (void)kill((pid_t)pid, signal_number); /* gone: that is what we want */
            }
        }
    }
    if (file != NULL) {
        (void)fclose(file); /* only read from */
    }
    return count;
}

size_t os_cgroup_pids(const struct os_cgroup *group, pid_t *ret, size_t max)
{
    char path[4096], line[64];
    size_t count = 0;
    if (group->count == 0) {
        return 0;
    }
    (void)snprintf(path, sizeof path, "%.*s/cgroup.procs", (int)(sizeof path - 32),
                   group->places[0].path);
    FILE *file = fopen(path, "re");
    while (file != NULL && count < max && fgets(line, sizeof line, file) != NULL) {
        long pid = strtol(line, NULL, 10);
        if (pid > 1) {
            ret[count++] = (pid_t)pid;
        }
    }
    if (file != NULL) {
        (void)fclose(file); /* only read from */
    }
    return count;
}

static void all_figures(struct os_cgroup *group, struct os_cgroup_usage *ret)
{
    *ret = (struct os_cgroup_usage){0};
    for (size_t i = 0; i < group->count; i++) {
        const struct place *place = &group->places[i];
        if ((place->controls & CONTROL_MEMORY) != 0) {
            memory_figures(place, ret);
        }
        if ((place->controls & CONTROL_CPUACCT) != 0) {
            cpu_figures(place, ret);
        }
    }
    ret->processes = group->count > 0 ? (int64_t)for_each_process(&group->places[0], 0) : 0;
}

void os_cgroup_figures(struct os_cgroup *group, struct os_cgroup_usage *ret)
{
    const struct os_cgroup_usage *before = &group->before;
    all_figures(group, ret);
    ret->user_cpu_s -= before->user_cpu_s;
    ret->system_cpu_s -= before->system_cpu_s;
    ret->oom_kills -= before->oom_kills;
    ret->limit_hits -= before->limit_hits;
    ret->memory_peak_bytes -= before->memory_peak_bytes; /* set back to that then */
    ret->memory_bytes -=
        ret->memory_bytes > before->memory_bytes ? before->memory_bytes : ret->memory_bytes;
}

/* ---- freezing, signals, the end -------------------------------------------------------------- */

/* v2's freezer is preferred: a process frozen by v1's cannot even be killed. */
int os_cgroup_freeze(struct os_cgroup *group, bool frozen)
{
    int code = -ENOTSUP;
    for (int v2 = 1; v2 >= 0; v2--) {
        for (size_t i = 0; i < group->count && code != 0; i++) {
            const struct place *place = &group->places[i];
            if ((place->controls & CONTROL_FREEZER) != 0 && place->is_v2 == (v2 == 1)) {
                code = place->is_v2
                           ? put_text(place->path, "cgroup.freeze", frozen ? "1" : "0")
                           : put_text(place->path, "freezer.state", frozen ? "FROZEN" : "THAWED");
            }
        }
    }
    return code;
}

/* Sends a signal to each process of the group; returns how many there were. */
static size_t os_cgroup_signal(struct os_cgroup *group, int signal_number)
{
    return group->count > 0 ? for_each_process(&group->places[0], signal_number) : 0;
}

static void thaw_all(const struct os_cgroup *group)
{
    for (size_t i = 0; i < group->count; i++) {
        const struct place *place = &group->places[i];
        if ((place->controls & CONTROL_FREEZER) != 0 && !place->is_v2) {
            (void)put_text(place->path, "freezer.state", "THAWED"); /* gone: nothing is frozen */
        }
    }
}

void os_cgroup_kill(struct os_cgroup *group)
{
    bool killed = false;
    for (size_t i = 0; i < group->count && !killed; i++) {
        killed = (group->places[i].controls & CONTROL_KILL) != 0 &&
                 put_text(group->places[i].path, "cgroup.kill", "1") == 0;
    }
    if (!killed) { /* frozen, it cannot fork away; the signals wait for the thaw */
        (void)os_cgroup_freeze(group, true);
        (void)os_cgroup_signal(group, SIGKILL);
        (void)os_cgroup_freeze(group, false);
    }
    thaw_all(group);
}

/* Processes that were killed while frozen have left their group frozen. */
static void thaw_everything(const struct os_cgroup *group)
{
    for (size_t i = 0; i < group->count; i++) {
        if ((group->places[i].controls & CONTROL_FREEZER) != 0 && group->places[i].is_v2) {
            (void)put_text(group->places[i].path, "cgroup.freeze", "0"); /* gone: so is all of it */
        }
    }
    thaw_all(group);
}

/* Checks that no process is in it and no group below it. */
static int empty_place(struct os_cgroup *group, const struct place *place, unsigned wait_ms,
                       struct err *err)
{
    struct stat st;
    for (unsigned waited = 0; for_each_process(place, 0) > 0; waited++) {
        if (waited >= wait_ms) {
            return err_set(err, -EBUSY, "control group %s still has processes", place->path);
        }
        if (waited % 16 == 0) {
            os_cgroup_kill(group);
        }
        const struct timespec one_ms = {.tv_nsec = 1000000};
        (void)nanosleep(&one_ms, NULL);
    }
    if (stat(place->path, &st) != 0) {
        return err_set(err, -errno, "%s: %s", place->path, strerror(errno));
    }
    return st.st_nlink == 2
               ? 0
               : err_set(err, -ESTALE, "control group %s has groups below it", place->path);
}

int os_cgroup_renew(struct os_cgroup *group, unsigned wait_ms, struct err *err)
{
    int code = 0;
    for (size_t i = 0; i < group->count && code == 0; i++) {
        const struct place *place = &group->places[i];
        code = empty_place(group, place, wait_ms, err);
        if (code == 0 && (place->controls & CONTROL_MEMORY) != 0 &&
            (place->is_v2 || put_text(place->path, "memory.max_usage_in_bytes", "0") != 0)) {
            code = err_set(err, -ESTALE, "%s: cannot reset the peak of used memory", place->path);
        }
    }
    if (code != 0) {
        return code;
    }
    thaw_everything(group);
    all_figures(group, &group->before);
    return group->before.memory_peak_bytes <= LEFT_BYTES_MAX
               ? 0
               : err_set(err, -ESTALE, "%lld bytes of memory are still charged to control group %s",
                         (long long)group->before.memory_peak_bytes, group->places[0].path);
}

int os_cgroup_remove(struct os_cgroup *group, unsigned wait_ms, struct err *err)
{
    int code = 0;
    for (size_t i = 0; i < group->count; i++) {
        const char *path = group->places[i].path;
        for (unsigned waited = 0; rmdir(path) != 0 && errno != ENOENT; waited++) {
            if (errno != EBUSY || waited >= wait_ms) {
                code = err_set(err, -errno, "cannot remove control group %s: %s", path,
                               strerror(errno));
                break;
            }
            if (waited % 16 == 0) {
                os_cgroup_kill(group);
            }
            const struct timespec one_ms = {.tv_nsec = 1000000};
            (void)nanosleep(&one_ms, NULL); /* the dead leave the group within a moment */
        }
        char parent[4096];
        (void)snprintf(parent, sizeof parent, "%.4000s", path);
        char *last = strrchr(parent, '/');
        if (last != NULL) {
            *last = '\0';
            (void)rmdir(parent); /* unless others are in it */
        }
    }
    return code;
}

void os_cgroup_close(struct os_cgroup *group)
{
    if (group == NULL) {
        return;
    }
    for (size_t i = 0; i < group->count; i++) {
        mem_free(group->places[i].path);
    }
    strbuf_fini(&group->list);
    strbuf_fini(&group->words);
    mem_free(group);
}
