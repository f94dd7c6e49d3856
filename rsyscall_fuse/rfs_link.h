/* rsyscall_fuse/rfs_link.h - the client's end of a session of remote system calls.
 *
 * The caller submits requests as calls; each call is answered once, in any order.  The link hides
 * the network: after a cut it connects again and sends unanswered requests again, in the same
 * request slot with the same number, by which the server recognizes them (docs/protocol/rsyscall.md
 * section 3).  Only the final loss of a session is reported, once.
 *
 * A restarted server does not know the session.  The link then begins a new session, in which the
 * caller opens again the files that were open (rfs_renew.c).  Unanswered requests are sent again
 * where that cannot do harm.
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

/* Called with the answer to a call; from then on, the call belongs to the caller again.  Pointers
 * in reply are valid until this function returns. */
typedef void (*rfs_call_f)(struct rfs_call *call, const struct rsys_reply *reply);

/* A request under way, embedded in a larger struct of the caller.  The caller sets request (without
 * slot and seq), done and bulk, and keeps all that request points to until done is called. */
struct rfs_call {
    struct rsys_request request;
    rfs_call_f done;
    /* True: nobody waits for the answer now (read-ahead, write-behind).  At most half of the
     * request slots are used for such calls. */
    bool bulk;
    /* True: the call opens a file or takes a lock again in a new session; it is sent before all
     * other calls. */
    bool renews;
    bool sent; /* set by the link: the call has a request slot and may have been sent */
    /* Set by the link: the server may have executed the call before, so that its answer -EEXIST or
     * -ENOENT may be due to that. */
    bool doubtful;
    TAILQ_ENTRY(rfs_call) entry;
};

struct rfs_link_options {
    const char *address; /* the server's address, in the form of base/stream/stream.h */
    const char *route;
    const char *pin; /* fingerprint of the server's certificate; NULL only for a Unix socket */
    const char *ticket;
    /* After so many milliseconds without a connection, the session is given up; 0: after the time
     * of its lease. */
    uint64_t give_up_ms;
};

/* What the link does with an unanswered call whose session the server has forgotten. */
enum rfs_again {
    RFS_AGAIN,          /* send the call again: it may be executed twice without harm */
    RFS_AGAIN_IN_DOUBT, /* send the call again, with `doubtful` set: it may have been executed */
    RFS_WAS_DONE,       /* answer with success: the server has the data that the call writes */
    RFS_DROPPED,        /* answer the call with an error, because nobody looks at its answer */
    RFS_UNKNOWN,        /* end the session: nobody can know whether the call was executed */
};

struct rfs_link_events {
    /* Called when the session has begun; hello (borrowed) is the server's reply to HELLO, with uid,
     * lease and roots. */
    void (*ready)(void *arg, const struct rsys_reply *hello);
    /* Called when the session is over, so that no call will be answered. code: -EACCES: the ticket
     * was refused; -EKEYREJECTED: another certificate than `pin`; -EPROTO: a message was malformed;
     * -ESTALE: the server does not know the session any more; -ETIMEDOUT: cut off for too long; or
     * another -errno.  No callback follows except `done` of calls in rfs_link_destroy(). */
    void (*lost)(void *arg, int code, const char *why);
    /* Called when the server has forgotten the session, and a new one with the same roots has
     * begun.  The callee opens again the files that were open, by calls with `renews` set, and then
     * calls rfs_link_renewed().  NULL: the session is over instead. */
    void (*renew)(void *arg);
    /* Called for each unanswered call when the session was renewed: replaces the call's handles by
     * those of the new session, and returns what to do with the call. was_sent: the old session may
     * have executed the call. */
    enum rfs_again (*again)(void *arg, struct rfs_call *call, bool was_sent);
    /* Called before each attempt to connect: returns the server's current address.  If this
     * function or its result is NULL, the address has not changed. */
    const char *(*where)(void *arg);
};

/* Creates the link and begins to connect.  The options and what they point to are borrowed until
 * rfs_link_destroy().  Returns 0; or -EINVAL: the address is malformed. */
int rfs_link_create(struct loop *loop, const struct rfs_link_options *options,
                    const struct rfs_link_events *events, void *arg, struct rfs_link **ret,
                    struct err *err);
/* Ends the session (BYE) if there is a connection, and frees the link.  Unanswered calls are
 * answered with -ECONNABORTED.  NULL is allowed. */
void rfs_link_destroy(struct rfs_link *link);

/* Submits a call, to be sent when a request slot is free; its `done` is never called before this
 * function returns. */
void rfs_link_submit(struct rfs_link *link, struct rfs_call *call);
/* To be called after the event `renew`. code: 0: all files are open again; otherwise the -errno
 * with which that failed, and why is the reason: then the session is over. */
void rfs_link_renewed(struct rfs_link *link, int code, const char *why);
/* Returns how many bytes of data one message may have at most; valid once the session has begun. */
uint32_t rfs_link_data_max(const struct rfs_link *link);
/* Returns whether there is a connection now on which answers can come. */
bool rfs_link_is_up(const struct rfs_link *link);

struct rfs_link_stats {
    uint64_t calls;       /* number of calls that were answered */
    uint64_t connections; /* number of connections that were made */
    uint64_t resent;
    uint64_t renewed; /* number of sessions that the server had forgotten and that were replaced */
};
void rfs_link_get_stats(const struct rfs_link *link, struct rfs_link_stats *ret);

#endif
