/* cli/why/why_advice_plan.c - see why_advice_plan.h.
 *
 * The codes of holds are HTCondor's (its manual, job attribute HoldReasonCode).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/why/why_advice_plan.h"

#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "cli/jobs/jobs_cells_plan.h"
#include "offline_ads/offline_ads.h"

/* '%' is replaced by the job's id. */
static const struct {
    int64_t first, last; /* range of HoldReasonCode */
    const char *text;
} HOLDS[] = {
    {1, 1, "`roost release %` lets the job continue, `roost rm %` removes the job."},
    {15, 15, "`roost release %` lets the job continue, `roost rm %` removes the job."},
    {3, 3,
     "The job's own periodic_hold or on_exit_hold held the job: change PeriodicHold or OnExitHold "
     "with `roost edit %`, then run `roost release %`."},
    {5, 5,
     "A policy expression of the job cannot be evaluated: correct the expression with `roost edit "
     "%`, then run `roost release %`."},
    {6, 6,
     "Check that the program can run on the machine (its format, its #! line), then run `roost "
     "release %`."},
    {7, 14, "Correct the named file or directory, then run `roost release %`."},
    {16, 16,
     "The job waits for its input from the host where it was submitted; `roost rm %` removes the "
     "job."},
    {26, 26,
     "A policy of the pool held the job: ask the pool's administrator, or change the job and run "
     "`roost release %`."},
    {32, 33,
     "The job's files are larger than allowed: send fewer files, or ask the pool's administrator."},
    {34, 34,
     "Request more resources (`roost edit % RequestMemory MB`, RequestDisk, RequestCpus), then run "
     "`roost release %`."},
    {46, 47,
     "The job ran longer than its submit file allows: raise AllowedJobDuration or "
     "AllowedExecuteDuration with `roost edit %`, then run `roost release %`."},
};

static const struct {
    enum why_reason reason;
    const char *text;
} REASONS[] = {
    {WHY_RUNNING, "`roost tail %` shows the job's output, `roost top %` its progress."},
    {WHY_COMPLETED, "`roost history % -l` shows all attributes of the job."},
    {WHY_REMOVED, "`roost history % -l` shows all attributes of the job."},
    {WHY_NO_SHADOW,
     "Shadows run under the account of the job's owner: let it enter the named directory "
     "(chmod o+x) or correct what is named; the schedd tries again by itself."},
    {WHY_NO_SLOTS,
     "`roost status` shows machines once their startd has sent an ad: are startds running?"},
    {WHY_NO_NEGOTIATOR,
     "`roost status -negotiator` shows the negotiator once it runs: ask the pool's administrator."},
    {WHY_SILENT, "`roost status -negotiator` shows the negotiator: ask the pool's administrator."},
    {WHY_CEILING, "`roost userprio` shows ceilings; the pool's administrator sets them."},
    {WHY_QUOTA, "`roost userprio -quotas` shows quotas; the pool's administrator sets them."},
    {WHY_BUSY,
     "`roost userprio` shows the order of users, `roost status -claimed` who uses which slot."},
    {WHY_LOCKED, "`roost power unlock MACHINE`, `roost power on MACHINE`: ask the pool's "
                 "administrator."},
    {WHY_UNWAKEABLE,
     "`roost power history` shows earlier attempts, `roost power on MACHINE` tries again."},
};

static void put_advice(const char *text, const char *job, struct strbuf *out)
{
    for (; *text != '\0'; text++) {
        if (*text == '%') {
            strbuf_puts(out, job);
        } else {
            strbuf_putc(out, *text);
        }
    }
}

/* A file or directory is closed to the job's account (EACCES on Linux), and the kernel does not say
 * which of the directories above it is. */
#define SUBCODE_DENIED 13

static const char *of_hold(const struct ad *job)
{
    int64_t code = ad_int_or(job, "HoldReasonCode", 0);
    bool has_path = code == 6 || (code >= 12 && code <= 14);
    if (has_path && ad_int_or(job, "HoldReasonSubCode", 0) == SUBCODE_DENIED) {
        return "The account that the job runs under may not use the named file or directory: allow "
               "it "
               "(`namei -l PATH` shows the directories above, each of which it must be able to "
               "enter), or name another place; then run `roost release %`.";
    }
    for (size_t i = 0; i < ARRAY_COUNT(HOLDS); i++) {
        if (code >= HOLDS[i].first && code <= HOLDS[i].last) {
            return HOLDS[i].text;
        }
    }
    return "`roost release %` tries again, `roost rm %` removes the job.";
}

/* Appends advice about the job's checkpoint, which may be what rules other machines out. */
static void put_checkpoint(const struct ad *ad, const char *job, struct strbuf *out)
{
    if (!ad_has(ad, "CkptArch") || ad_bool_or(ad, "CkptAnywhere", false)) {
        return;
    }
    strbuf_puts(out, "The job's checkpoint can resume only on ");
    jobs_put_clean(ad_string_or(ad, "CkptArch", ""), out);
    strbuf_puts(out, " machines with ");
    jobs_put_clean(ad_string_or(ad, "CkptOpSys", ""), out);
    const char *features = ad_string_or(ad, "CkptFeatures", "");
    if (features[0] != '\0') {
        strbuf_puts(out, " and ");
        jobs_put_clean(features, out);
    }
    put_advice(
        " (CkptArch, CkptOpSys, CkptFeatures): `roost edit % CkptAnywhere true` lets the job start "
        "over on other machines, as it does after CHECKPOINT_PATIENCE.",
        job, out);
}

void why_advice(const struct ad *ad, const char *job, const struct why_verdict *verdict,
                struct strbuf *out)
{
    const struct why_places *places = &verdict->places;
    if (verdict->reason == WHY_HELD) {
        put_advice(of_hold(ad), job, out);
    } else if (verdict->reason == WHY_NO_MATCH) {
        put_checkpoint(ad, job, out);
    } else if (verdict->reason == WHY_WAKING || verdict->reason == WHY_ASLEEP) {
        const struct ad *slot = places->sample_waking;
        if (slot != NULL && offline_ads_is_sample(slot)) {
            strbuf_puts(out, "`roost factory why ");
            jobs_put_clean(ad_string_or(slot, "GLIDEIN_Site", "SITE"), out);
            strbuf_puts(out, "` tells more about the site.");
            return;
        }
        if (slot == NULL && places->glideins > 0 && places->glideins == places->asleep) {
            strbuf_puts(out, "`roost factory status` shows the sites.");
            return;
        }
        const char *power = slot != NULL ? ad_string_or(slot, "PowerState", "") : "";
        strbuf_puts(out, strcmp(power, "Waking") == 0
                             ? "Nothing needs to be done: the job starts when the machine is up."
                             : "`roost power on MACHINE` wakes a machine at once, `roost power "
                               "status` shows the machines.");
    }
    for (size_t i = 0; i < ARRAY_COUNT(REASONS); i++) {
        if (REASONS[i].reason == verdict->reason) {
            put_advice(REASONS[i].text, job, out);
        }
    }
}

void why_factory(const struct ad *factory, struct strbuf *out)
{
    long long cluster = ad_int_or(factory, "ClusterId", 0);
    long long next = ad_int_or(factory, "JobMaterializeNextProcId", 0);
    long long total = ad_int_or(factory, "TotalSubmitProcs", 0);
    long long limit = ad_int_or(factory, "JobMaterializeLimit", -1);
    long long idle = ad_int_or(factory, "JobMaterializeMaxIdle", -1);
    int64_t paused = ad_int_or(factory, "JobMaterializePaused", 0);
    const char *reason = ad_string_or(factory, "JobMaterializePauseReason", "");
    strbuf_printf(out, "Cluster %lld: %lld of %lld jobs are not created yet", cluster,
                  next < total ? total - next : 0, total);
    if (paused != 0) {
        strbuf_puts(out, ", and no more are being created: ");
        jobs_put_clean(reason[0] != '\0' ? reason : "the cluster is held", out);
        strbuf_puts(out, ".\n    ");
        strbuf_printf(
            out,
            paused > 0
                ? "`roost release %lld` continues, `roost rm %lld` cancels the remaining jobs.\n"
                : "No job can be created from the next item: run `roost rm %lld`, correct the "
                  "submit file, and submit the rest.\n",
            cluster, cluster);
    } else if (limit >= 0) {
        strbuf_printf(out, ": the cluster may have at most %lld jobs in the queue.\n", limit);
    } else if (idle >= 0) {
        strbuf_printf(out, ": the cluster may have at most %lld idle jobs in the queue.\n", idle);
    } else {
        strbuf_puts(out, ".\n");
    }
}
