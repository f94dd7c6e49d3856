/* cli/submit_file.h - a submit file: commands, macros, queue statements.
 *
 * HTCondor's language.  A line is NAME = VALUE, +Attribute = EXPRESSION, or a queue statement,
 * which makes jobs of what was said so far, once for each item and count.  $(NAME) and
 * $(NAME:default) in a value are replaced when a job is made, so later lines and the item's
 * variables count; only $(NAME) in the value of NAME itself is replaced at once, by what it was.
 * $(DOLLAR) is a '$'.  This file knows no command: submit_job.c gives them their meaning.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_SUBMIT_FILE_H
#define CLI_SUBMIT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct submit_file;

#define SUBMIT_FILE_MAX  ((size_t)16 << 20) /* bytes */
#define SUBMIT_LINES_MAX 1000000
#define SUBMIT_NAMES_MAX 10000
#define SUBMIT_VALUE_MAX ((size_t)1 << 20) /* bytes of a value after expansion */
#define SUBMIT_JOBS_MAX  1000000           /* of one file */
#define SUBMIT_DEPTH_MAX 32                /* of macros in macros */
#define SUBMIT_STEPS_MAX 100000            /* macros replaced in one value */

/* What the world gives: files for `queue ... from FILE`, names for `queue ... matching PATTERN`;
 * both relative to the directory of submission. */
struct submit_world {
    /* The whole file (mem_ block). */
    int (*read)(void *arg, const char *path, char **text, struct err *err);
    /* Appends matching names (mem_ blocks), sorted. */
    int (*match)(void *arg, const char *pattern, bool files, bool dirs, void *names_vec,
                 struct err *err);
    void *arg;
};

/* Called for each job in order; get values by submit_file_value().  A negative errno ends the
 * reading and is returned. */
typedef int (*submit_job_f)(void *arg, struct submit_file *file, int64_t proc, struct err *err);

/* Reads text and calls each for every job.  name is for messages ("job.sub").  extra_queue: a queue
 * statement's arguments when the file has none, or NULL. 0, -EINVAL with "job.sub:12: ...", -E2BIG,
 * or what a callback returned. */
int submit_file_read(const char *name, const char *text, const char *extra_queue,
                     const struct submit_world *world, submit_job_f each, void *arg,
                     struct err *err);

/* The value of a command or macro for the job at hand, expanded; NULL when it is not set.  mem_free
 * it. */
int submit_file_value(struct submit_file *file, const char *name, char **ret, struct err *err);
/* The line that set it; 0 when it is not set. */
unsigned submit_file_line(const struct submit_file *file, const char *name);
/* Walks what was set by the file; at = 0 first.  plus: written as +Name or My.Name. */
bool submit_file_next(const struct submit_file *file, size_t *at, const char **name, bool *plus,
                      unsigned *line);
/* Whether the value differs from job to job is not known; whether $(ClusterId) was used so far is.
 */
bool submit_file_uses_cluster(const struct submit_file *file);
void submit_file_set_cluster(struct submit_file *file, int64_t cluster);

#endif
