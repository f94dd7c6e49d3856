/* shadow/knobs.c - see knobs.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "shadow/knobs.h"

#include "base/check.h"

static const struct knob KNOBS[] = {
    {.name = "SHADOW_LANES",
     .type = KNOB_INT,
     .fallback = "8",
     .min = 1,
     .max = 64,
     .unit = "threads",
     .help = "Threads for file operations of a shadow: a hung file server blocks only the jobs of "
             "those that wait for it."},
    {.name = "MAX_TRANSFER_INPUT_MB",
     .type = KNOB_INT,
     .fallback = "-1",
     .min = -1,
     .max = 1000000000,
     .unit = "MB",
     .help =
         "How much input may be transferred for a job that does not say (max_transfer_input_mb) "
         "itself; one with more is held; -1: any."},
    {.name = "MAX_TRANSFER_OUTPUT_MB",
     .type = KNOB_INT,
     .fallback = "-1",
     .min = -1,
     .max = 1000000000,
     .unit = "MB",
     .help = "The same of its output."},
    {.name = "SPOOL_QUOTA_PER_OWNER",
     .type = KNOB_SIZE_BYTES,
     .fallback = "50 GiB",
     .help = "What the spooled files of an owner, input and output, may take before more input is "
             "refused; 0: no limit."},
    {.name = "SPOOL_RESERVE",
     .type = KNOB_SIZE_BYTES,
     .fallback = "256 MiB",
     .help = "So much of SPOOL's disk is left to the queue: output that would take of it is "
             "refused (after some tries its job is held, codes 12 and 28), and so is spooled "
             "input; 0: none."},
    {.name = "CHECKPOINT_QUOTA_PER_OWNER",
     .type = KNOB_SIZE_BYTES,
     .fallback = "0",
     .help = "What the checkpoints of an owner's jobs may take of SPOOL; one that would be more is "
             "refused, and its job goes on without it; 0: no limit but SPOOL_RESERVE."},
    {.name = "SENDMAIL",
     .type = KNOB_STRING,
     .fallback = "/usr/sbin/sendmail",
     .help =
         "Program that sends the mail which jobs with `notification` ask for; it is called with "
         "-oi -t; empty: none is sent."},
    {.name = "SHADOW_ORPHAN_TIMEOUT",
     .type = KNOB_DURATION_S,
     .fallback = "20m",
     .min = 1,
     .max = 86400,
     .help = "How long a shadow waits for its schedd to come back before it ends."},
};

const struct knob_table shadow_knobs = {.owner = "SHADOW",
                                        .knobs = KNOBS,
                                        .knob_count = ARRAY_COUNT(KNOBS)};
