/* tests/unit/startd/draining_rig.h - a client that asks a startd to drain, over real connections.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_UNIT_STARTD_DRAINING_RIG_H
#define TESTS_UNIT_STARTD_DRAINING_RIG_H

#include "drain/drain_client.h"
#include "tests/unit/startd/startd_rig.h"

#define TWO_SLOTS "NUM_SLOTS = 2\n"
#define PATIENT   TWO_SLOTS "MAXJOBRETIREMENTTIME = 1000\nMACHINEMAXVACATETIME = 40\n"
#define IMPATIENT TWO_SLOTS "MAXJOBRETIREMENTTIME = 0\nMACHINEMAXVACATETIME = 40\n"

/* ---- the client */

struct asker {
    struct client *client;
    struct drain_client *drain;
    bool offered, done;
    char id[DRAIN_ID_MAX];
    enum drain_code code;
    char text[512];
    struct ad *answer;
};

static inline void on_offered(void *arg, const char *id, const struct ad *offer)
{
    struct asker *asker = arg;
    asker->offered = true;
    (void)snprintf(asker->id, sizeof asker->id, "%s", id);
    ad_destroy(asker->answer);
    asker->answer = ad_copy(offer);
}

static inline void on_done(void *arg, enum drain_code code, const char *text,
                           const struct ad *answer)
{
    struct asker *asker = arg;
    asker->done = true;
    asker->code = code;
    (void)snprintf(asker->text, sizeof asker->text, "%s", text);
    if (answer != NULL) {
        ad_destroy(asker->answer);
        asker->answer = ad_copy(answer);
    }
}

static const struct drain_client_events EVENTS = {.offered = on_offered, .done = on_done};

static inline void begin(struct rig *rig, const char *policy)
{
    stop(rig);
    load(rig, policy);
    start(rig);
    until(rig, is_connected);
}

static inline struct asker asker_as(struct rig *rig, uint32_t scopes)
{
    return (struct asker){.client = client_dial(rig->bed, scopes, "", NULL, NULL)};
}

static inline void asker_end(struct asker *asker)
{
    drain_client_destroy(asker->drain);
    asker->drain = NULL;
    asker->offered = asker->done = false;
    ad_destroy(asker->answer);
    asker->answer = NULL;
}

static inline bool is_answered(struct rig *rig);
static struct asker *waited_for; /* the client that is_answered() checks */

static inline bool is_answered(struct rig *rig)
{
    (void)rig;
    return waited_for->offered || waited_for->done;
}

static inline bool is_done(struct rig *rig)
{
    (void)rig;
    return waited_for->done;
}

/* Sends the request and waits for the offer or the refusal. */
static inline void ask(struct rig *rig, struct asker *asker, const char *text)
{
    struct ad *args = ad_from_text(text);
    struct drain_request request;
    assert_int_equal(drain_request_read(args, &request, NULL), DRAIN_OK);
    asker_end(asker);
    MUST(drain_client_start(asker->client->wire, "wn01", &request, &EVENTS, asker, &asker->drain,
                            err));
    drain_request_fini(&request);
    ad_destroy(args);
    waited_for = asker;
    until(rig, is_answered);
}

static inline void commit(struct rig *rig, struct asker *asker)
{
    drain_client_commit(asker->drain);
    waited_for = asker;
    until(rig, is_done);
}

/* Sends the request and commits the offer. */
static inline void drain_it(struct rig *rig, struct asker *asker, const char *text)
{
    ask(rig, asker, text);
    if (!asker->offered) {
        fail_msg("%s", asker->text);
    }
    commit(rig, asker);
    assert_int_equal(asker->code, DRAIN_OK);
}

static inline enum drain_code cancel(struct rig *rig, struct asker *asker, const char *id)
{
    asker_end(asker);
    MUST(drain_client_cancel(asker->client->wire, "wn01", id, NULL, &EVENTS, asker, &asker->drain,
                             err));
    waited_for = asker;
    until(rig, is_done);
    return asker->code;
}

/* ---- conditions to wait for */

static inline bool in_state(const struct rig *rig, size_t at, enum slot_state state,
                            enum slot_activity activity)
{
    const struct slot *slot = rig->startd->slots[at];
    return slot->state == state && slot->activity == activity;
}

static inline bool all_drained(struct rig *rig)
{
    return in_state(rig, 0, SLOT_DRAINED, SLOT_IDLE) && in_state(rig, 1, SLOT_DRAINED, SLOT_IDLE) &&
           rig->startd->draining.phase == DRAIN_COMPLETE;
}

static inline bool second_waits(struct rig *rig)
{
    return in_state(rig, 1, SLOT_DRAINED, SLOT_RETIRING);
}

static inline bool is_retiring(struct rig *rig)
{
    return is(rig, SLOT_CLAIMED, SLOT_RETIRING);
}

static inline bool all_unclaimed(struct rig *rig)
{
    return in_state(rig, 0, SLOT_UNCLAIMED, SLOT_IDLE) &&
           in_state(rig, 1, SLOT_UNCLAIMED, SLOT_IDLE);
}

static inline bool is_withdrawn(struct rig *rig)
{
    return rig->startd->draining.phase == DRAIN_NONE;
}

static inline bool piece_is_claimed(struct rig *rig)
{
    return rig->startd->slot_count == 2 && in_state(rig, 1, SLOT_CLAIMED, SLOT_IDLE);
}

static inline bool is_killed(struct rig *rig)
{
    return has_stop(rig) && rig->starter.fast;
}

static inline void run_job(struct rig *rig)
{
    run_it(rig);
    assert_int_equal(hello(rig, 1), 0);
}

/* The starter reports the end of the job with that reason, and its processes end. */
static inline void job_is_over(struct rig *rig, const char *reason)
{
    struct answer answer;
    assert_int_equal(tell(rig, VERB_STARTER_DONE, 1, reason, &answer), 0);
    answer_fini(&answer);
    end_script(rig);
}

/* The starter reports the end and an accepted result: the job ended by itself, just in time. */
static inline void job_has_delivered(struct rig *rig)
{
    struct answer answer;
    (void)tell_more(rig, VERB_STARTER_DONE, 1, "Reason = \"\"; Delivered = true", &answer);
    answer_fini(&answer);
    end_script(rig);
}

#endif
