/* site/slurm_text.c - see slurm_text.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "site/slurm_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/text.h"

#define FIELDS    6
#define FIELD_MAX 160

enum { FIELD_JOB, FIELD_TASK, FIELD_NAME, FIELD_STATE, FIELD_EXIT, FIELD_REASON };

/* ---- squeue ---------------------------------------------------------------------------------- */

/* Reasons for which a pending job does not start by itself. */
static bool is_held(const char *reason)
{
    static const char *const HELD[] = {"JobHeldAdmin",
                                       "JobHeldUser",
                                       "launch_failed_requeued_held",
                                       "BadConstraints",
                                       "InvalidQOS",
                                       "InvalidAccount",
                                       "PartitionTimeLimit",
                                       "PartitionDown",
                                       "PartitionNodeLimit",
                                       "PartitionInactive",
                                       "PartitionConfig",
                                       "DependencyNeverSatisfied",
                                       "AccountNotAllowed",
                                       "QOSNotAllowed",
                                       "ReservationDeleted",
                                       "job_requeued_in_held_state"};
    return batch_text_is_one_of(reason, HELD, ARRAY_COUNT(HELD));
}

static enum batch_life life_of(const char *state, const char *reason)
{
    static const char *const RUNNING[] = {"RUNNING", "COMPLETING", "CONFIGURING", "SUSPENDED",
                                          "STOPPED", "SIGNALING",  "STAGE_OUT",   "RESIZING"};
    static const char *const HELD[] = {"REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD"};
    static const char *const QUEUED[] = {"PENDING", "REQUEUED", "REQUEUE_FED", "REVOKED"};
    if (batch_text_is_one_of(state, RUNNING, ARRAY_COUNT(RUNNING))) {
        return BATCH_RUNNING;
    }
    if (batch_text_is_one_of(state, HELD, ARRAY_COUNT(HELD))) {
        return BATCH_HELD;
    }
    if (batch_text_is_one_of(state, QUEUED, ARRAY_COUNT(QUEUED))) {
        return is_held(reason) ? BATCH_HELD : BATCH_QUEUED;
    }
    return BATCH_ENDED;
}

static void set_reason(char fields[FIELDS][FIELD_MAX], struct batch_task *ret)
{
    int64_t status = 0;
    size_t length = 0;
    ret->reason[0] = '\0';
    if (ret->life == BATCH_HELD) {
        (void)snprintf(ret->reason, sizeof(ret->reason), "%.90s", fields[FIELD_REASON]);
    } else if (ret->life == BATCH_ENDED) {
        for (const char *at = fields[FIELD_STATE]; *at != '\0' && length < 40; at++) {
            ret->reason[length++] = *at == '_' ? ' ' : text_lower(*at);
        }
        ret->reason[length] = '\0';
        (void)text_parse_int64(fields[FIELD_EXIT], &status, NULL); /* as of wait(2) */
        if (status > 0) {
            (void)snprintf(ret->reason + length, sizeof(ret->reason) - length, ", %s %d",
                           (status & 0x7f) != 0 ? "signal" : "exit status",
                           (int)((status & 0x7f) != 0 ? status & 0x7f : status >> 8 & 0xff));
        }
    }
}

int slurm_text_task(const char **at, struct batch_task *ret)
{
    char fields[FIELDS][FIELD_MAX] = {""};
    size_t field = 0, length = 0;
    if (**at == '\0') {
        return 0;
    }
    for (; **at != '\0' && **at != '\n'; ++*at) {
        if (**at == '|') {
            field++;
            length = 0;
        } else if (field < FIELDS && length + 1 < FIELD_MAX) {
            fields[field][length++] = **at;
        }
    }
    *at += **at == '\n';
    int64_t job = 0, number = 0;
    *ret = (struct batch_task){.leaves = false};
    if (field < FIELD_REASON || text_parse_int64(fields[FIELD_JOB], &job, NULL) != 0 || job <= 0 ||
        !text_is_digit(fields[FIELD_TASK][0]) ||
        text_parse_int64(fields[FIELD_TASK], &number, NULL) != 0 ||
        batch_text_glidein_name(fields[FIELD_NAME], number, ret->name) != 0) {
        return -EPROTO;
    }
    (void)snprintf(ret->id, sizeof(ret->id), "%" PRId64 "_%.20s", job, fields[FIELD_TASK]);
    ret->life = life_of(fields[FIELD_STATE], fields[FIELD_REASON]);
    set_reason(fields, ret);
    return 1;
}

/* ---- sbatch ---------------------------------------------------------------------------------- */

enum site_result slurm_text_refusal(const char *complaint)
{
    /* Slurm does not work, or does not answer. */
    static const char *const FAILS[] = {"Unable to contact", "timed out",      "Zero Bytes",
                                        "onnection refused", "onnect failure", "ommunication",
                                        "authentication",    "redential",      "standby",
                                        "nexpected message", "I/O error",      "Unspecified error"};
    /* What the configuration asks for is not an option of this sbatch. */
    static const char *const WRONG[] = {
        "unrecognized option",       "invalid option",       "nvalid --",
        "nvalid numeric value",      "nvalid time limit",    "generic resource",
        "nvalid constraint",         "requires an argument", "nvalid job array spec",
        "does not allow an argument"};
    static const char *const REFUSES[] = {"submission failed", "temporarily unable to accept",
                                          "nvalid account", "not available", "not permitted"};
    if (batch_text_contains(complaint, FAILS, ARRAY_COUNT(FAILS))) {
        return SITE_FAILS;
    }
    if (batch_text_contains(complaint, WRONG, ARRAY_COUNT(WRONG))) {
        return SITE_WRONG;
    }
    return batch_text_contains(complaint, REFUSES, ARRAY_COUNT(REFUSES)) ? SITE_REFUSES
                                                                         : SITE_FAILS;
}

int64_t slurm_text_array_max(const char *config)
{
    static const char NAME[] = "MaxArraySize";
    const char *at = strstr(config, NAME);
    int64_t number = 0;
    if (at != NULL && (at == config || at[-1] == '\n')) {
        for (at += strlen(NAME); text_is_blank(*at) || *at == '='; at++) {
        }
        for (; text_is_digit(*at) && number < SITE_COUNT_MAX; at++) {
            number = 10 * number + (*at - '0');
        }
    }
    return number;
}

int slurm_text_extra(const char *word, struct err *err)
{
    static const char *const KNOWN[] = {"comment",
                                        "contiguous",
                                        "cluster-constraint",
                                        "cores-per-socket",
                                        "cpu-freq",
                                        "exclude",
                                        "exclusive",
                                        "gpus-per-node",
                                        "gpu-bind",
                                        "hint",
                                        "mcs-label",
                                        "mem-per-cpu",
                                        "network",
                                        "nice",
                                        "nodelist",
                                        "oversubscribe",
                                        "power",
                                        "prefer",
                                        "priority",
                                        "signal",
                                        "switches",
                                        "threads-per-core",
                                        "tmp",
                                        "wckey"};
    char name[40];
    size_t length = strncmp(word, "--", 2) == 0 ? strcspn(word + 2, "=") : 0;
    if (length == 0 || length >= sizeof(name)) {
        return err_set(err, -EINVAL, "extra: '%s' is not of the form --name=value", word);
    }
    (void)snprintf(name, sizeof(name), "%.*s", (int)length, word + 2);
    if (!batch_text_is_one_of(name, KNOWN, ARRAY_COUNT(KNOWN))) {
        return err_set(err, -EINVAL,
                       "extra: '--%s' is not an option that a site may give to sbatch", name);
    }
    return 0;
}
