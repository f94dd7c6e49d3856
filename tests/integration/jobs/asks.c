/* Asks for the time without a pause, in two threads: most of the time they are inside the vdso, the
 * kernel's code that a thread must have left before it is saved.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#define TIMES 20000000L

static void *ask(void *arg)
{
    struct timespec last = {0}, now;
    (void)arg;
    for (long i = 0; i < TIMES; i++) {
        if (clock_gettime(CLOCK_MONOTONIC, &now) != 0 || now.tv_sec < last.tv_sec ||
            (now.tv_sec == last.tv_sec && now.tv_nsec < last.tv_nsec)) {
            return "wrong: time went backwards";
        }
        last = now;
    }
    return "as it should be";
}

int main(void)
{
    pthread_t other;
    void *said = "wrong: no thread";
    if (pthread_create(&other, NULL, ask, NULL) == 0) {
        (void)puts(ask(NULL));
        (void)pthread_join(other, &said);
    }
    (void)puts(said);
    return 7;
}
