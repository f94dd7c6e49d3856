/* pcontrol/knobs.c - the table of pcontrol's knobs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/check.h"
#include "base/err.h"
#include "base/knob.h"
#include "base/mem.h"
#include "base/shell_words.h"
#include "base/vec.h"
#include "pcontrol/knobs.h"

#include <string.h>

static int check_words(const char *text, struct err *err)
{
    struct vec words = {0};
    int rc = shell_words_parse(text, strlen(text), &words, err);
    vec_fini(&words, mem_free);
    return rc;
}

static const struct knob KNOBS[] = {
    {.name = "PCONTROL_COMMAND",
     .type = KNOB_STRING,
     .fallback = "ssh -T -o BatchMode=yes -o ConnectTimeout=20 -o ServerAliveInterval=15",
     .check = check_words,
     .help = "The command with which pcontrol starts PCONTROL_SHELL on a host, as words for a "
             "shell; %h in them is the host's name, which is appended if there is none."},
    {.name = "PCONTROL_SHELL",
     .type = KNOB_STRING,
     .fallback = "pclient",
     .not_empty = true,
     .check = check_words,
     .help = "The program that pcontrol starts on each host, with its options."},
    {.name = "PCONTROL_LEASE",
     .type = KNOB_DURATION_S,
     .fallback = "60",
     .min = 2,
     .max = 86400,
     .help = "A pclient that has not heard of pcontrol for so long ends itself and its job."},
    {.name = "PCONTROL_LEASE_MARGIN",
     .type = KNOB_DURATION_S,
     .fallback = "5",
     .min = 1,
     .max = 3600,
     .help = "So long after the lease of a lost pclient its job is started elsewhere."},
    {.name = "PCONTROL_CONNECT_TIMEOUT",
     .type = KNOB_DURATION_S,
     .fallback = "30",
     .min = 1,
     .max = 3600,
     .help = "Within this time a pclient must have answered, else its host is DOWN."},
    {.name = "PCONTROL_CONNECTS",
     .type = KNOB_INT,
     .fallback = "32",
     .min = 1,
     .max = 10000,
     .help = "So many hosts are connected to at the same time."},
    {.name = "PCONTROL_RETRY_MIN",
     .type = KNOB_DURATION_MS,
     .fallback = "1s",
     .min = 10,
     .max = 3600000,
     .help =
         "Wait after the first failure to connect to a host; it doubles with each further one."},
    {.name = "PCONTROL_RETRY_MAX",
     .type = KNOB_DURATION_MS,
     .fallback = "60s",
     .min = 10,
     .max = 86400000,
     .help = "The longest wait until a host that is DOWN is connected to again."},
    {.name = "PCONTROL_HUNG",
     .type = KNOB_DURATION_S,
     .fallback = "60",
     .min = 1,
     .max = 86400,
     .help = "A job is HUNG when its pclient has not answered for so long."},
    {.name = "PCONTROL_HUNG_JOBS",
     .type = KNOB_STRING,
     .fallback = "retry",
     .choices = "retry|report",
     .help = "What becomes of a HUNG job: it runs again elsewhere, or it is only shown as HUNG."},
    {.name = "PCONTROL_WANTHOST",
     .type = KNOB_DURATION_S,
     .fallback = "10",
     .min = 0,
     .max = 31622400,
     .help = "After this time a job with -host may run on another host; one with +host fails if "
             "its host is DOWN."},
    {.name = "PCONTROL_LOSSES_MAX",
     .type = KNOB_INT,
     .fallback = "10",
     .min = 0,
     .max = 1000000,
     .help = "A job whose host has been lost more often than this is CRASH."},
    {.name = "PCONTROL_BUFFER",
     .type = KNOB_SIZE_BYTES,
     .fallback = "1 MiB",
     .min = 1,
     .max = (int64_t)1 << 30,
     .help = "So many last bytes of a job's standard output, and of its standard error, are kept "
             "where no file is named."},
    {.name = "PCONTROL_BUFFERS",
     .type = KNOB_SIZE_BYTES,
     .fallback = "64 MiB",
     .min = 1,
     .max = (int64_t)1 << 34,
     .help = "The same for all jobs together; beyond it the output of the job that ended first is "
             "dropped."},
};

const struct knob_table pcontrol_knobs = {.owner = "PCONTROL",
                                          .knobs = KNOBS,
                                          .knob_count = ARRAY_COUNT(KNOBS)};
