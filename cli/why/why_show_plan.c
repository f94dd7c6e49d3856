/* cli/why/why_show_plan.c - see why_show_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/why/why_show_plan.h"

#include <string.h>

#include "base/strbuf.h"
#include "classad/ad.h"
#include "cli/table_plan.h"
#include "cli/why/why_reason_plan.h"
#include "cli/why/why_site_plan.h"
#include "offline_ads/offline_ads.h"

const struct why_words why_words_job = {
    .subject = "job", .other = "slot", .others = "slots", .live = "awake", .offline = "asleep"};
const struct why_words why_words_slot = {
    .subject = "slot", .other = "job", .others = "jobs", .live = "jobs", .offline = NULL};

/* ---- clauses */

static void put_clause(const struct why_demand *demand, struct strbuf *out)
{
    if (demand->from != NULL) {
        strbuf_printf(out, "%s: ", demand->from);
    }
    strbuf_puts(out, demand->text);
}

static void put_side(const struct why_words *words, const struct why_answer *answer, bool theirs,
                     struct strbuf *out)
{
    size_t met = 0, shown = 0;
    int indent = (words->offline != NULL ? 28 : 20) + (answer->total.silent > 0 ? 8 : 0);
    for (size_t i = 0; i < answer->demand_count; i++) {
        const struct why_demand *demand = &answer->demands[i];
        if (demand->theirs != theirs) {
            continue;
        }
        if (why_sum(demand->refuses) == 0) {
            met++;
            continue;
        }
        if (shown++ == 0) {
            strbuf_printf(out, "\n  %7s ", words->live);
            if (words->offline != NULL) {
                strbuf_printf(out, "%7s ", words->offline);
            }
            if (answer->total.silent > 0) {
                strbuf_printf(out, "%7s ", "silent");
            }
            strbuf_printf(out, "%7s  ruled out by the %s's clause\n", "alone",
                          theirs ? words->other : words->subject);
        }
        strbuf_printf(out, "  %7lld ", (long long)demand->refuses.live);
        if (words->offline != NULL) {
            strbuf_printf(out, "%7lld ", (long long)demand->refuses.offline);
        }
        if (answer->total.silent > 0) {
            strbuf_printf(out, "%7lld ", (long long)demand->refuses.silent);
        }
        strbuf_printf(out, "%7lld  ", (long long)why_sum(demand->alone));
        put_clause(demand, out);
        strbuf_puts(out, demand->is_error ? "   (error)\n" : "\n");
        if (demand->values[0] != '\0') {
            strbuf_printf(out, "%*s%s\n", indent + 2, "", demand->values);
        }
    }
    if (shown > 0 && met > 0) {
        strbuf_printf(out, "%*s(%zu more %s met by all)\n", indent, "", met,
                      met == 1 ? "clause is" : "clauses are");
    }
}

/* Appends the table of clauses that rule something out; nothing when there are none. */
static void why_show_clauses(const struct why_words *words, const struct why_answer *answer,
                             struct strbuf *out)
{
    put_side(words, answer, false, out);
    put_side(words, answer, true, out);
    if (why_sum(answer->unjudged) > 0) {
        strbuf_printf(out, "\n  Time limit reached; %lld %s were not examined.\n",
                      (long long)why_sum(answer->unjudged), words->others);
    }
}

/* ---- changes */

/* An edit as a line: "RequestMemory = 4017 instead of 99999". */
static void why_show_edit(const struct why_edit *edit, struct strbuf *out)
{
    switch (edit->kind) {
    case WHY_SET:
        strbuf_printf(out, "%s = %s", edit->name, edit->text);
        strbuf_printf(out, edit->was[0] != '\0' ? " instead of %s" : " (not set now)", edit->was);
        break;
    case WHY_REPLACE:
        strbuf_printf(out, "%s instead of %s", edit->text, edit->was);
        break;
    case WHY_DROP:
        strbuf_printf(out, "without %s", edit->was);
        break;
    }
}

/* Appends the changes that would give a match; nothing when there are none. */
static void why_show_changes(const struct why_words *words, const struct why_answer *answer,
                             struct strbuf *out)
{
    if (answer->change_count == 0) {
        return;
    }
    strbuf_printf(out, "\n  The job would match%s with\n",
                  why_sum(answer->matching) > 0 ? " more" : "");
    for (size_t i = 0; i < answer->change_count; i++) {
        const struct why_change *change = &answer->changes[i];
        strbuf_puts(out, "    ");
        for (size_t j = 0; j < change->edit_count; j++) {
            strbuf_puts(out, j > 0 ? "\n    and " : "");
            why_show_edit(&change->edits[j], out);
        }
        strbuf_printf(out, ": %lld %s", (long long)why_sum(change->gain),
                      why_sum(change->gain) == 1 ? words->other : words->others);
        if (words->offline != NULL) {
            strbuf_printf(out, " (%lld %s, %lld %s", (long long)change->gain.live, words->live,
                          (long long)change->gain.offline, words->offline);
            if (change->gain.silent > 0) {
                strbuf_printf(out, ", %lld not responding", (long long)change->gain.silent);
            }
            strbuf_putc(out, ')');
        }
        strbuf_putc(out, '\n');
    }
}

/* ---- the whole */

static bool shows_clauses(enum why_reason reason)
{
    return reason == WHY_NO_MATCH || reason == WHY_IS_ERROR || reason == WHY_BUSY ||
           reason == WHY_UNWAKEABLE;
}

void why_show_job(const char *label, const struct why_verdict *verdict,
                  const struct why_answer *answer, bool all, struct strbuf *out)
{
    strbuf_printf(out, "%s: %s.\n", label, verdict->text);
    if (answer != NULL && (all || shows_clauses(verdict->reason) ||
                           (verdict->reason == WHY_HELD && why_sum(answer->matching) == 0))) {
        why_show_clauses(&why_words_job, answer, out);
        why_show_changes(&why_words_job, answer, out);
    }
}

void why_show_rejection(const struct ad *job, const struct ad_context *context, struct strbuf *out)
{
    int64_t at_s;
    const char *why = ad_string_or(job, "LastRejMatchReason", "");
    if (why[0] == '\0' || ad_get_int(job, "LastRejMatchTime", &at_s) != 0) {
        return;
    }
    strbuf_puts(out, "  The negotiator, ");
    table_plan_duration(context->now_s > at_s ? context->now_s - at_s : 0, out);
    strbuf_printf(out, " ago: %s.\n", why);
}

static void put_state(const struct ad *slot, const struct ad_context *context, struct strbuf *out)
{
    bool offline = ad_bool_or(slot, "Offline", false);
    const char *since = offline ? "EnteredPowerState" : "EnteredCurrentState";
    const char *user = ad_string_or(slot, "RemoteUser", "");
    const char *reason = ad_string_or(slot, "PowerStateReason", "");
    if (ad_bool_or(slot, "Absent", false)) {
        strbuf_puts(out, "Absent");
        since = "AbsentSince";
    } else if (offline_ads_is_silent(slot)) {
        strbuf_puts(out, "not responding");
        since = OFFLINE_ADS_SILENT;
        user = "";
    } else if (offline_ads_is_sample(slot)) {
        strbuf_puts(out, "stands for ");
        (void)why_site_put_sample(slot, out); /* it is one */
    } else if (offline) {
        strbuf_printf(out, "asleep (%s)", ad_string_or(slot, "PowerState", "Off"));
    } else {
        strbuf_printf(out, "%s %s", ad_string_or(slot, "State", "?"),
                      ad_string_or(slot, "Activity", "?"));
    }
    int64_t at_s;
    if (ad_get_int(slot, since, &at_s) == 0) {
        strbuf_puts(out, " for ");
        table_plan_duration(context->now_s - at_s, out);
    }
    strbuf_printf(out, user[0] != '\0' ? ", by %s" : "%s", user);
    strbuf_printf(out, offline && reason[0] != '\0' ? ": %s" : "%s", offline ? reason : "");
}

void why_show_slot(const struct ad *slot, const struct why_answer *answer,
                   const struct ad_context *context, struct strbuf *out)
{
    strbuf_printf(out, "%s: ", ad_string_or(slot, "Name", "?"));
    put_state(slot, context, out);
    int64_t total = why_sum(answer->total), matching = why_sum(answer->matching);
    if (total == 0) {
        strbuf_puts(out, "; no job waits.\n");
        return;
    }
    strbuf_printf(out, "; of %lld idle %s %lld %s.\n", (long long)total,
                  total == 1 ? "job" : "jobs", (long long)matching,
                  matching == 1 ? "matches" : "match");
    why_show_clauses(&why_words_slot, answer, out);
}

/* ---- as an ad */

static void set_count(struct ad *ad, const char *name, struct why_count count)
{
    char full[64];
    struct strbuf text;
    strbuf_init(&text, sizeof full);
    strbuf_printf(&text, "%sLive", name);
    ad_set_int(ad, strbuf_text(&text), count.live);
    strbuf_clear(&text);
    strbuf_printf(&text, "%sOffline", name);
    ad_set_int(ad, strbuf_text(&text), count.offline);
    if (count.silent > 0) {
        strbuf_clear(&text);
        strbuf_printf(&text, "%sNotResponding", name);
        ad_set_int(ad, strbuf_text(&text), count.silent);
    }
    strbuf_fini(&text);
}

static void add_item(struct strbuf *list, struct ad *item)
{
    strbuf_puts(list, list->length > 0 ? ", " : "{ ");
    ad_print(item, list);
    ad_destroy(item);
}

static void set_list(struct ad *ad, const char *name, struct strbuf *list)
{
    strbuf_puts(list, list->length > 0 ? " }" : "{ }");
    if (list->failed || ad_set_expr(ad, name, strbuf_text(list), NULL) != 0) {
        ad_set_error(ad, name);
    }
    strbuf_fini(list);
}

static void set_clauses(struct ad *ad, const struct why_answer *answer)
{
    struct strbuf list;
    strbuf_init(&list, 0);
    for (size_t i = 0; i < answer->demand_count; i++) {
        const struct why_demand *demand = &answer->demands[i];
        if (demand->theirs && why_sum(demand->refuses) == 0) {
            continue;
        }
        struct ad *item = ad_create();
        ad_set_bool(item, "Theirs", demand->theirs);
        ad_set_string(item, "Clause", demand->text);
        if (demand->from != NULL) {
            ad_set_string(item, "From", demand->from);
        }
        ad_set_string(item, "Values", demand->values);
        ad_set_bool(item, "IsError", demand->is_error);
        set_count(item, "Refuses", demand->refuses);
        set_count(item, "Alone", demand->alone);
        add_item(&list, item);
    }
    set_list(ad, "Clauses", &list);
}

static void set_changes(struct ad *ad, const struct why_answer *answer)
{
    struct strbuf list;
    strbuf_init(&list, 0);
    for (size_t i = 0; i < answer->change_count; i++) {
        const struct why_change *change = &answer->changes[i];
        struct ad *item = ad_create();
        struct strbuf edits;
        strbuf_init(&edits, 0);
        for (size_t j = 0; j < change->edit_count; j++) {
            const struct why_edit *edit = &change->edits[j];
            struct ad *one = ad_create();
            if (edit->kind == WHY_SET) {
                ad_set_string(one, "Attribute", edit->name);
                ad_set(one, "Value", ad_expr_ref(edit->expr));
            } else {
                ad_set_string(one, "Clause", edit->was);
                ad_set_string(one, "Instead", edit->text);
            }
            add_item(&edits, one);
        }
        set_list(item, "Edits", &edits);
        set_count(item, "Gain", change->gain);
        add_item(&list, item);
    }
    set_list(ad, "Changes", &list);
}

struct ad *why_show_ad(const char *subject, const char *label, const struct why_verdict *verdict,
                       const struct why_answer *answer)
{
    struct ad *ad = ad_create();
    ad_set_string(ad, "MyType", "Why");
    ad_set_string(ad, subject, label);
    if (verdict != NULL) {
        const struct why_places *places = &verdict->places;
        ad_set_string(ad, "Reason", why_reason_name(verdict->reason));
        ad_set_string(ad, "Text", verdict->text);
        ad_set_int(ad, "FreeSlots", places->free);
        ad_set_int(ad, "SlotsWithMyJobs", places->mine);
        ad_set_int(ad, "SlotsWithOthersJobs", places->others);
        ad_set_int(ad, "OwnerSlots", places->owner);
        ad_set_int(ad, "FullSlots", places->full);
        ad_set_int(ad, "DrainingSlots", places->draining);
        ad_set_int(ad, "LeavingSlots", places->leaving);
        ad_set_int(ad, "WakingSlots", places->waking);
        ad_set_int(ad, "AsleepSlots", places->asleep);
        ad_set_int(ad, "UnwakeableSlots", places->failed);
        ad_set_int(ad, "HeldSlots", places->held);
        ad_set_int(ad, "SampleSlots", places->glideins);
        if (places->sample_waking != NULL && offline_ads_is_sample(places->sample_waking)) {
            (void)ad_copy_attr(ad, "Site", places->sample_waking, "GLIDEIN_Site"); /* may lack */
        }
        ad_set_int(ad, "LockedSlots", places->locked);
    }
    if (answer != NULL) {
        set_count(ad, "Total", answer->total);
        set_count(ad, "Matching", answer->matching);
        set_count(ad, "RefusedBySubject", answer->refused_by_ad);
        set_count(ad, "RefusedByOthers", answer->refused_by_others);
        set_count(ad, "Unjudged", answer->unjudged);
        ad_set_int(ad, "Kinds", (int64_t)answer->kinds);
        set_clauses(ad, answer);
        set_changes(ad, answer);
    }
    return ad;
}
