/* Holds one of each of the kernel's own kinds of open files, with something in it, and looks again
 * and again whether all is as it should be: counts, timers, signals, what an epoll watches and how,
 * what waits in pipes and sockets.  events DIRECTORY
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/pidfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS  40
#define DAY_NS  INT64_C(86400000000000)
#define NEITHER 99

static void must(int right, const char *what)
{
    if (!right) {
        (void)printf("wrong: %s (%s)\n", what, strerror(errno));
        (void)fflush(stdout);
        _exit(1);
    }
}

/* ---- counts and timers */

static void look_at_counts(void)
{
    static int sum = -1, semaphore, full;
    uint64_t got, five = 5, most = UINT64_C(0xfffffffffffffffe);
    if (sum < 0) {
        sum = eventfd(3, EFD_NONBLOCK);
        semaphore = eventfd(2, EFD_NONBLOCK | EFD_SEMAPHORE | EFD_CLOEXEC);
        full = eventfd(0, EFD_NONBLOCK);
        must(sum >= 0 && semaphore >= 0 && write(full, &most, 8) == 8, "eventfd");
        return;
    }
    must(read(sum, &got, 8) == 8 && got == 3, "a count");
    must(read(sum, &got, 8) == -1 && errno == EAGAIN && write(sum, &got, 8) == 8, "an empty count");
    must(read(semaphore, &got, 8) == 8 && got == 1, "a semaphore");
    must(read(semaphore, &got, 8) == 8 && got == 1, "a semaphore, again");
    must(read(semaphore, &got, 8) == -1 && errno == EAGAIN, "an empty semaphore");
    got = 2;
    must(write(semaphore, &got, 8) == 8, "filling a semaphore");
    must((fcntl(semaphore, F_GETFD) & FD_CLOEXEC) != 0 && fcntl(sum, F_GETFD) == 0,
         "close-on-exec");
    must(write(full, &five, 8) == -1 && errno == EAGAIN, "a full count");
    must(write(sum, &(uint64_t){1}, 8) == 8, "adding");
    must(read(sum, &got, 8) == 8 && got == 4, "a sum");
    must(write(sum, &(uint64_t){3}, 8) == 8, "adding again");
}

static int64_t ns_of(const struct timespec *time)
{
    return (int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
}

static void look_at_timers(void)
{
    static int often = -1, went_off, far, noon, many, later;
    static int64_t last = DAY_NS, last_later = 4 * DAY_NS;
    struct itimerspec spec = {.it_interval = {0, 4000000}, .it_value = {0, 4000000}};
    struct timespec now, soon;
    uint64_t got = 0;
    if (often < 0) {
        often = timerfd_create(CLOCK_MONOTONIC, 0);
        went_off = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK);
        far = timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK);
        noon = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK);
        many = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
        must(timerfd_settime(often, 0, &spec, NULL) == 0, "timerfd_settime");
        must(timerfd_settime(many, 0, &spec, NULL) == 0, "timerfd_settime");
        spec = (struct itimerspec){.it_value = {0, 1}};
        must(timerfd_settime(went_off, 0, &spec, NULL) == 0, "timerfd_settime");
        spec = (struct itimerspec){.it_value = {86400, 0}};
        must(timerfd_settime(far, 0, &spec, NULL) == 0, "timerfd_settime");
        must(clock_gettime(CLOCK_REALTIME, &now) == 0, "clock_gettime");
        later = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
        must(timerfd_gettime(far, &spec) == 0 && clock_gettime(CLOCK_MONOTONIC, &soon) == 0, "now");
        spec.it_value.tv_sec += soon.tv_sec + 3 * 86400;
        must(timerfd_settime(later, TFD_TIMER_ABSTIME, &spec, NULL) == 0, "timerfd_settime");
        spec = (struct itimerspec){.it_value = {now.tv_sec + 3600, 0}, .it_interval = {60, 0}};
        must(timerfd_settime(noon, TFD_TIMER_ABSTIME, &spec, NULL) == 0, "timerfd_settime");
        return;
    }
    must(read(often, &got, 8) == 8 && got >= 1 && got < 100000, "a timer that goes off often");
    must(timerfd_gettime(often, &spec) == 0 && ns_of(&spec.it_interval) == 4000000, "its interval");
    must(ns_of(&spec.it_value) >= 0 && ns_of(&spec.it_value) <= 4000000, "what is left of it");
    struct pollfd ready = {.fd = went_off, .events = POLLIN};
    must(poll(&ready, 1, 0) == 1, "a timer that went off");
    must(timerfd_gettime(far, &spec) == 0, "a timer that is far");
    must(ns_of(&spec.it_value) <= last && ns_of(&spec.it_value) > DAY_NS / 2,
         "what is left till then");
    last = ns_of(&spec.it_value);
    must(timerfd_gettime(later, &spec) == 0, "a time to come");
    must(ns_of(&spec.it_value) <= last_later && ns_of(&spec.it_value) > 4 * DAY_NS - DAY_NS / 8,
         "what is left till the time to come");
    last_later = ns_of(&spec.it_value) + 1000000000; /* nanoseconds were not counted */
    must(timerfd_gettime(noon, &spec) == 0 && spec.it_interval.tv_sec == 60, "a time of the day");
    must(ns_of(&spec.it_value) <= INT64_C(3600000000000), "what is left till that");
    must(read(far, &got, 8) == -1 && errno == EAGAIN, "nothing to be read");
    must(timerfd_gettime(many, &spec) == 0, "a timer that nobody reads"); /* it counts up */
}

static void end_timers(int went_off)
{
    uint64_t got = 0;
    must(read(went_off, &got, 8) == 8 && got == 1, "how often it went off");
}

/* ---- signals, processes */

static void look_at_signals(void)
{
    static int all = -1;
    struct signalfd_siginfo got;
    sigset_t mask;
    (void)sigemptyset(&mask);
    (void)sigaddset(&mask, SIGUSR1);
    (void)sigaddset(&mask, SIGUSR2);
    if (all < 0) {
        must(sigprocmask(SIG_BLOCK, &mask, NULL) == 0, "sigprocmask");
        (void)sigdelset(&mask, SIGUSR2);
        all = signalfd(-1, &mask, SFD_NONBLOCK);
        must(all >= 0 && raise(SIGUSR2) == 0, "signalfd");
    } else {
        must(read(all, &got, sizeof got) == (ssize_t)sizeof got && got.ssi_signo == SIGUSR1 &&
                 got.ssi_int == 17,
             "a signal that was waiting");
        must(read(all, &got, sizeof got) == -1 && errno == EAGAIN, "another signal");
    }
    must(sigqueue(getpid(), SIGUSR1, (union sigval){.sival_int = 17}) == 0, "sigqueue");
}

static void look_at_processes(void)
{
    static int own = -1, ended;
    if (own < 0) {
        pid_t child = fork();
        if (child == 0) {
            _exit(3);
        }
        own = pidfd_open(getpid(), 0);
        ended = pidfd_open(child, 0);
        must(own >= 0 && ended >= 0 && waitpid(child, NULL, 0) == child, "pidfd_open");
    }
    struct pollfd both[2] = {{.fd = own, .events = POLLIN}, {.fd = ended, .events = POLLIN}};
    must(pidfd_send_signal(own, 0, NULL, 0) == 0, "this process");
    must(pidfd_send_signal(ended, 0, NULL, 0) == -1 && errno == ESRCH, "one that is gone");
    must(poll(both, 2, 0) == 1 && both[1].revents != 0, "which of them has ended");
}

/* ---- sockets */

static void look_at_sockets(void)
{
    static int stream[2] = {-1, -1}, datagrams[2], lonely, packets[2];
    char text[70000];
    int other[2];
    if (stream[0] < 0) {
        must(socketpair(AF_UNIX, SOCK_STREAM, 0, stream) == 0, "socketpair");
        must(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, datagrams) == 0, "socketpair");
        must(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, packets) == 0, "socketpair");
        must(socketpair(AF_UNIX, SOCK_STREAM, 0, other) == 0, "socketpair");
        memset(text, 'x', sizeof text);
        must(write(other[1], "rest", 4) == 4 && close(other[1]) == 0, "a peer that is gone");
        lonely = other[0];
        must(write(stream[0], text, sizeof text) == (ssize_t)sizeof text, "much");
        must(shutdown(packets[1], SHUT_WR) == 0, "shutdown");
    } else {
        ssize_t got = 0;
        while (got < (ssize_t)sizeof text) {
            ssize_t more = read(stream[1], text + got, sizeof text - (size_t)got);
            must(more > 0, "a stream");
            got += more;
        }
        must(text[0] == 'x' && memcmp(text, text + 1, sizeof text - 1) == 0, "what came");
        must(recv(stream[1], text, 1, MSG_DONTWAIT) == -1 && errno == EAGAIN, "no more");
        memset(text, 'x', sizeof text);
        must(write(stream[0], text, sizeof text) == (ssize_t)sizeof text, "much again");
        must(read(datagrams[0], text, sizeof text) == 3 && memcmp(text, "one", 3) == 0, "one");
        must(read(datagrams[0], text, 2) == 2 && memcmp(text, "th", 2) == 0, "three, cut");
        must(read(datagrams[0], text, 9) == -1 && errno == EAGAIN, "no other datagram");
        must(recv(packets[1], text, 9, 0) == 2 && recv(packets[1], text, 9, 0) == 1, "packets");
        must(read(packets[0], text, 9) == 0, "the end of what is sent");
        must(recv(lonely, text, 9, MSG_PEEK) == 4 && memcmp(text, "rest", 4) == 0, "the rest");
        must(send(lonely, "x", 1, MSG_NOSIGNAL) == -1 && errno == EPIPE, "nobody there");
    }
    must(write(datagrams[1], "one", 3) == 3 && write(datagrams[1], "three", 5) == 5, "datagrams");
    must(write(packets[0], "ab", 2) == 2 && write(packets[0], "c", 1) == 1, "packets");
    int value = 0;
    socklen_t length = sizeof value;
    must(getsockopt(datagrams[0], SOL_SOCKET, SO_TYPE, &value, &length) == 0 && value == SOCK_DGRAM,
         "the type");
    must((fcntl(datagrams[0], F_GETFL) & O_NONBLOCK) != 0, "not blocking");
}

/* ---- epoll */

enum name { PIPE = 1, COUNT, EDGE, ONCE, MOVED, INNER, ENDED };

static int wait_for(int epoll, enum name *which)
{
    struct epoll_event event = {.events = 0};
    int count = epoll_wait(epoll, &event, 1, 0);
    *which = (enum name)event.data.u64;
    return count;
}

/* The edge may be told once more after any resumption: that is passed over. */
static int wait_but_edge(int epoll, int inner, enum name *which)
{
    for (int i = 0; i < 100; i++) {
        int got = wait_for(epoll, which);
        if (got != 1 || (*which != EDGE && *which != INNER)) {
            return got;
        }
        enum name drained;
        while (*which == INNER && wait_for(inner, &drained) == 1 && drained == EDGE) {
        }
    }
    return -1;
}

static void add(int epoll, int fd, uint32_t events, enum name name)
{
    struct epoll_event event = {.events = events, .data.u64 = name};
    must(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0, "epoll_ctl");
}

static void look_at_epoll(void)
{
    static int outer = -1, inner, ends[2], count, edge, once, twin, moved, ended[2];
    enum name which = NEITHER;
    uint64_t got = 0;
    char c;
    if (outer < 0) {
        outer = epoll_create1(EPOLL_CLOEXEC);
        inner = epoll_create1(0);
        count = eventfd(0, EFD_NONBLOCK);
        edge = eventfd(1, EFD_NONBLOCK);
        once = eventfd(1, EFD_NONBLOCK);
        twin = eventfd(0, EFD_NONBLOCK);
        must(outer >= 0 && inner >= 0 && twin >= 0 && pipe2(ends, O_NONBLOCK) == 0, "epoll");
        add(outer, ends[0], EPOLLIN, PIPE);
        add(outer, count, EPOLLIN | EPOLLEXCLUSIVE, COUNT);
        add(inner, edge, EPOLLIN | EPOLLET, EDGE);
        add(inner, once, EPOLLIN | EPOLLONESHOT, ONCE);
        add(outer, inner, EPOLLIN, INNER);
        must(pipe(ended) == 0 && close(ended[1]) == 0, "a pipe that has ended");
        add(inner, ended[0], EPOLLIN | EPOLLONESHOT, ENDED);
        int number = dup(twin); /* watched under a number that is another file's later */
        add(outer, number, EPOLLIN, MOVED);
        must(close(number) == 0 && (moved = dup(ends[1])) == number, "the same number");
        must(wait_for(inner, &which) == 1 && wait_for(inner, &which) == 1, "all at first");
        must(wait_for(inner, &which) == 1 && wait_for(inner, &which) == 0, "no more of them");
        return;
    }
    /* The edge may be told once more after a resumption; that of once may not. */
    while (wait_for(inner, &which) == 1) {
        must(which == EDGE, "an event that was told already");
    }
    must(wait_but_edge(outer, inner, &which) == 0, "nothing to tell");
    must(write(ends[1], "p", 1) == 1 && wait_but_edge(outer, inner, &which) == 1 && which == PIPE,
         "a pipe");
    must(read(ends[0], &c, 1) == 1 && wait_but_edge(outer, inner, &which) == 0, "nothing any more");
    got = 1;
    must(write(count, &got, 8) == 8 && wait_but_edge(outer, inner, &which) == 1 && which == COUNT,
         "a count");
    must(read(count, &got, 8) == 8, "taking the count");
    must(write(twin, &got, 8) == 8 && wait_but_edge(outer, inner, &which) == 1 && which == MOVED,
         "a twin");
    must(read(twin, &got, 8) == 8 && wait_but_edge(outer, inner, &which) == 0, "taking the twin's");
    must(write(moved, "q", 1) == 1 && wait_but_edge(outer, inner, &which) == 1 && which == PIPE,
         "by its dup");
    must(read(ends[0], &c, 1) == 1 && c == 'q', "what was written");
    must(write(edge, &got, 8) == 8 && wait_for(outer, &which) == 1 && which == INNER, "an edge");
    must(wait_for(inner, &which) == 1 && which == EDGE && wait_but_edge(inner, inner, &which) == 0,
         "only it");
    struct epoll_event again = {.events = EPOLLIN | EPOLLONESHOT, .data.u64 = ONCE};
    must(epoll_ctl(inner, EPOLL_CTL_MOD, once, &again) == 0, "once more");
    must(wait_but_edge(inner, inner, &which) == 1 && which == ONCE &&
             wait_but_edge(inner, inner, &which) == 0,
         "once");
    struct epoll_event event = {.events = EPOLLIN};
    must(epoll_ctl(outer, EPOLL_CTL_ADD, count, &event) == -1 && errno == EEXIST, "known already");
    must(epoll_ctl(outer, EPOLL_CTL_DEL, moved, NULL) == -1 && errno == ENOENT, "another file");
}

/* ---- inotify */

static void look_at_names(const char *folder)
{
    static int names = -1, first, second, third;
    static char path[4096];
    char got[512];
    if (names < 0) {
        char gone[4096 + 8];
        (void)snprintf(path, sizeof path, "%s/watched", folder);
        (void)snprintf(gone, sizeof gone, "%s/in", path);
        (void)unlink(gone); /* of an earlier run */
        (void)rmdir(path);
        (void)snprintf(gone, sizeof gone, "%s.gone", path);
        must(mkdir(path, 0700) == 0 && mkdir(gone, 0700) == 0, path);
        names = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
        first = inotify_add_watch(names, path, IN_CREATE | IN_DELETE);
        second = inotify_add_watch(names, gone, IN_CREATE);
        must(inotify_rm_watch(names, second) == 0 && read(names, got, sizeof got) > 0, "one less");
        must(rmdir(gone) == 0, gone);
        (void)snprintf(gone, sizeof gone, "%s/in", path);
        int fd = open(gone, O_CREAT | O_WRONLY, 0600);
        must(fd >= 0 && read(names, got, sizeof got) > 0, "a file in it");
        third = inotify_add_watch(names, gone, IN_ATTRIB);
        /* 3, or 2 after a resumption: the kernel does not tell which number was the last one. */
        must(close(fd) == 0 && first == 1 && third > first, "numbers of watches");
        (void)snprintf(path, sizeof path, "%s/watched/new", folder);
        return;
    }
    const struct inotify_event *event = (const void *)got;
    must(read(names, got, sizeof got) == -1 && errno == EAGAIN, "nothing happened");
    must(mkdir(path, 0700) == 0 && rmdir(path) == 0, path);
    must(read(names, got, sizeof got) == 64 && event->wd == first &&
             event->mask == (IN_CREATE | IN_ISDIR) && strcmp(event->name, "new") == 0,
         "what was made");
    path[strlen(path) - 3] = '\0';
    char in[4096 + 8];
    (void)snprintf(in, sizeof in, "%sin", path);
    must(chmod(in, 0600) == 0 && read(names, got, sizeof got) > 0 && event->wd == third,
         "attributes");
    path[strlen(path)] = 'n';
}

int main(int argc, char **argv)
{
    must(argc == 2, "events DIRECTORY");
    int once = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    struct itimerspec soon = {.it_value = {0, 1}};
    must(timerfd_settime(once, 0, &soon, NULL) == 0, "timerfd_settime");
    for (int i = 0; i <= ROUNDS; i++) {
        look_at_counts();
        look_at_timers();
        look_at_signals();
        look_at_processes();
        look_at_sockets();
        look_at_epoll();
        look_at_names(argv[1]);
        (void)usleep(10000);
    }
    end_timers(once);
    (void)printf("as they should be\n");
    return 7;
}
