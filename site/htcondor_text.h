/* site/htcondor_text.h - what HTCondor's programs print, and what they are given.
 *
 * Pure.  Each job carries the name of its glidein in the attribute RoostGlidein, which condor_q
 * prints as JSON.  A queue without such jobs makes condor_q print nothing at all.
 *
 * Sources: condor_submit(1), condor_q(1) and the list of job attributes of HTCondor 23.9.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SITE_HTCONDOR_TEXT_H
#define SITE_HTCONDOR_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "site/batch_common.h"
#include "site/batch_text.h"
#include "site/site.h"

struct err;
struct strbuf;

/* The argument of condor_q -attributes that gives what htcondor_text_jobs() reads. */
#define HTCONDOR_TEXT_ATTRIBUTES "ClusterId,ProcId,JobStatus,HoldReason,RoostGlidein"

/* Calls each() for each job that is a glidein.  Returns 0; or -EPROTO: not a complete listing. */
int htcondor_text_jobs(const char *json, size_t length,
                       void (*each)(void *arg, const struct batch_task *task), void *arg,
                       struct err *err);

/* Says what the standard error of condor_submit means, when condor_submit failed. */
enum site_result htcondor_text_refusal(const char *complaint);

/* Checks words "name=value" that become lines of a submit description.  Returns 0; or -EINVAL with
 * err: what a site may not say besides what this program says itself. */
int htcondor_text_extra(const char *const *words, size_t count, struct err *err);

/* What a submit description needs beside the request. */
struct htcondor_submission {
    const struct batch_array *array;
    const char *directory;        /* where NAME.token and NAME.out are */
    const char *requirements;     /* NULL: none of the site's own */
    const char *accounting_group; /* NULL: none */
    bool transfer;                /* HTCondor copies pilot and secret */
    const char *const *extra;     /* words of htcondor_text_extra() */
    size_t extra_count;
};

/* Appends the submit description. */
void htcondor_text_description(const struct htcondor_submission *submission, struct strbuf *out);

#endif
