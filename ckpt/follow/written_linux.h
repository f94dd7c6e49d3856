/* ckpt/follow/written_linux.h - which pages of a process were written to, or are there:
 * PAGEMAP_SCAN, and the userfaultfd that it needs.  See follow_linux.h.
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

struct page_ranges { /* by address, apart from each other */
    struct page_range *items;
    size_t count, capacity;
};

void page_ranges_add(struct page_ranges *ranges, uint64_t start, uint64_t end);

/* A userfaultfd for the memory of that process, which is held, that protects against writing and
 * lets the kernel resolve the faults.  A descriptor of ours, or a negative errno. */
int written_open(struct tracee *tracee);
/* Does this kernel tell such things to whoever asks? */
bool written_is_known(void);
/* Puts memory under it. */
int written_watch(int fd, uint64_t start, uint64_t end);

/* The pagemap of that process: a descriptor, or a negative errno. */
int written_pagemap(pid_t pid);
/* Pages that were written to since the last call, or since they are there; protects them again.
 * -EPERM: that memory is not watched. */
int written_scan(int pagemap, uint64_t start, uint64_t end, struct page_ranges *ret);
/* The same, and in the same walk those that are there, written to or not. */
int written_look(int pagemap, uint64_t start, uint64_t end, struct page_ranges *changed,
                 struct page_ranges *present);
/* Pages that are there, in memory or swapped out. */
int written_present(int pagemap, uint64_t start, uint64_t end, struct page_ranges *ret);
/* How many bytes a scan of all memory would find, unwatched memory included. */
uint64_t written_estimate(int pagemap);

#endif
