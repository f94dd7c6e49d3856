/* schedd/knobs.c - see knobs.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/knobs.h"

#include "base/check.h"
#include "base/knob_check.h"

#define YEAR_S   ((int64_t)366 * 24 * 3600)
#define JOBS_MAX 100000000

static const struct knob KNOBS[] = {
    {.name = "SCHEDD_NAME",
     .type = KNOB_STRING,
     .check = knob_check_name,
     .restart = true,
     .fallback = "$(FULL_HOSTNAME:localhost)",
     .help = "Name of this schedd, unique in the pool."},
    {.name = "SCHEDD_HOST",
     .type = KNOB_STRING,
     .fallback = "$(IP_ADDRESS:127.0.0.1)",
     .help = "Host name or address at which execute machines reach this schedd."},
    {.name = "SCHEDD_LISTEN",
     .type = KNOB_STRING,
     .fallback = "",
     .help = "Address to listen on; empty: SCHEDD_HOST if that is a loopback address, else all "
             "addresses."},
    {.name = "SCHEDD_PORT",
     .type = KNOB_INT,
     .fallback = "0",
     .max = 65535,
     .help = "Port to listen on; 0: a free port, which the schedd writes into its ad and into "
             "$(SPOOL)/schedd.address."},
    {.name = "SCHEDD_CERT",
     .type = KNOB_PATH,
     .fallback = "$(SEC_DIRECTORY)/schedd.pem",
     .help = "File with the schedd's certificate, signed by the pool's certificate authority."},
    {.name = "SCHEDD_KEY",
     .type = KNOB_PATH,
     .fallback = "$(SEC_DIRECTORY)/schedd-key.pem",
     .help =
         "File with the private key of SCHEDD_CERT; only the schedd's account may read the file."},
    {.name = "SCHEDD_STORE",
     .type = KNOB_PATH,
     .restart = true,
     .fallback = "$(SPOOL)/schedd.db",
     .help = "File with the job queue and its history; never on a network file system."},
    {.name = "SHADOW",
     .type = KNOB_PATH,
     .fallback = "$(SBIN)/roost-shadow",
     .help = "Program that the schedd starts for each owner of running jobs."},
    {.name = "MAX_NEXT_JOB_START_DELAY",
     .type = KNOB_DURATION_S,
     .fallback = "10m",
     .max = YEAR_S,
     .help = "Upper limit of a job's NextJobStartDelay, which delays the start of the next jobs."},
    {.name = "MAX_STARTER_FAILURES",
     .type = KNOB_INT,
     .fallback = "10",
     .max = JOBS_MAX,
     .unit = "failures",
     .help =
         "A job is held when this many of its runs ended because the machine could not run it or "
         "its starter failed; after a release it is held again after as many more; 0: never."},
    {.name = "STARTER_FAILURE_BACKOFF",
     .type = KNOB_DURATION_MS,
     .fallback = "10s",
     .max = 3600000,
     .help = "How long this schedd sends no job to a machine on which starters failed twice in a "
             "row; doubled with each further failure, up to 60 times as long; 0: such machines are "
             "not avoided."},
    {.name = "SHADOW_LINGER",
     .type = KNOB_DURATION_S,
     .fallback = "5m",
     .max = YEAR_S,
     .help = "How long a shadow is kept when no job of its owner runs."},
    {.name = "SPOOL_TIMEOUT",
     .type = KNOB_DURATION_S,
     .fallback = "12h",
     .max = YEAR_S,
     .help = "A job whose input was not completely spooled after this time is removed; 0: never."},
    {.name = "CHECKPOINT_PATIENCE",
     .type = KNOB_DURATION_S,
     .fallback = "1d",
     .max = YEAR_S,
     .help = "A job with a checkpoint is sent only to machines that can resume it. If none appears "
             "for this long, any machine may take the job, which may then start over; 0: never."},
    {.name = "MAX_JOBS_SUBMITTED",
     .type = KNOB_INT,
     .fallback = "0",
     .max = JOBS_MAX,
     .unit = "jobs",
     .help = "How many jobs the queue holds at most; 0: no limit."},
    {.name = "MAX_JOBS_PER_OWNER",
     .type = KNOB_INT,
     .fallback = "100000",
     .max = JOBS_MAX,
     .unit = "jobs",
     .help = "How many jobs one owner may have in the queue; 0: no limit."},
    {.name = "MAX_CONCURRENT_UPLOADS",
     .type = KNOB_INT,
     .fallback = "100",
     .max = JOBS_MAX,
     .unit = "jobs",
     .help = "For how many jobs more than 1 MiB of input may be sent at the same time; the others "
             "wait (TransferQueued); 0: no limit."},
    {.name = "MAX_CONCURRENT_DOWNLOADS",
     .type = KNOB_INT,
     .fallback = "100",
     .max = JOBS_MAX,
     .unit = "jobs",
     .help = "For how many jobs more than 1 MiB of output may be received at the same time; the "
             "others wait; 0: no limit."},
    {.name = "MAX_JOBS_PER_SUBMISSION",
     .type = KNOB_INT,
     .fallback = "20000",
     .max = JOBS_MAX,
     .unit = "jobs",
     .help = "How many jobs one submission may add; 0: no limit."},
    {.name = "MAX_JOBS_RUNNING",
     .type = KNOB_INT,
     .fallback = "10000",
     .max = JOBS_MAX,
     .unit = "jobs",
     .help = "How many jobs run at the same time at most; 0: no limit."},
    {.name = "MAX_HISTORY_JOBS",
     .type = KNOB_INT,
     .fallback = "1000000",
     .max = JOBS_MAX,
     .unit = "jobs",
     .help = "How many jobs the history keeps; the oldest are dropped first; 0: no limit."},
    {.name = "JOB_DEFAULT_LEASE_DURATION",
     .type = KNOB_DURATION_S,
     .fallback = "40m",
     .min = 1,
     .max = YEAR_S,
     .help = "JobLeaseDuration of jobs that set none: how long a job runs on without contact to "
             "its schedd (at least as long as the claim's lease)."},
    {.name = "DEFAULT_USERLOG_FORMAT_OPTIONS",
     .type = KNOB_STRING,
     .fallback = "",
     .help = "Format of job event logs, a list of these words: ISO_DATE (the default), LEGACY, "
             "UTC, SUB_SECOND, XML, JSON."},
    {.name = "EVENT_LOG",
     .type = KNOB_PATH,
     .help = "File with the events of all jobs of this schedd, written by the schedd's account; a "
             "symbolic link is not followed; unset: no such file."},
    {.name = "EVENT_LOG_MAX_SIZE",
     .type = KNOB_SIZE_BYTES,
     .fallback = "1000000",
     .max = (int64_t)1 << 40,
     .help = "Size at which EVENT_LOG is rotated; 0: never."},
    {.name = "EVENT_LOG_MAX_ROTATIONS",
     .type = KNOB_INT,
     .fallback = "1",
     .max = 1000,
     .unit = "files",
     .help = "How many rotated files of EVENT_LOG are kept. 1: the file EVENT_LOG.old; more: "
             "EVENT_LOG.1 (the newest), EVENT_LOG.2 and so on; 0: none."},
    {.name = "EVENT_LOG_FORMAT_OPTIONS",
     .type = KNOB_STRING,
     .fallback = "",
     .help = "Format of EVENT_LOG, a list of the same words as in "
             "DEFAULT_USERLOG_FORMAT_OPTIONS."},
    {.name = "EVENT_LOG_USE_XML",
     .type = KNOB_BOOL,
     .fallback = "false",
     .help = "Whether EVENT_LOG is written as XML, like the word XML in EVENT_LOG_FORMAT_OPTIONS."},
    {.name = "EVENT_LOG_FSYNC",
     .type = KNOB_BOOL,
     .fallback = "false",
     .help = "Whether the schedd waits until an event is on the disk before it counts the event as "
             "written."},
    {.name = "EVENT_LOG_JOB_AD_INFORMATION_ATTRS",
     .type = KNOB_LIST,
     .fallback = "",
     .help =
         "Attributes of the job that EVENT_LOG records after each event, in an event of type 028."},
    {.name = "CLAIM_LEASE_DURATION",
     .type = KNOB_DURATION_S,
     .fallback = "20m",
     .min = 1,
     .max = YEAR_S,
     .help = "How long a claim stays valid without being renewed by its startd, which renews three "
             "times in this period."},
    {.name = "LEASE_MARGIN",
     .type = KNOB_DURATION_S,
     .fallback = "30",
     .min = 1,
     .max = 86400,
     .help = "How much longer than the startd the schedd waits before it treats a lease as ended."},
    {.name = "SCHEDD_MATCH_TIMEOUT",
     .type = KNOB_DURATION_S,
     .fallback = "2m",
     .min = 1,
     .max = 86400,
     .help = "How long a startd that accepted a match may take to connect to the schedd."},
    {.name = "CLAIM_WORKLIFE",
     .type = KNOB_DURATION_S,
     .fallback = "20m",
     .max = YEAR_S,
     .help = "A claim of this age starts no further job, so that its slot is matched anew; 0: no "
             "limit."},
    {.name = "CLAIM_WORKLIFE_IDLE",
     .type = KNOB_DURATION_MS,
     .fallback = "200ms",
     .max = 3600000,
     .help = "How long an idle claim waits for a further job before its slot is given back."},
    {.name = "REQUEST_AD_GATHER",
     .type = KNOB_DURATION_MS,
     .fallback = "20ms",
     .max = 60000,
     .help = "How long changes of the queue are collected before they are sent to the collector; "
             "the first change after a quiet time is sent at once."},
    {.name = "SCHEDD_INTERVAL",
     .type = KNOB_DURATION_S,
     .fallback = "5m",
     .min = 1,
     .max = YEAR_S,
     .help = "How often the schedd sends all its ads again."},
    {.name = "PERIODIC_EXPR_INTERVAL",
     .type = KNOB_DURATION_S,
     .fallback = "60",
     .max = YEAR_S,
     .help = "How often the periodic expressions of jobs and of the site (PeriodicHold, "
             "SYSTEM_PERIODIC_HOLD and the like) are evaluated; 0: never."},
    {.name = "MAX_PERIODIC_EXPR_STEPS",
     .type = KNOB_INT,
     .fallback = "100000000",
     .max = INT64_MAX,
     .unit = "steps",
     .help = "How many evaluation steps (docs/CLASSAD.md, Limits) the periodic expressions of one "
             "owner's jobs may take in one round. If they take more, those jobs of the owner whose "
             "expressions take more than 2,000 steps each are held.  0: no limit."},
    {.name = "MAX_PERIODIC_EXPR_INTERVAL",
     .type = KNOB_DURATION_S,
     .fallback = "20m",
     .min = 1,
     .max = YEAR_S,
     .help = "Upper limit of PERIODIC_EXPR_INTERVAL when PERIODIC_EXPR_TIMESLICE makes it longer."},
    {.name = "PERIODIC_EXPR_TIMESLICE",
     .type = KNOB_REAL,
     .fallback = "0.01",
     .max = 1,
     .help = "The part of its time that the schedd may spend on periodic expressions, 0 to 1; if "
             "they take more, PERIODIC_EXPR_INTERVAL becomes longer."},
    {.name = "SYSTEM_PERIODIC_HOLD",
     .type = KNOB_EXPR,
     .fallback = "false",
     .help = "A job that is not held is held when this expression is true in its ad."},
    {.name = "SYSTEM_PERIODIC_HOLD_REASON",
     .type = KNOB_EXPR,
     .help = "HoldReason of jobs that SYSTEM_PERIODIC_HOLD holds, an expression for a text; unset: "
             "a default sentence."},
    {.name = "SYSTEM_PERIODIC_HOLD_SUBCODE",
     .type = KNOB_EXPR,
     .help =
         "HoldReasonSubCode of jobs that SYSTEM_PERIODIC_HOLD holds, an expression for a number."},
    {.name = "SYSTEM_PERIODIC_HOLD_NAMES",
     .type = KNOB_LIST,
     .fallback = "",
     .help = "Names of further expressions SYSTEM_PERIODIC_HOLD_<name>; they are evaluated in this "
             "order, before SYSTEM_PERIODIC_HOLD."},
    {.name = "SYSTEM_PERIODIC_RELEASE",
     .type = KNOB_EXPR,
     .fallback = "false",
     .help = "A held job that was not held by a user is released when this expression is true in "
             "its ad."},
    {.name = "SYSTEM_PERIODIC_RELEASE_REASON",
     .type = KNOB_EXPR,
     .help = "The reason recorded when SYSTEM_PERIODIC_RELEASE releases a job, an expression for a "
             "text; unset: a default sentence."},
    {.name = "SYSTEM_PERIODIC_RELEASE_SUBCODE",
     .type = KNOB_EXPR,
     .help = "The subcode recorded when SYSTEM_PERIODIC_RELEASE releases a job, an expression for "
             "a number."},
    {.name = "SYSTEM_PERIODIC_RELEASE_NAMES",
     .type = KNOB_LIST,
     .fallback = "",
     .help = "Names of further expressions SYSTEM_PERIODIC_RELEASE_<name>; they are evaluated in "
             "this order, before SYSTEM_PERIODIC_RELEASE."},
    {.name = "SYSTEM_PERIODIC_REMOVE",
     .type = KNOB_EXPR,
     .fallback = "false",
     .help = "A job in the queue is removed when this expression is true in its ad."},
    {.name = "SYSTEM_PERIODIC_REMOVE_REASON",
     .type = KNOB_EXPR,
     .help = "RemoveReason of jobs that SYSTEM_PERIODIC_REMOVE removes, an expression for a text; "
             "unset: a default sentence."},
    {.name = "SYSTEM_PERIODIC_REMOVE_SUBCODE",
     .type = KNOB_EXPR,
     .help = "The subcode recorded when SYSTEM_PERIODIC_REMOVE removes a job, an expression for a "
             "number."},
    {.name = "SYSTEM_PERIODIC_REMOVE_NAMES",
     .type = KNOB_LIST,
     .fallback = "",
     .help = "Names of further expressions SYSTEM_PERIODIC_REMOVE_<name>; they are evaluated in "
             "this order, before SYSTEM_PERIODIC_REMOVE."},
    {.name = "SYSTEM_PERIODIC_VACATE",
     .type = KNOB_EXPR,
     .fallback = "false",
     .help = "A running job is evicted from its slot when this expression is true in its ad."},
    {.name = "SYSTEM_PERIODIC_VACATE_REASON",
     .type = KNOB_EXPR,
     .help = "The reason recorded when SYSTEM_PERIODIC_VACATE evicts a job, an expression for a "
             "text; unset: a default sentence."},
    {.name = "SYSTEM_PERIODIC_VACATE_SUBCODE",
     .type = KNOB_EXPR,
     .help = "The subcode recorded when SYSTEM_PERIODIC_VACATE evicts a job, an expression for a "
             "number."},
    {.name = "SYSTEM_PERIODIC_VACATE_NAMES",
     .type = KNOB_LIST,
     .fallback = "",
     .help = "Names of further expressions SYSTEM_PERIODIC_VACATE_<name>; they are evaluated in "
             "this order, before SYSTEM_PERIODIC_VACATE."},
    {.name = "SYSTEM_JOB_MACHINE_ATTRS",
     .type = KNOB_LIST,
     .fallback = "",
     .help = "Attributes of the slot that every job records as MachineAttr<name>0, besides those "
             "of its own JobMachineAttrs; a change applies to slots that are claimed after it."},
    {.name = "QUEUE_SUPER_USERS",
     .type = KNOB_LIST,
     .fallback = "",
     .help =
         "Users who may act on and edit the jobs of all users, each as NAME@DOMAIN: the "
         "identity of the user's token, or ACCOUNT@UID_DOMAIN for a user of the Unix socket.  A "
         "name without a domain is refused.  Root over the Unix socket and tokens with the scope "
         "ADMINISTRATOR need no entry."},
    {.name = "IMMUTABLE_JOB_ATTRS",
     .type = KNOB_LIST,
     .fallback = "",
     .help = "Attributes of a job that nobody may change after submission."},
    {.name = "SYSTEM_IMMUTABLE_JOB_ATTRS",
     .type = KNOB_LIST,
     .fallback = "Owner ClusterId ProcId MyType TargetType",
     .help = "More names for IMMUTABLE_JOB_ATTRS; meant to stay at its default.  Attributes that "
             "the schedd itself maintains cannot be changed either."},
    {.name = "PROTECTED_JOB_ATTRS",
     .type = KNOB_LIST,
     .fallback = "",
     .help = "Attributes of a job that only QUEUE_SUPER_USERS may change after submission."},
    {.name = "SYSTEM_PROTECTED_JOB_ATTRS",
     .type = KNOB_LIST,
     .fallback = "",
     .help = "More names for PROTECTED_JOB_ATTRS; meant for the configuration files of software "
             "packages that a site installs."},
    {.name = "PRIO",
     .type = KNOB_EXPR,
     .fallback = "(UserPrio * 10) + $(EXPANDED) - (QDate / 1000000000.0)",
     .help = "Orders the jobs that fit a match, highest value first.  UserPrio is the job's "
             "JobPrio; Expanded is 1 once the job has run.  The value is 0 for a job in which the "
             "expression takes more than 2,000 steps (docs/CLASSAD.md, Limits)."},
    {.name = "EXPANDED",
     .type = KNOB_STRING,
     .fallback = "Expanded",
     .help = "The expression that $(EXPANDED) in PRIO is replaced by: the attribute Expanded, "
             "which is 1 once the job has run."},
    {.name = "SIGNIFICANT_ATTRIBUTES",
     .type = KNOB_LIST,
     .fallback = "",
     .help = "Further attributes by which jobs are grouped into autoclusters; a change applies to "
             "jobs submitted after it.  Attributes that the Requirements and Rank of the job or "
             "the policies of machines refer to count without being listed."},
};

static const struct knob_family FAMILIES[] = {
    {.prefix = "SYSTEM_PERIODIC_HOLD_",
     .written = "SYSTEM_PERIODIC_HOLD_<name>",
     .help = "An expression like SYSTEM_PERIODIC_HOLD; SYSTEM_PERIODIC_HOLD_NAMES must list its "
             "<name>.  "
             "SYSTEM_PERIODIC_HOLD_<name>_REASON and SYSTEM_PERIODIC_HOLD_<name>_SUBCODE give its "
             "reason "
             "and subcode.",
     .type = KNOB_EXPR},
    {.prefix = "SYSTEM_PERIODIC_RELEASE_",
     .written = "SYSTEM_PERIODIC_RELEASE_<name>",
     .help =
         "An expression like SYSTEM_PERIODIC_RELEASE; SYSTEM_PERIODIC_RELEASE_NAMES must list its "
         "<name>.  SYSTEM_PERIODIC_RELEASE_<name>_REASON and "
         "SYSTEM_PERIODIC_RELEASE_<name>_SUBCODE "
         "give its reason and subcode.",
     .type = KNOB_EXPR},
    {.prefix = "SYSTEM_PERIODIC_REMOVE_",
     .written = "SYSTEM_PERIODIC_REMOVE_<name>",
     .help =
         "An expression like SYSTEM_PERIODIC_REMOVE; SYSTEM_PERIODIC_REMOVE_NAMES must list its "
         "<name>.  SYSTEM_PERIODIC_REMOVE_<name>_REASON and SYSTEM_PERIODIC_REMOVE_<name>_SUBCODE "
         "give its reason and subcode.",
     .type = KNOB_EXPR},
    {.prefix = "SYSTEM_PERIODIC_VACATE_",
     .written = "SYSTEM_PERIODIC_VACATE_<name>",
     .help =
         "An expression like SYSTEM_PERIODIC_VACATE; SYSTEM_PERIODIC_VACATE_NAMES must list its "
         "<name>.  SYSTEM_PERIODIC_VACATE_<name>_REASON and SYSTEM_PERIODIC_VACATE_<name>_SUBCODE "
         "give its reason and subcode.",
     .type = KNOB_EXPR},
};

const struct knob_table schedd_knobs = {.owner = "SCHEDD",
                                        .knobs = KNOBS,
                                        .knob_count = ARRAY_COUNT(KNOBS),
                                        .families = FAMILIES,
                                        .family_count = ARRAY_COUNT(FAMILIES)};
