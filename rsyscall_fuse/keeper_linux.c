/* rsyscall_fuse/keeper_linux.c - the keeper: the init process (process 1) of a job's namespaces.
 * See cage_linux.h.
 *
 * Design note: while the old root is still there, what the job needs of this machine is bound over
 * the file system: a fresh /proc that shows only the job's processes, six devices, terminals and
 * shared memory of its own, and the scratch directory.  If the submit machine's files have no
 * directory for one of these, it is left out.  Then the root is changed by pivot_root(2), not
 * chroot(2): nobody can leave for a root that does not exist any more.  And the kernel lets a job
 * make user namespaces of its own (for example when it is resumed from a checkpoint) only where its
 * root is the root of its mount namespace.
 *
 * The job has no capabilities, no_new_privs, and system call filters.  Without network, one of the
 * filters is about sockets: a network namespace does not block sockets to the host of a virtual
 * machine (vsock).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rsyscall_fuse/keeper_linux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/if.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os/os_cage.h"

#define PLAIN         ((unsigned long)(MS_NOSUID | MS_NODEV))
#define CAPABILITIES  64
#define FD_PATH_SIZE  32 /* bytes of a path in /proc/self/fd, with the terminating zero */
#define SIGNALS_COUNT 64

struct keeper {
    int socket;
    const struct rfs_cage_options *options;
    const char *home;
    int scratch_fd, image_fd;
    int devices_fd; /* mount that becomes the job's /dev */
};

static const char *const DEVICES[] = {"null", "zero", "full", "random", "urandom", "tty"};
static const struct {
    const char *name, *target;
} DEVICE_LINKS[] = {{"fd", "/proc/self/fd"},
                    {"stdin", "/proc/self/fd/0"},
                    {"stdout", "/proc/self/fd/1"},
                    {"stderr", "/proc/self/fd/2"},
                    {"ptmx", "pts/ptmx"}};

_Noreturn static void end_with(const struct keeper *keeper, enum keeper_word word, const char *what)
{
    struct keeper_message message = {.word = (int32_t)word, .value = errno};
    (void)snprintf(message.text, sizeof message.text, "%s", what);
    (void)send(keeper->socket, &message, sizeof message, MSG_NOSIGNAL);
    _exit(1);
}

_Noreturn static void fail_keeper(const struct keeper *keeper, const char *what)
{
    end_with(keeper, KEEPER_FAILED, what);
}

static void must_succeed(const struct keeper *keeper, long result, const char *what)
{
    if (result < 0) {
        fail_keeper(keeper, what);
    }
}

static struct keeper_message listen_to_us(const struct keeper *keeper)
{
    struct keeper_message message;
    ssize_t got;
    do {
        got = recv(keeper->socket, &message, sizeof message, 0);
    } while (got < 0 && errno == EINTR);
    if (got != (ssize_t)sizeof message) {
        _exit(1); /* we are gone */
    }
    return message;
}

/* ---- before the root is changed -------------------------------------------------------------- */

static void raise_loopback(const struct keeper *keeper)
{
    struct ifreq request = {0};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    must_succeed(keeper, fd, "creating a socket for the loopback device");
    memcpy(request.ifr_name, "lo", 3);
    request.ifr_flags = IFF_UP | IFF_RUNNING;
    must_succeed(keeper, ioctl(fd, SIOCSIFFLAGS, &request), "starting the loopback device");
    close(fd);
}

/* Sends the descriptors of the file system to our parent, which serves it. */
static void hand_over(const struct keeper *keeper, int fuse_fd, int proc_fd)
{
    struct keeper_message message = {.word = KEEPER_MOUNTED};
    int fds[2] = {fuse_fd, proc_fd};
    size_t size = proc_fd >= 0 ? sizeof fds : sizeof fds[0];
    char control[CMSG_SPACE(sizeof fds)] = {0};
    struct iovec vector = {&message, sizeof message};
    struct msghdr header = {.msg_iov = &vector,
                            .msg_iovlen = 1,
                            .msg_control = control,
                            .msg_controllen = CMSG_SPACE(size)};
    struct cmsghdr *part = CMSG_FIRSTHDR(&header);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(size);
    memcpy(CMSG_DATA(part), fds, size);
    must_succeed(keeper, sendmsg(keeper->socket, &header, MSG_NOSIGNAL), "handing over /dev/fuse");
}

/* Makes the job's /dev outside the job's files, and binds it later.  Within them, whoever serves
 * the files could redirect its names while we make it. */
static void make_devices(struct keeper *keeper)
{
    char from[64];
    must_succeed(keeper,
                 mount("tmpfs", keeper->home, "tmpfs", MS_NOSUID | MS_NOEXEC,
                       "mode=0755,size=256k"),
                 "/dev");
    must_succeed(keeper, chdir(keeper->home), "/dev");
    for (size_t i = 0; i < sizeof DEVICES / sizeof DEVICES[0]; i++) {
        (void)snprintf(from, sizeof from, "/dev/%s", DEVICES[i]);
        int fd = open(DEVICES[i], O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
        must_succeed(keeper, fd, from);
        close(fd);
        if (mount(from, DEVICES[i], NULL, MS_BIND, NULL) != 0 && errno != ENOENT) {
            fail_keeper(keeper, from);
        }
    }
    for (size_t i = 0; i < sizeof DEVICE_LINKS / sizeof DEVICE_LINKS[0]; i++) {
        must_succeed(keeper, symlink(DEVICE_LINKS[i].target, DEVICE_LINKS[i].name),
                     DEVICE_LINKS[i].name);
    }
    must_succeed(keeper, mkdir("pts", 0755), "/dev/pts");
    must_succeed(keeper, mkdir("shm", 01777), "/dev/shm");
    /* Without terminals of its own a job can do. */
    (void)mount("devpts", "pts", "devpts", MS_NOSUID | MS_NOEXEC,
                "newinstance,ptmxmode=0666,mode=0620");
    must_succeed(keeper, mount("tmpfs", "shm", "tmpfs", PLAIN, "mode=1777"), "/dev/shm");
    keeper->devices_fd =
        open_tree(AT_FDCWD, ".", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
    must_succeed(keeper, keeper->devices_fd, "/dev");
    must_succeed(keeper, chdir("/"), "/");
    (void)umount2(keeper->home, MNT_DETACH);
}

static void mount_files(struct keeper *keeper, const struct keeper_message *go)
{
    char data[160];
    /* -1 in a container that hides parts of its own: then the job has no /proc. */
    int proc_fd = mount("proc", "/proc", "proc", PLAIN | MS_NOEXEC, NULL) == 0
                      ? open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC)
                      : -1;
    if (keeper->options->scratch != NULL) {
        keeper->scratch_fd = open(keeper->options->scratch, O_PATH | O_DIRECTORY | O_CLOEXEC);
        must_succeed(keeper, keeper->scratch_fd, keeper->options->scratch);
    }
    if (keeper->options->image != NULL) {
        keeper->image_fd = open(keeper->options->image, O_RDONLY | O_CLOEXEC);
        must_succeed(keeper, keeper->image_fd, keeper->options->image);
    }
    int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    must_succeed(keeper, fd, "/dev/fuse");
    make_devices(keeper);
    (void)snprintf(data, sizeof data, "fd=%d,rootmode=40000,user_id=%u,group_id=%u,max_read=%u", fd,
                   go->uid, go->gid, go->max_read);
    must_succeed(keeper, mount("roost", keeper->home, "fuse", PLAIN, data),
                 "mounting the job's files");
    hand_over(keeper, fd, proc_fd);
    close(fd);
    if (proc_fd >= 0) {
        close(proc_fd);
    }
}

static bool is_directory(const char *path)
{
    struct stat about;
    return lstat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

static void bind_fd(const struct keeper *keeper, int fd, const char *to)
{
    char from[FD_PATH_SIZE];
    (void)snprintf(from, sizeof from, "/proc/self/fd/%d", fd);
    must_succeed(keeper, mount(from, to, NULL, MS_BIND, NULL), to);
}

static void change_root(struct keeper *keeper)
{
    must_succeed(keeper, chdir(keeper->home), "making the job's root directory");
    if (is_directory("proc")) {
        (void)mount("/proc", "proc", NULL, MS_BIND, NULL); /* if we have one */
    }
    if (is_directory("dev")) {
        must_succeed(keeper,
                     move_mount(keeper->devices_fd, "", AT_FDCWD, "dev", MOVE_MOUNT_F_EMPTY_PATH),
                     "/dev");
    }
    if (keeper->scratch_fd >= 0 && is_directory("tmp")) {
        bind_fd(keeper, keeper->scratch_fd, "tmp");
    }
    must_succeed(keeper, syscall(SYS_pivot_root, ".", "."), "changing the root directory");
    must_succeed(keeper, umount2(".", MNT_DETACH), "leaving the old root directory");
    must_succeed(keeper, chdir("/"), "/");
}

/* ---- the job --------------------------------------------------------------------------------- */

static void drop_capabilities(const struct keeper *keeper)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[2] = {{0}};
    for (unsigned long i = 0; i < CAPABILITIES; i++) {
        (void)prctl(PR_CAPBSET_DROP, i, 0, 0, 0); /* until there is no such one */
    }
    must_succeed(keeper, syscall(SYS_capset, &header, none), "dropping capabilities");
}

/* Appends a filter to the program: what the filters before allow is judged by this one, too. */
static void add_filter(const struct os_filter *filter, struct sock_fprog *program)
{
    for (unsigned short i = 0; i < program->len; i++) {
        struct sock_filter *code = &program->filter[i];
        if (code->code == (BPF_RET | BPF_K) && code->k == SECCOMP_RET_ALLOW) {
            *code = (struct sock_filter){.code = BPF_JMP | BPF_JA, .k = program->len - i - 1U};
        }
    }
    memcpy(program->filter + program->len, filter->codes, filter->count * sizeof *filter->codes);
    program->len = (unsigned short)(program->len + filter->count);
}

/* Installs both filters as one.  A checkpoint counts the filters of the job, and refuses a job that
 * has installed filters itself (ckpt/dump/dump_check_linux.c). */
static void set_filters(const struct keeper *keeper)
{
    const struct rfs_cage_options *options = keeper->options;
    const struct os_filter *filters[] = {options->network ? NULL : options->offline_filter,
                                         options->filter};
    struct sock_filter codes[BPF_MAXINSNS];
    struct sock_fprog program = {.filter = codes};
    for (size_t i = 0; i < 2; i++) {
        if (filters[i] != NULL && program.len + filters[i]->count > BPF_MAXINSNS) {
            errno = E2BIG;
            fail_keeper(keeper, "installing the system call filter");
        }
        if (filters[i] != NULL) {
            add_filter(filters[i], &program);
        }
    }
    if (program.len > 0) {
        must_succeed(keeper, prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0),
                     "installing the system call filter");
    }
}

/* Opens one standard stream of the job by its path in the job's file system. */
static void open_stream(const struct keeper *keeper, int number)
{
    const char *const *paths = keeper->options->streams;
    const char *path = paths[number];
    if (path == NULL) {
        return;
    }
    if (number == 2 && paths[1] != NULL && strcmp(paths[1], path) == 0) {
        must_succeed(keeper, dup2(1, 2), path);
        return;
    }
    int flags = number == 0 ? O_RDONLY : O_WRONLY | O_CREAT | O_TRUNC;
    int fd = open(path, flags | O_CLOEXEC | O_NOCTTY, 0666);
    if (fd < 0) {
        end_with(keeper, KEEPER_REFUSED, path);
    }
    must_succeed(keeper, dup2(fd, number), path);
    close(fd);
}

_Noreturn static void become_job(const struct keeper *keeper, const sigset_t *signals)
{
    const char *directory = keeper->options->directory;
    drop_capabilities(keeper);
    if (directory != NULL && chdir(directory) != 0) {
        end_with(keeper, KEEPER_REFUSED, directory);
    }
    for (int i = 0; i < 3; i++) {
        open_stream(keeper, i);
    }
    for (int i = 1; i < SIGNALS_COUNT; i++) {
        (void)signal(i, SIG_DFL);
    }
    (void)sigprocmask(SIG_SETMASK, signals, NULL);
    must_succeed(keeper, prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs");
    set_filters(keeper);
    if (keeper->options->environment != NULL) {
        environ = (char **)(uintptr_t)keeper->options->environment; /* for PATH, too */
    }
    if (keeper->image_fd >= 0) {
        (void)syscall(SYS_execveat, keeper->image_fd, "", keeper->options->argv, environ,
                      AT_EMPTY_PATH);
        fail_keeper(keeper, keeper->options->image);
    }
    (void)execvp(keeper->options->argv[0], keeper->options->argv);
    end_with(keeper, KEEPER_REFUSED, keeper->options->argv[0]);
}

static void obey_message(const struct keeper *keeper, pid_t job)
{
    struct keeper_message message;
    ssize_t got = recv(keeper->socket, &message, sizeof message, MSG_DONTWAIT);
    if (got == 0) {
        _exit(1); /* we are gone: all of the namespace goes, too */
    }
    if (got == (ssize_t)sizeof message && message.word == KEEPER_SIGNAL) {
        (void)kill(job, message.value);
    }
}

/* Collects ended children; orphans of the job become our children, too.  True: the job itself has
 * ended, and *status is its status. */
static bool reap_children(pid_t job, int *status)
{
    pid_t pid;
    int one;
    bool ended = false;
    while ((pid = waitpid(-1, &one, WNOHANG)) > 0) {
        if (pid == job) {
            *status = one;
            ended = true;
        }
    }
    return ended;
}

/* Kills all other processes of the namespace and waits for them, so that all that they wrote is
 * written when we end. */
static void end_others(void)
{
    (void)kill(-1, SIGKILL);
    while (waitpid(-1, NULL, 0) > 0 || errno == EINTR) {
    }
}

static void watch_job(const struct keeper *keeper, pid_t job, const sigset_t *child)
{
    struct pollfd watched[2] = {{.fd = keeper->socket, .events = POLLIN},
                                {.fd = signalfd(-1, child, SFD_CLOEXEC | SFD_NONBLOCK),
                                 .events = POLLIN}};
    struct keeper_message message = {.word = KEEPER_STARTED};
    int status = 0;
    (void)send(keeper->socket, &message, sizeof message, MSG_NOSIGNAL);
    while (!reap_children(job, &status)) {
        struct signalfd_siginfo info;
        if (poll(watched, 2, -1) > 0) {
            while (read(watched[1].fd, &info, sizeof info) > 0) {
            }
            if (watched[0].revents != 0) {
                obey_message(keeper, job);
            }
        }
    }
    end_others();
    message.word = KEEPER_ENDED;
    message.value = status;
    (void)send(keeper->socket, &message, sizeof message, MSG_NOSIGNAL);
}

_Noreturn void keeper_run(int socket, const struct rfs_cage_options *options, const char *home)
{
    struct keeper keeper = {socket, options, home, -1, -1, -1};
    sigset_t child, before;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    (void)prctl(PR_SET_NAME, "roost-keeper", 0, 0, 0);
    struct keeper_message go = listen_to_us(&keeper);
    must_succeed(&keeper, mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL),
                 "creating a mount namespace");
    if (!options->network) {
        raise_loopback(&keeper);
    }
    mount_files(&keeper, &go);
    (void)listen_to_us(&keeper);
    change_root(&keeper);
    (void)sigemptyset(&child);
    (void)sigaddset(&child, SIGCHLD);
    (void)sigprocmask(SIG_BLOCK, &child, &before);
    /* Before there is a job, which is of our user and could look into us. */
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    pid_t job = (pid_t)syscall(SYS_clone, (unsigned long)SIGCHLD, NULL, NULL, NULL, NULL);
    must_succeed(&keeper, job, "creating a process for the job");
    if (job == 0) {
        become_job(&keeper, &before);
    }
    (void)syscall(SYS_close_range, 0U, (unsigned)socket - 1, 0U);
    (void)syscall(SYS_close_range, (unsigned)socket + 1, ~0U, 0U);
    watch_job(&keeper, job, &child);
    _exit(0);
}
