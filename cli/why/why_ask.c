/* cli/why/why_ask.c - see why_ask.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/why/why_ask.h"

#include <errno.h>
#include <string.h>

#include "base/loop.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "cli/accounts.h"
#include "cli/analyze_plan.h"
#include "cli/listing.h"
#include "cli/rooster_ask.h"
#include "cli/why/why_node_plan.h"
#include "cli/why/why_reason_plan.h"
#include "cli/why/why_show_plan.h"
#include "offline_ads/offline_ads.h"
#include "wire/wire.h"

/* newest records of the ledger; the current boot's wake is among them */
#define RECORDS_MAX 20

void why_destroy_ad(void *ad)
{
    ad_destroy(ad);
}

void why_view_init(struct why_view *view, struct cli *cli)
{
    *view = (struct why_view){.cli = cli};
}

void why_view_fini(struct why_view *view)
{
    cli_reply_fini(&view->machines);
    cli_reply_fini(&view->negotiators);
    cli_reply_fini(&view->requests);
    cli_reply_fini(&view->accounts);
    cli_reply_fini(&view->sites);
    cli_reply_fini(&view->nodes.reply);
    vec_fini(&view->wholes, why_destroy_ad);
    mem_free(view->slots);
}

static int query_ads(struct why_view *view, const char *type, struct cli_reply *reply,
                     struct err *err)
{
    const struct listing all = {0};
    return listing_query(view->cli, view->cli->collector, NULL, type, &all, NULL, NULL, reply, err);
}

int why_view_load(struct why_view *view, struct err *err)
{
    if (view->loaded) {
        return 0;
    }
    int rc = cli_collector(view->cli, err);
    rc = rc != 0 ? rc : query_ads(view, "Machine", &view->machines, err);
    rc = rc != 0 ? rc : query_ads(view, "Negotiator", &view->negotiators, err);
    rc = rc != 0 ? rc : query_ads(view, "Request", &view->requests, err);
    rc = rc != 0 ? rc : query_ads(view, "Site", &view->sites, err);
    if (rc == 0) {
        const struct listing all = {0};
        struct err unknown; /* then nothing is said of ceilings and quotas */
        (void)accounts_query(view->cli, &all, &view->accounts, &unknown);
    }
    if (rc != 0) {
        return rc;
    }
    view->slots = mem_alloc((view->machines.ads.count + 1) * sizeof *view->slots);
    for (size_t i = 0; i < view->machines.ads.count; i++) {
        const struct ad *ad = view->machines.ads.items[i];
        if (ad_bool_or(ad, "Absent", false) || ad_bool_or(ad, "DynamicSlot", false)) {
            continue;
        }
        struct ad *whole = why_reason_whole(ad);
        if (whole != NULL) {
            vec_push(&view->wholes, whole);
        }
        view->slots[view->slot_count++] =
            (struct why_other){.ad = whole != NULL ? whole : ad,
                               .now = whole != NULL ? ad : NULL,
                               .offline = ad_bool_or(ad, "Offline", false),
                               .silent = offline_ads_is_silent(ad),
                               .weight = 1};
    }
    view->loaded = true;
    return 0;
}

/* Makes a question about an ad; context must outlive it. */
static struct why_question make_question(struct why_view *view, const struct ad *ad,
                                         const struct why_other *others, size_t count,
                                         const struct ad_context *context)
{
    why_time_start(&view->time, view->cli->loop);
    return (struct why_question){.ad = ad,
                                 .others = others,
                                 .other_count = count,
                                 .context = context,
                                 .is_over = why_time_is_over,
                                 .arg = &view->time};
}

static struct why_answer *answer_question(struct why_view *view, const struct ad *ad,
                                          const struct why_other *others, size_t count,
                                          bool changes)
{
    const struct ad_context context = listing_context(view->cli);
    struct why_question question = make_question(view, ad, others, count, &context);
    question.changes = changes;
    return why_plan_answer(&question);
}

void why_view_analyze(struct why_view *view, const struct ad *job, struct strbuf *out)
{
    const struct ad_context context = listing_context(view->cli);
    struct why_question question =
        make_question(view, job, view->slots, view->slot_count, &context);
    struct why_answer *judged = why_plan_answer(&question);
    analyze_plan_print(&question, judged, out);
    why_answer_destroy(judged);
}

struct why_answer *why_view_answer(struct why_view *view, const struct ad *job, bool changes)
{
    return answer_question(view, job, view->slots, view->slot_count, changes);
}

static void ask_nodes(struct why_view *view)
{
    struct why_nodes *nodes = &view->nodes;
    if (nodes->asked) {
        return;
    }
    nodes->asked = true;
    nodes->silence.text[0] = '\0';
    if (rooster_ask_find(view->cli, &nodes->rooster, &nodes->silence) == 0) {
        (void)rooster_ask_nodes(view->cli, &nodes->rooster, &nodes->reply, &nodes->silence);
    } /* what is wrong is in silence */
}

static const struct ad *node_called(const struct why_nodes *nodes, const char *word)
{
    for (size_t i = 0; i < nodes->reply.ads.count; i++) {
        const struct ad *node = nodes->reply.ads.items[i];
        if (ad_name_compare(ad_string_or(node, "Name", ""), word) == 0) {
            return node;
        }
    }
    return NULL;
}

/* Adds why the rooster does not wake the machine that is held for the job, if that is so. */
static void add_wake_hold(struct why_view *view, struct why_verdict *verdict)
{
    const struct ad *slot = verdict->places.sample_waking;
    bool held = verdict->reason == WHY_ASLEEP && verdict->places.held > 0 && slot != NULL;
    if (!held) {
        return;
    }
    ask_nodes(view);
    const char *machine = ad_string_or(slot, "Machine", "");
    const struct ad *node = node_called(&view->nodes, machine);
    const char *why = node != NULL ? ad_string_or(node, "WakeHeldBy", "") : "";
    if (why[0] != '\0') {
        struct strbuf text;
        strbuf_init(&text, 0);
        strbuf_printf(&text, "%s; it is not woken yet: %s", verdict->text, why);
        mem_free(verdict->text);
        verdict->text = strbuf_take(&text);
    }
}

void why_view_verdict(struct why_view *view, const struct ad *job, const struct why_answer *judged,
                      struct why_verdict *ret)
{
    const struct ad_context context = listing_context(view->cli);
    const struct ad *const *requests = (const struct ad *const *)view->requests.ads.items;
    const struct why_pool pool = {
        .job = job,
        .answer = judged,
        .slots = view->slots,
        .slot_count = view->slot_count,
        .negotiator = view->negotiators.ads.count > 0 ? view->negotiators.ads.items[0] : NULL,
        .request = why_reason_request(job, requests, view->requests.ads.count),
        .requests = requests,
        .request_count = view->requests.ads.count,
        .accounts = (const struct ad *const *)view->accounts.ads.items,
        .account_count = view->accounts.ads.count,
        .machines = (const struct ad *const *)view->machines.ads.items,
        .machine_count = view->machines.ads.count,
        .sites = (const struct ad *const *)view->sites.ads.items,
        .site_count = view->sites.ads.count,
        .context = &context};
    why_reason_find(&pool, ret);
    add_wake_hold(view, ret);
}

/* ---- slots */

static bool is_called(const struct ad *slot, const char *word)
{
    return ad_name_compare(ad_string_or(slot, "Name", ""), word) == 0 ||
           ad_name_compare(ad_string_or(slot, "Machine", ""), word) == 0;
}

static void answer_slot(struct why_view *view, const struct ad *slot,
                        const struct why_other *requests, const struct listing *listing,
                        struct strbuf *out, struct vec *answers)
{
    const char *name = ad_string_or(slot, "Name", "?");
    struct why_answer *judged =
        answer_question(view, slot, requests, view->requests.ads.count, false);
    if (listing->style == LISTING_TABLE) {
        const struct ad_context context = listing_context(view->cli);
        strbuf_puts(out, out->length > 0 ? "\n" : "");
        why_show_slot(slot, judged, &context, out);
    } else {
        vec_push(answers, why_show_ad("Slot", name, NULL, judged));
    }
    why_answer_destroy(judged);
}

/* ---- machines */

/* Appends what is known about a machine; false: neither the collector nor the rooster knows the
 * name. */
static bool answer_node(struct why_view *view, const char *word, const struct listing *listing,
                        struct strbuf *out, struct vec *answers)
{
    const struct why_nodes *nodes = &view->nodes;
    struct vec slots = {0};
    struct cli_reply records = {0};
    struct err err;
    if (strchr(word, '@') != NULL) {
        return false; /* a slot */
    }
    for (size_t i = 0; i < view->machines.ads.count; i++) {
        struct ad *ad = view->machines.ads.items[i];
        if (!ad_bool_or(ad, "DynamicSlot", false) &&
            ad_name_compare(ad_string_or(ad, "Machine", ""), word) == 0) {
            vec_push(&slots, ad);
        }
    }
    ask_nodes(view);
    struct why_node story = {.name = word,
                             .node = node_called(nodes, word),
                             .silence = nodes->silence.text[0] != '\0' ? nodes->silence.text : NULL,
                             .slots = (const struct ad **)slots.items,
                             .slot_count = slots.count};
    bool known = story.node != NULL || slots.count > 0;
    if (known && story.silence == NULL &&
        rooster_ask_records(view->cli, &nodes->rooster, word, RECORDS_MAX, &records, &err) == 0) {
        story.records = (const struct ad **)records.ads.items;
        story.record_count = records.ads.count;
    }
    const struct ad_context context = listing_context(view->cli);
    if (known && listing->style == LISTING_TABLE) {
        strbuf_puts(out, out->length > 0 ? "\n" : "");
        why_node_show(&story, &context, out);
    } else if (known) {
        vec_push(answers, why_node_ad(&story, &context));
    }
    cli_reply_fini(&records);
    vec_fini(&slots, NULL);
    return known;
}

int why_view_slots(struct why_view *view, const struct vec *words, const struct listing *listing,
                   struct strbuf *out, struct vec *answers, struct err *err)
{
    int rc = why_view_load(view, err);
    if (rc != 0) {
        return rc;
    }
    size_t count = view->requests.ads.count;
    struct why_other *requests = mem_alloc((count + 1) * sizeof *requests);
    for (size_t i = 0; i < count; i++) {
        const struct ad *ad = view->requests.ads.items[i];
        int64_t jobs = ad_int_or(ad, "JobCount", 1);
        requests[i] = (struct why_other){.ad = ad, .weight = jobs > 0 ? jobs : 1};
    }
    for (size_t i = 0; i < words->count && rc == 0; i++) {
        size_t found = answer_node(view, words->items[i], listing, out, answers) ? 1 : 0;
        for (size_t j = 0; j < view->machines.ads.count; j++) {
            if (is_called(view->machines.ads.items[j], words->items[i])) {
                answer_slot(view, view->machines.ads.items[j], requests, listing, out, answers);
                found++;
            }
        }
        if (found == 0) {
            rc = err_set(err, -ENOENT, "no such slot or machine: '%s'",
                         (const char *)words->items[i]);
        }
    }
    mem_free(requests);
    return rc;
}
