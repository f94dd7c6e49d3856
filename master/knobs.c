/* master/knobs.c - what can be configured of a master.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/check.h"
#include "base/knob.h"
#include "master/master.h"

static const struct knob KNOBS[] = {
    {.name = "DAEMON_LIST",
     .type = KNOB_LIST,
     .fallback = "",
     .help = "The daemons that this machine's master keeps running: COLLECTOR, NEGOTIATOR, SCHEDD, "
             "STARTD, ROOSTER, KBDD."},
    {.name = "MASTER_NAME",
     .type = KNOB_STRING,
     .restart = true,
     .fallback = "",
     .help = "What the master's ad is called; empty: this host's name.  A node's token must allow "
             "it."},
    {.name = "MASTER_UPDATE_INTERVAL",
     .type = KNOB_DURATION_S,
     .fallback = "5m",
     .min = 1,
     .max = 86400,
     .help = "How often the master renews its ad in the collector, changes of its daemons aside."},
    {.name = "MASTER_BACKOFF_CONSTANT",
     .type = KNOB_DURATION_MS,
     .fallback = "100ms",
     .min = 1,
     .max = 3600000,
     .help = "The wait before a daemon that ended is started again."},
    {.name = "MASTER_BACKOFF_FACTOR",
     .type = KNOB_REAL,
     .fallback = "2.0",
     .min = 1,
     .max = 1000,
     .help = "How much longer each further wait is."},
    {.name = "MASTER_BACKOFF_CEILING",
     .type = KNOB_DURATION_MS,
     .fallback = "1h",
     .min = 1,
     .max = 86400000,
     .help = "The longest wait before a restart."},
    {.name = "MASTER_RECOVER_FACTOR",
     .type = KNOB_DURATION_MS,
     .fallback = "10s",
     .min = 1,
     .max = 86400000,
     .help = "A daemon that ran so long before it ended waits as after its first end."},
    {.name = "SHUTDOWN_GRACEFUL_TIMEOUT",
     .type = KNOB_DURATION_S,
     .fallback = "30m",
     .min = 1,
     .max = 604800,
     .help = "How long daemons that were told to stop may take before they are killed."},
};

const struct knob_table master_knobs = {.owner = "MASTER",
                                        .knobs = KNOBS,
                                        .knob_count = ARRAY_COUNT(KNOBS)};
