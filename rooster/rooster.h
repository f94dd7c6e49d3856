/* rooster/rooster.h - the rooster's own structures, shared by the files of this folder.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROOSTER_ROOSTER_H
#define ROOSTER_ROOSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classad/ad_eval.h"
#include "base/daemon.h"
#include "base/vec.h"
#include "power/power.h"
#include "rooster/boots_plan.h"
#include "rooster/guards.h"
#include "rooster/past_plan.h"
#include "rooster/wake_plan.h"

struct ad;
struct ad_expr;
struct energy;
struct energy_draw;
struct knob_table;
struct ledger;
struct loop_timer;
struct outside;
struct power;
struct relays;
struct rooster;
struct strmap;
struct uplink;
struct watch;
struct wire_context;
struct wire_request;

#define ROOSTER_TEXT_MAX    300
#define ASKED_BY_NEGOTIATOR "negotiator"
#define ASKED_BY_RESERVE    "reserve"
#define ASKED_BY_STARTD     "startd" /* a sleep */

struct node_adapter { /* what its ads say of the network adapter that could wake it */
    char hardware_address[32], subnet[40]; /* "": not said */
    int64_t port;                          /* 0: not said */
    bool wakes;                            /* IsWakeAble */
};

struct node_way { /* how it can be woken */
    struct node_adapter adapter;
    uint64_t judged; /* the configuration that is_none is of; 0: none yet */
    bool is_none;    /* it cannot be woken: shown as Unknown, so that nothing is held on it */
};

struct node_room { /* what the machine has; 0: not said */
    int64_t cpus, memory_mib;
};

struct wake_past {    /* the last wake, which is over: it may turn out otherwise */
    char wake_id[32]; /* in the ledger; "" none */
    int64_t wake_s, attempts;
    uint64_t wake_ms; /* 0: not in this life of ours */
    int64_t up_s;     /* since when it was up; 0: it failed */
};

/* What was wrong with a wake: Fault in the ledger. */
#define FAULT_ORDER   "OrderFailed"      /* the method could not give the order */
#define FAULT_SILENT  "DoesNotAnswer"    /* nothing was heard, and nobody can be asked */
#define FAULT_OFF     "StaysOff"         /* its method says that it is still switched off */
#define FAULT_NO_JOIN "NeverJoins"       /* its method says that it is switched on */
#define FAULT_LESS    "LessThanPromised" /* it joined, with less than its offline ads said */
#define FAULT_AGAIN   "AsleepAgain"      /* it joined, and slept at once while jobs waited for it */

#define SLEEP_TAKEN_BACK "TakenBack" /* Outcome of a sleep: jobs came, or an order by name */
#define STAYING_MS       300000      /* WAKE_STAYING: until its live ads are back */

struct node;

struct seen { /* an ad of a machine */
    char *key;
    const struct ad *ad; /* the watch's */
    struct node *node;
};

/* Steps of one evaluation of UNHIBERNATE or of a rank in the ad of a machine: what takes more is
 * error, and the machine is not woken (classad/ad_eval.h). */
#define ROOSTER_STEPS_MAX 2000

struct node_wake { /* the wake under way */
    bool is_dry;   /* it would be under way, but for ROOSTER_DRY_RUN */
    char id[32];   /* in the ledger; "" none */
    int64_t jobs;  /* that waited when it was ordered: when it is up they do so no more */
    int64_t attempts;
    int64_t began_s; /* when the first order went out */
    uint64_t began_ms;
    uint64_t retry_at_ms;
    const char *fault; /* of this wake, or the last one: FAULT_...; NULL: none */
};

struct node_sleep { /* the sleep under way */
    char id[32];    /* in the ledger; "" none */
    char level[8];
    int64_t began_s;    /* when its offline ads came */
    int64_t order;      /* which: MyCurrentTime of its offline ads; 0: none */
    bool is_over;       /* that one is */
    bool is_resumed;    /* a rooster before us may have given its order */
    bool is_shown;      /* it is given: its ads are to say so */
    int64_t down_max_s; /* how long the order may take */
};

struct node_test { /* a self-test: an order by name */
    bool is_under_way;
    bool is_passed;  /* the last one */
    int64_t ended_s; /* when that was; 0: never */
};

struct node_history { /* how its wakes were */
    struct wake_past last;
    int64_t quarantines;  /* in a row */
    int64_t naps;         /* in a row: asleep again at once while jobs waited for it */
    int64_t nap_s;        /* asleep again at once, then; whether jobs wait is to be seen; 0: no */
    int64_t last_boot_ms; /* what it took the last time; 0 unknown */
    struct boots boots;   /* what it took when it was woken */
    struct past past;     /* did it come, and was it what it had been? */
    struct wake_day day;  /* its wakes of the last 24 hours */
};

struct node_jobs {   /* that wait for it */
    bool demand_it;  /* some do, and UNHIBERNATE allows to wake it */
    int64_t waiting; /* of its holds */
    int64_t since_s; /* the oldest of them was submitted then; 0: not known */
    double rank;
};

struct node_asleep {     /* what its offline ads say */
    bool has_ads;        /* there are some; the rest may be of earlier ones */
    const struct ad *ad; /* one of them; NULL once they change */
    char boot_id[40];
    int64_t slept_s;           /* when these were made (OfflineSince); 0: not said */
    int64_t order;             /* which sleep they are of: MyCurrentTime */
    int64_t reclaim_until_s;   /* they may be taken back, and so long that is waited for; 0: no */
    bool is_going_down;        /* they ask to be taken down */
    bool is_misshown;          /* one of them shows another state than ours */
    bool by_rooster;           /* it is taken down from here */
    bool is_kept_off;          /* somebody switched it off by name */
    struct node_room promised; /* by the last of them */
};

struct node_awake { /* what its live ads say */
    bool has_ads;   /* there are some; the rest may be of earlier ones */
    bool was_used;  /* it was claimed since it is up */
    char boot_id[40];
    int64_t boot_s;
    bool can_relay;         /* awake, and not on its way down */
    struct node_room given; /* by the last of them */
};

struct node_look {    /* the looks at its ads */
    uint64_t number;  /* of the one that saw them last */
    bool marked;      /* it is to be looked at */
    bool told_costly; /* its ads cost too much to be judged */
    bool saw_up;      /* it was up at the last one */
    bool recalled;    /* what its offline ad says of an earlier life was looked at */
};

struct node_still_up { /* is it down at all?  still_up.c */
    struct loop_timer *timer;
    int64_t down_order; /* the sleep of which it is known that it is down */
    bool asking;
};

struct node_asked {            /* who wants it to be woken */
    bool by_name;              /* somebody has ordered it; else its jobs, or the reserve */
    char by[ROOSTER_TEXT_MAX]; /* a person, or ASKED_BY_... */
};

struct node { /* one machine */
    struct rooster *rooster;
    char *name;
    struct vec ads; /* struct seen, in order of arrival */
    struct node_look look;
    size_t candidate; /* its place among the candidates, from 1; 0: none */
    enum wake_state state;
    int64_t since_s;               /* of the state */
    char reason[ROOSTER_TEXT_MAX]; /* of the state */
    struct energy_draw *draw;      /* energy.c; NULL: not looked at yet */
    struct outside *outside;       /* outside.c; NULL: nobody tells */
    struct node_way way;
    struct node_jobs jobs;
    struct node_asleep asleep;
    struct node_awake awake;
    struct node_still_up still_up;
    struct node_asked asked;
    struct node_wake wake;
    struct node_sleep sleep;
    struct node_test test;
    struct node_history history;
    struct loop_timer *deadline;
    bool ordering;      /* the ledger or the method is at work */
    unsigned showing;   /* of its offline ads that are being changed */
    struct ad *promise; /* what its offline ads promise; NULL: it has none */
    struct node_guard guard;
    bool listed; /* an ad, the configuration or an order speaks of it, not just the past */
};

struct candidates { /* who is wanted, or waking, or left alone; choose.c */
    struct wake_candidate *plan;
    struct node **nodes;
    size_t *chosen;
    size_t count, capacity;
};

struct rooster {
    struct daemon_env env;
    char name[256];
    struct wire_context *wires;
    struct uplink *uplink;
    struct watch *watch;
    struct power *power;
    struct ledger *ledger;
    struct relays *relays;
    struct energy *energy;
    struct guards *guards;
    struct strmap *nodes; /* Machine -> struct node */
    struct strmap *seen;  /* key of an ad -> struct seen */
    struct vec marked;    /* struct node: to be looked at */
    size_t machines;      /* of which there are ads */
    uint64_t looks;
    struct candidates candidates;
    struct ad_expr *unhibernate, *rank;
    struct loop_timer *look_timer, *interval_timer;
    uint64_t random_state;
    struct ad_work work;    /* of evaluating in ads of others */
    uint64_t configuration; /* counts reloads, from 1 */
    int64_t wakes, failures;
    struct wake_minute minute; /* when the last wakes were ordered */
    /* What the timers of a node begin: node_no_show(), still_up_again(). */
    void (*on_deadline)(void *node), (*on_ask)(void *node);
    uint64_t epoch, sequence;
};

extern const struct knob_table rooster_knobs;
extern const struct daemon rooster_daemon;

/* ---- seen.c: which ads there are, and what is to be looked at */
void seen_changed(struct rooster *rooster, const char *key, const struct ad *ad);
void seen_gone(struct rooster *rooster, const char *key);
void seen_destroy_all(struct rooster *rooster);

/* ---- look_mark.c */
void look_soon(struct rooster *rooster); /* at what is marked */
void look_mark(struct node *node);
void look_at(struct node *node); /* soon */
void look_at_all(struct rooster *rooster);

/* ---- look.c: from ads to nodes */
void look(void *rooster);
/* The same, whether the copy of the ads is complete or not. */
void look_now(struct rooster *rooster);

/* ---- node_facts.c */
void look_see(struct node *node); /* what its ads say now; changes no state */
/* To evaluate in ads of machines: counted into rooster->work. */
struct ad_context rooster_context(struct rooster *rooster);
/* Logs whose ad it is, once for each node, if rooster->work.over is not `over` any more. */
void look_tell_costly(struct node *node, const struct ad *ad, const char *what, uint64_t over);

/* ---- choose.c: from nodes to wakes */
void choose_from(struct node *node);      /* it was looked at: perhaps it is a candidate */
void choose_due(struct rooster *rooster); /* marks those whose quarantine is over */
void choose_wakes(struct rooster *rooster);
void choose_fini(struct rooster *rooster);

/* ---- ways.c: how it is switched: its section of the configuration, else ROOSTER_WAKEUP_CMD, else
 * its adapter */
/* By the method whose turn it is in the wake under way; without one, by its first.  -ENOENT: there
 * is no way. */
int node_power(const struct node *node, struct power_node *ret, struct err *err);
size_t node_method_count(const struct node *node); /* at least 1 */
/* By the first of its methods that can; done is called with the node.  Else as power_status() and
 * power_sleep() say of the first. */
int node_ask_state(struct node *node, power_status_f done, struct err *err);
int node_take_down(struct node *node, const char *level, power_done_f done, struct err *err);

/* Of those that can: how long it may take. */
uint64_t node_down_max_ms(const struct node *node, const char *level);
/* By the first that can.  -ENOTSUP or another: none can. */
int node_watch(struct node *node, power_news_f told, struct power_watch **ret);
unsigned node_can(const struct node *node); /* POWER_CAN_..., of all its methods */

/* ---- outside.c: what others do to it, as its method tells without being asked */
/* An order has brought it into that state: what was told before is over. */
void outside_assume(struct node *node, enum power_state state);
/* Its method tells that state, and in these words. */
bool outside_has(const struct node *node, enum power_state state, const char **text);
/* Does what is told contradict its ads, or can nobody say?  Then why is said, and since when. */
bool outside_contradicts(const struct node *node, char *why, size_t size, int64_t *since_s);
void outside_put(const struct node *node, struct ad *ad); /* into the ad of the node */

/* ---- outside_watch.c */
void outside_watch_all(struct rooster *rooster); /* as the configuration is now */
void outside_end_all(struct rooster *rooster);   /* before its power is destroyed */

/* ---- selftest.c */
void selftest_look(struct rooster *rooster); /* is one due? */

/* ---- ticket.c */
void ticket_open(struct node *node); /* somebody must see to it; why is in its fault and reason */

/* ---- nodes.c: which there are, their states, and how these are shown */
struct node *node_of(struct rooster *rooster, const char *machine);
void nodes_destroy(struct rooster *rooster);
void node_move(struct node *node, enum wake_state state, const char *reason);
/* What its ads are to show: its state, or Unknown when there is no way to wake it. */
const char *node_shown(struct node *node);
void node_show(struct node *node); /* writes that into all offline ads of the machine */
/* How long it may take to come. */
uint64_t node_deadline_ms(const struct node *node);
int64_t node_quarantine_until_s(const struct node *node); /* wall clock */

/* ---- node_ad.c */
struct ad *node_to_ad(const struct node *node);

/* ---- wakes.c: the life of a wake, and what comes after it */
void node_wake(struct node *node);     /* writes the ledger, then gives the order */
void node_no_show(void *node);         /* the deadline's: it is over */
void node_give_up(struct node *node);  /* the wake has failed: so it is written down */
void node_is_up(struct node *node);    /* its live ad is there */
void node_went_off(struct node *node); /* it was woken, and its method tells that it is off */
/* Its offline ads are there, and it is down. */
void node_is_asleep(struct node *node, const char *reason);
/* It slept at once after a wake (history.nap_s), and jobs wait for it: again, or still? */
void node_napped(struct node *node);
/* Somebody asks for it by name; a test is a wake like any other, but written down as one. */
void node_order(struct node *node, const char *asked_by, bool test);
void node_pardon(struct node *node); /* somebody asks for it by name: what failed before is over */

/* ---- still_up.c: is it down at all? */
/* True: it may be up yet, and is asked; it is looked at again when that is known. */
bool still_up_ask(struct node *node);
void still_up_again(void *node); /* the ask_timer's */
/* Its sleep is taken back, for whom waits: its live ads will come. */
void still_up_stays(struct node *node);
void still_up_tell(struct node *node); /* ... by us, who would have taken it down */

/* ---- relay.c: neighbours send magic packets */
struct relays *relays_create(struct rooster *rooster); /* after its power, destroyed after it */
void relays_destroy(struct relays *relays);
void relays_look_again(struct relays *relays); /* the nodes have changed */

/* ---- sleep_record.c: a sleep that is under way, as it is written down */
/* With the reason of its state; done is called with the node when that is durable. */
void sleep_record_put(struct node *node, const char *outcome, void (*done)(void *node));
void sleep_record_end(struct node *node, const char *outcome); /* how it ended, if it was begun */
/* How long the order may take; 0: there is none. */
int64_t sleep_record_left_s(const struct node *node);
bool sleep_record_is_in(const struct node *node,
                        const struct ad *ad); /* does its offline ad say so? */
/* Its live ads are there, whatever was ordered: an order under way is taken back. */
void sleep_record_over(struct node *node);
/* Its offline ads do not ask for it, or no more. */
void sleep_record_settled(struct node *node);
/* It may go to sleep: that is written down, then done is called with the node. */
void sleep_record_granted(struct node *node, const char *level, const char *reason,
                          void (*done)(void *node));
/* One that a rooster before us has begun. */
void sleep_record_resume(struct node *node, const struct ad *record);

/* ---- sleeps.c: machines whose POWER_METHOD is `rooster` are taken down from here */
/* Its offline ads ask for it: false when that has been done, and they do not say so yet. */
bool sleeps_look(struct node *node);

/* ---- serve.c */
void rooster_serve(void *rooster, struct wire_request *request);

#endif
