/* base/os/os_traffic.h - counts how much the processes of a job send and receive over TCP.
 *
 * Design note: jobs share the network of their machine, so no interface counts for one job alone.
 * The kernel counts bytes for each TCP connection, and /proc says which process has it.
 * Connections are looked at again and again.  Not counted are: what a connection carries between
 * the last look and its end, connections that begin and end between two looks, UDP and everything
 * else that is not TCP, and connections within the machine (loopback).  Rejected: a kernel program
 * (BPF) on the job's cgroup would count all of that, but needs CAP_BPF and cgroup v2.  Source:
 * sock_diag(7), the kernel's include/uapi/linux/{inet_diag,tcp}.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_OS_OS_TRAFFIC_H
#define BASE_OS_OS_TRAFFIC_H

#include <stdint.h>

struct os;
struct os_cgroup;
struct os_figures;
struct os_traffic;

struct os_traffic *os_traffic_create(struct os *os);
void os_traffic_destroy(struct os_traffic *net); /* NULL is allowed */
/* Counts what the TCP connections of the group's processes have carried; group NULL: those of all
 * descendants of this process; family, unless NULL: who these are, just measured, which saves the
 * walk that finds them.  To be called again and again.  Costs a walk over these processes'
 * descriptors and, if there is a TCP socket among them, over the machine's TCP connections. */
void os_traffic_look(struct os_traffic *net, const struct os_cgroup *group,
                     const struct os_figures *family);
/* Gives the bytes received and sent by all connections seen so far. */
void os_traffic_total(const struct os_traffic *net, uint64_t *received, uint64_t *sent);

#endif
