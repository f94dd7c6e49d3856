/* site/batch_text.h - what the texts of all batch systems have in common.
 *
 * Pure.  A batch is an array of tasks of its name, or several where the batch system allows no such
 * long arrays: "BATCH", "BATCH+1000" and so on.  So a listing of arrays and numbers of tasks tells
 * the names of glideins.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SITE_BATCH_TEXT_H
#define SITE_BATCH_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "site/site_request.h"

struct err;
struct strbuf;

#define BATCH_REASON_MAX 160

enum batch_life { BATCH_QUEUED, BATCH_HELD, BATCH_RUNNING, BATCH_ENDED };

/* A glidein, as a batch system lists it. */
struct batch_task {
    char name[SITE_NAME_MAX + 1]; /* of the glidein: "BATCH.N" */
    char id[48];                  /* as the program that cancels tasks knows it */
    enum batch_life life;
    char reason[BATCH_REASON_MAX]; /* held, ended: one line; else "" */
    bool leaves;                   /* it was cancelled, and is still there */
    char place[128];               /* where it runs, if the listing tells and anybody needs it */
};

/* Returns whether the word is in the list; whether the text contains a word of the list. */
bool batch_text_is_one_of(const char *word, const char *const *list, size_t count);
bool batch_text_contains(const char *text, const char *const *list, size_t count);

/* Makes the name of the array with the tasks number `offset` + 1 and so on of a batch. */
void batch_text_array_name(const char *batch, int64_t offset, char ret[SITE_NAME_MAX + 1]);
/* Makes the name of the glidein that is task `number` of the array.  Returns 0; or -EPROTO: not an
 * array of glideins. */
int batch_text_glidein_name(const char *array, int64_t number, char ret[SITE_NAME_MAX + 1]);
/* Appends the numbers, ascending, as "1-3,7". */
void batch_text_ranges(const int64_t *numbers, size_t count, struct strbuf *out);

/* Appends what all job scripts begin with: it sets $d to the directory with NAME.token and
 * NAME.out, $n to the name of the glidein, sends all output to NAME.out, and makes the words of the
 * pilot "$@".  variable: the one with the number of the task within its array. */
void batch_text_script(const struct site_request *request, const char *pilot, const char *directory,
                       int64_t offset, const char *variable, struct strbuf *out);

#endif
