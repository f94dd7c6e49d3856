/* site/batch_common.h - what a type of batch system is, and what all of them call.
 *
 * A type of batch system is a table (struct batch_kind): how tasks are listed, submitted and
 * cancelled.  site_batch.c does all else with it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SITE_BATCH_COMMON_H
#define SITE_BATCH_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "site/batch_text.h"
#include "site/site.h"
#include "site/site_programs.h"

struct strmap;

#define BATCH_ARRAY_MAX 1000 /* tasks of an array, where the batch system does not tell */

/* Tasks that are submitted together.  The glidein of a task has the number offset + that of the
 * task. */
struct batch_array {
    const struct site_request *request;
    const char *pilot; /* its path, absolute */
    int64_t offset;
    const int64_t *numbers; /* of the tasks, from 1, ascending */
    size_t count;
};

struct batch_kind {
    const char *const *passed; /* options that must not be empty, ended by NULL */
    /* Checks the words of the option `extra`.  Returns 0, or -EINVAL with err. */
    int (*check_extra)(const char *const *words, size_t count, struct err *err);
    /* Checks what only the batch system knows, after all options; NULL: nothing. */
    enum site_result (*check)(const struct site *site, struct err *err);
    bool joins_lines; /* its programs say in several lines why they fail */
    bool one_range;   /* the numbers of an array have no gaps */
    /* Adds a struct batch_task under the name of each glidein of the site, by batch_add_task(). */
    enum site_result (*list)(const struct site *site, struct strmap *tasks, struct err *err);
    /* Returns how many tasks an array may have, at most; 0: the batch system did not say. */
    int64_t (*array_max)(const struct site *site);
    enum site_result (*submit)(const struct site *site, const struct batch_array *array,
                               struct err *err);
    /* Begins the words of the program that cancels tasks; ids of tasks are appended. */
    void (*cancel)(const struct site *site, struct vec *words);
    /* Called for the tasks that had been cancelled before, and are still there; NULL: nothing is
     * to be done. */
    void (*cancel_again)(const struct site *site, const struct batch_task *const *tasks,
                         size_t count);
};

/* What site->own points at. */
struct batch_site {
    const struct batch_kind *kind;
    char *directory;
    struct vec extra;  /* char *: more words for the program that submits */
    int64_t array_max; /* most tasks of an array; 0: not known yet */
};

extern const struct batch_kind batch_slurm, batch_gridengine, batch_htcondor;
/* Names of their options, ended by NULL. */
extern const char *const batch_slurm_options[], *const batch_gridengine_options[],
                                                    *const batch_htcondor_options[];

/* Begins the words of a program, which is looked for in PATH. */
void batch_words_begin(struct vec *words, const char *program);
/* Append a word: prefix and value in one. */
void batch_words_push(struct vec *words, const char *prefix, const char *value);
void batch_words_push_number(struct vec *words, const char *prefix, int64_t number);
/* Runs a program of these words, which are freed, to its end.  site_program_fini() is the caller's.
 */
void batch_words_run(const struct site *site, struct vec *words, const char *input, size_t length,
                     struct site_program *ret);
/* Fills err with why a program did not succeed.  Returns whether it ran: then what it printed says
 * what that means. */
bool batch_why(const struct site_program *program, const char *name, struct err *err);

/* Adds a copy of the task, if it is a glidein of this site.  Of two with one name the one that has
 * not ended stays. */
void batch_add_task(const struct site *site, const struct batch_task *task, struct strmap *tasks);

#endif
