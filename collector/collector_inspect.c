/* collector/collector_inspect.c - writes into machine ads what is wrong with them.
 *
 * A walk passes over the machine ads, a few at a time, and examines those that changed since its
 * last pass; it begins anew while ads change.  So an update costs nothing more, however many there
 * are, and a pool in which nothing changes wakes nobody.  The result is the
 * attribute AdProblems, which `roost status` shows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "collector/collector_ads.h"
#include "collector/collector_batch.h"
#include "collector/collector_quota.h"
#include "collector/collector_state.h"
#include "collector/collector_verbs.h"
#include "collector/inspect_plan.h"
#include "store/store.h"
#include "wire/secret_list.h"

#define STEP_MS   100 /* between two steps of the walk */
#define STEP_ADS  500 /* passed in one step, at most */
#define BUDGET_MS 2   /* milliseconds of one step */

static void say_problems(const struct collector *collector, const struct ads_entry *entry,
                         const char *problems)
{
    struct ads_said none = {0}, *said = entry->account ? &entry->account->problems : &none;
    if (collector_may_say(collector, said)) {
        log_info(collector->env.log, "ad.problems", problems, LOG_TEXT("name", entry->name),
                 LOG_INT("times", (int64_t)said->unsaid));
        said->unsaid = 0;
    }
}

/* Sets or removes AdProblems.  The ad keeps the stamp of its sender. */
static void set_problems(struct collector *collector, struct ads_entry *entry, const char *problems)
{
    struct err err = {""};
    struct ad *ad = ad_copy(entry->latest);
    struct plan_stamp stamp = entry->stamp;
    int64_t heard_ms = entry->heard_ms;
    if (*problems) {
        ad_set_string(ad, "AdProblems", problems);
        say_problems(collector, entry, problems);
    } else {
        ad_remove(ad, "AdProblems");
    }
    struct batch *batch = batch_begin(collector);
    if (batch_set(batch, entry->type, entry->name, ad, secret_list_ref(entry->latest_secrets),
                  &stamp, &err) == 0) {
        entry->heard_ms = heard_ms; /* this renews nothing */
    } else {
        log_warn(collector->env.log, "ad.not_annotated", err.text, LOG_TEXT("name", entry->name));
    }
    batch_end(batch, NULL, NULL, NULL);
}

static void inspect_entry(struct collector *collector, struct ads_entry *entry)
{
    const struct ad_context context = collector_context(collector);
    struct strbuf problems;
    strbuf_init(&problems, 0);
    inspect_plan_ad(entry->shown, &context, &problems);
    const char *text = strbuf_text(&problems);
    if (strcmp(text, ad_string_or(entry->shown, "AdProblems", "")) != 0) {
        set_problems(collector, entry, text);
    }
    entry->inspected = entry->since; /* as it is now, with what was annotated */
    strbuf_fini(&problems);
}

/* Has *txn, begun when first needed, store a copy of a live ad that has none. */
static void keep_copy(struct collector *collector, struct ads_entry *entry, struct store_txn **txn)
{
    if (entry->waiting > 0 || !entry->latest ||
        !collector_awake_lacks(collector, entry, entry->latest)) {
        return;
    }
    *txn = *txn ? *txn : store_begin(collector->store);
    (void)collector_awake_keep(collector, *txn, entry, entry->latest);
}

void collector_inspect_some(void *arg)
{
    struct collector *collector = arg;
    struct loop *loop = collector->env.loop;
    uint64_t begin_ms = loop_now_ms(loop), pause_ms = STEP_MS;
    struct store_txn *txn = NULL;
    for (int i = 0; i < STEP_ADS; i++) {
        struct ads_entry *entry = ads_cursor_next(&collector->inspection.cursor);
        if (!entry) {
            ads_cursor_fini(&collector->inspection.cursor);
            ads_cursor_init(&collector->inspection.cursor, collector->ads, "Machine");
            pause_ms = collector->inspection.any ? STEP_MS : INSPECTION_REST_MS;
            collector->inspection.rests = !collector->inspection.any && !collector->inspection.due;
            collector->inspection.any = collector->inspection.due = false;
            break;
        }
        if (!entry->shown || entry->waiting > 0 || entry->since == entry->inspected) {
            continue;
        }
        inspect_entry(collector, entry);
        keep_copy(collector, entry, &txn);
        collector->inspection.any = true;
        if (loop_now_ms(loop) - begin_ms >= BUDGET_MS) {
            break;
        }
    }
    if (txn) {
        store_commit(txn, NULL, NULL); /* if it never comes to that: as if not inspected yet */
    }
    if (!collector->inspection.rests) {
        loop_timer_set(collector->inspection.timer, pause_ms);
    }
}
