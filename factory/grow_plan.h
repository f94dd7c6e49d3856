/* factory/grow_plan.h - how many glideins a site is asked for now.
 *
 * Pure.  The order of the questions is the seed document's (docs/SEEDS.md): are there idle startds?
 * are there idle glideins in the site's queue? have samples been matched?  Then glideins are
 * submitted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FACTORY_GROW_PLAN_H
#define FACTORY_GROW_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a site may have; options of its section. */
struct grow_limits {
    int64_t idle;       /* unclaimed startds, beyond which nothing is submitted */
    int64_t queued;     /* glideins that the site has not started */
    int64_t held;       /* glideins that the site holds */
    int64_t running;    /* glideins that the site has started */
    int64_t total;      /* glideins in any state */
    int64_t submission; /* glideins of one submission */
};

/* What a site has. */
struct grow_facts {
    int64_t wanted;  /* machines that waiting jobs need */
    int64_t ordered; /* glideins more that were ordered, whether jobs wait or not */
    int64_t coming;  /* glideins that will serve: not joined, or joined just now, with room */
    int64_t idle, queued, held, running, total;
    int64_t pool_room;      /* glideins that the whole factory may still have */
    bool is_known;          /* the site's own list has been seen since the factory started */
    bool needs_canary;      /* one glidein at a time */
    unsigned refusals;      /* in a row: it is asked for half as many after each */
    uint64_t left_alone_ms; /* more ms; 0: it may be asked */
    const char *paused;     /* a clause that says why it is paused; NULL: it is not */
};

/* Returns how many glideins are to be submitted now, 0 to limits->submission.  Writes to why a
 * clause for the operator: what stops the site, or "" if it is asked for as many as are wanted. */
int64_t grow_plan(const struct grow_facts *facts, const struct grow_limits *limits, char *why,
                  size_t why_size);

/* Returns how many of `asked` glideins an order may ask for now, in one or more submissions. Writes
 * to why a clause that says what limits it; "": nothing does. */
int64_t grow_plan_order(const struct grow_facts *facts, const struct grow_limits *limits,
                        int64_t asked, char *why, size_t why_size);

/* Returns how many glideins more the site could have: the OfflineMultiplicity of its samples
 * together.  0: its samples must not be matched. */
int64_t grow_plan_room(const struct grow_facts *facts, const struct grow_limits *limits);

#endif
