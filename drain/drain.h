/* drain/drain.h - draining: the words, a request, and what may be wrong with it.
 *
 * Used by the startd, which drains, and by everything that asks it to (the command line, later
 * eventd and factory, through drain/drain_client.h).  A request travels as an ad, and is kept as
 * one by the startd, so that it survives its death (docs/protocol/drain.md).
 *
 * Words and numbers are those of HTCondor's condor_drain; a receiver takes both, a sender sends
 * words.  Source of what they mean: the seed document "Whole Machine Draining".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef DRAIN_DRAIN_H
#define DRAIN_DRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DRAIN_SLOTS_MAX  1024 /* named in one request */
#define DRAIN_TEXT_MAX   4096 /* bytes of a reason, of an expression */
#define DRAIN_NAME_MAX   300  /* bytes of a slot's name */
#define DRAIN_ID_MAX     40   /* with its terminating zero */
#define DRAIN_COMMIT_S   10   /* so long the startd waits for commit or cancel, if not told less */
#define DRAIN_ESTIMATE_S INT64_C(253402300799) /* no estimate lies behind the year 9999 */

struct ad;
struct err;

enum drain_schedule {
    DRAIN_GRACEFUL, /* jobs have their retirement time, then they are asked to end */
    DRAIN_QUICK,    /* they are asked to end now */
    DRAIN_FAST,     /* they are killed now */
};

enum drain_then {                     /* what is done when all requested slots are Drained/Idle */
                  DRAIN_THEN_STAY,    /* nothing: until somebody cancels the request */
                  DRAIN_THEN_RESUME,  /* pieces go back to their slot, START counts again */
                  DRAIN_THEN_EXIT,    /* the startd ends, and is not started again */
                  DRAIN_THEN_RESTART, /* the startd ends, and is started again */
                  DRAIN_THEN_SLEEP,   /* offline ads, then S3, or what HIBERNATE says */
                  DRAIN_THEN_OFF,     /* offline ads, then S5; no job wakes it */
};

const char *drain_schedule_name(enum drain_schedule schedule);        /* "graceful" */
int drain_schedule_number(enum drain_schedule schedule);              /* HTCondor's: 0, 10, 20 */
int drain_schedule_parse(const char *text, enum drain_schedule *ret); /* case ignored; -EINVAL */
const char *drain_then_name(enum drain_then then);                    /* "resume" */
int drain_then_parse(const char *text, enum drain_then *ret);

/* ErrorCode of a refusal.  The first three are HTCondor's. */
enum drain_code {
    DRAIN_OK = 0,
    DRAIN_ALREADY = 10001,      /* another request is there, draining or not yet committed */
    DRAIN_NO_SUCH_ID = 10002,   /* no request of that id */
    DRAIN_CHECK_FALSE = 10003,  /* CheckExpr is not true on some slot */
    DRAIN_BAD_REQUEST = 10101,  /* an argument is none */
    DRAIN_NO_SUCH_SLOT = 10102, /* Slots names one that is not there */
    DRAIN_NOT_NOW = 10103,      /* the startd ends, or the machine is going to sleep */
    DRAIN_CANNOT = 10104,       /* the machine cannot do what is to be done at the end */
    DRAIN_TOO_LATE = 10105,     /* commit came behind the deadline, or a second time */
    DRAIN_NO_AUTHORITY = 10106, /* the caller's token has no ADMINISTRATOR */
    DRAIN_NOT_THERE = 10107,    /* the machine has no uplink now: off, asleep, cut off */
    DRAIN_NO_ANSWER = 10108,    /* the connection was lost, or nobody answered in time */
};

struct drain_request {
    enum drain_schedule schedule;
    enum drain_then then;
    char **slots; /* names of slots, each with or without "@machine"; none: all of the machine */
    size_t slot_count;
    char *check;        /* must be true in every requested slot's ad; NULL: no matter */
    char *start;        /* START of the slots while jobs of before are running; NULL: false */
    char *reason;       /* NULL: none given */
    int64_t deadline_s; /* seconds since 1970: then no job is left; 0: none */
    int64_t commit_s;   /* so long the offer stands; 1 to DRAIN_COMMIT_S */
    /* sleep, off: jobs that wait may end it and take the machine back (POWER_RECLAIM) */
    bool reclaimable;
    bool estimate; /* only say what it would cost: nothing changes, there is no id */
};

/* The arguments of START_DRAINING into a request, which is the caller's: drain_request_fini().
 * Checks all that can be without the machine, syntax of the expressions included.  0; or a code,
 * *ret all zero, and err says which argument is wrong. */
enum drain_code drain_request_read(const struct ad *args, struct drain_request *ret,
                                   struct err *err);
/* The arguments that read back as the same request; those of before in args stay. */
void drain_request_write(const struct drain_request *request, struct ad *args);
void drain_request_fini(struct drain_request *request); /* all zero afterwards */

/* Does the request name that slot?  name is "slot1_2@machine".  A request of a partitionable slot
 * means its pieces as well. */
bool drain_request_names(const struct drain_request *request, const char *name);

#endif
