/* ckpt/maps_linux.h - the memory of another process, as /proc/PID/smaps tells of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_MAPS_LINUX_H
#define CKPT_MAPS_LINUX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct err;

struct map {
    uint64_t start, end, offset;
    uint32_t prot;  /* as mmap's */
    uint32_t flags; /* CKPT_SHARED, CKPT_GROWSDOWN, ... of format.h */
    uint64_t device, inode;
    uint64_t present_bytes;   /* that it has of its pages, in memory or swapped out */
    uint64_t anonymous_bytes; /* of these, such as are not a file's */
    bool is_huge;             /* of hugetlbfs */
    bool is_odd;              /* of a device or so: the kernel's VM_IO or VM_PFNMAP */
    bool is_shadow_stack;
    bool may_write; /* is, or could be made writable */
    char *name;     /* path, "[heap]", ...; "" for none */
};

struct maps {
    struct map *items; /* by address */
    size_t count, capacity;
};

int maps_read(pid_t pid, struct maps *maps, struct err *err);
void maps_fini(struct maps *maps);
const struct map *maps_named(const struct maps *maps, const char *name);
/* The mapping of that name, without reading the figures of all others; false: the process has none.
 */
bool maps_find(pid_t pid, const char *name, uint64_t *ret_start, uint64_t *ret_end);
/* Nothing lies between these addresses. */
bool maps_is_free(const struct maps *maps, uint64_t start, uint64_t end);

#endif
