/* ckpt/follow/written_linux.c - which pages of a process were written to: see written_linux.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ckpt/follow/written_linux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/pidfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "ckpt/tracee/tracee_linux.h"

#define SPACE_END UINT64_C(0x7ffffffff000)
#define VECTORS   1024U

/* linux/include/uapi/linux/userfaultfd.h and fs.h of Linux 6.7: the headers of Debian 12 are older.
 */
#ifndef UFFD_FEATURE_WP_UNPOPULATED
#define UFFD_FEATURE_WP_UNPOPULATED (1 << 13)
#endif
#ifndef UFFD_FEATURE_WP_ASYNC
#define UFFD_FEATURE_WP_ASYNC (1 << 15)
#endif

#define SCAN_WRITTEN       0x02U /* categories of pages */
#define SCAN_PRESENT       0x08U
#define SCAN_SWAPPED       0x10U
#define SCAN_PROTECT       0x1U /* what matches, after it was told of */
#define SCAN_CHECK_WATCHED 0x2U /* else EPERM */

struct scan_range {
    uint64_t start, end, categories;
};

struct scan {
    uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
    uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
};

#define SCAN_IOCTL _IOWR('f', 16, struct scan)

void page_ranges_add(struct page_ranges *ranges, uint64_t start, uint64_t end)
{
    if (ranges->count > 0 && ranges->items[ranges->count - 1].end == start) {
        ranges->items[ranges->count - 1].end = end;
        return;
    }
    if (ranges->count == ranges->capacity) {
        ranges->capacity = ranges->capacity > 0 ? ranges->capacity * 2 : 256;
        ranges->items = mem_realloc(ranges->items, ranges->capacity * sizeof *ranges->items);
    }
    ranges->items[ranges->count++] = (struct page_range){start, end};
}

/* ---- the userfaultfd */

static int fetch_descriptor(pid_t pid, int number)
{
    int pidfd = pidfd_open(pid, 0);
    int fd = pidfd >= 0 ? pidfd_getfd(pidfd, number, 0) : -1;
    int rc = fd >= 0 ? fd : -errno;
    if (pidfd >= 0) {
        (void)close(pidfd);
    }
    return rc;
}

#define FLAGS ((uint64_t)(O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY))
#define FEATURES \
    (UFFD_FEATURE_PAGEFAULT_FLAG_WP | UFFD_FEATURE_WP_UNPOPULATED | UFFD_FEATURE_WP_ASYNC)

/* PAGEMAP_SCAN came with the last of the features that are needed. */
bool written_is_known(void)
{
    struct uffdio_api api = {.api = UFFD_API, .features = FEATURES};
    int fd = (int)syscall(SYS_userfaultfd, FLAGS);
    bool known = fd >= 0 && ioctl(fd, UFFDIO_API, &api) == 0;
    if (fd >= 0) {
        (void)close(fd);
    }
    return known;
}

int written_open(struct tracee *tracee)
{
    struct uffdio_api api = {.api = UFFD_API, .features = FEATURES};
    long number = TRACEE_CALL(tracee, 0, SYS_userfaultfd, FLAGS);
    if (number < 0) {
        return (int)number;
    }
    int fd = fetch_descriptor(tracee->pid, (int)number);
    (void)TRACEE_CALL(tracee, 0, SYS_close, (uint64_t)number);
    if (fd >= 0 && ioctl(fd, UFFDIO_API, &api) != 0) {
        int rc = -errno;
        (void)close(fd);
        return rc;
    }
    return fd;
}

int written_watch(int fd, uint64_t start, uint64_t end)
{
    struct uffdio_register watch = {.range = {.start = start, .len = end - start},
                                    .mode = UFFDIO_REGISTER_MODE_WP};
    return ioctl(fd, UFFDIO_REGISTER, &watch) != 0 ? -errno : 0;
}

/* ---- scanning */

int written_pagemap(pid_t pid)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/pagemap", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

/* What a scan finds, by what it is of each. */
struct finds {
    struct page_ranges *changed, *present; /* NULL: they are not asked for */
    uint64_t bytes;
};

static void add_find(struct finds *finds, const struct scan_range *found)
{
    finds->bytes += found->end - found->start;
    if (finds->changed != NULL && (found->categories & SCAN_WRITTEN) != 0) {
        page_ranges_add(finds->changed, found->start, found->end);
    }
    if (finds->present != NULL && (found->categories & (SCAN_PRESENT | SCAN_SWAPPED)) != 0) {
        page_ranges_add(finds->present, found->start, found->end);
    }
}

static int scan_all(int pagemap, struct scan *scan, struct finds *finds)
{
    struct scan_range found[VECTORS];
    uint64_t end = scan->end;
    scan->size = sizeof *scan;
    scan->vec = (uint64_t)(uintptr_t)found;
    scan->vec_len = VECTORS;
    while (scan->start < end) {
        scan->walk_end = scan->start;
        int count = ioctl(pagemap, SCAN_IOCTL, scan);
        if (count < 0) {
            return -errno;
        }
        for (int i = 0; i < count; i++) {
            add_find(finds, &found[i]);
        }
        if (scan->walk_end <= scan->start) {
            return -EIO; /* it would never end */
        }
        scan->start = scan->walk_end;
    }
    return 0;
}

int written_scan(int pagemap, uint64_t start, uint64_t end, struct page_ranges *ret)
{
    struct finds finds = {.changed = ret};
    struct scan scan = {.flags = SCAN_PROTECT | SCAN_CHECK_WATCHED,
                        .start = start,
                        .end = end,
                        .category_mask = SCAN_WRITTEN,
                        .return_mask = SCAN_WRITTEN};
    return scan_all(pagemap, &scan, &finds);
}

int written_look(int pagemap, uint64_t start, uint64_t end, struct page_ranges *changed,
                 struct page_ranges *present)
{
    struct finds finds = {.changed = changed, .present = present};
    struct scan scan = {.flags = SCAN_PROTECT | SCAN_CHECK_WATCHED, /* protects what was written */
                        .start = start,
                        .end = end,
                        .category_anyof_mask = SCAN_WRITTEN | SCAN_PRESENT | SCAN_SWAPPED,
                        .return_mask = SCAN_WRITTEN | SCAN_PRESENT | SCAN_SWAPPED};
    return scan_all(pagemap, &scan, &finds);
}

int written_present(int pagemap, uint64_t start, uint64_t end, struct page_ranges *ret)
{
    struct finds finds = {.present = ret};
    struct scan scan = {.start = start,
                        .end = end,
                        .category_anyof_mask = SCAN_PRESENT | SCAN_SWAPPED,
                        .return_mask = SCAN_PRESENT | SCAN_SWAPPED};
    return scan_all(pagemap, &scan, &finds);
}

uint64_t written_estimate(int pagemap)
{
    struct finds finds = {.changed = NULL};
    struct scan scan = {.start = 0,
                        .end = SPACE_END,
                        .category_mask = SCAN_WRITTEN,
                        .return_mask = SCAN_WRITTEN};
    (void)scan_all(pagemap, &scan, &finds); /* what it found is better than nothing */
    return finds.bytes;
}
