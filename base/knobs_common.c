/* base/knobs_common.c - the knobs that every daemon and tool of a pool has.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/check.h"
#include "base/knob.h"
#include "base/knob_check.h"

static const struct knob KNOBS[] = {
    /* The pool */
    {.name = "COLLECTOR_HOST",
     .type = KNOB_LIST,
     .fallback = "$(CONDOR_HOST:127.0.0.1)",
     .min = 1,
     .max = INT64_MAX,
     .check = knob_check_address,
     .help = "Address of the collector, HOST or HOST:PORT; several are tried in order."},
    {.name = "UID_DOMAIN",
     .type = KNOB_STRING,
     .restart = true,
     .fallback = "$(FULL_HOSTNAME:localhost)",
     .not_empty = true,
     .check = knob_check_name,
     .help = "Machines with the same UID_DOMAIN share their accounts: a job runs there as its "
             "submitter."},
    {.name = "FILESYSTEM_DOMAIN",
     .type = KNOB_STRING,
     .fallback = "$(FULL_HOSTNAME:localhost)",
     .help = "Machines with the same FILESYSTEM_DOMAIN see the same files: jobs run there without "
             "file transfer."},

    {.name = "JOB_START_PROMISE",
     .type = KNOB_DURATION_MS,
     .fallback = "5s",
     .min = 0,
     .max = 86400000,
     .help =
         "An idle job and a free slot that match are a running job within this time, under the "
         "limits in force; otherwise the negotiator or the schedd logs the error promise.broken "
         "and counts it in its ad (StartPromisesBroken). 0: not watched."},

    /* Places */
    {.name = "LOCAL_DIR",
     .type = KNOB_PATH,
     .fallback = "/var/lib/roost",
     .help = "Directory that contains this machine's own directories (log, spool and others)."},
    {.name = "LOG",
     .type = KNOB_PATH,
     .restart = true,
     .fallback = "/var/log/roost",
     .help = "Directory of the log files."},
    {.name = "SPOOL",
     .type = KNOB_PATH,
     .restart = true,
     .fallback = "$(LOCAL_DIR)/spool",
     .help = "Directory of data that must survive a restart; never on a network file system."},
    {.name = "SPOOL_RESERVE",
     .type = KNOB_SIZE_BYTES,
     .fallback = "256 MiB",
     .help =
         "How much of SPOOL's disk is kept free for the job queue. New jobs and spooled input that "
         "would use it are refused, and so is output: after some tries its job is held, with the "
         "codes 12 and 28. 16 MiB of it are taken at once, in a file beside the queue that makes "
         "room for the queue's own changes if others fill the disk. The same amount is kept free "
         "on the disk of CHECKPOINT_DESTINATION; 0: none."},
    {.name = "EXECUTE",
     .type = KNOB_PATH,
     .fallback = "$(LOCAL_DIR)/execute",
     .help = "Directory of the running jobs' sandboxes."},
    {.name = "LOCK",
     .type = KNOB_PATH,
     .restart = true,
     .fallback = "$(LOCAL_DIR)/lock",
     .help = "Directory of the daemons' lock files."},
    {.name = "RUN",
     .type = KNOB_PATH,
     .restart = true,
     .fallback = "/run/roost",
     .help = "Directory of the daemons' local sockets."},
    {.name = "SBIN",
     .type = KNOB_PATH,
     .fallback = "$(PROGRAM_DIR:/usr/local/bin)",
     .help = "Directory of the daemons' programs; $(PROGRAM_DIR) is the directory of the program "
             "that reads the configuration."},
    {.name = "SEC_DIRECTORY",
     .type = KNOB_PATH,
     .fallback = "/etc/roost/security",
     .help = "Directory of certificates, keys and tokens."},
    {.name = "POOL_CA",
     .type = KNOB_PATH,
     .fallback = "$(SEC_DIRECTORY)/ca.pem",
     .help = "File with the certificate of the pool's certificate authority, which must have "
             "signed the certificates of the pool's servers."},
    {.name = "COLLECTOR_PIN",
     .type = KNOB_STRING,
     .check = knob_check_fingerprint,
     .help =
         "SHA-256 fingerprint of the collector's certificate, in hex. A host that has no POOL_CA "
         "file knows the collector by this fingerprint; it changes whenever the certificate does."},
    {.name = "POOL_KEYS",
     .type = KNOB_PATH,
     .fallback = "$(SEC_DIRECTORY)/keys",
     .help = "Directory of the public keys that tokens are checked with, files <kid>.pub."},
    {.name = "POOL_NAME",
     .type = KNOB_STRING,
     .fallback = "",
     .help = "The pool whose tokens this daemon accepts; empty: the pool of the daemon's own "
             "token; without a token: UID_DOMAIN."},
    {.name = "TOKEN_FILE",
     .type = KNOB_PATH,
     .fallback = "$(SEC_DIRECTORY)/tokens/$(SUBSYSTEM:USER)",
     .help = "File with the token of this daemon or tool, followed by the private key that the "
             "token is bound to."},
    {.name = "COLLECTOR_PORT",
     .type = KNOB_INT,
     .fallback = "9618",
     .min = 0,
     .max = 65535,
     .help = "Port of the collector where COLLECTOR_HOST names no port."},

    {.name = "RESURRECT_MASTER",
     .type = KNOB_BOOL,
     .restart = true,
     .fallback = "true",
     .help = "Whether daemons restart their master when it died without stopping them."},

    /* Configuration itself */
    {.name = "LOCAL_CONFIG",
     .type = KNOB_LIST,
     .fallback = "",
     .help = "Configuration files, and directories of *.conf files, that are read after the shared "
             "file; relative paths start at the shared file's directory."},
    {.name = "LOCAL_CONFIG_DIR",
     .type = KNOB_LIST,
     .fallback = "",
     .help = "Like LOCAL_CONFIG; read before the files of LOCAL_CONFIG_FILE."},
    {.name = "LOCAL_CONFIG_FILE",
     .type = KNOB_LIST,
     .fallback = "",
     .help = "Like LOCAL_CONFIG; read after LOCAL_CONFIG_DIR and before LOCAL_CONFIG."},
    {.name = "ENABLE_PERSISTENT_CONFIG",
     .type = KNOB_BOOL,
     .fallback = "false",
     .help = "Whether `roost config set` may change this machine's daemons, and whether values "
             "that it has set apply."},
    {.name = "SETTABLE_ATTRS_ADMINISTRATOR",
     .type = KNOB_LIST,
     .fallback = "START, SUSPEND, CONTINUE, PREEMPT, WANT_SUSPEND, WANT_VACATE, KILL, RANK, "
                 "MAXJOBRETIREMENTTIME, HIBERNATE, HIBERNATE_CHECK_INTERVAL, UNHIBERNATE, *_DEBUG",
     .help = "Names of knobs that a caller with the scope ADMINISTRATOR may set at run time; '*' "
             "and '?' stand for parts of names."},
    {.name = "SETTABLE_ATTRS_DAEMON",
     .type = KNOB_LIST,
     .fallback = "",
     .help = "Names of knobs that a caller with the scope SCHEDD or ROOSTER may set at run time."},
    {.name = "SETTABLE_ATTRS_NEGOTIATOR",
     .type = KNOB_LIST,
     .fallback = "",
     .help = "Names of knobs that a caller with the scope NEGOTIATOR may set at run time."},
    {.name = "SETTABLE_ATTRS_WRITE",
     .type = KNOB_LIST,
     .fallback = "",
     .help = "Names of knobs that a caller with the scope WRITE may set at run time."},
    {.name = "PERSISTENT_CONFIG_DIR",
     .type = KNOB_PATH,
     .fallback = "$(LOCAL_DIR)/config",
     .help = "Directory of the values that were set at run time, one file for each daemon."},

    {.name = "CKPT_PROGRAM",
     .type = KNOB_PATH,
     .fallback = "$(SBIN)/roost-ckpt",
     .help = "The program that takes checkpoints of jobs."},
    {.name = "RSYS_MOUNT_PROGRAM",
     .type = KNOB_PATH,
     .fallback = "$(SBIN)/roost-rsys-mount",
     .help =
         "The program that lets a job see the files of its submit machine (remote system calls)."},
    {.name = "RSYS_WRAP_LIBRARY",
     .type = KNOB_PATH,
     .fallback = "$(SBIN)/../lib/roost/roost_remote.so",
     .help = "The library that RSYS_MOUNT_PROGRAM gives to a job where FUSE is not available, if "
             "the job's program was linked with roost-compile --remote."},
    {.name = "JOB_NAMESPACES",
     .type = KNOB_STRING,
     .fallback = "auto",
     .choices = "auto|required|none",
     .help = "Whether a job gets mount and process namespaces of its own. auto: wherever this "
             "machine can create them (if a starter that runs as root fails to, the job is held); "
             "required: always, else the job is held; none: never."},
    {.name = "KILLING_TIMEOUT",
     .type = KNOB_DURATION_S,
     .fallback = "30",
     .min = 1,
     .max = 86400,
     .help = "How long a job that was asked to end may take before it is killed, and then how long "
             "its starter may take before it is killed."},

    /* Words for policies, as the example policies use them */
    {.name = "MINUTE",
     .type = KNOB_INT,
     .fallback = "60",
     .help = "The number of seconds in a minute, for use in other values: `15 * $(MINUTE)`."},

    /* Logs */
    {.name = "ALL_DEBUG",
     .type = KNOB_STRING,
     .fallback = "info",
     .choices = "error|warn|info|debug|D_ERROR|D_ALWAYS|D_FULLDEBUG",
     .help = "What goes into the logs of daemons that have no <DAEMON>_DEBUG of their own."},
    {.name = "MAX_DEFAULT_LOG",
     .type = KNOB_SIZE_BYTES,
     .restart = true,
     .fallback = "10 MiB",
     .max = INT64_C(1) << 40,
     .help = "Size at which a log file is rotated; 0: never."},
    {.name = "MAX_NUM_DEFAULT_LOG",
     .type = KNOB_INT,
     .restart = true,
     .fallback = "1",
     .max = 1000,
     .unit = "files",
     .help = "How many rotated log files of each daemon are kept."},
    {.name = "CLASSAD_ENABLE_USER_HOME",
     .type = KNOB_BOOL,
     .fallback = "false",
     .help = "Whether the ClassAd function userHome() returns home directories of this machine's "
             "accounts."},
    {.name = "SUBMIT_ROOT_AS",
     .type = KNOB_STRING,
     .fallback = "",
     .help = "The ordinary account that owns the jobs that root submits over the schedd's Unix "
             "socket, because jobs never run as root; it must be able to read and write their "
             "files.  Empty: root submits none."},
    {.name = "ACCOUNTING_MAP",
     .type = KNOB_STRING,
     .fallback = "",
     .help = "Name of a map (one of CLASSAD_USER_MAP_NAMES) that lists for each account the groups "
             "to which its jobs may be charged.  An entry GROUP allows the group with the account "
             "itself as the user; GROUP.* allows any user, and all groups below GROUP; * allows "
             "every group.  Empty: any group, with the account itself as the user."},
    {.name = "NICE_USER_ACCOUNTING_GROUP_NAME",
     .type = KNOB_STRING,
     .fallback = "nice-user",
     .help = "The accounting group of jobs submitted with nice_user."},
    {.name = "CLASSAD_USER_MAP_NAMES",
     .type = KNOB_LIST,
     .help = "Names of the maps that the ClassAd function userMap() can use."},
    {.name = "FILETRANSFER_PLUGINS",
     .type = KNOB_LIST,
     .restart = true,
     .help = "File transfer plug-ins, as in HTCondor: absolute paths of programs that fetch inputs "
             "that are URLs. A program that does not answer -classad within 20 s is not used; the "
             "log names it."},
    {.name = "FILETRANSFER_CURL",
     .type = KNOB_STRING,
     .fallback = "/usr/bin/curl",
     .restart = true,
     .help = "The program that fetches http, https and ftp URLs that no plug-in claims; empty: "
             "such URLs are not fetched."},
    {.name = "MAX_CONSTRAINT_STEPS",
     .type = KNOB_INT,
     .fallback = "500000000",
     .max = INT64_MAX,
     .unit = "steps",
     .help = "How many evaluation steps (docs/CLASSAD.md, Limits) the constraint of one request to "
             "the schedd or the collector may take, in all jobs or ads together; a request that "
             "takes more ends with an error, and the log names the caller.  0: no limit."},
};

static const struct knob_family FAMILIES[] = {
    {.prefix = "*_DEBUG",
     .written = "<DAEMON>_DEBUG",
     .help = "What goes into the log of the daemon that the knob's name begins with; values as in "
             "ALL_DEBUG."},
    {.prefix = "CLASSAD_USER_MAPFILE_",
     .written = "CLASSAD_USER_MAPFILE_<name>",
     .help = "The file of the map <name>. Each line has a method (usually `*`), a user or a "
             "/pattern/, and "
             "the names that the map gives."},
    {.prefix = "CLASSAD_USER_MAPDATA_",
     .written = "CLASSAD_USER_MAPDATA_<name>",
     .help = "The lines of the map <name> themselves, when the map has no file."},
};

const struct knob_table knobs_common = {.owner = "",
                                        .knobs = KNOBS,
                                        .knob_count = ARRAY_COUNT(KNOBS),
                                        .families = FAMILIES,
                                        .family_count = ARRAY_COUNT(FAMILIES)};
