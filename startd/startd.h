/* startd/startd.h - the startd's own structures, shared by the files of this folder.
 *
 * One struct startd per process.  Slots are static, partitionable, or dynamic, which is a piece of
 * a partitionable one, made for a claim and gone with it.  A static or dynamic slot has at most one
 * claim, and at most one that waits for it (preemption); a partitionable one has none of its own.
 * A claim that has lost its slot (its end is still to be told to the schedd) stays in the list
 * until that is done or its lease is over.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_STARTD_H
#define STARTD_STARTD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "classad/ad_eval.h"
#include "base/daemon.h"
#include "base/os.h"
#include "base/os_net.h"
#include "base/vec.h"
#include "drain/drain_plan.h"
#include "startd/adapter_plan.h"
#include "startd/advertise_due.h"
#include "startd/carve_plan.h"
#include "startd/claim.h"
#include "startd/claim_record.h"
#include "startd/going_down.h"
#include "startd/hibernate_plan.h"
#include "startd/policy_plan.h"
#include "startd/slot_plan.h"
#include "startd/slot_types_plan.h"
#include "startd/startd_context.h"
#include "wire/secret_list.h"

#define STARTD_SLOTS_MAX    1024
#define CLAIM_ID_LIFETIME_S 120 /* of one that nobody used */

struct ad;
struct ad_context;
struct ad_expr;
struct claim;
struct knob_table;
struct listener;
struct loop_timer;
struct meter;
struct power;
struct startd;
struct store;
struct uplink;
struct wire;
struct wire_context;
struct wire_reply;
struct wire_request;

enum slot_kind { SLOT_STATIC, SLOT_PARTITIONABLE, SLOT_DYNAMIC };

struct slot {
    struct startd *startd;
    enum slot_kind kind;
    int id;              /* from 1; a piece has its partitionable slot's */
    int piece_id;        /* of a piece: from 1; else 0 */
    int type_id;         /* n of SLOT_TYPE_<n>; 0: none; a piece has its partitionable slot's */
    struct slot *parent; /* of a piece */
    char name[300];
    char short_name[32];    /* "slot1_2": in paths, and the instance of its starter */
    struct resources total; /* of all of it */
    enum slot_state state;
    enum slot_activity activity;
    int64_t entered_state_s, entered_activity_s;
    /* The one that a schedd may show now; of a Claimed slot, for a claim that would preempt; "":
     * none.  A partitionable slot has piece_ids instead. */
    char claim_id[CLAIM_ID_MAX];
    struct vec piece_ids;        /* char *: each is good for one piece */
    struct secret_list *offered; /* goes with the ad; NULL: none is to be given away */
    int64_t minted_s;            /* when the (oldest) claim id was made */
    struct claim *claim;         /* NULL in Owner, Unclaimed, Drained */
    struct claim *waiting;       /* for the running claim to end; NULL: none */
    struct policy policy;        /* SUSPEND ... of its type */
    double condor_load;          /* of its job's processes, CPUs, over a minute */
    double owner_load;           /* its share of the load of others */
    int64_t cpu_busy_s;          /* since when CpuBusy is true; 0: it is not */
    struct ad *ad;               /* as last built */
    bool changed;                /* must be sent */
    bool stale;                  /* must be built before it is sent: slot_flap() */
};

struct figures {          /* of the machine, at the last look */
    uint64_t measured_ms; /* when the jobs' use of CPUs was; 0: never */
    double load, condor_load;
    struct os_idleness idle;
    bool console_told; /* by kbdd: when the console was used last, loop_now_ms() */
    uint64_t console_used_ms;
};

struct draining {
    enum drain_phase phase;
    struct drain_request request; /* phase NONE: none */
    char id[DRAIN_ID_MAX];
    char requester[256];
    int64_t began_s;
    bool last;    /* StartExpr counts no more */
    bool no_more; /* OnCompletion was exit: the ads are taken back */
    struct drain_totals totals;
    struct vec held; /* struct held: calls that wait for the end of an offer */
    struct wire_request *offer, *commit, *cancel; /* to be answered */
    bool committing;                              /* the commit is on its way to the disk */
    struct loop_timer *offer_timer, *look_timer;
    uint64_t retry_ms; /* COMPLETE: what comes then is tried (again) then, loop_now_ms() */
};

struct slot_fixed { /* slot_fixed.c; NULL: to be made */
    struct ad *machine;
    struct ad *rules[SLOT_TYPES_MAX + 1]; /* by type */
};

struct adapter {      /* the network adapter that could wake the machine */
    uint64_t seen_ms; /* 0: not looked for yet */
    bool is_there;
    struct os_adapter is;                             /* the one with the address */
    struct adapter_leaf leaf;                         /* the card below it */
    char refusing[OS_ADAPTER_NAME_MAX], refusal[120]; /* a card that was told to wake it, in vain */
};

struct hibernate_look { /* what this machine could do of sleep: hibernate_look.c */
    uint64_t seen_ms;   /* 0: not looked for yet */
    unsigned levels;    /* that it has; hibernate_plan.h */
    bool has_systemd;
    pid_t plugin_pid; /* HIBERNATION_PLUGIN, or logind, is being asked */
    unsigned plugin_levels;
    char plugin_method[64];
    uint64_t ask_logind_ms; /* not before */
    bool is_logind;         /* it is logind that is being asked */
    bool logind_known;      /* what it said last: */
    unsigned logind_levels;
    char held[512];        /* why it is up although all slots agree; "": it is not so */
    uint64_t suspended_ms; /* of this boot, at the last look */
    int64_t awake_since_s; /* started, or a sleep was taken back */
};

struct idle_hint { /* what desktops tell logind: idle_hint.c */
    pid_t pid;     /* loginctl is being asked */
    uint64_t next_ms;
    bool failed; /* it could not be started: there is none */
};

struct permit_what { /* that is asked: may the machine go to sleep? */
    int level;
    const char *reason;
    bool ordered; /* by somebody, by name */
    bool forced;  /* ... whom no guard of policy holds back */
    bool dry_run; /* nothing comes of it */
};

/* status 0: it may; -EBUSY, -EACCES: why not. */
typedef void (*permit_f)(struct startd *startd, int status, const char *why);

struct permit { /* permit.c */
    struct permit_what what;
    char reason[300];
    permit_f done;
    uint64_t early_ms;            /* not asked again before, loop_now_ms() */
    char why[400];                /* ... since that was the answer */
    bool keep_off;                /* of what is asked for now */
    struct wire_request *request; /* POWER_DOWN that waits for the answer; NULL: none */
};

struct keep {        /* somebody keeps it up: keep.c */
    int64_t until_s; /* 0: nobody */
    char by[256], reason[300];
    struct wire_request *request; /* to be answered once it is durable */
};

struct reclaim {  /* jobs took it back while it went down: reclaim.c */
    int64_t at_s; /* 0: they did not, since the startd was started */
    char reason[300];
    struct wire_request *request; /* to be answered once it is durable */
};

struct farewell {         /* farewell.c: a startd that ends by itself */
    bool begun;           /* we end when the claims that are there have ended */
    uint64_t claimed_ms;  /* when there was a claim last, or we began */
    struct ad_expr *when; /* DAEMON_SHUTDOWN */
};

struct job_ckpt_probed { /* job_ckpt.c: what jobs can have here, as roost-ckpt probe says */
    struct ad *ckpt;     /* NULL: this machine takes no checkpoints */
    bool has_remote;     /* jobs can have their files at their submit machine */
    bool has_wrapped;    /* those can whose programs ask by themselves */
};

struct division { /* slots.c: what the machine has, to be divided among its slots */
    struct resource_kinds *kinds;
    struct ad *inventory;                       /* what its scripts say beside that */
    struct resources total;                     /* of the machine, less what is reserved */
    struct ad_expr *modify[RESOURCE_KINDS_MAX]; /* MODIFY_REQUEST_EXPR_REQUEST...; NULL: none */
    int64_t disk_free_kib;                      /* of EXECUTE, as it was seen last */
    uint64_t disk_seen_ms;                      /* 0: never */
};

struct starters {              /* starters.c */
    struct listener *listener; /* unix:$(RUN)/startd.sock */
    struct vec wires;          /* accepted, hello not yet said or already matched */
    uint64_t configurations;   /* so many were taken over: starters read theirs when they start */
};

struct startd {
    struct daemon_env env;
    struct draining draining;
    struct figures figures;
    struct slot_fixed fixed;
    struct adapter adapter;
    struct hibernate_look look;
    struct reclaim reclaim;
    struct idle_hint idle_hint;
    struct keep keep;
    struct meter *meter;
    struct permit permit;
    struct going_down down;
    struct farewell farewell;
    struct job_ckpt_probed probed;
    struct division division;
    struct starters starters;
    struct claim_memory claim_memory;
    struct startd_eval eval;
    struct advertise_due due;
    struct advertise_sent sent;
    struct os_machine machine;
    struct ad *opsys; /* opsys_plan.h */
    char name[256];   /* Machine */
    char uplink[300]; /* "startd/<name>" */
    struct wire_context *wires;
    struct uplink *collector;
    struct store *store;
    struct power *power;
    struct transfer_plugins *plugins; /* who fetches URLs here */
    struct vec claims;                /* struct claim */
    struct slot **slots;              /* a piece comes after all configured ones */
    size_t slot_count;
    size_t machine_slots; /* of them, those that are no pieces */
    struct loop_timer *poll_timer;
    struct loop_timer *stop_timer; /* ends the wait of one that is told to stop; NULL: it is not */
    struct loop_timer *end_timer; /* it ends, as if it was told to stop: not before the next turn */
    bool stopping;
    bool asleep; /* -asleep: only leave offline ads, then end */
    int64_t started_s;
    int64_t last_match_s; /* of any slot; 0: never */
};

extern const struct knob_table startd_knobs;
extern const struct daemon startd_daemon;

/* ---- slots.c: which slots there are */
int slots_create(struct startd *startd, struct err *err);
void slots_destroy(struct startd *startd);
void slots_reload(struct startd *startd);  /* expressions; the division needs a restart */
void slots_refresh(struct startd *startd); /* all ads anew */
/* A piece for that job, Unclaimed, of which nobody knows yet: slot_keep() or slot_uncarve() follows
 * at once.  -ENOSPC: it does not fit, or there are STARTD_SLOTS_MAX slots; -EINVAL: the job's
 * request is none. */
int slot_carve(struct slot *parent, const struct ad *job, struct slot **ret, struct err *err);
/* May that job run in this piece, which was carved for another?  0 for slots that are no pieces;
 * -ENOSPC, -EINVAL. */
int slot_fits(const struct slot *slot, const struct ad *job, struct err *err);
void slot_keep(struct slot *piece);    /* it is shown, and what is left of its parent */
void slot_uncarve(struct slot *piece); /* it was never there */
/* The same for one that was there before we were started; takes resources whether they are free or
 * not.  NULL: such a slot is no longer configured. */
struct slot *slot_carve_again(struct startd *startd, const char *name, const struct ad *resources);
void slot_remove(struct slot *piece); /* a piece that has no claim any more */

/* ---- slot.c: one slot's ad and moves */
void slot_move(struct slot *slot, enum slot_state state, enum slot_activity activity);
void slot_build(struct slot *slot); /* builds the ad anew */
/* Writes anew what passes without a move: figures, disk, what its job has left. */
void slot_renew(struct slot *slot);
void slot_refresh(struct slot *slot); /* the same, its parent's, too, and sends them */
void slot_mint(struct slot *slot);    /* new claim ids */

/* ---- slot_fixed.c: what is the same in the ads of all slots, or of all of a type */
const struct ad *slot_fixed_machine(struct startd *startd);
const struct ad *slot_fixed_rules(struct startd *startd, int type_id); /* policy, STARTD_ATTRS */
void slot_fixed_forget(struct startd *startd); /* configuration or plug-ins are others now */

/* ---- offer.c: DIAL_ME */
void offer_dial_me(struct startd *startd, struct wire_request *request);
void offer_release(struct startd *startd, struct wire_request *request); /* a wait is taken back */

/* ---- preempt.c: a claim waits for a slot, and the running one has to go */
/* 0; -EBUSY, -EPERM: not this one, err says why. */
int preempt_judge(const struct slot *slot, const struct ad *job, const char *word, struct err *err);
/* waiting, in stage CLAIM_WAITING, is the slot's next; the running claim's end begins. */
void preempt_begin(struct slot *slot, struct claim *waiting);
void preempt_cancel(struct claim *waiting, const char *why);
/* The claim of the slot retires, and takes no further job, although none waits for the slot. */
void preempt_retire(struct slot *slot);
/* Has the running claim to go? Then why, in ret. */
bool preempt_is_due(const struct slot *slot, char *ret, size_t size);
/* The owner wants the machine back (PREEMPT): the running claim retires, then ends. */
void preempt_evict(struct slot *slot);
/* A run has begun on the slot, or goes on: it retires at once if it has to go. */
void preempt_run_began(struct slot *slot);
/* The slot has no claim any more: it goes to the claim that waits, or to Owner or Unclaimed with a
 * new claim id; a piece is removed (slot is dangling then). */
void slot_rest(struct slot *slot);
int64_t preempt_wait_max_s(const struct slot *slot);
void preempt_step(void *claim);                        /* the retirement's timer */
int64_t preempt_retirement_s(const struct slot *slot); /* that its job has left */
int64_t preempt_vacate_s(const struct slot *slot);     /* between the soft signal and KILL */
/* Will what the job has made be taken for its next run when it has to go? */
bool preempt_keeps_output(const struct slot *slot);
/* Draining: its job has to go now; fast: at once.  Again: nothing new. */
void preempt_vacate(struct slot *slot, bool fast);
void preempt_is_over(struct slot *slot); /* its job need not go any more, if it only retires */

/* ---- adapter.c: the network adapter that could wake the machine */
void adapter_write(struct startd *startd, struct ad *ad);
#define ADAPTER_WHY_MAX 120
/* Would magic packets wake it once it sleeps?  If not, why says why not. */
bool adapter_can_wake(struct startd *startd, char *why, size_t size);
/* Before it sleeps: its card is told to wake it for magic packets, if it can.  An error, and it
 * must not sleep, if it is needed and the card does not, or if a password is configured that it
 * does not take. */
int adapter_arm(struct startd *startd, bool is_needed, struct err *err);
void adapter_wake_neighbour(struct startd *startd, struct wire_request *request); /* MAGIC_PACKET */

/* ---- figures.c: what the policy expressions look at */
void figures_measure(struct startd *startd); /* and writes it into all ads */
void figures_write(struct slot *slot, struct ad *ad);
void figures_console_used(struct startd *startd, int64_t idle_s); /* kbdd says so, or logind */

/* ---- idle_hint.c: what desktops tell logind of their users */
void idle_hint_look(struct startd *startd); /* asks, now and then; the answer comes later */
void idle_hint_close(struct startd *startd);

/* ---- meter.c: what the machine draws, and what its jobs have of that */
int meter_open(struct startd *startd, struct err *err); /* before slots */
void meter_reload(struct startd *startd);
void meter_close(struct startd *startd); /* NULL is allowed for what it makes */
void meter_look(struct startd *startd);
void meter_write(const struct slot *slot, struct ad *ad);
/* ReservedWatts, UsedWatts: at which its starter counts a run. */
void meter_put_rates(const struct startd *startd, struct ad *args);
/* The run of the claim has had EnergyJoules and CoreSeconds so far; ends: and has no more. */
void meter_count(struct claim *claim, const struct ad *args, bool ends);

/* ---- policy.c: the owner's policy for claimed slots */
void policy_check(struct slot *slot); /* takes a step where one is due; a piece may be gone then */
/* Looks at the figures, then at all slots: free ones are Owner or Unclaimed, claimed ones are
 * checked. */
void policy_poll(struct startd *startd);

/* ---- draining_call.c: what an administrator says of draining */
void draining_call_open(struct startd *startd); /* before draining_open() */
void draining_call_request(struct startd *startd, struct wire_request *request);
/* DIAL_ME, RELEASE_CLAIM, POWER_DOWN from the uplink: now, or when the offer that stands is over.
 */
void draining_call_change(struct startd *startd, struct wire_request *request);

/* ---- draining.c: whole machine draining */
int draining_open(struct startd *startd, struct err *err); /* before slots: START may be false */
void draining_begin(struct startd *startd);                /* after claims: goes on */
void draining_close(struct startd *startd);
void draining_merge(struct startd *startd); /* drained pieces go back to their slots */
/* Estimates and totals, in ads to be sent, or in all. */
void draining_publish(struct startd *startd, bool all);
/* hibernate.c: the machine did not go down as was ordered when it was drained; retry: nothing was
 * done to it yet.  No matter when it was not draining that ordered it. */
void draining_stays(struct startd *startd, bool retry);

/* For draining_call.c.  request NULL: all of the machine. */
void draining_estimate(const struct startd *startd, const struct drain_request *request,
                       struct drain_estimates *ret);
void draining_move(struct startd *startd, enum drain_phase phase, const char *why);
void draining_count(struct startd *startd); /* the slots whose time counts may be others now */
/* Takes the next steps.  True: the machine is drained, and is to go down now. */
bool draining_look(struct startd *startd);
#define DRAINING_REASON_MAX (DRAIN_ID_MAX + 40)
void draining_reason(const struct startd *startd, char ret[DRAINING_REASON_MAX]); /* for that */
void draining_finish(struct startd *startd, const char *why); /* START counts again */
void draining_forget(struct startd *startd);                  /* the request, in phase NONE */

/* ---- claim.c */
void claim_say_alive(struct claim *claim); /* an ALIVE at once */
struct claim *claim_make(struct startd *startd);
void claim_discard(struct claim *claim);
void claim_drop(struct claim *claim); /* nothing is left to do for it, not even to tell its end */
void claim_dial(struct claim *claim);
int claims_restore(struct startd *startd, struct err *err);
void claims_destroy(struct startd *startd);
/* The starter is gone and its sandbox with it.  reason "": its job was answered; else the claim
 * ends with it. */
void claim_starter_gone(struct claim *claim, const char *reason);
/* It has no job: that is recorded, and the schedd told. */
void claim_is_idle(struct claim *claim);
/* A kept starter's process is gone: what waited for that goes on. */
void claim_kept_gone(struct claim *claim);
/* Ends a claim: its starter is stopped first.  The schedd is told reason. */
void claim_end(struct claim *claim, const char *reason, bool fast);

/* ---- activation.c: jobs on a claim, asked for on the claim's connection */
void activation_request(void *claim, struct wire_request *request);
void activation_starter_gone(struct claim *claim);
void activation_destroy(struct claim *claim);
/* A job waits for the claim to be idle. */
bool activation_waits(struct claim *claim);
/* The run is committed, and no starter is in its way. */
void activation_start(struct claim *claim);

/* ---- farewell.c: a startd that ends by itself */
/* Begins the end when it is time; true once it has begun and no slot is claimed any more. */
bool farewell_check(struct startd *startd);
/* A glidein takes its ads back; true: the loop is stopped when the collector has answered. */
bool farewell_tell(struct startd *startd);

/* ---- starters.c */
int starters_open(struct startd *startd, struct err *err);
void starters_close(struct startd *startd);
/* The directory of the claim's run, which is to be known before anything of it is. */
void starters_name_directory(struct claim *claim);
int starters_spawn(struct claim *claim, struct err *err);
/* Gives the run to the starter that was kept, which must be connected. */
int starters_hand_over(struct claim *claim, struct err *err);
/* Lets the kept one go; claim_kept_gone() follows. */
void starters_unkeep(struct claim *claim);
void starters_unkeep_all(struct startd *startd); /* their configuration is an old one */
void starters_adopt(struct claim *claim); /* after our restart: watch it, or find that it is gone */
void starters_stop(struct claim *claim, bool fast);
void starters_stop_step(void *claim);       /* the stop_timer's */
void starters_suspend(struct claim *claim); /* or lets go on: as claim->suspended says */
void starters_renewed(struct claim *claim);
void starters_sweep(struct startd *startd); /* at start: sandboxes that no claim knows */

/* ---- advertise.c */
void advertise_open(struct startd *startd);
void advertise_close(struct startd *startd);
void advertise_all(struct startd *startd, struct wire *wire); /* the uplink has come up */
void advertise_gone(struct startd *startd); /* pieces that are gone are told at once */
void advertise_complaint(void *startd, struct wire_reply *reply); /* of an UPDATE */

/* ---- startd_serve.c: the uplink to the collector, and the commands that come down it */
int startd_serve_open(struct startd *startd, struct err *err);
void startd_serve_close(struct startd *startd);

/* ---- keep.c */
int keep_open(struct startd *startd, struct err *err);
void keep_request(struct startd *startd, struct wire_request *request); /* POWER_KEEP */

/* ---- permit.c: the rooster is asked first */
/* done is called once, also inside permit_ask(), which is not called while one is asking. */
void permit_ask(struct startd *startd, const struct permit_what *what, permit_f done);
/* It was refused, and is to ask again in so long, and why; 0: now. */
uint64_t permit_early_ms(const struct startd *startd, const char **why);
void permit_withdraw(struct startd *startd); /* it may, and does not */

/* ---- hibernate_look.c */
void hibernate_look_open(struct startd *startd); /* again: with another configuration */
void hibernate_look_close(struct startd *startd);
/* HibernationState, HibernationLevel, HibernationSupportedStates, HibernationMethod, CanHibernate,
 * HibernationHeldBy ... */
void hibernate_write(struct startd *startd, struct ad *ad);
void keep_write(const struct startd *startd, struct ad *ad);
void reclaim_write(const struct startd *startd, struct ad *ad); /* when and why it last was */
/* May it go to sleep now?  As hibernate_plan_judge(). */
int hibernate_may(struct startd *startd, int level, bool ordered, bool forced, struct err *err);
bool hibernate_has_slept(struct startd *startd); /* since this was asked last, or the start */
bool hibernate_needs_wake(const struct startd *startd); /* by magic packets, or it stays up */
bool hibernate_by_logind(const struct startd *startd);  /* POWER_METHOD host: systemctl does it */

/* ---- reclaim.c */
void reclaim_request(struct startd *startd, struct wire_request *request); /* POWER_RECLAIM */

/* ---- hibernate.c */
/* While it goes down: 0, -EPERM somebody ordered it, -EALREADY it is too late; see POWER_RECLAIM.
 */
int hibernate_may_reclaim(const struct startd *startd, bool withdrawn);
void hibernate_reclaim(struct startd *startd);    /* it stays up, and is not drained any more */
void hibernate_look_again(struct startd *startd); /* has the machine slept without us? */
void hibernate_check(struct startd *startd);
void hibernate_leave(
    struct startd *startd); /* -asleep: offline ads, as if it had been up, then the end */
/* It is drained: down, without looking at HIBERNATE; keep_off: until somebody switches it on. */
void hibernate_drained(struct startd *startd, int level, bool keep_off, const char *reason);
void hibernate_power_down(struct startd *startd, struct wire_request *request);
void hibernate_ask(void *startd); /* the collector: is it still to be taken down? */
void hibernate_open(struct startd *startd);
void hibernate_begin(struct startd *startd); /* all is there: it may sleep from now on */
void hibernate_stop(struct startd *startd);  /* it is told to end: nothing more is looked at */
void hibernate_close(struct startd *startd);

/* ---- revoked.c */
/* After the claims were restored: those whose schedd's token is refused end at once, now and from
 * now on. */
void claims_revoked_start(struct startd *startd);

/* ---- job_ckpt.c */
void job_ckpt_probe(struct startd *startd); /* blocks for some milliseconds */
void job_ckpt_put_machine(const struct startd *startd, struct ad *ad);
void job_ckpt_put_run(const struct claim *claim, struct ad *ad);
void job_ckpt_taken(struct claim *claim, const struct ad *args);        /* STARTER_CKPT */
void job_ckpt_asked(struct claim *claim, struct wire_request *request); /* CHECKPOINT_CLAIM */

#endif
