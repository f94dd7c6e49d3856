/* rsyscall_fuse/cage_linux.c - our side of the cage (the job's namespaces): see cage_linux.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rsyscall_fuse/cage_linux.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/loop.h"
#include "base/loop_event.h"
#include "base/mem.h"
#include "rsyscall_fuse/keeper_linux.h"

#define ANYWHERE "/tmp"

struct rfs_cage {
    struct loop *loop;
    struct rfs_cage_events events;
    void *arg;
    pid_t keeper;
    int socket;
    struct loop_fd *watch;
    bool has_ended, told, of_job;
    int status;
    char why[sizeof(((struct keeper_message *)0)->text) + 128];
};

static void send_message(const struct rfs_cage *cage, const struct keeper_message *message)
{
    /* A keeper that is gone is noticed where it is listened to. */
    (void)send(cage->socket, message, sizeof(*message), MSG_NOSIGNAL);
}

/* ---- messages of the keeper ------------------------------------------------------------------ */

static ssize_t receive_message(int socket, struct keeper_message *message, int fds[2])
{
    char control[CMSG_SPACE(2 * sizeof(int))];
    struct iovec vector = {message, sizeof(*message)};
    struct msghdr header = {.msg_iov = &vector,
                            .msg_iovlen = 1,
                            .msg_control = control,
                            .msg_controllen = sizeof control};
    fds[0] = fds[1] = -1;
    ssize_t got = recvmsg(socket, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    const struct cmsghdr *part = got > 0 ? CMSG_FIRSTHDR(&header) : NULL;
    if (part != NULL && part->cmsg_type == SCM_RIGHTS) {
        size_t size = part->cmsg_len - CMSG_LEN(0);
        memcpy(fds, CMSG_DATA(part), size < 2 * sizeof(int) ? size : 2 * sizeof(int));
    }
    return got;
}

/* Called when the keeper (the job's init process) has ended, and with it all processes in its PID
 * namespace.  Reports the job's end or the failure. */
static void keeper_gone(struct rfs_cage *cage)
{
    int status;
    loop_fd_want(cage->watch, 0);
    while (waitpid(cage->keeper, &status, 0) < 0 && errno == EINTR) {
    }
    cage->keeper = -1;
    if (cage->has_ended && !cage->told) {
        cage->events.ended(cage->arg, cage->status);
    } else {
        cage->events.failed(cage->arg, cage->of_job,
                            cage->told ? cage->why
                                       : "the process that mounts the files was killed");
    }
}

static void on_message(void *arg, unsigned ready)
{
    struct rfs_cage *cage = arg;
    struct keeper_message message;
    int fds[2];
    (void)ready;
    ssize_t got = receive_message(cage->socket, &message, fds);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    if (got != (ssize_t)sizeof(message)) {
        keeper_gone(cage);
        return;
    }
    switch ((enum keeper_word)message.word) {
    case KEEPER_MOUNTED:
        cage->events.mounted(cage->arg, fds[0], fds[1]);
        send_message(cage, &(struct keeper_message){.word = KEEPER_SERVED});
        break;
    case KEEPER_STARTED:
        cage->events.started(cage->arg);
        break;
    case KEEPER_ENDED:
        cage->has_ended = true;
        cage->status = message.value;
        break;
    case KEEPER_FAILED:
    case KEEPER_REFUSED:
        cage->told = true;
        cage->of_job = message.word == KEEPER_REFUSED;
        message.text[sizeof message.text - 1] = '\0';
        (void)snprintf(cage->why, sizeof cage->why, "%s: %s", message.text,
                       strerror(message.value));
        break;
    case KEEPER_GO:
    case KEEPER_SERVED:
    case KEEPER_SIGNAL:
        break;
    }
}

/* ---- life ------------------------------------------------------------------------------------ */

static pid_t copy_into_namespaces(bool network)
{
    unsigned long flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | SIGCHLD;
    return (pid_t)syscall(SYS_clone, flags | (network ? 0 : CLONE_NEWNET), NULL, NULL, NULL, NULL);
}

int rfs_cage_create(struct loop *loop, const struct rfs_cage_options *options,
                    const struct rfs_cage_events *events, void *arg, struct rfs_cage **ret,
                    struct err *err)
{
    int sockets[2];
    if (geteuid() == 0) {
        return err_set(err, -EPERM,
                       "root may not mount a job's files; start this program as the job's user");
    }
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) {
        return err_set(err, -errno, "cannot create a pair of sockets: %s", strerror(errno));
    }
    (void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); /* else the maps are not ours to write */
    pid_t keeper = copy_into_namespaces(options->network);
    if (keeper == 0) {
        close(sockets[0]);
        keeper_run(sockets[1], options, options->scratch != NULL ? options->scratch : ANYWHERE);
    }
    int error = errno;
    close(sockets[1]);
    if (keeper < 0) {
        close(sockets[0]);
        return err_set(
            err, -error,
            "cannot create namespaces for the job (user namespaces may be forbidden on this "
            "machine: user.max_user_namespaces, kernel.unprivileged_userns_clone): %s",
            strerror(error));
    }
    struct rfs_cage *cage = mem_zalloc(sizeof(*cage));
    cage->loop = loop;
    cage->events = *events;
    cage->arg = arg;
    cage->keeper = keeper;
    cage->socket = sockets[0];
    cage->watch = loop_fd_create(loop, cage->socket, on_message, cage);
    loop_fd_want(cage->watch, LOOP_READ);
    *ret = cage;
    return 0;
}

static int write_text(pid_t pid, const char *file, const char *text, struct err *err)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    ssize_t put = fd >= 0 ? write(fd, text, strlen(text)) : -1;
    int code = put < 0 ? err_set(err, -errno, "%s: %s", path, strerror(errno)) : 0;
    if (fd >= 0) {
        close(fd);
    }
    return code;
}

int rfs_cage_mount(struct rfs_cage *cage, uid_t uid, gid_t gid, uint32_t max_read, struct err *err)
{
    char users[64], groups[64];
    (void)snprintf(users, sizeof users, "%u %u 1", (unsigned)uid, (unsigned)geteuid());
    (void)snprintf(groups, sizeof groups, "%u %u 1", (unsigned)gid, (unsigned)getegid());
    int code = write_text(cage->keeper, "setgroups", "deny", err);
    code = code != 0 ? code : write_text(cage->keeper, "uid_map", users, err);
    code = code != 0 ? code : write_text(cage->keeper, "gid_map", groups, err);
    if (code == 0) {
        /* From now on the job, whose user we are, cannot look into us. */
        (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
        send_message(cage, &(struct keeper_message){
                               .word = KEEPER_GO, .uid = uid, .gid = gid, .max_read = max_read});
    }
    return code;
}

void rfs_cage_signal(struct rfs_cage *cage, int signal_number)
{
    send_message(cage, &(struct keeper_message){.word = KEEPER_SIGNAL, .value = signal_number});
}

void rfs_cage_kill(struct rfs_cage *cage)
{
    if (cage->keeper > 0) {
        (void)kill(cage->keeper, SIGKILL); /* process 1: all of its namespace goes with it */
    }
}

void rfs_cage_destroy(struct rfs_cage *cage)
{
    if (cage == NULL) {
        return;
    }
    rfs_cage_kill(cage);
    while (cage->keeper > 0 && waitpid(cage->keeper, NULL, 0) < 0 && errno == EINTR) {
    }
    loop_fd_destroy(cage->watch);
    close(cage->socket);
    mem_free(cage);
}

int rfs_cage_signal_of(int status)
{
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

int rfs_cage_end_like(int status)
{
    int number = rfs_cage_signal_of(status);
    if (number != 0) {
        (void)signal(number, SIG_DFL);
        (void)raise(number);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
