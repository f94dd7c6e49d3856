/* submit/submit_making.h - struct submit_making, the job whose ad is being made, and functions that
 * all commands need.  For the parts of submit_job.c only.
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

/* Values of JobUniverse. */
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
    struct ad *ad; /* the new ad, chained to the first job's ad */
    bool is_first;
    const struct ad *first; /* ad of the file's first job; NULL while this ad is being made */
    int64_t proc;
    int64_t universe;
    bool is_docker, is_container;
    unsigned line; /* line in the submit file of the value read last; 0: none */
};

/* Gets the expanded value of the command `name`, or of its other name `alias` (may be NULL), in
 * *ret (freed with mem_free()); *ret is NULL when neither is set, or the value is empty.  Returns
 * 0, or a negative errno with err. */
int making_value(struct submit_making *making, const char *name, const char *alias, char **ret,
                 struct err *err);

/* Returns whether the universe is vanilla or standard, whose jobs are one program on one slot. */
bool making_is_for_machines(const struct submit_making *making);

/* Returns -EINVAL, with err "job.sub:LINE: ..." where LINE is the line of the value read
 * last. */
int making_refuse(const struct submit_making *making, struct err *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Gives the submitter a warning by submit_place.warn; does nothing if that is NULL. */
void making_warn(const struct submit_making *making, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Sets the attribute to the expression in text.  Returns 0, or -EINVAL with err. */
int making_expr(struct submit_making *making, const char *attribute, const char *text,
                struct err *err);
/* Sets the attribute to the value of the command `name` as an expression, if the command is set.
 * Returns 0, or a negative errno with err. */
int making_expr_of(struct submit_making *making, const char *name, const char *attribute,
                   struct err *err);

/* making_int() and making_bool() evaluate text, a literal or an expression of literals.  They
 * return false when the value is not an integer, or not a boolean. */
bool making_int(const char *text, int64_t *ret);
bool making_bool(const char *text, bool *ret);
/* Gets the boolean value of the command `name`, or of its other name `alias` (may be NULL). *is_set
 * (may be NULL) tells whether the command is set; if not, *ret is unchanged.  Returns 0, or a
 * negative errno with err. */
int making_bool_of(struct submit_making *making, const char *name, const char *alias, bool *ret,
                   bool *is_set, struct err *err);

/* Reads an amount such as "512" or "2.5 GB" into *ret, in units of `unit` bytes, rounded up; a
 * number without a unit counts in that unit.  Returns false when text is not an amount. */
bool making_amount(const char *text, int64_t unit, int64_t *ret);

/* Returns true when the expression in text needs parentheses before it is joined with op (&& or
 * ||). */
bool making_is_loose(const char *text, const char *op);

/* Splits text at any of the separators and appends the items (freed with mem_free()), without
 * blanks around them; empty items are left out. */
void making_split(const char *text, const char *separators, struct vec *items);
/* Appends the items to out, with commas between them. */
void making_join(const struct vec *items, struct strbuf *out);

/* Removes the blanks around text, then the double quotes around it.  Changes text in place and
 * returns a pointer into it. */
char *making_unquote(char *text);

/* Returns directory/path, or path alone when it is absolute, without doubled slashes; freed with
 * mem_free(). */
char *making_path(const char *directory, const char *path);
bool making_is_url(const char *text); /* true for "scheme://..." */
/* Returns the size of a file in KiB, rounded up; 0 for an absent file or a URL. */
int64_t making_size_kib(const struct submit_making *making, const char *path);

/* Returns the site's value of the knob, or `otherwise` (may be NULL) when it has none. */
const char *making_site(const struct submit_making *making, const char *knob,
                        const char *otherwise);

/* The steps of submit_job_make().  Each ..._set...() function sets the attributes of one topic, and
 * returns 0, or a negative errno with err. */

int universe_set(struct submit_making *making, struct err *err);
int universe_set_executable(struct submit_making *making, struct err *err);
int universe_set_parallel(struct submit_making *making, struct err *err);
/* Returns the machine attribute that the job's container image needs, such as "HasDockerURL"; NULL:
 * the job has no image. */
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
/* Sets the attributes of the commands for checkpoints and remote system calls.  To be called after
 * the other steps, because it reads attributes that they set, such as CheckpointExitCode. */
int checkpoint_set(struct submit_making *making, struct err *err);
/* Returns the requirement on machines for a job with checkpoints; NULL: the job wants none. */
const char *checkpoint_need(const struct ad *ad);
int transfer_set_input(struct submit_making *making, struct err *err);   /* In */
int transfer_set_outputs(struct submit_making *making, struct err *err); /* Out and Err */
int transfer_set_files(struct submit_making *making, struct err *err);
/* Checks that the job's files exist; to be called after all other steps.  Returns 0, or a negative
 * errno with err. */
int transfer_look(struct submit_making *making, struct err *err);
int requirements_set(struct submit_making *making, struct err *err);

#endif
