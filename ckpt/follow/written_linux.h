/* ckpt/follow/written_linux.h - finds out which pages of a process are present or were written to:
 * PAGEMAP_SCAN, and the userfaultfd that it needs. follow_linux.h explains both.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_FOLLOW_WRITTEN_LINUX_H
#define CKPT_FOLLOW_WRITTEN_LINUX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct tracee;

struct page_range {
    uint64_t start, end;
};

struct page_ranges { /* ranges of pages, sorted by address; no two overlap or touch */
    struct page_range *items;
    size_t count, capacity;
};

/* Appends a range, which must lie above all ranges of the list. */
void page_ranges_add(struct page_ranges *ranges, uint64_t start, uint64_t end);

/* Makes a userfaultfd for the memory of a stopped process, with which that memory can be
 * write-protected so that the kernel itself resolves the faults.  Returns a descriptor of the
 * calling process, or a negative errno. */
int written_open(struct tracee *tracee);
/* Returns whether this kernel has the feature of userfaultfd that written_open() needs
 * (UFFD_FEATURE_WP_ASYNC). */
bool written_is_known(void);
/* Write-protects a range of memory, and so begins to watch it for writes. fd: the userfaultfd.
 * Returns 0 or a negative errno. */
int written_watch(int fd, uint64_t start, uint64_t end);

/* Opens /proc/PID/pagemap of a process.  Returns a descriptor, or a negative errno. */
int written_pagemap(pid_t pid);
/* Finds the pages between the addresses start and end that were written to since the last call, or
 * since they came into being, and write-protects them again. pagemap: the result of
 * written_pagemap().  Returns 0; -EPERM: some of that memory is not watched (written_watch()); or
 * another negative errno. */
int written_scan(int pagemap, uint64_t start, uint64_t end, struct page_ranges *ret);
/* Finds, in one pass, the pages between start and end that were written to, which it write-protects
 * again as written_scan() does, and all pages that are present, in memory or swapped out.  Returns
 * as written_scan(). */
int written_look(int pagemap, uint64_t start, uint64_t end, struct page_ranges *changed,
                 struct page_ranges *present);
/* Finds the pages between the addresses start and end that are present, in memory or swapped out.
 * pagemap: the result of written_pagemap().  Returns 0 or a negative errno. */
int written_present(int pagemap, uint64_t start, uint64_t end, struct page_ranges *ret);
/* Returns how many bytes of pages written_scan() would report for all memory of the process whose
 * pagemap this is; memory that is not watched counts, too. */
uint64_t written_estimate(int pagemap);

#endif
