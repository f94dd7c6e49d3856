/* pclient/protocol.h - the words of pclient's protocol, which pcontrol and pclient share: see
 * docs/protocol/pclient.md.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PCLIENT_PROTOCOL_H
#define PCLIENT_PROTOCOL_H

#include <stddef.h>

#define PCLIENT_VERSION     1
#define PCLIENT_LINE_MAX    ((size_t)1 << 20) /* most bytes of a line, without the newline */
#define PCLIENT_LEASE_S     60                /* seconds; the lease of a pclient unless it is set */
#define PCLIENT_LEASE_MIN_S 2
#define PCLIENT_LEASE_MAX_S 86400
#define PCLIENT_PUSH_MAX    ((size_t)64 << 10) /* most bytes of one message OUT or ERR */

/* Bytes of a job's output that are under way unless "follow" sets another number. */
#define PCLIENT_WINDOW ((size_t)256 << 10)

/* Requests. */
#define PCLIENT_JOB    "job"
#define PCLIENT_KILL   "kill"
#define PCLIENT_PING   "ping"
#define PCLIENT_FOLLOW "follow"
#define PCLIENT_ACK    "ack"
#define PCLIENT_LEASE  "lease"
#define PCLIENT_EXIT   "exit"

/* First words of what is sent after "follow", and of the answer to it. */
#define PCLIENT_FOLLOWS "FOLLOW"
#define PCLIENT_PONG    "PONG"
#define PCLIENT_OUT     "OUT"
#define PCLIENT_ERR     "ERR"
#define PCLIENT_DONE    "DONE"
#define PCLIENT_END     "END"
#define PCLIENT_OK      "OK"
#define PCLIENT_REFUSED "-1"

/* How a pclient holds its jobs together: a word of the answer to "follow". */
#define PCLIENT_NAMESPACE "namespace"
#define PCLIENT_SUBREAPER "subreaper"

/* How a job has ended: the first word of a status. */
#define PCLIENT_EXITED  "EXIT"
#define PCLIENT_CRASHED "CRASH"
/* Third words of a status: why pclient ended the job. */
#define PCLIENT_TIMEOUT "timeout"
#define PCLIENT_KILLED  "killed"

#endif
