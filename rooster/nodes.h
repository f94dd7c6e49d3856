/* rooster/nodes.h - machines: what the rooster knows about each, its state, and how its ads show
 * the state.
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
#include "rooster/queue_ask.h"
#include "rooster/wake_plan.h"

struct ad;
struct energy_draw;
struct loop_timer;
struct outside;
struct rooster;

#define ROOSTER_TEXT_MAX    300 /* most bytes of a reason, with the terminating zero */
#define ASKED_BY_NEGOTIATOR "negotiator"
#define ASKED_BY_RESERVE    "reserve"
#define ASKED_BY_STARTD     "startd" /* AskedBy in records of sleeps that a startd began */
/* AskedBy in records of machines that went without a word and are off, or are taken as asleep */
#define ASKED_BY_NOBODY "nobody"

#define STAYING_MS 300000 /* longest time that a node is WAKE_STAYING */

struct node_adapter { /* network adapter of the machine that receives magic packets, from its ads */
    char hardware_address[32], subnet[40]; /* hardware address and IPv4 network; "": not known */
    int64_t port;                          /* UDP port for magic packets; 0: not known */
    bool wakes;                            /* IsWakeAble: the adapter can wake the machine */
};

struct node_way { /* how the machine can be woken */
    struct node_adapter adapter;
    /* value of rooster->configuration for which is_none is valid; 0: is_none is not decided */
    uint64_t judged;
    bool is_none; /* the machine cannot be woken: no job shall wait for it */
};

struct node_room { /* number of cores, and memory in MiB, of a machine; 0: not known */
    int64_t cpus, memory_mib;
};

struct wake_past {    /* the last wake that has ended; its outcome may still change */
    char wake_id[32]; /* id of the wake in the ledger; "": none */
    int64_t wake_s, attempts;
    uint64_t boot_ms; /* boot_ms of the wake */
    int64_t up_s;     /* time at which the machine was up, seconds since 1970; 0: wake failed */
};

struct node_wake { /* the wake under way */
    bool is_dry;   /* the wake was not ordered because of ROOSTER_DRY_RUN */
    char id[32];   /* id in the ledger; "": none */
    int64_t jobs;  /* number of jobs that waited for the machine when the wake was ordered */
    int64_t attempts;
    int64_t began_s; /* time of the first order, seconds since 1970 */
    /* time of the first order after which the machine was not known to be off, monotonic: its boot
     * takes from then on; 0: before this rooster started */
    uint64_t boot_ms;
    uint64_t retry_at_ms;
    /* FAULT_...: what went wrong in this wake or, if no wake is under way, in the last one; NULL:
     * nothing */
    const char *fault;
};

struct node_sleep { /* the sleep under way */
    char id[32];    /* id in the ledger; "": none */
    /* id of the last sleep, whose outcome is "Asleep", until the machine is up again; "": none */
    char past_id[32];
    char level[8];
    int64_t began_s; /* time at which the offline ads came, seconds since 1970 */
    int64_t order;   /* MyCurrentTime of the offline ads that asked for the sleep; 0: none did */
    /* The sleep that `order` identifies has ended: the machine is off, its power-down failed, or
     * the machine was taken back for jobs.  The rooster does not begin this sleep again, even if
     * the machine's offline ads still ask the rooster to power the machine down. */
    bool is_over;
    bool is_resumed; /* an earlier rooster may have given the order for this sleep */
    /* the power-down was ordered, perhaps by an earlier rooster: the offline ads are to have
     * PowerDownSeconds */
    bool is_shown;
    int64_t down_max_s; /* longest time that the power-down may take, seconds */
};

struct node_test { /* self-tests: wakes that test whether the machine comes */
    bool is_under_way;
    bool is_passed;  /* the last test was passed */
    int64_t ended_s; /* time at which the last test ended, seconds since 1970; 0: never */
};

struct node_history { /* how the machine's wakes went */
    struct wake_past last;
    int64_t quarantines; /* number of quarantines in a row */
    int64_t naps; /* how often in a row the machine, after a wake, slept again at once although jobs
                     waited */
    int64_t nap_s; /* time at which the machine slept again at once, if `naps` does not count that
                      yet; else 0 */
    int64_t last_boot_ms; /* time that its last boot took; 0: not known */
    struct boots boots;   /* times that its boots took when the rooster woke it */
    /* whether the machine came at each wake order, and what differed after its last boot */
    struct past past;
    struct wake_day day; /* its wakes of the last 24 hours */
};

struct node_jobs {   /* the jobs that wait for the machine */
    bool demand_it;  /* jobs wait for the machine, and UNHIBERNATE allows to wake it */
    int64_t waiting; /* number of jobs: the sum of the holds on the machine's slots */
    int64_t since_s; /* time at which the oldest of these jobs was submitted; 0: not known */
    /* value of ROOSTER_UNHIBERNATE_RANK; machines with a higher rank are woken first */
    double rank;
};

struct node_asleep { /* what a machine's offline ads say */
    bool has_ads;    /* there are offline ads; if false, the other members may be of earlier ads */
    /* one of the offline ads; NULL from when they change until they are read */
    const struct ad *ad;
    char boot_id[40];
    int64_t slept_s; /* OfflineSince of the ads; 0: not set */
    int64_t order;   /* MyCurrentTime of the ads, which identifies the sleep */
    /* PowerReclaimUntil: the machine is not powered down before this time, in case that jobs want
     * it; 0: not set */
    int64_t reclaim_until_s;
    bool is_going_down;        /* the offline ads ask the rooster to power the machine down */
    bool is_misshown;          /* an offline ad shows another state than `state` of the node */
    bool by_rooster;           /* POWER_METHOD is `rooster`: the rooster powers the machine down */
    bool is_kept_off;          /* switched off by name, or locked: node_is_kept_off() */
    struct node_room promised; /* cores and memory, as the offline ads say */
};

struct node_awake { /* what a machine's live ads say */
    bool has_ads;   /* there are live ads; if false, the other members may be of earlier ads */
    bool was_used;  /* the machine had a claim since it is up */
    char boot_id[40];
    int64_t boot_s;
    bool can_relay;         /* the machine is awake and not going down: it can send magic packets */
    struct node_room given; /* cores and memory, as the live ads say */
};

/* What the rooster remembers of its looks at a machine (look.c).  In a look, the rooster reads the
 * machine's live and offline ads, and decides what to do with the machine: wake it, power it down,
 * or nothing. */
struct node_look {
    uint64_t number;  /* number of the last look at this machine; see rooster->looks */
    bool marked;      /* the machine is marked for a look */
    bool told_costly; /* it was logged that the machine's ads are too costly to evaluate */
    bool saw_up;      /* the machine was up at the last look */
    bool recalled;    /* the state that an earlier rooster wrote into the offline ad was read */
};

struct node_still_up { /* for still_up.c: whether the machine is really down */
    struct loop_timer *timer;
    /* MyCurrentTime of the offline ads of the last sleep in which the startd was gone, and of the
     * last one in which the power method did not say that the machine is on */
    int64_t down_order, off_order;
    bool asking;   /* the startd or the power method is being asked, or will be asked again soon */
    bool is_on;    /* the power method says that the machine is still on */
    bool is_dated; /* slept_ms is known */
    int64_t slept_ms;  /* when the machine went to sleep, by the loop's clock */
    uint64_t tried_ms; /* when the power method was asked first, or the wake was ordered; 0: not */
};

struct node_silence { /* for silence.c: the machine does not respond */
    /* marked: an ad says that the collector does not hear the machine; heard: a live ad does not
     * say so */
    bool marked, heard;
    bool was;                 /* it did not respond when it was last examined */
    int64_t since_s;          /* since when, as the collector says; seconds since 1970 */
    int64_t since_ms;         /* the same by the loop's clock */
    struct loop_timer *timer; /* when its power method is asked for its state */
    bool asking;              /* its power method is being asked */
    bool told;                /* an administrator was told (ROOSTER_TICKET_CMD) */
    char says[200];           /* what the method answered last; "": it was not asked yet */
};

struct node_asked {            /* who wants the machine to be woken */
    bool by_name;              /* a person ordered the wake; false: jobs or the reserve want it */
    char by[ROOSTER_TEXT_MAX]; /* name of the person, or ASKED_BY_... */
};

struct node { /* one machine of the pool */
    struct rooster *rooster;
    char *name;
    struct vec ads; /* of struct seen: the machine's ads, in order of arrival */
    struct node_look look;
    size_t candidate; /* index in the list of choose.c, plus 1; 0: not in the list */
    enum wake_state state;
    /* time since which the machine is in this state, seconds since 1970 */
    int64_t since_s;
    char reason[ROOSTER_TEXT_MAX]; /* why the machine is in this state */
    struct energy_draw *draw;      /* data of energy.c; NULL: not examined yet */
    struct outside *outside; /* what the power method reports (outside.c); NULL: not asked yet */
    struct node_way way;
    struct node_jobs jobs;
    struct node_asleep asleep;
    struct node_awake awake;
    struct node_still_up still_up;
    struct node_silence silence;
    struct node_asked asked;
    struct node_wake wake;
    struct node_sleep sleep;
    struct node_test test;
    struct node_history history;
    struct loop_timer *deadline; /* deadline of the wake or sleep under way, or of WAKE_STAYING */
    bool ordering;               /* an order is being written to the ledger or carried out */
    unsigned showing; /* number of updates of its offline ads that are not answered yet */
    /* what the offline ads say of the machine (past_promise()), to be compared with its live ad
     * after its next boot; NULL: nothing to compare */
    struct ad *promise;
    struct node_guard guard;
    struct node_queue queue;
    bool listed; /* true: an ad, the configuration or an order names it; false: only the ledger */
};

/* ---- nodes.c */
/* Returns the node of a machine; makes it if it does not exist. */
struct node *node_of(struct rooster *rooster, const char *machine);
void nodes_destroy(struct rooster *rooster);
/* Changes the machine's state, logs the change, and writes the state into its offline ads. */
void node_move(struct node *node, enum wake_state state, const char *reason);
/* Returns the PowerState that the machine's ads must show: the name of the machine's state, or
 * Unknown when the machine cannot be woken. */
const char *node_shown(struct node *node);
/* Returns whether an offline ad says that no job may wake its machine: somebody switched it off by
 * name (PowerKeptOff) or locked it (PowerLocked). */
bool node_is_kept_off(const struct ad *ad);
void node_show(struct node *node); /* writes the machine's state into all its offline ads */
/* Returns how long the machine may take to join the pool after a wake order. */
uint64_t node_deadline_ms(const struct node *node);
/* Returns the time at which the machine's quarantine ends, seconds since 1970. */
int64_t node_quarantine_until_s(const struct node *node);

/* Returns whether the machine does not respond: an ad is marked so, and no live ad is not. */
bool node_is_silent(const struct node *node);
/* Writes since when the machine does not respond, and what its power method says of it. */
void node_silent_why(const struct node *node, char ret[ROOSTER_TEXT_MAX]);

/* ---- node_ad.c */
/* Returns a new ad that describes the node for `roost power`, owned by the caller. */
struct ad *node_to_ad(const struct node *node);

#endif
