/* submit/submit_file.h - a submit file: settings, conditions, includes, queue statements.
 *
 * HTCondor's language.  A line is NAME = VALUE, +Attribute = EXPRESSION (the same as
 * MY.Attribute = EXPRESSION), NAME @=TAG with lines up to @TAG, if/elif/else/endif, include,
 * error/warning, or a queue statement, which makes jobs of what was said so far, once for each item
 * and count.  Macros in a value (submit_macro.h) are replaced when a job is made, so later lines
 * and the item's variables count; only NAME's own name in its value is replaced at once, by what it
 * was. This file knows no command: submit_job.c gives them their meaning.
 *
 * Reading goes from queue statement to queue statement; its jobs are selected by number, in any
 * order.  submit_file_digest() writes what is needed to make them again elsewhere and later: the
 * schedd makes the jobs of a large cluster one by one from it.
 *
 *     struct submit_file *file = submit_file_open(&source, &world);
 *     while ((rc = submit_file_read(file, &err)) > 0)
 *         for (int64_t i = 0; i < submit_file_jobs(file); i++)
 *             submit_file_select(file, i, proc++), submit_file_value(file, "arguments", ...);
 *     submit_file_close(file);
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SUBMIT_SUBMIT_FILE_H
#define SUBMIT_SUBMIT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct strbuf;
struct submit_file;

#define SUBMIT_FILE_MAX    ((size_t)16 << 20) /* bytes */
#define SUBMIT_NAMES_MAX   10000
#define SUBMIT_JOBS_MAX    10000000 /* of one file */
#define SUBMIT_IF_MAX      63       /* ifs in ifs */
#define SUBMIT_INCLUDE_MAX 20       /* files that include files */

/* What the world gives; any member but arg may be NULL: then what needs it is refused, or empty. */
struct submit_world {
    /* The whole file (mem_ block): of `include : FILE` and `queue ... from FILE`. */
    int (*read)(void *arg, const char *path, char **text, struct err *err);
    /* What a command prints (mem_ block): of `include command : ...` and `queue ... from CMD |`. */
    int (*run)(void *arg, const char *command, char **text, struct err *err);
    /* Appends matching names (mem_ blocks), sorted, to a struct vec: `queue ... matching PATTERN`.
     */
    int (*match)(void *arg, const char *pattern, bool files, bool dirs, void *names_vec,
                 struct err *err);
    const char *(*env)(void *arg, const char *name);
    /* A macro that the file does not set: of the configuration, of this machine. */
    const char *(*config)(void *arg, const char *name);
    uint64_t (*random)(void *arg);
    void (*warn)(void *arg, const char *text);
    const char *cwd; /* of the submission, absolute */
    void *arg;
};

struct submit_source {
    const char *name;   /* for messages: "job.sub" */
    const char *text;   /* must live as long as the file */
    const char *first;  /* lines that come before the text; NULL: none */
    const char *append; /* lines that come before its first queue statement; NULL: none */
    const char *queue;  /* the arguments of a queue statement, for a text that has none; NULL */
};

struct submit_file *submit_file_open(const struct submit_source *source,
                                     const struct submit_world *world);
void submit_file_close(struct submit_file *file); /* NULL is allowed */

/* Reads to the next queue statement: 1; 0 at the end, -EINVAL with "job.sub:12: ...", -E2BIG. */
int submit_file_read(struct submit_file *file, struct err *err);
/* Of that statement. */
int64_t submit_file_jobs(const struct submit_file *file);
void submit_file_select(struct submit_file *file, int64_t job, int64_t proc);
int64_t submit_file_row(const struct submit_file *file, int64_t job); /* $(Row) of that job */
/* What was looked at since submit_file_select(), in bytes: macros (SUBMIT_MACRO_BYTES each at
 * least) and the job's item. */
size_t submit_file_work(const struct submit_file *file);
size_t submit_file_settings(const struct submit_file *file); /* commands and attributes set */
/* Settings and the statement, as a text that reads to the same jobs without looking at the world's
 * files, commands or conditions. */
void submit_file_digest(const struct submit_file *file, struct strbuf *out);

/* The value of a command or macro for the job at hand, expanded; NULL when it is not set.  mem_free
 * it. */
int submit_file_value(struct submit_file *file, const char *name, char **ret, struct err *err);
/* The line that set it, an item's variable counting; 0 when it is not set. */
unsigned submit_file_line(const struct submit_file *file, const char *name);
/* Walks what was set by the file; at = 0 first.  plus: written as +Name or MY.Name; its value is
 * submit_file_value() of "MY.<name>". */
bool submit_file_walk(const struct submit_file *file, size_t *at, const char **name, bool *plus,
                      unsigned *line);
/* Walks the settings that nothing looked at so far: misspelt commands?  at = 0 first. */
bool submit_file_unused(const struct submit_file *file, size_t *at, const char **name,
                        const char **value, unsigned *line);
/* $(ClusterId) was used so far: it must be known before the ads are made. */
bool submit_file_uses_cluster(const struct submit_file *file);
void submit_file_set_cluster(struct submit_file *file, int64_t cluster);
unsigned submit_file_queue_count(const struct submit_file *file); /* queue statements so far */
/* The line of the last one; 0: there was none, or it came from elsewhere. */
unsigned submit_file_queue_line(const struct submit_file *file);

#endif
