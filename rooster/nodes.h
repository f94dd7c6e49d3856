/* rooster/nodes.h - machines: what is known of each, its state, and how the state is shown.
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
#define ASKED_BY_STARTD     "startd" /* asker of a sleep */

#define STAYING_MS 300000 /* WAKE_STAYING lasts at most so long, until the live ads are back */

struct node_adapter { /* network adapter that can wake the machine, from its ads */
    char hardware_address[32], subnet[40]; /* "": not known */
    int64_t port;                          /* 0: not known */
    bool wakes;                            /* IsWakeAble: the adapter can wake the machine */
};

struct node_way { /* how the machine can be woken */
    struct node_adapter adapter;
    uint64_t judged; /* number of the configuration for which is_none was decided; 0: not yet */
    bool is_none; /* the machine cannot be woken: shown as Unknown, so that no job is held on it */
};

struct node_room { /* cores and memory of a machine; 0: not known */
    int64_t cpus, memory_mib;
};

struct wake_past {    /* the last wake, which has ended; its outcome may still change */
    char wake_id[32]; /* id in the ledger; "": none */
    int64_t wake_s, attempts;
    uint64_t wake_ms; /* time at which it began, monotonic; 0: before this rooster started */
    int64_t up_s;     /* since when the machine was up; 0: the wake failed */
};

struct node_wake { /* the wake under way */
    bool is_dry;   /* the wake would be under way without ROOSTER_DRY_RUN */
    char id[32];   /* id in the ledger; "": none */
    int64_t jobs;  /* jobs that waited when the wake was ordered */
    int64_t attempts;
    int64_t began_s; /* time of the first order, seconds since 1970 */
    uint64_t began_ms;
    uint64_t retry_at_ms;
    const char *fault; /* what went wrong, now or at the last wake: FAULT_...; NULL: nothing */
};

struct node_sleep { /* the sleep under way */
    char id[32];    /* id in the ledger; "": none */
    char level[8];
    int64_t began_s;    /* time at which its offline ads came, seconds since 1970 */
    int64_t order;      /* MyCurrentTime of the offline ads that asked for it; 0: none */
    bool is_over;       /* the sleep asked for by these offline ads has ended */
    bool is_resumed;    /* a rooster before this one may have given its order */
    bool is_shown;      /* the order is given, and the offline ads are to say so */
    int64_t down_max_s; /* how long the order may take, seconds */
};

struct node_test { /* a self-test: a wake ordered by name */
    bool is_under_way;
    bool is_passed;  /* the last test was passed */
    int64_t ended_s; /* time at which the last test ended, seconds since 1970; 0: never */
};

struct node_history { /* how the machine's wakes went */
    struct wake_past last;
    int64_t quarantines;  /* quarantines in a row */
    int64_t naps;         /* in a row: it slept again at once although jobs waited for it */
    int64_t nap_s;        /* time at which it slept again at once after a wake; 0: it did not */
    int64_t last_boot_ms; /* how long its last boot took; 0: not known */
    struct boots boots;   /* how long its boots took, of wakes by us */
    struct past past;     /* whether it came when woken, and what was different then */
    struct wake_day day;  /* its wakes of the last 24 hours */
};

struct node_jobs {   /* the jobs that wait for the machine */
    bool demand_it;  /* there are some, and UNHIBERNATE allows to wake it */
    int64_t waiting; /* number of jobs, the sum of its holds */
    int64_t since_s; /* time at which the oldest of them was submitted; 0: not known */
    double rank;     /* ROOSTER_UNHIBERNATE_RANK */
};

struct node_asleep { /* what a machine's offline ads say */
    bool has_ads;    /* there are offline ads; if not, the members below may be of earlier ones */
    const struct ad *ad; /* one of the offline ads; NULL as soon as they change */
    char boot_id[40];
    int64_t slept_s; /* OfflineSince; 0: not set */
    int64_t order;   /* MyCurrentTime, which identifies the sleep */
    /* until then we wait whether jobs take the sleep back (PowerReclaimUntil); 0: no */
    int64_t reclaim_until_s;
    bool is_going_down;        /* they ask the rooster to take the machine down */
    bool is_misshown;          /* one of its offline ads shows another state than ours */
    bool by_rooster;           /* its POWER_METHOD is rooster: we take it down */
    bool is_kept_off;          /* somebody switched it off by name */
    struct node_room promised; /* cores and memory, by the last of them */
};

struct node_awake { /* what a machine's live ads say */
    bool has_ads;   /* there are live ads; if not, the members below may be of earlier ones */
    bool was_used;  /* the machine was claimed since it is up */
    char boot_id[40];
    int64_t boot_s;
    bool can_relay;         /* awake and not on its way down: it can send magic packets */
    struct node_room given; /* cores and memory, by the last of them */
};

struct node_look {    /* when its ads were examined */
    uint64_t number;  /* number of the last examination */
    bool marked;      /* the machine is marked to be examined */
    bool told_costly; /* it was logged that the machine's ads are too costly to evaluate */
    bool saw_up;      /* the machine was up at the last examination */
    bool recalled;    /* the state that an earlier rooster left in its offline ad was read */
};

struct node_still_up { /* whether the machine is really down yet: still_up.c */
    struct loop_timer *timer;
    int64_t down_order; /* MyCurrentTime of the sleep that is known to be complete */
    bool asking;        /* its startd was asked, or is to be asked again soon */
};

struct node_asked {            /* who wants the machine to be woken */
    bool by_name;              /* a person ordered it; else jobs, or the reserve */
    char by[ROOSTER_TEXT_MAX]; /* name of that person, or ASKED_BY_... */
};

struct node { /* one machine of the pool */
    struct rooster *rooster;
    char *name;
    struct vec ads; /* struct seen: its ads, in order of arrival */
    struct node_look look;
    size_t candidate; /* its index among the candidates, plus 1; 0: it is not one */
    enum wake_state state;
    int64_t since_s;               /* since when, seconds since 1970 */
    char reason[ROOSTER_TEXT_MAX]; /* why it is in this state */
    struct energy_draw *draw;      /* energy.c; NULL: not examined yet */
    struct outside *outside;       /* outside.c; NULL: nothing is reported */
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
    struct loop_timer *deadline; /* deadline of the wake or sleep under way */
    bool ordering;               /* an order is being written to the ledger or carried out */
    unsigned showing;            /* updates of its offline ads that are not answered yet */
    struct ad *promise; /* attributes that its offline ads promise for the next boot; NULL: none */
    struct node_guard guard;
    bool listed; /* known by an ad, the configuration or an order, not only from the ledger */
};

/* ---- nodes.c */
/* Returns the node of a machine; makes it if it does not exist. */
struct node *node_of(struct rooster *rooster, const char *machine);
void nodes_destroy(struct rooster *rooster);
/* Changes the machine's state, logs and shows it. */
void node_move(struct node *node, enum wake_state state, const char *reason);
/* Returns the PowerState for its ads: that of its state, or Unknown when it cannot be woken. */
const char *node_shown(struct node *node);
void node_show(struct node *node); /* writes its state into all offline ads of the machine */
/* Returns how long the machine may take to come after an order. */
uint64_t node_deadline_ms(const struct node *node);
/* Returns the time at which its quarantine ends, seconds since 1970. */
int64_t node_quarantine_until_s(const struct node *node);

/* ---- node_ad.c */
struct ad *node_to_ad(const struct node *node); /* the machine's own ad, owned by the caller */

#endif
