/* ckpt/maps_linux.h - the memory mappings of another process, read from /proc/PID/smaps.
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
    uint32_t prot;  /* PROT_READ, PROT_WRITE, PROT_EXEC, as for mmap() */
    uint32_t flags; /* CKPT_SHARED, CKPT_GROWSDOWN, ... of format.h */
    uint64_t device, inode;
    uint64_t present_bytes;   /* bytes of pages that exist in memory or swap space */
    uint64_t anonymous_bytes; /* the part of present_bytes that is not pages of a file */
    bool is_huge;             /* memory of hugetlbfs (huge pages) */
    bool is_odd;              /* memory of a device: the kernel's VM_IO or VM_PFNMAP */
    bool is_shadow_stack;
    bool may_write; /* the mapping is writable, or mprotect() could make it writable */
    char *name;     /* path, "[heap]" ...; "": the mapping has no name */
};

struct maps {
    struct map *items; /* the mappings, sorted by address */
    size_t count, capacity;
};

/* Reads all mappings of the process `pid` into *maps.  Returns 0 or -errno. */
int maps_read(pid_t pid, struct maps *maps, struct err *err);
void maps_fini(struct maps *maps);
/* Returns the first mapping of that name; NULL: none. */
const struct map *maps_named(const struct maps *maps, const char *name);
/* Finds the mapping of that name, and sets *ret_start and *ret_end to its addresses.  Faster than
 * maps_read(), because no sizes are read.  Returns false if the process has no mapping of that
 * name. */
bool maps_find(pid_t pid, const char *name, uint64_t *ret_start, uint64_t *ret_end);
/* Returns whether no mapping lies between these addresses. */
bool maps_is_free(const struct maps *maps, uint64_t start, uint64_t end);

#endif
