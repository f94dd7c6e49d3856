/* collector/knobs.c - see knobs.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "collector/knobs.h"

#include "base/check.h"

#define YEAR_S ((int64_t)366 * 24 * 3600)

static const struct knob KNOBS[] = {
    {.name = "COLLECTOR_NAME",
     .type = KNOB_STRING,
     .fallback = "Roost pool of $(FULL_HOSTNAME:localhost)",
     .help = "What the pool is called in the collector's own ad."},
    {.name = "COLLECTOR_LISTEN",
     .type = KNOB_STRING,
     .fallback = "",
     .help = "HOST or HOST:PORT to listen on, 0.0.0.0 for all addresses; empty: the first of "
             "COLLECTOR_HOST."},
    {.name = "COLLECTOR_CERT",
     .type = KNOB_PATH,
     .fallback = "$(SEC_DIRECTORY)/collector.pem",
     .help = "The collector's certificate, signed by the pool's authority."},
    {.name = "COLLECTOR_KEY",
     .type = KNOB_PATH,
     .fallback = "$(SEC_DIRECTORY)/collector-key.pem",
     .help = "The key of that certificate; nobody but its owner may read it."},
    {.name = "COLLECTOR_STORE",
     .type = KNOB_PATH,
     .fallback = "$(SPOOL)/collector.db",
     .help = "File with the offline ads and the revoked tokens; never on a network file system."},
    {.name = "CLASSAD_LIFETIME",
     .type = KNOB_DURATION_S,
     .fallback = "900",
     .min = 10,
     .max = YEAR_S,
     .help = "How long an ad is kept that is not renewed and has no ClassAdLifetime of its own."},
    {.name = "OFFLINE_EXPIRE_ADS_AFTER",
     .type = KNOB_DURATION_S,
     .fallback = "0",
     .max = 100 * YEAR_S,
     .help = "How long an offline ad is kept at most, whatever its ClassAdLifetime; 0 for no "
             "limit but that."},
    {.name = "ABSENT_REQUIREMENTS",
     .type = KNOB_EXPR,
     .fallback = "false",
     .help = "Judged in a Machine ad that expires: true keeps it as absent (Absent = true), which "
             "`roost status -absent` shows."},
    {.name = "ABSENT_EXPIRE_ADS_AFTER",
     .type = KNOB_DURATION_S,
     .fallback = "30 * 24 * 3600",
     .max = 100 * YEAR_S,
     .help = "How long an absent ad is kept; 0 for ever."},
    {.name = "EXPIRE_INVALIDATED_ADS",
     .type = KNOB_BOOL,
     .fallback = "false",
     .help = "Treat Machine ads that are taken back as those that expire: they may become absent."},
    {.name = "COLLECTOR_UPDATE_INTERVAL",
     .type = KNOB_DURATION_S,
     .fallback = "60",
     .min = 1,
     .max = YEAR_S,
     .help = "How often the collector renews its own ad."},
};

const struct knob_table collector_knobs = {.owner = "COLLECTOR",
                                           .knobs = KNOBS,
                                           .knob_count = ARRAY_COUNT(KNOBS)};
