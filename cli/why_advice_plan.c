/* cli/why_advice_plan.c - see why_advice_plan.h.
 *
 * The codes of holds are HTCondor's (its manual, job attribute HoldReasonCode).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/why_advice_plan.h"

#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "cli/jobs_cells_plan.h"

/* '%' stands for the job. */
static const struct {
    int64_t first, last; /* HoldReasonCode */
    const char *text;
} HOLDS[] = {
    {1, 1, "`roost release %` lets it go on, `roost rm %` gives it up."},
    {15, 15, "`roost release %` lets it go on, `roost rm %` gives it up."},
    {3, 3,
     "Its own periodic_hold or on_exit_hold did it: `roost edit %` changes PeriodicHold or"
     " OnExitHold, then `roost release %`."},
    {5, 5,
     "A policy expression of its own has no value: `roost edit %` mends it, then"
     " `roost release %`."},
    {6, 6,
     "See that the program runs where it was sent (its format, its #! line), then"
     " `roost release %`."},
    {7, 14, "Mend the file or directory that is named, then `roost release %`."},
    {16, 16, "It waits for its input from where it was submitted; `roost rm %` gives it up."},
    {26, 26,
     "The pool's policy did it: ask who runs the pool, or change the job and"
     " `roost release %`."},
    {32, 33, "Its files are larger than is allowed: send fewer, or ask who runs the pool."},
    {34, 34,
     "Ask for more (`roost edit % RequestMemory MB`, RequestDisk, RequestCpus), then"
     " `roost release %`."},
    {46, 47,
     "It took longer than its submit file allows: `roost edit %` raises"
     " AllowedJobDuration or AllowedExecuteDuration, then `roost release %`."},
};

static const struct {
    enum why_reason reason;
    const char *text;
} REASONS[] = {
    {WHY_RUNNING, "`roost tail %` shows what it prints, `roost top %` how it goes."},
    {WHY_COMPLETED, "`roost history % -l` shows all that is known of it."},
    {WHY_REMOVED, "`roost history % -l` shows all that is known of it."},
    {WHY_NO_SLOTS, "`roost status` shows machines once they have said something: do startds run?"},
    {WHY_NO_NEGOTIATOR, "`roost status -negotiator` shows it once it runs: ask who runs the pool."},
    {WHY_SILENT, "`roost status -negotiator` shows it: ask who runs the pool."},
    {WHY_CEILING, "`roost userprio` shows ceilings; who runs the pool sets them."},
    {WHY_QUOTA, "`roost userprio -quotas` shows quotas; who runs the pool sets them."},
    {WHY_BUSY, "`roost userprio` shows who comes first, `roost status -claimed` who has what."},
    {WHY_UNWAKEABLE, "`roost power history` tells what was tried, `roost power on MACHINE` tries"
                     " again."},
};

static void put(const char *text, const char *job, struct strbuf *out)
{
    for (; *text != '\0'; text++) {
        if (*text == '%') {
            strbuf_puts(out, job);
        } else {
            strbuf_putc(out, *text);
        }
    }
}

static const char *of_hold(const struct ad *job)
{
    int64_t code = ad_int_or(job, "HoldReasonCode", 0);
    for (size_t i = 0; i < ARRAY_COUNT(HOLDS); i++) {
        if (code >= HOLDS[i].first && code <= HOLDS[i].last) {
            return HOLDS[i].text;
        }
    }
    return "`roost release %` tries again, `roost rm %` gives it up.";
}

/* Its image may be what rules the others out. */
static void put_checkpoint(const struct ad *ad, const char *job, struct strbuf *out)
{
    if (!ad_has(ad, "CkptArch") || ad_bool_or(ad, "CkptAnywhere", false)) {
        return;
    }
    strbuf_puts(out, "Its checkpoint runs on ");
    jobs_put_clean(ad_string_or(ad, "CkptArch", ""), out);
    strbuf_puts(out, " machines with ");
    jobs_put_clean(ad_string_or(ad, "CkptOpSys", ""), out);
    const char *features = ad_string_or(ad, "CkptFeatures", "");
    if (features[0] != '\0') {
        strbuf_puts(out, " and ");
        jobs_put_clean(features, out);
    }
    put(" only (CkptArch, CkptOpSys, CkptFeatures): `roost edit % CkptAnywhere true` lets it begin"
        " at its start on others, as it does after CHECKPOINT_PATIENCE.",
        job, out);
}

void why_advice(const struct ad *ad, const char *job, const struct why_verdict *verdict,
                struct strbuf *out)
{
    const struct why_places *places = &verdict->places;
    if (verdict->reason == WHY_HELD) {
        put(of_hold(ad), job, out);
    } else if (verdict->reason == WHY_NO_MATCH) {
        put_checkpoint(ad, job, out);
    } else if (verdict->reason == WHY_WAKING || verdict->reason == WHY_ASLEEP) {
        const struct ad *slot = places->sample_waking;
        const char *power = slot != NULL ? ad_string_or(slot, "PowerState", "") : "";
        strbuf_puts(out, strcmp(power, "Waking") == 0
                             ? "There is nothing to do: it starts when the machine is up."
                             : "`roost power on MACHINE` wakes one at once, `roost power status`"
                               " shows them.");
    }
    for (size_t i = 0; i < ARRAY_COUNT(REASONS); i++) {
        if (REASONS[i].reason == verdict->reason) {
            put(REASONS[i].text, job, out);
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
    strbuf_printf(out, "%lld: %lld of %lld jobs are still to be made", cluster,
                  next < total ? total - next : 0, total);
    if (paused != 0) {
        strbuf_puts(out, ", and none is being made: ");
        jobs_put_clean(reason[0] != '\0' ? reason : "the cluster is held", out);
        strbuf_puts(out, ".\n    ");
        strbuf_printf(out,
                      paused > 0 ? "`roost release %lld` goes on, `roost rm %lld` gives them up.\n"
                                 : "No job can be made of the next item: `roost rm %lld`, mend the"
                                   " submit file, submit the rest.\n",
                      cluster, cluster);
    } else if (limit >= 0) {
        strbuf_printf(out, ": at most %lld are in the queue at a time.\n", limit);
    } else if (idle >= 0) {
        strbuf_printf(out, ": at most %lld of them are idle at a time.\n", idle);
    } else {
        strbuf_puts(out, ".\n");
    }
}
