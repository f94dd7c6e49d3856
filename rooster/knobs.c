/* rooster/knobs.c - what can be configured of a rooster.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/check.h"
#include "base/knob.h"
#include "rooster/rooster.h"

static const struct knob KNOBS[] = {
    {.name = "ROOSTER_NAME",
     .type = KNOB_STRING,
     .restart = true,
     .help = "Name of the rooster in its ad; default the host name."},
    {.name = "ROOSTER_INTERVAL",
     .type = KNOB_DURATION_S,
     .fallback = "300",
     .min = 1,
     .max = 86400,
     .help = "How often all offline ads are looked at when nothing changes; changes are acted on "
             "at once."},
    {.name = "ROOSTER_MAX_UNHIBERNATE",
     .type = KNOB_INT,
     .fallback = "0",
     .min = 0,
     .max = 1000000,
     .unit = "machines",
     .help = "The most machines woken at one look; 0: no limit."},
    {.name = "ROOSTER_MAX_WAKING",
     .type = KNOB_INT,
     .fallback = "0",
     .min = 0,
     .max = 1000000,
     .unit = "machines",
     .help = "The most machines that may be waking at a time; 0: no limit."},
    {.name = "ROOSTER_UNHIBERNATE",
     .type = KNOB_EXPR,
     .fallback = "Offline && Unhibernate",
     .help = "Which machines this rooster may wake; evaluated in the offline ad."},
    {.name = "ROOSTER_UNHIBERNATE_RANK",
     .type = KNOB_EXPR,
     .help = "Machines with a higher rank are woken first; evaluated in the offline ad."},
    {.name = "ROOSTER_WAKEUP_CMD",
     .type = KNOB_STRING,
     .help = "The program that wakes machines without a 'node' section; it gets the offline ad on "
             "standard input."},
    {.name = "ROOSTER_WAKE_DEADLINE",
     .type = KNOB_DURATION_S,
     .fallback = "5m",
     .min = 1,
     .max = 86400,
     .help = "How long a woken machine may take to join the pool."},
    {.name = "ROOSTER_WAKE_ATTEMPTS",
     .type = KNOB_INT,
     .fallback = "3",
     .min = 1,
     .max = 100,
     .help = "How often a machine is tried before it is left alone."},
    {.name = "ROOSTER_WAKE_BACKOFF",
     .type = KNOB_DURATION_S,
     .fallback = "10s",
     .min = 1,
     .max = 86400,
     .help = "The wait after a failed wake; doubled each time."},
    {.name = "ROOSTER_QUARANTINE",
     .type = KNOB_DURATION_S,
     .fallback = "1h",
     .min = 1,
     .max = 8640000,
     .help = "How long a machine that could not be woken is left alone."},
};

const struct knob_table rooster_knobs = {.owner = "ROOSTER",
                                         .knobs = KNOBS,
                                         .knob_count = ARRAY_COUNT(KNOBS)};
