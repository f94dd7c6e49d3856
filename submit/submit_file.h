/* submit/submit_file.h - reads a submit file: settings, conditions, includes, queue statements.
 *
 * HTCondor's language.  A line is one of these: NAME = VALUE; +Attribute = EXPRESSION (the same as
 * MY.Attribute = EXPRESSION); NAME @=TAG with lines up to @TAG; if/elif/else/endif; include; error
 * or warning; a queue statement.  A queue statement makes jobs from the settings so far, once for
 * each item and count.  Macros in a value (submit_macro.h) are replaced when a job is made, so
 * later lines and the variables of the item count.  Only a setting's own name in its value is
 * replaced at once, by its value so far.  This file knows no commands; submit_job.c gives the
 * settings their meaning.
 *
 * A file is read from queue statement to queue statement.  The jobs of a statement are selected by
 * number, in any order.  submit_file_digest() writes what is needed to make these jobs elsewhere
 * and later: the schedd makes the jobs of a large cluster one by one from it.
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

/* most bytes of a submit file, without the terminating zero */
#define SUBMIT_FILE_MAX    ((size_t)16 << 20)
#define SUBMIT_NAMES_MAX   10000
#define SUBMIT_JOBS_MAX    10000000 /* most jobs of one queue statement */
#define SUBMIT_IF_MAX      63       /* most levels of nested ifs */
#define SUBMIT_INCLUDE_MAX 20       /* most levels of nested includes */

/* Functions by which a submit file reaches its environment.  Each member except arg may be NULL:
 * without env and config, variables and macros count as not set; statements that need another
 * missing function are refused. */
struct submit_world {
    /* Reads a whole file into *text (freed with mem_free()): for `include : FILE` and `queue ...
     * from FILE`.  Returns 0, or a negative errno with err. */
    int (*read)(void *arg, const char *path, char **text, struct err *err);
    /* Runs a command and puts its output into *text (freed with mem_free()): for `include command :
     * ...` and `queue ... from CMD |`.  Returns 0, or a negative errno with err. */
    int (*run)(void *arg, const char *command, char **text, struct err *err);
    /* Appends to names_vec, a struct vec, the names of files (if `files`) and directories (if
     * `dirs`) that match, sorted; each freed with mem_free().  For `queue ... matching PATTERN`.
     * Returns 0, or a negative errno with err. */
    int (*match)(void *arg, const char *pattern, bool files, bool dirs, void *names_vec,
                 struct err *err);
    /* Returns a variable of the submitter's environment; NULL: not set. */
    const char *(*env)(void *arg, const char *name);
    /* Returns a macro that the file does not set, from the configuration or about this machine;
     * NULL: none. */
    const char *(*config)(void *arg, const char *name);
    uint64_t (*random)(void *arg);
    void (*warn)(void *arg, const char *text);
    const char *cwd; /* directory of the submission, absolute */
    void *arg;
};

struct submit_source {
    const char *name;   /* name in messages: "job.sub" */
    const char *text;   /* text of the file; must live as long as the struct submit_file */
    const char *first;  /* lines to read before the file's text; NULL: none */
    const char *append; /* lines to read just before the file's first queue statement; NULL: none */
    const char *queue;  /* arguments of a queue statement, used if the file has none; NULL: none */
};

/* Opens a submit file for reading.  source and world are borrowed until submit_file_close(). */
struct submit_file *submit_file_open(const struct submit_source *source,
                                     const struct submit_world *world);
void submit_file_close(struct submit_file *file); /* NULL is allowed */

/* Reads up to the next queue statement.  Returns 1; 0 at the end of the file; or, with err (such as
 * "job.sub:12: ..."), -EINVAL (an error in the file) or -E2BIG (a limit was exceeded). */
int submit_file_read(struct submit_file *file, struct err *err);
/* Returns the number of jobs of the last queue statement. */
int64_t submit_file_jobs(const struct submit_file *file);
/* Selects job number `job` (from 0) of the last queue statement, and sets its ProcId to proc.
 * submit_file_value() then gets the values for this job. */
void submit_file_select(struct submit_file *file, int64_t job, int64_t proc);
/* Returns $(Row) of job number `job` (from 0) of the last queue statement: the index, from 0,
 * of its item among the items that the statement's SLICE leaves (without SLICE: all items). */
int64_t submit_file_row(const struct submit_file *file, int64_t job);
/* Returns how much work the selected job has cost since submit_file_select(), in bytes: the length
 * of each text in which macros were replaced, SUBMIT_MACRO_BYTES for each macro, and the length of
 * the job's item. */
size_t submit_file_work(const struct submit_file *file);
/* Returns how many commands and attributes the file sets. */
size_t submit_file_settings(const struct submit_file *file);
/* Appends a digest to out: the settings and the last queue statement as a text from which the same
 * jobs can be read without files, commands or conditions. */
void submit_file_digest(const struct submit_file *file, struct strbuf *out);

/* Gets the expanded value of a command or macro in *ret (freed with mem_free()), for the job that
 * submit_file_select() selected; *ret is NULL when `name` is not set.  Returns 0, or a negative
 * errno with err. */
int submit_file_value(struct submit_file *file, const char *name, char **ret, struct err *err);
/* The same for a command with another name, `alias` (may be NULL), which counts if `name` is not
 * set.  *line: the number of the line that sets the one that counts; 0: neither is set. */
int submit_file_value_of(struct submit_file *file, const char *name, const char *alias, char **ret,
                         unsigned *line, struct err *err);
/* Returns whether a value since the last call depended on the selected job (Process, Item, a
 * variable of the queue statement) or on chance. */
bool submit_file_varied(struct submit_file *file);
/* Returns the number of the line that sets `name`: the line of a setting, or of the queue statement
 * if name is one of its variables; 0 when the name is not set. */
unsigned submit_file_line(const struct submit_file *file, const char *name);
/* Walks all settings of the file; the caller sets *at = 0 before the first call.  Each call gets
 * the name and line of one setting.  *plus: true if the setting is written as +Name or MY.Name;
 * submit_file_value() knows it as "MY.<name>".  Returns false at the end. */
bool submit_file_walk(const struct submit_file *file, size_t *at, const char **name, bool *plus,
                      unsigned *line);
/* Walks the settings that nothing has used so far, which may be misspelt commands; the caller sets
 * *at = 0 before the first call.  Each call gets the name, value as written and line of one
 * setting.  Returns false at the end. */
bool submit_file_unused(const struct submit_file *file, size_t *at, const char **name,
                        const char **value, unsigned *line);
/* Returns whether $(ClusterId) was used, so that the cluster's id must be known before the ads are
 * made. */
bool submit_file_uses_cluster(const struct submit_file *file);
/* Sets the value of $(ClusterId). */
void submit_file_set_cluster(struct submit_file *file, int64_t cluster);
/* Returns how many queue statements were read so far. */
unsigned submit_file_queue_count(const struct submit_file *file);
/* Returns the line of the last queue statement; 0 if there was none in the file. */
unsigned submit_file_queue_line(const struct submit_file *file);

#endif
