/* cli/knobs.c - the knobs of the command line.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/check.h"
#include "base/hostlist.h"
#include "base/knob.h"
#include "base/mem.h"
#include "base/vec.h"
#include "cli/cli.h"

static const struct knob KNOBS[] = {
    {.name = "APPEND_RANK",
     .type = KNOB_EXPR,
     .help = "An expression that is added to the Rank of each job submitted here."},
    {.name = "APPEND_REQUIREMENTS",
     .type = KNOB_EXPR,
     .help = "An expression that each job submitted here requires besides its own Requirements."},
    {.name = "DEFAULT_JOB_MAX_RETRIES",
     .type = KNOB_INT,
     .fallback = "2",
     .max = 1000000,
     .help = "Value of max_retries for a job that sets retry_until or success_exit_code, but not "
             "max_retries."},
    {.name = "DEFAULT_RANK", .type = KNOB_EXPR, .help = "Value of rank for a job that sets none."},
    {.name = "DEFAULT_UNIVERSE",
     .type = KNOB_STRING,
     .fallback = "vanilla",
     .help = "Value of universe for a job that sets none."},
    {.name = "JOB_DEFAULT_NOTIFICATION",
     .type = KNOB_STRING,
     .fallback = "never",
     .help = "Value of notification for a job that sets none."},
    {.name = "JOB_DEFAULT_REQUESTCPUS",
     .type = KNOB_EXPR,
     .fallback = "1",
     .help = "Value of request_cpus for a job that sets none."},
    {.name = "JOB_DEFAULT_REQUESTDISK",
     .type = KNOB_EXPR,
     .fallback = "MAX({ 1024, (TransferInputSizeMB + 1) * 1.25 }) * 1024",
     .help = "Value of request_disk, in KiB, for a job that sets none."},
    {.name = "JOB_DEFAULT_REQUESTMEMORY",
     .type = KNOB_EXPR,
     .fallback = "128",
     .help = "Value of request_memory, in MiB, for a job that sets none."},
    {.name = "SUBMIT_ATTRS",
     .type = KNOB_LIST,
     .fallback = "",
     .help = "Names of configuration values. Each value is an expression that every submitted job "
             "gets as the attribute of that name, unless a command of the submit file sets this "
             "attribute; a name with `+` before it here wins over the submit file."},
    {.name = "SUBMIT_DEFAULT_SHOULD_TRANSFER_FILES",
     .type = KNOB_STRING,
     .help = "Value of should_transfer_files for a job that sets none: YES, NO or IF_NEEDED (the "
             "default)."},
    {.name = "SUBMIT_EXPRS",
     .type = KNOB_LIST,
     .fallback = "",
     .help = "Names that are added to those of SUBMIT_ATTRS; HTCondor's older name of that knob."},
    {.name = "SYSTEM_SUBMIT_ATTRS",
     .type = KNOB_LIST,
     .fallback = "",
     .help = "Names that are added to those of SUBMIT_ATTRS; meant for the configuration files of "
             "software packages that a site installs."},
    {.name = "PERSONAL_NODES",
     .type = KNOB_STRING,
     .fallback = "none",
     .choices = "none|awake|asleep",
     .help = "What `roost start` does with nodes of method process that are off. awake: start "
             "them; asleep: leave their offline ads in the collector; none: nothing."},
    {.name = "TOKEN_KEY",
     .type = KNOB_STRING,
     .fallback = "POOL",
     .help = "Which private key in POOL_KEYS signs new tokens: the name of its file without .key."},
    {.name = "TOKEN_LEDGER",
     .type = KNOB_PATH,
     .fallback = "$(SEC_DIRECTORY)/issued.ads",
     .help = "File in which `roost token create` records the tokens that it made, one ad in each "
             "line, without secrets."},
};

/* Any group may be set elsewhere. */
static int some_machine(void *arg, const char *name, const char **ret, struct err *err)
{
    (void)arg;
    (void)name;
    (void)err;
    *ret = "machine";
    return 0;
}

static int check_machines(const char *text, struct err *err)
{
    const struct hostlist_groups groups = {.machines_of = some_machine};
    struct vec names = {0};
    int rc = hostlist_expand(text, &groups, &names, err);
    vec_fini(&names, mem_free);
    return rc;
}

static const struct knob_family FAMILIES[] = {
    {.prefix = "NODE_GROUP_",
     .written = "NODE_GROUP_<name>",
     .type = KNOB_STRING,
     .check = check_machines,
     .help =
         "The machines of a group, such as `wn[001-020], gpu1, @rack2`; `@name` then stands for "
         "them in `roost power` and `roost drain`."},
};

const struct knob_table cli_knobs = {.owner = "TOOL",
                                     .knobs = KNOBS,
                                     .knob_count = ARRAY_COUNT(KNOBS),
                                     .families = FAMILIES,
                                     .family_count = ARRAY_COUNT(FAMILIES)};
