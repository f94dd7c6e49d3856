/* base/os/os_traffic_linux.c - counts what processes send and receive: see base/os/os_traffic.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/os/os_traffic.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os/os_figures.h"
#include "base/os/os_linux.h"

#define PIDS_MAX     4096
#define SOCKETS_MAX  16384
#define ANSWER_BYTES 65536
#define STATES_ALL   0xfffU
#define STATE_LISTEN 10
#define KEPT_MAX     1024 /* connections that are remembered although they were not seen */

struct connection {
    uint64_t cookie; /* the kernel's name for it, never given again */
    uint64_t received, sent;
};

struct os_traffic {
    struct connection *known; /* by cookie */
    size_t known_count;
    uint64_t received, sent;
};

/* One look. */
struct look {
    struct os_traffic *net;
    uint64_t *inodes; /* of the processes' sockets, ascending */
    size_t inode_count, inode_capacity;
    struct connection *seen;
    size_t seen_count, seen_capacity;
};

struct os_traffic *os_traffic_create(struct os *os)
{
    (void)os;
    return mem_zalloc(sizeof(struct os_traffic));
}

void os_traffic_destroy(struct os_traffic *net)
{
    if (net != NULL) {
        mem_free(net->known);
        mem_free(net);
    }
}

static int by_number(const void *a, const void *b)
{
    uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;
    return (first > second) - (first < second);
}

static int by_cookie(const void *a, const void *b)
{
    return by_number(&((const struct connection *)a)->cookie,
                     &((const struct connection *)b)->cookie);
}

/* ---- whose sockets --------------------------------------------------------------------------- */

bool os_may_be_tcp(pid_t pid, const char *descriptor)
{
    char path[64], protocol[32]; /* "TCP", "TCPv6", "MPTCP", "UNIX-STREAM", "UDP" ... */
    (void)snprintf(path, sizeof path, "/proc/%d/fd/%.20s", (int)pid, descriptor);
    ssize_t length = getxattr(path, "system.sockprotoname", protocol, sizeof protocol - 1);
    protocol[length > 0 ? length : 0] = '\0';
    return length <= 0 || strstr(protocol, "TCP") != NULL;
}

static void add_sockets(struct look *look, pid_t pid)
{
    char path[64], link[64];
    (void)snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *directory = opendir(path);
    const struct dirent *entry;
    while (directory != NULL && (entry = readdir(directory)) != NULL) {
        ssize_t length = readlinkat(dirfd(directory), entry->d_name, link, sizeof link - 1);
        if (length <= 0) {
            continue;
        }
        link[length] = '\0';
        if (strncmp(link, "socket:[", 8) != 0 || look->inode_count == SOCKETS_MAX ||
            !os_may_be_tcp(pid, entry->d_name)) {
            continue;
        }
        if (look->inode_count == look->inode_capacity) {
            look->inode_capacity = look->inode_capacity > 0 ? 2 * look->inode_capacity : 64;
            look->inodes = mem_realloc(look->inodes, look->inode_capacity * sizeof *look->inodes);
        }
        look->inodes[look->inode_count++] = strtoull(link + 8, NULL, 10);
    }
    if (directory != NULL) {
        closedir(directory);
    }
}

/* ---- what they carried ----------------------------------------------------------------------- */

static bool is_loopback(const struct inet_diag_msg *message)
{
    const unsigned char *v4 = (const unsigned char *)message->id.idiag_dst;
    struct in6_addr v6;
    if (message->idiag_family == AF_INET) {
        return v4[0] == 127;
    }
    memcpy(&v6, message->id.idiag_dst, sizeof v6);
    return IN6_IS_ADDR_LOOPBACK(&v6) || (IN6_IS_ADDR_V4MAPPED(&v6) && v6.s6_addr[12] == 127);
}

static void add_seen(struct look *look, const struct connection *now)
{
    if (look->seen_count == look->seen_capacity) {
        look->seen_capacity = look->seen_capacity > 0 ? 2 * look->seen_capacity : 64;
        look->seen = mem_realloc(look->seen, look->seen_capacity * sizeof *look->seen);
    }
    look->seen[look->seen_count++] = *now;
}

static const struct connection *find_connection(const struct connection *all, size_t count,
                                                const struct connection *which)
{
    return count > 0 ? bsearch(which, all, count, sizeof *all, by_cookie) : NULL;
}

static void count_connection(struct look *look, const struct inet_diag_msg *message,
                             const struct tcp_info *info)
{
    const struct os_traffic *net = look->net;
    /* Before Linux 4.19 there is nothing else; it counts the SYN, too. */
    uint64_t acked = info->tcpi_bytes_acked > 0 ? info->tcpi_bytes_acked - 1 : 0;
    struct connection now = {.cookie = (uint64_t)message->id.idiag_cookie[1] << 32 |
                                       message->id.idiag_cookie[0],
                             .received = info->tcpi_bytes_received,
                             .sent = info->tcpi_bytes_sent > 0
                                         ? info->tcpi_bytes_sent - info->tcpi_bytes_retrans
                                         : acked};
    const struct connection *before = find_connection(net->known, net->known_count, &now);
    look->net->received += now.received - (before != NULL ? before->received : 0);
    look->net->sent += now.sent - (before != NULL ? before->sent : 0);
    add_seen(look, &now);
}

/* A process that forked and ended while we looked hides its connections for once: they must not be
 * counted from 0 when they are seen again. */
static void keep_unseen(struct look *look)
{
    struct os_traffic *net = look->net;
    size_t seen = look->seen_count;
    if (seen > 0) {
        qsort(look->seen, seen, sizeof *look->seen, by_cookie);
    }
    for (size_t i = 0; i < net->known_count && look->seen_count < KEPT_MAX; i++) {
        if (find_connection(look->seen, seen, &net->known[i]) == NULL) {
            add_seen(look, &net->known[i]);
        }
    }
    if (look->seen_count > seen) {
        qsort(look->seen, look->seen_count, sizeof *look->seen, by_cookie);
    }
    mem_free(net->known);
    net->known = look->seen;
    net->known_count = look->seen_count;
}

static void read_message(struct look *look, const struct nlmsghdr *header)
{
    const struct inet_diag_msg *message = NLMSG_DATA(header);
    const uint64_t inode = message->idiag_inode;
    size_t length = header->nlmsg_len - NLMSG_LENGTH(sizeof *message);
    if (header->nlmsg_len < NLMSG_LENGTH(sizeof *message) || is_loopback(message) ||
        bsearch(&inode, look->inodes, look->inode_count, sizeof inode, by_number) == NULL) {
        return;
    }
    const struct rtattr *attribute = (const struct rtattr *)(message + 1);
    for (; RTA_OK(attribute, length); attribute = RTA_NEXT(attribute, length)) {
        if (attribute->rta_type == INET_DIAG_INFO &&
            RTA_PAYLOAD(attribute) >=
                offsetof(struct tcp_info, tcpi_bytes_received) + sizeof(uint64_t)) {
            struct tcp_info info = {0};
            size_t known = RTA_PAYLOAD(attribute);
            memcpy(&info, RTA_DATA(attribute), known < sizeof info ? known : sizeof info);
            count_connection(look, message, &info);
        }
    }
}

/* Asks the kernel for all TCP connections of that family.  False: it does not tell. */
static bool dump_connections(struct look *look, int fd, unsigned char family, char *answer)
{
    struct {
        struct nlmsghdr header;
        struct inet_diag_req_v2 request;
    } ask = {.header = {.nlmsg_len = sizeof ask,
                        .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                        .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
             .request = {.sdiag_family = family,
                         .sdiag_protocol = IPPROTO_TCP,
                         .idiag_ext = 1U << (INET_DIAG_INFO - 1),
                         .idiag_states = STATES_ALL & ~(1U << STATE_LISTEN)}};
    if (send(fd, &ask, sizeof ask, 0) != (ssize_t)sizeof ask) {
        return false;
    }
    for (;;) {
        ssize_t received = recv(fd, answer, ANSWER_BYTES, 0);
        if (received <= 0) {
            return false;
        }
        size_t left = (size_t)received;
        const struct nlmsghdr *header = (const struct nlmsghdr *)(void *)answer;
        for (; NLMSG_OK(header, left); header = NLMSG_NEXT(header, left)) {
            if (header->nlmsg_type == NLMSG_DONE || header->nlmsg_type == NLMSG_ERROR) {
                return header->nlmsg_type == NLMSG_DONE;
            }
            read_message(look, header);
        }
    }
}

static void ask_kernel(struct look *look)
{
    const struct timeval patience = {.tv_sec = 1};
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (fd < 0) {
        return; /* a kernel without it: nothing is seen */
    }
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience); /* it answers */
    char *answer = mem_alloc(ANSWER_BYTES);
    if (dump_connections(look, fd, AF_INET, answer)) {
        (void)dump_connections(look, fd, AF_INET6, answer); /* without IPv6 there is none of it */
    }
    mem_free(answer);
    close(fd);
}

/* Adds the sockets of all processes of the group or, without one, of this process's descendants. */
static void add_all(struct look *look, const struct os_cgroup *group)
{
    pid_t *pids = mem_alloc(PIDS_MAX * sizeof *pids);
    size_t count =
        group != NULL ? os_cgroup_pids(group, pids, PIDS_MAX) : os_descendants_pids(pids, PIDS_MAX);
    for (size_t i = 0; i < count; i++) {
        add_sockets(look, pids[i]);
    }
    mem_free(pids);
}

void os_traffic_look(struct os_traffic *net, const struct os_cgroup *group,
                     const struct os_figures *family)
{
    struct look look = {.net = net};
    size_t known = group == NULL && family != NULL ? family->pid_count : 0;
    for (size_t i = 0; i < known; i++) {
        add_sockets(&look, family->pids[i]);
    }
    if (known == 0) {
        add_all(&look, group);
    }
    if (look.inode_count > 0) {
        qsort(look.inodes, look.inode_count, sizeof *look.inodes, by_number);
        ask_kernel(&look);
    }
    keep_unseen(&look);
    mem_free(look.inodes);
}

void os_traffic_total(const struct os_traffic *net, uint64_t *received, uint64_t *sent)
{
    *received = net->received;
    *sent = net->sent;
}
