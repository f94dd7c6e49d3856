/* base/os/os_enclose_linux.c - a process with a watcher: see os_enclose.h.
 *
 * Design note: the child tells the end of its lease through a page that both share, so that a
 * renewal costs nothing.  The watcher looks at the page when half of the lease that it knows is
 * over, and then sets the kernel's timer, which may therefore be early when the watcher stands
 * still, but never late.  A socket carries the rest: what the child has to say at once.
 *
 * The child is made by the system call, as fork() does not make namespaces.  As with fork(), it has
 * a copy of everything.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/os/os_enclose.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/loop_event.h"
#include "base/mem.h"
#include "base/os/os_linux.h"
#include "base/os/os_run.h"
#include "base/strbuf.h"

#define MS_PER_S     1000
#define NS_PER_MS    1000000
#define END_MS       2000 /* for a child that was asked to end */
#define SWEEP_MS     5000 /* longest time in which descendants are killed again and again */
#define SWEEP_GAP_NS 2000000
#define SOON_MS      2000 /* a lease that ends so soon is waited for */
#define WORDS_MAX    ((size_t)4 << 20)
#define STATUS_BYTES 16384 /* of /proc/PID/status, with hundreds of groups */
#define KEPT_MAX     256   /* programs started outside that are still known */

enum message {
    MESSAGE_READY,  /* child: all is made */
    MESSAGE_FAILED, /* child: no namespaces here */
    MESSAGE_GO,     /* watcher: I am still here */
    MESSAGE_LOOK,   /* child: the lease ends earlier */
    MESSAGE_LAUNCH, /* child: start a program, with a file of its words and its output */
};

struct shared {
    uint64_t end_ms; /* atomic; CLOCK_BOOTTIME */
};

struct os_enclosure {
    struct shared *shared;
    int socket;
    int host_proc; /* the host's /proc; -1: it is ours, too */
    bool is_namespace;
    timer_t timer; /* without namespaces: ends this process after its lease */
};

struct kept {
    pid_t pid;
    uint64_t start_time;
};

struct watcher {
    struct shared *shared;
    int socket, signals;
    sigset_t before;
    pid_t child;
    bool is_namespace;
    timer_t timer;
    uint64_t armed_ms;    /* end of the lease that the timer knows */
    uint64_t kill_at_ms;  /* 0: the child was not asked to end */
    bool ended, by_lease; /* the child has ended; because we killed it for its lease */
    int status;
    struct kept kept[KEPT_MAX]; /* a ring */
    size_t kept_count;
};

static uint64_t now_boot_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_BOOTTIME, &now); /* has no way to fail */
    return (uint64_t)now.tv_sec * MS_PER_S + (uint64_t)now.tv_nsec / NS_PER_MS;
}

/* Makes a timer that kills this process. */
static int make_timer(timer_t *ret)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
    return timer_create(CLOCK_BOOTTIME, &event, ret) == 0 ? 0 : -errno;
}

static void set_timer(timer_t timer, uint64_t end_ms)
{
    uint64_t at_ms = end_ms + OS_ENCLOSE_GRACE_MS;
    const struct itimerspec when = {.it_value = {.tv_sec = (time_t)(at_ms / MS_PER_S),
                                                 .tv_nsec = (long)(at_ms % MS_PER_S) * NS_PER_MS}};
    (void)timer_settime(timer, TIMER_ABSTIME, &when, NULL); /* valid values of our own timer */
}

/* Lets this process kill descendants until then, although the lease ends earlier: without
 * namespaces nobody else does. */
static void allow_time(timer_t timer, const struct shared *shared, uint64_t until_ms)
{
    if (until_ms > __atomic_load_n(&shared->end_ms, __ATOMIC_SEQ_CST)) {
        set_timer(timer, until_ms);
    }
}

static bool say(int fd, enum message message)
{
    ssize_t sent;
    do {
        sent = send(fd, &message, sizeof(message), MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)sizeof(message);
}

static bool hear(int fd, enum message *ret)
{
    ssize_t got;
    do {
        got = recv(fd, ret, sizeof(*ret), 0);
    } while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof(*ret);
}

/* ---- the child ------------------------------------------------------------------------------- */

static bool write_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0) {
        close(fd);
    }
    return written;
}

/* uid, gid: those that we had outside; in a new user namespace we have none until it is mapped. */
static bool map_user(uid_t uid, gid_t gid)
{
    char uids[64], gids[64];
    (void)snprintf(uids, sizeof(uids), "%u %u 1", (unsigned)uid, (unsigned)uid);
    (void)snprintf(gids, sizeof(gids), "%u %u 1", (unsigned)gid, (unsigned)gid);
    return write_text("/proc/self/setgroups", "deny") && write_text("/proc/self/uid_map", uids) &&
           write_text("/proc/self/gid_map", gids);
}

static bool mount_proc(void)
{
    /* What others mount later is seen in here; what we mount is not seen outside. */
    return mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) == 0 &&
           mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == 0;
}

/* Makes the child what it should be.  Does not return if the watcher must try something else. */
static void child_begin(struct os_enclosure *self, uid_t uid, gid_t gid)
{
    bool made = true;
    if (self->is_namespace) {
        self->host_proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
        made = (uid == 0 || map_user(uid, gid)) && mount_proc();
    } else {
        made = prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0 && make_timer(&self->timer) == 0;
        if (made) {
            set_timer(self->timer, __atomic_load_n(&self->shared->end_ms, __ATOMIC_SEQ_CST));
        }
    }
    made = made && prctl(PR_SET_PDEATHSIG, self->is_namespace ? SIGKILL : SIGTERM, 0, 0, 0) == 0;
    /* A watcher that ended before the prctl() does not answer. */
    enum message answer;
    if (!say(self->socket, made ? MESSAGE_READY : MESSAGE_FAILED) || !hear(self->socket, &answer) ||
        answer != MESSAGE_GO) {
        _exit(127);
    }
}

bool os_enclosure_is_namespace(const struct os_enclosure *enclosure)
{
    return enclosure->is_namespace;
}

void os_enclosure_renew(struct os_enclosure *enclosure, uint64_t end_ms)
{
    uint64_t before = __atomic_exchange_n(&enclosure->shared->end_ms, end_ms, __ATOMIC_SEQ_CST);
    if (!enclosure->is_namespace) {
        set_timer(enclosure->timer, end_ms);
    }
    if (end_ms < before) {
        (void)say(enclosure->socket, MESSAGE_LOOK); /* it fails only when the watcher is dead */
    }
}

bool os_enclosure_has_others(const struct os_enclosure *enclosure)
{
    (void)enclosure; /* as process 1 or subreaper we are the parent of all that have none */
    siginfo_t info;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

void os_enclosure_kill_others(struct os_enclosure *enclosure)
{
    if (enclosure->is_namespace) {
        (void)kill(-1, SIGKILL); /* all in the namespace but us; ESRCH: there is nobody */
    } else {
        (void)os_descendants_kill(NULL, SIGKILL);
    }
}

void os_enclosure_sweep(struct os_enclosure *enclosure)
{
    const struct timespec gap = {.tv_nsec = SWEEP_GAP_NS};
    uint64_t until_ms = now_boot_ms() + SWEEP_MS;
    if (!enclosure->is_namespace) {
        allow_time(enclosure->timer, enclosure->shared, until_ms);
    }
    while (os_enclosure_has_others(enclosure) && now_boot_ms() < until_ms) {
        os_enclosure_kill_others(enclosure);
        (void)nanosleep(&gap, NULL); /* a signal: looked at earlier */
        while (waitpid(-1, NULL, WNOHANG) > 0) {
        }
    }
}

/* Reads a small file of the host's /proc.  Returns whether there is anything. */
static bool read_host_proc(int host_proc, const char *path, char *ret, size_t size)
{
    int fd = openat(host_proc, path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, ret, size - 1) : -1;
    ret[got > 0 ? got : 0] = '\0';
    if (fd >= 0) {
        close(fd);
    }
    return got > 0;
}

/* Returns the first or the last number of the line that begins so; 0: there is no such line. */
static pid_t line_pid(char *text, const char *begin, bool last)
{
    char *line = strstr(text, begin);
    long pid = 0;
    if (line != NULL) {
        char *at = line + strlen(begin);
        do {
            pid = strtol(at, &at, 10);
        } while (last && *at == '\t');
    }
    return pid > 0 ? (pid_t)pid : 0;
}

/* Where the kernel has no pidfds (before 5.3): looks for it among all processes.  The line NSpid
 * (since 4.1) ends with the pid in here. */
static pid_t host_pid_by_parent(int host_proc, pid_t pid)
{
    char path[sizeof(((struct dirent *)0)->d_name) + 16], text[STATUS_BYTES];
    pid_t found = 0, ours = read_host_proc(host_proc, "self/status", text, sizeof(text))
                                ? line_pid(text, "\nPid:", false)
                                : 0;
    if (pid == getpid() || ours == 0) {
        return ours;
    }
    int fd = openat(host_proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *proc = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;
    while (proc != NULL && found == 0 && (entry = readdir(proc)) != NULL) {
        (void)snprintf(path, sizeof(path), "%s/status", entry->d_name);
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
            read_host_proc(host_proc, path, text, sizeof(text)) &&
            line_pid(text, "\nPPid:", false) == ours && line_pid(text, "\nNSpid:", true) == pid) {
            found = line_pid(text, "\nPid:", false);
        }
    }
    if (proc != NULL) {
        (void)closedir(proc);
    }
    return found;
}

/* Returns the pid that the host's /proc shows for a process of ours; 0: it cannot be found. */
static pid_t host_pid_of(int host_proc, pid_t pid)
{
    char path[64], text[STATUS_BYTES];
    int pidfd = pidfd_open(pid, 0);
    if (pidfd < 0) {
        return host_pid_by_parent(host_proc, pid);
    }
    (void)snprintf(path, sizeof(path), "self/fdinfo/%d", pidfd);
    bool is_read = read_host_proc(host_proc, path, text, sizeof(text));
    close(pidfd);
    return is_read ? line_pid(text, "\nPid:", false) : 0;
}

pid_t os_enclosure_outer_pid(const struct os_enclosure *enclosure, pid_t pid)
{
    pid_t outer = enclosure->host_proc >= 0 ? host_pid_of(enclosure->host_proc, pid) : 0;
    return outer > 0 ? outer : pid;
}

/* Writes the words, each with its zero byte, to a file in memory. */
static int words_file(const char *const *argv)
{
    int fd = memfd_create("words", MFD_CLOEXEC);
    for (const char *const *word = argv; fd >= 0 && *word != NULL; word++) {
        size_t length = strlen(*word) + 1;
        if (write(fd, *word, length) != (ssize_t)length) {
            close(fd);
            fd = -1;
        }
    }
    return fd;
}

static bool send_launch(int to, int words, int output)
{
    enum message message = MESSAGE_LAUNCH;
    struct iovec data = {.iov_base = &message, .iov_len = sizeof(message)};
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(2 * sizeof(int))];
    } control = {.room = {0}};
    struct msghdr header = {.msg_iov = &data,
                            .msg_iovlen = 1,
                            .msg_control = control.room,
                            .msg_controllen = sizeof(control.room)};
    struct cmsghdr *first = CMSG_FIRSTHDR(&header);
    const int fds[2] = {words, output};
    first->cmsg_level = SOL_SOCKET;
    first->cmsg_type = SCM_RIGHTS;
    first->cmsg_len = CMSG_LEN(sizeof(fds));
    memcpy(CMSG_DATA(first), fds, sizeof(fds));
    ssize_t sent;
    do {
        sent = sendmsg(to, &header, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    return sent >= 0;
}

/* What a program outside says. */
struct said {
    int fd;
    struct loop_fd *watch;
    struct strbuf text;
    void (*call)(void *arg, char *text, size_t length);
    void *arg;
};

static void said_more(void *arg, unsigned ready)
{
    struct said *said = arg;
    char block[4096];
    (void)ready;
    ssize_t got = read(said->fd, block, sizeof(block));
    if (got > 0) {
        strbuf_append(&said->text, block, (size_t)got);
    } else if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
        loop_fd_destroy(said->watch);
        close(said->fd);
        size_t length = said->text.failed ? 0 : said->text.length;
        char *text = strbuf_take(&said->text);
        said->call(said->arg, text, length);
        mem_free(said);
    }
}

int os_enclosure_launch(struct os_enclosure *enclosure, struct loop *loop, const char *const *argv,
                        void (*said)(void *arg, char *text, size_t length), void *arg,
                        struct err *err)
{
    int ends[2] = {-1, -1};
    int words = words_file(argv);
    int code = words >= 0 && pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0 &&
                       fcntl(ends[1], F_SETFL, 0) == 0 &&
                       send_launch(enclosure->socket, words, ends[1])
                   ? 0
                   : err_set(err, -errno, "cannot start a program outside: %s", strerror(errno));
    if (words >= 0) {
        close(words);
    }
    if (ends[1] >= 0) {
        close(ends[1]);
    }
    if (code == 0) {
        struct said *reader = mem_zalloc(sizeof(*reader));
        *reader = (struct said){.fd = ends[0], .call = said, .arg = arg};
        strbuf_init(&reader->text, OS_ENCLOSE_TEXT_MAX);
        reader->watch = loop_fd_create(loop, ends[0], said_more, reader);
        loop_fd_want(reader->watch, LOOP_READ);
    } else if (ends[0] >= 0) {
        close(ends[0]);
    }
    return code;
}

/* ---- the watcher ----------------------------------------------------------------------------- */

/* Points the descriptors 0 and 1 to nothing, so that whoever waits for the end of our output waits
 * for the child alone. */
static void leave_streams(void)
{
    int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (fd >= 0) {
        (void)dup2(fd, STDIN_FILENO);
        (void)dup2(fd, STDOUT_FILENO);
        close(fd);
    }
}

static void watcher_kept(struct watcher *watcher, pid_t pid)
{
    struct kept *kept = &watcher->kept[watcher->kept_count++ % KEPT_MAX];
    kept->pid = pid;
    kept->start_time = os_start_time(NULL, pid);
}

/* Becomes the program outside. */
_Noreturn static void become_program(const struct watcher *watcher, char *words, size_t length,
                                     int output)
{
    size_t count = 0;
    for (size_t i = 0; i < length; i++) {
        count += words[i] == '\0' ? 1 : 0;
    }
    char **argv = mem_alloc((count + 1) * sizeof(*argv));
    char *at = words;
    for (size_t i = 0; i < count; i++) {
        argv[i] = at;
        at += strlen(at) + 1;
    }
    argv[count] = NULL;
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (setsid() >= 0 && null >= 0 && dup2(null, STDIN_FILENO) >= 0 &&
        dup2(output, STDOUT_FILENO) >= 0 && dup2(null, STDERR_FILENO) >= 0 &&
        sigprocmask(SIG_SETMASK, &watcher->before, NULL) == 0) {
        (void)execv("/proc/self/exe", argv); /* our other descriptors are closed by it */
    }
    (void)!dprintf(output, "-1 cannot start a program outside: %s\n", strerror(errno));
    _exit(127);
}

static void watcher_launch(struct watcher *watcher, int words, int output)
{
    off_t length = lseek(words, 0, SEEK_END);
    char *text = length > 0 && (size_t)length <= WORDS_MAX ? mem_try_alloc((size_t)length) : NULL;
    if (text != NULL && pread(words, text, (size_t)length, 0) == length &&
        text[length - 1] == '\0') {
        pid_t pid = fork();
        if (pid == 0) {
            become_program(watcher, text, (size_t)length, output);
        }
        if (pid > 0) {
            watcher_kept(watcher, pid);
        }
    }
    mem_free(text);
}

static void watcher_hear(struct watcher *watcher)
{
    enum message message;
    int fds[2] = {-1, -1};
    struct iovec data = {.iov_base = &message, .iov_len = sizeof(message)};
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(fds))];
    } control;
    struct msghdr header = {.msg_iov = &data,
                            .msg_iovlen = 1,
                            .msg_control = control.room,
                            .msg_controllen = sizeof(control.room)};
    ssize_t got = recvmsg(watcher->socket, &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (got == 0) { /* the child is dying */
        close(watcher->socket);
        watcher->socket = -1;
        return;
    }
    const struct cmsghdr *first = got > 0 ? CMSG_FIRSTHDR(&header) : NULL;
    if (first != NULL && first->cmsg_type == SCM_RIGHTS &&
        first->cmsg_len == CMSG_LEN(sizeof(fds))) {
        memcpy(fds, CMSG_DATA(first), sizeof(fds));
        if (message == MESSAGE_LAUNCH) {
            watcher_launch(watcher, fds[0], fds[1]);
        }
        close(fds[0]);
        close(fds[1]);
    }
}

static void watcher_reap(struct watcher *watcher)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid == watcher->child) {
            watcher->ended = true;
            watcher->status = status;
        }
    }
}

static void watcher_signals(struct watcher *watcher)
{
    struct signalfd_siginfo info;
    while (read(watcher->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        if (info.ssi_signo != SIGCHLD && watcher->kill_at_ms == 0) {
            (void)kill(watcher->child, (int)info.ssi_signo);
            watcher->kill_at_ms = now_boot_ms() + END_MS;
        }
    }
    watcher_reap(watcher);
}

/* Sets the timer to the lease as it is now.  Returns the end of the lease. */
static uint64_t arm(struct watcher *watcher)
{
    uint64_t end_ms = __atomic_load_n(&watcher->shared->end_ms, __ATOMIC_SEQ_CST);
    if (end_ms != watcher->armed_ms) {
        set_timer(watcher->timer, end_ms);
        watcher->armed_ms = end_ms;
    }
    return end_ms;
}

/* Looks at the lease.  Returns how long nothing needs to be done, in ms. */
static int watcher_look(struct watcher *watcher)
{
    uint64_t end_ms = arm(watcher);
    uint64_t now_ms = now_boot_ms();
    watcher->by_lease = watcher->by_lease || now_ms >= end_ms + OS_ENCLOSE_LATE_MS;
    if (watcher->by_lease || (watcher->kill_at_ms != 0 && now_ms >= watcher->kill_at_ms)) {
        (void)kill(watcher->child, SIGKILL);
        return END_MS;
    }
    uint64_t wait_ms =
        end_ms > now_ms + SOON_MS ? (end_ms - now_ms) / 2 : end_ms + OS_ENCLOSE_LATE_MS - now_ms;
    if (watcher->kill_at_ms != 0 && watcher->kill_at_ms - now_ms < wait_ms) {
        wait_ms = watcher->kill_at_ms - now_ms;
    }
    return (int)(wait_ms < INT32_MAX ? wait_ms : INT32_MAX);
}

/* Kills our descendants, but not the programs outside and what they have started. */
static void watcher_kill(const struct watcher *watcher)
{
    struct population all = {0}, outside = {0};
    population_read(&all);
    population_read(&outside);
    population_mark(&all, getpid());
    for (size_t i = 0; i < watcher->kept_count && i < KEPT_MAX; i++) {
        struct living *root = population_find(&outside, watcher->kept[i].pid);
        if (root != NULL && root->start_time == watcher->kept[i].start_time) {
            population_mark(&outside, root->pid);
            root->ours = true;
        }
    }
    for (size_t i = 0; i < all.count; i++) {
        const struct living *other = population_find(&outside, all.all[i].pid);
        if (all.all[i].ours && (other == NULL || !other->ours)) {
            (void)kill(all.all[i].pid, SIGKILL);
        }
    }
    mem_free(all.all);
    mem_free(outside.all);
}

/* Returns whether we have a child that is not a program outside. */
static bool watcher_has_others(const struct watcher *watcher)
{
    struct population family = {0};
    bool found = false;
    population_read_family(&family, getpid(), true);
    for (size_t i = 0; i < family.count && !found; i++) {
        bool kept = family.all[i].parent != getpid(); /* what these start is not looked at */
        for (size_t k = 0; k < watcher->kept_count && k < KEPT_MAX; k++) {
            kept = kept || watcher->kept[k].pid == family.all[i].pid;
        }
        found = !kept;
    }
    mem_free(family.all);
    return found;
}

/* Without namespaces: kills what the child has left to us, until nothing is left. */
static void watcher_sweep(struct watcher *watcher)
{
    const struct timespec gap = {.tv_nsec = SWEEP_GAP_NS};
    uint64_t until_ms = now_boot_ms() + SWEEP_MS;
    allow_time(watcher->timer, watcher->shared, until_ms);
    watcher_reap(watcher);
    while (watcher_has_others(watcher) && now_boot_ms() < until_ms) {
        watcher_kill(watcher);
        (void)nanosleep(&gap, NULL); /* a signal: looked at earlier */
        watcher_reap(watcher);
    }
}

static int watcher_run(struct watcher *watcher, struct err *err)
{
    leave_streams();
    while (!watcher->ended) {
        int wait_ms = watcher_look(watcher);
        struct pollfd fds[2] = {{.fd = watcher->signals, .events = POLLIN},
                                {.fd = watcher->socket, .events = POLLIN}};
        if (poll(fds, 2, wait_ms) > 0) {
            if (fds[1].revents != 0) {
                watcher_hear(watcher);
            }
            watcher_signals(watcher);
        }
    }
    if (!watcher->is_namespace) {
        watcher_sweep(watcher);
    }
    if (watcher->by_lease) {
        (void)
            err_set(err, -ETIMEDOUT,
                    "nobody has renewed the lease, and the process that held the jobs stood still: "
                    "it was killed");
        return OS_ENCLOSE_LEASE_STATUS;
    }
    if (WIFSIGNALED(watcher->status)) {
        (void)err_set(err, -EIO, "signal %d ended the process that held the jobs",
                      WTERMSIG(watcher->status));
        return 1;
    }
    return WEXITSTATUS(watcher->status);
}

/* ---- both ------------------------------------------------------------------------------------ */

/* Makes the child.  Returns its pid, 0 in the child, or -errno. */
static pid_t make_child(bool is_namespace)
{
    if (!is_namespace) {
        pid_t pid = fork();
        return pid >= 0 ? pid : -errno;
    }
    int flags =
        SIGCHLD | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | (geteuid() != 0 ? CLONE_NEWUSER : 0);
    pid_t pid = (pid_t)syscall(SYS_clone, flags, NULL, NULL, NULL, 0);
    return pid >= 0 ? pid : -errno;
}

static bool can_try_namespaces(const struct os_enclose *spec)
{
#if defined(__SANITIZE_THREAD__)
    (void)spec; /* it must hear of each fork, and hears of fork() only */
    return false;
#else
    return !spec->no_namespaces;
#endif
}

/* The child's whole life. */
_Noreturn static void child_run(const struct watcher *watcher, int ours, uid_t uid, gid_t gid,
                                int (*inside)(void *arg, struct os_enclosure *), void *arg)
{
    struct os_enclosure self = {.shared = watcher->shared,
                                .socket = ours,
                                .host_proc = -1,
                                .is_namespace = watcher->is_namespace};
    close(watcher->socket);
    close(watcher->signals);
    child_begin(&self, uid, gid);
    (void)sigprocmask(SIG_SETMASK, &watcher->before, NULL); /* as it was before */
    int status = inside(arg, &self);
    os_leave(status);
    exit(status);
}

/* Starts the child as watcher->is_namespace says.  Returns 0 or -errno. */
static int watcher_try(struct watcher *watcher, int (*inside)(void *arg, struct os_enclosure *),
                       void *arg)
{
    int ends[2];
    uid_t uid = geteuid();
    gid_t gid = getegid();
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
        return -errno;
    }
    watcher->socket = ends[0];
    watcher->child = make_child(watcher->is_namespace);
    if (watcher->child == 0) {
        child_run(watcher, ends[1], uid, gid, inside, arg);
    }
    close(ends[1]);
    enum message message;
    (void)arm(watcher); /* before the child goes on: whoever hears from it may stop us */
    if (watcher->child > 0 && hear(watcher->socket, &message) && message == MESSAGE_READY &&
        say(watcher->socket, MESSAGE_GO)) {
        return 0;
    }
    int code = watcher->child > 0 ? -EAGAIN : watcher->child;
    if (watcher->child > 0) {
        (void)kill(watcher->child, SIGKILL);
        while (waitpid(watcher->child, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    close(watcher->socket);
    return code;
}

static int watcher_start(struct watcher *watcher, int (*inside)(void *arg, struct os_enclosure *),
                         void *arg)
{
    if (watcher->is_namespace && watcher_try(watcher, inside, arg) == 0) {
        return 0;
    }
    watcher->is_namespace = false; /* it cannot be had, or is not wanted */
    return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0 ? watcher_try(watcher, inside, arg)
                                                          : -errno;
}

int os_enclose_run(const struct os_enclose *spec, int (*inside)(void *arg, struct os_enclosure *),
                   void *arg, struct err *err)
{
    struct watcher watcher = {.is_namespace = can_try_namespaces(spec)};
    sigset_t watched;
    watcher.shared = mmap(NULL, sizeof(*watcher.shared), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (watcher.shared == MAP_FAILED) {
        (void)err_set(err, -errno, "no memory for a lease: %s", strerror(errno));
        return 1;
    }
    uint64_t end_ms = now_boot_ms() + spec->lease_ms;
    __atomic_store_n(&watcher.shared->end_ms, end_ms, __ATOMIC_SEQ_CST);
    (void)sigemptyset(&watched);
    (void)sigaddset(&watched, SIGTERM);
    (void)sigaddset(&watched, SIGHUP);
    (void)sigaddset(&watched, SIGINT);
    (void)sigaddset(&watched, SIGCHLD);
    (void)signal(SIGCHLD, SIG_DFL); /* if it was ignored, no status of a child could be had */
    (void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); /* else the maps of a user namespace are not ours */
    (void)sigprocmask(SIG_BLOCK, &watched, &watcher.before);
    watcher.signals = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
    int code = watcher.signals >= 0 ? make_timer(&watcher.timer) : -errno;
    int status = 1;
    if (code == 0) {
        code = watcher_start(&watcher, inside, arg);
        status = code == 0 ? watcher_run(&watcher, err) : 1;
        (void)timer_delete(watcher.timer);
    }
    if (code != 0) {
        (void)err_set(err, code, "cannot start a process: %s", strerror(-code));
    }
    if (watcher.signals >= 0) {
        close(watcher.signals);
    }
    (void)sigprocmask(SIG_SETMASK, &watcher.before, NULL);
    (void)munmap(watcher.shared, sizeof(*watcher.shared));
    return status;
}
