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

#define DRAIN_SLOTS_MAX 1024 /* most slots in one request */
/* most bytes of a reason or an expression in a request, without the terminating zero */
#define DRAIN_TEXT_MAX 4096
#define DRAIN_NAME_MAX 300 /* most bytes of a slot's name, with the terminating zero */
#define DRAIN_ID_MAX   40  /* bytes of a request's id, with the terminating zero */
/* Seconds that the startd waits for a commit or cancel of its offer, unless the request asks for
 * less. */
#define DRAIN_COMMIT_S 10
/* the end of the year 9999, seconds since 1970: no estimated time is later */
#define DRAIN_ESTIMATE_S INT64_C(253402300799)

struct ad;
struct err;

/* How the jobs are ended. */
enum drain_schedule {
    DRAIN_GRACEFUL, /* jobs have their retirement time, then they are asked to end */
    DRAIN_QUICK,    /* jobs are asked to end now */
    DRAIN_FAST,     /* jobs are killed now */
    /* jobs run to their own end; draining evicts them only for the deadline of the request */
    DRAIN_PEACEFUL,
};

/* What the startd does at the end, when all requested slots are Drained/Idle. */
enum drain_then {
    /* nothing: the slots stay drained until somebody cancels the request */
    DRAIN_THEN_STAY,
    /* dynamic slots return to their partitionable slots, and START is evaluated
     * again */
    DRAIN_THEN_RESUME,
    DRAIN_THEN_EXIT,    /* the startd exits and is not started again */
    DRAIN_THEN_RESTART, /* the startd exits and is started again */
    /* the machine goes to sleep (S3, else S4, else S5) and leaves offline ads */
    DRAIN_THEN_SLEEP,
    /* the machine is switched off (S5) and leaves offline ads; no job may wake it */
    DRAIN_THEN_OFF,
};

/* returns a schedule's name, such as "graceful" */
const char *drain_schedule_name(enum drain_schedule schedule);
/* returns HTCondor's number: 0 graceful, 10 quick, 20 fast; and our -10: peaceful */
int drain_schedule_number(enum drain_schedule schedule);
/* Reads a schedule's name, ignoring case.  Returns 0; -EINVAL if text is not the name of a
 * schedule. */
int drain_schedule_parse(const char *text, enum drain_schedule *ret);
const char *drain_then_name(enum drain_then then); /* "resume" */
int drain_then_parse(const char *text, enum drain_then *ret);

/* Why a request is refused: values of ErrorCode in the answer.  The first three numbers are
 * HTCondor's. */
enum drain_code {
    DRAIN_OK = 0,
    DRAIN_ALREADY = 10001, /* another request is in force, or offered and not yet committed */
    /* no request in force or offered has the given id, or there is no request at all */
    DRAIN_NO_SUCH_ID = 10002,
    DRAIN_CHECK_FALSE = 10003,  /* CheckExpr of the request is not true for some slot */
    DRAIN_BAD_REQUEST = 10101,  /* an argument of the request is not valid */
    DRAIN_NO_SUCH_SLOT = 10102, /* the argument Slots names an unknown slot */
    DRAIN_NOT_NOW = 10103,      /* the startd is ending, or the machine is going to sleep */
    DRAIN_CANNOT = 10104,       /* the machine cannot do what the request orders for the end */
    /* the offer has ended without a commit, or was committed already */
    DRAIN_TOO_LATE = 10105,
    DRAIN_NO_AUTHORITY = 10106, /* the caller's token lacks ADMINISTRATOR */
    /* the startd is not connected to the collector: the machine is off, asleep or disconnected */
    DRAIN_NOT_THERE = 10107,
    DRAIN_NO_ANSWER = 10108, /* the connection was lost, or nobody answered in time */
    /* somebody else cancelled the draining that the requester waited for, or was to ask for */
    DRAIN_CANCELLED = 10109,
};

/* A request to drain a machine. */
struct drain_request {
    enum drain_schedule schedule;
    enum drain_then then;
    /* names of the slots to drain, each with or without "@machine"; slot_count 0: all slots */
    char **slots;
    size_t slot_count;
    char *check; /* CheckExpr: must be true in every requested slot's ad; NULL: no condition */
    /* StartExpr: replaces START of the slots while jobs from before the draining still run; NULL:
     * START is false from the beginning */
    char *start;
    char *reason;       /* why the machine is drained, for people; NULL: no reason given */
    int64_t deadline_s; /* time after which no job may run, seconds since 1970; 0: none */
    int64_t commit_s;   /* how long the startd's offer is valid, seconds, 1 to DRAIN_COMMIT_S */
    /* With DRAIN_THEN_SLEEP and DRAIN_THEN_OFF: jobs that wait may end the draining and take the
     * machine back (POWER_RECLAIM). */
    bool reclaimable;
    bool estimate; /* true: only return the estimates; nothing changes, and no id is given */
};

/* Reads a request from args, the arguments of START_DRAINING; free *ret with drain_request_fini().
 * Checks everything that can be checked without knowing the machine, including the syntax of
 * expressions.  Returns DRAIN_OK; or another code, with *ret all zero and the wrong argument in
 * err. */
enum drain_code drain_request_read(const struct ad *args, struct drain_request *ret,
                                   struct err *err);
/* Writes the request into args, so that drain_request_read() reads the same request from args;
 * other attributes of args stay. */
void drain_request_write(const struct drain_request *request, struct ad *args);
/* frees all texts in the request and sets it to all zero */
void drain_request_fini(struct drain_request *request);

/* Returns whether the request includes the slot `name` ("slot1_2@machine").  A request for
 * a partitionable slot includes its dynamic slots. */
bool drain_request_names(const struct drain_request *request, const char *name);

#endif
