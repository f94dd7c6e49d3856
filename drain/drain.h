/* drain/drain.h - draining a machine: the names, the request, and the reasons to refuse it.
 *
 * Used by the startd, which drains, and by everything that asks it to: the command line, later also
 * eventd and factory, through drain/drain_client.h.  A request is sent as an ad, and the startd
 * stores it as an ad, so that it survives a restart (docs/protocol/drain.md).
 *
 * Names and numbers are those of HTCondor's condor_drain; a receiver accepts both, a sender uses
 * names.  Their meaning is that of the document "Whole Machine Draining".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef DRAIN_DRAIN_H
#define DRAIN_DRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DRAIN_SLOTS_MAX 1024 /* slots in one request */
#define DRAIN_TEXT_MAX  4096 /* bytes of a reason, of an expression */
#define DRAIN_NAME_MAX  300  /* bytes of a slot's name */
#define DRAIN_ID_MAX    40   /* bytes, with the terminating zero */
/* seconds that the startd waits for commit or cancel, unless told less */
#define DRAIN_COMMIT_S 10
/* the end of the year 9999: no estimate is later */
#define DRAIN_ESTIMATE_S INT64_C(253402300799)

struct ad;
struct err;

/* How the jobs are ended. */
enum drain_schedule {
    DRAIN_GRACEFUL, /* jobs have their retirement time, then they are asked to end */
    DRAIN_QUICK,    /* jobs are asked to end now */
    DRAIN_FAST,     /* jobs are killed now */
};

enum drain_then {                     /* what follows when all requested slots are Drained/Idle */
                  DRAIN_THEN_STAY,    /* nothing, until somebody cancels the request */
                  DRAIN_THEN_RESUME,  /* pieces return to their slot, START is evaluated again */
                  DRAIN_THEN_EXIT,    /* the startd exits and is not started again */
                  DRAIN_THEN_RESTART, /* the startd exits and is started again */
                  DRAIN_THEN_SLEEP,   /* the machine sleeps: offline ads, then S3 or the level of
                                         HIBERNATE */
                  DRAIN_THEN_OFF, /* the machine is switched off: offline ads, then S5; no job wakes
                                     it */
};

const char *drain_schedule_name(enum drain_schedule schedule); /* name of a schedule: "graceful" */
int drain_schedule_number(enum drain_schedule schedule);       /* HTCondor's numbers: 0, 10, 20 */
/* case is ignored; 0 or -EINVAL */
int drain_schedule_parse(const char *text, enum drain_schedule *ret);
const char *drain_then_name(enum drain_then then); /* "resume" */
int drain_then_parse(const char *text, enum drain_then *ret);

/* Reasons for a refusal (ErrorCode).  The first three are HTCondor's. */
enum drain_code {
    DRAIN_OK = 0,
    DRAIN_ALREADY = 10001,      /* there is another request, draining or not yet committed */
    DRAIN_NO_SUCH_ID = 10002,   /* no request has that id */
    DRAIN_CHECK_FALSE = 10003,  /* CheckExpr is not true for some slot */
    DRAIN_BAD_REQUEST = 10101,  /* an argument is not valid */
    DRAIN_NO_SUCH_SLOT = 10102, /* Slots names an unknown slot */
    DRAIN_NOT_NOW = 10103,      /* the startd is ending, or the machine is going to sleep */
    DRAIN_CANNOT = 10104,       /* the machine cannot do what is to follow at the end */
    DRAIN_TOO_LATE = 10105,     /* the commit came after the deadline, or a second time */
    DRAIN_NO_AUTHORITY = 10106, /* the caller's token lacks ADMINISTRATOR */
    DRAIN_NOT_THERE = 10107,    /* the machine has no uplink now: off, asleep or disconnected */
    DRAIN_NO_ANSWER = 10108,    /* the connection was lost, or nobody answered in time */
};

/* A request to drain. */
struct drain_request {
    enum drain_schedule schedule;
    enum drain_then then;
    char **slots; /* names of slots, each with or without "@machine"; none: all slots */
    size_t slot_count;
    char *check;  /* CheckExpr: must be true in every requested slot's ad; NULL: no condition */
    char *start;  /* StartExpr: START of the slots while earlier jobs still run; NULL: false */
    char *reason; /* NULL: none given */
    int64_t deadline_s; /* no job runs after that, seconds since 1970; 0: none */
    int64_t commit_s;   /* how long the offer is valid, seconds: 1 to DRAIN_COMMIT_S */
    /* DRAIN_THEN_SLEEP, _OFF: waiting jobs may cancel it and take the machine back
     * (POWER_RECLAIM). */
    bool reclaimable;
    bool estimate; /* only return the estimates: nothing changes, there is no id */
};

/* Reads a request from the arguments of START_DRAINING; free it with drain_request_fini().  Checks
 * everything that can be checked without the machine, also the syntax of expressions.  Returns
 * DRAIN_OK; or another code, with *ret all zero and the wrong argument in err. */
enum drain_code drain_request_read(const struct ad *args, struct drain_request *ret,
                                   struct err *err);
/* Sets the arguments from which drain_request_read() reads the same request; other attributes of
 * args stay. */
void drain_request_write(const struct drain_request *request, struct ad *args);
void drain_request_fini(struct drain_request *request); /* frees all texts; all zero afterwards */

/* Returns whether the request includes the slot with that name ("slot1_2@machine").  A request for
 * a partitionable slot includes its pieces. */
bool drain_request_names(const struct drain_request *request, const char *name);

#endif
