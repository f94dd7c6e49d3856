/* virt/watches.c - reports the state of watched domains, whoever changes it.
 *
 * One thread checks the watched domains: each once at first, and again whenever libvirt has an
 * event for it; nothing is polled.  It reports only a state that differs from the last one
 * reported, and no state that a domain only passes through.  When a lost connection is back, all
 * domains are checked again.  A libvirtd that restarts is away for seconds, so it is reported only
 * after GRACE_MS that the state cannot be asked for.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/vec.h"
#include "virt/line_plan.h"
#include "virt/virt.h"

#define GRACE_MS     10000
#define AGAIN_MIN_MS 250 /* to connect */
#define AGAIN_MAX_MS 15000
#define WATCHES_MAX  100000

struct watch {
    uint64_t id;
    char domain[VIRT_DOMAIN_MAX];
    unsigned char uuid[VIR_UUID_BUFLEN];
    bool found; /* uuid is its */
    bool news;  /* the domain must be checked */
    char told[VIRT_TEXT_MAX + 16];
};

struct virt_watches {
    struct virt *virt;
    pthread_mutex_t lock;
    pthread_cond_t cond;
    struct vec all; /* struct watch */
    size_t next;    /* where to look on */
    bool news;      /* some watch has news */
};

static void lock_watches(struct virt_watches *watches)
{
    CHECK(pthread_mutex_lock(&watches->lock) == 0);
}

static void unlock_watches(struct virt_watches *watches)
{
    CHECK(pthread_mutex_unlock(&watches->lock) == 0);
}

/* ---- from the main thread */

static struct watch *find_watch(const struct virt_watches *watches, uint64_t id, size_t *at)
{
    for (size_t i = 0; i < watches->all.count; i++) {
        struct watch *watch = watches->all.items[i];
        if (watch->id == id) {
            *at = i;
            return watch;
        }
    }
    return NULL;
}

static void look_soon(struct virt_watches *watches)
{
    watches->news = true;
    CHECK(pthread_cond_signal(&watches->cond) == 0);
}

void virt_watches_add(struct virt_watches *watches, uint64_t id, const char *domain)
{
    struct watch *watch = mem_zalloc(sizeof *watch);
    watch->id = id;
    watch->news = true;
    (void)snprintf(watch->domain, sizeof watch->domain, "%s", domain);
    lock_watches(watches);
    if (watches->all.count < WATCHES_MAX) {
        vec_push(&watches->all, watch);
        look_soon(watches);
        watch = NULL;
    }
    unlock_watches(watches);
    if (watch != NULL) {
        char text[80];
        (void)snprintf(text, sizeof text, "%llu silent too many watches\n", (unsigned long long)id);
        virt_say(watches->virt, text);
        mem_free(watch);
    }
}

void virt_watches_remove(struct virt_watches *watches, uint64_t id)
{
    size_t at = 0;
    lock_watches(watches);
    struct watch *watch = find_watch(watches, id, &at);
    if (watch != NULL) {
        vec_remove_at(&watches->all, at);
        mem_free(watch);
    }
    unlock_watches(watches);
}

void virt_watches_event(struct virt_watches *watches, const unsigned char *uuid, bool renamed)
{
    lock_watches(watches);
    for (size_t i = 0; i < watches->all.count; i++) {
        struct watch *watch = watches->all.items[i];
        if (!watch->found ? renamed : memcmp(watch->uuid, uuid, VIR_UUID_BUFLEN) == 0) {
            watch->news = true;
            look_soon(watches);
        }
    }
    unlock_watches(watches);
}

void virt_watches_lost(struct virt_watches *watches)
{
    lock_watches(watches);
    for (size_t i = 0; i < watches->all.count; i++) {
        ((struct watch *)watches->all.items[i])->news = true;
        look_soon(watches);
    }
    unlock_watches(watches);
}

/* ---- the thread */

/* Writes the state, unless it was reported last, or the watch is gone. */
static void tell_state(struct virt_watches *watches, uint64_t id, const char *word,
                       const char *text)
{
    char line[VIRT_TEXT_MAX + 64], said[VIRT_TEXT_MAX + 16];
    size_t at = 0;
    (void)snprintf(said, sizeof said, "%s %.*s", word, VIRT_TEXT_MAX - 1, text);
    for (char *c = said; *c != '\0'; c++) {
        *c = (unsigned char)*c < ' ' ? ' ' : *c;
    }
    lock_watches(watches);
    struct watch *watch = find_watch(watches, id, &at);
    bool is_new = watch != NULL && strcmp(watch->told, said) != 0;
    if (is_new) {
        memcpy(watch->told, said, sizeof said);
    }
    unlock_watches(watches);
    if (is_new) {
        (void)snprintf(line, sizeof line, "%llu %s\n", (unsigned long long)id, said);
        virt_say(watches->virt, line);
    }
}

/* Copies a watch that is to be checked to *ret and marks it as checked; false: there is none. */
static bool take_one(struct virt_watches *watches, struct watch *ret)
{
    bool taken = false;
    lock_watches(watches);
    size_t count = watches->all.count;
    for (size_t i = 0; i < count && !taken; i++) {
        struct watch *watch = watches->all.items[(watches->next + i) % count];
        taken = watch->news;
        if (taken) {
            watch->news = false;
            *ret = *watch;
            watches->next = (watches->next + i + 1) % count;
        }
    }
    watches->news = watches->news && taken;
    unlock_watches(watches);
    return taken;
}

static void note_uuid(struct virt_watches *watches, uint64_t id, const unsigned char *uuid)
{
    size_t at = 0;
    lock_watches(watches);
    struct watch *watch = find_watch(watches, id, &at);
    if (watch != NULL) {
        watch->found = uuid != NULL;
        if (uuid != NULL) {
            memcpy(watch->uuid, uuid, VIR_UUID_BUFLEN);
        }
    }
    unlock_watches(watches);
}

/* Checks a domain and reports its state.  -EIO: libvirt failed; the caller checks whether the
 * connection is lost. */
static int look_at_domain(struct virt_watches *watches, virConnectPtr conn,
                          const struct watch *watch)
{
    virDomainPtr domain = NULL;
    unsigned char uuid[VIR_UUID_BUFLEN];
    int state = 0, reason = 0;
    struct err err;
    int rc = virt_find(virt_names(watches->virt), conn, watch->domain, &domain, &err);
    if (rc == 0 && virDomainGetUUID(domain, uuid) == 0) {
        note_uuid(watches, watch->id, uuid); /* before it is asked: no event is missed */
    }
    if (rc == 0 && virDomainGetState(domain, &state, &reason, 0) != 0) {
        rc = err_set(&err, -EIO, "%s", virt_error_text());
    }
    if (rc == 0) {
        char text[VIRT_STATE_MAX];
        const char *word = virt_state_text(state, reason, text);
        if (word != NULL) {
            tell_state(watches, watch->id, word, text);
        }
    } else if (rc != -EIO) {
        note_uuid(watches, watch->id, NULL);
        tell_state(watches, watch->id, "unknown", err.text);
    } else if (!virt_lost(watches->virt, conn)) {
        tell_state(watches, watch->id, "silent", err.text);
        rc = 0;
    }
    if (domain != NULL) {
        (void)virDomainFree(domain);
    }
    return rc;
}

static void tell_all_silent(struct virt_watches *watches, const char *why)
{
    lock_watches(watches);
    size_t count = watches->all.count;
    uint64_t *ids = mem_alloc((count + 1) * sizeof *ids);
    for (size_t i = 0; i < count; i++) {
        ids[i] = ((const struct watch *)watches->all.items[i])->id;
    }
    unlock_watches(watches);
    for (size_t i = 0; i < count; i++) {
        tell_state(watches, ids[i], "silent", why);
    }
    mem_free(ids);
}

/* Checks all domains that have news.  False: there is no connection, or it was lost. */
static bool look_at_all(struct virt_watches *watches, struct err *err)
{
    struct watch watch;
    virConnectPtr conn = NULL;
    if (virt_connect(watches->virt, &conn, err) != 0) {
        return false;
    }
    int rc = 0;
    while (rc != -EIO && take_one(watches, &watch)) {
        rc = look_at_domain(watches, conn, &watch);
    }
    (void)virConnectClose(conn);
    if (rc == -EIO) {
        virt_watches_lost(watches); /* that one, too */
        (void)err_set(err, -ENOTCONN, "the connection was lost");
    }
    return rc != -EIO;
}

static void pause_ms(struct virt_watches *watches, uint64_t ms)
{
    struct virt_wait *wait = virt_wait_begin(watches->virt, NULL);
    virt_wait(wait, virt_now_ms() + ms);
    virt_wait_end(wait);
}

static void *run_watches(void *arg)
{
    struct virt_watches *watches = arg;
    uint64_t away_ms = 0, again_ms = AGAIN_MIN_MS; /* since when; 0: it was never there */
    bool connected = false;
    for (;;) {
        struct err err;
        lock_watches(watches);
        while (!watches->news) {
            CHECK(pthread_cond_wait(&watches->cond, &watches->lock) == 0);
        }
        unlock_watches(watches);
        if (look_at_all(watches, &err)) {
            connected = true;
            again_ms = AGAIN_MIN_MS;
            continue;
        }
        uint64_t now_ms = virt_now_ms();
        away_ms = connected ? now_ms : away_ms;
        connected = false;
        if (away_ms == 0 || now_ms - away_ms >= GRACE_MS) {
            tell_all_silent(watches, err.text);
        }
        pause_ms(watches, again_ms);
        again_ms = again_ms * 2 < AGAIN_MAX_MS ? again_ms * 2 : AGAIN_MAX_MS;
    }
    return NULL;
}

struct virt_watches *virt_watches_create(struct virt *virt)
{
    struct virt_watches *watches = mem_zalloc(sizeof *watches);
    pthread_t thread;
    watches->virt = virt;
    CHECK(pthread_mutex_init(&watches->lock, NULL) == 0);
    CHECK(pthread_cond_init(&watches->cond, NULL) == 0);
    CHECK(pthread_create(&thread, NULL, run_watches, watches) == 0);
    CHECK(pthread_detach(thread) == 0);
    return watches;
}
