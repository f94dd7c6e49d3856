/* negotiator/userprio.c - answers queries about priorities and changes them: QUERY and USERPRIO,
 * relayed to our uplink, and the Accounting ads in the collector.
 *
 * A changed account is published before the answer is sent.  The hub keeps the order, so a caller
 * who then asks the collector sees the change.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/config/config.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "negotiator/groups.h"
#include "negotiator/negotiator.h"
#include "wire/wire.h"

#define ADS_PER_PART 500
#define HISTORY_ROWS 100000 /* rows in the answer to one query */

/* ---- the ads */

static void put_group(const struct negotiator *negotiator, const char *name, struct ad *ad)
{
    const struct groups *groups = negotiator->groups;
    size_t index = groups_find(groups, name);
    if (index == groups->count) {
        return; /* not configured any more */
    }
    const struct group_entry *entry = &groups->entries[index];
    ad_set_real(ad, "ConfigQuota", entry->config_quota);
    ad_set_real(ad, "EffectiveQuota", entry->quota);
    ad_set_real(ad, "SubtreeQuota", entry->subtree_quota);
    ad_set_real(ad, "GroupSortKey", entry->sort_key);
    ad_set_real(ad, "Requested", entry->in_use + entry->wanted);
    ad_set_string(ad, "SurplusPolicy",
                  entry->autoregroup      ? "regroup"
                  : entry->accept_surplus ? "byquota"
                                          : "no");
}

static struct ad *account_ad(const struct negotiator *negotiator, const struct shares_view *view,
                             const struct account *account)
{
    struct account_facts facts;
    struct ad *ad = ad_create();
    accountant_facts(negotiator->accountant, account, &facts);
    ad_set_string(ad, "MyType", "Accounting");
    ad_set_string(ad, "Name", facts.name);
    ad_set_string(ad, "NegotiatorName", negotiator->name);
    ad_set_string(ad, "AccountingGroup", facts.group);
    ad_set_bool(ad, "IsAccountingGroup", facts.is_group);
    ad_set_real(ad, "Priority", facts.real * facts.factor);
    ad_set_real(ad, "RealPriority", facts.real);
    ad_set_real(ad, "PriorityFactor", facts.factor);
    ad_set_int(ad, "ResourcesUsed", (int64_t)facts.slots);
    ad_set_real(ad, "WeightedResourcesUsed", facts.weight);
    ad_set_real(ad, "AccumulatedUsage", facts.slots_s);
    ad_set_real(ad, "WeightedAccumulatedUsage", facts.weighted_s);
    ad_set_int(ad, "BeginUsageTime", facts.begin_s);
    ad_set_int(ad, "LastUsageTime", facts.last_s);
    ad_set_int(ad, "LastUpdate", accountant_settled_ms(negotiator->accountant) / 1000);
    if (facts.ceiling >= 0) {
        ad_set_real(ad, "Ceiling", facts.ceiling);
    } else {
        ad_set_int(ad, "Ceiling", -1);
    }
    ad_set_real(ad, "Floor", facts.floor);
    if (facts.is_group) {
        put_group(negotiator, facts.name, ad);
    } else {
        shares_view_show(view, &facts, ad);
    }
    return ad;
}

/* ---- publishing */

static void publish_answered(void *arg, struct wire_reply *reply)
{
    const struct negotiator *negotiator = arg;
    if (reply->status != 0 && reply->status != -ECONNRESET) {
        log_debug(negotiator->env.log, "update.refused", reply->text);
    }
}

static void send_ads(struct negotiator *negotiator, struct wire *wire, struct vec *ads)
{
    for (size_t at = 0; at < ads->count; at += ADS_PER_PART) {
        struct ad *args = ad_create();
        ad_set_int(args, "Epoch", (int64_t)negotiator->epoch);
        ad_set_int(args, "Sequence", (int64_t)++negotiator->sequence);
        ad_set_bool(args, "Full", true);
        const struct wire_body body = {.args = args,
                                       .ads = (const struct ad *const *)ads->items + at,
                                       .ad_count = ads->count - at < ADS_PER_PART ? ads->count - at
                                                                                  : ADS_PER_PART};
        (void)wire_call(wire, VERB_UPDATE, &body, 0, publish_answered,
                        negotiator); /* else: next time */
        ad_destroy(args);
    }
    vec_fini(ads, ad_destroy_item);
}

void userprio_publish(struct negotiator *negotiator, const char *name)
{
    struct wire *wire = uplink_wire(negotiator->uplink);
    struct vec ads = {0};
    const struct account *account;
    size_t at = 0;
    if (wire == NULL || !negotiator->lease.leads) {
        return;
    }
    struct shares_view *view = shares_view_create(negotiator);
    while (name == NULL && (account = accountant_next(negotiator->accountant, &at)) != NULL) {
        vec_push(&ads, account_ad(negotiator, view, account));
    }
    account = name != NULL ? accountant_find(negotiator->accountant, name) : NULL;
    if (account != NULL) {
        vec_push(&ads, account_ad(negotiator, view, account));
    }
    shares_view_destroy(view);
    send_ads(negotiator, wire, &ads);
}

static void withdraw_ad(struct negotiator *negotiator, const char *name)
{
    struct wire *wire = uplink_wire(negotiator->uplink);
    if (wire == NULL) {
        return;
    }
    struct ad *args = ad_create();
    ad_set_string(args, "Type", "Accounting");
    ad_set_strings(args, "Names", &name, 1);
    ad_set_int(args, "Epoch", (int64_t)negotiator->epoch);
    ad_set_int(args, "Sequence", (int64_t)++negotiator->sequence);
    const struct wire_body body = {.args = args};
    (void)wire_call(wire, VERB_INVALIDATE, &body, 0, publish_answered,
                    negotiator); /* else: it expires */
    ad_destroy(args);
}

/* ---- QUERY */

struct answer {
    struct wire_request *request; /* NULL: its connection is gone */
    struct negotiator *negotiator;
    struct ad_expr *constraint; /* NULL: all */
    int64_t limit, count;
    struct vec pending; /* struct ad, owned */
};

static void answer_destroy(struct answer *answer)
{
    vec_fini(&answer->pending, ad_destroy_item);
    ad_expr_destroy(answer->constraint);
    mem_free(answer);
}

/* Begins an answer; NULL: the request was refused. */
static struct answer *answer_create(struct negotiator *negotiator, struct wire_request *request)
{
    const struct ad *args = wire_request_args(request);
    const char *constraint = ad_string_or(args, "Constraint", "");
    int64_t limit = ad_int_or(args, "Limit", 0);
    struct answer *answer = mem_zalloc(sizeof *answer);
    struct err err;
    answer->request = request;
    answer->negotiator = negotiator;
    answer->limit = limit > 0 ? limit : INT64_MAX;
    if (constraint[0] != '\0' &&
        ad_expr_parse(constraint, strlen(constraint), AD_OLD, &answer->constraint, &err) != 0) {
        wire_reply_error(request, -EINVAL, "constraint: %s", err.text);
        answer_destroy(answer);
        return NULL;
    }
    return answer;
}

/* Adds an ad to the answer and takes it over. */
static void answer_add(struct answer *answer, struct ad *ad)
{
    const struct ad_context context = negotiator_context(answer->negotiator);
    if (answer->count >= answer->limit ||
        (answer->constraint != NULL &&
         ad_eval_bool(answer->constraint, ad, NULL, &context) != AD_TRUE)) {
        ad_destroy(ad);
        return;
    }
    answer->count++;
    vec_push(&answer->pending, ad);
    if (answer->pending.count == ADS_PER_PART && answer->request != NULL) {
        const struct wire_body body = {.ads = (const struct ad *const *)answer->pending.items,
                                       .ad_count = answer->pending.count};
        (void)wire_reply_part(answer->request, &body); /* all is in memory: no need to wait */
        vec_clear(&answer->pending, ad_destroy_item);
    }
}

static void answer_end(struct answer *answer)
{
    if (answer->request != NULL) {
        struct ad *args = ad_create();
        ad_set_int(args, "Count", answer->count);
        const struct wire_body body = {.args = args,
                                       .ads = (const struct ad *const *)answer->pending.items,
                                       .ad_count = answer->pending.count};
        wire_reply_ok(answer->request, &body);
        ad_destroy(args);
    }
    answer_destroy(answer);
}

static void answer_gone(void *arg)
{
    ((struct answer *)arg)->request = NULL; /* the scan ends it */
}

static void history_found(void *arg, int result, const struct ad *const *ads, size_t count)
{
    struct answer *answer = arg;
    if (result != 0 && answer->request != NULL) {
        wire_reply_error(answer->request, result, "cannot read the history of usage: %s",
                         err_code_text(result));
        answer->request = NULL;
    }
    for (size_t i = 0; i < count; i++) {
        answer_add(answer, ad_copy(ads[i]));
    }
    answer_end(answer);
}

static void query_history(struct answer *answer)
{
    struct negotiator *negotiator = answer->negotiator;
    const struct ad *args = wire_request_args(answer->request);
    int64_t now_s = loop_wall_s(negotiator->env.loop);
    const char *name = ad_string_or(args, "Name", "");
    wire_request_on_gone(answer->request, answer_gone, answer);
    accountant_history(negotiator->accountant, name[0] != '\0' ? name : NULL,
                       ad_bool_or(args, "ByHour", false), ad_int_or(args, "Since", 0),
                       ad_int_or(args, "Until", now_s + 1), HISTORY_ROWS, history_found, answer);
}

void userprio_query(struct negotiator *negotiator, struct wire_request *request)
{
    const struct ad *args = wire_request_args(request);
    const char *type = ad_string_or(args, "Type", "");
    bool accounts = text_equal_nocase(type, "Accounting");
    bool history = text_equal_nocase(type, "Usage");
    bool machines = text_equal_nocase(type, "SubmittingMachine");
    if (!accounts && !history && !machines) {
        wire_reply_error(request, -ENOENT, "a negotiator has no ads of type '%.50s'", type);
        return;
    }
    struct answer *answer = answer_create(negotiator, request);
    if (answer == NULL) {
        return;
    }
    if (history) {
        query_history(answer);
        return;
    }
    const struct account *account;
    struct ad *ad;
    size_t at = 0;
    if (accounts) {
        usage_settle(negotiator); /* as of now */
    }
    struct shares_view *view = shares_view_create(negotiator);
    while (accounts && (account = accountant_next(negotiator->accountant, &at)) != NULL) {
        answer_add(answer, account_ad(negotiator, view, account));
    }
    shares_view_destroy(view);
    while (machines && (ad = update_prio_next(negotiator, &at)) != NULL) {
        answer_add(answer, ad);
    }
    answer_end(answer);
}

/* ---- USERPRIO */

static const struct {
    const char *attribute;
    enum account_value value;
} VALUES[] = {
    {"Priority", ACCOUNT_PRIORITY},
    {"PriorityFactor", ACCOUNT_FACTOR},
    {"Ceiling", ACCOUNT_CEILING},
    {"Floor", ACCOUNT_FLOOR},
    {"BeginUsageTime", ACCOUNT_BEGIN},
    {"LastUsageTime", ACCOUNT_LAST},
    {"AccumulatedUsage", ACCOUNT_ACCUMULATED},
};

struct change_call { /* a USERPRIO whose change is on its way to the disk */
    struct negotiator *negotiator;
    struct wire_request *request; /* NULL: its connection is gone */
    char *name;                   /* NULL: all */
    bool deleted;
};

static void call_gone(void *arg)
{
    ((struct change_call *)arg)->request = NULL;
}

static void call_destroy(struct change_call *call)
{
    mem_free(call->name);
    mem_free(call);
}

static void change_durable(void *arg)
{
    struct change_call *call = arg;
    struct negotiator *negotiator = call->negotiator;
    for (size_t i = 0; i < negotiator->changes.count; i++) {
        if (negotiator->changes.items[i] == call) {
            vec_remove_at(&negotiator->changes, i);
            break;
        }
    }
    if (call->deleted) {
        withdraw_ad(negotiator, call->name);
    } else {
        userprio_publish(negotiator, call->name);
    }
    if (call->request != NULL) {
        wire_reply_ok(call->request, NULL);
    }
    call_destroy(call);
    rejections_anew(negotiator);
    negotiator_cycle_soon(negotiator);
}

void userprio_fini(struct negotiator *negotiator)
{
    for (size_t i = 0; i < negotiator->changes.count; i++) {
        call_destroy(negotiator->changes.items[i]); /* the store is closed */
    }
    vec_fini(&negotiator->changes, NULL);
}

static int set_value(struct negotiator *negotiator, const struct ad *args, const char *name,
                     struct change_call *call, struct err *err)
{
    const char *attribute = ad_string_or(args, "Attribute", "");
    double value;
    if (ad_get_real(args, "Value", &value) != 0) {
        return err_set(err, -EINVAL, "Value must be a number");
    }
    for (size_t i = 0; i < ARRAY_COUNT(VALUES); i++) {
        if (text_equal_nocase(VALUES[i].attribute, attribute)) {
            return accountant_set(negotiator->accountant, name, VALUES[i].value, value,
                                  change_durable, call, err);
        }
    }
    return err_set(err, -EINVAL, "unknown Attribute '%.50s' of an account", attribute);
}

static int carry_out(struct negotiator *negotiator, const struct ad *args, struct change_call *call,
                     struct err *err)
{
    const char *action = ad_string_or(args, "Action", ""), *name = ad_string_or(args, "Name", "");
    int64_t now_s = loop_wall_s(negotiator->env.loop);
    usage_settle(negotiator); /* what was used until now belongs to the time before */
    call->name = name[0] != '\0' ? mem_strdup(name) : NULL;
    if (text_equal_nocase(action, "ResetAll")) {
        mem_free(call->name);
        call->name = NULL;
        return accountant_reset(negotiator->accountant, NULL, now_s, change_durable, call, err);
    }
    if (call->name == NULL) {
        return err_set(err, -EINVAL, "Name, a submitter or group, is missing");
    }
    if (text_equal_nocase(action, "Set")) {
        return set_value(negotiator, args, name, call, err);
    }
    if (text_equal_nocase(action, "ResetUsage")) {
        return accountant_reset(negotiator->accountant, name, now_s, change_durable, call, err);
    }
    if (text_equal_nocase(action, "Delete")) {
        call->deleted = true;
        return accountant_delete(negotiator->accountant, name, change_durable, call, err);
    }
    return err_set(err, -EINVAL,
                   "unknown Action '%.50s'; expected Set, ResetUsage, ResetAll or Delete", action);
}

void userprio_change(struct negotiator *negotiator, struct wire_request *request)
{
    const struct ad *args = wire_request_args(request);
    struct err err;
    if (!negotiator->lease.leads) {
        wire_reply_error(request, -EAGAIN,
                         "this negotiator does not have the lease; try again later");
        return;
    }
    struct change_call *call = mem_zalloc(sizeof *call);
    call->negotiator = negotiator;
    call->request = request;
    int rc = carry_out(negotiator, args, call, &err);
    if (rc != 0) {
        wire_reply_error(request, rc, "%s", err.text);
        call_destroy(call);
        return;
    }
    wire_request_on_gone(request, call_gone, call);
    vec_push(&negotiator->changes, call);
    log_info(negotiator->env.log, "userprio.changed", ad_string_or(args, "Action", ""),
             LOG_TEXT("name", call->name != NULL ? call->name : "*"),
             LOG_TEXT("attribute", ad_string_or(args, "Attribute", "")),
             LOG_TEXT("by", wire_request_peer(request)->identity));
}
