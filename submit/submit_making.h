/* submit/submit_making.h - the job that is being made, and what all commands need: the value of a
 * command, attributes of it, a refusal that names the line.  For the parts of submit_job.c only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SUBMIT_SUBMIT_MAKING_H
#define SUBMIT_SUBMIT_MAKING_H

#include <stdbool.h>
#include <stdint.h>

struct ad;
struct err;
struct strbuf;
struct submit_file;
struct submit_place;
struct vec;

/* Numbers of JobUniverse. */
enum submit_universe {
    UNIVERSE_STANDARD = 1,
    UNIVERSE_VANILLA = 5,
    UNIVERSE_SCHEDULER = 7,
    UNIVERSE_MPI = 8,
    UNIVERSE_GRID = 9,
    UNIVERSE_JAVA = 10,
    UNIVERSE_PARALLEL = 11,
    UNIVERSE_LOCAL = 12,
    UNIVERSE_VM = 13
};

struct submit_making {
    struct submit_file *file;
    const char *file_name;
    const struct submit_place *place;
    struct ad *ad; /* chained to that of the first job */
    bool is_first;
    const struct ad *first; /* NULL while this is it */
    int64_t proc;
    int64_t universe;
    bool is_docker, is_container;
    unsigned line; /* of the value that was looked up last; 0: none */
};

/* The value of a command, expanded (mem_free); NULL: neither it nor alias (may be NULL) is set, or
 * it is empty. */
int making_value(struct submit_making *making, const char *name, const char *alias, char **ret,
                 struct err *err);

/* Vanilla or standard: one program on one slot. */
bool making_is_for_machines(const struct submit_making *making);

/* -EINVAL and "job.sub:LINE: ...", LINE being that of the last value. */
int making_refuse(const struct submit_making *making, struct err *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void making_warn(const struct submit_making *making, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* attribute = the expression that text is. */
int making_expr(struct submit_making *making, const char *attribute, const char *text,
                struct err *err);
/* The command's value as expression, if it has one. */
int making_expr_of(struct submit_making *making, const char *name, const char *attribute,
                   struct err *err);

/* What text stands for, a literal or an expression of literals; false: it does not. */
bool making_int(const char *text, int64_t *ret);
bool making_bool(const char *text, bool *ret);
/* The command's truth; *ret stays when it is not set.  is_set may be NULL. */
int making_bool_of(struct submit_making *making, const char *name, const char *alias, bool *ret,
                   bool *is_set, struct err *err);

/* "512", "2.5 GB": in units of `unit` bytes, rounded up; without unit that many units.  false: it
 * is no such amount. */
bool making_amount(const char *text, int64_t unit, int64_t *ret);

/* Does the expression bind less tightly than op, && or ||, so that it needs parentheses beside it?
 */
bool making_is_loose(const char *text, const char *op);

/* Splits at any of separators, takes blanks off, leaves empty ones out; mem_ blocks. */
void making_split(const char *text, const char *separators, struct vec *items);
/* The items with commas between them. */
void making_join(const struct vec *items, struct strbuf *out);

/* text without blanks around it, and without double quotes around that; in place. */
char *making_unquote(char *text);

/* directory/path unless path is absolute, without doubled slashes; mem_free it. */
char *making_path(const char *directory, const char *path);
bool making_is_url(const char *text);
/* Size of the file in KiB, rounded up; 0 for what is not there. */
int64_t making_size_kib(const struct submit_making *making, const char *path);

/* The site's default; otherwise when it has none (may be NULL). */
const char *making_site(const struct submit_making *making, const char *knob,
                        const char *otherwise);

/* ---- the steps, in the order of their calls; each is one topic's file ------------------------ */

int universe_set(struct submit_making *making, struct err *err);
int universe_set_executable(struct submit_making *making, struct err *err);
int universe_set_parallel(struct submit_making *making, struct err *err);
/* docker:// and the like; NULL: it is a file or directory that is sent. */
const char *universe_image_need(const struct ad *ad);
int words_set_arguments(struct submit_making *making, struct err *err);
int words_set_environment(struct submit_making *making, struct err *err);
int policy_set_status(struct submit_making *making, struct err *err);
int policy_set_notification(struct submit_making *making, struct err *err);
int policy_set_rank(struct submit_making *making, struct err *err);
int policy_set_queue_rules(struct submit_making *making, struct err *err);
int policy_set_signals(struct submit_making *making, struct err *err);
int policy_set_deferral(struct submit_making *making, struct err *err);
bool policy_needs_deferral(const struct submit_making *making);
int retries_set(struct submit_making *making, struct err *err);
int charge_set_limits(struct submit_making *making, struct err *err);
int charge_set_account(struct submit_making *making, struct err *err);
int resources_set(struct submit_making *making, struct err *err);
int resources_set_sizes(struct submit_making *making, struct err *err);
int resources_set_properties(struct submit_making *making, struct err *err);
int checkpoint_set(struct submit_making *making, struct err *err); /* after all but what follows */
/* What the machines must have on which it runs; NULL: nothing for checkpoints. */
const char *checkpoint_need(const struct ad *ad);
int transfer_set_streams(struct submit_making *making, struct err *err);
int transfer_set_files(struct submit_making *making, struct err *err);
int transfer_look(struct submit_making *making, struct err *err); /* after all others */
int requirements_set(struct submit_making *making, struct err *err);

#endif
