/* kbdd/knobs.c - the table of the kbdd's knobs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/check.h"
#include "base/knob.h"
#include "kbdd/kbdd.h"

static const struct knob KNOBS[] = {
    {.name = "KBDD",
     .type = KNOB_PATH,
     .fallback = "$(SBIN)/roost-kbdd",
     .help = "The program that watches X displays; one process for each display."},
    {.name = "KBDD_USER",
     .type = KNOB_STRING,
     .fallback = "nobody",
     .help = "The account under which a kbdd that root started talks to an X server of root. To "
             "the X server of another user it talks as that user."},
    {.name = "KBDD_INTERVAL",
     .type = KNOB_DURATION_S,
     .fallback = "1",
     .min = 1,
     .max = 3600,
     .help = "How often an X server is asked when keyboard and mouse were last used."},
};

const struct knob_table kbdd_knobs = {.owner = "KBDD",
                                      .knobs = KNOBS,
                                      .knob_count = ARRAY_COUNT(KNOBS)};
