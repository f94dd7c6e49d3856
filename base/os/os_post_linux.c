/* base/os/os_post_linux.c - see os_post.h.
 *
 * Sources: "Abstract sockets", "Autobind feature" and SCM_CREDENTIALS of unix(7).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/os/os_post.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/loop_event.h"
#include "base/mem.h"

#define LINE_BYTES_MAX 512 /* of /proc/net/unix */
#define MESSAGES_MAX   16  /* read before others have their turn */

struct os_post_sender {
    struct sockaddr_un address;
    socklen_t length;
};

struct os_post {
    int fd;
    struct loop_fd *watch;
    os_post_f asked;
    void *arg;
};

/* Returns the length of the address; 0: the name is too long. */
static socklen_t name_address(const char *name, struct sockaddr_un *ret)
{
    size_t length = strlen(name);
    *ret = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (length > OS_POST_NAME_MAX) {
        return 0;
    }
    memcpy(ret->sun_path + 1, name, length); /* behind a zero byte */
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length);
}

/* Makes a socket that learns who sends; with that address, or one that the kernel chooses. */
static int make_socket(const struct sockaddr_un *address, socklen_t length)
{
    const int on = 1;
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) == 0 &&
        bind(fd, (const struct sockaddr *)address, length) == 0) {
        return fd;
    }
    int code = -errno;
    if (fd >= 0) {
        close(fd);
    }
    return code;
}

/* Reads a message.  Returns its length; 0: one that does not count; or -errno.  text is ended by a
 * zero. */
static ssize_t read_message(int fd, struct os_post_sender *sender, char text[OS_POST_TEXT_MAX + 1])
{
    struct iovec data = {.iov_base = text, .iov_len = OS_POST_TEXT_MAX};
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(struct ucred))];
    } control;
    struct msghdr header = {.msg_name = &sender->address,
                            .msg_namelen = sizeof(sender->address),
                            .msg_iov = &data,
                            .msg_iovlen = 1,
                            .msg_control = control.room,
                            .msg_controllen = sizeof(control.room)};
    struct ucred who = {.uid = (uid_t)-1};
    ssize_t got = recvmsg(fd, &header, MSG_CMSG_CLOEXEC);
    if (got < 0) {
        return -errno;
    }
    sender->length = header.msg_namelen;
    for (struct cmsghdr *each = CMSG_FIRSTHDR(&header); each != NULL;
         each = CMSG_NXTHDR(&header, each)) {
        if (each->cmsg_level == SOL_SOCKET && each->cmsg_type == SCM_CREDENTIALS) {
            memcpy(&who, CMSG_DATA(each), sizeof(who));
        }
    }
    text[got] = '\0';
    return (who.uid == geteuid() || who.uid == 0) && (header.msg_flags & MSG_TRUNC) == 0 ? got : 0;
}

static void message_arrived(void *arg, unsigned ready)
{
    struct os_post *post = arg;
    (void)ready;
    for (int i = 0; i < MESSAGES_MAX; i++) {
        struct os_post_sender sender;
        char text[OS_POST_TEXT_MAX + 1];
        ssize_t got = read_message(post->fd, &sender, text);
        if (got < 0) {
            return;
        }
        if (got > 0) {
            post->asked(post->arg, &sender, text);
        }
    }
}

int os_post_open(struct loop *loop, const char *name, os_post_f asked, void *arg,
                 struct os_post **ret, struct err *err)
{
    struct sockaddr_un address;
    socklen_t length = name_address(name, &address);
    int fd = length > 0 ? make_socket(&address, length) : -ENAMETOOLONG;
    if (fd < 0) {
        return err_set(err, fd, "%s: %s", name, strerror(-fd));
    }
    struct os_post *post = mem_zalloc(sizeof(*post));
    *post = (struct os_post){.fd = fd, .asked = asked, .arg = arg};
    post->watch = loop_fd_create(loop, fd, message_arrived, post);
    loop_fd_want(post->watch, LOOP_READ);
    *ret = post;
    return 0;
}

void os_post_close(struct os_post *post)
{
    if (post != NULL) {
        loop_fd_destroy(post->watch);
        close(post->fd);
        mem_free(post);
    }
}

struct os_post_sender *os_post_keep(const struct os_post_sender *sender)
{
    return mem_dup(sender, sizeof(*sender));
}

void os_post_answer(struct os_post *post, const struct os_post_sender *sender, const char *text)
{
    (void)sendto(post->fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT,
                 (const struct sockaddr *)&sender->address, sender->length);
}

static bool same_address(const struct os_post_sender *a, const struct os_post_sender *b)
{
    return a->length == b->length && memcmp(&a->address, &b->address, a->length) == 0;
}

static uint64_t now_boot_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_BOOTTIME, &now); /* has no way to fail */
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

int os_post_ask(const char *const *names, size_t count, const char *text, unsigned wait_ms,
                void (*answered)(void *arg, size_t index, const char *text), void *arg)
{
    const struct sockaddr_un anything = {.sun_family = AF_UNIX};
    int asked = 0, left;
    count = count < OS_POST_ASKED_MAX ? count : OS_POST_ASKED_MAX;
    int fd = make_socket(&anything, sizeof(anything.sun_family));
    if (fd < 0) {
        return fd;
    }
    struct os_post_sender *all = mem_zalloc((count + 1) * sizeof(*all));
    for (size_t i = 0; i < count; i++) {
        all[i].length = name_address(names[i], &all[i].address);
        if (all[i].length > 0 &&
            sendto(fd, text, strlen(text), MSG_NOSIGNAL, (const struct sockaddr *)&all[i].address,
                   all[i].length) >= 0) {
            asked++;
        } else {
            all[i].length = 0;
        }
    }
    uint64_t until_ms = now_boot_ms() + wait_ms;
    for (left = asked; left > 0;) {
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        uint64_t now_ms = now_boot_ms();
        struct os_post_sender sender;
        char answer[OS_POST_TEXT_MAX + 1];
        if (now_ms >= until_ms || poll(&ready, 1, (int)(until_ms - now_ms)) == 0) {
            break;
        }
        if (read_message(fd, &sender, answer) <= 0) {
            continue;
        }
        for (size_t i = 0; i < count; i++) {
            if (all[i].length > 0 && same_address(&all[i], &sender)) {
                all[i].length = 0;
                left--;
                answered(arg, i, answer);
                break;
            }
        }
    }
    mem_free(all);
    close(fd);
    return asked;
}

void os_post_list(const char *prefix, void (*each)(void *arg, const char *name), void *arg)
{
    char line[LINE_BYTES_MAX];
    FILE *file = fopen("/proc/net/unix", "re");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        const char *name = strrchr(line, ' ');
        size_t length = strlen(prefix);
        if (name != NULL && name[1] == '@' && strncmp(name + 2, prefix, length) == 0) {
            line[strcspn(line, "\n")] = '\0';
            each(arg, name + 2);
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
}
