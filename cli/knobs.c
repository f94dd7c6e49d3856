/* cli/knobs.c - what can be configured of the command line.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/check.h"
#include "base/knob.h"
#include "cli/cli.h"

static const struct knob KNOBS[] = {
    {.name = "PERSONAL_NODES",
     .type = KNOB_STRING,
     .fallback = "none",
     .choices = "none|awake|asleep",
     .help = "What `roost start` does with nodes of method process that are off: start them, leave "
             "their offline ads, or nothing."},
};

const struct knob_table cli_knobs = {.owner = "TOOL",
                                     .knobs = KNOBS,
                                     .knob_count = ARRAY_COUNT(KNOBS)};
