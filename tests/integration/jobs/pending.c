/* Waits for a signal that comes while it stands still: its handler runs once, and the wait is over.
 * pending HOW: says that it waits, and ends when it has.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t handled;

static void on_signal(int number)
{
    (void)number;
    handled++;
}

static int by_pause(void)
{
    return pause();
}

static int by_epoll(void)
{
    struct epoll_event event;
    return epoll_wait(epoll_create1(0), &event, 1, 600000);
}

static int by_sleep(void)
{
    const struct timespec ages = {.tv_sec = 600};
    return nanosleep(&ages, NULL);
}

static int ends[2];

static int by_read(void)
{
    char byte;
    return (int)read(ends[0], &byte, 1);
}

/* What is read goes on to be read, after a handler with SA_RESTART. */
static void *write_when_handled(void *arg)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    while (handled == 0) {
        (void)nanosleep(&moment, NULL);
    }
    return write(ends[1], "x", 1) == 1 ? NULL : arg;
}

static int by_restarted_read(void)
{
    sigset_t all, before;
    pthread_t writer;
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    (void)sigfillset(&all);
    (void)sigaction(SIGUSR1, &action, NULL);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    (void)pthread_create(&writer, NULL, write_when_handled, ends);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return by_read();
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*wait)(void);
    } WAYS[] = {{"pause", by_pause},
                {"epoll", by_epoll},
                {"sleep", by_sleep},
                {"read", by_read},
                {"restarted", by_restarted_read}};
    struct sigaction action = {.sa_handler = on_signal};
    if (argc != 2 || pipe(ends) != 0 || sigaction(SIGUSR1, &action, NULL) != 0) {
        return 1;
    }
    for (size_t i = 0; i < sizeof WAYS / sizeof WAYS[0]; i++) {
        if (strcmp(argv[1], WAYS[i].name) == 0) {
            (void)printf("waits\n");
            (void)fflush(stdout);
            int ret = WAYS[i].wait();
            (void)printf("%d %s %d\n", (int)handled, ret < 0 ? strerror(errno) : "", ret);
            return 7;
        }
    }
    return 1;
}
