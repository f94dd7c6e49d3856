/* What a program keeps over a move to another machine: memory, mutexes, threads that wait, vector
 * registers, files, clocks.  move DIRECTORY avx|sse
 *
 * It says "ready", and goes on until there is DIRECTORY/go; then "right" and 7, else what is wrong
 * and 1.  It removes DIRECTORY/alive whenever there is one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <immintrin.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define HEAP_WORDS (1 << 18)
#define THREADS    4
#define FAR_S      1000 /* later than this ends */
#define JUMP_S     100  /* a clock that goes on does not do that between two looks */

static struct {
    pthread_mutex_t again, checked;
    pthread_cond_t over;
    _Atomic int go, ready, left;
    pthread_t spinner;
} shared;

static void wrong(const char *what, long number)
{
    (void)printf("wrong: %s (%ld)\n", what, number);
    (void)fflush(stdout);
    _exit(1);
}

static void must(int error, const char *what)
{
    if (error != 0) {
        wrong(what, error);
    }
}

/* ---- registers: a thread that is in a loop, with numbers in all of them */

__attribute__((target("avx"))) static void spin_avx(void)
{
    static const double FROM[4] = {1.5, 2.5, 3.5, 4.5};
    double to[4];
    __asm__ volatile("vmovupd %1, %%ymm7\n\t"
                     "vaddpd %%ymm7, %%ymm7, %%ymm15\n"
                     "1: pause\n\t"
                     "cmpl $0, %2\n\t"
                     "je 1b\n\t"
                     "vaddpd %%ymm7, %%ymm15, %%ymm0\n\t"
                     "vmovupd %%ymm0, %0\n\t"
                     "vzeroupper"
                     : "=m"(to)
                     : "m"(FROM), "m"(shared.go)
                     : "memory", "xmm0", "xmm7", "xmm15");
    for (int i = 0; i < 4; i++) {
        if (to[i] != 3 * FROM[i]) {
            wrong("an AVX register", i);
        }
    }
}

static void spin_sse(void)
{
    static const double FROM[2] = {1.5, 2.5};
    double to[2];
    __asm__ volatile("movupd %1, %%xmm7\n\t"
                     "movapd %%xmm7, %%xmm15\n"
                     "1: pause\n\t"
                     "cmpl $0, %2\n\t"
                     "je 1b\n\t"
                     "addpd %%xmm7, %%xmm15\n\t"
                     "movupd %%xmm15, %0"
                     : "=m"(to)
                     : "m"(FROM), "m"(shared.go)
                     : "memory", "xmm7", "xmm15");
    for (int i = 0; i < 2; i++) {
        if (to[i] != 2 * FROM[i]) {
            wrong("an SSE register", i);
        }
    }
}

static void *spin(void *arg)
{
    shared.ready++;
    if (strcmp(arg, "avx") == 0) {
        spin_avx();
    } else {
        spin_sse();
    }
    return NULL;
}

/* ---- threads that wait for a moment far away, and hold a mutex that only they can give back */

static void *wait_for_the_end(void *arg)
{
    struct timespec until;
    pthread_mutex_t own;
    pthread_mutexattr_t kind;
    must(pthread_mutexattr_init(&kind), "attributes");
    must(pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK), "error-checking");
    must(pthread_mutex_init(&own, &kind), "mutex");
    must(pthread_mutex_lock(&own), "lock of its own");
    must(clock_gettime(CLOCK_MONOTONIC, &until), "clock");
    until.tv_sec += FAR_S;
    must(pthread_mutex_lock(&shared.checked), "lock");
    shared.ready++;
    while (!shared.go) {
        must(pthread_cond_timedwait(&shared.over, &shared.checked, &until), "it waited, and");
    }
    must(pthread_mutex_unlock(&shared.checked), "unlock");
    must(pthread_mutex_unlock(&own), "unlock of its own");
    if (pthread_mutex_unlock(&own) != EPERM) {
        wrong("a mutex that it gave back", 0);
    }
    shared.left++;
    return arg;
}

/* ---- the first thread */

static uint64_t hash(const uint64_t *words, size_t count)
{
    uint64_t sum = 14695981039346656037U;
    for (size_t i = 0; i < count; i++) {
        sum = (sum ^ words[i]) * 1099511628211U;
    }
    return sum;
}

static double clock_s(clockid_t id)
{
    struct timespec now;
    must(clock_gettime(id, &now), "clock");
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void look_at_clocks(double last[2])
{
    static const clockid_t IDS[2] = {CLOCK_MONOTONIC, CLOCK_BOOTTIME};
    struct timeval now;
    must(gettimeofday(&now, NULL), "time of day");
    if (fabs((double)now.tv_sec - clock_s(CLOCK_REALTIME)) > 5 ||
        fabs((double)time(NULL) - clock_s(CLOCK_REALTIME)) > 5) {
        wrong("the time of day", now.tv_sec);
    }
    for (int i = 0; i < 2; i++) {
        double now_s = clock_s(IDS[i]);
        if (last[i] != 0 && (now_s < last[i] || now_s > last[i] + JUMP_S)) {
            wrong("a clock that jumped", (long)(now_s - last[i]));
        }
        last[i] = now_s;
    }
}

/* Functions that the C library chooses by the processor. */
static void use_library(const uint64_t *heap, int round)
{
    static unsigned char copy[3 * 4096];
    size_t at = (size_t)round % 61, length = 4096 + (size_t)round % 999;
    memmove(copy + at, heap, length);
    copy[at + length] = 0;
    if (memcmp(copy + at, heap, length) != 0 || memchr(heap, 0, 0) != NULL ||
        strlen((char *)memset(copy, 'x', length) + at) < length - at) {
        wrong("a function of the C library", round);
    }
    if (fabs(exp(log(1.0 + round)) - 1.0 - round) > 1e-6 * (1.0 + round)) {
        wrong("a function of the mathematical library", round);
    }
}

static void add_line(int notes, int number)
{
    char line[32];
    int length = snprintf(line, sizeof line, "%d\n", number);
    if (write(notes, line, (size_t)length) != length) {
        wrong("writing", errno);
    }
}

static void check_notes(const char *path, int count)
{
    FILE *file = fopen(path, "r");
    int number, seen = 0;
    while (file != NULL && fscanf(file, "%d", &number) == 1 && number == seen) {
        seen++;
    }
    if (seen != count) {
        wrong("the file", seen);
    }
}

int main(int argc, char **argv)
{
    pthread_t waiters[THREADS];
    pthread_mutexattr_t kind;
    pthread_condattr_t clock;
    char go[256], path[256], alive[256];
    double last[2] = {0, 0};
    int round = 0;
    if (argc != 3) {
        return 2;
    }
    (void)snprintf(go, sizeof go, "%s/go", argv[1]);
    (void)snprintf(alive, sizeof alive, "%s/alive", argv[1]);
    (void)snprintf(path, sizeof path, "%s/notes", argv[1]);
    wchar_t letter;
    (void)setlocale(LC_CTYPE, "C.UTF-8"); /* maps a table of this machine's, if it has one */
    (void)mbtowc(&letter, "\xc3\xa4", 2);
    uint64_t *heap = malloc(HEAP_WORDS * sizeof *heap);
    for (uint64_t i = 0, x = 88172645463325252U; i < HEAP_WORDS; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        heap[i] = x;
    }
    uint64_t before = hash(heap, HEAP_WORDS);
    int notes = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0666);
    must(pthread_condattr_init(&clock), "attributes");
    must(pthread_condattr_setclock(&clock, CLOCK_MONOTONIC), "clock");
    must(pthread_cond_init(&shared.over, &clock), "condition");
    must(pthread_mutexattr_init(&kind), "attributes");
    must(pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE), "recursive");
    must(pthread_mutex_init(&shared.again, &kind), "mutex");
    must(pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK), "error-checking");
    must(pthread_mutex_init(&shared.checked, &kind), "mutex");
    must(pthread_mutex_lock(&shared.again), "lock");
    for (int i = 0; i < THREADS; i++) {
        must(pthread_create(&waiters[i], NULL, wait_for_the_end, NULL), "thread");
    }
    must(pthread_create(&shared.spinner, NULL, spin, argv[2]), "thread");
    while (access(go, F_OK) != 0) {
        must(pthread_mutex_lock(&shared.again), "lock again");
        look_at_clocks(last);
        use_library(heap, round);
        if (shared.ready == THREADS + 1 && round == 1) {
            add_line(notes, 0);
            (void)printf("ready\n");
            (void)fflush(stdout);
        }
        round += round != 1 || shared.ready == THREADS + 1 ? 1 : 0;
        must(pthread_mutex_unlock(&shared.again), "unlock");
        (void)unlink(alive);
        (void)usleep(1000);
    }
    add_line(notes, 1);
    must(pthread_mutex_unlock(&shared.again), "the last unlock");
    must(pthread_mutex_lock(&shared.checked), "lock");
    shared.go = 1;
    must(pthread_cond_broadcast(&shared.over), "broadcast");
    must(pthread_mutex_unlock(&shared.checked), "unlock");
    for (int i = 0; i < THREADS; i++) {
        must(pthread_join(waiters[i], NULL), "join");
    }
    must(pthread_join(shared.spinner, NULL), "join");
    check_notes(path, 2);
    if (hash(heap, HEAP_WORDS) != before || shared.left != THREADS) {
        wrong("the heap", shared.left);
    }
    (void)printf("right\n");
    return 7;
}
