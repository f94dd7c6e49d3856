/* Many threads that add up numbers behind recursive and error-checking mutexes: these hold the
 * numbers of threads.  threads COUNT
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define THREADS_MAX 1000
#define ROUNDS      40

static struct {
    pthread_mutex_t again, checked;
    pthread_cond_t begun;
    int running;
    uint64_t total;
} shared;

static void must(int error, const char *what)
{
    if (error != 0) {
        (void)printf("wrong: %s: %d\n", what, error);
        exit(1);
    }
}

static void *work(void *arg)
{
    uint64_t mine = (uint64_t)(uintptr_t)arg;
    double x = (double)mine;
    must(pthread_mutex_lock(&shared.checked), "lock");
    shared.running++;
    must(pthread_cond_broadcast(&shared.begun), "broadcast");
    must(pthread_mutex_unlock(&shared.checked), "unlock");
    for (int i = 0; i < ROUNDS; i++) {
        for (int j = 0; j < 2000; j++) {
            x = x * 1.0000001 + 0.5;
        }
        must(pthread_mutex_lock(&shared.again), "lock");
        must(pthread_mutex_lock(&shared.again), "lock again");
        (void)usleep(50);
        shared.total += (uint64_t)x + mine;
        must(pthread_mutex_unlock(&shared.again), "unlock");
        must(pthread_mutex_unlock(&shared.again), "unlock again");
        must(pthread_mutex_lock(&shared.checked), "lock");
        must(pthread_mutex_unlock(&shared.checked), "unlock");
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS_MAX];
    pthread_mutexattr_t kind;
    int count = argc == 2 ? (int)strtol(argv[1], NULL, 10) : 0;
    if (count < 1 || count > THREADS_MAX) {
        return 2;
    }
    must(pthread_mutexattr_init(&kind), "attributes");
    must(pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE), "recursive");
    must(pthread_mutex_init(&shared.again, &kind), "mutex");
    must(pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK), "checked");
    must(pthread_mutex_init(&shared.checked, &kind), "mutex");
    must(pthread_cond_init(&shared.begun, NULL), "condition");
    must(pthread_mutex_lock(&shared.checked), "lock");
    for (intptr_t i = 0; i < count; i++) {
        must(pthread_create(&threads[i], NULL, work, (void *)i), "thread");
    }
    while (shared.running < count) {
        must(pthread_cond_wait(&shared.begun, &shared.checked), "wait");
    }
    must(pthread_mutex_unlock(&shared.checked), "unlock");
    for (int i = 0; i < count; i++) {
        must(pthread_join(threads[i], NULL), "join");
    }
    (void)printf("%016llx\n", (unsigned long long)shared.total);
    return 7;
}
