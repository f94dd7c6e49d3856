/* ckpt/follow/follow_linux.c - finds out which memory of a job changes between its images: see
 * follow_linux.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ckpt/follow/follow_linux.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "ckpt/dump/dump.h"
#include "ckpt/dump/dump_memory.h"
#include "ckpt/follow/take_linux.h"
#include "ckpt/follow/written_linux.h"

/* More than this is not taken while the job stands still: our own memory is not without end. */
#define TAKE_MAX (UINT64_C(256) << 20)
/* Less is taken as soon by one thread. */
#define HELP_FROM (UINT64_C(256) << 10)
/* Copying processes costs about a quarter of what copying their pages does. */
#define TAKE_SHARE 4U
/* A delta of more than half of the job pays no more. */
#define DELTA_SHARE 2U
#define NS_PER_S    INT64_C(1000000000)
#define TICK_NS     INT64_C(20000000) /* how far times of files may be behind the clock */

struct file_part { /* a private mapping of a file, of which no page was written to */
    uint64_t start, end, offset, device, inode;
    int64_t changed_ns; /* the file, last */
};

struct followed { /* a process */
    pid_t pid;
    uint64_t started; /* two processes of one number differ in it */
    int fd;           /* userfaultfd; -1: none */
    bool is_in_base;
    bool is_seen; /* by the image that is made now */
    struct file_part *parts, *parts_now;
    size_t parts_count, parts_now_count;
    struct page_ranges owed; /* changed before an image that failed */
};

struct follow {
    struct followed *items;
    size_t count, capacity;
    uint64_t base_id; /* 0: there is none */
    bool has_looked;  /* for the image that is made now */
    char base[256];
    unsigned char *room; /* for what is taken */
    uint64_t room_bytes;
    struct take *take;                     /* who helps to take it; NULL: it is little */
    uint64_t changed_bytes, present_bytes; /* of the image that is made now */
    char trouble[ERR_TEXT_MAX];
};

struct follow *follow_create(void)
{
    return mem_zalloc(sizeof(struct follow));
}

static void forget_process(struct followed *one)
{
    if (one->fd >= 0) {
        (void)close(one->fd);
    }
    mem_free(one->parts);
    mem_free(one->parts_now);
    mem_free(one->owed.items);
}

static void give_room_back(struct follow *follow)
{
    if (follow->room != NULL) {
        (void)munmap(follow->room, (size_t)follow->room_bytes);
    }
    follow->room = NULL;
    follow->room_bytes = 0;
}

void follow_destroy(struct follow *follow)
{
    if (follow != NULL) {
        for (size_t i = 0; i < follow->count; i++) {
            forget_process(&follow->items[i]);
        }
        give_room_back(follow);
        take_destroy(follow->take);
        mem_free(follow->items);
        mem_free(follow);
    }
}

uint64_t follow_base_id(const struct follow *follow)
{
    return follow->base_id;
}

/* ---- which processes */

/* Returns when a process was started: field 22 of /proc/PID/stat. */
static uint64_t start_ticks(pid_t pid)
{
    char path[64], text[2048];
    unsigned long long ticks = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return 0;
    }
    size_t got = fread(text, 1, sizeof text - 1, file);
    text[got] = '\0';
    (void)fclose(file);
    const char *at = strrchr(text, ')');
    for (int field = 2; at != NULL && field < 22; field++) {
        at = strchr(at + 1, ' ');
    }
    return at != NULL && sscanf(at, " %llu", &ticks) == 1 ? ticks : 0;
}

static struct followed *follow_process(struct follow *follow, pid_t pid)
{
    uint64_t since = start_ticks(pid);
    for (size_t i = 0; i < follow->count; i++) {
        if (follow->items[i].pid == pid && follow->items[i].started == since) {
            return &follow->items[i];
        }
    }
    if (follow->count == follow->capacity) {
        follow->capacity = follow->capacity > 0 ? follow->capacity * 2 : 4;
        follow->items = mem_realloc(follow->items, follow->capacity * sizeof *follow->items);
    }
    struct followed *one = &follow->items[follow->count++];
    *one = (struct followed){.pid = pid, .started = since, .fd = -1};
    return one;
}

/* ---- private mappings of files */

static bool is_same_part(const struct file_part *a, const struct file_part *b)
{
    return a->start == b->start && a->end == b->end && a->offset == b->offset &&
           a->device == b->device && a->inode == b->inode && a->changed_ns == b->changed_ns;
}

/* Changes of a file are visible where it is mapped.  Returns when it was last changed; 0: unknown,
 * or so recent that another change might get the same time. */
static int64_t file_changed_ns(const struct subject *subject, const struct map *map)
{
    char path[PATH_MAX], full[PATH_MAX + 64];
    struct stat file;
    struct timespec now = {0};
    if (!dump_mapped_name(subject, map, path, sizeof path)) {
        return 0;
    }
    (void)snprintf(full, sizeof full, "/proc/%d/root%s", (int)subject->tracee.pid, path);
    (void)clock_gettime(CLOCK_REALTIME, &now);
    if (stat(full, &file) != 0) {
        return 0;
    }
    int64_t changed_ns = file.st_ctim.tv_sec * NS_PER_S + file.st_ctim.tv_nsec;
    return changed_ns < now.tv_sec * NS_PER_S + now.tv_nsec - TICK_NS ? changed_ns : 0;
}

/* Notes the mapping for the next image.  True: its contents are as in the base. */
static bool see_part(struct followed *one, const struct subject *subject, const struct map *map)
{
    const struct file_part part = {map->start,  map->end,   map->offset,
                                   map->device, map->inode, file_changed_ns(subject, map)};
    if (map->anonymous_bytes > 0 || part.changed_ns == 0) {
        return false;
    }
    one->parts_now =
        mem_realloc(one->parts_now, (one->parts_now_count + 1) * sizeof *one->parts_now);
    one->parts_now[one->parts_now_count++] = part;
    for (size_t i = 0; one->is_in_base && i < one->parts_count; i++) {
        if (is_same_part(&one->parts[i], &part)) {
            return true;
        }
    }
    return false;
}

/* ---- runs of pages */

static void add_run(struct follow *follow, struct subject *subject, uint64_t start, uint64_t end,
                    bool is_changed)
{
    struct page_runs *runs = &subject->runs;
    if (start >= end) {
        return;
    }
    if (runs->count == runs->capacity) {
        runs->capacity = runs->capacity > 0 ? runs->capacity * 2 : 256;
        runs->items = mem_realloc(runs->items, runs->capacity * sizeof *runs->items);
    }
    runs->items[runs->count++] =
        (struct page_run){.start = start, .end = end, .is_changed = is_changed};
    follow->present_bytes += end - start;
    follow->changed_bytes += is_changed ? end - start : 0;
}

/* Adds the present pages as runs, changed and unchanged ones. */
static void add_runs(struct follow *follow, struct subject *subject,
                     const struct page_ranges *present, const struct page_ranges *changed)
{
    size_t next = 0;
    for (size_t i = 0; i < present->count; i++) {
        uint64_t at = present->items[i].start, end = present->items[i].end;
        while (at < end) {
            while (next < changed->count && changed->items[next].end <= at) {
                next++;
            }
            bool more = next < changed->count && changed->items[next].start < end;
            uint64_t from = more ? changed->items[next].start : end;
            from = from > at ? from : at;
            uint64_t to = more && changed->items[next].end < end ? changed->items[next].end : end;
            add_run(follow, subject, at, from, false);
            add_run(follow, subject, from, more ? to : from, true);
            at = more ? to : end;
        }
    }
}

/* Begins to watch memory that is not watched yet, or not any more.  What cannot be watched counts
 * as changed each time; it is an error only if nothing can be watched. */
static int watch_anew(struct followed *one, struct subject *subject, int pagemap,
                      const struct ckpt_region *region)
{
    struct page_ranges protected = {.items = NULL};
    int rc = one->fd >= 0 ? written_watch(one->fd, region->start, region->end) : -ESRCH;
    if (rc == -ESRCH) { /* it has executed another program, or is new */
        int fd = written_open(&subject->tracee);
        if (fd < 0) {
            return fd;
        }
        if (one->fd >= 0) {
            (void)close(one->fd);
        }
        one->fd = fd;
        rc = written_watch(fd, region->start, region->end);
    }
    rc = rc == 0 ? written_scan(pagemap, region->start, region->end, &protected) : 0;
    mem_free(protected.items);
    return rc == -EPERM ? 0 : rc;
}

/* Merges two lists of ranges. */
static void unite_ranges(const struct page_ranges *a, const struct page_ranges *b,
                         struct page_ranges *ret)
{
    size_t i = 0, j = 0;
    while (i < a->count || j < b->count) {
        bool from_a = j == b->count || (i < a->count && a->items[i].start <= b->items[j].start);
        struct page_range next = from_a ? a->items[i++] : b->items[j++];
        struct page_range *last = ret->count > 0 ? &ret->items[ret->count - 1] : NULL;
        if (last != NULL && last->end >= next.start) {
            last->end = next.end > last->end ? next.end : last->end;
        } else {
            page_ranges_add(ret, next.start, next.end);
        }
    }
}

static int look_at_memory(struct follow *follow, struct followed *one, struct subject *subject,
                          int pagemap, const struct ckpt_region *region)
{
    struct page_ranges changed = {.items = NULL}, present = {.items = NULL}, all = {.items = NULL};
    int rc = one->fd >= 0 ? written_look(pagemap, region->start, region->end, &changed, &present)
                          : -EPERM;
    bool known = rc == 0 && one->is_in_base;
    if (rc == -EPERM) {
        present.count = 0; /* of a part of it, perhaps */
        rc = watch_anew(one, subject, pagemap, region);
        rc = rc != 0 ? rc : written_present(pagemap, region->start, region->end, &present);
    }
    if (rc == 0) {
        unite_ranges(&changed, &one->owed, &all);
        add_runs(follow, subject, &present, known ? &all : &present);
    }
    mem_free(all.items);
    mem_free(changed.items);
    mem_free(present.items);
    return rc;
}

static const struct map *map_of(const struct subject *subject, const struct ckpt_region *region)
{
    for (size_t i = 0; i < subject->maps.count; i++) {
        if (subject->maps.items[i].start == region->start) {
            return &subject->maps.items[i];
        }
    }
    return NULL;
}

static int look_at(struct follow *follow, struct dump *dump, struct subject *subject)
{
    struct followed *one = follow_process(follow, subject->tracee.pid);
    struct ckpt_span regions = subject->process.regions;
    int pagemap = written_pagemap(subject->tracee.pid);
    int rc = pagemap < 0 ? pagemap : 0;
    one->is_seen = true;
    one->parts_now_count = 0;
    for (uint32_t i = 0; rc == 0 && i < regions.count; i++) {
        const struct ckpt_region *region =
            tables_at(&dump->tables, CKPT_REGIONS, regions.first + i);
        if (region->kind == CKPT_VDSO) {
            add_run(follow, subject, region->start, region->end, true);
        } else if (region->kind == CKPT_MEMORY && (region->flags & CKPT_WAS_FILE) != 0) {
            const struct map *map = map_of(subject, region);
            add_run(follow, subject, region->start, region->end,
                    map == NULL || !see_part(one, subject, map));
        } else if (region->kind == CKPT_MEMORY) {
            rc = look_at_memory(follow, one, subject, pagemap, region);
        }
    }
    if (pagemap >= 0) {
        (void)close(pagemap);
    }
    return rc;
}

/* ---- a dump */

void follow_expect(struct follow *follow)
{
    uint64_t bytes = 0;
    for (size_t i = 0; follow->base_id != 0 && i < follow->count; i++) {
        int pagemap = written_pagemap(follow->items[i].pid);
        if (pagemap >= 0) {
            bytes += written_estimate(pagemap);
            (void)close(pagemap);
        }
    }
    bytes += bytes / 8; /* it runs on meanwhile */
    if (bytes > 0 && bytes <= TAKE_MAX) {
        void *room = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
        follow->room = room != MAP_FAILED ? room : NULL;
        follow->room_bytes = follow->room != NULL ? bytes : 0;
        follow->take = bytes > HELP_FROM ? take_create() : NULL;
    }
}

void follow_look(struct follow *follow, struct dump *dump)
{
    int rc = 0;
    follow->has_looked = true;
    follow->changed_bytes = follow->present_bytes = 0;
    follow->trouble[0] = '\0';
    for (size_t i = 0; i < follow->count; i++) {
        follow->items[i].is_seen = false;
    }
    for (size_t i = 0; rc == 0 && i < dump->count; i++) {
        struct subject *subject = dump->subjects[i];
        if ((subject->process.flags & CKPT_ZOMBIE) == 0) {
            rc = look_at(follow, dump, subject);
        }
        if (rc != 0) {
            (void)snprintf(follow->trouble, sizeof follow->trouble,
                           "process %d: cannot track changes of its memory: %s",
                           (int)subject->tracee.pid, err_code_text(rc));
        }
    }
    dump->is_delta = rc == 0 && follow->base_id != 0 && !dump->is_whole &&
                     follow->changed_bytes <= follow->present_bytes / DELTA_SHARE;
}

bool follow_take(struct follow *follow, struct dump *dump)
{
    uint64_t bytes = follow->changed_bytes, at = 0;
    if (bytes > TAKE_MAX || bytes > follow->present_bytes / TAKE_SHARE) {
        return false;
    }
    if (bytes > follow->room_bytes) {
        give_room_back(follow);
        void *room =
            mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (room == MAP_FAILED) {
            return false;
        }
        follow->room = room;
        follow->room_bytes = bytes;
    }
    for (size_t i = 0; i < dump->count; i++) {
        struct subject *subject = dump->subjects[i];
        uint64_t taken = 0;
        subject->taken = follow->room + at;
        if (!take_runs(follow->take, subject, follow->room + at, &taken)) {
            for (size_t j = 0; j <= i; j++) {
                dump->subjects[j]->taken = NULL; /* who copies them says why */
            }
            return false;
        }
        at += taken;
    }
    return true;
}

void follow_base(const struct follow *follow, struct dump *dump)
{
    dump->head.base_id = follow->base_id;
    dump->head.base = tables_text(&dump->tables, follow->base);
}

/* Forgets processes that are gone. */
static void forget_gone(struct follow *follow)
{
    size_t kept = 0;
    for (size_t i = 0; i < follow->count; i++) {
        struct followed *one = &follow->items[i];
        if (!one->is_seen) {
            forget_process(one);
            continue;
        }
        struct file_part *parts = one->parts;
        one->is_in_base = true;
        one->owed.count = 0;
        one->parts = one->parts_now;
        one->parts_count = one->parts_now_count;
        one->parts_now = parts;
        follow->items[kept++] = *one;
    }
    follow->count = kept;
}

/* There is no image, and the next delta is against the same base.  But the pages that were found
 * changed are protected again as if they had not changed: remembers them. */
static void keep_owed(struct follow *follow, const struct dump *dump)
{
    for (size_t i = 0; i < dump->count; i++) {
        const struct subject *subject = dump->subjects[i];
        if (subject->runs.count == 0) {
            continue;
        }
        struct followed *one = follow_process(follow, subject->tracee.pid);
        one->owed.count = 0;
        for (size_t j = 0; j < subject->runs.count; j++) {
            const struct page_run *run = &subject->runs.items[j];
            if (run->is_changed) {
                page_ranges_add(&one->owed, run->start, run->end);
            }
        }
    }
}

void follow_done(struct follow *follow, const struct dump *dump, const char *image, bool ok)
{
    give_room_back(follow);
    take_destroy(follow->take);
    follow->take = NULL;
    if (!follow->has_looked) {
        return;
    }
    follow->has_looked = false;
    if (follow->trouble[0] != '\0') {
        follow->base_id = 0;
    } else if (!ok) {
        keep_owed(follow, dump);
    } else {
        const char *slash = strrchr(image, '/');
        (void)snprintf(follow->base, sizeof follow->base, "%.255s",
                       slash != NULL ? slash + 1 : image);
        follow->base_id = dump->head.id;
        forget_gone(follow);
    }
}
