/* pcontrol/job_words_plan.h - the command "job": from its words to what is wanted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PCONTROL_JOB_WORDS_PLAN_H
#define PCONTROL_JOB_WORDS_PLAN_H

#include <stddef.h>

#include "pcontrol/pjob_wish.h"

struct err;

#define JOB_WORDS_TIMEOUT_MAX_S 31622400.0 /* a year */
#define JOB_WORDS_RETRIES_MAX   1000000
#define JOB_WORDS_PRIORITY_MAX  1000000000

/* Reads [-host NAME | +host NAME] [-timeout S] [-stdout NAME] [-stderr NAME] [-priority N]
 * [-retries N]
 * [--] ARGV...; words do not contain the command's own name.  Names of files stay as they are.
 * Returns 0 and fills *ret, which the caller frees with pjob_wish_fini(); or -EINVAL with err set.
 */
int job_words_read(char *const *words, size_t count, struct pjob_wish *ret, struct err *err);

#endif
