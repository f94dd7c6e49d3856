/* A heap of many kinds of mappings, written to and looked at over and over.  mappings DIRECTORY
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE   4096U
#define PAGES  16U
#define BYTES  (PAGE * PAGES)
#define ROUNDS 120

enum kind { PRIVATE, NONE, FILED, REMOVED, SHARED, NAMED, LOW, ONE, SPARSE, KINDS };

static void must(int right, const char *what)
{
    if (!right) {
        (void)printf("wrong: %s: %s\n", what, strerror(errno));
        exit(1);
    }
}

static unsigned char *map(int flags, int fd)
{
    void *at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, flags, fd, 0);
    must(at != MAP_FAILED, "mmap");
    return at;
}

static int make_file(const char *folder, const char *name, int removed)
{
    char path[4096], page[PAGE];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    must(fd >= 0, path);
    for (unsigned i = 0; i < PAGES; i++) {
        memset(page, (int)(i + 1), sizeof page);
        must(write(fd, page, sizeof page) == (ssize_t)sizeof page, "write");
    }
    if (removed) {
        must(unlink(path) == 0, "unlink");
    }
    return fd;
}

static uint64_t hash(uint64_t sum, const unsigned char *at, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        sum = (sum ^ at[i]) * UINT64_C(1099511628211);
    }
    return sum;
}

int main(int argc, char **argv)
{
    unsigned char *at[KINDS];
    uint64_t sum = 1;
    must(argc == 2, "mappings DIRECTORY");
    at[PRIVATE] = map(MAP_PRIVATE | MAP_ANONYMOUS, -1);
    at[NONE] = map(MAP_PRIVATE | MAP_ANONYMOUS, -1);
    at[FILED] = map(MAP_PRIVATE, make_file(argv[1], "filed", 0));
    at[REMOVED] = map(MAP_PRIVATE, make_file(argv[1], "removed", 1));
    at[SHARED] = map(MAP_SHARED | MAP_ANONYMOUS, -1);
    at[NAMED] = map(MAP_SHARED, make_file(argv[1], "named", 0));
    at[LOW] = map(MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN, -1);
    at[ONE] = map(MAP_PRIVATE | MAP_ANONYMOUS, -1);
    at[SPARSE] = mmap(NULL, (size_t)1 << 40, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    must(at[SPARSE] != MAP_FAILED, "sparse");
    must(madvise(at[ONE], BYTES, MADV_DONTFORK) == 0, "madvise");
    for (int round = 0; round < ROUNDS; round++) {
        must(mprotect(at[NONE], BYTES, PROT_READ | PROT_WRITE) == 0, "mprotect");
        for (unsigned kind = 0; kind < KINDS; kind++) {
            for (unsigned page = (unsigned)round % 3; page < PAGES; page += 3) {
                memset(at[kind] + (size_t)page * PAGE, (int)(round + (int)kind), 100);
            }
            sum = hash(sum, at[kind], BYTES);
        }
        sum = hash(sum, at[SPARSE] + ((size_t)1 << 35), PAGE);
        at[SPARSE][((size_t)1 << 35) + (size_t)round] = (unsigned char)round;
        must(mprotect(at[NONE], BYTES, PROT_NONE) == 0, "mprotect");
        unsigned char *block = sbrk(PAGE);
        must(block != (void *)-1, "sbrk");
        memset(block, round, PAGE);
        sum = hash(sum, block - (round > 0 ? PAGE : 0), PAGE);
        (void)usleep(3000);
    }
    (void)printf("%016llx\n", (unsigned long long)sum);
    return 7;
}
