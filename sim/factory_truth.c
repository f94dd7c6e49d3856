/* sim/factory_truth.c - see factory_truth.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/factory_truth.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "factory/factory.h"
#include "factory/site.h"
#include "sim/check.h"
#include "sim/daemon_sim.h"
#include "sim/sim_private.h"
#include "sim/site_sim.h"

#define DEMAND_US   (90 * SIM_S)   /* so long after the last job waited the factory may not know */
#define UNSERVED_US (3600 * SIM_S) /* so long a job may wait while nothing goes wrong */
#define ORPHAN_US   (1500 * SIM_S) /* until a glidein that nobody knows is removed */
#define NOTICE_US   (90 * SIM_S)   /* until the factory knows that glideins ended unused */
#define SAMPLE_US   (30 * SIM_S)   /* until samples of a removed site are gone */
#define SHARE       4              /* at most a fourth is removed at once */
#define CANARIES    14 /* of a site that always fails: waits double from 10 s to an hour */

struct site_facts {
    uint64_t wanted_us; /* when a job that the site can run waited last; 0: never */
    uint64_t failed_us; /* when the factory could see its first failure; 0: it could not */
    unsigned canaries;  /* submissions since then */
    uint64_t out_us;    /* since when its section is out; 0: it is in */
    unsigned asked, landed, removed;
    size_t orphans; /* that it has now */
};

struct job_facts {
    uint64_t waits_since_us; /* 0: it does not wait */
    bool removed;
};

struct factory_truth {
    struct factory_truth_options options;
    struct sim *sim;
    struct judge *judge;
    struct farm *farm;
    struct site_facts *sites;
    struct job_facts *jobs;
    struct strmap *batches; /* set of the names of all submissions */
    size_t living, most;
};

struct factory_truth *factory_truth_create(const struct factory_truth_options *options)
{
    struct factory_truth *truth = sim_alloc(sizeof(*truth));
    truth->options = *options;
    truth->jobs = sim_alloc((options->jobs + 1) * sizeof(*truth->jobs));
    truth->batches = strmap_create(STRMAP_CASE_SENSITIVE);
    return truth;
}

void factory_truth_destroy(struct factory_truth *truth)
{
    strmap_destroy(truth->batches, NULL);
    sim_free(truth->jobs);
    sim_free(truth->sites);
    sim_free(truth);
}

void factory_truth_begin(struct factory_truth *truth, struct sim *sim, struct judge *judge,
                         struct farm *farm)
{
    truth->sim = sim;
    truth->judge = judge;
    truth->farm = farm;
    truth->sites = sim_alloc((farm_site_count(farm) + 1) * sizeof(*truth->sites));
}

static struct site_facts *facts_of(struct factory_truth *truth, const struct sim_site *site)
{
    return &truth->sites[site->number];
}

/* ---- the factory -----------------------------------------------------------------------------*/

static bool is_factory(const struct sim_process *process, const void *arg)
{
    (void)arg;
    return strcmp(process->program->name, "roost-factory") == 0;
}

static const struct factory *find_factory(const struct factory_truth *truth)
{
    const struct sim_process *process = sim_process_first(&truth->sim->processes, is_factory, NULL);
    return process != NULL ? sim_daemon_state(process) : NULL;
}

const char *factory_truth_tag(const struct factory_truth *truth)
{
    const struct factory *factory = find_factory(truth);
    return factory != NULL ? factory->tag : NULL;
}

/* ---- demand -----------------------------------------------------------------------------------*/

static bool can_run(const struct factory_truth *truth, const struct sim_site *site, unsigned job)
{
    unsigned only = truth->options.site_of_job[job];
    return truth->options.cpus_of_job[job] <= site->cpus && (only == 0 || only == site->number + 1);
}

static bool job_waits(const struct factory_truth *truth, unsigned job)
{
    return judge_job_waits(truth->judge, job) && !truth->jobs[job].removed;
}

/* Notes for which sites a job waits now. */
static void note_demand(struct factory_truth *truth)
{
    size_t sites = farm_site_count(truth->farm);
    for (unsigned i = 0; i < truth->options.jobs; i++) {
        struct job_facts *job = &truth->jobs[i];
        if (!job_waits(truth, i)) {
            job->waits_since_us = 0;
            continue;
        }
        job->waits_since_us = job->waits_since_us > 0 ? job->waits_since_us : truth->sim->now_us;
        for (size_t k = 0; k < sites; k++) {
            if (can_run(truth, farm_site_at(truth->farm, k), i)) {
                truth->sites[k].wanted_us = truth->sim->now_us;
            }
        }
    }
}

void factory_truth_job_removed(struct factory_truth *truth, unsigned job)
{
    truth->jobs[job].removed = true;
}

static bool any_serves(const struct factory_truth *truth, unsigned job)
{
    for (size_t k = 0; k < farm_site_count(truth->farm); k++) {
        const struct sim_site *site = farm_site_at(truth->farm, k);
        if (site->temper.serves && can_run(truth, site, job)) {
            return true;
        }
    }
    return false;
}

static void check_served(struct factory_truth *truth)
{
    uint64_t quiet_us = sim_last_accident_us(truth->sim), now_us = truth->sim->now_us;
    for (unsigned i = 0; i < truth->options.jobs; i++) {
        uint64_t since_us = truth->jobs[i].waits_since_us;
        since_us = since_us > 0 && since_us < quiet_us ? quiet_us : since_us;
        if (since_us > 0 && now_us > since_us + UNSERVED_US && any_serves(truth, i)) {
            judge_broken(truth->judge,
                         "factory_unserved: job %u waits for %.0f s, and a site could run it", i,
                         (double)(now_us - since_us) / 1e6);
        }
    }
}

/* ---- what the sites are asked, and what they have ---------------------------------------------*/

static void check_waste(struct factory_truth *truth, const struct sim_site *site, unsigned count)
{
    struct site_facts *facts = facts_of(truth, site);
    if (!site->temper.never_joins || facts->failed_us == 0 ||
        truth->sim->now_us < facts->failed_us + NOTICE_US) {
        return;
    }
    facts->canaries++;
    if (count > 1 || facts->canaries > CANARIES) {
        judge_broken(truth->judge,
                     "factory_waste: site %s (%s) has failed, and is asked for %u, for the %u. "
                     "time",
                     site->name, site->temper.name, count, facts->canaries);
    }
}

static void site_was_asked(void *arg, struct sim_site *site, const char *batch, unsigned count)
{
    struct factory_truth *truth = arg;
    struct site_facts *facts = facts_of(truth, site);
    note_demand(truth);
    facts->asked += count;
    if (facts->wanted_us == 0 || truth->sim->now_us > facts->wanted_us + DEMAND_US) {
        judge_broken(truth->judge,
                     "factory_no_demand: site %s is asked for %u glideins, and no job waits for it",
                     site->name, count);
    }
    if (strmap_set(truth->batches, batch, truth) != NULL) {
        judge_broken(truth->judge, "factory_double: site %s is asked for %s twice", site->name,
                     batch);
    }
    check_waste(truth, site, count);
    if (site->temper.fails == 1000 && facts->failed_us == 0) {
        facts->failed_us = truth->sim->now_us;
    }
}

/* Of a site that says twice that it does not have what it has, the factory can know nothing. */
static bool is_liar(const struct sim_site *site)
{
    return site->temper.halves_complete;
}

static void check_limits(struct factory_truth *truth, const struct sim_site *site)
{
    const struct factory_limits *limits = &truth->options.limits;
    const struct {
        const char *name;
        size_t count, most;
    } rows[] = {
        {"max_total", site_living(site) - facts_of(truth, site)->orphans, limits->site_max},
        {"max_queued", site->states[SITE_QUEUED] - facts_of(truth, site)->orphans,
         limits->queued_max},
        {"max_running", site->states[SITE_RUNNING], limits->running_max},
        {"FACTORY_MAX_GLIDEINS", truth->living, limits->pool_max},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && !is_liar(site); i++) {
        if (rows[i].count > rows[i].most) {
            judge_broken(truth->judge, "factory_limit: site %s (%s) has %zu: %s is %zu", site->name,
                         site->temper.name, rows[i].count, rows[i].name, rows[i].most);
        }
    }
}

static void glidein_landed(void *arg, struct farm_glidein *glidein)
{
    struct factory_truth *truth = arg;
    facts_of(truth, glidein->site)->orphans += glidein->is_orphan ? 1 : 0;
    facts_of(truth, glidein->site)->landed += glidein->is_orphan ? 0 : 1;
    truth->living += glidein->is_orphan || is_liar(glidein->site) ? 0 : 1;
    truth->most = truth->living > truth->most ? truth->living : truth->most;
    check_limits(truth, glidein->site);
}

static void glidein_moved(void *arg, struct farm_glidein *glidein, enum site_state from)
{
    struct factory_truth *truth = arg;
    struct site_facts *facts = facts_of(truth, glidein->site);
    (void)from;
    if (glidein->state == SITE_ENDED) {
        truth->living -= glidein->is_orphan || is_liar(glidein->site) ? 0 : 1;
        facts->orphans -= glidein->is_orphan ? 1 : 0;
        facts->removed += glidein->was_removed ? 1 : 0;
        if (facts->failed_us == 0 && glidein->site->temper.never_joins && !glidein->was_removed) {
            facts->failed_us = truth->sim->now_us;
        }
    }
    check_limits(truth, glidein->site);
}

static size_t glidein_count(const struct site *site)
{
    size_t count = 0;
    for (int i = 0; i < GLIDEIN_STATES; i++) {
        count += site->states[i];
    }
    return count;
}

/* The request was sent some time ago: by then it may have known more. */
static void removal_was_asked(void *arg, struct sim_site *site, size_t count)
{
    struct factory_truth *truth = arg;
    const struct factory *factory = find_factory(truth);
    const struct site *known = factory != NULL ? strmap_get(factory->sites, site->name) : NULL;
    if (known != NULL && count > glidein_count(known) / SHARE + 2) {
        judge_broken(truth->judge, "factory_purge: site %s is told to remove %zu of %zu",
                     site->name, count, glidein_count(known));
    }
}

void factory_truth_listen(struct factory_truth *truth, struct farm_events *ret)
{
    *ret = (struct farm_events){.asked = site_was_asked,
                                .landed = glidein_landed,
                                .moved = glidein_moved,
                                .removing = removal_was_asked,
                                .arg = truth};
}

void factory_truth_forgot(struct factory_truth *truth)
{
    for (size_t i = 0; truth->farm != NULL && i < farm_site_count(truth->farm); i++) {
        truth->sites[i].failed_us = 0;
        truth->sites[i].canaries = 0;
    }
}

/* ---- leaks ------------------------------------------------------------------------------------*/

/* Returns how many glideins the factory knows of; SIZE_MAX: there is no factory now. */
static size_t known_count(const struct factory_truth *truth)
{
    const struct factory *factory = find_factory(truth);
    return factory != NULL ? strmap_count(factory->glideins) + factory->stranded.count : SIZE_MAX;
}

static size_t living_count(const struct factory_truth *truth)
{
    size_t count = 0;
    for (size_t i = 0; i < farm_site_count(truth->farm); i++) {
        count += site_living(farm_site_at(truth->farm, i));
    }
    return count;
}

bool factory_truth_is_empty(const struct factory_truth *truth)
{
    return living_count(truth) == 0 && known_count(truth) == 0;
}

static void check_orphans(struct factory_truth *truth)
{
    uint64_t quiet_us = sim_last_accident_us(truth->sim), now_us = truth->sim->now_us;
    const struct factory *factory = find_factory(truth);
    for (size_t i = 0; factory != NULL && i < farm_site_count(truth->farm); i++) {
        const struct sim_site *site = farm_site_at(truth->farm, i);
        for (size_t k = 0; k < site->glideins.count; k++) {
            const struct farm_glidein *glidein = site->glideins.items[k];
            uint64_t since_us = glidein->submitted_us > quiet_us ? glidein->submitted_us : quiet_us;
            if (glidein->state != SITE_ENDED && now_us > since_us + ORPHAN_US &&
                strmap_get(factory->glideins, glidein->name) == NULL) {
                judge_broken(truth->judge, "factory_leak: site %s (%s) has %s, which nobody knows",
                             site->name, site->temper.name, glidein->name);
            }
        }
    }
}

void factory_truth_log_line(struct factory_truth *truth, const char *line, size_t length)
{
    static const char ORPHAN[] = " glidein.orphan ", NAME[] = " glidein=", SITE[] = " site=";
    const char *name = NULL, *title = NULL;
    if (memmem(line, length, ORPHAN, sizeof ORPHAN - 1) != NULL) {
        name = memmem(line, length, NAME, sizeof NAME - 1);
        title = memmem(line, length, SITE, sizeof SITE - 1);
    }
    if (name == NULL || title == NULL) {
        return;
    }
    char *glidein =
        sim_text("%.*s", (int)strcspn(name + sizeof NAME - 1, " \n"), name + sizeof NAME - 1);
    char *site =
        sim_text("%.*s", (int)strcspn(title + sizeof SITE - 1, " \n"), title + sizeof SITE - 1);
    const struct sim_site *place = farm_site_find(truth->farm, site);
    const struct farm_glidein *listed = place != NULL ? site_find(place, glidein) : NULL;
    if (listed != NULL && !listed->is_orphan && !is_liar(place)) {
        judge_broken(truth->judge, "factory_forgot: site %s (%s) has %s, which was submitted",
                     place->name, place->temper.name, glidein);
    }
    sim_free(glidein);
    sim_free(site);
}

void factory_truth_section(struct factory_truth *truth, const struct sim_site *site, bool is_out)
{
    facts_of(truth, site)->out_us = is_out ? truth->sim->now_us : 0;
}

void factory_truth_offline(struct factory_truth *truth, uint64_t began_us, struct ad *const *ads,
                           size_t count)
{
    uint64_t quiet_us = sim_last_accident_us(truth->sim);
    for (size_t i = 0; i < count && find_factory(truth) != NULL; i++) {
        const struct sim_site *site =
            farm_site_find(truth->farm, ad_string_or(ads[i], "GLIDEIN_Site", ""));
        uint64_t out_us = site != NULL ? facts_of(truth, site)->out_us : 0;
        uint64_t since_us = out_us > quiet_us ? out_us : quiet_us;
        if (out_us > 0 && began_us > since_us + SAMPLE_US) {
            judge_broken(truth->judge, "factory_sample: %s, and the section of %s is removed",
                         ad_string_or(ads[i], "Name", "?"), site->name);
        }
    }
}

void factory_truth_look(struct factory_truth *truth)
{
    note_demand(truth);
    check_served(truth);
    check_orphans(truth);
}

void factory_truth_finish(struct factory_truth *truth)
{
    for (size_t i = 0; i < farm_site_count(truth->farm); i++) {
        const struct sim_site *site = farm_site_at(truth->farm, i);
        if (site_living(site) > 0) {
            judge_broken(truth->judge,
                         "factory_leak: at the end site %s (%s) has %zu queued, %zu held, %zu "
                         "running",
                         site->name, site->temper.name, site->states[SITE_QUEUED],
                         site->states[SITE_HELD], site->states[SITE_RUNNING]);
        }
    }
    if (known_count(truth) != 0) {
        judge_broken(truth->judge, "factory_leak: at the end the factory knows of %zu glideins",
                     known_count(truth));
    }
}

void factory_truth_figures(const struct factory_truth *truth, char *ret, size_t size)
{
    size_t length = 0;
    unsigned landed = 0;
    for (size_t i = 0; i < farm_site_count(truth->farm); i++) {
        landed += truth->sites[i].landed;
    }
    length += (size_t)snprintf(ret, size, "glideins %u, most at a time %zu:", landed, truth->most);
    for (size_t i = 0; i < farm_site_count(truth->farm) && length < size; i++) {
        const struct site_facts *facts = &truth->sites[i];
        length += (size_t)snprintf(ret + length, size - length, " %s %u/%u",
                                   farm_site_at(truth->farm, i)->temper.name, facts->landed,
                                   facts->asked);
    }
}
