/* ckpt/dump/dump_fd_socket_linux.c - pairs of sockets (socketpair) whose ends are the job's.
 *
 * Which sockets are a pair the kernel tells to whoever asks for it (sock_diag(7)).  What waits to
 * be read is looked at, not taken.  All other sockets are refused: whom they are connected with is
 * not ours to stop.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "ckpt/dump/dump_fd.h"

#define MESSAGES_MAX 100000

struct pair {
    uint32_t peer; /* inode; 0: it has none any more */
    uint8_t shut;
};

/* ---- asking */

static int ask_kernel(int fd, uint32_t inode)
{
    struct {
        struct nlmsghdr head;
        struct unix_diag_req request;
    } message = {.head = {.nlmsg_len = sizeof message,
                          .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                          .nlmsg_flags = NLM_F_REQUEST},
                 .request = {.sdiag_family = AF_UNIX,
                             .udiag_states = ~0U,
                             .udiag_ino = inode,
                             .udiag_show = UDIAG_SHOW_PEER,
                             .udiag_cookie = {~0U, ~0U}}};
    return send(fd, &message, sizeof message, 0) == (ssize_t)sizeof message ? 0 : -errno;
}

static int read_answer(const char *bytes, size_t length, struct pair *ret)
{
    const struct nlmsghdr *head = (const void *)bytes;
    size_t at = NLMSG_LENGTH(sizeof(struct unix_diag_msg));
    if (length < at || head->nlmsg_len > length || head->nlmsg_type != SOCK_DIAG_BY_FAMILY) {
        return -EOPNOTSUPP;
    }
    *ret = (struct pair){.peer = 0};
    while (at + sizeof(struct rtattr) <= head->nlmsg_len) {
        struct rtattr attribute;
        memcpy(&attribute, bytes + at, sizeof attribute);
        size_t body = attribute.rta_len - sizeof attribute;
        if (attribute.rta_len < sizeof attribute || at + attribute.rta_len > head->nlmsg_len) {
            return -EPROTO;
        }
        const char *value = bytes + at + RTA_LENGTH(0);
        if (attribute.rta_type == UNIX_DIAG_PEER && body >= sizeof ret->peer) {
            memcpy(&ret->peer, value, sizeof ret->peer);
        } else if (attribute.rta_type == UNIX_DIAG_SHUTDOWN && body >= sizeof ret->shut) {
            memcpy(&ret->shut, value, sizeof ret->shut);
        }
        at += RTA_ALIGN(attribute.rta_len);
    }
    return 0;
}

static int ask_pair(uint64_t inode, struct pair *ret)
{
    _Alignas(struct nlmsghdr) char answer[4096];
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    int rc = fd < 0 ? -errno : ask_kernel(fd, (uint32_t)inode);
    if (rc == 0) {
        ssize_t got = recv(fd, answer, sizeof answer, 0);
        rc = got < 0 ? -errno : read_answer(answer, (size_t)got, ret);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return rc;
}

/* ---- what waits to be read */

/* Closes descriptors that came with a message: they were installed for us.  Returns whether there
 * were any. */
static bool had_descriptors(struct msghdr *message)
{
    bool had = false;
    for (struct cmsghdr *control = CMSG_FIRSTHDR(message); control != NULL;
         control = CMSG_NXTHDR(message, control)) {
        if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS) {
            continue;
        }
        for (size_t at = 0; at + CMSG_LEN(0) + sizeof(int) <= control->cmsg_len;
             at += sizeof(int)) {
            int fd;
            memcpy(&fd, CMSG_DATA(control) + at, sizeof fd);
            (void)close(fd);
            had = true;
        }
    }
    return had;
}

/* Reads what waits from that place on, without taking it: a message, or for a stream as much as
 * there is room for. */
static ssize_t peek_message(int fd, int at, void *room, size_t bytes, bool *descriptors)
{
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(253 * sizeof(int))];
    struct iovec iovec = {room, bytes};
    struct msghdr message = {.msg_iov = &iovec,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof control};
    if (setsockopt(fd, SOL_SOCKET, SO_PEEK_OFF, &at, sizeof at) != 0) {
        return -errno;
    }
    ssize_t got = recvmsg(fd, &message, MSG_PEEK | MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    int error = errno;
    /* Cut off: there were more than there was room for, or than we may have open. */
    bool cut = got >= 0 && (message.msg_flags & MSG_CTRUNC) != 0;
    *descriptors = had_descriptors(&message) || *descriptors || cut;
    return got < 0 ? -error : got;
}

/* A pair of ours that is sent the same messages as the socket has waiting.  One without a byte can
 * be seen at a peek only once, by whoever; but it takes memory of its sender's. */
struct twin {
    int ends[2], peer;
};

static void twin_open(struct twin *twin, const struct ckpt_file *saved,
                      const struct open_file *peer)
{
    int half = (int)(saved->sends / 2); /* the kernel doubles it */
    *twin = (struct twin){.ends = {-1, -1}, .peer = -1};
    if (peer != NULL && saved->type != SOCK_STREAM &&
        socketpair(AF_UNIX, (int)saved->type | SOCK_CLOEXEC, 0, twin->ends) == 0) {
        twin->peer = fd_fetch(peer);
        (void)setsockopt(twin->ends[0], SOL_SOCKET, SO_SNDBUF, &half, sizeof half);
    }
}

static uint32_t sent_bytes(int fd)
{
    uint32_t words[SK_MEMINFO_VARS] = {0};
    socklen_t length = sizeof words;
    (void)getsockopt(fd, SOL_SOCKET, SO_MEMINFO, words, &length);
    return words[SK_MEMINFO_WMEM_ALLOC];
}

static void twin_send(const struct twin *twin, const void *data, size_t bytes)
{
    if (twin->peer >= 0) {
        (void)send(twin->ends[0], data, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
}

/* Is there a message that nobody saw? */
static bool twin_close(struct twin *twin)
{
    bool more = twin->peer >= 0 && sent_bytes(twin->peer) > sent_bytes(twin->ends[0]);
    for (size_t i = 0; i < 2; i++) {
        if (twin->ends[i] >= 0) {
            (void)close(twin->ends[i]);
        }
    }
    if (twin->peer >= 0) {
        (void)close(twin->peer);
    }
    return more;
}

/* Saves all messages that wait. */
static int put_messages(struct files *files, struct ckpt_file *saved, int fd,
                        const struct twin *twin, bool *descriptors)
{
    size_t room = (size_t)saved->receives + saved->sends + 65536;
    unsigned char *chunk = mem_alloc(room);
    int rc = 0;
    for (int i = 0; rc == 0 && i < MESSAGES_MAX; i++) {
        ssize_t got = peek_message(fd, (int)saved->bytes, chunk, room, descriptors);
        if (got == -EAGAIN || got == 0) {
            break; /* of what follows a message without a byte nothing can be seen */
        }
        rc = got < 0 ? (int)got : fd_put_message(files, saved, chunk, (size_t)got);
        saved->bytes += got > 0 ? (uint64_t)got : 0;
        if (got > 0) {
            twin_send(twin, chunk, (size_t)got);
        }
    }
    mem_free(chunk);
    return rc;
}

static int put_waiting(struct files *files, const struct open_file *file, struct ckpt_file *saved,
                       int fd, const struct open_file *peer)
{
    int before = -1;
    socklen_t length = sizeof before;
    bool descriptors = false;
    struct twin twin;
    saved->bytes = 0;
    twin_open(&twin, saved, peer);
    int rc = getsockopt(fd, SOL_SOCKET, SO_PEEK_OFF, &before, &length) != 0 ? -errno : 0;
    rc = rc != 0 ? rc : put_messages(files, saved, fd, &twin, &descriptors);
    (void)setsockopt(fd, SOL_SOCKET, SO_PEEK_OFF, &before, sizeof before);
    bool more = twin_close(&twin);
    if (descriptors) {
        return fd_refuse(files, file, "descriptors are being passed through the socket");
    }
    return rc != 0 ? fd_fail(files, file, rc)
           : more  ? fd_busy(files, file, "an empty message waits in the socket; try again")
                   : 0;
}

/* ---- the socket */

static uint32_t option_of(int fd, int name)
{
    int value = 0;
    socklen_t length = sizeof value;
    return getsockopt(fd, SOL_SOCKET, name, &value, &length) == 0 ? (uint32_t)value : 0;
}

static int64_t limit_us(int fd, int name)
{
    struct timeval limit = {.tv_sec = 0};
    socklen_t length = sizeof limit;
    return getsockopt(fd, SOL_SOCKET, name, &limit, &length) == 0
               ? (int64_t)limit.tv_sec * 1000000 + limit.tv_usec
               : 0;
}

static bool is_named(int fd)
{
    struct sockaddr_un name;
    socklen_t length = sizeof name;
    return getsockname(fd, (struct sockaddr *)&name, &length) == 0 &&
           length > sizeof name.sun_family;
}

/* Returns whether it is connected with the socket ("door") of remote system calls
 * (rsyscall_fuse/door.h): the program connects again when it finds that connection ended. */
static bool is_to_door(int fd)
{
    static const char NAME[] = "/.roost-door";
    struct sockaddr_un name = {0};
    socklen_t length = sizeof name;
    if (getpeername(fd, (struct sockaddr *)&name, &length) != 0 || name.sun_family != AF_UNIX) {
        return false;
    }
    size_t end = strnlen(name.sun_path, sizeof name.sun_path), size = sizeof NAME - 1;
    return end > size && memcmp(name.sun_path + end - size, NAME, size) == 0;
}

/* Returns the job's descriptor of that socket; NULL: it has none. */
static const struct open_file *find_mine(const struct files *files, uint32_t inode,
                                         const struct open_file *file)
{
    for (size_t i = 0; i < files->count; i++) {
        if (files->items[i].st.st_ino == inode && files->items[i].st.st_dev == file->st.st_dev) {
            return &files->items[i];
        }
    }
    return NULL;
}

static int save_pair(struct files *files, const struct open_file *file, struct ckpt_file *saved,
                     int fd)
{
    struct pair pair;
    if (option_of(fd, SO_DOMAIN) != AF_UNIX) {
        return fd_refuse(files, file, "network sockets are not supported");
    }
    if (is_named(fd) || option_of(fd, SO_ACCEPTCONN) != 0) {
        return fd_refuse(files, file, "sockets with a name are not supported");
    }
    int rc = ask_pair(file->st.st_ino, &pair);
    if (rc != 0) {
        return fd_refuse(files, file, "cannot find out which socket is the other end");
    }
    bool to_door = is_to_door(fd);
    if (to_door) {
        pair.peer = 0;
        pair.shut = 3;
    }
    bool ended = pair.peer == 0 && pair.shut == 3; /* its peer is gone */
    const struct open_file *peer = pair.peer != 0 ? find_mine(files, pair.peer, file) : NULL;
    if (!ended && peer == NULL) {
        return fd_refuse(files, file,
                         pair.peer == 0
                             ? "sockets that are not connected are not supported"
                             : "the socket is connected to a process outside of the job");
    }
    saved->id = pair.peer == 0 || file->st.st_ino < pair.peer ? file->st.st_ino : pair.peer;
    saved->type = option_of(fd, SO_TYPE);
    saved->sends = option_of(fd, SO_SNDBUF);
    saved->receives = option_of(fd, SO_RCVBUF);
    saved->passes = option_of(fd, SO_PASSCRED);
    saved->limits_us[0] = limit_us(fd, SO_RCVTIMEO);
    saved->limits_us[1] = limit_us(fd, SO_SNDTIMEO);
    saved->shut = pair.shut;
    return to_door ? 0 : put_waiting(files, file, saved, fd, peer);
}

int fd_save_socket(struct files *files, const struct open_file *file, struct ckpt_file *saved)
{
    saved->kind = CKPT_SOCKET;
    int fd = fd_fetch(file);
    if (fd < 0) {
        return fd_fail(files, file, fd);
    }
    int rc = save_pair(files, file, saved, fd);
    (void)close(fd);
    return rc;
}
