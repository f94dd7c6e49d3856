/* starter/ckpt/ckpt_program.c - the program roost-ckpt: in front of the job's program, and beside
 * the job.
 *
 * A job with checkpoints runs below a process of `roost-ckpt run`, or of its image.  So the process
 * that we see end is not the job.  If somebody kills only that process, the job has not ended: it
 * must continue from its latest checkpoint.  To tell the difference, that process writes to a file
 * that it has begun and, when it knows how the job ended, that the job has ended.  If it writes
 * nothing it is of an older version, and its exit status is believed.
 *
 * Programs beside the job run as its account, in the run's directory.  They carry the run's mark in
 * their environment: when a startd finds us dead, it kills them together with what else is left.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "starter/ckpt/ckpt_program.h"

#include <stdio.h>
#include <string.h>

#include "base/config/config.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/os/os_below.h"
#include "base/strbuf.h"
#include "starter/ckpt/checkpoint.h"
#include "starter/job/job_end.h"
#include "starter/job/job_place.h"
#include "starter/job_run.h"
#include "starter/starter.h"
#include "wire/checkpoint_attrs.h"

#define OUTCOME "outcome" /* in the directory of images */
#define BEGAN   "began"   /* ckpt/stub/keeper.h */

void ckpt_program_words(struct starter *starter, struct vec *argv)
{
    static const char *const WORDS[] = {"run", "--"};
    struct vec words = {0};
    vec_push(&words, mem_strdup(config_path(starter->env.config, "CKPT_PROGRAM")));
    for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++) {
        vec_push(&words, mem_strdup(WORDS[i]));
    }
    for (size_t i = 0; i < argv->count; i++) {
        vec_push(&words, argv->items[i]);
    }
    vec_fini(argv, NULL);
    *argv = words;
}

void ckpt_program_environment(const struct starter *starter, struct vec *entries)
{
    char *path = job_run_image_inside(starter, OUTCOME);
    struct strbuf entry;
    strbuf_init(&entry, 0);
    strbuf_printf(&entry, CKPT_ENV_OUTCOME "=%s", path);
    vec_push(entries, strbuf_take(&entry));
    strbuf_fini(&entry);
    mem_free(path);
}

bool ckpt_program_was_killed(struct starter *starter)
{
    struct os_file *file = NULL;
    char said[sizeof BEGAN] = "";
    if (!starter->run.ckpt.wanted || job_run_is_remote(starter) ||
        os_below_open(starter->env.os, starter->run.directory, STARTER_CKPT_DIRECTORY "/" OUTCOME,
                      OS_READ, 0, &file, NULL) != 0) {
        return false;
    }
    ssize_t length = os_file_read(file, 0, said, sizeof said - 1);
    os_file_close(file);
    if (length != (ssize_t)strlen(BEGAN) || strcmp(said, BEGAN) != 0) {
        return false;
    }
    char why[100];
    (void)snprintf(why, sizeof why, "roost-ckpt, which runs the job, was ended by %s %d",
                   starter->run.process.exit.signal != 0 ? "signal" : "status",
                   starter->run.process.exit.signal != 0 ? starter->run.process.exit.signal
                                                         : starter->run.process.exit.status);
    job_end_still(starter);
    job_run_give_up(starter, why);
    return true;
}

int ckpt_program_run(struct starter *starter, const char *const *argv, const char *said,
                     const char *errors, os_exit_f on_exit, pid_t *ret, struct err *err)
{
    static const char *const ENVIRONMENT[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C",
                                              NULL};
    struct os_spawn spec = job_place_spec(starter);
    struct strbuf mark;
    strbuf_init(&mark, 0);
    strbuf_printf(&mark, "ROOST_STARTER_DIR=%s", starter->run.directory);
    const char *const more[] = {strbuf_text(&mark), NULL};
    spec.argv = argv;
    spec.env = ENVIRONMENT;
    spec.env_add = more;
    spec.cwd = starter->run.directory; /* tar's: it may go there, not list it */
    spec.stdout_path = said;
    spec.stderr_path = errors;
    spec.truncate_output = true;
    int rc = os_spawn(starter->env.os, &spec, on_exit, starter, ret, err);
    strbuf_fini(&mark);
    return rc;
}
