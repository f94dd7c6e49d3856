/* rsyscall_fuse/rfs_link.h - the job's end of a session of remote system calls.
 *
 * Requests go out as calls; each is answered once, in any order.  The network is not the caller's
 * concern: a connection that is cut is made again, and what has no answer is sent again, in its
 * slot and with its number, which the server knows (docs/protocol/rsyscall.md §3).  Only a session
 * that is over for good is told, once.
 *
 * A server that was started again does not know the session.  Then another one is begun, in which
 * the caller opens again what was open (rfs_renew.c); what had no answer is asked again, where that
 * cannot be wrong.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RSYSCALL_FUSE_RFS_LINK_H
#define RSYSCALL_FUSE_RFS_LINK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "rsyscall/rsys.h"

struct err;
struct loop;
struct rfs_link;
struct rfs_call;

/* The last word of a call, which is the caller's again.  What the reply points to is gone when this
 * returns. */
typedef void (*rfs_call_f)(struct rfs_call *call, const struct rsys_reply *reply);

/* A request under way: part of a larger struct of the caller's, who fills in request (but slot and
 * seq), done and bulk, and keeps all that the request points to until done is called. */
struct rfs_call {
    struct rsys_request request;
    rfs_call_f done;
    bool bulk;     /* can wait: reading ahead, writing behind.  Half of the slots are not for it */
    bool renews;   /* opens again what was lost with a session: goes before all others */
    bool sent;     /* the link's from here on: it has a slot */
    bool doubtful; /* it may have been done before: -EEXIST and -ENOENT say nothing */
    TAILQ_ENTRY(rfs_call) entry;
};

struct rfs_link_options {
    const char *address; /* of base/stream/stream.h */
    const char *route;
    const char *pin; /* of the server's certificate; NULL for a Unix socket only */
    const char *ticket;
    uint64_t give_up_ms; /* cut off for so long: the session is over; 0: the session's lease */
};

/* What becomes of a call whose session was lost. */
enum rfs_again {
    RFS_AGAIN,          /* it is asked again: it may be done twice */
    RFS_AGAIN_IN_DOUBT, /* the same, if the answer tells that it was not done before */
    RFS_WAS_DONE,       /* answered 0, with all its data written */
    RFS_DROPPED,        /* answered with an error that nobody sees */
    RFS_UNKNOWN,        /* nobody can tell: the session is over */
};

struct rfs_link_events {
    /* The session has begun: uid, lease and roots are in hello, which is borrowed. */
    void (*ready)(void *arg, const struct rsys_reply *hello);
    /* It is over, and no call will be answered: -EACCES, -EKEYREJECTED, -EPROTO, -ESTALE (the
     * server does not know it any more), -ETIMEDOUT.  The last call but done of calls at the end.
     */
    void (*lost)(void *arg, int code, const char *why);
    /* The server has forgotten the session and begun another, which offers the same: what was open
     * is to be opened by calls with `renews`; then rfs_link_renewed().  NULL: it is over. */
    void (*renew)(void *arg);
    /* Puts the call's handles right.  was_sent: the session before may have done it. */
    enum rfs_again (*again)(void *arg, struct rfs_call *call, bool was_sent);
    /* Where the server is by now, asked before each dialling; NULL, or none: where it was. */
    const char *(*where)(void *arg);
};

/* Dials.  Options and what they point to are borrowed until the end.  -EINVAL: a malformed address.
 */
int rfs_link_create(struct loop *loop, const struct rfs_link_options *options,
                    const struct rfs_link_events *events, void *arg, struct rfs_link **ret,
                    struct err *err);
/* Says BYE if it can.  Calls that are left are answered -ECONNABORTED.  NULL is allowed. */
void rfs_link_destroy(struct rfs_link *link);

/* Never calls done before it returns. */
void rfs_link_submit(struct rfs_link *link, struct rfs_call *call);
/* All is open again, or it is over (code, why). */
void rfs_link_renewed(struct rfs_link *link, int code, const char *why);
/* Bytes of data in one message, once the session has begun. */
uint32_t rfs_link_data_max(const struct rfs_link *link);
/* Is there a connection on which answers can come now? */
bool rfs_link_is_up(const struct rfs_link *link);

struct rfs_link_stats {
    uint64_t calls;       /* answered */
    uint64_t connections; /* sessions resumed are connections less one */
    uint64_t resent;
    uint64_t renewed; /* sessions that the server had forgotten */
};
void rfs_link_get_stats(const struct rfs_link *link, struct rfs_link_stats *ret);

#endif
