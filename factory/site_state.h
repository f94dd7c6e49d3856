/* factory/site_state.h - what a site has, and what went wrong there: the floor that the other files
 * about a site stand on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FACTORY_SITE_STATE_H
#define FACTORY_SITE_STATE_H

#include <stddef.h>
#include <stdint.h>

#include "factory/glidein.h"
#include "factory/grow_plan.h"

struct site;

/* So long a glidein that has joined and has room counts as coming. */
#define SITE_YOUNG_MS 15000

uint64_t site_state_now_ms(const struct site *site); /* monotonic */

/* Something went wrong: the text is logged, and kept for the site's ad. */
void site_state_trouble(struct site *site, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* For the breaker: the site has failed, or has refused. */
void site_state_failure(struct site *site);
void site_state_refusal(struct site *site);

/* The site is to be looked at in so many ms at the latest. */
void site_state_look_within(struct site *site, uint64_t ms);

/* Adds a copy of the glidein to the site, which owns the result; a journal is not written. */
struct glidein *site_state_add(struct site *site, const struct glidein *as);
void site_state_move(struct glidein *glidein, enum glidein_state to);
/* The site does not have it any more, or never had it: frees it, and its row in the journal. */
void site_state_gone(struct glidein *glidein, const char *how);
void site_state_free(struct glidein *glidein);
size_t site_state_count(const struct site *site); /* glideins */
struct grow_facts site_state_facts(const struct site *site);

#endif
