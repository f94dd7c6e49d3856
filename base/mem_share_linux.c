/* base/mem_share_linux.c - a heap whose pages copies of a process can share again: see mem.h.
 *
 * Design note: after fork() two processes share each page until one of them writes to it, and never
 * again afterwards, even if the page has become the same.  A page of a private mapping of a file
 * can be dropped instead, and then is the file's again.  The file is kept mapped a second time,
 * read-only, to compare with.  Both mappings are found by the file's name, so that no state is
 * kept.  The file is sealed: no copy can write to the memory of the others.
 *
 * The kernel's own merging of equal pages (KSM) does the same, but it is switched off on most
 * machines, and compares all the time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/mem.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FILE_NAME "roost-heap"
#define FILE_MAPS "/memfd:" FILE_NAME
#define LINE_SIZE 512

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

/* A mapping, as a line of /proc/self/maps shows it. */
struct mapping {
    char *begin, *end;
    uint64_t offset;
    char access[5], name[32]; /* "rw-p"; the name may be cut off */
};

static bool parse_mapping(const char *line, struct mapping *ret)
{
    unsigned long long begin, end, offset;
    ret->name[0] = '\0';
    if (sscanf(line, "%llx-%llx %4s %llx %*s %*s %31s", &begin, &end, ret->access, &offset,
               ret->name) < 4) {
        return false;
    }
    ret->begin = (char *)(uintptr_t)begin; /* NOLINT(performance-no-int-to-ptr) */
    ret->end = (char *)(uintptr_t)end;     /* NOLINT(performance-no-int-to-ptr) */
    ret->offset = offset;
    return true;
}

/* Finds the first mapping with this name and access, from `from` on. */
static bool find_mapping(const char *name, const char *access, const char *from,
                         struct mapping *ret)
{
    char line[LINE_SIZE];
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps != NULL && !found && fgets(line, sizeof(line), maps) != NULL) {
        found = parse_mapping(line, ret) && ret->begin >= from && strcmp(ret->name, name) == 0 &&
                strcmp(ret->access, access) == 0;
    }
    if (maps != NULL) {
        (void)fclose(maps);
    }
    return found;
}

static int create_file(void)
{
    int fd = memfd_create(FILE_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
    return fd >= 0 ? fd : memfd_create(FILE_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

static bool write_all(int fd, const char *data, size_t length)
{
    while (length > 0) {
        ssize_t done = write(fd, data, length);
        if (done <= 0) {
            return false;
        }
        data += done;
        length -= (size_t)done;
    }
    return true;
}

void mem_share(void)
{
    struct mapping heap;
    mem_trim(); /* what is allocated later gets pages of its own */
    if (!find_mapping("[heap]", "rw-p", NULL, &heap)) {
        return;
    }
    int fd = create_file();
    if (fd < 0) {
        return;
    }
    size_t length = (size_t)(heap.end - heap.begin);
    void *seen = MAP_FAILED;
    /* Nothing may use the heap from here on, until it is the file's. */
    if (write_all(fd, heap.begin, length) &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) == 0) {
        seen = mmap(NULL, length, PROT_READ, MAP_SHARED, fd, 0);
    }
    if (seen != MAP_FAILED && mmap(heap.begin, length, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED) {
        (void)munmap(seen, length);
    }
    close(fd);
}

/* Drops the pages of ours[0..length) that equal the file's. */
static void drop_equal(char *ours, const char *file, size_t length)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t equal = 0; /* bytes before `at` that are equal */
    for (size_t at = 0; at <= length; at += page) {
        if (at < length && memcmp(ours + at, file + at, page) == 0) {
            equal += page;
        } else if (equal > 0) {
            (void)madvise(ours + at - equal, equal, MADV_DONTNEED);
            equal = 0;
        }
    }
}

void mem_rejoin(void)
{
    struct mapping file, heap = {.end = NULL};
    if (!find_mapping(FILE_MAPS, "r--s", NULL, &file)) {
        return;
    }
    while (find_mapping(FILE_MAPS, "rw-p", heap.end, &heap)) {
        drop_equal(heap.begin, file.begin + heap.offset, (size_t)(heap.end - heap.begin));
    }
    (void)madvise(file.begin, (size_t)(file.end - file.begin), MADV_DONTNEED);
}
