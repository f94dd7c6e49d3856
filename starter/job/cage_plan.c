/* starter/job/cage_plan.c - what a job gets to see of its machine: see cage_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "starter/job/cage_plan.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "wire/remote_attrs.h"

#define GROUP_NAME_MAX 200 /* most bytes of a cgroup's name, without the terminating zero */

/* HTCondor's numbers. */
#define HOLD_OUT_OF_RESOURCES 34
#define HOLD_SUBCODE_MEMORY   102
#define HOLD_SUBCODE_DISK     104

static void print_text(char *ret, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void print_text(char *ret, size_t size, const char *format, ...)
{
    struct strbuf text;
    va_list arguments;
    strbuf_init(&text, 0);
    va_start(arguments, format);
    strbuf_vprintf(&text, format, arguments);
    va_end(arguments);
    size_t length = text.length < size ? text.length : size - 1;
    memcpy(ret, strbuf_text(&text), length);
    ret[length] = '\0';
    strbuf_fini(&text);
}

static bool is_below(const char *path, const char *directory)
{
    size_t length = strlen(directory);
    while (length > 1 && directory[length - 1] == '/') {
        length--;
    }
    return strncmp(path, directory, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

static bool job_names_below(const struct ad *job, const char *directory)
{
    static const char *const NAMES[] = {"Cmd", "In", "Out", "Err", "PreCmd", "PostCmd"};
    if (ad_bool_or(job, REMOTE_WANTED, false)) {
        return false; /* its names are another machine's */
    }
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        if (is_below(ad_string_or(job, NAMES[i], ""), directory)) {
            return true;
        }
    }
    return ad_name_compare(ad_string_or(job, "ShouldTransferFiles", "YES"), "NO") == 0 &&
           is_below(ad_string_or(job, "Iwd", ""), directory);
}

static void add_mount(struct cage_view *view, enum os_mount_kind kind, const char *from,
                      const char *to)
{
    if (view->mount_count < CAGE_MOUNTS_MAX) {
        view->mounts[view->mount_count++] = (struct os_mount){.kind = kind, .from = from, .to = to};
    }
}

bool cage_plan_home_fits(const struct ad *job, const char *const *scratch, size_t scratch_count,
                         const char *home)
{
    bool fits = false;
    for (size_t i = 0; i < scratch_count; i++) {
        fits = fits || (is_below(home, scratch[i]) && strcmp(home, scratch[i]) != 0 &&
                        !job_names_below(job, scratch[i]));
    }
    return fits;
}

/* Gives the job a directory of its own at that place. */
static void add_scratch(struct cage_view *view, const struct cage_place *place, size_t number,
                        const char *to)
{
    struct strbuf name;
    strbuf_init(&name, 0);
    strbuf_printf(&name, "%s/scratch%zu/in", place->directory, number);
    view->names[view->name_count] = strbuf_take(&name);
    add_mount(view, OS_MOUNT_BIND, view->names[view->name_count++], to);
    strbuf_fini(&name);
}

/* If EXECUTE lies in the scratch directory `to` (a pool in /tmp, a pilot), the way to the sandbox
 * would be made on disk for each job, and removed.  So its first directory is made in memory. */
static void add_way(struct cage_view *view, const struct cage_place *place, const char *to)
{
    if (view->way != NULL || !is_below(place->sandbox, to) || strcmp(place->sandbox, to) == 0) {
        return;
    }
    const char *first = place->sandbox + strlen(to);
    first += *first == '/' ? 1 : 0;
    const char *end = strchr(first, '/');
    if (end != NULL) {
        view->way = mem_strndup(place->sandbox, (size_t)(end - place->sandbox));
        add_mount(view, OS_MOUNT_WAY, NULL, view->way);
    }
}

/* Returns whether something else is mounted above that directory. */
static bool is_covered(const struct cage_view *view, const char *directory)
{
    for (size_t i = view->kept_count; i < view->mount_count; i++) {
        const struct os_mount *mount = &view->mounts[i];
        if ((mount->kind == OS_MOUNT_BIND || mount->kind == OS_MOUNT_MEMORY) &&
            is_below(directory, mount->to) && strcmp(directory, mount->to) != 0) {
            return true;
        }
    }
    return false;
}

void cage_plan_view(const struct ad *job, const struct cage_place *place, struct cage_view *ret)
{
    bool secret_is_open = place->secret != NULL;
    *ret = (struct cage_view){0};
    /* First: what is mounted after it stays as it is. */
    for (size_t i = 0; i < place->way_count && i < CAGE_KEPT_MAX; i++) {
        add_mount(ret, OS_MOUNT_BIND, place->ways[i], place->ways[i]);
    }
    for (size_t i = 0; i < place->readonly_count && i < CAGE_KEPT_MAX; i++) {
        add_mount(ret, OS_MOUNT_READONLY, place->readonly[i], place->readonly[i]);
    }
    ret->kept_count = ret->mount_count;
    for (size_t i = 0; i < place->scratch_count && ret->name_count < CAGE_SCRATCH_MAX; i++) {
        if (job_names_below(job, place->scratch[i])) {
            continue;
        }
        add_scratch(ret, place, i, place->scratch[i]);
        add_way(ret, place, place->scratch[i]);
        secret_is_open = secret_is_open && !is_below(place->secret, place->scratch[i]);
    }
    if (place->home != NULL && ret->name_count < CAGE_SCRATCH_MAX) {
        add_scratch(ret, place, place->scratch_count, "/dev/shm");
    } else if (place->private_shm) {
        add_mount(ret, OS_MOUNT_MEMORY, NULL, "/dev/shm");
    }
    for (size_t i = 0; i < place->program_count && i < CAGE_MOUNTS_MAX / 2; i++) {
        if (is_covered(ret, place->programs[i])) {
            add_mount(ret, OS_MOUNT_READONLY, place->programs[i], place->programs[i]);
        }
    }
    for (size_t i = 0; i < place->hide_count && i < CAGE_MOUNTS_MAX / 2; i++) {
        add_mount(ret, OS_MOUNT_HIDE, NULL, place->hide[i]);
        secret_is_open = secret_is_open && !is_below(place->secret, place->hide[i]);
    }
    if (secret_is_open) {
        add_mount(ret, OS_MOUNT_BIND, "/dev/null", place->secret);
    }
    add_mount(ret, OS_MOUNT_BIND, place->sandbox, place->sandbox);
    if (place->home != NULL) {
        add_mount(ret, OS_MOUNT_BIND, place->sandbox, place->home);
        add_mount(ret, OS_MOUNT_BIND, place->images, place->images_at);
    }
    add_mount(ret, OS_MOUNT_PROC, NULL, "/proc");
}

void cage_view_fini(struct cage_view *view)
{
    for (size_t i = 0; i < view->name_count; i++) {
        mem_free(view->names[i]);
    }
    mem_free(view->way);
    *view = (struct cage_view){0};
}

void cage_plan_group_name(const char *directory, struct strbuf *ret)
{
    size_t length = strlen(directory);
    const char *at = directory + (length > GROUP_NAME_MAX ? length - GROUP_NAME_MAX : 0);
    at += *at == '/' ? 1 : 0;
    for (; *at != '\0'; at++) {
        strbuf_putc(ret, *at == '/' || (unsigned char)*at <= ' ' ? '_' : *at);
    }
}

void cage_plan_slot_knobs(const char *slot, const char *suffix, char ret[2][CAGE_KNOB_SIZE])
{
    char name[CAGE_KNOB_SIZE - 16];
    size_t length = strcspn(slot, "@");
    ret[0][0] = ret[1][0] = '\0';
    if (length == 0 || length >= sizeof name) {
        return;
    }
    for (size_t i = 0; i < length; i++) {
        name[i] = (char)toupper((unsigned char)slot[i]);
    }
    name[length] = '\0';
    print_text(ret[0], CAGE_KNOB_SIZE, "%s_%s", name, suffix);
    char *piece = strchr(name, '_');
    if (piece != NULL) {
        *piece = '\0';
        print_text(ret[1], CAGE_KNOB_SIZE, "%s_%s", name, suffix);
    }
}

int64_t cage_plan_slot_number(const char *slot)
{
    int64_t number = 0;
    if (strncmp(slot, "slot", 4) != 0) {
        return 0;
    }
    for (slot += 4; isdigit((unsigned char)*slot) && number < 1000000; slot++) {
        number = number * 10 + (*slot - '0');
    }
    return *slot == '@' || *slot == '\0' ? number : 0;
}

bool cage_plan_is_machines_oom(const struct cage_taken *taken)
{
    return taken->oom_kills > 0 && taken->limit_hits == 0 &&
           (taken->memory_limit_mib <= 0 || taken->memory_mib <= taken->memory_limit_mib);
}

bool cage_plan_is_over_memory(const struct cage_taken *taken)
{
    bool over = taken->memory_limit_mib > 0 && taken->memory_mib > taken->memory_limit_mib;
    return over || (taken->oom_kills > 0 && !cage_plan_is_machines_oom(taken));
}

void cage_plan_judge(const char *slot, const struct cage_taken *taken, struct cage_verdict *ret)
{
    *ret = (struct cage_verdict){0};
    if (cage_plan_is_over_memory(taken)) {
        ret->code = HOLD_OUT_OF_RESOURCES;
        ret->subcode = HOLD_SUBCODE_MEMORY;
        print_text(ret->reason, sizeof ret->reason,
                   "Error from %.100s: Job has gone over cgroup memory limit of %lld "
                   "megabytes. Last measured usage: %lld megabytes.  Consider resubmitting "
                   "with a higher request_memory.",
                   slot, (long long)taken->memory_limit_mib, (long long)taken->memory_mib);
    } else if (taken->disk_limit_kib > 0 && taken->disk_kib > taken->disk_limit_kib) {
        ret->code = HOLD_OUT_OF_RESOURCES;
        ret->subcode = HOLD_SUBCODE_DISK;
        print_text(ret->reason, sizeof ret->reason,
                   "Error from %.100s: Job has gone over its disk limit of %lld kilobytes. "
                   "Last measured usage: %lld kilobytes.  Consider resubmitting with a higher "
                   "request_disk.",
                   slot, (long long)taken->disk_limit_kib, (long long)taken->disk_kib);
    } else if (taken->files_limit > 0 && taken->files > taken->files_limit) {
        ret->code = HOLD_OUT_OF_RESOURCES;
        ret->subcode = HOLD_SUBCODE_DISK;
        print_text(
            ret->reason, sizeof ret->reason,
            "Error from %.100s: Job has more than %lld files and directories (JOB_MAX_FILES).",
            slot, (long long)taken->files_limit);
    }
}
