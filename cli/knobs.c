/* cli/knobs.c - what can be configured of the command line.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/check.h"
#include "base/knob.h"
#include "cli/cli.h"

static const struct knob KNOBS[] = {
    {.name = "APPEND_RANK",
     .type = KNOB_EXPR,
     .help = "Is added to the Rank of each job that is submitted here."},
    {.name = "APPEND_REQUIREMENTS",
     .type = KNOB_EXPR,
     .help = "Is demanded by each job that is submitted here, beside its own requirements."},
    {.name = "DEFAULT_JOB_MAX_RETRIES",
     .type = KNOB_INT,
     .fallback = "2",
     .max = 1000000,
     .help = "max_retries of a job that has retry_until or success_exit_code only."},
    {.name = "DEFAULT_RANK", .type = KNOB_EXPR, .help = "rank of a job that has none."},
    {.name = "DEFAULT_UNIVERSE",
     .type = KNOB_STRING,
     .fallback = "vanilla",
     .help = "universe of a job that has none."},
    {.name = "JOB_DEFAULT_NOTIFICATION",
     .type = KNOB_STRING,
     .fallback = "never",
     .help = "notification of a job that has none."},
    {.name = "JOB_DEFAULT_REQUESTCPUS",
     .type = KNOB_EXPR,
     .fallback = "1",
     .help = "request_cpus of a job that has none."},
    {.name = "JOB_DEFAULT_REQUESTDISK",
     .type = KNOB_EXPR,
     .fallback = "MAX({ 1024, (TransferInputSizeMB + 1) * 1.25 }) * 1024",
     .help = "request_disk of a job that has none, in KiB."},
    {.name = "JOB_DEFAULT_REQUESTMEMORY",
     .type = KNOB_EXPR,
     .fallback = "128",
     .help = "request_memory of a job that has none, in MiB."},
    {.name = "SUBMIT_ATTRS",
     .type = KNOB_LIST,
     .fallback = "",
     .help = "Names of settings, each an expression, that every submitted job has as attributes; a "
             "command of the submit file replaces one, unless `+` is before its name here."},
    {.name = "SUBMIT_DEFAULT_SHOULD_TRANSFER_FILES",
     .type = KNOB_STRING,
     .help = "should_transfer_files of a job that has none: YES, NO or IF_NEEDED, which is so "
             "where this is not set."},
    {.name = "SUBMIT_EXPRS",
     .type = KNOB_LIST,
     .fallback = "",
     .help = "The same; HTCondor's older name."},
    {.name = "SYSTEM_SUBMIT_ATTRS",
     .type = KNOB_LIST,
     .fallback = "",
     .help = "The same; meant for what a site's packages add."},
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
