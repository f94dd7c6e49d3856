/* factory/trial_plan.c - see trial_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "factory/trial_plan.h"

/* Returns whether the step is done, if all before it are. */
static bool is_done(enum trial_step step, const struct trial_facts *facts)
{
    bool there = facts->is_there;
    bool listed = facts->listing != GLIDEIN_NOT_LISTED;
    bool running = facts->listing == GLIDEIN_LISTED_RUNNING;
    switch (step) {
    case TRIAL_ORDERED:
        return true;
    case TRIAL_RECORDED:
        return there && facts->is_recorded;
    case TRIAL_SUBMITTED:
        return there && facts->state != GLIDEIN_INTENDED;
    case TRIAL_LISTED:
        return there && listed;
    case TRIAL_STARTED:
        return there && running;
    case TRIAL_JOINED:
        return there && facts->is_heard;
    case TRIAL_SHOWN:
        return there && running && facts->is_looked_at;
    case TRIAL_ENDING:
        return !there || facts->is_asked_away;
    case TRIAL_LEFT:
        return !there || !facts->is_heard;
    case TRIAL_GONE:
        return !there;
    case TRIAL_STEPS:
        break;
    }
    return false;
}

enum trial_step trial_plan_step(enum trial_step done, const struct trial_facts *facts)
{
    while (done < TRIAL_GONE && is_done(done + 1, facts)) {
        done++;
    }
    return done;
}

bool trial_plan_is_lost(enum trial_step done, const struct trial_facts *facts)
{
    return done >= TRIAL_RECORDED && done < TRIAL_SHOWN && !facts->is_there;
}

const char *trial_plan_words(enum trial_step step)
{
    static const char *const WORDS[TRIAL_STEPS] = {
        [TRIAL_ORDERED] = "ordered",
        [TRIAL_RECORDED] = "recorded in the journal",
        [TRIAL_SUBMITTED] = "submitted: the site has taken it",
        [TRIAL_LISTED] = "the site lists it",
        [TRIAL_STARTED] = "started: the site lists it as running",
        [TRIAL_JOINED] = "joined the pool",
        [TRIAL_SHOWN] = "a look after that shows it running",
        [TRIAL_ENDING] = "the site is asked to remove it",
        [TRIAL_LEFT] = "left the pool",
        [TRIAL_GONE] = "the site does not have it any more",
    };
    return WORDS[step];
}
