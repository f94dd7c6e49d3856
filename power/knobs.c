/* power/knobs.c - how a machine is described: the `node` sections of the configuration.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/check.h"
#include "base/knob.h"
#include "power/power.h"

static const struct knob NODE[] = {
    {.name = "method",
     .type = KNOB_STRING,
     .choices = "process|command",
     .help = "How the machine is switched."},
    {.name = "config", .type = KNOB_PATH, .help = "Method process: the node's configuration file."},
    {.name = "lock_dir", .type = KNOB_PATH, .help = "Method process: the node's LOCK directory."},
    {.name = "program",
     .type = KNOB_PATH,
     .fallback = "$(SBIN)/roost-master",
     .help = "Method process: the program that is the node's master."},
    {.name = "wake_command",
     .type = KNOB_STRING,
     .help = "Method command: switches it on; gets its name."},
    {.name = "sleep_command",
     .type = KNOB_STRING,
     .help = "Method command: switches it off; gets its name."},
    {.name = "status_command",
     .type = KNOB_STRING,
     .help = "Method command: exit status 0 on, 1 off, else unknown; gets its name."},
};

static const struct knob_section SECTIONS[] = {
    {.kind = "node",
     .options = NODE,
     .option_count = ARRAY_COUNT(NODE),
     .help = "One machine: how it is woken."},
};

const struct knob_table power_knobs = {.owner = "POWER",
                                       .sections = SECTIONS,
                                       .section_count = ARRAY_COUNT(SECTIONS)};
