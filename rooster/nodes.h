/* rooster/nodes.h - machines: what is known of each, its state, and how that is shown.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROOSTER_NODES_H
#define ROOSTER_NODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "rooster/boots_plan.h"
#include "rooster/guards.h"
#include "rooster/past_plan.h"
#include "rooster/wake_plan.h"

struct ad;
struct energy_draw;
struct loop_timer;
struct outside;
struct rooster;

#define ROOSTER_TEXT_MAX    300
#define ASKED_BY_NEGOTIATOR "negotiator"
#define ASKED_BY_RESERVE    "reserve"
#define ASKED_BY_STARTD     "startd" /* a sleep */

#define STAYING_MS 300000 /* WAKE_STAYING: until its live ads are back */

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
    int64_t nap_s;        /* when the node slept again at once after a wake; 0: it did not */
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

/* ---- nodes.c */
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

#endif
