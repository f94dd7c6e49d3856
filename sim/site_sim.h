/* sim/site_sim.h - places that start glideins, as the factory's programs find them.
 *
 * A site has a queue and machines.  It lives outside of all simulated processes, as a real one
 * does: the program that speaks docs/protocol/site.md for it (site_program_sim.c), and the factory,
 * may die at any moment, and the site goes on.  A glidein that it starts is a pilot on a machine of
 * its own, with a real startd, starters and jobs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_SITE_SIM_H
#define SIM_SITE_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "sim/sim.h"

struct farm;
struct sim_site;

/* How a site behaves; the numbers without a unit are probabilities in thousandths. */
struct site_temper {
    const char *name;
    bool serves;      /* jobs may count on it */
    bool never_joins; /* no glidein of it ever joins the pool */
    unsigned fails;   /* a submission fails */
    unsigned refuses; /* a submission is refused */
    unsigned full_at; /* a submission is refused while it has so many glideins; 0: never */
    unsigned hangs;   /* a request is never answered */
    unsigned garbage; /* an answer is nonsense */
    unsigned loses;   /* a submission is not answered, and lands later, within its deadline */
    unsigned dies;    /* the program dies in the middle of a submission, of which a part lands */
    unsigned halves;  /* a look shows each glidein with a chance of one half */
    bool halves_complete;            /* and says that this is all */
    unsigned stays, holds;           /* a glidein is never started; is held */
    unsigned dies_early;             /* a glidein dies before it has joined */
    unsigned dies_late;              /* a glidein dies after it has joined */
    unsigned wait_min_s, wait_max_s; /* in the queue */
    unsigned settle_s;               /* so late new glideins are listed */
    unsigned kept_s;                 /* so long glideins that have ended are listed */
};

enum site_state { SITE_QUEUED, SITE_HELD, SITE_RUNNING, SITE_ENDED };

struct farm_glidein {
    struct sim_site *site;
    char name[120];
    enum site_state state;
    struct sim_host *host;           /* while it runs */
    pid_t pid;                       /* of its pilot */
    uint64_t submitted_us, since_us; /* when it was submitted; since when it is in this state */
    int64_t lifetime_s;
    bool was_removed;
    bool is_orphan;   /* nobody submitted it */
    char **arguments; /* of the pilot */
    char *secret;
};

struct sim_site {
    struct farm *farm;
    char name[24];
    unsigned number;
    unsigned cpus; /* of a glidein */
    struct site_temper temper;
    struct vec glideins; /* of struct farm_glidein, also those that have ended */
    size_t states[SITE_ENDED + 1];
};

/* What the truth is told; outside of all processes. */
struct farm_events {
    /* the site was asked to start glideins: before anything is done */
    void (*asked)(void *arg, struct sim_site *site, const char *batch, unsigned count);
    void (*landed)(void *arg, struct farm_glidein *glidein);
    /* the site is told to remove so many at once */
    void (*removing)(void *arg, struct sim_site *site, size_t count);
    void (*moved)(void *arg, struct farm_glidein *glidein, enum site_state from);
    void *arg;
};

struct farm *farm_create(const struct farm_events *events);
void farm_destroy(struct farm *farm);
/* The simulation exists now, and nothing runs yet. */
void farm_begin(struct farm *farm, struct sim *sim);
/* Adds machines to the simulation, so many for glideins.  central: who has the pool's secrets. */
void farm_add_hosts(struct farm *farm, struct sim_host *central, unsigned count);
struct sim_site *farm_add_site(struct farm *farm, const char *name, unsigned cpus,
                               const struct site_temper *temper);
size_t farm_site_count(const struct farm *farm);
struct sim_site *farm_site_at(const struct farm *farm, size_t index);
struct sim_site *farm_site_find(const struct farm *farm, const char *name);

/* A submission, as the site's program hands it over; texts are copied. */
struct site_order {
    const char *batch, *secret;
    const char *const *arguments;
    size_t argument_count;
    unsigned count;
    int64_t lifetime_s;
};
/* Takes glideins number `first` to `last` of the submission, after after_us. */
void site_take(struct sim_site *site, const struct site_order *order, unsigned first, unsigned last,
               uint64_t after_us);
/* Tells the truth of a submission. */
void site_asked(struct sim_site *site, const char *batch, unsigned count);
void site_told_to_remove(struct sim_site *site, size_t count);
/* Puts a glidein there that the factory does not know. */
void site_add_orphan(struct sim_site *site, const char *name);
struct farm_glidein *site_find(const struct sim_site *site, const char *name);
void site_remove(struct farm_glidein *glidein);
/* Returns how many glideins the site has that have not ended. */
size_t site_living(const struct sim_site *site);
bool site_lists(const struct farm_glidein *glidein);

/* The farm's own observer, which the scenario passes on. */
void farm_process_ended(struct farm *farm, const struct sim_process *process);
void farm_power_changed(struct farm *farm, const struct sim_host *host);

/* The program of all sites; its data is the farm.  Which site: the last part of argv[0]. */
void site_program(struct sim_program *program, struct farm *farm);
extern const struct sim_program sim_program_pilot;

#endif
