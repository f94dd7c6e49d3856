/* wire/watch_client.c - the watching side: a copy of another daemon's ads that is kept up to date.
 *
 * Each snapshot has a round number, and each ad has the number of the last round in which it was
 * seen.  At Synced, ads of an older round are gone.  So a disconnected watcher keeps its copy while
 * it dials, and learns of removed ads as of any other change.  Callbacks may destroy the watch: it
 * is then freed when the last of them has returned (`busy`).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wire/watch.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "base/text.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "wire/watch_protocol.h"
#include "wire/wire.h"

struct watched {
    struct ad *ad;
    struct secret_list *secrets; /* beside it */
    uint64_t round;
};

struct watch {
    struct watch_events events;
    void *arg;
    struct ad *request; /* arguments of WATCH */
    struct strmap *ads; /* key -> struct watched */
    struct wire *wire;  /* connection of the call; NULL: none */
    int64_t call;
    uint64_t round;
    bool synced;
    unsigned busy;  /* callbacks that run */
    bool destroyed; /* free it when they have returned */
};

static void watched_free(void *value)
{
    struct watched *watched = value;
    ad_destroy(watched->ad);
    secret_list_unref(watched->secrets);
    mem_free(watched);
}

static void watch_free(struct watch *watch)
{
    strmap_destroy(watch->ads, watched_free);
    ad_destroy(watch->request);
    mem_free(watch);
}

struct watch *watch_create(struct loop *loop, const struct watch_spec *spec,
                           const struct watch_events *events, void *arg)
{
    (void)loop; /* events come from the connection */
    CHECK(events->changed != NULL && events->gone != NULL && events->synced != NULL);
    struct watch *watch = mem_zalloc(sizeof *watch);
    watch->events = *events;
    watch->arg = arg;
    watch->ads = strmap_create(STRMAP_CASE_SENSITIVE);
    watch->request = ad_create();
    ad_set_string(watch->request, "Type", spec->type);
    if (spec->constraint != NULL) {
        ad_set_string(watch->request, "Constraint", spec->constraint);
    }
    if (spec->projection != NULL) {
        size_t count = 0;
        while (spec->projection[count] != NULL) {
            count++;
        }
        ad_set_strings(watch->request, "Projection", spec->projection, count);
    }
    if (spec->with_secrets) {
        ad_set_bool(watch->request, "Private", true);
    }
    return watch;
}

void watch_destroy(struct watch *watch)
{
    if (watch == NULL || watch->destroyed) {
        return;
    }
    if (watch->wire != NULL) {
        wire_cancel(watch->wire, watch->call);
        watch->wire = NULL;
    }
    watch->destroyed = true;
    if (watch->busy == 0) {
        watch_free(watch);
    }
}

/* ---- events ---------------------------------------------------------------------------------- */

static void watch_set(struct watch *watch, const char *key, struct ad *ad,
                      struct secret_list *secrets)
{
    struct watched *watched = strmap_get(watch->ads, key);
    struct ad *old = NULL;
    struct secret_list *old_secrets = NULL;
    if (watched == NULL) {
        watched = mem_zalloc(sizeof *watched);
        (void)strmap_set(watch->ads, key, watched);
    } else {
        old = watched->ad;
        old_secrets = watched->secrets;
    }
    watched->ad = ad;
    watched->secrets = secrets;
    watched->round = watch->round;
    watch->events.changed(watch->arg, key, ad);
    ad_destroy(old);
    secret_list_unref(old_secrets);
}

static void watch_unset(struct watch *watch, const char *key)
{
    struct watched *watched = strmap_remove(watch->ads, key);
    if (watched == NULL) {
        return;
    }
    watch->events.gone(watch->arg, key);
    watched_free(watched);
}

static void watch_lose(struct watch *watch)
{
    watch->synced = false;
    if (watch->events.lost != NULL) {
        watch->events.lost(watch->arg);
    }
}

static void watch_sync(struct watch *watch)
{
    size_t at = 0;
    const char *key = NULL;
    void *value = NULL;
    struct vec old = {0};
    while (strmap_next(watch->ads, &at, &key, &value)) {
        if (((struct watched *)value)->round != watch->round) {
            vec_push(&old, mem_strdup(key));
        }
    }
    for (size_t i = 0; i < old.count && !watch->destroyed; i++) {
        watch_unset(watch, old.items[i]);
    }
    vec_fini(&old, mem_free);
    if (!watch->destroyed) {
        watch->synced = true;
        watch->events.synced(watch->arg);
    }
}

/* Returns the secrets of the ad with that index; they are the first that are left. */
static struct secret_list *secrets_of(struct wire_reply *reply, size_t index)
{
    size_t count = 0;
    while (count < reply->secret_count && reply->secrets[count].of == index) {
        count++;
    }
    struct secret_list *list = secret_list_create(reply->secrets, count);
    reply->secrets += count;
    reply->secret_count -= count;
    return list;
}

/* Takes the ads out of the reply.  -EBADMSG: operations and ads do not fit together. */
static int watch_apply(struct watch *watch, struct wire_reply *reply)
{
    const uint8_t *at = reply->blob;
    size_t left = reply->blob_length;
    size_t next_ad = 0;
    while (left > 0 && !watch->destroyed) {
        size_t length = left < 3 ? 0 : (size_t)at[1] | (size_t)at[2] << 8;
        bool changed = at[0] == WATCH_CHANGED;
        if (left < 3 || length == 0 || left - 3 < length || (!changed && at[0] != WATCH_GONE) ||
            (changed && next_ad == reply->ad_count) || memchr(at + 3, '\0', length) != NULL) {
            return -EBADMSG;
        }
        char *key = mem_strndup((const char *)at + 3, length);
        if (changed) {
            struct secret_list *secrets = secrets_of(reply, next_ad);
            watch_set(watch, key, wire_reply_take_ad(reply, next_ad++), secrets);
        } else {
            watch_unset(watch, key);
        }
        mem_free(key);
        at += 3 + length;
        left -= 3 + length;
    }
    return 0;
}

static int watch_part(struct watch *watch, struct wire_reply *reply)
{
    const char *event = reply->args == NULL ? "" : ad_string_or(reply->args, "Event", "");
    if (strcmp(event, WATCH_EVENT_CHANGES) == 0) {
        return watch_apply(watch, reply);
    }
    if (strcmp(event, WATCH_EVENT_SYNCED) == 0) {
        watch_sync(watch);
    } else if (strcmp(event, WATCH_EVENT_RESYNC) == 0) {
        watch->round++;
        watch_lose(watch);
    }
    return 0; /* events of a later version are left alone */
}

static void watch_end(struct watch *watch, int status, const char *why)
{
    watch->wire = NULL;
    if (status == -ECONNRESET || status == 0) {
        watch_lose(watch);
    } else if (watch->events.refused != NULL) {
        watch->synced = false;
        watch->events.refused(watch->arg, status, why);
    }
}

static void on_reply(void *arg, struct wire_reply *reply)
{
    struct watch *watch = arg;
    watch->busy++;
    if (!reply->more) {
        watch_end(watch, reply->status, reply->text);
    } else {
        int rc = watch_part(watch, reply);
        if (rc < 0 && watch->wire != NULL) {
            wire_cancel(watch->wire, watch->call);
            watch_end(watch, rc, "malformed changes from the server");
        }
    }
    watch->busy--;
    if (watch->destroyed && watch->busy == 0) {
        watch_free(watch);
    }
}

int watch_start(struct watch *watch, struct wire *wire)
{
    if (watch->wire != NULL) {
        wire_cancel(watch->wire, watch->call);
        watch->wire = NULL;
    }
    watch->synced = false;
    watch->round++;
    struct wire_body body = {.args = watch->request};
    int64_t call = wire_call(wire, VERB_WATCH, &body, 0, on_reply, watch);
    if (call < 0) {
        return (int)call;
    }
    watch->wire = wire;
    watch->call = call;
    return 0;
}

/* ---- the copy -------------------------------------------------------------------------------- */

const struct ad *watch_get(const struct watch *watch, const char *key)
{
    const struct watched *watched = strmap_get(watch->ads, key);
    return watched == NULL ? NULL : watched->ad;
}

struct secret_list *watch_secrets(const struct watch *watch, const char *key)
{
    const struct watched *watched = strmap_get(watch->ads, key);
    return watched == NULL ? NULL : watched->secrets;
}

size_t watch_count(const struct watch *watch)
{
    return strmap_count(watch->ads);
}

bool watch_next(const struct watch *watch, size_t *at, const char **key, const struct ad **ad)
{
    void *value = NULL;
    if (!strmap_next(watch->ads, at, key, &value)) {
        return false;
    }
    *ad = ((const struct watched *)value)->ad;
    return true;
}

bool watch_is_synced(const struct watch *watch)
{
    return watch->synced;
}
