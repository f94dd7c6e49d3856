/* cli/factory_plan.h - the output of `roost factory`: tables and sentences about factories, their
 * sites and their glideins, from the ads that a factory sends to the collector.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_FACTORY_PLAN_H
#define CLI_FACTORY_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/table_plan.h"
#include "cli/terminal_plan.h"

struct ad;
struct ad_context;
struct strbuf;

/* Columns of the tables, also for `roost status -factory`, -site and -glidein. */
extern const struct column factory_plan_factory_columns[4];
extern const struct column factory_plan_site_columns[10];
extern const struct column factory_plan_glidein_columns[7];

/* Appends a line about each factory: its numbers of sites and glideins, for how long it has run,
 * and what is wrong with it. */
void factory_plan_factories(const struct ad *const *ads, size_t count,
                            const struct ad_context *context, struct strbuf *out);
/* Appends the table of sites; nothing without sites.  Sites of one factory are shown by their own
 * names, sites of several factories as SITE@FACTORY. */
void factory_plan_sites(const struct ad *const *ads, size_t count, const struct terminal *terminal,
                        const struct ad_context *context, struct strbuf *out);
/* Appends for each site what stops it and what went wrong last; nothing for sites without either.
 */
void factory_plan_troubles(const struct ad *const *ads, size_t count,
                           const struct ad_context *context, struct strbuf *out);
/* Appends the table of glideins; nothing without glideins. */
void factory_plan_glideins(const struct ad *const *ads, size_t count,
                           const struct terminal *terminal, const struct ad_context *context,
                           struct strbuf *out);

/* Returns whether word names the site: SITE, or SITE@FACTORY. */
bool factory_plan_is_called(const struct ad *site, const char *word);
/* Returns whether the ad is a sample of the site. */
bool factory_plan_is_sample_of(const struct ad *site, const struct ad *machine);

/* Appends sentences about one site: what waits for it, what limits it, what went wrong last, and
 * what its samples stand for. */
void factory_plan_why(const struct ad *site, const struct ad *const *samples, size_t count,
                      const struct ad_context *context, struct strbuf *out);
/* The same as an ad, owned by the caller: the site's ad with JobsWaiting, SampleNames,
 * SampleMultiplicity (of all samples together), and the sentences in Text. */
struct ad *factory_plan_why_ad(const struct ad *site, const struct ad *const *samples, size_t count,
                               const struct ad_context *context);

/* Appends the answer to an order: a line, and one for each glidein of which site, journal and pool
 * say different things. */
void factory_plan_answer(const struct ad *answer, struct strbuf *out);
/* Appends the line of a step of a test: its time and what was done. */
void factory_plan_step(const struct ad *step, struct strbuf *out);
/* Appends how a test has ended, with the end of its glidein's log; control characters are
 * replaced. */
void factory_plan_test(const struct ad *answer, const char *log, struct strbuf *out);
/* Replaces the control characters of a text of several lines. */
void factory_plan_clean_lines(struct strbuf *text);

#endif
