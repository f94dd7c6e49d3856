/* Asks for the time without a system call, nearly always; maps, unmaps and forks between.  Where it
 * is stopped it is in code that the kernel lends it, which it has to leave for an image, and may do
 * nothing else then: what it has is looked at before.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS     4000
#define FORKS_EACH 50
#define ASKED      2000
#define PAGE       4096

static void ask(void)
{
    for (int i = 0; i < ASKED; i++) {
        struct timespec now;
        (void)clock_gettime(CLOCK_MONOTONIC, &now);
    }
}

static int fails(const char *what, long round)
{
    printf("round %ld: %s\n", round, what);
    return 1;
}

int main(void)
{
    long sum = 0;
    for (long i = 0; i < ROUNDS; i++) {
        size_t bytes = PAGE * (size_t)(1 + i % 7);
        ask();
        volatile long *memory =
            mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) {
            return fails("no memory", i);
        }
        *memory = i;
        ask();
        sum += *memory;
        if (*memory != i || munmap((void *)memory, bytes) != 0) {
            return fails("memory", i);
        }
        if (i % FORKS_EACH == 0) {
            int status = 0;
            pid_t child = fork();
            if (child == 0) {
                ask();
                _exit(3);
            }
            ask();
            if (child < 0 || waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 3) {
                return fails("child", i);
            }
        }
    }
    printf("%ld\n", sum);
    return 0;
}
