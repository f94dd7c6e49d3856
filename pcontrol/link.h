/* pcontrol/link.h - the connection to one pclient, through a transport such as ssh.
 *
 * A link starts the transport, greets the pclient behind it, keeps its lease alive by pings, and
 * tells what comes.  It knows nothing of jobs and hosts.
 *
 * The lease: see docs/protocol/pclient.md.  link_safe_ms() is the moment from which on nothing that
 * this link has started can still run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PCONTROL_LINK_H
#define PCONTROL_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/loop.h"
#include "pcontrol/link_plan.h"

struct link;
struct os;

LIST_HEAD(link_list,
          link); /* all links of an owner, also those that it has closed and that still end */

enum link_event {
    LINK_NOTHING,   /* for now */
    LINK_IS_UP,     /* the pclient has answered; jobs may be given to it */
    LINK_SAYS,      /* *message is a message of the pclient: none of LINK_FOLLOWS and LINK_PONG */
    LINK_IS_SILENT, /* the pclient has not answered for link_spec.silent_ms */
    LINK_ANSWERS,   /* after LINK_IS_SILENT: it answers again */
    LINK_IS_LOST,   /* the transport has ended, or what came was not from a pclient: link_why() */
};

struct link_spec {
    const char *const *argv; /* the whole command: transport, host, pclient; ended by NULL */
    uint64_t lease_ms;       /* that pclient was told */
    uint64_t connect_ms;     /* the pclient must have answered within this time */
    uint64_t silent_ms;      /* without an answer for so long the pclient is silent */
};

/* Starts the transport, and adds the link to the list until it is freed.  ready(arg) is called from
 * the loop when link_next() may have something. Returns 0, or -errno with err set: then there is no
 * link. */
int link_open(struct loop *loop, struct os *os, const struct link_spec *spec,
              struct link_list *list, loop_f ready, void *arg, struct link **ret, struct err *err);
/* Returns what has happened next; what *message points to lives until the next call.  To be called
 * until it returns LINK_NOTHING or LINK_IS_LOST, or the link is closed. */
enum link_event link_next(struct link *link, struct link_message *message);
const char *link_why(const struct link *link); /* after LINK_IS_LOST: why */
/* Has the pclient and the transport end; no callback follows.  The transport is killed if it has
 * not ended in some seconds.  NULL is allowed. */
void link_close(struct link *link);
/* Closes at once: the transport is killed. */
void link_cut(struct link *link);
/* For the end of the program: frees a link that was closed, without waiting for the end of its
 * transport. */
void link_drop(struct link *link);

/* Sends a request: a whole line with its newline. */
void link_send(struct link *link, const char *text, size_t length);
/* Tells the pclient that this much more of the job's output has been dealt with. */
void link_ack(struct link *link, size_t length);

/* Returns when the lease that the pclient can have at most has ended, ms of loop_now_ms(), without
 * a margin.  0: nothing was ever started there. */
uint64_t link_safe_ms(const struct link *link);

#endif
