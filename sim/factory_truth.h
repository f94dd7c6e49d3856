/* sim/factory_truth.h - the promises of the factory, judged by what its sites themselves have.
 *
 * - factory_leak: at the end a site has a glidein in some state, or the factory knows of one; or a
 *   glidein that no journal knows is still there long after the site could be asked;
 * - factory_forgot: the factory does not know a glidein that it submitted, at a site that tells the
 *   truth;
 * - factory_purge: more than a fourth of a site's glideins are removed at once;
 * - factory_sample: the collector has a sample of a site whose section was removed a while ago;
 * - factory_limit: a site was given more glideins than its section or FACTORY_MAX_GLIDEINS allows;
 * - factory_no_demand: glideins were submitted although no job that the site could serve had waited
 *   for a while;
 * - factory_double: a site was asked for the same batch twice;
 * - factory_unserved: a job waited for long although a site that serves could run it;
 * - factory_waste: after a submission from which no glidein joined, a site of which none ever joins
 *   was asked for more than one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_FACTORY_TRUTH_H
#define SIM_FACTORY_TRUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/sim.h"

struct ad;
struct farm;
struct farm_events;
struct factory_truth;
struct judge;
struct sim_site;

/* The limits that the configuration names. */
struct factory_limits {
    unsigned pool_max, site_max, queued_max, running_max;
};

struct factory_truth_options {
    unsigned jobs;
    const unsigned *site_of_job; /* number of the only site that can run the job, from 1; 0: all */
    const unsigned *cpus_of_job;
    struct factory_limits limits;
};

struct factory_truth *factory_truth_create(const struct factory_truth_options *options);
void factory_truth_destroy(struct factory_truth *truth);
void factory_truth_begin(struct factory_truth *truth, struct sim *sim, struct judge *judge,
                         struct farm *farm);
/* What the farm tells; arg is the struct factory_truth. */
void factory_truth_listen(struct factory_truth *truth, struct farm_events *ret);
/* A line of the factory's log. */
void factory_truth_log_line(struct factory_truth *truth, const char *line, size_t length);
/* The offline ads of the collector, by a question that was asked at began_us. */
void factory_truth_offline(struct factory_truth *truth, uint64_t began_us, struct ad *const *ads,
                           size_t count);
/* The section of a site is removed, or put back. */
void factory_truth_section(struct factory_truth *truth, const struct sim_site *site, bool is_out);
/* Another life of the factory, or another configuration: what it knew of failures is forgotten. */
void factory_truth_forgot(struct factory_truth *truth);
/* The user has removed the job, and this was seen. */
void factory_truth_job_removed(struct factory_truth *truth, unsigned job);
/* Looks at what only time can break; called every few seconds. */
void factory_truth_look(struct factory_truth *truth);
/* Returns whether all sites are empty and the factory knows of no glidein. */
bool factory_truth_is_empty(const struct factory_truth *truth);
void factory_truth_finish(struct factory_truth *truth);
/* Writes one line: how much was submitted, joined, removed. */
void factory_truth_figures(const struct factory_truth *truth, char *ret, size_t size);

/* Returns the tag of the pool in the names of glideins; NULL: the factory does not run now. */
const char *factory_truth_tag(const struct factory_truth *truth);

#endif
