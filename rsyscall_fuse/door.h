/* rsyscall_fuse/door.h - the session of a job, for the processes of the job that ask by themselves.
 *
 * Where no file system can be put under a job, a library in its processes asks instead
 * (rsyscall/wrap/). Each has a connection to the door, a Unix socket that only the job's user can
 * reach, and says what it would say to the server (docs/protocol/rsyscall.md, section 6); the door
 * passes it on in the one session of rfs_link.h. So TLS, the ticket and cuts of the network are not
 * the library's, and what a process has open stays open in the processes that it makes.
 *
 * A process holds each handle that it has named. A handle that nobody holds is closed, after a
 * while: a process that was just made may not have named it yet.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RSYSCALL_FUSE_DOOR_H
#define RSYSCALL_FUSE_DOOR_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct loop;
struct rfs_link;
struct rsys_reply;
struct rfs_door;

struct rfs_door_stats {
    uint64_t clients;  /* that said HELLO */
    uint64_t requests; /* passed on */
    uint64_t refused;  /* clients that were closed for what they sent */
    uint64_t handles;  /* open now */
};

/* The socket's name in its directory.  By it the dumper (ckpt/dump/dump_fd_socket_linux.c) knows a
 * connection that a resumed job makes anew. */
#define RFS_DOOR_NAME      ".roost-door"
#define RFS_DOOR_LINGER_MS 10000 /* between the last that held a handle and its end */

/* Listens at "unix:PATH".  link's session has begun, and hello is what the server said; borrowed.
 */
int rfs_door_create(struct loop *loop, struct rfs_link *link, const struct rsys_reply *hello,
                    const char *address, uint64_t linger_ms, struct rfs_door **ret,
                    struct err *err);
/* Nobody comes in any more, and who is in goes: the link, which is still there, is asked to let go
 * of what they had.  NULL is allowed. */
void rfs_door_close(struct rfs_door *door);
/* After that one, and after the link, which answers what is under way when it is destroyed.  NULL
 * is allowed. */
void rfs_door_destroy(struct rfs_door *door);
/* No process is connected, and all that was asked is answered. */
bool rfs_door_is_quiet(const struct rfs_door *door);
void rfs_door_get_stats(const struct rfs_door *door, struct rfs_door_stats *ret);

#endif
