/* schedd/requests/request_news.c - see request_news.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/requests/request_news.h"

#include "base/loop.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "schedd/requests/job_autocluster.h"
#include "schedd/schedd_state.h"
#include "schedd/requests/submitters.h"

#define DRAINED_MS 250 /* between two updates that tell only which jobs claims have taken */
#define ROOM_MS    1000

struct request_news {
    struct schedd *schedd;
    struct loop_timer *gather; /* while it is set, changes wait for it */
    uint64_t sent_ms;          /* when the last change went out */
    uint64_t due_ms;           /* when gather fires */
    int64_t room;              /* room_of() when all requests were marked for it last */
    uint64_t room_ms;          /* when room was noted */
};

void request_news_init(struct schedd *schedd, void (*publish)(void *arg), void *arg)
{
    struct request_news *self = mem_zalloc(sizeof(*self));
    self->schedd = schedd;
    self->gather = loop_timer_create(schedd->loop, publish, arg);
    self->room = INT64_MAX;
    schedd->request_news = self;
}

void request_news_fini(struct schedd *schedd)
{
    if (schedd->request_news != NULL) {
        loop_timer_destroy(schedd->request_news->gather);
        mem_free(schedd->request_news);
        schedd->request_news = NULL;
    }
}

/* ---- how many jobs may run yet --------------------------------------------------------------- */

static int64_t room_of(const struct schedd *schedd)
{
    int64_t max = schedd->settings.running_max;
    int64_t claims =
        schedd->claimed.by_id != NULL ? (int64_t)strmap_count(schedd->claimed.by_id) : 0;
    return max <= 0 ? INT64_MAX : claims < max ? max - claims : 0;
}

int64_t request_news_wanted(const struct schedd *schedd, const struct autocluster *autocluster)
{
    int64_t room = room_of(schedd), idle = (int64_t)autocluster->idle_count;
    return idle < room ? idle : room;
}

static bool room_has_turned(const struct request_news *self, int64_t room)
{
    return (room == 0) != (self->room == 0);
}

/* Returns whether some request may ask for another number of jobs than it should. */
static bool room_differs(const struct request_news *self, int64_t room)
{
    int64_t idle = self->schedd->queue.idle;
    return room_has_turned(self, room) ||
           (room != self->room && (room < idle || self->room < idle));
}

/* ---- marks ----------------------------------------------------------------------------------- */

void request_news_mark_all(struct schedd *schedd)
{
    size_t at = 0;
    void *value = NULL;
    while (strmap_next(schedd->groups.by_key, &at, NULL, &value)) {
        ((struct autocluster *)value)->dirty = true;
    }
    at = 0;
    while (strmap_next(schedd->groups.submitters, &at, NULL, &value)) {
        ((struct submitter *)value)->dirty = true;
    }
}

static void publish_after(struct schedd *schedd, uint64_t gather_ms)
{
    struct request_news *self = schedd->request_news;
    if (self == NULL) {
        return;
    }
    uint64_t now_ms = loop_now_ms(schedd->loop);
    uint64_t due_ms = self->sent_ms + gather_ms;
    if (due_ms < now_ms) {
        due_ms = now_ms;
    }
    if (!loop_timer_is_set(self->gather) || due_ms < self->due_ms) {
        self->due_ms = due_ms;
        loop_timer_set(self->gather, due_ms - now_ms);
    }
}

void request_news_changed(struct schedd *schedd)
{
    publish_after(schedd, schedd->settings.publish_gather_ms);
}

void request_news_drained(struct schedd *schedd)
{
    uint64_t gather_ms = schedd->settings.publish_gather_ms;
    publish_after(schedd, gather_ms > DRAINED_MS ? gather_ms : DRAINED_MS);
}

void request_news_room(struct schedd *schedd)
{
    const struct request_news *self = schedd->request_news;
    int64_t room = room_of(schedd);
    if (self != NULL && room_differs(self, room)) {
        publish_after(schedd,
                      room_has_turned(self, room) ? schedd->settings.publish_gather_ms : ROOM_MS);
    }
}

void request_news_moved(struct schedd *schedd)
{
    if (schedd->request_news != NULL) {
        request_news_mark_all(schedd);
        request_news_changed(schedd);
    }
}

/* ---- sending --------------------------------------------------------------------------------- */

void request_news_send(struct schedd *schedd)
{
    struct request_news *self = schedd->request_news;
    int64_t room = room_of(schedd);
    uint64_t now_ms = loop_now_ms(schedd->loop);
    if (room_differs(self, room) &&
        (room_has_turned(self, room) || now_ms >= self->room_ms + ROOM_MS)) {
        request_news_mark_all(schedd);
        self->room = room;
        self->room_ms = now_ms;
    }
}

void request_news_sent(struct schedd *schedd)
{
    struct request_news *self = schedd->request_news;
    self->sent_ms = loop_now_ms(schedd->loop);
    if (room_differs(self, room_of(schedd))) { /* it was too early to tell that */
        publish_after(schedd, ROOM_MS);
    }
}
