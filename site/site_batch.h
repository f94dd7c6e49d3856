/* site/site_batch.h - sites that are batch systems: what Slurm, Grid Engine and HTCondor share.
 *
 * A type of batch system is a table of operations (struct site_batch_kind); all else is done here:
 * what is listed already is not submitted again, long batches are cut, each task gets a file
 * NAME.token of mode 0600 in the site's directory, because job scripts and environments can be read
 * by others, and the files of glideins that are gone are removed.
 *
 * A file NAME.token is removed when its glidein has ended, or is not listed although it was
 * submitted long ago: a batch system that is slow may have a submission whose answer we did not
 * see.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SITE_SITE_BATCH_H
#define SITE_SITE_BATCH_H

#include <jansson.h>
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
struct site_array {
    const struct site_request *request;
    const char *pilot; /* its path, absolute */
    int64_t offset;
    const int64_t *numbers; /* of the tasks, from 1, ascending */
    size_t count;
};

struct site_batch_kind {
    bool joins_lines; /* its programs say in several lines why they fail */
    /* Adds a struct batch_task under the name of each glidein of the site, by batch_add_task(). */
    enum site_result (*list)(const struct site *site, struct strmap *tasks, struct err *err);
    /* Returns how many tasks an array may have, at most; 0: the batch system did not say. */
    int64_t (*array_max)(const struct site *site);
    enum site_result (*submit)(const struct site *site, const struct site_array *array,
                               struct err *err);
    /* Begins the words of the program that cancels tasks; ids of tasks are appended. */
    void (*cancel)(const struct site *site, struct vec *words);
    /* Called for the tasks that had been cancelled before, and are still there; NULL: nothing is
     * to be done. */
    void (*cancel_again)(const struct site *site, const struct batch_task *const *tasks,
                         size_t count);
};

/* What site->own points at. */
struct site_batch {
    const struct site_batch_kind *kind;
    char *directory;
    struct vec extra;  /* char *: more words for the program that submits */
    int64_t array_max; /* most tasks of an array; 0: not known yet */
};

/* ---- for the types --------------------------------------------------------------------------- */

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
/* Returns the path of NAME with this ending in the directory, which mem_free() frees. */
char *batch_file(const struct site *site, const char *name, const char *ending);

/* Checks the words of the option `extra`.  Returns 0, or -EINVAL with err. */
typedef int (*batch_check_extra_f)(const char *const *words, size_t count, struct err *err);

/* Checks the options `directory`, `array_max` and `extra`, and that those of the list `passed` are
 * not empty; makes the directory, and sets site->own. */
enum site_result batch_begin(struct site *site, const struct site_batch_kind *kind,
                             const char *const *passed, size_t passed_count,
                             batch_check_extra_f check_extra, json_t *answer, struct err *err);

/* ---- operations of the types, as struct site_type has them ----------------------------------- */

enum site_result batch_submit(struct site *site, const struct site_request *request, json_t *answer,
                              struct err *err);
enum site_result batch_look(struct site *site, json_t *answer, struct err *err);
enum site_result batch_remove(struct site *site, const struct site_request *request, json_t *answer,
                              struct err *err);
enum site_result batch_log(struct site *site, const char *name, char **text, struct err *err);
void batch_end(struct site *site);

#endif
