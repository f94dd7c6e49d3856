/* tests/unit/wire/test_revocations.c - a revocation reaches everybody who is asked through the hub.
 *
 * The hub here is a real one, with a table of ads of type Revocation that it publishes, as the
 * collector does.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/wire/world.h"

#include "base/strmap.h"
#include "wire/revocations.h"
#include "wire/watch.h"
#include "wire/wire_private.h"

#define ROOT "id-of-root@pool"

/* ---- the hub --------------------------------------------------------------------------------- */

struct center {
    struct world *world;
    struct hub *hub;
    struct strmap *ads;
    struct watch_server *server;
    struct wire_request *held; /* a WATCH that waits for release() */
    bool hold, refuse;
    unsigned watches;
};

static void table_walk(void *arg, const char *type, watch_each_f each, void *each_arg)
{
    struct center *center = arg;
    size_t at = 0;
    const char *key = NULL;
    void *ad = NULL;
    while (strcmp(type, "Revocation") == 0 && strmap_next(center->ads, &at, &key, &ad) &&
           each(each_arg, key)) {
    }
}

static const struct ad *table_get(void *arg, const char *type, const char *key)
{
    (void)type;
    return strmap_get(((struct center *)arg)->ads, key);
}

static void publish_ad(struct center *center, struct ad *ad)
{
    const char *id = ad_string_or(ad, "TokenId", "");
    ad_set_string(ad, "MyType", "Revocation");
    ad_set_string(ad, "Name", id);
    ad_destroy(strmap_set(center->ads, id, ad));
    watch_server_changed(center->server, "Revocation", id, ad);
}

/* A revocation, signed by the holder of that token; the ad is the caller's. */
static struct ad *signed_by(struct world *world, const struct token *token, const char *id,
                            int64_t expires_s)
{
    char path[160];
    struct wire_context *context = NULL;
    struct ad *ad = ad_create();
    (void)snprintf(path, sizeof path, "%s/token.boss", world->dir);
    char *text = world_issue(world, token);
    world_write(world, path, text);
    mem_free(text);
    const struct wire_context_options options = {.loop = world->loop,
                                                 .os = world->os,
                                                 .token_path = path};
    MUST(wire_context_create(&options, &context, err));
    MUST(revocation_sign(context, id, expires_s, ad, err));
    wire_context_destroy(context);
    return ad;
}

static struct token boss_of(struct world *world)
{
    return world_token_of(world, "boss@pool", SCOPE_ADMINISTRATOR);
}

static void publish(struct center *center, const char *id, int64_t expires_s)
{
    struct token boss = boss_of(center->world);
    publish_ad(center, signed_by(center->world, &boss, id, expires_s));
}

static void withdraw(struct center *center, const char *id)
{
    ad_destroy(strmap_remove(center->ads, id));
    watch_server_gone(center->server, "Revocation", id);
}

static void center_ready(struct world *world, struct wire *wire)
{
    struct center *center = world->handler_arg;
    assert_int_equal(hub_add(center->hub, wire, NULL), 0);
}

static void center_closed(struct world *world, struct wire *wire)
{
    hub_remove(((struct center *)world->handler_arg)->hub, wire);
}

static void center_request(void *arg, struct wire_request *request)
{
    struct center *center = arg;
    if (wire_request_verb(request) == VERB_RELAY) {
        hub_relay(center->hub, request);
        return;
    }
    assert_int_equal(wire_request_verb(request), VERB_WATCH);
    center->watches++;
    if (center->refuse) {
        wire_reply_error(request, -EBUSY, "not now");
    } else if (center->hold) {
        center->held = request;
    } else {
        watch_server_add(center->server, request);
    }
}

static void release(struct center *center)
{
    watch_server_add(center->server, center->held);
    center->held = NULL;
}

static void center_start(struct world *world, struct center *center)
{
    static const struct watch_server_source SOURCE = {.walk = table_walk, .get = table_get};
    *center = (struct center){.world = world,
                              .hub = hub_create(world->server),
                              .ads = strmap_create(STRMAP_CASE_SENSITIVE)};
    center->server = watch_server_create(world->loop, &SOURCE, center);
    world->handler = center_request;
    world->handler_arg = center;
    world->accepted_ready = center_ready;
    world->accepted_closed = center_closed;
}

static void center_end(struct center *center)
{
    watch_server_destroy(center->server);
    hub_destroy(center->hub);
    strmap_destroy(center->ads, ad_destroy_item);
    center->world->accepted_closed = NULL;
}

/* ---- a daemon -------------------------------------------------------------------------------- */

struct daemon_of_test {
    struct world *world;
    struct wire_context *context;
    struct uplink *uplink;
    char token_path[160], path[160];
    bool is_up, gone;
    unsigned requests;
    struct wire_request *kept;
};

static void daemon_gone(void *arg)
{
    ((struct daemon_of_test *)arg)->gone = true;
}

static void daemon_request(void *arg, struct wire_request *request)
{
    struct daemon_of_test *asked = arg;
    asked->requests++;
    if (wire_request_verb(request) == VERB_POWER_DOWN) {
        asked->kept = request;
        wire_request_on_gone(request, daemon_gone, asked);
        return;
    }
    wire_reply_ok(request, NULL);
}

static void daemon_up(void *arg, struct wire *wire)
{
    struct daemon_of_test *asked = arg;
    asked->is_up = true;
    revocations_watch(asked->context, wire);
}

static void daemon_context(struct world *world, struct daemon_of_test *asked)
{
    struct token token = world_token_of(world, "startd@pool", SCOPE_ADVERTISE);
    *asked = (struct daemon_of_test){.world = world};
    (void)snprintf(asked->token_path, sizeof asked->token_path, "%s/token.startd", world->dir);
    (void)snprintf(asked->path, sizeof asked->path, "%s/spool/revoked.startd", world->dir);
    char *text = world_issue(world, &token);
    world_write(world, asked->token_path, text);
    mem_free(text);
    const struct wire_context_options options = {.loop = world->loop,
                                                 .os = world->os,
                                                 .log = world->log,
                                                 .token_path = asked->token_path,
                                                 .pool_keys = world->keys,
                                                 .pool = "pool",
                                                 .revocations_path = asked->path};
    MUST(wire_context_create(&options, &asked->context, err));
}

static void daemon_start(struct world *world, struct daemon_of_test *asked)
{
    static const struct uplink_events EVENTS = {.up = daemon_up, .request = daemon_request};
    const struct wire_dial dial = {.address = world->tcp,
                                   .route = "collector",
                                   .name = "startd/wn01",
                                   .pin = world->pin};
    daemon_context(world, asked);
    MUST(uplink_create(asked->context, &dial, &EVENTS, asked, &asked->uplink, err));
    world_until_flag(world, &asked->is_up);
}

static void daemon_end(struct daemon_of_test *asked)
{
    uplink_destroy(asked->uplink);
    wire_context_destroy(asked->context);
}

struct revoked {
    const struct daemon_of_test *asked;
    const char *id;
};

static bool is_revoked(void *arg)
{
    const struct revoked *revoked = arg;
    return wire_context_is_revoked(revoked->asked->context, revoked->id);
}

static void until_revoked(struct daemon_of_test *asked, const char *id)
{
    struct revoked revoked = {asked, id};
    world_until(asked->world, is_revoked, &revoked);
}

/* ---- callers --------------------------------------------------------------------------------- */

struct answer {
    bool done;
    int status;
    char text[300];
};

static void on_answer(void *arg, struct wire_reply *reply)
{
    struct answer *answer = arg;
    answer->done = !reply->more;
    answer->status = reply->status;
    (void)snprintf(answer->text, sizeof answer->text, "%s", reply->text);
}

static void ask(struct end *caller, enum wire_verb verb, uint64_t deadline_ms,
                struct answer *answer)
{
    *answer = (struct answer){0};
    assert_true(
        wire_relay(caller->wire, "startd/wn01", verb, NULL, deadline_ms, on_answer, answer) > 0);
}

/* A hub, a daemon, and an administrator whose token the hub does not know to be revoked: a hub that
 * was broken into lets it in. */
struct pool {
    struct center center;
    struct daemon_of_test asked;
    struct end caller;
};

static void pool_start(struct world *world, struct pool *pool)
{
    center_start(world, &pool->center);
    daemon_start(world, &pool->asked);
    world_connect(world, "root@pool", SCOPE_ADMINISTRATOR, &pool->caller);
}

static void pool_end(struct pool *pool)
{
    daemon_end(&pool->asked);
    center_end(&pool->center);
}

static unsigned lines_with(struct world *world, const char *event)
{
    unsigned count = 0;
    for (const char *at = strstr(strbuf_text(&world->log_text), event); at != NULL;
         at = strstr(at + 1, event)) {
        count++;
    }
    return count;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void a_revoked_administrator_drains_no_machine(void **state)
{
    struct world *world = *state;
    struct pool pool;
    struct answer answer;
    pool_start(world, &pool);
    ask(&pool.caller, VERB_START_DRAINING, 0, &answer);
    world_until_flag(world, &answer.done);
    assert_int_equal(answer.status, 0);
    publish(&pool.center, ROOT, 0);
    until_revoked(&pool.asked, ROOT);
    ask(&pool.caller, VERB_START_DRAINING, 0, &answer);
    world_until_flag(world, &answer.done);
    assert_int_equal(answer.status, -EKEYREVOKED);
    assert_non_null(strstr(answer.text, "token revoked (id '" ROOT "'"));
    assert_int_equal(pool.asked.requests, 1);
    pool_end(&pool);
}

static bool has_kept(void *arg)
{
    return ((struct daemon_of_test *)arg)->kept != NULL;
}

static void a_request_that_is_under_way_ends(void **state)
{
    struct world *world = *state;
    struct pool pool;
    struct answer answer;
    pool_start(world, &pool);
    ask(&pool.caller, VERB_POWER_DOWN, 0, &answer);
    world_until(world, has_kept, &pool.asked);
    publish(&pool.center, ROOT, 0);
    world_until_flag(world, &answer.done);
    assert_int_equal(answer.status, -EKEYREVOKED);
    assert_true(pool.asked.gone);
    struct end other;
    struct answer others;
    world_connect(world, "other@pool", SCOPE_ADMINISTRATOR, &other);
    ask(&other, VERB_START_DRAINING, 0, &others);
    world_until_flag(world, &others.done);
    assert_int_equal(others.status, 0);
    pool_end(&pool);
}

static void nothing_is_done_before_the_revocations_are_known(void **state)
{
    struct world *world = *state;
    struct pool pool;
    struct answer first, second;
    center_start(world, &pool.center);
    pool.center.hold = true;
    daemon_start(world, &pool.asked);
    world_connect(world, "root@pool", SCOPE_ADMINISTRATOR, &pool.caller);
    ask(&pool.caller, VERB_START_DRAINING, 0, &first);
    ask(&pool.caller, VERB_START_DRAINING, 0, &second);
    world_turns(world);
    assert_int_equal(pool.asked.requests, 0);
    assert_false(first.done);
    publish(&pool.center, "id-of-nobody@pool", 0);
    release(&pool.center);
    world_until_flag(world, &first.done);
    world_until_flag(world, &second.done);
    assert_int_equal(first.status, 0);
    assert_int_equal(second.status, 0);
    assert_int_equal(pool.asked.requests, 2);
    assert_int_equal(lines_with(world, " revocations.awaited "), 1);
    pool_end(&pool);
}

static void a_caller_without_time_is_told_why(void **state)
{
    struct world *world = *state;
    struct pool pool;
    struct answer answer;
    center_start(world, &pool.center);
    pool.center.hold = true;
    daemon_start(world, &pool.asked);
    world_connect(world, "root@pool", SCOPE_ADMINISTRATOR, &pool.caller);
    ask(&pool.caller, VERB_START_DRAINING, 300, &answer);
    world_until_flag(world, &answer.done);
    assert_int_equal(answer.status, -EAGAIN);
    assert_non_null(strstr(answer.text, "list of revoked tokens is not known yet"));
    release(&pool.center);
    pool_end(&pool);
}

static void a_caller_that_waits_is_told_when_the_hub_is_lost(void **state)
{
    struct world *world = *state;
    struct pool pool;
    struct answer answer, cancelled;
    center_start(world, &pool.center);
    pool.center.hold = true;
    daemon_start(world, &pool.asked);
    world_connect(world, "root@pool", SCOPE_ADMINISTRATOR, &pool.caller);
    ask(&pool.caller, VERB_START_DRAINING, 0, &answer);
    cancelled = (struct answer){0};
    int64_t id = wire_relay(pool.caller.wire, "startd/wn01", VERB_START_DRAINING, NULL, 0,
                            on_answer, &cancelled);
    world_turns(world);
    wire_cancel(pool.caller.wire, id);
    wire_fail(pool.caller.wire, -EPROTO, false, "cut by the test");
    world_until_flag(world, &answer.done);
    assert_int_equal(answer.status, -ECONNRESET);
    assert_false(cancelled.done);
    release(&pool.center);
    pool_end(&pool);
}

static void a_watch_that_is_refused_is_asked_for_again(void **state)
{
    struct world *world = *state;
    struct pool pool;
    struct answer answer;
    center_start(world, &pool.center);
    pool.center.refuse = true;
    daemon_start(world, &pool.asked);
    world_connect(world, "root@pool", SCOPE_ADMINISTRATOR, &pool.caller);
    ask(&pool.caller, VERB_START_DRAINING, 100, &answer);
    world_until_flag(world, &answer.done);
    assert_int_equal(answer.status, -EAGAIN);
    assert_int_equal(lines_with(world, " revocations.refused "), 1);
    pool.center.refuse = false;
    publish(&pool.center, "id-of-nobody@pool", 0);
    until_revoked(&pool.asked, "id-of-nobody@pool");
    pool_end(&pool);
}

static void they_are_known_after_a_start_without_the_hub(void **state)
{
    struct world *world = *state;
    struct pool pool;
    int64_t now_s = world_now_s(world);
    pool_start(world, &pool);
    publish(&pool.center, ROOT, 0);
    publish(&pool.center, "blank \"quote\" id", now_s + 1000);
    publish(&pool.center, "over", now_s - 1);
    publish(&pool.center, "last", now_s + 1000);
    until_revoked(&pool.asked, "last");
    assert_false(wire_context_is_revoked(pool.asked.context, "over"));
    pool_end(&pool);
    daemon_context(world, &pool.asked);
    assert_true(wire_context_is_revoked(pool.asked.context, ROOT));
    assert_true(wire_context_is_revoked(pool.asked.context, "blank \"quote\" id"));
    assert_true(wire_context_is_revoked(pool.asked.context, "last"));
    assert_int_equal(revocations_count(pool.asked.context), 3);
    wire_context_destroy(pool.asked.context);
}

static void one_bad_line_of_the_file_is_left_out(void **state)
{
    struct world *world = *state;
    struct daemon_of_test asked;
    char path[160], text[300];
    (void)snprintf(path, sizeof path, "%s/spool", world->dir);
    assert_int_equal(os_mkdirs(world->os, path, 0700, NULL), 0);
    (void)snprintf(path, sizeof path, "%s/spool/revoked.startd", world->dir);
    (void)snprintf(text, sizeof text,
                   "[Name = \"a\"; Expires = 0]\nnonsense\n\n[Name = \"old\"; Expires = %lld]\n"
                   "[Name = \"b\"]",
                   (long long)world_now_s(world) - 1);
    world_write(world, path, text);
    daemon_context(world, &asked);
    assert_true(wire_context_is_revoked(asked.context, "a"));
    assert_true(wire_context_is_revoked(asked.context, "b"));
    assert_int_equal(revocations_count(asked.context), 2);
    assert_int_equal(lines_with(world, " revocations.unread "), 1);
    wire_context_destroy(asked.context);
}

static void what_the_hub_shows_no_more_stays_revoked(void **state)
{
    struct world *world = *state;
    struct pool pool;
    pool_start(world, &pool);
    publish(&pool.center, ROOT, 0);
    until_revoked(&pool.asked, ROOT);
    withdraw(&pool.center, ROOT);
    publish(&pool.center, "later", 0);
    until_revoked(&pool.asked, "later");
    assert_true(wire_context_is_revoked(pool.asked.context, ROOT));
    /* Nor is it shortened. */
    publish(&pool.center, ROOT, 1);
    publish(&pool.center, "last", 0);
    until_revoked(&pool.asked, "last");
    assert_true(wire_context_is_revoked(pool.asked.context, ROOT));
    assert_int_equal(revocations_count(pool.asked.context), 3);
    pool_end(&pool);
}

static void what_the_hub_makes_up_is_ignored(void **state)
{
    struct world *world = *state;
    struct pool pool;
    struct token boss = boss_of(world), other = boss, user = boss;
    pool_start(world, &pool);
    struct ad *ad = ad_create(); /* nobody signed it: so old ones are */
    ad_set_string(ad, "TokenId", "bare");
    publish_ad(&pool.center, ad);
    ad = signed_by(world, &boss, "good", world_now_s(world) + 100);
    ad_set_string(ad, "TokenId", "other id");
    publish_ad(&pool.center, ad);
    ad = signed_by(world, &boss, "longer", world_now_s(world) + 100);
    ad_set_int(ad, "Expires", 0);
    publish_ad(&pool.center, ad);
    ad = signed_by(world, &boss, "other signer", 0);
    char *token = world_issue_line(world, &boss); /* the same names, the key of another */
    ad_set_string(ad, "Token", token);
    mem_free(token);
    publish_ad(&pool.center, ad);
    user.scopes = SCOPE_WRITE | SCOPE_NEGOTIATOR | SCOPE_ADVERTISE | SCOPE_READ;
    publish_ad(&pool.center, signed_by(world, &user, "by a user", 0));
    (void)snprintf(other.pool, sizeof other.pool, "other");
    publish_ad(&pool.center, signed_by(world, &other, "other pool", 0));
    publish(&pool.center, "last", 0);
    until_revoked(&pool.asked, "last");
    assert_int_equal(revocations_count(pool.asked.context), 1);
    assert_int_equal(lines_with(world, " revocations.unproved "), 6);
    assert_non_null(strstr(strbuf_text(&world->log_text), "the revocation is not signed"));
    assert_non_null(
        strstr(strbuf_text(&world->log_text), "revoking needs the scope ADMINISTRATOR"));
    pool_end(&pool);
}

static void it_outlives_the_token_of_who_revoked(void **state)
{
    struct world *world = *state;
    struct pool pool;
    struct token boss = boss_of(world);
    struct revocation_signer by;
    struct err err = {{0}};
    boss.issued_s -= 100;
    boss.expires_s = world_now_s(world) - 10;
    pool_start(world, &pool);
    struct ad *ad = signed_by(world, &boss, "by one who left", 0);
    /* Not when it is made. */
    assert_int_equal(revocation_judge_new(pool.asked.context, ad, &by, &err), -EKEYEXPIRED);
    publish_ad(&pool.center, ad);
    until_revoked(&pool.asked, "by one who left");
    boss = boss_of(world);
    ad = signed_by(world, &boss, "second", 0);
    assert_int_equal(revocation_judge_new(pool.asked.context, ad, &by, &err), 0);
    assert_string_equal(by.identity, "boss@pool");
    publish(&pool.center, boss.id, 0); /* his own token is revoked */
    until_revoked(&pool.asked, boss.id);
    assert_int_equal(revocation_judge_new(pool.asked.context, ad, &by, &err), -EKEYREVOKED);
    publish_ad(&pool.center, ad);
    until_revoked(&pool.asked, "second");
    assert_true(wire_context_is_revoked(pool.asked.context, "by one who left"));
    pool_end(&pool);
}

/* Another key takes the place of k1, a moment after a revocation that needs it. */
static void a_key_that_is_new_is_found(void **state)
{
    struct world *world = *state;
    struct pool pool;
    char path[300];
    char *pub = NULL;
    size_t length = 0;
    pool_start(world, &pool);
    publish(&pool.center, "first", 0);
    until_revoked(&pool.asked, "first");
    MUST(token_key_make(world->os, world->loop, world->keys, "k2", err));
    (void)snprintf(world->key_path, sizeof world->key_path, "%s/k2.key", world->keys);
    publish(&pool.center, "second", 0);
    world_turns(world);
    assert_false(wire_context_is_revoked(pool.asked.context, "second"));
    (void)snprintf(path, sizeof path, "%s/k2.pub", world->keys);
    MUST(os_read_file(world->os, path, 10000, &pub, &length, err));
    (void)snprintf(path, sizeof path, "%s/k1.pub", world->keys);
    world_write(world, path, pub);
    mem_free(pub);
    until_revoked(&pool.asked, "second");
    pool_end(&pool);
}

struct seen {
    bool done;
    int status;
    char why[300];
};

static void seen_changed(void *arg, const char *key, const struct ad *ad)
{
    (void)arg;
    (void)key;
    (void)ad;
}

static void seen_gone(void *arg, const char *key)
{
    (void)arg;
    (void)key;
}

static void seen_synced(void *arg)
{
    ((struct seen *)arg)->done = true;
}

static void seen_refused(void *arg, int status, const char *why)
{
    struct seen *seen = arg;
    seen->done = true;
    seen->status = status;
    (void)snprintf(seen->why, sizeof seen->why, "%s", why);
}

static void who_may_only_advertise_watches_nothing_else(void **state)
{
    static const struct watch_events EVENTS = {.changed = seen_changed,
                                               .gone = seen_gone,
                                               .synced = seen_synced,
                                               .refused = seen_refused};
    static const struct watch_spec JOBS = {.type = "Machine"};
    static const struct watch_spec REVOCATIONS = {.type = "Revocation"};
    struct world *world = *state;
    struct center center;
    struct end end;
    struct seen seen = {0};
    center_start(world, &center);
    world_connect(world, "startd@pool", SCOPE_ADVERTISE, &end);
    struct watch *watch = watch_create(world->loop, &JOBS, &EVENTS, &seen);
    assert_int_equal(watch_start(watch, end.wire), 0);
    world_until_flag(world, &seen.done);
    assert_int_equal(seen.status, -EACCES);
    assert_non_null(strstr(seen.why, "only ads of type Revocation"));
    watch_destroy(watch);
    seen = (struct seen){0};
    watch = watch_create(world->loop, &REVOCATIONS, &EVENTS, &seen);
    assert_int_equal(watch_start(watch, end.wire), 0);
    world_until_flag(world, &seen.done);
    assert_int_equal(seen.status, 0);
    watch_destroy(watch);
    center_end(&center);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(a_revoked_administrator_drains_no_machine),
        WORLD_TEST(a_request_that_is_under_way_ends),
        WORLD_TEST(nothing_is_done_before_the_revocations_are_known),
        WORLD_TEST(a_caller_without_time_is_told_why),
        WORLD_TEST(a_caller_that_waits_is_told_when_the_hub_is_lost),
        WORLD_TEST(a_watch_that_is_refused_is_asked_for_again),
        WORLD_TEST(they_are_known_after_a_start_without_the_hub),
        WORLD_TEST(one_bad_line_of_the_file_is_left_out),
        WORLD_TEST(what_the_hub_shows_no_more_stays_revoked),
        WORLD_TEST(what_the_hub_makes_up_is_ignored),
        WORLD_TEST(it_outlives_the_token_of_who_revoked),
        WORLD_TEST(a_key_that_is_new_is_found),
        WORLD_TEST(who_may_only_advertise_watches_nothing_else),
    };
    return cmocka_run_group_tests_name("wire.revocations", tests, NULL, NULL);
}
