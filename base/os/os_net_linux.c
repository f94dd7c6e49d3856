/* base/os/os_net_linux.c - see os_net.h.
 *
 * A datagram takes its adapter and sender's address from IP_PKTINFO: that needs no rights (unlike
 * SO_BINDTODEVICE), no bound socket per address, and 255.255.255.255 leaves a machine that has no
 * default route.  A frame goes through a SOCK_DGRAM packet socket, for which the kernel writes the
 * Ethernet header with the adapter's own address: bridges drop frames from 00:00:00:00:00:00.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/os/os_net.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <ifaddrs.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netpacket/packet.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/os/os_linux.h"

#define PATH_BYTES 600 /* most bytes of a path, with the terminating zero */
#define ETHERNET   1   /* ARPHRD_ETHER */

/* ---- facts */

static void set_flags(struct os_adapter *adapter, const struct ifaddrs *entry)
{
    (void)snprintf(adapter->name, sizeof adapter->name, "%s", entry->ifa_name);
    adapter->is_up = (entry->ifa_flags & (IFF_UP | IFF_RUNNING)) == (IFF_UP | IFF_RUNNING);
    adapter->is_loopback = (entry->ifa_flags & IFF_LOOPBACK) != 0;
    adapter->can_broadcast = (entry->ifa_flags & IFF_BROADCAST) != 0;
}

/* Adds the entry of the adapter itself, before those of its addresses. */
static void add_link(struct os_adapter *list, size_t *count, const struct ifaddrs *entry)
{
    struct sockaddr_ll link;
    struct os_adapter *adapter = &list[*count];
    if (*count >= OS_ADAPTERS_MAX) {
        return;
    }
    memcpy(&link, entry->ifa_addr, sizeof link);
    *adapter = (struct os_adapter){.index = (uint32_t)link.sll_ifindex};
    set_flags(adapter, entry);
    if (link.sll_hatype == ETHERNET && link.sll_halen == NET_MAC_BYTES) {
        adapter->has_hardware = true;
        memcpy(adapter->hardware, link.sll_addr, NET_MAC_BYTES);
    }
    (*count)++;
}

static void add_address(struct os_adapter *list, size_t *count, const struct ifaddrs *entry)
{
    struct sockaddr_in address, mask = {0};
    char name[OS_ADAPTER_NAME_MAX];
    memcpy(&address, entry->ifa_addr, sizeof address);
    if (entry->ifa_netmask != NULL) {
        memcpy(&mask, entry->ifa_netmask, sizeof mask);
    }
    (void)snprintf(name, sizeof name, "%s", entry->ifa_name);
    name[strcspn(name, ":")] = '\0'; /* the label of an address: "eth0:1" */
    for (size_t i = 0; i < *count; i++) {
        if (strcmp(list[i].name, name) != 0) {
            continue;
        }
        if (list[i].address != 0) { /* it has another one: a further entry */
            if (*count >= OS_ADAPTERS_MAX) {
                return;
            }
            list[*count] = list[i];
            i = (*count)++;
        }
        list[i].address = ntohl(address.sin_addr.s_addr);
        list[i].subnet.mask = ntohl(mask.sin_addr.s_addr);
        list[i].subnet.address = list[i].address & list[i].subnet.mask;
        return;
    }
}

int os_adapters(struct os *os, struct os_adapter *ret, size_t *count, struct err *err)
{
    struct ifaddrs *all;
    size_t found = 0;
    (void)os;
    if (getifaddrs(&all) != 0) {
        return err_set(err, -errno, "cannot list the network adapters: %s", strerror(errno));
    }
    for (const struct ifaddrs *entry = all; entry != NULL; entry = entry->ifa_next) {
        if (entry->ifa_addr != NULL && entry->ifa_addr->sa_family == AF_PACKET) {
            add_link(ret, &found, entry);
        }
    }
    for (const struct ifaddrs *entry = all; entry != NULL; entry = entry->ifa_next) {
        if (entry->ifa_addr != NULL && entry->ifa_addr->sa_family == AF_INET) {
            add_address(ret, &found, entry);
        }
    }
    freeifaddrs(all);
    *count = found;
    return 0;
}

/* ---- what it is made of */

static int call_ethtool(const char *adapter, void *command)
{
    struct ifreq request = {0};
    if (strlen(adapter) >= sizeof request.ifr_name) {
        return -EINVAL;
    }
    (void)snprintf(request.ifr_name, sizeof request.ifr_name, "%s", adapter);
    request.ifr_data = command;
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int rc = fd < 0 ? -errno : ioctl(fd, SIOCETHTOOL, &request) != 0 ? -errno : 0;
    if (fd >= 0) {
        (void)close(fd); /* nothing was written */
    }
    return rc == -EOPNOTSUPP ? -ENOTSUP : rc;
}

static bool has_other_address(const char *directory, const char *name)
{
    union {
        struct ethtool_perm_addr head;
        uint8_t bytes[sizeof(struct ethtool_perm_addr) + NET_MAC_BYTES];
    } own = {.head = {.cmd = ETHTOOL_GPERMADDR, .size = NET_MAC_BYTES}};
    const uint8_t *permanent = own.bytes + sizeof own.head; /* behind it */
    static const uint8_t NONE[NET_MAC_BYTES];
    char path[PATH_BYTES + 20], text[40];
    uint8_t address[NET_MAC_BYTES];
    (void)snprintf(path, sizeof path, "%s/address", directory);
    if (os_read_small(path, text, sizeof text) <= 0) {
        return false;
    }
    text[strcspn(text, "\n")] = '\0';
    return call_ethtool(name, &own) == 0 && memcmp(permanent, NONE, NET_MAC_BYTES) != 0 &&
           net_text_mac(text, address, NULL) == 0 && memcmp(permanent, address, NET_MAC_BYTES) != 0;
}

void os_adapter_parts(struct os *os, const char *root, const char *name,
                      struct os_adapter_parts *ret)
{
    static const char LOWER[] = "lower_";
    char directory[PATH_BYTES];
    const struct dirent *file;
    (void)os;
    *ret = (struct os_adapter_parts){.below_count = 0};
    (void)snprintf(directory, sizeof directory, "%s/sys/class/net/%s", root, name);
    DIR *open = opendir(directory);
    while (open != NULL && (file = readdir(open)) != NULL) {
        if (strncmp(file->d_name, LOWER, sizeof LOWER - 1) == 0 &&
            ret->below_count < OS_ADAPTER_BELOW_MAX) {
            (void)snprintf(ret->below[ret->below_count++], OS_ADAPTER_NAME_MAX, "%.15s",
                           file->d_name + sizeof LOWER - 1);
        }
        ret->is_wireless = ret->is_wireless || strcmp(file->d_name, "wireless") == 0 ||
                           strcmp(file->d_name, "phy80211") == 0;
    }
    if (open != NULL) {
        closedir(open);
        ret->has_other_address = has_other_address(directory, name);
    }
}

static struct sockaddr_in ipv4_address(uint32_t address, uint16_t port)
{
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons(port),
                                .sin_addr = {.s_addr = htonl(address)}};
}

uint32_t os_route_source(struct os *os, uint32_t to)
{
    struct sockaddr_in address = ipv4_address(to, 9);
    socklen_t length = sizeof address;
    (void)os;
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return 0;
    }
    bool found = connect(fd, (const struct sockaddr *)&address, length) == 0 &&
                 getsockname(fd, (struct sockaddr *)&address, &length) == 0;
    (void)close(fd); /* nothing was sent */
    return found ? ntohl(address.sin_addr.s_addr) : 0;
}

/* ---- what wakes */

static int ask_adapter(const char *adapter, struct ethtool_wolinfo *info, struct err *err)
{
    int rc = call_ethtool(adapter, info);
    if (rc == -EINVAL && strlen(adapter) >= OS_ADAPTER_NAME_MAX) {
        return err_set(err, rc, "'%s' is not a valid name of a network adapter", adapter);
    }
    return rc == 0 ? 0
                   : err_set(err, rc, "network adapter %s: Wake-on-LAN: %s", adapter,
                             err_code_text(rc));
}

static void flag_letters(uint32_t flags, char *ret)
{
    static const struct {
        uint32_t flag;
        char letter;
    } LETTERS[] = {{WAKE_PHY, 'p'}, {WAKE_UCAST, 'u'}, {WAKE_MCAST, 'm'},       {WAKE_BCAST, 'b'},
                   {WAKE_ARP, 'a'}, {WAKE_MAGIC, 'g'}, {WAKE_MAGICSECURE, 's'}, {WAKE_FILTER, 'f'}};
    size_t used = 0;
    for (size_t i = 0; i < ARRAY_COUNT(LETTERS); i++) {
        if ((flags & LETTERS[i].flag) != 0) {
            ret[used++] = LETTERS[i].letter;
        }
    }
    if (used == 0) {
        ret[used++] = 'd';
    }
    ret[used] = '\0';
}

int os_wake_flags(struct os *os, const char *adapter, struct os_wake_flags *ret, struct err *err)
{
    struct ethtool_wolinfo info = {.cmd = ETHTOOL_GWOL};
    (void)os;
    int rc = ask_adapter(adapter, &info, err);
    if (rc == 0) {
        ret->magic_supported = (info.supported & WAKE_MAGIC) != 0;
        ret->magic_enabled = (info.wolopts & (WAKE_MAGIC | WAKE_MAGICSECURE)) != 0;
        flag_letters(info.supported, ret->supported);
        flag_letters(info.wolopts, ret->enabled);
    }
    return rc;
}

int os_wake_on_magic(struct os *os, const char *adapter, const uint8_t password[NET_MAC_BYTES],
                     struct err *err)
{
    struct ethtool_wolinfo info = {.cmd = ETHTOOL_GWOL};
    uint32_t wanted = password != NULL ? WAKE_MAGICSECURE : WAKE_MAGIC;
    (void)os;
    int rc = ask_adapter(adapter, &info, err);
    if (rc != 0 || ((info.wolopts & wanted) != 0 && password == NULL)) {
        return rc;
    }
    if ((info.supported & wanted) == 0) {
        return err_set(err, -ENOTSUP, "network adapter %s cannot be woken by magic packets%s",
                       adapter, password != NULL ? " with a password" : "");
    }
    info.cmd = ETHTOOL_SWOL;
    if (password != NULL) { /* a packet without it must not wake */
        info.wolopts &= ~(uint32_t)WAKE_MAGIC;
        memcpy(info.sopass, password, NET_MAC_BYTES);
    }
    info.wolopts |= wanted;
    rc = ask_adapter(adapter, &info, err);
    info.cmd = ETHTOOL_GWOL;
    rc = rc != 0 ? rc : ask_adapter(adapter, &info, err);
    if (rc == 0 && (info.wolopts & wanted) == 0) {
        rc =
            err_set(err, -EIO, "network adapter %s did not keep its Wake-on-LAN settings", adapter);
    }
    return rc;
}

/* ---- sending */

struct os_caster {
    int datagrams, frames; /* -1: not opened */
};

struct os_caster *os_caster_create(struct os *os)
{
    struct os_caster *caster = mem_zalloc(sizeof *caster);
    (void)os;
    caster->datagrams = caster->frames = -1;
    return caster;
}

void os_caster_destroy(struct os_caster *caster)
{
    if (caster == NULL) {
        return;
    }
    if (caster->datagrams >= 0) {
        (void)close(caster->datagrams); /* what was sent is sent */
    }
    if (caster->frames >= 0) {
        (void)close(caster->frames);
    }
    mem_free(caster);
}

static int open_datagrams(struct os_caster *caster)
{
    int yes = 1;
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return -errno;
    }
    if (setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &yes, sizeof yes) != 0) {
        int rc = -errno;
        (void)close(fd);
        return rc;
    }
    caster->datagrams = fd;
    return 0;
}

int os_cast_datagram(struct os_caster *caster, const struct os_adapter *by, uint32_t to,
                     uint16_t port, const void *data, size_t length)
{
    struct sockaddr_in address = ipv4_address(to, port);
    struct iovec part = {.iov_base = (void *)(uintptr_t)data, .iov_len = length};
    struct msghdr message = {.msg_name = &address,
                             .msg_namelen = sizeof address,
                             .msg_iov = &part,
                             .msg_iovlen = 1};
    union { /* aligned as a header has to be */
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(struct in_pktinfo))];
    } control = {.bytes = {0}};
    int rc = caster->datagrams < 0 ? open_datagrams(caster) : 0;
    if (rc != 0) {
        return rc;
    }
    if (by != NULL) {
        struct in_pktinfo info = {.ipi_ifindex = (int)by->index,
                                  .ipi_spec_dst = {.s_addr = htonl(by->address)}};
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof control.bytes;
        control.header = (struct cmsghdr){.cmsg_level = IPPROTO_IP,
                                          .cmsg_type = IP_PKTINFO,
                                          .cmsg_len = CMSG_LEN(sizeof info)};
        memcpy(CMSG_DATA(&control.header), &info, sizeof info);
    }
    return sendmsg(caster->datagrams, &message, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int os_cast_frame(struct os_caster *caster, const struct os_adapter *by, uint16_t type,
                  const void *data, size_t length)
{
    struct sockaddr_ll address = {.sll_family = AF_PACKET,
                                  .sll_protocol = htons(type),
                                  .sll_ifindex = (int)by->index,
                                  .sll_halen = NET_MAC_BYTES};
    memset(address.sll_addr, 0xff, NET_MAC_BYTES);
    if (caster->frames < 0) { /* protocol 0: it receives nothing */
        caster->frames = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    }
    if (caster->frames < 0) {
        return -errno;
    }
    return sendto(caster->frames, data, length, MSG_NOSIGNAL, (const struct sockaddr *)&address,
                  sizeof address) < 0
               ? -errno
               : 0;
}
