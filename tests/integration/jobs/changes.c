/* tests/integration/jobs/changes.c - changes its memory in each way there is, in two processes, and
 * prints at times what it is: for images that hold only what has changed.
 *
 *     changes [STEPS]
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE   4096UL
#define AREAS  6
#define MOVING 3 /* the first of them */
#define PAGES  96UL
#define BYTES  (PAGES * PAGE)
#define BLOCKS 64

struct state {
    uint64_t random;
    unsigned char *areas[AREAS];
    unsigned char *file; /* private, of this program */
    size_t file_bytes;
    unsigned char *blocks[BLOCKS];
    size_t sizes[BLOCKS];
};

static void must(int right, const char *what)
{
    if (!right) {
        perror(what);
        exit(3);
    }
}

static uint64_t next(struct state *state)
{
    state->random ^= state->random << 13;
    state->random ^= state->random >> 7;
    state->random ^= state->random << 17;
    return state->random;
}

static unsigned char *map_at(void *at)
{
    unsigned char *area = mmap(at, BYTES, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | (at != NULL ? MAP_FIXED : 0), -1, 0);
    must(area != MAP_FAILED, "mmap");
    return area;
}

static void map_file(struct state *state)
{
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    must(fd >= 0, "open");
    state->file_bytes = 3 * PAGE;
    state->file = mmap(NULL, state->file_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    must(state->file != MAP_FAILED, "mmap of a file");
    close(fd);
}

static void begin(struct state *state, uint64_t seed)
{
    memset(state, 0, sizeof *state);
    state->random = seed;
    for (int i = 0; i < AREAS; i++) {
        state->areas[i] = map_at(NULL);
        for (size_t j = 0; j < BYTES; j += 8) {
            uint64_t word = next(state);
            memcpy(state->areas[i] + j, &word, sizeof word);
        }
    }
    map_file(state);
}

/* Two areas change places: the same addresses, other contents. */
static void swap(unsigned char *a, unsigned char *b)
{
    unsigned char *aside = map_at(NULL);
    must(mremap(a, BYTES, BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, aside) == aside &&
             mremap(b, BYTES, BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, a) == a &&
             mremap(aside, BYTES, BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, b) == b,
         "mremap");
}

static void change_block(struct state *state)
{
    size_t which = next(state) % BLOCKS, size = next(state) % 300000;
    unsigned char *block = realloc(state->blocks[which], size + 1);
    must(block != NULL, "realloc");
    for (size_t i = state->sizes[which]; i < size; i++) {
        block[i] = (unsigned char)(i * which);
    }
    if (size > 0) {
        block[next(state) % size] ^= 0x55;
    }
    state->blocks[which] = block;
    state->sizes[which] = size;
}

static void step(struct state *state)
{
    size_t which = next(state) % AREAS;
    unsigned char *area = state->areas[which];
    size_t page = next(state) % PAGES, pages = 1 + next(state) % (PAGES - page);
    unsigned char *at = area + page * PAGE;
    switch (next(state) % 9) {
    case 0:
        must(madvise(at, pages * PAGE, MADV_DONTNEED) == 0, "madvise");
        break;
    case 1:
        memset(at, 0, PAGE);
        break;
    case 2: /* no pages, and then others; of such as move, all: a mapping moves only as a whole */
        at = which < MOVING ? area : at;
        pages = which < MOVING ? PAGES : pages;
        must(munmap(at, pages * PAGE) == 0, "munmap");
        must(mmap(at, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
                  -1, 0) == at,
             "mmap");
        at[0] = (unsigned char)page;
        break;
    case 3:
        must(mprotect(at, PAGE, PROT_NONE) == 0 && mprotect(at, PAGE, PROT_READ | PROT_WRITE) == 0,
             "mprotect");
        at[1]++;
        break;
    case 4:
        swap(state->areas[0], state->areas[1 + next(state) % (MOVING - 1)]);
        break;
    case 5:
        change_block(state);
        break;
    case 6:
        state->file[next(state) % state->file_bytes]++;
        break;
    default:
        for (int i = 0; i < 20; i++) {
            area[next(state) % BYTES]++;
        }
    }
}

static uint64_t sum_of(uint64_t sum, const unsigned char *at, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        sum = sum * 1099511628211U + at[i];
    }
    return sum;
}

static uint64_t sum(const struct state *state)
{
    uint64_t all = sum_of(state->random, state->file, state->file_bytes);
    for (int i = 0; i < AREAS; i++) {
        all = sum_of(all, state->areas[i], BYTES);
    }
    for (int i = 0; i < BLOCKS; i++) {
        all = sum_of(all, state->blocks[i], state->sizes[i]);
    }
    return all;
}

struct child {
    pid_t pid;
    int to, from;
};

/* Makes a step when it is asked to, and tells its sum at times. */
static void be_child(struct state *state, int in, int out)
{
    char what;
    while (read(in, &what, 1) == 1) {
        uint64_t answer = 0;
        step(state);
        if (what == 's') {
            answer = sum(state);
        }
        must(write(out, &answer, sizeof answer) == (ssize_t)sizeof answer, "write");
    }
    _exit(0);
}

static struct child start_child(struct state *state)
{
    int to[2], from[2];
    must(pipe(to) == 0 && pipe(from) == 0, "pipe");
    struct child child = {.pid = fork(), .to = to[1], .from = from[0]};
    must(child.pid >= 0, "fork");
    if (child.pid == 0) {
        close(to[1]);
        close(from[0]);
        state->random ^= 0x9e3779b97f4a7c15U;
        be_child(state, to[0], from[1]);
    }
    close(to[0]);
    close(from[1]);
    return child;
}

static void end_child(struct child *child)
{
    int status = 1;
    close(child->to);
    must(waitpid(child->pid, &status, 0) == child->pid && status == 0, "child");
    close(child->from);
}

int main(int argc, char **argv)
{
    static struct state state;
    long steps = argc > 1 ? strtol(argv[1], NULL, 10) : 600;
    begin(&state, 88172645463325252U);
    struct child child = start_child(&state);
    for (long i = 1; i <= steps; i++) {
        uint64_t answer;
        char what = i % 40 == 0 ? 's' : '-';
        step(&state);
        must(write(child.to, &what, 1) == 1 &&
                 read(child.from, &answer, sizeof answer) == (ssize_t)sizeof answer,
             "a step of the child");
        if (what == 's') {
            printf("%ld %llx %llx\n", i, (unsigned long long)sum(&state),
                   (unsigned long long)answer);
        }
        if (i % 150 == 0) { /* another one, with this one's memory */
            end_child(&child);
            child = start_child(&state);
        }
        usleep(1000);
    }
    end_child(&child);
    return 0;
}
