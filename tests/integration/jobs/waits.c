/* Waits in every way that there is, over and over: no wait may end before its time, and none with
 * EINTR but by its own signals; timers go off, and a pipe is read that another thread fills.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 25

static volatile sig_atomic_t alarms, queued;

static void must(int right, const char *what)
{
    if (!right) {
        (void)printf("wrong: %s: %s\n", what, strerror(errno));
        (void)fflush(stdout);
        _exit(1);
    }
}

static void on_alarm(int signal)
{
    (void)signal;
    alarms++;
}

static void on_queued(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)context;
    queued += info->si_value.sival_int;
}

static void *fill(void *arg)
{
    int end = *(int *)arg;
    sigset_t all;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        must(usleep(20000) == 0, "usleep");
        must(write(end, &i, sizeof i) == (ssize_t)sizeof i, "write");
    }
    return NULL;
}

static void wait_for_alarm(void)
{
    sigset_t blocked, before;
    struct itimerval soon = {.it_value = {.tv_usec = 5000}};
    int seen = alarms;
    (void)sigemptyset(&blocked);
    (void)sigaddset(&blocked, SIGALRM);
    must(sigprocmask(SIG_BLOCK, &blocked, &before) == 0, "block");
    must(setitimer(ITIMER_REAL, &soon, NULL) == 0, "setitimer");
    while (alarms == seen) {
        must(sigsuspend(&before) == -1 && errno == EINTR, "sigsuspend");
    }
    must(sigprocmask(SIG_SETMASK, &before, NULL) == 0, "unblock");
}

int main(void)
{
    char stack[65536];
    stack_t other = {.ss_sp = stack, .ss_size = sizeof stack}, is;
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_ONSTACK};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};
    struct itimerspec often = {.it_interval = {0, 1000000}, .it_value = {0, 1000000}};
    struct timespec short_time = {.tv_nsec = 3000000}, minute = {.tv_sec = 60};
    timer_t unused, timer;
    int ends[2], got;
    pthread_t filler;
    sigset_t mask;
    (void)sigemptyset(&mask);
    must(sigaltstack(&other, NULL) == 0 && sigaction(SIGALRM, &action, NULL) == 0, "signals");
    action.sa_sigaction = on_queued;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    must(sigaction(SIGUSR1, &action, NULL) == 0, "sigaction");
    must(timer_create(CLOCK_MONOTONIC, &event, &unused) == 0, "timer"); /* leaves a gap */
    (void)sigaddset(&mask, SIGRTMIN);
    must(sigprocmask(SIG_BLOCK, &mask, NULL) == 0, "block");
    must(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0 && timer_delete(unused) == 0, "timers");
    must(timer_settime(timer, 0, &often, NULL) == 0, "timer_settime");
    must(pipe(ends) == 0 && pthread_create(&filler, NULL, fill, &ends[1]) == 0, "filler");
    for (int i = 0; i < ROUNDS; i++) {
        must(read(ends[0], &got, sizeof got) == (ssize_t)sizeof got && got == i, "read");
        must(nanosleep(&short_time, NULL) == 0, "nanosleep");
        must(poll(NULL, 0, 3) == 0, "poll");
        must(pselect(0, NULL, NULL, NULL, &short_time, NULL) == 0, "pselect");
        must(sigtimedwait(&mask, NULL, &minute) == SIGRTMIN, "sigtimedwait");
        must(sigqueue(getpid(), SIGUSR1, (union sigval){.sival_int = i}) == 0, "sigqueue");
        wait_for_alarm();
        must(sigaltstack(NULL, &is) == 0 && is.ss_sp == stack && is.ss_flags == 0, "sigaltstack");
    }
    must(pthread_join(filler, NULL) == 0, "join");
    (void)printf("%d %d\n", (int)alarms, (int)queued);
    return 7;
}
