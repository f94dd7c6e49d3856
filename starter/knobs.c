/* starter/knobs.c - what can be configured of a starter.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/check.h"
#include "base/knob.h"
#include "starter/starter.h"

static const struct knob KNOBS[] = {
    {.name = "SLOT_USER",
     .type = KNOB_STRING,
     .fallback = "nobody",
     .help = "The account of jobs whose owner has none here; used when the starter runs as root."},
    {.name = "KILLING_TIMEOUT",
     .type = KNOB_DURATION_S,
     .fallback = "30",
     .min = 1,
     .max = 86400,
     .help = "How long a job that was asked to end may take before it is killed."},
    {.name = "JOB_RENICE_INCREMENT",
     .type = KNOB_INT,
     .fallback = "0",
     .min = 0,
     .max = 19,
     .help = "How much nicer than the daemons jobs run."},
};

const struct knob_table starter_knobs = {.owner = "STARTER",
                                         .knobs = KNOBS,
                                         .knob_count = ARRAY_COUNT(KNOBS)};
