/* submit/submit_job.c - from the commands of a submit file to the ad of a job: see submit_job.h.
 *
 * The order of the steps is part of the language: a later step overrides an earlier one, and reads
 * the attributes that are there.  For example, a +Attribute of the user replaces what a command
 * made, and Requirements takes all into account.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "submit/submit_job.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "submit/submit_command.h"
#include "submit/submit_file.h"
#include "submit/submit_making.h"

const char *const submit_site_knobs[SUBMIT_SITE_COUNT] = {
    "APPEND_RANK",
    "APPEND_REQUIREMENTS",
    "DEFAULT_JOB_MAX_RETRIES",
    "DEFAULT_RANK",
    "DEFAULT_UNIVERSE",
    "JOB_DEFAULT_LEASE_DURATION",
    "JOB_DEFAULT_NOTIFICATION",
    "JOB_DEFAULT_REQUESTCPUS",
    "JOB_DEFAULT_REQUESTDISK",
    "JOB_DEFAULT_REQUESTGPUS",
    "JOB_DEFAULT_REQUESTMEMORY",
    "NICE_USER_ACCOUNTING_GROUP_NAME",
    "SCHEDD_INTERVAL",
    "SUBMIT_DEFAULT_SHOULD_TRANSFER_FILES",
};

/* Sets the attributes of a new job that has not run yet. */
static void set_base(struct submit_making *making)
{
    static const char *const ZEROS[] = {"ExitStatus",
                                        "NumCkpts",
                                        "NumJobStarts",
                                        "NumJobCompletions",
                                        "NumRestarts",
                                        "NumSystemHolds",
                                        "CommittedTime",
                                        "CommittedSlotTime",
                                        "CumulativeSlotTime",
                                        "TotalSuspensions",
                                        "LastSuspensionTime",
                                        "CumulativeSuspensionTime",
                                        "CommittedSuspensionTime",
                                        "JobSubmitMethod"};
    static const char *const REALS[] = {"RemoteWallClockTime", "RemoteUserCpu", "RemoteSysCpu",
                                        "CumulativeRemoteUserCpu", "CumulativeRemoteSysCpu"};
    struct ad *ad = making->ad;
    ad_set_string(ad, "MyType", "Job");
    ad_set_string(ad, "TargetType", "Machine");
    ad_set_undefined(ad, "Owner"); /* the schedd knows who it is */
    for (size_t i = 0; i < ARRAY_COUNT(ZEROS); i++) {
        ad_set_int(ad, ZEROS[i], 0);
    }
    for (size_t i = 0; i < ARRAY_COUNT(REALS); i++) {
        ad_set_real(ad, REALS[i], 0);
    }
    ad_set_bool(ad, "ExitBySignal", false);
}

/* Sets the attributes that the site adds to all jobs.  Plain names come before all commands, which
 * may replace them; names with "+" or "MY." (forced) come after them.  A malformed value is left
 * out. */
static void set_site_attributes(struct submit_making *making, bool forced)
{
    static const char *const LISTS[] = {"SUBMIT_ATTRS", "SUBMIT_EXPRS", "SYSTEM_SUBMIT_ATTRS"};
    for (size_t i = 0; i < ARRAY_COUNT(LISTS) && making->is_first; i++) {
        struct vec names = {0};
        making_split(making_site(making, LISTS[i], ""), ", \t", &names);
        for (size_t j = 0; j < names.count; j++) {
            const char *name = names.items[j];
            bool plus = name[0] == '+', my = text_glob("my.?*", name, true);
            name += plus ? 1 : my ? 3 : 0;
            const char *text = (plus || my) == forced ? making_site(making, name, NULL) : NULL;
            if (text != NULL &&
                (!ad_name_is_valid(name) || ad_set_expr_old(making->ad, name, text, NULL) != 0)) {
                making_warn(making,
                            "%s: %.100s is not set: '%.200s' is not a valid expression; did you "
                            "forget to quote a string?",
                            LISTS[i], name, text);
            }
        }
        vec_fini(&names, mem_free);
    }
}

static int set_forced_site_attributes(struct submit_making *making, struct err *err)
{
    (void)err; /* what is wrong is the site's, and only said */
    set_site_attributes(making, true);
    return 0;
}

static int set_directory(struct submit_making *making, struct err *err)
{
    char *value;
    int rc = making_value(making, "initialdir", "Iwd", &value, err);
    if (rc == 0 && value == NULL) {
        rc = making_value(making, "initial_dir", "job_iwd", &value, err);
    }
    if (rc != 0) {
        return rc;
    }
    char *iwd = making_path(making->place->cwd, value != NULL ? value : making->place->cwd);
    ad_set_string(making->ad, "Iwd", iwd);
    struct err why = {{0}};
    if (making->place->look != NULL && value != NULL &&
        making->place->look(making->place->arg, SUBMIT_LOOK_DIRECTORY, iwd, NULL, &why) != 0) {
        rc = making_refuse(making, err, "No such directory: %.300s", why.text);
    }
    if (making->place->file != NULL) {
        ad_set_string(making->ad, "JobSubmitFile", making->place->file);
    }
    mem_free(iwd);
    mem_free(value);
    return rc;
}

/* Sets attributes that follow from others, unless the user has set them. */
static int set_automatic(struct submit_making *making, struct err *err)
{
    struct ad *ad = making->ad;
    int64_t lease_s;
    int rc = 0;
    if (!ad_has(ad, "MaxHosts")) {
        ad_set_int(ad, "MinHosts", 1);
        ad_set_int(ad, "MaxHosts", 1);
    }
    if (!ad_has(ad, "CurrentHosts")) {
        ad_set_int(ad, "CurrentHosts", 0);
    }
    if (ad_has(ad, "CheckpointExitCode")) {
        ad_set_bool(ad, "WantFTOnCheckpoint", true);
    }
    if (!ad_has(ad, "JobLeaseDuration") &&
        (making_is_for_machines(making) || making->universe == UNIVERSE_PARALLEL)) {
        rc = making_expr(making, "JobLeaseDuration",
                         making_site(making, "JOB_DEFAULT_LEASE_DURATION", "2400"), err);
    }
    if (!ad_has(ad, "JobPrio")) {
        ad_set_int(ad, "JobPrio", 0);
    }
    if (ad_has(ad, "JobStarterLog") && !ad_has(ad, "JobStarterDebug")) {
        ad_set_bool(ad, "JobStarterDebug", true);
    }
    if (rc == 0 && ad_has(ad, "JobLeaseDuration") &&
        ad_expr_literal_int(ad_lookup(ad, "JobLeaseDuration"), &lease_s) && lease_s > 0 &&
        lease_s < 20) {
        making_warn(making,
                    "JobLeaseDuration less than 20 seconds is not allowed, using 20 instead");
        ad_set_int(ad, "JobLeaseDuration", 20);
    }
    return rc;
}

static void warn_of_mistakes(const struct submit_making *making)
{
    const char *who = ad_string_or(making->ad, "NotifyUser", "");
    if (making->is_first && (text_equal_nocase(who, "never") || text_equal_nocase(who, "false"))) {
        making_warn(making,
                    "You used notify_user=%s in your submit file: mail will go to the user \"%s\". "
                    "If you do not want mail, put \"notification = never\" into it instead.",
                    who, who);
    }
}

/* Sets the user's own attributes, +Attribute and MY.Attribute, from expressions; an empty value is
 * undefined. */
static int set_own(struct submit_making *making, struct err *err)
{
    size_t at = 0;
    const char *name;
    bool plus;
    unsigned line;
    int rc = 0;
    while (rc == 0 && submit_file_walk(making->file, &at, &name, &plus, &line)) {
        if (!plus) {
            continue;
        }
        struct strbuf key;
        char *value;
        strbuf_init(&key, 0);
        strbuf_printf(&key, "MY.%s", name);
        rc = making_value(making, strbuf_text(&key), NULL, &value, err);
        if (rc == 0 && !ad_name_is_valid(name)) {
            rc = making_refuse(making, err, "'%.100s' is not a valid attribute name", name);
        }
        rc = rc != 0 ? rc : making_expr(making, name, value != NULL ? value : "undefined", err);
        strbuf_fini(&key);
        mem_free(value);
    }
    return rc;
}

/* Handles JOBSET.Attribute, the attributes of the job's set.  The job itself gets only the set's
 * name. */
static int set_jobset(struct submit_making *making, struct err *err)
{
    static const char PREFIX[] = "JOBSET.";
    size_t at = 0;
    const char *name;
    bool plus, is_of_a_set = false;
    unsigned line;
    int rc = 0;
    while (rc == 0 && submit_file_walk(making->file, &at, &name, &plus, &line)) {
        char *value = NULL;
        if (plus || !text_glob("jobset.?*", name, true)) {
            continue;
        }
        rc = making_value(making, name, NULL, &value, err);
        if (rc == 0 && value != NULL) {
            is_of_a_set = true;
            if (text_equal_nocase(name + sizeof(PREFIX) - 1, "name") &&
                !ad_has(making->ad, "JobSetName")) {
                ad_set_string(making->ad, "JobSetName", making_unquote(value));
            }
        }
        mem_free(value);
    }
    if (rc == 0 && is_of_a_set && !ad_has(making->ad, "JobSetName")) {
        char *cluster = NULL;
        rc = making_value(making, "ClusterId", NULL, &cluster, err);
        if (cluster != NULL) { /* else whoever asks does not know yet */
            ad_set_string(making->ad, "JobSetName", cluster);
        }
        mem_free(cluster);
    }
    const char *set = ad_string_or(making->ad, "JobSetName", "");
    if (rc == 0 && making->first != NULL &&
        strcmp(set, ad_string_or(making->first, "JobSetName", set)) != 0) {
        rc =
            making_refuse(making, err,
                          "(%s != %s) All jobs from a single submission must be in the same JOBSET",
                          ad_string_or(making->first, "JobSetName", ""), set);
    }
    return rc;
}

/* Removes from ad the attributes that are the same in the first job's ad. */
static void prune_same(struct ad *ad, const struct ad *first)
{
    struct vec same = {0};
    size_t at = 0;
    const char *name;
    const struct ad_expr *expr;
    while (ad_next(ad, &at, &name, &expr)) {
        const struct ad_expr *shared = ad_lookup(first, name);
        if (shared != NULL && ad_expr_same(shared, expr) && strcmp(name, "JobStatus") != 0) {
            vec_push(&same, mem_strdup(name));
        }
    }
    for (size_t i = 0; i < same.count; i++) {
        ad_remove(ad, same.items[i]);
    }
    vec_fini(&same, mem_free);
}

static int make_ad(struct submit_making *making, struct err *err)
{
    static int (*const STEPS[])(struct submit_making *, struct err *) = {
        universe_set,
        set_directory,
        universe_set_executable,
        words_set_arguments,
        universe_set_parallel,
        words_set_environment,
        policy_set_status,
        transfer_set_streams,
        policy_set_notification,
        policy_set_rank,
        policy_set_queue_rules,
        retries_set,
        policy_set_signals,
        resources_set,
        charge_set_limits,
        charge_set_account,
        command_set_simple,
        policy_set_deferral,
        resources_set_sizes,
        transfer_set_files,
        set_automatic,
        set_forced_site_attributes,
        set_own,
        set_jobset,
        checkpoint_set,
        resources_set_properties,
        requirements_set,
        transfer_look,
    };
    for (size_t i = 0; i < ARRAY_COUNT(STEPS); i++) {
        int rc = STEPS[i](making, err);
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

int submit_job_make(struct submit_file *file, const char *file_name,
                    const struct submit_place *place, int64_t proc, const struct ad *first,
                    struct ad **ret, struct err *err)
{
    struct submit_making making = {.file = file,
                                   .file_name = file_name,
                                   .place = place,
                                   .is_first = first == NULL,
                                   .first = first,
                                   .proc = proc,
                                   .ad = ad_create()};
    ad_chain(making.ad, first);
    if (making.is_first) {
        set_base(&making);
        set_site_attributes(&making, false);
    }
    int rc = command_check_obeyed(&making, err);
    rc = rc != 0 ? rc : make_ad(&making, err);
    if (rc != 0) {
        ad_destroy(making.ad);
        return rc;
    }
    warn_of_mistakes(&making);
    ad_chain(making.ad, NULL);
    if (first != NULL) {
        prune_same(making.ad, first);
    }
    ad_set_int(making.ad, "ProcId", proc);
    *ret = making.ad;
    return 0;
}

int submit_job_is_late(struct submit_file *file, bool *ret, int64_t *limit, struct err *err)
{
    static const char *const COMMANDS[] = {"max_materialize", "JobMaterializeLimit", "max_idle",
                                           "JobMaterializeMaxIdle", "materialize_max_idle"};
    *ret = false;
    *limit = -1;
    for (size_t i = 0; i < ARRAY_COUNT(COMMANDS); i++) {
        char *value;
        int64_t number;
        int rc = submit_file_value(file, COMMANDS[i], &value, err);
        if (rc == 0 && value != NULL && value[0] != '\0') {
            *ret = true;
            if (!making_int(value, &number)) {
                rc = err_set(err, -EINVAL, "%s=%.100s is invalid, must eval to an integer.",
                             COMMANDS[i], value);
            } else if (i < 2) {
                *limit = number;
            }
        }
        mem_free(value);
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}
