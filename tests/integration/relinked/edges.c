/* A program that is linked with the library, and has sections in handlers of signals, or leaves its
 * first thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "ckpt/library/roost_checkpoint.h"

#define IMAGES    24
#define EVERY_US  50
#define SPIN      20000
#define LEAVES_MS 100

static volatile int in_handler, wrong, enough;

static void handle(int signal)
{
    (void)signal;
    roost_checkpoint_disable();
    in_handler = 1;
    for (volatile int i = 0; i < SPIN; i++) {
    }
    in_handler = 0;
    roost_checkpoint_enable();
}

/* Nobody is in a section then. */
static void look(void *arg)
{
    (void)arg;
    wrong += in_handler;
}

static void *take(void *arg)
{
    (void)arg;
    for (int i = 0; i < IMAGES; i++) {
        wrong += roost_checkpoint() < 0;
    }
    enough = 1;
    return NULL;
}

/* Handlers interrupt the beginning and the end of sections, at any instruction. */
static int signals(void)
{
    const struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    const struct itimerval often = {{.tv_usec = EVERY_US}, {.tv_usec = EVERY_US}},
                           never = {{0}, {0}};
    pthread_t thread;
    sigset_t alarm;
    (void)sigemptyset(&alarm);
    (void)sigaddset(&alarm, SIGALRM);
    (void)pthread_sigmask(SIG_BLOCK, &alarm, NULL);
    (void)roost_checkpoint_hooks(look, NULL, NULL, NULL);
    (void)pthread_create(&thread, NULL, take, NULL);
    (void)sigaction(SIGALRM, &action, NULL);
    (void)pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
    (void)setitimer(ITIMER_REAL, &often, NULL);
    while (!enough) {
        roost_checkpoint_disable();
        roost_checkpoint_enable();
    }
    (void)setitimer(ITIMER_REAL, &never, NULL);
    (void)pthread_join(thread, NULL);
    printf("wrong: %d\n", wrong);
    return 0;
}

static void *stay(void *arg)
{
    const struct timespec pause = {.tv_nsec = LEAVES_MS * 1000000L};
    (void)arg;
    (void)nanosleep(&pause, NULL);
    (void)puts("the last one");
    return NULL;
}

/* The program ends when its last thread does. */
static int leaves(void)
{
    pthread_t thread;
    (void)roost_checkpoint_hooks(look, NULL, NULL, NULL);
    (void)pthread_create(&thread, NULL, stay, NULL);
    pthread_exit(NULL);
}

int main(int argc, char **argv)
{
    return argc == 2 && strcmp(argv[1], "signals") == 0  ? signals()
           : argc == 2 && strcmp(argv[1], "leaves") == 0 ? leaves()
                                                         : 2;
}
