/* rsyscall_fuse/rfs_link.h - the client's end of a session of remote system calls.
 *
 * The caller submits requests as calls; each call is answered once, in any order.  The link hides
 * the network: after a cut it connects again and sends unanswered requests again, in the same slot
 * with the same number, by which the server recognizes them (docs/protocol/rsyscall.md section 3).
 * Only the final loss of a session is reported, once.
 *
 * A restarted server does not know the session.  The link then begins a new one, in which the
 * caller reopens what was open (rfs_renew.c).  Unanswered requests are sent again where that cannot
 * do harm.
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

/* The answer to a call, which belongs to the caller again.  Pointers in reply are valid until this
 * returns. */
typedef void (*rfs_call_f)(struct rfs_call *call, const struct rsys_reply *reply);

/* A request under way, embedded in a larger struct of the caller.  The caller sets request
 * (without slot and seq), done and bulk, and keeps everything that request points to until done
 * is called. */
struct rfs_call {
    struct rsys_request request;
    rfs_call_f done;
    /* may wait (read-ahead, write-behind); half of the slots are reserved for other calls */
    bool bulk;
    bool renews; /* reopens what was lost with a session; sent before all other calls */
    bool sent;   /* set by the link: it has a slot */
    /* the server may have executed it before, so -EEXIST and -ENOENT are not reliable */
    bool doubtful;
    TAILQ_ENTRY(rfs_call) entry;
};

struct rfs_link_options {
    const char *address; /* address as in base/stream/stream.h */
    const char *route;
    const char *pin; /* fingerprint of the server's certificate; NULL only for a Unix socket */
    const char *ticket;
    /* the session is given up after being cut off this long; 0: after the session's lease */
    uint64_t give_up_ms;
};

/* What the link does with a call whose session was lost. */
enum rfs_again {
    RFS_AGAIN,          /* send again; it may be executed twice without harm */
    RFS_AGAIN_IN_DOUBT, /* send again, if the answer shows whether it was executed before */
    RFS_WAS_DONE,       /* answer 0, as if all data were written */
    RFS_DROPPED,        /* answer with an error that nobody sees */
    RFS_UNKNOWN,        /* it cannot be known whether it was executed: end the session */
};

struct rfs_link_events {
    /* The session has begun; hello (borrowed) has uid, lease and roots. */
    void (*ready)(void *arg, const struct rsys_reply *hello);
    /* The session is over, and no call will be answered: -EACCES, -EKEYREJECTED, -EPROTO, -ESTALE
     * (the server does not know it any more), or -ETIMEDOUT.  No callback follows except `done` of
     * calls in rfs_link_destroy(). */
    void (*lost)(void *arg, int code, const char *why);
    /* The server forgot the session, and a new one with the same offer has begun.  Reopen what was
     * open by calls with `renews` set, then call rfs_link_renewed().  A NULL callback: the session
     * is over instead. */
    void (*renew)(void *arg);
    /* Replaces the call's handles by those of the new session.  was_sent: the old session may have
     * executed the call. */
    enum rfs_again (*again)(void *arg, struct rfs_call *call, bool was_sent);
    /* Returns the server's current address before each connection attempt.  A NULL callback or
     * result: unchanged. */
    const char *(*where)(void *arg);
};

/* Connects.  The options and what they point to are borrowed until rfs_link_destroy().  -EINVAL:
 * malformed address. */
int rfs_link_create(struct loop *loop, const struct rfs_link_options *options,
                    const struct rfs_link_events *events, void *arg, struct rfs_link **ret,
                    struct err *err);
/* Sends BYE if possible.  Remaining calls are answered with -ECONNABORTED.  NULL is allowed. */
void rfs_link_destroy(struct rfs_link *link);

/* Submits a call; `done` is never called before this returns. */
void rfs_link_submit(struct rfs_link *link, struct rfs_call *call);
/* Call when everything is reopened (code 0), or when that failed (code and why): the session is
 * then over. */
void rfs_link_renewed(struct rfs_link *link, int code, const char *why);
/* Most bytes of data in one message; valid once the session has begun. */
uint32_t rfs_link_data_max(const struct rfs_link *link);
/* True when there is a connection now on which answers can come. */
bool rfs_link_is_up(const struct rfs_link *link);

struct rfs_link_stats {
    uint64_t calls;       /* calls answered */
    uint64_t connections; /* connections made; all but the first resumed a session */
    uint64_t resent;
    uint64_t renewed; /* sessions that the server had forgotten and that were replaced */
};
void rfs_link_get_stats(const struct rfs_link *link, struct rfs_link_stats *ret);

#endif
