/* submit/submit_job.h - makes the ad of a job from the commands of a submit file.
 *
 * HTCondor's commands, attributes and defaults (docs/SUBMIT.md).  The ad of a file's first job is
 * complete.  The ads of later jobs have only what is different, and ProcId and JobStatus.  As in
 * HTCondor, a later job gets all other attributes of the first job, even those that a second queue
 * statement no longer sets.
 *
 * To add a command that sets one attribute, add a row to COMMANDS in submit_command.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SUBMIT_SUBMIT_JOB_H
#define SUBMIT_SUBMIT_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ad;
struct err;
struct submit_file;

/* What the callback submit_place.look checks about a path. */
enum submit_look {
    SUBMIT_LOOK_EXECUTABLE, /* a program that can be sent: it exists, and is not a broken script */
    SUBMIT_LOOK_INPUT,      /* a file that can be read */
    SUBMIT_LOOK_OUTPUT,     /* a file that can be written, or can be made in its directory */
    SUBMIT_LOOK_LOG,        /* a file that can be written or made, and is not a symbolic link */
    SUBMIT_LOOK_DIRECTORY,  /* a directory that can be entered */
    /* a directory that a job can be allowed to write to, with everything below it: the submitter
     * owns it, or can write to it although not everybody can; not "/", and not above his home */
    SUBMIT_LOOK_GIVEN,
    SUBMIT_LOOK_HOME, /* sets *bytes: 1 for the home directory or a directory above it; else 0 */
    /* sets *bytes: size of a file, or of all files below a directory; 0 if absent */
    SUBMIT_LOOK_SIZE,
    SUBMIT_LOOK_WRAPPED /* sets *bytes: 1 for a program with the wrappers (relinked.h); else 0 */
};

/* Number of the knobs whose values submit_place.site() is asked for; submit_site_knobs has their
 * names. */
#define SUBMIT_SITE_COUNT 14
extern const char *const submit_site_knobs[SUBMIT_SITE_COUNT];

/* Where and by whom jobs are submitted. */
struct submit_place {
    const char *cwd;   /* working directory of roost submit, absolute */
    const char *file;  /* name of the submit file, for JobSubmitFile */
    const char *arch;  /* Arch of the submit machine, for the default Requirements */
    const char *opsys; /* OpSys of the submit machine, for the default Requirements */
    /* name of the user who submits, such as "alice", without a domain: default of
     * accounting_group_user; NULL: unknown */
    const char *user;
    /* true: `user` is the jobs' owner, and another accounting_group_user is refused */
    bool own_charge_only;
    const char *filesystem_domain; /* value of FileSystemDomain; NULL: not set in the job */
    char **env;                    /* environment for getenv; NULL-terminated; may be NULL */
    /* true: refuse commands that the pool does not obey yet, because a job whose policy would
     * remove it must not run without this policy */
    bool obeyed_only;
    /* Checks a path.  Returns 0 and, if `what` says so, sets *bytes; or a negative errno and err,
     * one line that names the path.  NULL: paths are not checked. */
    int (*look)(void *arg, enum submit_look what, const char *path, int64_t *bytes,
                struct err *err);
    /* Returns the site's value of a knob for defaults, such as JOB_DEFAULT_REQUESTMEMORY; NULL: use
     * HTCondor's default. */
    const char *(*site)(void *arg, const char *knob);
    /* Gets a warning for the submitter; NULL: warnings are dropped. */
    void (*warn)(void *arg, const char *text);
    void *arg;
};

/* What the jobs of a queue statement have in common, found out when its second job is made, so that
 * the others need only the steps whose values differ.  All bytes zero at first; the caller only
 * keeps it beside the file. */
struct submit_common {
    const struct ad *first; /* see submit_job_make() */
    unsigned queue;         /* number of the queue statement */
    bool is_usable;         /* false: each job is made with all steps */
    uint32_t steps;         /* a bit for each step that is made for each job */
    int64_t universe;
    bool is_docker, is_container;
};

/* Makes in *ret, owned by the caller, the ad of the job that submit_file_select() selected.
 * file_name: the file's name for error messages.  proc: the job's ProcId.  first: the ad of the
 * file's first job; NULL while that job's own ad is made; the caller must not change it then.
 * common: NULL: each job is made with all steps, and is the same.  Returns 0; or, with err, -EINVAL
 * ("job.sub:12: ...") or the error of place->look(). */
int submit_job_make(struct submit_file *file, const char *file_name,
                    const struct submit_place *place, int64_t proc, const struct ad *first,
                    struct submit_common *common, struct ad **ret, struct err *err);

/* Sets *ret to whether the schedd is to make the cluster's jobs one by one (max_materialize or
 * max_idle is set). *limit is max_materialize; -1 without it.  Returns 0, or -EINVAL with err. */
int submit_job_is_late(struct submit_file *file, bool *ret, int64_t *limit, struct err *err);

#endif
