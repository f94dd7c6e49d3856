/* factory/trial_plan.h - the steps of a test: one glidein through its whole life.
 *
 * Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FACTORY_TRIAL_PLAN_H
#define FACTORY_TRIAL_PLAN_H

#include <stdbool.h>

#include "factory/glidein_state.h"

/* The steps, in their order; each is a step that has been done. */
enum trial_step {
    TRIAL_ORDERED,
    TRIAL_RECORDED,  /* it is in the journal */
    TRIAL_SUBMITTED, /* the site has taken it */
    TRIAL_LISTED,    /* the site lists it */
    TRIAL_STARTED,   /* as started */
    TRIAL_JOINED,    /* its ads are in the pool */
    TRIAL_SHOWN,     /* a look after that shows it running */
    TRIAL_ENDING,    /* the site has been asked to remove it */
    TRIAL_LEFT,      /* its ads are gone */
    TRIAL_GONE,      /* the site does not have it any more */
    TRIAL_STEPS
};

/* What is known of the glidein under test. */
struct trial_facts {
    bool is_there;      /* the factory has it */
    bool is_recorded;   /* durably */
    bool is_heard;      /* the pool has ads of it */
    bool is_asked_away; /* the site was asked to remove it */
    bool is_looked_at;  /* a complete look was begun after it had joined, and is answered */
    enum glidein_state state;
    enum glidein_listing listing;
};

/* Returns the last step that is done, at least `done`. */
enum trial_step trial_plan_step(enum trial_step done, const struct trial_facts *facts);
/* Returns whether the test cannot go on: the glidein is gone before its time. */
bool trial_plan_is_lost(enum trial_step done, const struct trial_facts *facts);
/* Returns the step in words: "joined the pool". */
const char *trial_plan_words(enum trial_step step);

#endif
