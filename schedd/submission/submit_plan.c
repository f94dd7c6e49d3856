/* schedd/submission/submit_plan.c - see submit_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/submission/submit_plan.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "schedd/policy/cron_plan.h"
#include "classad/ad_identity.h"
#include "classad/ad_limits.h"
#include "wire/remote_attrs.h"

/* Attributes that only the schedd sets. */
static const char *const OURS[] = {
    "ClusterId",
    "ProcId",
    "Owner",
    "User",
    "AuthenticatedIdentity",
    "QDate",
    "GlobalJobId",
    "AutoClusterId",
    "NumJobStarts",
    "NumJobMatches",
    "ClaimEpoch",
    "ClaimState",
    "ShadowError",
    "EnteredCurrentStatus",
    "JobStartDate",
    REMOTE_BEGAN,
    "JobCurrentStartDate",
    "CompletionDate",
    "RemoteHost",
    "LastRemoteHost",
    "ProcCount",
    "NumSystemHolds",
    "NumJobCompletions",
    "NumHolds",
    "NumHoldsByReason",
    "HoldReason",
    "HoldReasonCode",
    "HoldReasonSubCode",
    "NumShadowStarts",
    "ShadowBday",
    "LastJobStatus",
    "TotalSuspensions",
    "LastSuspensionTime",
    "CumulativeSuspensionTime",
    "CommittedSuspensionTime",
    "CommittedTime",
    "CommittedSlotTime",
    "CumulativeSlotTime",
    "RemoteWallClockTime",
    "JobLastStartDate",
    "JobCurrentStartExecutingDate",
    "RemoteBootId",
    "VacateReason",
    "ReleaseReason",
    "RemoveReason",
    "LastMatchTime",
    "LastRejMatchReason",
    "LastRejMatchTime",
    "LastRejMatchNegotiator",
    "NumCkpts",
    "NumRestarts",
    "LastCkptTime",
    "CkptSequence",
    "CkptPrevious",
    "CkptImageSize",
    "CkptFilesSize",
    "CkptArch",
    "CkptOpSys",
    "CkptFeatures",
    "LastCheckpointPlatform",
    "LastCkptRefused",
    /* what it notes for itself */
    "RunGivenAt",
    "RunBeganAt",
    "RunEndedAt",
    "StageInAt",
    "RunCkpts",
    "RunSavedTime",
    "RunSavedSuspensionTime",
    "CkptBooks",
    "RunSuspensions",
    "RunSuspensionTime",
    "EvictionUntold",
    "ExitVerdict",
    "LoggedImageSize",
    "SubmittingFromProcId",
};

static bool is_one_of(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        bool may_be = ((names[i][0] ^ name[0]) & ~('a' ^ 'A')) == 0; /* the letter in any case */
        if (may_be && ad_name_compare(names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static bool only_we_set(const char *name)
{
    return is_one_of(OURS, ARRAY_COUNT(OURS), name);
}

bool submit_plan_is_ours(const char *name)
{
    /* JobStatus may be submitted: 5 for a job on hold. */
    return only_we_set(name) || ad_name_compare(name, "JobStatus") == 0;
}

void submit_plan_clean(struct ad *ad)
{
    /* A job of a large cluster has a few attributes and OURS has many: so the ad is walked. */
    struct vec unwanted = {0};
    size_t at = 0;
    const char *name = NULL;
    while (ad_next(ad, &at, &name, NULL)) {
        if (only_we_set(name) || ad_attr_is_private(name)) {
            vec_push(&unwanted, mem_strdup(name));
        }
    }
    for (size_t i = 0; i < unwanted.count; i++) {
        ad_remove(ad, unwanted.items[i]);
    }
    vec_fini(&unwanted, mem_free);
}

static const char *largest_of(const struct ad *ad)
{
    size_t at = 0, most = 0;
    const char *name = NULL, *found = "";
    while (ad_next(ad, &at, &name, NULL)) {
        struct strbuf bytes;
        struct ad *one = ad_create();
        strbuf_init(&bytes, 0);
        (void)ad_copy_attr(one, name, ad, name); /* it is there */
        ad_encode(one, true, &bytes);
        if (bytes.length > most) {
            most = bytes.length;
            found = name;
        }
        strbuf_fini(&bytes);
        ad_destroy(one);
    }
    return found;
}

int submit_plan_check_size(const struct ad *ad, size_t max, struct err *err)
{
    size_t at = 0;
    const char *name = NULL;
    while (ad_next(ad, &at, &name, NULL)) {
        if (!ad_name_is_valid(name)) {
            return err_set(err, -EINVAL, "'%.100s' is not a valid attribute name", name);
        }
    }
    struct strbuf bytes;
    strbuf_init(&bytes, max);
    ad_encode(ad, true, &bytes);
    bool fits = !bytes.failed;
    strbuf_fini(&bytes);
    return fits ? 0
                : err_set(err, -E2BIG,
                          "the job's ad is larger than %zu bytes; its largest attribute is %.100s",
                          max, largest_of(ad));
}

void submit_plan_defaults(struct ad *cluster, int64_t job_lease_s)
{
    static const struct {
        const char *name;
        const char *expression;
    } DEFAULTS[] = {
        {"MyType", "\"Job\""},
        {"TargetType", "\"Machine\""},
        {"JobUniverse", "5"},
        {"JobPrio", "0"},
        {"Args", "\"\""},
        {"In", "\"/dev/null\""},
        {"Out", "\"/dev/null\""},
        {"Err", "\"/dev/null\""},
        {"Requirements", "true"},
        {"Rank", "0.0"},
        {"RequestCpus", "1"},
        {"RequestMemory", "128"},
        {"RequestDisk", "1024"},
        {"ShouldTransferFiles", "\"IF_NEEDED\""},
        {"WhenToTransferOutput", "\"ON_EXIT\""},
        {"LeaveJobInQueue", "false"},
        {"ExitBySignal", "false"},
        {"RemoteWallClockTime", "0.0"},
        {"RemoteUserCpu", "0.0"},
        {"RemoteSysCpu", "0.0"},
        {"NumJobStarts", "0"},
        {"NumJobCompletions", "0"},
        {"NumSystemHolds", "0"},
        {"NumRestarts", "0"},
        {"NumCkpts", "0"},
        {"CommittedTime", "0"},
        {"CommittedSlotTime", "0"},
        {"CumulativeSlotTime", "0"},
        {"TotalSuspensions", "0"},
        {"LastSuspensionTime", "0"},
        {"CumulativeSuspensionTime", "0"},
        {"CommittedSuspensionTime", "0"},
        {"ExitStatus", "0"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(DEFAULTS); i++) {
        /* HTCondor's submit writes Arguments; Args is the old form of the same. */
        bool has_arguments = strcmp(DEFAULTS[i].name, "Args") == 0 && ad_has(cluster, "Arguments");
        if (!ad_has(cluster, DEFAULTS[i].name) && !has_arguments) {
            int result = ad_set_expr(cluster, DEFAULTS[i].name, DEFAULTS[i].expression, NULL);
            CHECK(result == 0);
        }
    }
    if (!ad_has(cluster, "JobLeaseDuration")) {
        ad_set_int(cluster, "JobLeaseDuration", job_lease_s);
    }
}

/* Attributes that must be strings when a job has them. */
static const char *const STRINGS[] = {
    "In",
    "Out",
    "Err",
    "UserLog",
    "TransferInput",
    "TransferOutput",
    "TransferOutputRemaps",
    "Env",
    "Environment",
    "Args",
    "Arguments",
    "ShouldTransferFiles",
};

/* What submit_plan_check_job() reads besides STRINGS, identities and the times of cron_plan.c. */
static const char *const CHECKED[] = {"Cmd", "Iwd", "TransferExecutable", "JobUniverse", "JobPrio"};

static int check_string(const struct ad *job, const char *name, const char **ret, struct err *err)
{
    *ret = "";
    int result = ad_get_string(job, name, ret);
    if (result == -EINVAL) {
        return err_set(err, -EINVAL, "%s is not a string", name);
    }
    return 0;
}

int submit_plan_check_job(const struct ad *job, struct err *err)
{
    const char *cmd = "";
    const char *iwd = "";
    struct ad_identity_texts said;
    const char *not_literal = ad_identity_read(job, &said);
    if (not_literal != NULL) {
        return err_set(err, -EINVAL, "%s is not a string literal; write its value in double quotes",
                       not_literal);
    }
    int result = check_string(job, "Cmd", &cmd, err);
    if (result == 0) {
        result = check_string(job, "Iwd", &iwd, err);
    }
    for (size_t i = 0; result == 0 && i < ARRAY_COUNT(STRINGS); i++) {
        const char *text = NULL;
        result = check_string(job, STRINGS[i], &text, err);
    }
    if (result != 0) {
        return result;
    }
    if (cmd[0] == '\0') {
        return err_set(err, -EINVAL, "Cmd is missing; name the program to run");
    }
    if (iwd[0] != '/') {
        return err_set(err, -EINVAL, "Iwd is missing or not an absolute path");
    }
    if (cmd[0] != '/' && ad_bool_or(job, "TransferExecutable", true)) {
        return err_set(err, -EINVAL, "Cmd '%s' is not an absolute path", cmd);
    }
    int64_t universe = ad_int_or(job, "JobUniverse", 5);
    if (universe != 5 && universe != 1) {
        return err_set(err, -EINVAL,
                       "JobUniverse %lld is not supported; only vanilla (5) and standard (1) are",
                       (long long)universe);
    }
    struct cron_times times;
    result = cron_plan_matters(job) ? cron_plan_read(job, &times, err) : 0;
    if (result != 0) {
        return result;
    }
    int64_t number = 0;
    if (ad_has(job, "JobPrio") && ad_get_int(job, "JobPrio", &number) != 0) {
        return err_set(err, -EINVAL, "JobPrio is not a number");
    }
    return 0;
}

/* Returns whether each of the names is a literal in the ad, or absent. */
static bool are_literals(const struct ad *ad, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct ad_expr *expr = ad_lookup(ad, names[i]);
        if (expr != NULL && !ad_expr_is_literal(expr)) {
            return false;
        }
    }
    return true;
}

bool submit_plan_is_plain(const struct ad *cluster)
{
    return submit_plan_check_job(cluster, NULL) == 0 && !cron_plan_matters(cluster) &&
           are_literals(cluster, STRINGS, ARRAY_COUNT(STRINGS)) &&
           are_literals(cluster, CHECKED, ARRAY_COUNT(CHECKED));
}

bool submit_plan_adds_texts_only(const struct ad *own)
{
    struct ad_identity_texts said;
    size_t at = 0;
    const char *name = NULL;
    while (ad_next(own, &at, &name, NULL)) {
        struct ad_value value;
        if (is_one_of(CHECKED, ARRAY_COUNT(CHECKED), name) ||
            (is_one_of(STRINGS, ARRAY_COUNT(STRINGS), name) &&
             (ad_get_literal(own, name, &value) != 0 || value.type != AD_TYPE_STRING))) {
            return false;
        }
    }
    return ad_identity_read(own, &said) == NULL && !cron_plan_matters(own);
}

#define BYTES_OF_A_STEP 16

/* Counts the steps to evaluate the expressions of one ad in a job. */
static void count_steps(const struct ad *ad, const struct ad *job, const struct ad_context *context)
{
    size_t at = 0;
    const struct ad_expr *expr = NULL;
    while (context->work->steps < AD_SLICE_STEPS && ad_next_computed(ad, &at, &expr)) {
        struct ad_value value;
        ad_eval(expr, job, NULL, context, &value);
        ad_value_fini(&value);
    }
}

uint64_t submit_plan_steps(const struct ad *cluster, struct ad *own)
{
    struct ad_work work = {.steps_max = AD_GET_STEPS_MAX};
    const struct ad_context context = {.work = &work};
    if (own == NULL) {
        count_steps(cluster, cluster, &context);
        return work.steps;
    }
    ad_chain(own, cluster);
    count_steps(own, own, &context);
    count_steps(cluster, own, &context);
    ad_chain(own, NULL);
    return work.steps + ad_encoded_bytes(own) / BYTES_OF_A_STEP;
}
