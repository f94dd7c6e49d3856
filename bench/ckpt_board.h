/* bench/ckpt_board.h - a memory page shared by bench/ckpt.c and its job
 * (bench/programs/ckpt_job.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BENCH_CKPT_BOARD_H
#define BENCH_CKPT_BOARD_H

#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define BOARD_PAGE 4096U

enum board_order { BOARD_NOTHING, BOARD_FORGET_GAPS, BOARD_DIRTY_PAGES };

/* The contents of the page.  The numbers are read and written only by board_get() and board_set().
 */
struct board {
    uint64_t looks;   /* how often the job has read its clock since its start */
    uint64_t last_ns; /* what the clock showed when the job read it last */
    /* longest time between two readings of the clock by the job since it carried out the last order
     * of the benchmark, ns */
    uint64_t gap_ns;
    uint64_t work; /* latest random number that the job computed, so that it has work to do */
    uint32_t order, obeyed;
};

#define board_get(place)        __atomic_load_n((place), __ATOMIC_SEQ_CST)
#define board_set(place, value) __atomic_store_n((place), (value), __ATOMIC_SEQ_CST)

static inline uint64_t board_now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail with these arguments */
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Maps the shared page, which is the file `path`; flags: O_CREAT to make the file, or 0.  NULL on
 * failure. */
static inline struct board *board_map(const char *path, int flags)
{
    int fd = open(path, O_RDWR | O_CLOEXEC | flags, 0644);
    void *page = MAP_FAILED;
    if (fd >= 0 && ftruncate(fd, BOARD_PAGE) == 0) {
        page = mmap(NULL, BOARD_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return page != MAP_FAILED ? page : NULL;
}

static inline uint64_t board_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Allocates `bytes` bytes of zeroed memory, whose pages exist only when they are written; NULL on
 * failure. */
static inline uint64_t *board_heap(uint64_t bytes)
{
    void *heap = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return heap != MAP_FAILED ? heap : NULL;
}

/* Fills the memory `heap` with random numbers, so that no two of its pages are equal. */
static inline void board_fill(uint64_t *heap, uint64_t bytes)
{
    uint64_t state = UINT64_C(0x9e3779b97f4a7c15);
    for (uint64_t i = 0; i < bytes / sizeof *heap; i++) {
        heap[i] = board_random(&state);
    }
}

#endif
