/* startd/startd.h - the startd's own structures, shared by the files of this folder.
 *
 * One struct startd per process.  Slots are static: NUM_SLOTS of equal size.  A slot has at most
 * one claim; a claim that has lost its slot (its end is still to be told to the schedd) stays in
 * the list until that is done or its lease is over.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_STARTD_H
#define STARTD_STARTD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/daemon.h"
#include "base/os.h"
#include "base/vec.h"
#include "startd/slot_plan.h"

#define STARTD_SLOTS_MAX    1024
#define CLAIM_ID_MAX        200
#define CLAIM_ID_LIFETIME_S 120 /* of one that nobody used */

struct ad;
struct ad_context;
struct ad_expr;
struct claim;
struct knob_table;
struct listener;
struct loop_timer;
struct power;
struct startd;
struct store;
struct uplink;
struct wire;
struct wire_context;
struct wire_request;

struct slot {
    struct startd *startd;
    int id; /* from 1 */
    char name[300];
    enum slot_state state;
    enum slot_activity activity;
    int64_t entered_state_s, entered_activity_s;
    char claim_id[CLAIM_ID_MAX]; /* the one that a schedd may show now; "" while claimed */
    int64_t minted_s;            /* when the claim id was made */
    struct claim *claim;         /* NULL in Owner, Unclaimed, Drained */
    struct ad *ad;               /* as last built */
    bool changed;                /* must be sent */
};

enum claim_stage {
    CLAIM_OFFERED, /* OK said to DIAL_ME; not yet confirmed by the schedd */
    CLAIM_HELD,    /* confirmed, no job */
    CLAIM_ACTIVE,  /* a starter is there */
    CLAIM_OVER,    /* nothing runs any more; the schedd is still to be told */
};

struct claim {
    struct startd *startd;
    struct slot *slot; /* NULL in stage OVER */
    enum claim_stage stage;
    char id[CLAIM_ID_MAX];
    char slot_name[300];
    char *schedd_address, *schedd_pin, *schedd_name;
    int64_t lease_s;
    char job_id[64]; /* "" before the first */
    int64_t epoch;
    char *user;             /* of the job: RemoteOwner */
    uint64_t lease_end_ms;  /* loop_now_ms() */
    uint64_t renew_sent_ms; /* of the renewal (CLAIM, ALIVE) under way */
    bool resume;            /* the next CLAIM is a resumption */
    bool dialling;
    bool renewing;
    bool say_again; /* ALIVE was due while a renewal was under way: another follows at once */
    bool confirmed; /* by the schedd, in this life of ours: only then do we know the lease's end */
    unsigned failures; /* dials in a row that failed */
    struct wire *wire;
    struct loop_timer *dial_timer, *alive_timer, *lease_timer;
    /* the run, in stage ACTIVE */
    struct ad *job;
    char *record; /* text of the job record that the starter reads */
    char *directory;
    pid_t starter_pid;
    uint64_t starter_start;
    struct wire *starter_wire;
    bool starter_done;             /* it said so; its process is still to end */
    char done_reason[200];         /* what it said */
    bool stopping;                 /* the starter was told to stop */
    bool overdue;                  /* and the lease is over: it is killed if it does not end soon */
    char reason[200];              /* why the claim ends with the starter; "" = it does not */
    struct wire_request *starting; /* ACTIVATE, to be answered once its run is committed */
    struct wire_request *activate; /* the next one, waiting for the last starter to end */
    struct wire_request *deactivate; /* to be answered when the starter is gone */
    struct wire_request *release;    /* the same */
    unsigned pending; /* commits and calls under way that will call back with this claim */
    bool dead;        /* destroyed, but for those */
    bool committing;  /* a record of it is on its way to the disk */
};

struct startd {
    struct daemon_env env;
    struct os_machine machine;
    char name[256];   /* Machine */
    char uplink[300]; /* "startd/<name>" */
    struct wire_context *wires;
    struct uplink *collector;
    struct store *store;
    struct power *power;
    struct listener *starters; /* unix:$(RUN)/startd.sock */
    struct vec starter_wires;  /* accepted, hello not yet said or already matched */
    struct vec claims;         /* struct claim */
    struct vec commits;        /* of claims, on their way to the disk, oldest first */
    struct vec dead;           /* claims that are gone, but for callbacks still to come */
    struct slot *slots;
    size_t slot_count;
    struct ad_expr *hibernate;
    struct loop_timer *poll_timer, *send_timer, *hibernate_timer, *stop_timer, *leave_timer;
    uint64_t epoch, sequence; /* of our updates */
    uint64_t random_state;
    bool first_update_done; /* since the uplink came up */
    bool going_down;        /* asleep soon: no new claims */
    bool leaving;           /* jobs are being ended so that it can go down: no new claims, either */
    bool offline_sent;      /* offline ads on their way or acknowledged */
    bool stopping;
    bool asleep; /* -asleep: only leave offline ads, then end */
    char sleep_level[8];
    char *sleep_reason;
    int64_t started_s;
    struct wire_request *power_request; /* POWER_DOWN to be answered */
};

extern const struct knob_table startd_knobs;
extern const struct daemon startd_daemon;

struct ad_context startd_context(struct startd *startd);

/* ---- slot.c */
int slots_create(struct startd *startd, struct err *err);
void slots_destroy(struct startd *startd);
void slot_move(struct slot *slot, enum slot_state state, enum slot_activity activity);
void slot_rest(struct slot *slot);    /* to Owner or Unclaimed, with a new claim id */
void slot_refresh(struct slot *slot); /* builds the ad anew */
struct slot *slot_by_claim_id(struct startd *startd,
                              const char *claim_id); /* constant time per slot */
void slots_poll(struct startd *startd);              /* Owner or Unclaimed, machine figures */

/* ---- claim.c */
void claim_dial_me(struct startd *startd, struct wire_request *request);
int claims_restore(struct startd *startd, struct err *err);
void claims_destroy(struct startd *startd);
void claims_release_rest(struct startd *startd); /* last of all: nothing calls back any more */
/* The starter is gone and its sandbox with it.  reason "": its job was answered; else the claim
 * ends with it. */
void claim_starter_gone(struct claim *claim, const char *reason);
/* Ends a claim: its starter is stopped first.  The schedd is told reason. */
void claim_end(struct claim *claim, const char *reason, bool fast);
struct claim *claim_find(struct startd *startd, const char *claim_id);
uint64_t claim_remaining_ms(const struct claim *claim);
/* done, which may be NULL, is not called for a claim that was destroyed meanwhile. */
void claim_commit(struct claim *claim, void (*done)(void *claim));

/* ---- activation.c: jobs on a claim, asked for on the claim's connection */
void activation_request(void *claim, struct wire_request *request);
void activation_starter_gone(struct claim *claim);
void activation_destroy(struct claim *claim);
int activation_set_job(struct claim *claim, const struct ad *job);

/* ---- starters.c */
int starters_open(struct startd *startd, struct err *err);
void starters_close(struct startd *startd);
int starters_spawn(struct claim *claim, struct err *err);
void starters_adopt(struct claim *claim); /* after our restart: watch it, or find that it is gone */
void starters_stop(struct claim *claim, bool fast);
void starters_renewed(struct claim *claim);
void starters_sweep(struct startd *startd); /* at start: sandboxes that no claim knows */

/* ---- advertise.c */
int advertise_open(struct startd *startd, struct err *err);
void advertise_soon(struct startd *startd);
void advertise_close(struct startd *startd);

/* ---- hibernate.c */
void hibernate_check(struct startd *startd);
void hibernate_leave(
    struct startd *startd); /* -asleep: offline ads, as if it had been up, then the end */
void hibernate_power_down(struct startd *startd, struct wire_request *request);
struct loop_timer *hibernate_leaving(struct startd *startd); /* ends `leaving` */
struct loop_timer *hibernate_guard(
    struct startd *startd); /* runs out when the machine did not go down */

#endif
