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
    {.name = "TOKEN_KEY",
     .type = KNOB_STRING,
     .fallback = "POOL",
     .help = "Which of the private keys in POOL_KEYS signs new tokens: the name of its file "
             "without .key."},
    {.name = "TOKEN_LEDGER",
     .type = KNOB_PATH,
     .fallback = "$(SEC_DIRECTORY)/issued.ads",
     .help = "File in which `roost token create` notes what it made: an ad in each line, no "
             "secrets."},
};

const struct knob_table cli_knobs = {.owner = "TOOL",
                                     .knobs = KNOBS,
                                     .knob_count = ARRAY_COUNT(KNOBS)};
