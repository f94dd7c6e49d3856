/* starter/knobs.c - what can be configured of a starter.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/check.h"
#include "base/knob.h"
#include "starter/starter.h"

static const struct knob KNOBS[] = {
    {.name = "SLOT_USER",
     .type = KNOB_STRING,
     .fallback = "nobody",
     .help = "The account of jobs whose owner has none here; used when the starter runs as root."},
    {.name = "JOB_RENICE_INCREMENT",
     .type = KNOB_INT,
     .fallback = "0",
     .min = 0,
     .max = 19,
     .help = "How much nicer than the daemons jobs run."},
    {.name = "JOB_NAMESPACES",
     .type = KNOB_STRING,
     .fallback = "auto",
     .choices = "auto|required|none",
     .help = "Whether a job has mounts and processes of its own: auto is wherever this machine can "
             "give them (what fails then holds the job of a starter that is root), required is "
             "never without: the job is held."},
    {.name = "JOB_SECCOMP",
     .type = KNOB_STRING,
     .fallback = "standard",
     .choices = "standard|strict|none",
     .help = "Which system calls jobs are refused: standard is what no job needs (kernel modules, "
             "bpf, keys, io_uring, the machine's clock and names, typing into terminals), strict "
             "also tracing, namespaces and mounts of their own; where a kernel cannot do it, "
             "strict holds the job."},
    {.name = "HIDDEN_FROM_JOBS",
     .type = KNOB_LIST,
     .help = "Directories that a job with namespaces finds empty, beside those of this machine's "
             "daemons, /run/user, /run/dbus, /run/screen and /dev/mqueue."},
    {.name = "MOUNT_UNDER_SCRATCH",
     .type = KNOB_LIST,
     .fallback = "/tmp,/var/tmp",
     .help = "Directories that a job with namespaces has to itself; one below which it names its "
             "program or its files stays the machine's."},
    {.name = "MOUNT_PRIVATE_DEV_SHM",
     .type = KNOB_BOOL,
     .fallback = "true",
     .help = "Whether a job with namespaces has a /dev/shm to itself."},
    {.name = "BASE_CGROUP",
     .type = KNOB_STRING,
     .fallback = "roost",
     .help = "The cgroup below our own in which each job gets one; empty: no cgroups."},
    {.name = "CGROUP_MEMORY_LIMIT_POLICY",
     .type = KNOB_STRING,
     .fallback = "hard",
     .choices = "hard|none",
     .help = "Whether a job that needs more memory than its slot has is held."},
    {.name = "DISABLE_SWAP_FOR_JOB",
     .type = KNOB_BOOL,
     .fallback = "false",
     .help = "Whether that limit counts swap, too."},
    {.name = "CGROUP_LIMIT_CPUS",
     .type = KNOB_BOOL,
     .fallback = "false",
     .help = "Whether a job never gets more CPUs than its slot has; false: only a larger share "
             "when all are busy."},
    {.name = "ENFORCE_CPU_AFFINITY",
     .type = KNOB_BOOL,
     .fallback = "false",
     .help = "Whether jobs run on the CPUs of SLOT<n>_CPU_AFFINITY only, where ASSIGN_CPU_AFFINITY "
             "gives them none."},
    {.name = "JOB_MAX_PROCESSES",
     .type = KNOB_INT,
     .fallback = "4096",
     .min = 0,
     .max = 4194304,
     .unit = "processes",
     .help = "How many processes and threads a job may have at once; 0: any number."},
    {.name = "JOB_MAX_FILES",
     .type = KNOB_INT,
     .fallback = "1000000",
     .min = 0,
     .max = 1000000000,
     .unit = "files",
     .help = "A job with more files and directories in its scratch directories is held: a file "
             "system has only so many; 0: any number."},
    {.name = "STARTD_ENFORCE_DISK_LIMITS",
     .type = KNOB_BOOL,
     .fallback = "true",
     .help = "Whether a job whose directory becomes larger than its slot's Disk is held."},
    {.name = "USER_JOB_WRAPPER",
     .type = KNOB_PATH,
     .help = "A program that is run in place of each job, with the job's command line as its "
             "arguments; it says in the file _CONDOR_WRAPPER_ERROR_FILE why it did not become the "
             "job, which is then held."},
    {.name = "STARTER_DEFAULT_JOB_HOOK_KEYWORD",
     .type = KNOB_STRING,
     .help = "The word that the names of this machine's job hooks begin with, for jobs that name "
             "no other."},
    {.name = "STARTER_JOB_ENVIRONMENT",
     .type = KNOB_STRING,
     .help = "Environment of every job, as submit's environment command has it; a job's own wins."},
    {.name = "STARTER_NUM_THREADS_ENV_VARS",
     .type = KNOB_LIST,
     .fallback = "CUBACORES,GOMAXPROCS,JULIA_NUM_THREADS,MKL_NUM_THREADS,NUMEXPR_NUM_THREADS,"
                 "OMP_NUM_THREADS,OMP_THREAD_LIMIT,OPENBLAS_NUM_THREADS,PYTHON_CPU_COUNT,"
                 "ROOT_MAX_THREADS,TF_LOOP_PARALLEL_ITERATIONS,TF_NUM_THREADS",
     .help = "Names that tell a job's libraries how many CPUs it has."},
    {.name = "PERIODIC_CHECKPOINT",
     .type = KNOB_EXPR,
     .help =
         "When a job with `checkpoint = true` is checkpointed: looked at each second, MY is the "
         "slot (with LastPeriodicCheckpoint: when the last one was, or the run began), TARGET "
         "the job; unset, and nothing of the job's own (periodic_checkpoint): each 50 times of "
         "what the last one took."},
    {.name = "CHECKPOINT_INTERVAL_MIN",
     .type = KNOB_DURATION_S,
     .fallback = "3m",
     .min = 1,
     .max = 604800,
     .help = "Then: at least so long after the last one, or the job's start."},
    {.name = "CHECKPOINT_INTERVAL_MAX",
     .type = KNOB_DURATION_S,
     .fallback = "3h",
     .min = 1,
     .max = 604800,
     .help = "And at most."},
    {.name = "CHECKPOINT_TIMEOUT",
     .type = KNOB_DURATION_S,
     .fallback = "10m",
     .min = 1,
     .max = 86400,
     .help = "How long one may take until it is sent, before it is given up and the job goes on "
             "without."},
    {.name = "CHECKPOINT_TRANSFER_RATE",
     .type = KNOB_SIZE_BYTES,
     .fallback = "0",
     .unit = "bytes/s",
     .help = "How fast checkpoints are sent to the submit host; 0: as fast as it takes them."},
    {.name = "CHECKPOINT_INCREMENTAL",
     .type = KNOB_BOOL,
     .fallback = "true",
     .help = "What was not changed since the checkpoint before is not sent again, where the kernel "
             "can tell (Linux 6.7)."},
    {.name = "CHECKPOINT_COMPRESSION",
     .type = KNOB_STRING,
     .fallback = "zstd",
     .choices = "zstd|none",
     .help = "How checkpoints are packed for their way to the submit host, and for where they are "
             "kept there."},
    {.name = "CHECKPOINT_COPY_MAX",
     .type = KNOB_SIZE_BYTES,
     .fallback = "10 GiB",
     .help = "Of the files of a job up to so many bytes there is a copy in EXECUTE, so that it "
             "stands still for a checkpoint only until what changed is copied; of more, and where "
             "there is no room, until all are packed; 0: always so."},
    {.name = "CHECKPOINT_SANDBOX",
     .type = KNOB_PATH,
     .fallback = "/var/tmp/roost-job",
     .help =
         "Where a job with checkpoints finds its sandbox, on every machine of the pool: below a "
         "directory of MOUNT_UNDER_SCRATCH. It need not exist."},
    {.name = "STARTER_MAX_JOBS",
     .type = KNOB_INT,
     .fallback = "10000",
     .min = 1,
     .max = 1000000000,
     .unit = "jobs",
     .help = "How many jobs of a claim one starter runs, one after the other; 1: each job has a "
             "starter of its own.  One whose job did not end as it should takes no other."},
    {.name = "STARTER_INITIAL_UPDATE_INTERVAL",
     .type = KNOB_DURATION_S,
     .fallback = "8",
     .min = 1,
     .max = 86400,
     .help = "When a job's usage is first told to its schedd."},
    {.name = "STARTER_UPDATE_INTERVAL",
     .type = KNOB_DURATION_S,
     .fallback = "300",
     .min = 1,
     .max = 86400,
     .help = "How often it is told from then on."},
};

static const struct knob_family FAMILIES[] = {
    {"*_USER", "SLOT<n>_USER",
     "The account for jobs of slot n in place of SLOT_USER; SLOT<n>_<m>_USER that of one dynamic "
     "slot."},
    {"*_CPU_AFFINITY", "SLOT<n>_CPU_AFFINITY",
     "The CPUs, from 0, of slot n for ENFORCE_CPU_AFFINITY: `0,2,4-7`; unset: n - 1."},
    {"*_HOOK_PREPARE_JOB", "<keyword>_HOOK_PREPARE_JOB",
     "A program that is run before the job, in its sandbox and as its account, with the job ad on "
     "its standard input; if it fails the job is held."},
    {"*_HOOK_UPDATE_JOB_INFO", "<keyword>_HOOK_UPDATE_JOB_INFO",
     "A program that is run beside the job, there and as its account, with the job ad and what the "
     "job takes (JobState, JobPid, JobStartDate, NumPids, RemoteUserCpu ...) on its standard "
     "input, as often as that is told to its schedd (STARTER_UPDATE_INTERVAL). It may fail."},
    {"*_HOOK_JOB_EXIT", "<keyword>_HOOK_JOB_EXIT",
     "The same as the first, after the job has ended, with how it ended (ExitCode ...); its exit "
     "status does not matter."},
};

const struct knob_table starter_knobs = {.owner = "STARTER",
                                         .knobs = KNOBS,
                                         .knob_count = ARRAY_COUNT(KNOBS),
                                         .families = FAMILIES,
                                         .family_count = ARRAY_COUNT(FAMILIES)};
