/* collector/collector_invalidate.c - INVALIDATE: a sender removes its ads.
 *
 * Names are removed at once.  A constraint is evaluated in slices of counted work, as in a query:
 * one that costs a millisecond in each of 100,000 ads holds up nobody.  An ad that is updated after
 * the message stays: by the stamp of the sender or, if the sender gives none, by the time.  The
 * walk goes on even if the sender disconnects.  Walks wait for one another, so that together they
 * take one slice per turn.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/slices.h"
#include "classad/ad.h"
#include "classad/ad_limits.h"
#include "collector/collector_ads.h"
#include "collector/collector_batch.h"
#include "collector/collector_state.h"
#include "collector/collector_verbs.h"
#include "wire/wire.h"

#define WALKS_MAX  100 /* walks that may wait for one another */
#define TAKE_STEPS 400 /* what taking an ad away counts in a slice */

struct invalidation {
    struct invalidation *next; /* in the collector's queue of walks */
    struct collector *collector;
    struct wire_request *request;
    struct batch *batch; /* batch of the current slice */
    struct plan_stamp stamp;
    uint64_t begin_ms;
    bool offline, absent;       /* meant are ads of this kind only */
    struct ad_expr *constraint; /* NULL: none */
    struct ads_cursor cursor;   /* valid if there is a constraint */
    struct ad_work work;
    bool walks, too_costly;
    unsigned batches; /* batches that are not public yet */
    int64_t count;    /* taken away */
};

static void invalidation_destroy(struct invalidation *invalidation)
{
    if (invalidation->cursor.ads) {
        ads_cursor_fini(&invalidation->cursor);
    }
    ad_expr_destroy(invalidation->constraint);
    mem_free(invalidation);
}

/* ---- which ads ------------------------------------------------------------------------------- */

/* Returns whether the sender may remove this ad, the ad is not newer than the message, and it is of
 * the wanted kind.  A startd that stops does not remove the offline ads of its sleeping machine. */
static bool is_meant(const struct invalidation *invalidation, const struct ads_entry *entry)
{
    if (!entry || !entry->latest) {
        return false;
    }
    return !plan_is_old(&entry->stamp, &invalidation->stamp) &&
           entry->heard_ms <= (int64_t)invalidation->begin_ms &&
           collector_is_holder(wire_request_peer(invalidation->request), entry->type,
                               entry->name) &&
           entry->latest_offline == invalidation->offline &&
           entry->latest_absent == invalidation->absent;
}

static void take_away(struct invalidation *invalidation, struct ads_entry *entry)
{
    if (!is_meant(invalidation, entry)) {
        return;
    }
    if (invalidation->collector->settings.expire_invalidated && !entry->latest_offline) {
        collector_end_ad(invalidation->collector, invalidation->batch, entry);
    } else {
        batch_remove(invalidation->batch, entry);
    }
    invalidation->count++;
}

static void take_names(struct invalidation *invalidation, const char *type)
{
    struct ad_value names;
    (void)ad_eval_attr(wire_request_args(invalidation->request), NULL, "Names", NULL,
                       &names); /* absent: none */
    size_t name_count = ad_value_count(&names);
    for (size_t i = 0; i < name_count; i++) {
        struct ad_value name;
        ad_value_item(&names, i, &name);
        if (name.type == AD_TYPE_STRING) {
            take_away(invalidation,
                      collector_ads_find(invalidation->collector->ads, type, name.string.text));
        }
        ad_value_fini(&name);
    }
    ad_value_fini(&names);
}

/* Evaluates the constraint in the shown ad, and removes the ad if it matches. */
static void judge_entry(struct invalidation *invalidation, struct ads_entry *entry)
{
    struct ad_context context = collector_context(invalidation->collector);
    context.work = &invalidation->work;
    const struct ad *shown = is_meant(invalidation, entry) ? entry->shown : NULL;
    if (shown && ad_eval_bool(invalidation->constraint, shown, NULL, &context) == AD_TRUE) {
        take_away(invalidation, entry);
        invalidation->work.steps += TAKE_STEPS;
    }
}

/* ---- in slices ------------------------------------------------------------------------------- */

static void end_if_over(struct invalidation *invalidation)
{
    if (invalidation->walks || invalidation->batches > 0) {
        return;
    }
    if (invalidation->too_costly) {
        collector_refuse_costly(invalidation->collector, invalidation->request,
                                &invalidation->work);
    } else {
        collector_answer_ok(collector_answer_create(invalidation->request, invalidation->count));
    }
    invalidation_destroy(invalidation);
}

static void is_public(void *arg)
{
    struct invalidation *invalidation = arg;
    invalidation->batches--;
    end_if_over(invalidation);
}

/* The collector ends before the commit: frees the invalidation. */
static void drop_invalidation(void *arg)
{
    struct invalidation *invalidation = arg;
    invalidation->batches--;
    if (!invalidation->walks && invalidation->batches == 0) {
        collector_drop_request(invalidation->request);
        invalidation_destroy(invalidation);
    }
}

static void slice_begin(struct invalidation *invalidation)
{
    invalidation->batch = batch_begin(invalidation->collector);
    invalidation->batches++;
}

/* Ends a slice; may free the invalidation. */
static void slice_end(struct invalidation *invalidation)
{
    struct batch *batch = invalidation->batch;
    invalidation->batch = NULL;
    batch_end(batch, is_public, drop_invalidation, invalidation);
}

/* Continues the walk for one slice.  False: the walk is complete. */
static bool look_on(struct invalidation *invalidation)
{
    uint64_t end = invalidation->work.steps + AD_SLICE_STEPS;
    while (invalidation->work.steps < end) {
        struct ads_entry *entry = ads_cursor_next(&invalidation->cursor);
        if (!entry) {
            return false;
        }
        invalidation->work.steps += AD_LOOK_STEPS;
        judge_entry(invalidation, entry);
    }
    return true;
}

void collector_invalidate_some(void *arg)
{
    struct collector *collector = arg;
    struct invalidation *first = collector->invalidations;
    if (!first) {
        return;
    }
    slice_begin(first);
    bool goes_on = look_on(first);
    first->too_costly = goes_on && collector_is_too_costly(collector, &first->work);
    if (!goes_on || first->too_costly) {
        collector->invalidations = first->next;
        first->walks = false;
    }
    slice_end(first);
    if (collector->invalidations) {
        slice_work_want(collector->invalidating);
    }
}

void collector_invalidations_drop(struct collector *collector)
{
    while (collector->invalidations) {
        struct invalidation *first = collector->invalidations;
        collector->invalidations = first->next;
        collector_drop_request(first->request);
        invalidation_destroy(first);
    }
}

/* ---- asking ---------------------------------------------------------------------------------- */

/* Returns where to append the next walk; NULL: too many are waiting. */
static struct invalidation **queue_end(struct collector *collector)
{
    struct invalidation **link = &collector->invalidations;
    for (unsigned count = 0; *link; link = &(*link)->next) {
        if (++count == WALKS_MAX) {
            return NULL;
        }
    }
    return link;
}

/* Returns whether one of the names belongs to another sender's ad; err says which. */
static bool names_denied(const struct collector *collector, const struct wire_request *request,
                         const char *type, struct err *err)
{
    struct ad_value names;
    bool denied = false;
    (void)ad_eval_attr(wire_request_args(request), NULL, "Names", NULL, &names); /* absent: none */
    size_t count = ad_value_count(&names);
    for (size_t i = 0; i < count && !denied; i++) {
        struct ad_value name;
        ad_value_item(&names, i, &name);
        const struct ads_entry *entry =
            name.type == AD_TYPE_STRING ? collector_ads_find(collector->ads, type, name.string.text)
                                        : NULL;
        denied = entry && entry->latest &&
                 !collector_is_holder(wire_request_peer(request), entry->type, entry->name);
        if (denied) {
            (void)err_set(err, -EACCES, "your token does not allow you to remove the ad '%.100s'",
                          name.string.text);
        }
        ad_value_fini(&name);
    }
    ad_value_fini(&names);
    return denied;
}

void collector_invalidate(struct session *session, struct wire_request *request)
{
    struct collector *collector = session->collector;
    const struct ad *args = wire_request_args(request);
    const char *type = ad_string_or(args, "Type", "");
    const char *text = ad_string_or(args, "Constraint", "");
    unsigned roles = collector_roles(wire_request_peer(request));
    struct ad_expr *constraint = NULL;
    struct invalidation **link = queue_end(collector);
    struct err err = {""};
    if (!plan_may_advertise(roles, type)) {
        wire_reply_error(request, -EACCES, "your token does not allow ads of type '%s'", type);
        return;
    }
    if (names_denied(collector, request, type, &err)) {
        wire_reply_error(request, -EACCES, "%s", err.text);
        return;
    }
    if (*text && !link) {
        wire_reply_error(request, -EBUSY, "%d INVALIDATE requests wait already; try again later",
                         WALKS_MAX);
        return;
    }
    if (*text && ad_expr_parse(text, strlen(text), AD_OLD, &constraint, &err) != 0) {
        wire_reply_error(request, -EINVAL, "Constraint: %s", err.text);
        return;
    }
    struct invalidation *invalidation = mem_alloc(sizeof(*invalidation));
    *invalidation = (struct invalidation){.collector = collector,
                                          .request = request,
                                          .stamp = collector_stamp(session, args),
                                          .begin_ms = loop_now_ms(collector->env.loop),
                                          .offline = ad_bool_or(args, "Offline", false),
                                          .absent = ad_bool_or(args, "Absent", false),
                                          .constraint = constraint,
                                          .walks = constraint != NULL};
    session->last = invalidation->stamp;
    if (constraint) {
        bool is_first = link == &collector->invalidations;
        ads_cursor_init(&invalidation->cursor, collector->ads, type);
        *link = invalidation;
        if (is_first) {
            slice_work_want(collector->invalidating);
        }
    }
    slice_begin(invalidation);
    take_names(invalidation, type);
    slice_end(invalidation);
}
