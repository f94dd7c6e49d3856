/* negotiator/knobs.c - what can be configured of a negotiator.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/check.h"
#include "base/knob.h"
#include "negotiator/negotiator.h"

static const struct knob KNOBS[] = {
    {.name = "NEGOTIATOR_NAME",
     .type = KNOB_STRING,
     .help = "Name in the negotiator's ad; default the host name."},
    {.name = "NEGOTIATOR_INTERVAL",
     .type = KNOB_DURATION_S,
     .fallback = "60",
     .min = 1,
     .max = 86400,
     .help = "How often everything is judged anew; changes are acted on at once."},
    {.name = "NEGOTIATOR_CYCLE_DELAY",
     .type = KNOB_DURATION_MS,
     .fallback = "20ms",
     .min = 0,
     .max = 3600000,
     .help = "The least time between two cycles: changes within it are gathered."},
    {.name = "NEGOTIATOR_PRE_JOB_RANK",
     .type = KNOB_EXPR,
     .help = "Order of slots before the job's Rank; MY is the slot, TARGET the job."},
    {.name = "NEGOTIATOR_POST_JOB_RANK",
     .type = KNOB_EXPR,
     .help = "Order of slots that the job's Rank finds alike; MY is the slot, TARGET the job."},
    {.name = "PRIORITY_HALFLIFE",
     .type = KNOB_DURATION_S,
     .fallback = "86400",
     .min = 1,
     .max = 3153600000,
     .help = "After this time half of a user's past use is forgotten."},
    {.name = "DEFAULT_PRIO_FACTOR",
     .type = KNOB_REAL,
     .fallback = "1000.0",
     .min = 1,
     .max = 1000000000000,
     .help = "The priority factor of users who were given none."},
    {.name = "OFFLINE_MATCH_LIFETIME",
     .type = KNOB_DURATION_S,
     .fallback = "15m",
     .min = 10,
     .max = 864000,
     .help = "How long a request is held on a machine that is being woken."},
};

const struct knob_table negotiator_knobs = {.owner = "NEGOTIATOR",
                                            .knobs = KNOBS,
                                            .knob_count = ARRAY_COUNT(KNOBS)};
