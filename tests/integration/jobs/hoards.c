/* tests/integration/jobs/hoards.c - has much of what most programs have little of, and looks at all
 * of it in the end: timers, memory that it shares and hardly uses, files mapped by names that have
 * gone or are hard to write.  It may start no process more.
 *
 *     hoards DIRECTORY
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LINES  "two\nlines" /* a directory */
#define PAGE   4096UL
#define TIMERS 400
#define HUGE   (1UL << 30)
#define STEP   (HUGE / 64) /* a page of each such part is used */

static void must(int right, const char *what)
{
    if (!right) {
        perror(what);
        exit(3);
    }
}

/* Each goes off after so many hours, but those that were removed again: their numbers are not used
 * any more. */
static void make_timers(timer_t *timers)
{
    for (int i = 0; i < TIMERS; i++) {
        struct sigevent event = {.sigev_notify = SIGEV_NONE, .sigev_value.sival_int = i};
        const struct itimerspec hours = {.it_value.tv_sec = 3600L * (i + 1)};
        must(timer_create(CLOCK_MONOTONIC, &event, &timers[i]) == 0, "timer_create");
        must(i % 7 == 0 ? timer_delete(timers[i]) == 0
                        : timer_settime(timers[i], 0, &hours, NULL) == 0,
             "timer_settime");
    }
}

static void tell_timers(timer_t *timers)
{
    long hours = 0;
    for (int i = 0; i < TIMERS; i++) {
        struct itimerspec left = {.it_value.tv_sec = 0};
        if (i % 7 != 0) {
            must(timer_gettime(timers[i], &left) == 0, "timer_gettime");
            hours = hours * 31 + (left.it_value.tv_sec + 1800) / 3600;
        }
    }
    printf("timers %lx\n", (unsigned long)hours);
}

static unsigned char *share(void)
{
    unsigned char *memory =
        mmap(NULL, HUGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    must(memory != MAP_FAILED, "mmap");
    for (unsigned long at = 0; at < HUGE; at += STEP) {
        memory[at + at / STEP * PAGE] = (unsigned char)(1 + at / STEP);
    }
    return memory;
}

/* What is in it, and how much of it there is: nobody has made pages of it. */
static void tell_shared(unsigned char *memory)
{
    static unsigned char there[HUGE / PAGE];
    unsigned long sum = 0, count = 0;
    for (unsigned long at = 0; at < HUGE; at += STEP) {
        sum = sum * 31 + memory[at + at / STEP * PAGE];
    }
    must(mincore(memory, HUGE, there) == 0, "mincore");
    for (unsigned long i = 0; i < HUGE / PAGE; i++) {
        count += there[i] & 1;
    }
    printf("shared %lx, %lu pages\n", sum, count);
}

static char *map_file(const char *name)
{
    int fd = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    must(fd >= 0 && ftruncate(fd, (off_t)PAGE) == 0, name);
    char *memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    must(memory != MAP_FAILED, name);
    close(fd);
    return memory;
}

/* What is written to memory now is in the file. */
static void tell_mapped(char *memory, const char *name)
{
    char word[16] = "";
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    must(fd >= 0, name);
    memcpy(memory, "written", sizeof "written");
    must(read(fd, word, sizeof word - 1) > 0, name);
    printf("mapped %s\n", word);
    close(fd);
    unlink(name);
}

int main(int argc, char **argv)
{
    static timer_t timers[TIMERS];
    const struct rlimit none = {.rlim_cur = 1, .rlim_max = 1};
    const struct timespec pause = {.tv_nsec = 10000000};
    must(argc == 2 && chdir(argv[1]) == 0, "hoards DIRECTORY");
    make_timers(timers);
    unsigned char *shared = share();
    must(mkdir(LINES, 0700) == 0, "mkdir");
    char *moved = map_file("one name"), *line = map_file(LINES "/name");
    unlink("another name");
    must(link("one name", "another name") == 0 && unlink("one name") == 0, "another name");
    must(setrlimit(RLIMIT_NPROC, &none) == 0, "setrlimit");
    for (int i = 0; i < 60; i++) {
        must(nanosleep(&pause, NULL) == 0, "nanosleep");
    }
    tell_timers(timers);
    tell_shared(shared);
    tell_mapped(moved, "another name");
    tell_mapped(line, LINES "/name");
    must(rmdir(LINES) == 0, "rmdir");
    return 7;
}
