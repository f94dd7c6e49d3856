/* site/gridengine_text.h - what Grid Engine's programs print.
 *
 * Pure.  Glideins are listed by "qstat -xml", whose plain form cuts names to ten bytes.  libxml2
 * reads it: a listing that was cut off, or is anything else, is then not well-formed, and never
 * taken for a complete one.  A pending array is one element with ranges of tasks.
 *
 * Sources: qstat(1), qsub(1), qconf(1), sge_conf(5), sge_pe(5) of Grid Engine 8.1.9.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SITE_GRIDENGINE_TEXT_H
#define SITE_GRIDENGINE_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "site/batch_text.h"
#include "site/site.h"

struct err;

/* Calls each() for each task of an array with the name of a batch.  Returns 0; or -EPROTO: not a
 * complete listing, or more than 10 * SITE_COUNT_MAX tasks. */
int gridengine_text_tasks(const char *xml, size_t length,
                          void (*each)(void *arg, const struct batch_task *task), void *arg,
                          struct err *err);

/* Finds, in the output of "qstat -j", why this task ("12.3") is in state E.  Returns whether it is
 * there. */
bool gridengine_text_trouble(const char *jobs, const char *id, char ret[BATCH_REASON_MAX]);

/* Finds the line "NAME VALUE" in what qconf prints, and copies VALUE.  Returns false if the line is
 * not there, or VALUE is longer than size - 1 bytes. */
bool gridengine_text_value(const char *output, const char *name, char *ret, size_t size);
/* The same for a whole number that is not negative; -1: not there. */
int64_t gridengine_text_number(const char *output, const char *name);
/* Returns whether one of the lines of the output is exactly this. */
bool gridengine_text_has_line(const char *output, const char *line);

/* Says what the standard error of qsub means, when qsub failed. */
enum site_result gridengine_text_refusal(const char *complaint);

/* Checks the words of `extra`, which are options of qsub and their arguments.  Returns 0; or
 * -EINVAL with err: what a site may not give to qsub besides what this program gives itself. */
int gridengine_text_extra(const char *const *words, size_t count, struct err *err);

#endif
