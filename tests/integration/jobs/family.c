/* A parent and a child that share memory, an epoll, counts, a socketpair and a file's position, and
 * have locks that are their own.  They take turns, and each looks whether all is as it should be.
 * family DIRECTORY
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
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define TURNS 60

struct ours { /* of both */
    int memory, epoll, count, file, locked, child, parent, talk[2];
    volatile uint32_t *turns, *nameless;
};

static void must(int right, const char *what)
{
    if (!right) {
        (void)printf("wrong: %s (%s)\n", what, strerror(errno));
        (void)fflush(stdout);
        _exit(1);
    }
}

static void lock(int fd, off_t at, short type)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};
    must(fcntl(fd, F_SETLK, &lock) == 0, "F_SETLK");
}

/* Who has it; 0: nobody else. */
static pid_t holder(int fd, off_t at)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};
    must(fcntl(fd, F_GETLK, &lock) == 0, "F_GETLK");
    return lock.l_type == F_UNLCK ? 0 : lock.l_pid;
}

static void see_epoll(const struct ours *ours, uint64_t expected)
{
    struct epoll_event event = {.events = 0};
    int got = epoll_wait(ours->epoll, &event, 1, expected != 0 ? 60000 : 0);
    must(expected == 0 ? got == 0 : got == 1 && event.data.u64 == expected, "what the epoll tells");
}

static void see_memory(const struct ours *ours, uint32_t turn)
{
    uint32_t number = 0;
    must(pread(ours->memory, &number, 4, 4096) == 4 && number == turn, "shared memory, read");
    must(ours->turns[1024] == turn && ours->nameless[7] == turn, "shared memory");
}

static void take_turn(const struct ours *ours, int from, uint32_t turn, pid_t other, int is_parent)
{
    uint32_t heard = 0;
    uint64_t count = 0;
    must(read(from, &heard, 4) == 4 && heard == turn, "whose turn it is");
    see_memory(ours, turn);
    must(holder(ours->locked, is_parent ? 2 : 1) == other && holder(ours->locked, 3) == 0, "locks");
    must(holder(ours->locked, is_parent ? 1 : 2) == 0, "its own lock");
    see_epoll(ours, 1);
    must(read(ours->count, &count, 8) == 8 && count == turn + 1, "a count that is shared");
    see_epoll(ours, 0);
    must(lseek(ours->file, 0, SEEK_CUR) == (off_t)turn * 2, "a position that is shared");
    must(write(ours->file, "ab", 2) == 2, "writing");
    (void)usleep(6000);
    turn++;
    ours->turns[1024] = ours->nameless[7] = turn;
    count = turn + 1;
    must(write(ours->count, &count, 8) == 8 && write(from, &turn, 4) == 4, "the other's turn");
}

static void be_child(struct ours *ours)
{
    lock(ours->locked, 2, F_WRLCK);
    must(close(ours->talk[0]) == 0, "close");
    for (uint32_t turn = 1; turn < TURNS; turn += 2) {
        take_turn(ours, ours->talk[1], turn, getppid(), 0);
        must(pidfd_send_signal(ours->parent, 0, NULL, 0) == 0, "the parent");
    }
    _exit(5);
}

int main(int argc, char **argv)
{
    struct ours ours;
    char path[4096];
    int status;
    uint64_t count = 0;
    must(argc == 2, "family DIRECTORY");
    (void)snprintf(path, sizeof path, "%s/family", argv[1]);
    ours.memory = memfd_create("family", 0);
    ours.epoll = epoll_create1(0);
    ours.count = eventfd(2, EFD_NONBLOCK);
    ours.file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    ours.locked = open(path, O_RDWR);
    ours.parent = pidfd_open(getpid(), 0);
    must(ours.memory >= 0 && ours.epoll >= 0 && ours.count >= 0 && ours.locked >= 0, "open");
    must(ftruncate(ours.memory, 8192) == 0, "ftruncate");
    ours.turns = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, ours.memory, 0);
    ours.nameless = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    must(socketpair(AF_UNIX, SOCK_STREAM, 0, ours.talk) == 0, "socketpair");
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = 1};
    must(epoll_ctl(ours.epoll, EPOLL_CTL_ADD, ours.count, &event) == 0, "epoll_ctl");
    lock(ours.locked, 1, F_WRLCK);
    ours.turns[1024] = ours.nameless[7] = 1;
    must(lseek(ours.file, 2, SEEK_SET) == 2, "lseek");
    pid_t child = fork();
    if (child == 0) {
        be_child(&ours);
    }
    ours.child = pidfd_open(child, PIDFD_NONBLOCK);
    event.data.u64 = 2;
    must(child > 0 && epoll_ctl(ours.epoll, EPOLL_CTL_ADD, ours.child, &event) == 0, "the child");
    must(close(ours.talk[1]) == 0 && write(ours.talk[0], &(uint32_t){1}, 4) == 4, "the first turn");
    for (uint32_t turn = 2; turn < TURNS; turn += 2) {
        take_turn(&ours, ours.talk[0], turn, child, 1);
    }
    must(read(ours.talk[0], path, 8) == 4 && read(ours.talk[0], path, 1) == 0, "the last turn");
    must(read(ours.count, &count, 8) == 8 && count == TURNS + 1, "the last count");
    see_epoll(&ours, 2);
    must((fcntl(ours.child, F_GETFL) & O_NONBLOCK) != 0, "not to wait for");
    must(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 5, "how it ended");
    must(epoll_ctl(ours.epoll, EPOLL_CTL_DEL, ours.child, NULL) == 0, "forgetting it");
    (void)printf("as they should be\n");
    return 7;
}
