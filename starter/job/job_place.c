/* starter/job/job_place.c - the account, the directory and the environment in which the job's
 * programs run.
 *
 * If we are root, the job runs as its owner where the domains agree, else as SLOT_USER, and never
 * as root.  Otherwise it runs as our own account.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "starter/job/job_place.h"

#include <errno.h>
#include <string.h>

#include "base/config/config.h"
#include "base/err.h"
#include "base/os/os.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "starter/job/cage_plan.h"
#include "starter/job_run.h"
#include "starter/starter.h"
#include "starter/starter_plan.h"
#include "wire/root_jobs.h"

/* Finds the account that SLOT1_2_USER, or SLOT1_USER, or SLOT_USER names. */
static int find_slot_user(struct starter *starter, struct err *err)
{
    const struct config *config = starter->env.config;
    char knobs[2][CAGE_KNOB_SIZE];
    const char *name = "SLOT_USER", *account = NULL;
    cage_plan_slot_knobs(ad_string_or(starter->run.record, "SlotName", ""), "USER", knobs);
    for (size_t i = 0; i < 2 && account == NULL; i++) {
        account = knobs[i][0] != '\0' ? config_text(config, knobs[i]) : NULL;
        name = account != NULL ? knobs[i] : name;
    }
    account = account != NULL ? account : config_string(config, "SLOT_USER");
    int rc = os_user_find(starter->env.os, account, &starter->run.account.uid,
                          &starter->run.account.gid, err);
    if (rc == 0 && !starter_plan_may_run_as(starter->run.account.uid, starter->run.account.gid)) {
        rc = err_set(err, -EPERM,
                     "%s: jobs never run as root or in root's group; name another account", name);
    }
    return rc;
}

static int choose_account(struct starter *starter, struct err *err)
{
    const struct config *config = starter->env.config;
    const struct ad *job;
    const char *account = NULL;
    if (ad_get_ad(starter->run.record, "Job", &job) == 0) {
        bool may =
            ad_bool_or(starter->run.record, "MayRunAsOwner", false); /* the startd has judged */
        int rc = root_jobs_judge(starter->env.os, job, err);
        if (rc != 0) {
            return rc;
        }
        account = may ? starter_plan_account(job, config_string(config, "UID_DOMAIN")) : NULL;
    }
    if (os_uid(starter->env.os) != 0) {
        char me[256];
        starter->run.account.is_owner =
            account != NULL &&
            os_user_name(starter->env.os, os_uid(starter->env.os), me, sizeof me, NULL) == 0 &&
            strcmp(me, account) == 0;
        return 0;
    }
    starter->run.account.change_user = true;
    if (account != NULL &&
        os_user_find(starter->env.os, account, &starter->run.account.uid, &starter->run.account.gid,
                     NULL) == 0 &&
        starter_plan_may_run_as(starter->run.account.uid, starter->run.account.gid)) {
        starter->run.account.is_owner = true;
        return 0;
    }
    return find_slot_user(starter, err);
}

int job_place_prepare(struct starter *starter, bool has_sandbox, struct err *err)
{
    int rc = choose_account(starter, err);
    if (has_sandbox) {
        return rc;
    }
    rc = rc != 0 ? rc : os_remove_tree(starter->env.os, starter->run.sandbox, err);
    return rc != 0 ? rc : os_mkdirs(starter->env.os, starter->run.sandbox, 0700, err);
}

/* The sandbox belongs to the account only while the job runs.  Before and after, other processes of
 * that account (SLOT_USER has many) could put links there for us to follow as root. */
int job_place_hand_over(struct starter *starter, struct err *err)
{
    return starter->run.account.change_user
               ? os_chown(starter->env.os, starter->run.sandbox, starter->run.account.uid,
                          starter->run.account.gid, err)
               : 0;
}

int job_place_take_back(struct starter *starter, struct err *err)
{
    int rc = starter->run.account.change_user
                 ? os_chown(starter->env.os, starter->run.sandbox, 0, 0, err)
                 : 0;
    rc = rc != 0 ? rc : os_chmod(starter->env.os, starter->run.sandbox, 0700, err);
    return rc == -ENOENT && !starter->run.account.change_user ? 0
                                                              : rc; /* removed: it has no output */
}

const char *job_place_directory(const struct starter *starter)
{
    if (job_run_is_remote(starter)) {
        return starter->run.sandbox; /* of what is here; its own is in its view */
    }
    bool transferred =
        ad_name_compare(ad_string_or(starter->run.job, "ShouldTransferFiles", "YES"), "NO") != 0;
    return transferred ? job_run_inside(starter)
                       : ad_string_or(starter->run.job, "Iwd", starter->run.sandbox);
}

int job_place_environment(struct starter *starter, struct vec *entries, struct err *err)
{
    const struct config *config = starter->env.config;
    const struct ad *slot = NULL;
    (void)ad_get_ad(starter->run.record, "Slot", &slot); /* one CPU without it */
    const struct starter_place place = {
        .sandbox = job_run_is_remote(starter) ? "/tmp" : job_run_inside(starter),
        .directory = starter->run.directory,
        .slot = ad_string_or(starter->run.record, "SlotName", ""),
        .boot_id = ad_string_or(starter->run.record, "BootId", ""),
        .boot_time_s = ad_int_or(starter->run.record, "BootTime", 0),
        .cpus = slot != NULL ? ad_int_or(slot, "Cpus", 1) : 1,
        .machine = slot,
        .threads = config_list(config, "STARTER_NUM_THREADS_ENV_VARS", NULL),
        .site = config_string(config, "STARTER_JOB_ENVIRONMENT"),
        .wrapper_errors =
            config_path(config, "USER_JOB_WRAPPER") != NULL ? JOB_PLACE_WRAPPER_ERRORS : NULL,
    };
    return starter_plan_env(starter->run.job, &place, entries, err);
}

struct os_spawn job_place_spec(const struct starter *starter)
{
    return (struct os_spawn){.new_session = true,
                             .no_new_privs = true,
                             .change_user = starter->run.account.change_user,
                             .uid = starter->run.account.uid,
                             .gid = starter->run.account.gid};
}
