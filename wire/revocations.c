/* wire/revocations.c - see revocations.h.
 *
 * The file has an ad a line, [Name = "the token's id"; Expires = 0], and is written as a whole, a
 * moment after a change: many tokens that are revoked by one command are one write.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wire/revocations.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "wire/watch.h"
#include "wire/wire_private.h"

#define FILE_BYTES_MAX ((size_t)16 << 20)
#define SAVE_MS        50      /* changes of that time are written together */
#define REFUSED_MS     5000    /* a watch that was refused is asked for again */
#define EXPIRE_MS      3600000 /* how often those that are over are looked for */

struct revocations {
    struct wire_context *context;
    char *path;             /* NULL: kept in memory only */
    struct strmap *expires; /* token id -> int64_t, seconds since 1970; 0: never */
    struct watch *watch;    /* NULL: nobody watches */
    struct wire *wire;      /* that was watched last; perhaps gone */
    bool wants_again;       /* the watch was refused */
    bool said;              /* that requests came too early */
    struct loop_timer *save_timer, *look_timer;
};

static bool is_over(int64_t expires_s, int64_t now_s)
{
    return expires_s > 0 && expires_s <= now_s;
}

/* The later of two times, where 0 is never. */
static bool lasts_longer(int64_t a_s, int64_t b_s)
{
    return b_s > 0 && (a_s == 0 || a_s > b_s);
}

/* True: it was not known, or not for so long. */
static bool revocation_add(struct revocations *revocations, const char *id, int64_t expires_s)
{
    struct wire_context *context = revocations->context;
    size_t length = strlen(id);
    int64_t *known = strmap_get(revocations->expires, id);
    if (length == 0 || length > REVOKED_ID_MAX || is_over(expires_s, loop_wall_s(context->loop)) ||
        (known != NULL && !lasts_longer(expires_s, *known))) {
        return false;
    }
    if (known == NULL && strmap_count(revocations->expires) >= REVOCATIONS_MAX) {
        log_error(context->log, "revocations.full", "a revocation is not kept: there are too many",
                  LOG_TEXT("token_id", id), LOG_INT("limit", REVOCATIONS_MAX));
        return false;
    }
    int64_t *copy = mem_alloc(sizeof *copy);
    *copy = expires_s;
    mem_free(strmap_set(revocations->expires, id, copy));
    wire_context_revoke(context, id);
    return true;
}

/* ---- the file -------------------------------------------------------------------------------- */

static void save(void *arg)
{
    struct revocations *revocations = arg;
    const struct wire_context *context = revocations->context;
    struct strbuf text;
    struct err err = {{0}};
    size_t at = 0;
    const char *id = NULL;
    void *value = NULL;
    if (revocations->path == NULL) {
        return;
    }
    strbuf_init(&text, FILE_BYTES_MAX);
    while (strmap_next(revocations->expires, &at, &id, &value)) {
        struct ad *ad = ad_create();
        ad_set_string(ad, "Name", id);
        ad_set_int(ad, "Expires", *(const int64_t *)value);
        ad_print(ad, &text);
        strbuf_putc(&text, '\n');
        ad_destroy(ad);
    }
    char *directory = mem_strdup(revocations->path);
    *(strrchr(directory, '/') != NULL ? strrchr(directory, '/') : directory) = '\0';
    if (directory[0] != '\0') {
        (void)os_mkdirs(context->os, directory, 0755, NULL); /* the write says what is wrong */
    }
    mem_free(directory);
    int rc = text.failed ? err_set(&err, -EFBIG, "%s: too many revocations", revocations->path)
                         : os_write_file(context->os, revocations->path, strbuf_text(&text),
                                         text.length, 0600, true, &err);
    strbuf_fini(&text);
    if (rc < 0) {
        log_error(context->log, "revocations.unsaved", err.text,
                  LOG_TEXT("consequence", "after a restart they are known once the collector is"));
    }
}

static void load(struct revocations *revocations)
{
    struct wire_context *context = revocations->context;
    struct err err = {{0}};
    char *text = NULL;
    size_t length = 0;
    int rc = os_read_file(context->os, revocations->path, FILE_BYTES_MAX, &text, &length, &err);
    if (rc < 0) {
        if (rc != -ENOENT) {
            log_error(context->log, "revocations.unread", err.text);
        }
        return;
    }
    for (const char *at = text; *at != '\0';) {
        size_t width = strcspn(at, "\n");
        struct ad *ad = NULL;
        rc = width == 0 ? 0 : ad_parse(at, width, &ad, &err);
        if (rc < 0) {
            log_error(context->log, "revocations.unread", err.text,
                      LOG_TEXT("file", revocations->path));
        } else if (ad != NULL) {
            (void)revocation_add(revocations, ad_string_or(ad, "Name", ""),
                                 ad_int_or(ad, "Expires", 0));
            ad_destroy(ad);
        }
        at += width + (at[width] == '\n' ? 1 : 0);
    }
    mem_free(text);
}

/* ---- what the collector shows ---------------------------------------------------------------- */

static void changed(void *arg, const char *key, const struct ad *ad)
{
    struct revocations *revocations = arg;
    const char *id = ad_string_or(ad, "Name", "");
    (void)key;
    if (revocation_add(revocations, id, ad_int_or(ad, "Expires", 0))) {
        log_info(revocations->context->log, "token.revoked", "a token is refused from now on",
                 LOG_TEXT("token_id", id), LOG_TEXT("by", ad_string_or(ad, "RevokedBy", "")));
        loop_timer_set(revocations->save_timer, SAVE_MS);
    }
}

static void gone(void *arg, const char *key)
{
    (void)arg; /* it ends by its own time: the collector cannot take one back */
    (void)key;
}

static void synced(void *arg)
{
    struct revocations *revocations = arg;
    log_debug(revocations->context->log, "revocations.known", "all revocations are known",
              LOG_INT("count", strmap_count(revocations->expires)));
}

static void refused(void *arg, int status, const char *why)
{
    struct revocations *revocations = arg;
    log_error(revocations->context->log, "revocations.refused",
              "the collector does not tell its revocations: requests through it are refused",
              LOG_INT("status", status), LOG_TEXT("reason", why));
    revocations->wants_again = true;
    loop_timer_set(revocations->look_timer, REFUSED_MS);
}

static bool is_there(const struct wire_context *context, const struct wire *wanted)
{
    const struct wire *wire = context->first;
    while (wire != NULL && wire != wanted) {
        wire = wire->next;
    }
    return wire != NULL && wire_is_ready(wire);
}

static void forget_those_that_are_over(struct revocations *revocations)
{
    int64_t now_s = loop_wall_s(revocations->context->loop);
    struct vec over = {0};
    size_t at = 0;
    const char *id = NULL;
    void *value = NULL;
    while (strmap_next(revocations->expires, &at, &id, &value)) {
        if (is_over(*(const int64_t *)value, now_s)) {
            vec_push(&over, mem_strdup(id));
        }
    }
    for (size_t i = 0; i < over.count; i++) {
        mem_free(strmap_remove(revocations->expires, over.items[i]));
        wire_context_forget(revocations->context, over.items[i]);
    }
    if (over.count > 0) {
        save(revocations);
    }
    vec_fini(&over, mem_free);
}

static void look(void *arg)
{
    struct revocations *revocations = arg;
    if (revocations->wants_again && is_there(revocations->context, revocations->wire)) {
        revocations_watch(revocations->context, revocations->wire);
    }
    forget_those_that_are_over(revocations);
    loop_timer_set(revocations->look_timer, EXPIRE_MS);
}

/* ---- for others ------------------------------------------------------------------------------ */

struct revocations *revocations_create(struct wire_context *context, const char *path)
{
    struct revocations *revocations = mem_zalloc(sizeof *revocations);
    revocations->context = context;
    revocations->path = path == NULL ? NULL : mem_strdup(path);
    revocations->expires = strmap_create(STRMAP_CASE_SENSITIVE);
    revocations->save_timer = loop_timer_create(context->loop, save, revocations);
    revocations->look_timer = loop_timer_create(context->loop, look, revocations);
    if (path != NULL) {
        load(revocations);
    }
    return revocations;
}

void revocations_destroy(struct revocations *revocations)
{
    if (revocations == NULL) {
        return;
    }
    watch_destroy(revocations->watch);
    if (loop_timer_is_set(revocations->save_timer)) {
        save(revocations);
    }
    loop_timer_destroy(revocations->save_timer);
    loop_timer_destroy(revocations->look_timer);
    strmap_destroy(revocations->expires, mem_free);
    mem_free(revocations->path);
    mem_free(revocations);
}

void revocations_watch(struct wire_context *context, struct wire *wire)
{
    static const struct watch_spec SPEC = {.type = "Revocation"};
    static const struct watch_events EVENTS = {.changed = changed,
                                               .gone = gone,
                                               .synced = synced,
                                               .refused = refused};
    struct revocations *revocations = context->revocations;
    if (revocations->watch == NULL) {
        revocations->watch = watch_create(context->loop, &SPEC, &EVENTS, revocations);
    }
    revocations->wire = wire;
    revocations->wants_again = false;
    revocations->said = false;
    if (!loop_timer_is_set(revocations->look_timer)) {
        loop_timer_set(revocations->look_timer, EXPIRE_MS);
    }
    int rc = watch_start(revocations->watch, wire);
    if (rc < 0) {
        refused(revocations, rc, err_code_text(rc));
    }
}

bool revocations_are_known(struct revocations *revocations)
{
    if (revocations->watch == NULL || watch_is_synced(revocations->watch)) {
        return true;
    }
    if (!revocations->said) {
        revocations->said = true;
        log_info(revocations->context->log, "revocations.awaited",
                 "requests through the collector wait until it has told which tokens are revoked");
    }
    return false;
}

size_t revocations_count(const struct wire_context *context)
{
    return strmap_count(context->revocations->expires);
}
