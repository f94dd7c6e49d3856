/* startd/slot/slot_plan.c - the states of a slot, and decisions about jobs and sleep: see
 * slot_plan.h.
 *
 * The table lists the legal moves; any other move is a mistake of ours (slot.c CHECKs).  Source of
 * the states: HTCondor's manual, "condor_startd policy configuration"; of the votes: the same,
 * HIBERNATE, and DESIGN "a slot whose HIBERNATE is NONE vetoes".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "startd/slot/slot_plan.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/plant.h"
#include "base/sleep_level.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "classad/ad_clauses.h"

static const char *const STATE_NAMES[] = {"Owner",   "Unclaimed",  "Matched",
                                          "Claimed", "Preempting", "Drained"};
static const char *const ACTIVITY_NAMES[] = {"Idle",     "Busy",     "Suspended",
                                             "Retiring", "Vacating", "Killing"};

struct move {
    enum slot_state from;
    enum slot_activity from_activity;
    enum slot_state to;
    enum slot_activity to_activity;
};

/* From Claimed straight to Owner or Unclaimed: the starter died, or the lease was over, and nothing
 * was left to vacate.  From Preempting to Matched: a better claim gets the slot. */
static const struct move MOVES[] = {
    {SLOT_OWNER, SLOT_IDLE, SLOT_UNCLAIMED, SLOT_IDLE},
    {SLOT_OWNER, SLOT_IDLE, SLOT_DRAINED, SLOT_RETIRING},
    {SLOT_UNCLAIMED, SLOT_IDLE, SLOT_OWNER, SLOT_IDLE},
    {SLOT_UNCLAIMED, SLOT_IDLE, SLOT_MATCHED, SLOT_IDLE},
    {SLOT_UNCLAIMED, SLOT_IDLE, SLOT_CLAIMED, SLOT_IDLE}, /* a claim found again after a restart */
    {SLOT_UNCLAIMED, SLOT_IDLE, SLOT_CLAIMED, SLOT_BUSY}, /* the same, its job running */
    {SLOT_UNCLAIMED, SLOT_IDLE, SLOT_DRAINED, SLOT_RETIRING},
    {SLOT_MATCHED, SLOT_IDLE, SLOT_OWNER, SLOT_IDLE},
    {SLOT_MATCHED, SLOT_IDLE, SLOT_UNCLAIMED, SLOT_IDLE},
    {SLOT_MATCHED, SLOT_IDLE, SLOT_CLAIMED, SLOT_IDLE},
    {SLOT_CLAIMED, SLOT_IDLE, SLOT_CLAIMED, SLOT_BUSY},
    {SLOT_CLAIMED, SLOT_IDLE, SLOT_PREEMPTING, SLOT_VACATING},
    {SLOT_CLAIMED, SLOT_IDLE, SLOT_OWNER, SLOT_IDLE},
    {SLOT_CLAIMED, SLOT_IDLE, SLOT_UNCLAIMED, SLOT_IDLE},
    {SLOT_CLAIMED, SLOT_BUSY, SLOT_CLAIMED, SLOT_IDLE},
    {SLOT_CLAIMED, SLOT_BUSY, SLOT_CLAIMED, SLOT_SUSPENDED},
    {SLOT_CLAIMED, SLOT_BUSY, SLOT_CLAIMED, SLOT_RETIRING},
    {SLOT_CLAIMED, SLOT_BUSY, SLOT_OWNER, SLOT_IDLE},
    {SLOT_CLAIMED, SLOT_BUSY, SLOT_UNCLAIMED, SLOT_IDLE},
    {SLOT_CLAIMED, SLOT_BUSY, SLOT_PREEMPTING, SLOT_VACATING},
    {SLOT_CLAIMED, SLOT_BUSY, SLOT_PREEMPTING, SLOT_KILLING},
    {SLOT_CLAIMED, SLOT_SUSPENDED, SLOT_CLAIMED, SLOT_IDLE},
    {SLOT_CLAIMED, SLOT_SUSPENDED, SLOT_CLAIMED, SLOT_BUSY},
    {SLOT_CLAIMED, SLOT_SUSPENDED, SLOT_CLAIMED, SLOT_RETIRING},
    {SLOT_CLAIMED, SLOT_SUSPENDED, SLOT_OWNER, SLOT_IDLE},
    {SLOT_CLAIMED, SLOT_SUSPENDED, SLOT_UNCLAIMED, SLOT_IDLE},
    {SLOT_CLAIMED, SLOT_SUSPENDED, SLOT_PREEMPTING, SLOT_VACATING},
    {SLOT_CLAIMED, SLOT_SUSPENDED, SLOT_PREEMPTING, SLOT_KILLING},
    {SLOT_CLAIMED, SLOT_RETIRING, SLOT_CLAIMED, SLOT_IDLE},
    {SLOT_CLAIMED, SLOT_RETIRING, SLOT_CLAIMED, SLOT_BUSY}, /* who waited for it waits no more */
    {SLOT_CLAIMED, SLOT_RETIRING, SLOT_CLAIMED, SLOT_SUSPENDED},
    {SLOT_CLAIMED, SLOT_RETIRING, SLOT_OWNER, SLOT_IDLE},
    {SLOT_CLAIMED, SLOT_RETIRING, SLOT_UNCLAIMED, SLOT_IDLE},
    {SLOT_CLAIMED, SLOT_RETIRING, SLOT_PREEMPTING, SLOT_VACATING},
    {SLOT_CLAIMED, SLOT_RETIRING, SLOT_PREEMPTING, SLOT_KILLING},
    {SLOT_PREEMPTING, SLOT_VACATING, SLOT_PREEMPTING, SLOT_KILLING},
    {SLOT_PREEMPTING, SLOT_VACATING, SLOT_MATCHED, SLOT_IDLE},
    {SLOT_PREEMPTING, SLOT_VACATING, SLOT_OWNER, SLOT_IDLE},
    {SLOT_PREEMPTING, SLOT_VACATING, SLOT_UNCLAIMED, SLOT_IDLE},
    {SLOT_PREEMPTING, SLOT_KILLING, SLOT_MATCHED, SLOT_IDLE},
    {SLOT_PREEMPTING, SLOT_KILLING, SLOT_OWNER, SLOT_IDLE},
    {SLOT_PREEMPTING, SLOT_KILLING, SLOT_UNCLAIMED, SLOT_IDLE},
    {SLOT_DRAINED, SLOT_RETIRING, SLOT_DRAINED, SLOT_IDLE},
    {SLOT_DRAINED, SLOT_RETIRING, SLOT_OWNER, SLOT_IDLE},
    {SLOT_DRAINED, SLOT_RETIRING, SLOT_UNCLAIMED, SLOT_IDLE},
    {SLOT_DRAINED, SLOT_IDLE, SLOT_OWNER, SLOT_IDLE},
    {SLOT_DRAINED, SLOT_IDLE, SLOT_UNCLAIMED, SLOT_IDLE},
};

const char *slot_state_name(enum slot_state state)
{
    CHECK((size_t)state < ARRAY_COUNT(STATE_NAMES));
    return STATE_NAMES[state];
}

const char *slot_activity_name(enum slot_activity activity)
{
    CHECK((size_t)activity < ARRAY_COUNT(ACTIVITY_NAMES));
    return ACTIVITY_NAMES[activity];
}

bool slot_plan_is_free(enum slot_state state)
{
    return state == SLOT_OWNER || state == SLOT_UNCLAIMED;
}

bool slot_plan_may_move(enum slot_state from, enum slot_activity from_activity, enum slot_state to,
                        enum slot_activity to_activity)
{
    for (size_t i = 0; i < ARRAY_COUNT(MOVES); i++) {
        if (MOVES[i].from == from && MOVES[i].from_activity == from_activity && MOVES[i].to == to &&
            MOVES[i].to_activity == to_activity) {
            return true;
        }
    }
    return false;
}

/* Sets err to whose Requirements are not true, with their text: that is what a submitter must
 * change. */
static int refuse_job(const char *whose, const struct ad *ad, struct err *err)
{
    const struct ad_expr *expr = ad_lookup(ad, "Requirements");
    struct strbuf text;
    strbuf_init(&text, 4096);
    if (expr != NULL) {
        ad_expr_print(expr, AD_OLD, &text);
    } else {
        strbuf_puts(&text, "(none)");
    }
    int rc = err_set(err, -ENOTSUP, "the Requirements of the %s are not true: %s", whose,
                     strbuf_text(&text));
    strbuf_fini(&text);
    return rc;
}

int slot_plan_accepts(const struct ad *slot, const struct ad *job, const struct ad_context *context,
                      struct err *err)
{
    if (!ad_match_half(slot, job, context)) {
        return refuse_job("slot (START)", slot, err);
    }
    if (!ad_match_half(job, slot, context)) {
        return refuse_job("job", job, err);
    }
    return 0;
}

/* Returns whether a clause means the same with any job: `TARGET.WantIt =?= true` is false without a
 * job, too, but not because of the owner. */
static bool is_of_slot_alone(const struct ad_expr *clause, const struct ad *slot)
{
    struct strmap *external = strmap_create(STRMAP_CASE_IGNORED);
    ad_refs(clause, slot, external, NULL);
    bool alone = strmap_count(external) == 0;
    strmap_destroy(external, NULL);
    return alone;
}

enum slot_state slot_plan_rest(const struct ad *slot, const struct ad_context *context)
{
    const struct ad_expr *start = ad_lookup(slot, "Start");
    if (start == NULL || ad_eval_bool(start, slot, NULL, context) != AD_FALSE) {
        return SLOT_UNCLAIMED;
    }
    enum slot_state state = SLOT_UNCLAIMED;
    struct ad_clauses *clauses = ad_clauses_create(start, slot);
    for (size_t i = 0; i < ad_clauses_demand_count(clauses); i++) {
        const struct ad_expr *clause = ad_clauses_at(clauses, ad_clauses_demand(clauses, i))->expr;
        if (ad_eval_bool(clause, slot, NULL, context) == AD_FALSE &&
            is_of_slot_alone(clause, slot)) {
            state = SLOT_OWNER;
        }
    }
    ad_clauses_destroy(clauses);
    return state;
}

int slot_plan_level_of(const char *name)
{
    int level = sleep_level_of(name);
    return level > 0 ? level : 0;
}

int slot_plan_sleep_vote(const struct ad_expr *hibernate, const struct ad *slot,
                         const struct ad_context *context)
{
    struct ad_value value;
    ad_eval(hibernate, slot, NULL, context, &value);
    int level = value.type == AD_TYPE_UNDEFINED ? SLOT_PLAN_UNDECIDED : 0;
    if (value.type == AD_TYPE_INT && value.integer >= 1 && value.integer <= 5) {
        level = (int)value.integer;
    } else if (value.type == AD_TYPE_STRING) {
        level = slot_plan_level_of(value.string.text);
    }
    ad_value_fini(&value);
    return level;
}

int slot_plan_sleep_level(const int *votes, size_t count)
{
    int deepest = 0;
    bool is_undecided = false;
    for (size_t i = 0; i < count; i++) {
        if (votes[i] == 0) {
            return 0;
        }
        is_undecided = is_undecided || votes[i] == SLOT_PLAN_UNDECIDED;
        if (votes[i] > deepest) {
            deepest = votes[i];
        }
    }
    return is_undecided ? SLOT_PLAN_UNDECIDED : deepest;
}

const char *slot_plan_level_name(int level)
{
    static const char *const NAMES[] = {"NONE", "S1", "S2", "S3", "S4", "S5"};
    CHECK(level >= 0 && (size_t)level < ARRAY_COUNT(NAMES));
    return NAMES[level];
}

/* Evaluates a time limit, in seconds, from an expression of the machine and one of the job, which
 * can only lower it. */
static int64_t seconds_of(const struct ad *slot, const char *slot_name, const struct ad *job,
                          const char *job_name, const struct ad_context *context)
{
    int64_t both[2] = {0, INT64_MAX};
    for (int i = 0; i < 2; i++) {
        struct ad_value value;
        (void)ad_eval_attr(i == 0 ? slot : job, i == 0 ? job : slot, i == 0 ? slot_name : job_name,
                           context, &value); /* absent: undefined */
        if (value.type == AD_TYPE_INT) {
            both[i] = value.integer > 0 ? value.integer : 0;
        } else if (value.type == AD_TYPE_REAL) {
            both[i] = value.real >= 1.0 ? (int64_t)(value.real < 1e12 ? value.real : 1e12) : 0;
        }
        ad_value_fini(&value);
    }
    int64_t least = both[0] < both[1] ? both[0] : both[1];
    return least < SLOT_SECONDS_MAX ? least : SLOT_SECONDS_MAX;
}

int64_t slot_plan_retirement_s(const struct ad *slot, const struct ad *job, int64_t run_s,
                               const struct ad_context *context)
{
    int64_t granted_s =
        seconds_of(slot, "MaxJobRetirementTime", job, "MaxJobRetirementTime", context);
    run_s = run_s > 0 ? run_s : 0;
    return granted_s > run_s ? granted_s - run_s : 0;
}

int64_t slot_plan_vacate_s(const struct ad *slot, const struct ad *job,
                           const struct ad_context *context)
{
    return seconds_of(slot, "MachineMaxVacateTime", job, "JobMaxVacateTime", context);
}

bool slot_plan_may_preempt(double rank, double current_rank, bool by_priority)
{
    return rank > current_rank || (by_priority && rank >= current_rank);
}

bool slot_plan_lease_is_over(uint64_t now_ms, uint64_t lease_end_ms)
{
    return !PLANTED(lease_check_skipped) && now_ms >= lease_end_ms;
}

bool slot_plan_is_job_id(const char *text)
{
    static const char DIGITS[] = "0123456789";
    size_t cluster = strspn(text, DIGITS);
    if (cluster < 1 || cluster > 19 || text[cluster] != '.') {
        return false;
    }
    size_t proc = strspn(text + cluster + 1, DIGITS);
    return proc >= 1 && proc <= 19 && text[cluster + 1 + proc] == '\0';
}
