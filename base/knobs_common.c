/* base/knobs_common.c - what every daemon and tool of a pool shares.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/check.h"
#include "base/knob.h"

static const struct knob KNOBS[] = {
    /* The pool */
    {.name = "COLLECTOR_HOST",
     .type = KNOB_LIST,
     .fallback = "$(CONDOR_HOST:127.0.0.1)",
     .help = "Where the collector listens, HOST or HOST:PORT; several are tried in order."},
    {.name = "UID_DOMAIN",
     .type = KNOB_STRING,
     .fallback = "$(FULL_HOSTNAME:localhost)",
     .help = "Machines of one UID_DOMAIN share their accounts: a job runs there as its submitter."},

    /* Places */
    {.name = "LOCAL_DIR",
     .type = KNOB_PATH,
     .fallback = "/var/lib/roost",
     .help = "Directory below which this machine's own directories are."},
    {.name = "LOG",
     .type = KNOB_PATH,
     .fallback = "/var/log/roost",
     .help = "Directory of the log files."},
    {.name = "SPOOL",
     .type = KNOB_PATH,
     .fallback = "$(LOCAL_DIR)/spool",
     .help = "Directory of what must survive a restart; never on a network file system."},
    {.name = "EXECUTE",
     .type = KNOB_PATH,
     .fallback = "$(LOCAL_DIR)/execute",
     .help = "Directory of the running jobs' sandboxes."},
    {.name = "LOCK",
     .type = KNOB_PATH,
     .fallback = "$(LOCAL_DIR)/lock",
     .help = "Directory of the daemons' lock files."},
    {.name = "RUN",
     .type = KNOB_PATH,
     .fallback = "/run/roost",
     .help = "Directory of the daemons' local sockets."},
    {.name = "SBIN",
     .type = KNOB_PATH,
     .fallback = "/usr/local/bin",
     .help = "Directory of the daemons' programs."},
    {.name = "SEC_DIRECTORY",
     .type = KNOB_PATH,
     .fallback = "/etc/roost/security",
     .help = "Directory of certificates, keys and tokens."},
    {.name = "POOL_CA",
     .type = KNOB_PATH,
     .fallback = "$(SEC_DIRECTORY)/ca.pem",
     .help = "The pool's certificate authority: what the servers of the pool must show."},
    {.name = "POOL_KEYS",
     .type = KNOB_PATH,
     .fallback = "$(SEC_DIRECTORY)/keys",
     .help = "Directory of the public keys that tokens are checked with, <kid>.pub."},
    {.name = "TOKEN_FILE",
     .type = KNOB_PATH,
     .fallback = "$(SEC_DIRECTORY)/tokens/$(SUBSYSTEM:USER)",
     .help = "The token that this daemon or tool shows to those it dials."},
    {.name = "COLLECTOR_PORT",
     .type = KNOB_INT,
     .fallback = "9618",
     .min = 0,
     .max = 65535,
     .help = "Port of the collector where COLLECTOR_HOST names none."},

    {.name = "RESURRECT_MASTER",
     .type = KNOB_BOOL,
     .fallback = "true",
     .help = "Whether daemons start their master again when it died without stopping them."},

    /* Configuration itself */
    {.name = "LOCAL_CONFIG",
     .type = KNOB_LIST,
     .fallback = "",
     .help = "Files, and directories of *.conf files, read after the shared file; relative paths "
             "start at the shared file's directory."},
    {.name = "PERSISTENT_CONFIG_DIR",
     .type = KNOB_PATH,
     .fallback = "$(LOCAL_DIR)/config",
     .help = "Directory of what was set at run time, one file per daemon."},

    {.name = "KILLING_TIMEOUT",
     .type = KNOB_DURATION_S,
     .fallback = "30",
     .min = 1,
     .max = 86400,
     .help = "How long a job that was asked to end may take before it is killed, and its starter "
             "after that."},

    /* Words for policies, as the example policies use them */
    {.name = "MINUTE", .type = KNOB_INT, .fallback = "60", .help = "Seconds of a minute."},

    /* Logs */
    {.name = "ALL_DEBUG",
     .type = KNOB_STRING,
     .fallback = "info",
     .choices = "error|warn|info|debug|D_ERROR|D_ALWAYS|D_FULLDEBUG",
     .help = "What goes into the logs of daemons that have no <DAEMON>_DEBUG of their own."},
    {.name = "MAX_DEFAULT_LOG",
     .type = KNOB_SIZE_BYTES,
     .fallback = "10 MiB",
     .max = INT64_C(1) << 40,
     .help = "Size at which a log file is moved aside; 0 for never."},
    {.name = "MAX_NUM_DEFAULT_LOG",
     .type = KNOB_INT,
     .fallback = "1",
     .max = 1000,
     .unit = "files",
     .help = "How many old log files are kept of each daemon."},
    {.name = "CLASSAD_ENABLE_USER_HOME",
     .type = KNOB_BOOL,
     .fallback = "false",
     .help = "Whether userHome() in an expression may tell where the accounts of this machine have "
             "their homes."},
    {.name = "CLASSAD_USER_MAP_NAMES",
     .type = KNOB_LIST,
     .help = "The maps that userMap() in an expression may ask."},
};

static const struct knob_family FAMILIES[] = {
    {"CLASSAD_USER_MAPFILE_", "CLASSAD_USER_MAPFILE_<name>",
     "The file of the map of that name: in each line a method (usually `*`), a user or a "
     "/pattern/, and names."},
    {"CLASSAD_USER_MAPDATA_", "CLASSAD_USER_MAPDATA_<name>",
     "The lines of that map themselves, where there is no file."},
};

const struct knob_table knobs_common = {.owner = "",
                                        .knobs = KNOBS,
                                        .knob_count = ARRAY_COUNT(KNOBS),
                                        .families = FAMILIES,
                                        .family_count = ARRAY_COUNT(FAMILIES)};
