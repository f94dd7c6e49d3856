/* starter/knobs.c - the knobs of a starter.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/check.h"
#include "base/knob.h"
#include "base/knob_check.h"
#include "starter/starter.h"

static const struct knob KNOBS[] = {
    {.name = "SLOT_USER",
     .type = KNOB_STRING,
     .fallback = "nobody",
     .check = knob_check_account,
     .help = "The account for jobs whose owner has no account on this machine; used when the "
             "starter runs as root."},
    {.name = "JOB_RENICE_INCREMENT",
     .type = KNOB_INT,
     .fallback = "0",
     .min = 0,
     .max = 19,
     .help = "The nice value of jobs, relative to the daemons."},
    {.name = "JOB_SECCOMP",
     .type = KNOB_STRING,
     .fallback = "standard",
     .choices = "standard|strict|none",
     .help = "Which system calls jobs are refused. standard: those that no job needs (kernel "
             "modules, bpf, keys, io_uring, the machine's clock and names, typing into terminals); "
             "strict: also tracing, and namespaces and mounts of the job's own. Where the kernel "
             "has no seccomp, strict holds the job."},
    {.name = "HIDDEN_FROM_JOBS",
     .type = KNOB_LIST,
     .help = "Directories that a job with namespaces finds empty, in addition to those of this "
             "machine's daemons, /run/user, /run/dbus, /run/screen and /dev/mqueue."},
    {.name = "MOUNT_UNDER_SCRATCH",
     .type = KNOB_LIST,
     .fallback = "/tmp,/var/tmp",
     .help = "Directories of which a job with namespaces gets a private, empty copy in its "
             "sandbox. A directory that contains the job's program or files stays the machine's."},
    {.name = "MOUNT_PRIVATE_DEV_SHM",
     .type = KNOB_BOOL,
     .fallback = "true",
     .help = "Whether a job with namespaces gets a private /dev/shm."},
    {.name = "BASE_CGROUP",
     .type = KNOB_STRING,
     .fallback = "roost",
     .help = "The cgroup, below the starter's own, in which each job gets a cgroup; empty: no "
             "cgroups."},
    {.name = "CGROUP_MEMORY_LIMIT_POLICY",
     .type = KNOB_STRING,
     .fallback = "hard",
     .choices = "hard|none",
     .help = "hard: a job that uses more memory than its slot has is held; none: no limit."},
    {.name = "DISABLE_SWAP_FOR_JOB",
     .type = KNOB_BOOL,
     .fallback = "false",
     .help = "Whether the limit of CGROUP_MEMORY_LIMIT_POLICY is for memory and swap together, so "
             "that a job gets no swap in addition."},
    {.name = "CGROUP_LIMIT_CPUS",
     .type = KNOB_BOOL,
     .fallback = "false",
     .help = "Whether a job never gets more CPU time than its slot has CPUs; false: the limit "
             "applies only while all CPUs are busy."},
    {.name = "ENFORCE_CPU_AFFINITY",
     .type = KNOB_BOOL,
     .fallback = "false",
     .help = "Whether jobs are bound to the CPUs of SLOT<n>_CPU_AFFINITY, if ASSIGN_CPU_AFFINITY "
             "does not bind them."},
    {.name = "JOB_MAX_PROCESSES",
     .type = KNOB_INT,
     .fallback = "4096",
     .min = 0,
     .max = 4194304,
     .unit = "processes",
     .help = "How many processes and threads a job may have at the same time; 0: no limit."},
    {.name = "JOB_MAX_FILES",
     .type = KNOB_INT,
     .fallback = "1000000",
     .min = 0,
     .max = 1000000000,
     .unit = "files",
     .help = "How many files and directories a job may have in its scratch directories; a job with "
             "more is held, because the inodes of a file system are limited; 0: no limit."},
    {.name = "STARTD_ENFORCE_DISK_LIMITS",
     .type = KNOB_BOOL,
     .fallback = "true",
     .help = "Whether a job is held when its sandbox becomes larger than its slot's Disk."},
    {.name = "USER_JOB_WRAPPER",
     .type = KNOB_PATH,
     .help = "A program that is run in place of each job, with the job's command line as its "
             "arguments, and that then executes the job. If it cannot, it writes the reason into "
             "the file _CONDOR_WRAPPER_ERROR_FILE, and the job is held."},
    {.name = "STARTER_DEFAULT_JOB_HOOK_KEYWORD",
     .type = KNOB_STRING,
     .help =
         "The keyword of this machine's job hooks (<keyword>_HOOK_...) for jobs that name none."},
    {.name = "STARTER_JOB_ENVIRONMENT",
     .type = KNOB_STRING,
     .help = "Environment variables of every job, written as in submit's environment command; the "
             "job's own environment wins."},
    {.name = "STARTER_NUM_THREADS_ENV_VARS",
     .type = KNOB_LIST,
     .fallback = "CUBACORES,GOMAXPROCS,JULIA_NUM_THREADS,MKL_NUM_THREADS,NUMEXPR_NUM_THREADS,"
                 "OMP_NUM_THREADS,OMP_THREAD_LIMIT,OPENBLAS_NUM_THREADS,PYTHON_CPU_COUNT,"
                 "ROOT_MAX_THREADS,TF_LOOP_PARALLEL_ITERATIONS,TF_NUM_THREADS",
     .help =
         "Names of environment variables that tell a job's libraries how many CPUs the job has."},
    {.name = "PERIODIC_CHECKPOINT",
     .type = KNOB_EXPR,
     .help = "Whether a checkpoint of a job with `checkpoint = true` is taken now; evaluated each "
             "second, MY is the slot (LastPeriodicCheckpoint: time of the last checkpoint, or of "
             "the run's start), TARGET the job. If neither this nor the job's periodic_checkpoint "
             "is set, a checkpoint is taken after 50 times the duration of the last one."},
    {.name = "CHECKPOINT_INTERVAL_MIN",
     .type = KNOB_DURATION_S,
     .fallback = "3m",
     .min = 1,
     .max = 604800,
     .help = "Shortest time between two checkpoints, and between the start of a job and its first, "
             "when their time is not given by an expression."},
    {.name = "CHECKPOINT_INTERVAL_MAX",
     .type = KNOB_DURATION_S,
     .fallback = "3h",
     .min = 1,
     .max = 604800,
     .help = "Longest time between two checkpoints when their time is not given by an expression."},
    {.name = "CHECKPOINT_TIMEOUT",
     .type = KNOB_DURATION_S,
     .fallback = "10m",
     .min = 1,
     .max = 86400,
     .help = "How long a checkpoint may take until it is sent; after that it is given up and the "
             "job goes on without it."},
    {.name = "CHECKPOINT_TRANSFER_RATE",
     .type = KNOB_SIZE_BYTES,
     .fallback = "0",
     .unit = "bytes/s",
     .help = "How fast checkpoints are sent to the submit host; 0: no limit."},
    {.name = "CHECKPOINT_INCREMENTAL",
     .type = KNOB_BOOL,
     .fallback = "true",
     .help = "Whether only what changed since the last checkpoint is sent, if the kernel can tell "
             "(Linux 6.7 and later)."},
    {.name = "CHECKPOINT_COMPRESSION",
     .type = KNOB_STRING,
     .fallback = "zstd",
     .choices = "zstd|none",
     .help = "How checkpoints are compressed, both on the way to the submit host and in storage "
             "there."},
    {.name = "CHECKPOINT_COPY_MAX",
     .type = KNOB_SIZE_BYTES,
     .fallback = "10 GiB",
     .help = "Up to this size a job's files are copied into EXECUTE for a checkpoint, so that the "
             "job is stopped only while what changed is copied. Larger files, and files for which "
             "there is no space, keep the job stopped until all are packed; 0: always."},
    {.name = "CHECKPOINT_SANDBOX",
     .type = KNOB_PATH,
     .fallback = "/var/tmp/roost-job",
     .help =
         "The path at which a job with checkpoints sees its sandbox, the same on every machine of "
         "the pool; it must be below a directory of MOUNT_UNDER_SCRATCH, and need not exist."},
    {.name = "STARTER_MAX_JOBS",
     .type = KNOB_INT,
     .fallback = "10000",
     .min = 1,
     .max = 1000000000,
     .unit = "jobs",
     .help = "How many jobs of a claim one starter runs, one after the other; 1: each job has a "
             "starter of its own.  After a job that did not end normally a starter runs no further "
             "job."},
    {.name = "STARTER_INITIAL_UPDATE_INTERVAL",
     .type = KNOB_DURATION_S,
     .fallback = "8",
     .min = 1,
     .max = 86400,
     .help = "How long after its start a job's usage is first reported to its schedd."},
    {.name = "STARTER_UPDATE_INTERVAL",
     .type = KNOB_DURATION_S,
     .fallback = "300",
     .min = 1,
     .max = 86400,
     .help = "How often a job's usage is reported to its schedd after the first time."},
};

static const struct knob_family FAMILIES[] = {
    {.prefix = "*_USER",
     .written = "SLOT<n>_USER",
     .help =
         "The account for jobs of slot n in place of SLOT_USER; SLOT<n>_<m>_USER for one dynamic "
         "slot.",
     .check = knob_check_account},
    {.prefix = "SLOT*_CPU_AFFINITY", /* not ASSIGN_CPU_AFFINITY, which the startd has */
     .written = "SLOT<n>_CPU_AFFINITY",
     .help =
         "The CPUs of slot n for ENFORCE_CPU_AFFINITY, counted from 0: `0,2,4-7`; unset: n - 1.",
     .check = knob_check_cpus},
    {.prefix = "*_HOOK_PREPARE_JOB",
     .written = "<keyword>_HOOK_PREPARE_JOB",
     .help = "A program that is run before the job, in its sandbox and under its account, with the "
             "job ad "
             "on standard input; if it fails, the job is held."},
    {.prefix = "*_HOOK_UPDATE_JOB_INFO",
     .written = "<keyword>_HOOK_UPDATE_JOB_INFO",
     .help =
         "A program that is run every STARTER_UPDATE_INTERVAL while the job runs, in its sandbox "
         "and "
         "under its account. Standard input has the job ad and the job's usage (JobState, JobPid, "
         "JobStartDate, NumPids, RemoteUserCpu ...). Its exit status is ignored."},
    {.prefix = "*_HOOK_JOB_EXIT",
     .written = "<keyword>_HOOK_JOB_EXIT",
     .help =
         "A program that is run after the job has ended, in its sandbox and under its account, "
         "with "
         "the job ad and how the job ended (ExitCode ...) on standard input. Its exit status is "
         "ignored."},
};

const struct knob_table starter_knobs = {.owner = "STARTER",
                                         .knobs = KNOBS,
                                         .knob_count = ARRAY_COUNT(KNOBS),
                                         .families = FAMILIES,
                                         .family_count = ARRAY_COUNT(FAMILIES)};
