/* master/knobs.c - the table of the master's knobs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>

#include "base/check.h"
#include "base/err.h"
#include "base/knob.h"
#include "base/knob_check.h"
#include "base/text.h"
#include "master/master.h"

/* Refuses programs of Roost that other programs start. */
static int check_daemon(const char *text, struct err *err)
{
    static const char *const OTHERS[][2] = {
        {"SHADOW", "the schedd"},    {"STARTER", "the startd"}, {"LIBVIRT", "the rooster"},
        {"PILOT", "a batch system"}, {"SITE", "the factory"},   {"STORE", "an administrator"},
        {"SIM", "a developer"}};
    for (size_t i = 0; i < ARRAY_COUNT(OTHERS); i++) {
        if (text_equal_nocase(text, OTHERS[i][0])) {
            return err_set(err, -EINVAL,
                           "%s is started by %s, not by the master; expected COLLECTOR, "
                           "NEGOTIATOR, SCHEDD, STARTD, ROOSTER, FACTORY or KBDD",
                           text, OTHERS[i][1]);
        }
    }
    return 0;
}

static const struct knob KNOBS[] = {
    {.name = "DAEMON_LIST",
     .type = KNOB_LIST,
     .fallback = "",
     .check = check_daemon,
     .help = "The daemons that the master of this machine keeps running: COLLECTOR, NEGOTIATOR, "
             "SCHEDD, STARTD, ROOSTER, FACTORY, KBDD."},
    {.name = "MASTER_NAME",
     .type = KNOB_STRING,
     .check = knob_check_name,
     .restart = true,
     .fallback = "",
     .help =
         "Name of the master's ad; empty: this host's name.  A node's token must allow this name."},
    {.name = "MASTER_UPDATE_INTERVAL",
     .type = KNOB_DURATION_S,
     .fallback = "5m",
     .min = 1,
     .max = 86400,
     .help = "How often the master renews its ad in the collector. A change of a daemon's state is "
             "sent at once."},
    {.name = "MASTER_BACKOFF_CONSTANT",
     .type = KNOB_DURATION_MS,
     .fallback = "100ms",
     .min = 1,
     .max = 3600000,
     .help = "How long the master waits before it restarts a daemon that has exited."},
    {.name = "MASTER_BACKOFF_FACTOR",
     .type = KNOB_REAL,
     .fallback = "2.0",
     .min = 1,
     .max = 1000,
     .help = "The wait before each further restart is this many times as long as the one before."},
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
     .help = "A daemon that ran this long before it exited is restarted after "
             "MASTER_BACKOFF_CONSTANT again."},
    {.name = "SHUTDOWN_GRACEFUL_TIMEOUT",
     .type = KNOB_DURATION_S,
     .fallback = "30m",
     .min = 1,
     .max = 604800,
     .help = "How long a daemon that was told to stop may take before it is killed."},
};

const struct knob_table master_knobs = {.owner = "MASTER",
                                        .knobs = KNOBS,
                                        .knob_count = ARRAY_COUNT(KNOBS)};
