/* collector/knobs.c - see knobs.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "collector/knobs.h"

#include "base/check.h"
#include "base/knob_check.h"

#define YEAR_S ((int64_t)366 * 24 * 3600)

static const struct knob KNOBS[] = {
    {.name = "COLLECTOR_NAME",
     .type = KNOB_STRING,
     .fallback = "Roost pool of $(FULL_HOSTNAME:localhost)",
     .help = "Name of the pool in the collector's own ad."},
    {.name = "COLLECTOR_LISTEN",
     .type = KNOB_STRING,
     .fallback = "",
     .check = knob_check_listen,
     .help = "HOST or HOST:PORT to listen on, 0.0.0.0 for all addresses; empty: the first entry of "
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
     .restart = true,
     .fallback = "$(SPOOL)/collector.db",
     .help = "File with the offline ads and the revoked tokens; never on a network file system."},
    {.name = "CLASSAD_LIFETIME",
     .type = KNOB_DURATION_S,
     .fallback = "900",
     .min = 10,
     .max = YEAR_S,
     .help = "How long the collector keeps an ad that is not renewed and has no ClassAdLifetime of "
             "its own."},
    {.name = "OFFLINE_EXPIRE_ADS_AFTER",
     .type = KNOB_DURATION_S,
     .fallback = "0",
     .max = 100 * YEAR_S,
     .help = "How long an offline ad is kept at most, whatever its ClassAdLifetime says; 0: only "
             "ClassAdLifetime counts."},
    {.name = "ABSENT_REQUIREMENTS",
     .type = KNOB_EXPR,
     .fallback = "false",
     .help = "Evaluated in each Machine ad that expires: if true, the collector keeps the ad as "
             "absent (Absent = true), and `roost status -absent` shows it."},
    {.name = "ABSENT_EXPIRE_ADS_AFTER",
     .type = KNOB_DURATION_S,
     .fallback = "30 * 24 * 3600",
     .max = 100 * YEAR_S,
     .help = "How long an absent ad is kept; 0: for ever."},
    {.name = "EXPIRE_INVALIDATED_ADS",
     .type = KNOB_BOOL,
     .fallback = "false",
     .help = "Whether Machine ads that their startd takes back are treated like ads that expire, "
             "so that they may become absent."},
    {.name = "COLLECTOR_MAX_ADS_PER_IDENTITY",
     .type = KNOB_INT,
     .fallback = "200000",
     .min = 1,
     .max = 1000000,
     .help =
         "How many ads all senders with the same identity (in their tokens) may have together."},
    {.name = "COLLECTOR_MAX_BYTES_PER_IDENTITY",
     .type = KNOB_SIZE_BYTES,
     .fallback = "2 GiB",
     .min = 1024,
     .max = (int64_t)1 << 40,
     .help = "How many bytes of ads, as encoded on the wire, all senders with the same identity "
             "may have together."},
    {.name = "COLLECTOR_MAX_BYTES_PER_AD",
     .type = KNOB_SIZE_BYTES,
     .fallback = "200 KiB",
     .min = 1024,
     .max = 1 << 20,
     .help = "How large an ad may be, as encoded on the wire."},
    {.name = "COLLECTOR_MAX_ATTRIBUTES_PER_AD",
     .type = KNOB_INT,
     .fallback = "20000",
     .min = 10,
     .max = 20000,
     .help = "How many attributes an ad may have."},
    {.name = "COLLECTOR_UPDATE_INTERVAL",
     .type = KNOB_DURATION_S,
     .fallback = "60",
     .min = 1,
     .max = YEAR_S,
     .help = "How often the collector renews its own ad. A query for this ad always gets current "
             "values."},
};

const struct knob_table collector_knobs = {.owner = "COLLECTOR",
                                           .knobs = KNOBS,
                                           .knob_count = ARRAY_COUNT(KNOBS)};
