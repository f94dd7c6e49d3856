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

/* ---- the steps */

enum {
    STEP_OBEYED,
    STEP_UNIVERSE,
    STEP_DIRECTORY,
    STEP_EXECUTABLE,
    STEP_ARGUMENTS,
    STEP_PARALLEL,
    STEP_ENVIRONMENT,
    STEP_STATUS,
    STEP_INPUT,
    STEP_OUTPUTS,
    STEP_NOTIFICATION,
    STEP_RANK,
    STEP_QUEUE_RULES,
    STEP_RETRIES,
    STEP_SIGNALS,
    STEP_RESOURCES,
    STEP_LIMITS,
    STEP_ACCOUNT,
    STEP_SIMPLE,
    STEP_DEFERRAL,
    STEP_SIZES,
    STEP_FILES,
    STEP_AUTOMATIC,
    STEP_FORCED,
    STEP_OWN,
    STEP_JOBSET,
    STEP_CHECKPOINT,
    STEP_PROPERTIES,
    STEP_REQUIREMENTS,
    STEP_LOOK,
    STEP_COUNT
};

#define ONE(step)  (UINT32_C(1) << (step))
#define ALL_STEPS  (ONE(STEP_COUNT) - 1)
#define FROM(step) (ALL_STEPS & ~(ONE(step) - 1))

/* again: the steps to make again for a job for which this one has other values.  These are the step
 * itself and all after it, which may read what it has set; fewer where the attributes that it sets
 * are known to be read by few. */
static const struct step {
    int (*make)(struct submit_making *making, struct err *err);
    uint32_t again;
} STEPS[STEP_COUNT] = {
    [STEP_OBEYED] = {command_check_obeyed, ALL_STEPS},
    [STEP_UNIVERSE] = {universe_set, ALL_STEPS},
    [STEP_DIRECTORY] = {set_directory, FROM(STEP_DIRECTORY)},
    [STEP_EXECUTABLE] = {universe_set_executable, FROM(STEP_EXECUTABLE)},
    [STEP_ARGUMENTS] = {words_set_arguments, ONE(STEP_ARGUMENTS)},
    [STEP_PARALLEL] = {universe_set_parallel, FROM(STEP_PARALLEL)},
    [STEP_ENVIRONMENT] = {words_set_environment, ONE(STEP_ENVIRONMENT)},
    [STEP_STATUS] = {policy_set_status, FROM(STEP_STATUS)},
    /* The size of the input, which STEP_FILES sets, is read by expressions only. */
    [STEP_INPUT] = {transfer_set_input, ONE(STEP_INPUT) | ONE(STEP_FILES) | ONE(STEP_LOOK)},
    [STEP_OUTPUTS] = {transfer_set_outputs, ONE(STEP_OUTPUTS) | ONE(STEP_LOOK)},
    [STEP_NOTIFICATION] = {policy_set_notification, FROM(STEP_NOTIFICATION)},
    [STEP_RANK] = {policy_set_rank, FROM(STEP_RANK)},
    [STEP_QUEUE_RULES] = {policy_set_queue_rules, FROM(STEP_QUEUE_RULES)},
    [STEP_RETRIES] = {retries_set, FROM(STEP_RETRIES)},
    [STEP_SIGNALS] = {policy_set_signals, FROM(STEP_SIGNALS)},
    [STEP_RESOURCES] = {resources_set, FROM(STEP_RESOURCES)},
    [STEP_LIMITS] = {charge_set_limits, FROM(STEP_LIMITS)},
    [STEP_ACCOUNT] = {charge_set_account, FROM(STEP_ACCOUNT)},
    [STEP_SIMPLE] = {command_set_simple, FROM(STEP_SIMPLE)},
    [STEP_DEFERRAL] = {policy_set_deferral, FROM(STEP_DEFERRAL)},
    [STEP_SIZES] = {resources_set_sizes, FROM(STEP_SIZES)},
    [STEP_FILES] = {transfer_set_files, FROM(STEP_FILES)},
    [STEP_AUTOMATIC] = {set_automatic, FROM(STEP_AUTOMATIC)},
    [STEP_FORCED] = {set_forced_site_attributes, FROM(STEP_FORCED)},
    [STEP_OWN] = {set_own, FROM(STEP_OWN)},
    [STEP_JOBSET] = {set_jobset, FROM(STEP_JOBSET)},
    [STEP_CHECKPOINT] = {checkpoint_set, FROM(STEP_CHECKPOINT)},
    [STEP_PROPERTIES] = {resources_set_properties, FROM(STEP_PROPERTIES)},
    [STEP_REQUIREMENTS] = {requirements_set, FROM(STEP_REQUIREMENTS)},
    [STEP_LOOK] = {transfer_look, ONE(STEP_LOOK)},
};

/* Makes the ad with these steps.  *again: the steps to make again for another job. */
static int make_steps(struct submit_making *making, uint32_t steps, uint32_t *again,
                      struct err *err)
{
    int rc = 0;
    *again = 0;
    (void)submit_file_varied(making->file);
    for (size_t i = 0; i < STEP_COUNT && rc == 0; i++) {
        if ((steps & ONE(i)) != 0) {
            rc = STEPS[i].make(making, err);
            *again |= submit_file_varied(making->file) ? STEPS[i].again : 0;
        }
    }
    return rc;
}

static bool has_own(const struct submit_file *file)
{
    size_t at = 0;
    const char *name;
    bool plus;
    unsigned line;
    while (submit_file_walk(file, &at, &name, &plus, &line)) {
        if (plus) {
            return true;
        }
    }
    return false;
}

/* Makes the job's ad with these steps in making->ad: NULL on failure. */
static int make_ad(struct submit_making *making, uint32_t steps, uint32_t *again, struct err *err)
{
    making->ad = ad_create();
    ad_chain(making->ad, making->first);
    if (making->is_first) {
        set_base(making);
        set_site_attributes(making, false);
    }
    int rc = make_steps(making, steps, again, err);
    if (rc != 0) {
        ad_destroy(making->ad);
        making->ad = NULL;
        return rc;
    }
    warn_of_mistakes(making);
    ad_chain(making->ad, NULL);
    if (making->first != NULL) {
        prune_same(making->ad, making->first);
    }
    ad_set_int(making->ad, "ProcId", making->proc);
    return 0;
}

/* Makes the second job again, with the steps whose values differ: if that gives the same ad, it
 * does so for all later ones. */
static void find_common(const struct submit_making *made, uint32_t again,
                        struct submit_common *common)
{
    struct submit_place quiet = *made->place;
    struct submit_making making = *made;
    quiet.warn = NULL;
    making.place = &quiet;
    *common = (struct submit_common){
        .first = made->first,
        .queue = submit_file_queue_count(made->file),
        /* What the user set with +Attribute wins over what a step sets for this job; and each job
         * has a JobStatus of its own (see prune_same()). */
        .steps = again | ONE(STEP_STATUS) | (has_own(made->file) ? ONE(STEP_OWN) : 0),
        .universe = made->universe,
        .is_docker = made->is_docker,
        .is_container = made->is_container};
    if (make_ad(&making, common->steps, &again, NULL) == 0) {
        common->is_usable = ad_same(making.ad, made->ad);
        ad_destroy(making.ad);
    }
}

int submit_job_make(struct submit_file *file, const char *file_name,
                    const struct submit_place *place, int64_t proc, const struct ad *first,
                    struct submit_common *common, struct ad **ret, struct err *err)
{
    struct submit_making making = {.file = file,
                                   .file_name = file_name,
                                   .place = place,
                                   .is_first = first == NULL,
                                   .first = first,
                                   .proc = proc};
    bool is_known = common != NULL && first != NULL && common->first == first &&
                    common->queue == submit_file_queue_count(file);
    uint32_t steps = ALL_STEPS, again;
    if (is_known && common->is_usable) {
        steps = common->steps;
        making.universe = common->universe;
        making.is_docker = common->is_docker;
        making.is_container = common->is_container;
    }
    int rc = make_ad(&making, steps, &again, err);
    if (rc == 0 && common != NULL && first != NULL && !is_known) {
        find_common(&making, again, common);
    }
    if (rc == 0) {
        *ret = making.ad;
    }
    return rc;
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
