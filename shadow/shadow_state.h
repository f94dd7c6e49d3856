/* shadow/shadow_state.h - what all parts of a shadow share: the process.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_SHADOW_STATE_H
#define SHADOW_SHADOW_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/vec.h"

struct listener;
struct log;
struct loop;
struct loop_lane;
struct loop_timer;
struct os;
struct strmap;
struct uplink;
struct wire_context;

#define SHADOW_LANES_MAX     64
#define SHADOW_LINKS_MAX     10000
#define SHADOW_STRANGERS_MAX 64 /* connections that have proved nothing; base/strangers.h */
#define SHADOW_PIECE_BYTES   ((size_t)256 << 10)

struct shadow {
    struct loop *loop;
    struct os *os;
    struct log *log;
    char *owner;
    char *directory;               /* SPOOL/owner/<owner> */
    char *stages;                  /* <directory>/stage */
    char *spools;                  /* <directory>/spool: what evicted jobs have made */
    char *checkpoints;             /* <directory>/ckpt */
    int64_t checkpoint_quota;      /* bytes; 0: no limit */
    char *ckpt_program;            /* roost-ckpt */
    char *checkpoint_destination;  /* CHECKPOINT_DESTINATION; NULL: SPOOL */
    LIST_HEAD(, removal) removals; /* checkpoint.c */
    struct tls_identity *identity;
    struct wire_context *context;
    struct uplink *uplink;
    struct listener *listener;
    struct loop_timer *greeting; /* to say SHADOW_HELLO again: another one was there */
    bool greeted;                /* SHADOW_HELLO was answered on the uplink as it is now */
    struct loop_lane *lanes[SHADOW_LANES_MAX];
    size_t lane_count;
    struct strmap *runs;                 /* job id -> struct run, the newest of each job */
    struct vec links;                    /* struct link: connections of starters */
    struct vec reports;                  /* struct report: not answered yet */
    struct vec works;                    /* struct work: under way on lanes */
    struct vec sweeps;                   /* of stage.c */
    LIST_HEAD(, get) gets;               /* feed.c: files on their way to starters */
    struct vec tickets, guests;          /* guest.c: who may come, and who is there */
    LIST_HEAD(, forward) forwards;       /* guest.c: what starters were asked for guests */
    LIST_HEAD(, spool_work) spool_works; /* spool.c */
    int64_t spool_quota, spool_used;     /* bytes; used: of the lane that writes */
    bool spool_counted;
    int64_t spool_reserve; /* bytes of SPOOL's disk that are left to the queue */
    struct loop_timer *orphan;
    uint64_t orphan_ms;
    struct mail *mail;                   /* mail.c; NULL: none is being sent */
    int64_t mail_sent;                   /* number of the last */
    int64_t input_mb_max, output_mb_max; /* where a job says nothing; -1: any */
    char *sendmail;                      /* "": mail is not sent */
    struct event_logs *event_logs;       /* event_log.c; NULL: no event came yet */
    struct remotes *remotes;             /* remote.c */
    bool asking;       /* link.c: the schedd is asked for a run that we do not know */
    uint64_t asked_ms; /* when it was the last time */
};

#endif
