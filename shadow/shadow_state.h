/* shadow/shadow_state.h - struct shadow, the state that all parts of a shadow process share.
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
#define SHADOW_STRANGERS_MAX 64 /* most connections that have not proved who they are */
#define SHADOW_PIECE_BYTES   ((size_t)256 << 10)

struct shadow_ckpt {   /* settings for checkpoints */
    char *directory;   /* <shadow's directory>/ckpt */
    int64_t quota;     /* most bytes of all checkpoints of the owner; 0: no limit */
    char *program;     /* path of the program roost-ckpt */
    char *destination; /* value of CHECKPOINT_DESTINATION; NULL: keep checkpoints in SPOOL */
};

struct shadow {
    struct loop *loop;
    struct os *os;
    struct log *log;
    char *owner;
    char *directory; /* SPOOL/owner/<owner> */
    char *stages;    /* <directory>/stage: output that waits for its commit */
    char *spools;    /* <directory>/spool: files left by evicted jobs */
    struct tls_identity *identity;
    struct wire_context *context;
    struct uplink *uplink;
    struct listener *listener;
    /* repeats SHADOW_HELLO if it was refused because another shadow was connected */
    struct loop_timer *greeting;
    bool greeted;              /* SHADOW_HELLO was answered on the present uplink */
    struct loop_timer *orphan; /* ends the process if no schedd is connected for orphan_ms */
    uint64_t orphan_ms;
    struct loop_lane *lanes[SHADOW_LANES_MAX];
    size_t lane_count;
    int64_t spool_reserve;               /* bytes that must stay free on the disk of SPOOL */
    int64_t input_mb_max, output_mb_max; /* limits in MB for jobs that set none; -1: no limit */
    struct shadow_ckpt ckpt;
    /* This group, up to asked_ms, holds what is under way: runs, reports, works, connections ... */
    struct strmap *runs; /* maps job ids to struct run, the newest run of each job */
    struct vec reports;  /* report.c: reports not answered yet, each a struct report */
    /* run_work.c: works that run or wait on lanes, each a struct work */
    struct vec works;
    struct vec sweeps;             /* stage_sweep.c: removals of old stages under way */
    LIST_HEAD(, get) gets;         /* feed.c: files being sent to starters */
    LIST_HEAD(, removal) removals; /* ckpt_remove.c: removals of checkpoints under way */
    struct vec links;              /* connections of starters and clients, each a struct link */
    bool asking;       /* link_accept.c: the schedd is being asked about an unknown run */
    uint64_t asked_ms; /* when link_accept.c last asked the schedd about an unknown run */
    /* Each of these structs is the state of one .c file, and no other file knows its members. */
    struct guests *guests;       /* guest.c: connected guests and unused tickets */
    struct sandboxes *sandboxes; /* spool.c: sandboxes of spooled clusters */
    struct mailer *mailer;
    struct event_logs *event_logs; /* event_log.c: writes to logs; NULL until the first event */
    struct remotes *remotes;
};

#endif
