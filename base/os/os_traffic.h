/* base/os/os_traffic.h - how much the processes of a job send and receive.
 *
 * Design note: jobs share the network of their machine, so no interface counts for them alone.  The
 * kernel counts for each TCP connection; /proc says whose it is.  Looked at again and again: what a
 * connection carried after the last look before its end is missed, and so are connections that
 * began and ended between two looks, UDP, and whatever is no TCP.  Connections within the machine
 * (loopback) are none of the network's.  The way rejected, a program of the kernel's (BPF) at the
 * job's cgroup, counts all of that, but needs CAP_BPF and cgroup v2.
 * Source: sock_diag(7), the kernel's include/uapi/linux/{inet_diag,tcp}.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_OS_OS_TRAFFIC_H
#define BASE_OS_OS_TRAFFIC_H

#include <stdint.h>

struct os;
struct os_cgroup;
struct os_traffic;

struct os_traffic *os_traffic_create(struct os *os);
void os_traffic_destroy(struct os_traffic *net); /* NULL is allowed */
/* Looks at the connections of the processes of that group; NULL: of all our descendants.  Costs a
 * walk of their descriptors, and where there is a socket among them one of the machine's TCP
 * connections. */
void os_traffic_look(struct os_traffic *net, const struct os_cgroup *group);
/* Bytes, of all connections that were seen. */
void os_traffic_total(const struct os_traffic *net, uint64_t *received, uint64_t *sent);

#endif
