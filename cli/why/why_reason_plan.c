/* cli/why/why_reason_plan.c - see why_reason_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/why/why_reason_plan.h"

#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/text.h"
#include "classad/ad.h"
#include "cli/jobs/jobs_cells_plan.h"
#include "cli/power_show_plan.h"
#include "cli/table_plan.h"
#include "cli/why/why_site_plan.h"
#include "offline_ads/offline_holds.h"
#include "offline_ads/offline_ads.h"

/* values of JobStatus */
enum { IDLE = 1, RUNNING, REMOVED, COMPLETED, HELD, TRANSFERRING, SUSPENDED };

const char *why_reason_name(enum why_reason reason)
{
    static const char *const NAMES[WHY_REASONS] = {
        [WHY_COMPLETED] = "Completed",
        [WHY_REMOVED] = "Removed",
        [WHY_HELD] = "Held",
        [WHY_RUNNING] = "Running",
        [WHY_MATCHED] = "Matched",
        [WHY_NO_SHADOW] = "NoShadow",
        [WHY_NO_SLOTS] = "NoSlots",
        [WHY_IS_ERROR] = "RequirementsError",
        [WHY_NO_MATCH] = "NoMatch",
        [WHY_NO_NEGOTIATOR] = "NoNegotiator",
        [WHY_SILENT] = "NegotiatorSilent",
        [WHY_NOT_SEEN] = "RequestNotSeen",
        [WHY_CEILING] = "Ceiling",
        [WHY_QUOTA] = "Quota",
        [WHY_LIMIT] = "ConcurrencyLimit",
        [WHY_SOON] = "NextCycle",
        [WHY_WAKING] = "Waking",
        [WHY_ASLEEP] = "Asleep",
        [WHY_BUSY] = "Busy",
        [WHY_UNWAKEABLE] = "Unwakeable",
        [WHY_LOCKED] = "Locked",
    };
    return NAMES[reason];
}

static bool is_text(const struct ad *ad, const char *name, const char *text)
{
    return strcmp(ad_string_or(ad, name, ""), text) == 0;
}

struct ad *why_reason_whole(const struct ad *slot)
{
    if (!ad_bool_or(slot, "PartitionableSlot", false)) {
        return NULL;
    }
    struct ad *whole = ad_copy(slot);
    offline_ads_make_whole(whole);
    return whole;
}

/* ---- whom the negotiator charges */

const struct ad *why_reason_request(const struct ad *job, const struct ad *const *requests,
                                    size_t count)
{
    struct strbuf schedd;
    const struct ad *found = NULL;
    int64_t auto_cluster;
    strbuf_init(&schedd, 0);
    why_places_schedd(job, &schedd);
    for (size_t i = 0; i < count && ad_get_int(job, "AutoClusterId", &auto_cluster) == 0; i++) {
        if (ad_int_or(requests[i], "AutoClusterId", -1) == auto_cluster &&
            is_text(requests[i], "ScheddName", strbuf_text(&schedd))) {
            found = requests[i];
            break;
        }
    }
    strbuf_fini(&schedd);
    return found;
}

static const struct ad *account_of(const struct why_pool *pool, const char *name, bool is_group)
{
    for (size_t i = 0; i < pool->account_count; i++) {
        const struct ad *account = pool->accounts[i];
        if (is_text(account, "Name", name) &&
            ad_bool_or(account, "IsAccountingGroup", false) == is_group) {
            return account;
        }
    }
    return NULL;
}

static const char *submitter_of(const struct ad *request)
{
    return ad_string_or(request, "SubmitterName", ad_string_or(request, "User", ""));
}

static const struct ad *own_account(const struct why_pool *pool)
{
    return pool->request != NULL ? account_of(pool, submitter_of(pool->request), false) : NULL;
}

static const struct ad *own_group(const struct why_pool *pool)
{
    const struct ad *account = own_account(pool);
    return account != NULL ? account_of(pool, ad_string_or(account, "AccountingGroup", ""), true)
                           : NULL;
}

/* Returns what the job would add to its submitter's usage; slots are weighted by their Cpus. */
static double weight_of(const struct ad *job)
{
    double cpus = ad_real_or(job, "RequestCpus", 1);
    return cpus > 0 ? cpus : 1;
}

static bool is_at_ceiling(const struct why_pool *pool)
{
    const struct ad *account = own_account(pool);
    double ceiling = account != NULL ? ad_real_or(account, "Ceiling", -1) : -1;
    return ceiling >= 0 &&
           ad_real_or(account, "WeightedResourcesUsed", 0) + weight_of(pool->job) > ceiling;
}

/* True when the pool has accounting groups.  Without groups, the quota of <none> is the whole pool,
 * so it explains nothing. */
static bool has_groups(const struct why_pool *pool)
{
    for (size_t i = 0; i < pool->account_count; i++) {
        if (ad_bool_or(pool->accounts[i], "IsAccountingGroup", false) &&
            !is_text(pool->accounts[i], "Name", "<none>")) {
            return true;
        }
    }
    return false;
}

static bool is_at_quota(const struct why_pool *pool)
{
    const struct ad *group = own_group(pool);
    return group != NULL && has_groups(pool) && is_text(group, "SurplusPolicy", "no") &&
           ad_has(group, "EffectiveQuota") &&
           ad_real_or(group, "WeightedResourcesUsed", 0) + weight_of(pool->job) >
               ad_real_or(group, "EffectiveQuota", 0);
}

/* ---- concurrency limits: "matlab,db.read:2" */

static bool is_name(const char *text, size_t length, const char *name)
{
    size_t i = 0;
    while (i < length && text_lower(text[i]) == text_lower(name[i])) {
        i++;
    }
    return i == length && name[i] == '\0';
}

/* Returns the sum of all counts of the limit `name` in the list. */
static double in_list(const char *list, const char *name)
{
    static const char GAPS[] = ", \t\n";
    double sum = 0;
    for (list += strspn(list, GAPS); *list != '\0'; list += strspn(list, GAPS)) {
        size_t length = strcspn(list, GAPS), word = strcspn(list, ":, \t\n");
        if (is_name(list, word, name)) {
            double count = 1;
            char number[64] = "";
            size_t digits = word < length ? length - word - 1 : 0;
            if (digits > 0 && digits < sizeof number) {
                memcpy(number, list + word + 1, digits);
                (void)text_parse_double(number, &count, NULL); /* what is no count is 1 */
            }
            sum += count >= 0 ? count : 1;
        }
        list += length;
    }
    return sum;
}

/* True when a concurrency limit of the job is used up; then appends which one. */
static bool is_limited(const struct why_pool *pool, struct strbuf *out)
{
    const char *wanted = ad_string_or(pool->job, "ConcurrencyLimits", "");
    struct ad_value list;
    bool found = false;
    (void)ad_eval_attr(pool->negotiator, NULL, "ConcurrencyLimits", pool->context, &list);
    for (size_t i = 0; i < ad_value_count(&list) && !found && wanted[0] != '\0'; i++) {
        struct ad_value item;
        ad_value_item(&list, i, &item);
        const char *name = item.type == AD_TYPE_AD ? ad_string_or(item.ad, "Name", "") : "";
        double needs = name[0] != '\0' ? in_list(wanted, name) : 0;
        double used = 0, max = needs > 0 ? ad_real_or(item.ad, "Max", -1) : -1;
        for (size_t j = 0; j < pool->machine_count && max >= 0; j++) {
            used += in_list(ad_string_or(pool->machines[j], "ConcurrencyLimits", ""), name);
        }
        found = max >= 0 && used + needs > max;
        if (found) {
            strbuf_printf(
                out, "the concurrency limit %s is used up: %.15g of %.15g, and the job needs %.15g",
                name, used, max, needs);
        }
        ad_value_fini(&item);
    }
    ad_value_fini(&list);
    return found;
}

/* Returns how many other submitters have waiting requests and a better (lower) priority. */
static size_t count_ahead(const struct why_pool *pool, double priority)
{
    struct strmap *waiting = strmap_create(STRMAP_CASE_SENSITIVE);
    size_t ahead = 0;
    for (size_t i = 0; i < pool->request_count; i++) {
        (void)strmap_set(waiting, submitter_of(pool->requests[i]), waiting);
    }
    for (size_t i = 0; i < pool->account_count; i++) {
        const struct ad *account = pool->accounts[i];
        ahead += ad_real_or(account, "Priority", 0) < priority &&
                 !ad_bool_or(account, "IsAccountingGroup", false) &&
                 strmap_remove(waiting, ad_string_or(account, "Name", "")) != NULL;
    }
    strmap_destroy(waiting, NULL);
    return ahead;
}

static void put_priority(const struct why_pool *pool, struct strbuf *out)
{
    const struct ad *account = own_account(pool);
    if (account == NULL) {
        return; /* never charged yet */
    }
    double priority = ad_real_or(account, "Priority", 0);
    size_t ahead = count_ahead(pool, priority);
    strbuf_printf(out, "; priority %.2f, ", priority);
    if (ahead == 0) {
        strbuf_puts(out, "no user with better priority waits");
    } else {
        strbuf_printf(out, "%zu %s with better priority %s", ahead,
                      ahead == 1 ? "submitter" : "submitters", ahead == 1 ? "waits" : "wait");
    }
}

/* ---- which reason */

static enum why_reason of_idle(const struct why_pool *pool, const struct why_places *places)
{
    const struct why_answer *answer = pool->answer;
    int64_t heard_s = pool->negotiator != NULL
                          ? ad_int_or(pool->negotiator, "LastHeardFrom", pool->context->now_s)
                          : 0;
    if (why_sum(answer->total) == 0) {
        return WHY_NO_SLOTS;
    }
    if (why_sum(answer->matching) == 0) {
        return why_sum(answer->errors) == why_sum(answer->total) ? WHY_IS_ERROR : WHY_NO_MATCH;
    }
    if (pool->negotiator == NULL) {
        return WHY_NO_NEGOTIATOR;
    }
    if (offline_ads_is_silent(pool->negotiator) || heard_s + WHY_SILENT_S < pool->context->now_s) {
        return WHY_SILENT;
    }
    if (pool->request == NULL) {
        return WHY_NOT_SEEN;
    }
    if (is_at_ceiling(pool)) {
        return WHY_CEILING;
    }
    if (is_at_quota(pool)) {
        return WHY_QUOTA;
    }
    struct strbuf text;
    strbuf_init(&text, 0);
    bool limited = is_limited(pool, &text);
    strbuf_fini(&text);
    if (limited) {
        return WHY_LIMIT;
    }
    if (places->free > 0) {
        return WHY_SOON;
    }
    if (places->waking > 0) {
        return WHY_WAKING;
    }
    if (places->asleep > 0) {
        return WHY_ASLEEP;
    }
    if (places->locked == why_sum(answer->matching)) {
        return WHY_LOCKED;
    }
    return answer->matching.live + answer->matching.silent > 0 ? WHY_BUSY : WHY_UNWAKEABLE;
}

static enum why_reason find_reason(const struct why_pool *pool, const struct why_places *places)
{
    switch (ad_int_or(pool->job, "JobStatus", IDLE)) {
    case RUNNING:
    case TRANSFERRING:
    case SUSPENDED:
        return WHY_RUNNING;
    case REMOVED:
        return WHY_REMOVED;
    case COMPLETED:
        return WHY_COMPLETED;
    case HELD:
        return WHY_HELD;
    default:
        break;
    }
    if (ad_has(pool->job, "ClaimState")) {
        return ad_has(pool->job, "ShadowError") ? WHY_NO_SHADOW : WHY_MATCHED;
    }
    return pool->answer != NULL ? of_idle(pool, places) : WHY_NO_SLOTS;
}

/* ---- the line */

static void put_time(const struct why_pool *pool, const char *word, const struct ad *ad,
                     const char *name, struct strbuf *out)
{
    int64_t at_s;
    if (ad_get_int(ad, name, &at_s) != 0 || at_s <= 0) {
        return;
    }
    struct strbuf date;
    strbuf_init(&date, 0);
    table_plan_date(at_s, pool->context, &date);
    const char *text = strbuf_text(&date);
    strbuf_printf(out, " %s %s", word, text + (text[0] == ' ' ? 1 : 0));
    strbuf_fini(&date);
}

static void put_since(const struct why_pool *pool, const struct ad *ad, const char *name,
                      struct strbuf *out)
{
    int64_t at_s;
    put_time(pool, "since", ad, name, out);
    if (ad_get_int(ad, name, &at_s) == 0 && at_s > 0) {
        strbuf_puts(out, " (");
        table_plan_duration(pool->context->now_s - at_s, out);
        strbuf_puts(out, ")");
    }
}

static const char *slots_word(int64_t count)
{
    return count == 1 ? "slot" : "slots";
}

static void put_slots(struct why_count count, struct strbuf *out)
{
    strbuf_printf(out, "%lld %s (%lld awake, %lld asleep", (long long)why_sum(count),
                  slots_word(why_sum(count)), (long long)count.live, (long long)count.offline);
    if (count.silent > 0) {
        strbuf_printf(out, ", %lld not responding", (long long)count.silent);
    }
    strbuf_putc(out, ')');
}

static void put_completed(const struct why_pool *pool, struct strbuf *out)
{
    const struct ad *job = pool->job;
    int64_t number;
    strbuf_puts(out, "completed");
    put_time(pool, "at", job, "CompletionDate", out);
    if (ad_bool_or(job, "ExitBySignal", false) && ad_get_int(job, "ExitSignal", &number) == 0) {
        strbuf_printf(out, ", ended by signal %lld", (long long)number);
    } else if (ad_get_int(job, "ExitCode", &number) == 0) {
        strbuf_printf(out, ", exit status %lld", (long long)number);
    }
    const char *host = ad_string_or(job, "LastRemoteHost", "");
    strbuf_printf(out, host[0] != '\0' ? ", on %s" : "%s", host);
}

static void put_held(const struct why_pool *pool, struct strbuf *out)
{
    const struct ad *job = pool->job;
    strbuf_puts(out, "held");
    put_since(pool, job, "EnteredCurrentStatus", out);
    strbuf_printf(out, ": %s (code %lld, subcode %lld)",
                  ad_string_or(job, "HoldReason", "no reason given"),
                  (long long)ad_int_or(job, "HoldReasonCode", 0),
                  (long long)ad_int_or(job, "HoldReasonSubCode", 0));
    if (pool->answer != NULL) {
        strbuf_puts(out, "; released, it would match ");
        put_slots(pool->answer->matching, out);
    }
}

static void put_running(const struct why_pool *pool, struct strbuf *out)
{
    const struct ad *job = pool->job;
    int64_t status = ad_int_or(job, "JobStatus", RUNNING);
    bool input = ad_bool_or(job, "TransferringInput", false);
    bool output = ad_bool_or(job, "TransferringOutput", false);
    bool queued = ad_bool_or(job, "TransferQueued", false);
    if (ad_has(job, "JobDisconnectedDate")) {
        strbuf_printf(out, "running on %s, which is not responding",
                      ad_string_or(job, "RemoteHost", "a slot"));
        put_since(pool, job, "JobDisconnectedDate", out);
        return;
    }
    strbuf_puts(out, status == TRANSFERRING                 ? "output is being written, from "
                     : status == SUSPENDED                  ? "suspended on "
                     : status == RUNNING && input && queued ? "input waits for its turn to go to "
                     : status == RUNNING && input           ? "input is being transferred to "
                     : status == RUNNING && output && queued
                         ? "output waits for its turn to come from "
                     : status == RUNNING && output ? "output is being transferred from "
                                                   : "running on ");
    strbuf_puts(out, ad_string_or(job, "RemoteHost", "a slot"));
    jobs_put_moved(job, " (", ")", out);
    put_since(pool, job, "EnteredCurrentStatus", out);
}

/* Appends what the slots that take no job say about it, the first machine of each kind as the
 * example: ours are drained, locked or kept off. */
static void put_out_of_work(const struct why_pool *pool, struct strbuf *out)
{
    int64_t draining = 0, locked = 0;
    const struct ad *drained = NULL, *barred = NULL;
    for (size_t i = 0; i < pool->slot_count; i++) {
        const struct ad *slot = pool->slots[i].ad;
        if (pool->answer->matches[i]) {
            continue;
        }
        if (ad_bool_or(slot, "PowerLocked", false) || ad_bool_or(slot, "PowerKeptOff", false)) {
            locked++;
            barred = barred != NULL ? barred : slot;
        } else if (ad_bool_or(slot, "Draining", false)) {
            draining++;
            drained = drained != NULL ? drained : slot;
        }
    }
    if (draining > 0) {
        const char *reason = ad_string_or(drained, "DrainReason", "");
        strbuf_printf(out, "; %lld %s draining%s%s%s", (long long)draining,
                      draining == 1 ? "is" : "are", reason[0] != '\0' ? " (" : "", reason,
                      reason[0] != '\0' ? ")" : "");
    }
    if (locked > 0) {
        strbuf_printf(out, "; %lld %s taken out of work (%s ", (long long)locked,
                      locked == 1 ? "is" : "are", ad_string_or(barred, "Machine", "one"));
        (void)power_show_lock(barred, pool->context, out);
        strbuf_puts(out, ")");
    }
}

/* Appends the clause of slots that rejects the job most often. */
static void put_their_clause(const struct why_answer *answer, struct strbuf *out)
{
    const struct why_demand *most = NULL;
    for (size_t i = 0; i < answer->demand_count; i++) {
        const struct why_demand *demand = &answer->demands[i];
        if (demand->theirs && why_sum(demand->refuses) > 0 &&
            (most == NULL || why_sum(demand->refuses) > why_sum(most->refuses))) {
            most = demand;
        }
    }
    if (most != NULL && text_equal_nocase(most->text, "START")) {
        strbuf_printf(out, " (%lld because START is not true there)",
                      (long long)why_sum(most->refuses));
    } else if (most != NULL) {
        strbuf_printf(out, " (%lld by %s: %s)", (long long)why_sum(most->refuses),
                      most->from != NULL ? most->from : "Requirements", most->text);
    }
}

static void put_no_match(const struct why_pool *pool, struct strbuf *out)
{
    const struct why_answer *answer = pool->answer;
    strbuf_puts(out, "matches none of ");
    put_slots(answer->total, out);
    if (why_sum(answer->unjudged) > 0) {
        strbuf_printf(out, " examined before the time limit; %lld were not examined",
                      (long long)why_sum(answer->unjudged));
    } else if (why_sum(answer->refused_by_others) == 0) {
        strbuf_puts(out, ": the job's Requirements rule out all of them");
    } else if (why_sum(answer->refused_by_ad) == 0) {
        strbuf_puts(out, ": all of them reject the job");
        put_their_clause(answer, out);
    } else {
        strbuf_printf(out, ": the job's Requirements rule out %lld, and %lld reject the job",
                      (long long)why_sum(answer->refused_by_ad),
                      (long long)why_sum(answer->refused_by_others));
        put_their_clause(answer, out);
    }
    put_out_of_work(pool, out);
}

static void put_busy(const struct why_places *places, struct strbuf *out)
{
    static const char *const WORDS[] = {"with your jobs",
                                        "with others' jobs",
                                        "with their owners",
                                        "too full at present",
                                        "draining",
                                        "going to sleep",
                                        "locked",
                                        "not responding",
                                        "avoided by the schedd"};
    const int64_t counts[] = {places->mine,   places->others,   places->owner,
                              places->full,   places->draining, places->leaving,
                              places->locked, places->silent,   places->avoided};
    bool first = true;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        if (counts[i] > 0) {
            strbuf_printf(out, "%s%lld %s", first ? "" : ", ", (long long)counts[i], WORDS[i]);
            first = false;
        }
    }
}

static void put_machine(const struct why_pool *pool, const struct ad *slot, struct strbuf *out)
{
    if (why_site_put_sample(slot, out)) {
        return;
    }
    strbuf_puts(out, ad_string_or(slot, "Machine", ad_string_or(slot, "Name", "a machine")));
    if (is_text(slot, "PowerState", "Waking")) {
        strbuf_puts(out, ", which is being woken");
        put_since(pool, slot, "EnteredPowerState", out);
    }
}

static void put_failed(const struct why_pool *pool, const struct why_places *places,
                       struct strbuf *out)
{
    const struct ad *slot = places->sample_failed;
    strbuf_printf(out, "%s is %s", ad_string_or(slot, "Machine", "a machine"),
                  ad_string_or(slot, "PowerState", "?"));
    put_since(pool, slot, "EnteredPowerState", out);
    const char *reason = ad_string_or(slot, "PowerStateReason", "");
    strbuf_printf(out, reason[0] != '\0' ? ": %s" : "%s", reason);
}

/* Names one of the machines that do not respond. */
static void put_silent(const struct why_pool *pool, const struct why_places *places,
                       struct strbuf *out)
{
    if (places->sample_silent != NULL) {
        strbuf_printf(out, " (%s", ad_string_or(places->sample_silent, "Machine", "a machine"));
        put_since(pool, places->sample_silent, OFFLINE_ADS_SILENT, out);
        strbuf_putc(out, ')');
    }
}

/* Says why the schedd avoids machines, and names one of them. */
static void put_avoided(const struct why_places *places, struct strbuf *out)
{
    if (places->sample_avoided != NULL) {
        strbuf_printf(out,
                      " (starters failed on %s, so the schedd gives it no jobs for a while; see "
                      "machine.avoided in SchedLog)",
                      ad_string_or(places->sample_avoided, "Machine", "a machine"));
    }
}

/* Tells of the machines that are asleep, and of the samples of sites. */
static void put_asleep(const struct why_pool *pool, const struct why_places *places,
                       struct strbuf *out)
{
    if (places->sample_waking != NULL) {
        strbuf_printf(out, places->held > 0 ? "waits for " : "may run on ");
        put_machine(pool, places->sample_waking, out);
        why_site_put_chosen(pool, out);
    } else if (places->glideins == places->asleep) {
        strbuf_printf(out, "may run on glideins that %lld %s for, none of which is asked for yet",
                      (long long)places->glideins,
                      places->glideins == 1 ? "sample stands" : "samples stand");
    } else {
        strbuf_printf(out, "matches %lld sleeping %s, none of which is being woken",
                      (long long)places->asleep, slots_word(places->asleep));
    }
}

static void put_line(const struct why_pool *pool, const struct why_verdict *verdict,
                     struct strbuf *out)
{
    const struct why_answer *answer = pool->answer;
    const struct why_places *places = &verdict->places;
    const char *reason = ad_string_or(pool->job, "RemoveReason", "");
    switch (verdict->reason) {
    case WHY_COMPLETED:
        put_completed(pool, out);
        break;
    case WHY_REMOVED:
        strbuf_puts(out, "removed");
        put_time(pool, "at", pool->job, "EnteredCurrentStatus", out);
        strbuf_printf(out, reason[0] != '\0' ? ": %s" : "%s", reason);
        break;
    case WHY_HELD:
        put_held(pool, out);
        break;
    case WHY_RUNNING:
        put_running(pool, out);
        break;
    case WHY_MATCHED:
        strbuf_printf(out, "has a slot%s%s, and starts soon",
                      ad_has(pool->job, "RemoteHost") ? ", " : "",
                      ad_string_or(pool->job, "RemoteHost", ""));
        break;
    case WHY_NO_SHADOW:
        strbuf_printf(out, "has a slot%s%s, but the shadow of %s does not start: %s",
                      ad_has(pool->job, "RemoteHost") ? ", " : "",
                      ad_string_or(pool->job, "RemoteHost", ""),
                      ad_string_or(pool->job, "Owner", "its owner"),
                      ad_string_or(pool->job, "ShadowError", ""));
        break;
    case WHY_NO_SLOTS:
        strbuf_puts(out, "the collector knows no machines, awake or asleep");
        why_site_put_closed(pool, out);
        break;
    case WHY_IS_ERROR:
        strbuf_puts(out, "the job's Requirements evaluate to error with each of ");
        put_slots(answer->total, out);
        break;
    case WHY_NO_MATCH:
        put_no_match(pool, out);
        why_site_put_closed(pool, out);
        break;
    case WHY_NO_NEGOTIATOR:
        strbuf_puts(out, "the pool has no negotiator; ");
        put_slots(answer->matching, out);
        strbuf_puts(out, " would match");
        break;
    case WHY_SILENT:
        strbuf_puts(out, "the collector has not heard from the negotiator");
        put_since(pool, pool->negotiator,
                  offline_ads_is_silent(pool->negotiator) ? OFFLINE_ADS_SILENT : "LastHeardFrom",
                  out);
        strbuf_puts(out, "; ");
        put_slots(answer->matching, out);
        strbuf_puts(out, " would match");
        break;
    case WHY_NOT_SEEN:
        strbuf_puts(out, "the collector has no request for this job from its schedd; ");
        put_slots(answer->matching, out);
        strbuf_puts(out, " would match");
        break;
    case WHY_CEILING:
        strbuf_printf(out, "%s has reached its ceiling: it uses %.15g of %.15g",
                      submitter_of(pool->request),
                      ad_real_or(own_account(pool), "WeightedResourcesUsed", 0),
                      ad_real_or(own_account(pool), "Ceiling", 0));
        break;
    case WHY_QUOTA:
        strbuf_printf(out,
                      "group %s has used its quota and takes no surplus: it uses %.15g of %.15g",
                      ad_string_or(own_group(pool), "Name", "?"),
                      ad_real_or(own_group(pool), "WeightedResourcesUsed", 0),
                      ad_real_or(own_group(pool), "EffectiveQuota", 0));
        break;
    case WHY_LIMIT:
        (void)is_limited(pool, out);
        break;
    case WHY_SOON:
        strbuf_printf(out, "matches %lld free %s; the next negotiation cycle decides",
                      (long long)places->free, slots_word(places->free));
        put_priority(pool, out);
        break;
    case WHY_WAKING:
    case WHY_ASLEEP:
        put_asleep(pool, places, out);
        break;
    case WHY_BUSY:
        strbuf_printf(out,
                      places->silent + places->avoided > 0
                          ? "matches %lld %s, none of which is free: "
                          : "matches %lld %s awake, all busy: ",
                      (long long)(answer->matching.live + answer->matching.silent),
                      slots_word(answer->matching.live + answer->matching.silent));
        put_busy(places, out);
        put_silent(pool, places, out);
        put_avoided(places, out);
        put_priority(pool, out);
        why_site_put_closed(pool, out);
        break;
    case WHY_UNWAKEABLE:
        strbuf_puts(out, "matches only machines that cannot be woken: ");
        put_failed(pool, places, out);
        break;
    case WHY_LOCKED:
        strbuf_puts(out, "matches only machines that an administrator has taken out of work: ");
        strbuf_printf(out, "%s ",
                      ad_string_or(places->sample_locked, "Machine",
                                   ad_string_or(places->sample_locked, "Name", "one")));
        (void)power_show_lock(places->sample_locked, pool->context, out);
        break;
    case WHY_REASONS:
        break;
    }
}

void why_reason_find(const struct why_pool *pool, struct why_verdict *ret)
{
    struct strbuf out;
    *ret = (struct why_verdict){0};
    if (pool->answer != NULL) {
        why_places_count(pool, &ret->places);
    }
    ret->reason = find_reason(pool, &ret->places);
    strbuf_init(&out, 0);
    put_line(pool, ret, &out);
    for (size_t i = 0; i < out.length; i++) {
        out.data[i] = (unsigned char)out.data[i] < ' ' || out.data[i] == 127 ? '?' : out.data[i];
    }
    ret->text = mem_strdup(strbuf_text(&out));
    strbuf_fini(&out);
}

void why_verdict_fini(struct why_verdict *verdict)
{
    mem_free(verdict->text);
    verdict->text = NULL;
}
