/* rsyscall_fuse/door.h - a local server ("door") through which processes of a job use the job's
 * session.
 *
 * Where no file system can be mounted for a job, a library in its processes requests files instead
 * (rsyscall/wrap/).  Each process connects to the door, a Unix socket that only the job's user can
 * reach, and speaks the server's protocol (docs/protocol/rsyscall.md, section 7).  The door passes
 * the requests on in the one session of rfs_link.h.  So the library need not care for TLS, the
 * ticket and network cuts, and the files that a process opened stay open in its child processes.
 *
 * A process holds each handle that it has used in a request.  A handle that no process holds is
 * closed, but only after a while, because a new process may have inherited it and not used it yet.
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
    uint64_t clients;  /* number of connections that began with HELLO */
    uint64_t requests; /* number of requests passed on to the server */
    uint64_t refused;  /* number of clients disconnected because they broke the protocol */
    uint64_t handles;  /* number of handles that are open now */
};

/* File name of the door's socket.  By this name the checkpoint dumper
 * (ckpt/dump/dump_fd_socket_linux.c) recognizes a connection to the door, which a resumed job makes
 * again. */
#define RFS_DOOR_NAME      ".roost-door"
#define RFS_DOOR_LINGER_MS 10000 /* ms for which a handle that no process holds stays open */

/* Makes the door and listens at the address "unix:PATH".  The session of link must have begun;
 * hello is the server's reply to HELLO (borrowed for this call). linger_ms: ms for which a handle
 * that no process holds stays open.  Returns 0 or -errno. */
int rfs_door_create(struct loop *loop, struct rfs_link *link, const struct rsys_reply *hello,
                    const char *address, uint64_t linger_ms, struct rfs_door **ret,
                    struct err *err);
/* Stops listening, disconnects all clients, and asks the link, which must still exist, to close
 * their handles.  NULL is allowed. */
void rfs_door_close(struct rfs_door *door);
/* Frees the door.  To be called after rfs_door_close() and after rfs_link_destroy(), which answers
 * the requests under way.  NULL is allowed. */
void rfs_door_destroy(struct rfs_door *door);
/* Returns whether no client is connected and all requests are answered. */
bool rfs_door_is_quiet(const struct rfs_door *door);
void rfs_door_get_stats(const struct rfs_door *door, struct rfs_door_stats *ret);

#endif
