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
#define SHADOW_STRANGERS_MAX 64 /* connections that have proved nothing */
#define SHADOW_PIECE_BYTES   ((size_t)256 << 10)

struct shadow_ckpt {   /* what the site says of checkpoints */
    char *directory;   /* <shadow's directory>/ckpt */
    int64_t quota;     /* bytes; 0: no limit */
    char *program;     /* roost-ckpt */
    char *destination; /* CHECKPOINT_DESTINATION; NULL: SPOOL */
};

struct shadow {
    struct loop *loop;
    struct os *os;
    struct log *log;
    char *owner;
    char *directory; /* SPOOL/owner/<owner> */
    char *stages;    /* <directory>/stage */
    char *spools;    /* <directory>/spool: what evicted jobs have made */
    struct tls_identity *identity;
    struct wire_context *context;
    struct uplink *uplink;
    struct listener *listener;
    struct loop_timer *greeting; /* to say SHADOW_HELLO again: another one was there */
    bool greeted;                /* SHADOW_HELLO was answered on the uplink as it is now */
    struct loop_timer *orphan;
    uint64_t orphan_ms;
    struct loop_lane *lanes[SHADOW_LANES_MAX];
    size_t lane_count;
    int64_t spool_reserve;               /* bytes of SPOOL's disk that are left to the queue */
    int64_t input_mb_max, output_mb_max; /* where a job says nothing; -1: any */
    struct shadow_ckpt ckpt;
    /* what is under way */
    struct strmap *runs;           /* job id -> struct run, the newest of each job */
    struct vec reports;            /* report.c: struct report, not answered yet */
    struct vec works;              /* run_work.c: struct work, under way on lanes */
    struct vec sweeps;             /* stage_sweep.c */
    LIST_HEAD(, get) gets;         /* feed.c: files on their way to starters */
    LIST_HEAD(, removal) removals; /* ckpt_remove.c */
    struct vec links;              /* struct link: connections of starters */
    bool asking;                   /* link_accept.c: for a run that we do not know */
    uint64_t asked_ms;             /* when the schedd was asked the last time */
    /* parts, which only their own files know */
    struct guests *guests;
    struct sandboxes *sandboxes; /* spool.c */
    struct mailer *mailer;
    struct event_logs *event_logs; /* NULL: no event came yet */
    struct remotes *remotes;
};

#endif
