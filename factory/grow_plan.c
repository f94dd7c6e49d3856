/* factory/grow_plan.c - see grow_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "factory/grow_plan.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/strbuf.h"

#define MS_PER_S     1000
#define HALVINGS_MAX 30

static int64_t say(char *why, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Writes the clause.  Returns 0: nothing is submitted. */
static int64_t say(char *why, size_t size, const char *format, ...)
{
    struct strbuf text;
    va_list args;
    strbuf_init(&text, size);
    va_start(args, format);
    strbuf_vprintf(&text, format, args);
    va_end(args);
    size_t length = text.length < size - 1 ? text.length : size - 1;
    memcpy(why, strbuf_text(&text), length);
    why[length] = '\0';
    strbuf_fini(&text);
    return 0;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static bool may_not_be_asked(const struct grow_facts *facts, char *why, size_t size)
{
    if (facts->paused != NULL) {
        (void)say(why, size, "%s", facts->paused);
    } else if (!facts->is_known) {
        (void)say(why, size, "its own list of glideins is not known yet");
    } else if (facts->left_alone_ms > 0) {
        (void)say(why, size, "left alone for %" PRIu64 " s more",
                  (facts->left_alone_ms + MS_PER_S - 1) / MS_PER_S);
    } else {
        return false;
    }
    return true;
}

/* The room that the limits leave, with the name of the limit that leaves least. */
static int64_t room_of(const struct grow_facts *facts, const struct grow_limits *limits,
                       const char **limit)
{
    const struct {
        const char *name;
        int64_t room;
    } rooms[] = {
        {"max_queued", limits->queued - facts->queued},
        {"max_running", limits->running - facts->running - facts->queued},
        {"max_total", limits->total - facts->total},
        {"FACTORY_MAX_GLIDEINS", facts->pool_room},
    };
    int64_t room = INT64_MAX;
    for (size_t i = 0; i < sizeof(rooms) / sizeof(rooms[0]); i++) {
        if (rooms[i].room < room) {
            room = rooms[i].room;
            *limit = rooms[i].name;
        }
    }
    return room > 0 ? room : 0;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* A site that refuses a submission as a whole may have room for a part of it. */
static int64_t after_refusals(const struct grow_facts *facts, int64_t count)
{
    int64_t part = count >> (facts->refusals < HALVINGS_MAX ? facts->refusals : HALVINGS_MAX);
    return part > 0 ? part : 1;
}

int64_t grow_plan(const struct grow_facts *facts, const struct grow_limits *limits, char *why,
                  size_t why_size)
{
    const char *limit = "";
    bool idles = facts->wanted > 0 && facts->idle >= limits->idle; /* jobs find what is there */
    int64_t missing = (idles ? 0 : most(facts->wanted - facts->coming, 0)) + facts->ordered;
    why[0] = '\0';
    if (may_not_be_asked(facts, why, why_size)) {
        return 0;
    }
    if (idles && facts->ordered == 0) {
        return say(why, why_size, "%" PRId64 " startds are idle (max_idle)", facts->idle);
    }
    if (facts->wanted + facts->ordered > 0 && facts->held >= limits->held) {
        return say(why, why_size, "%" PRId64 " glideins are held (max_held)", facts->held);
    }
    if (missing == 0) {
        return facts->wanted <= 0
                   ? say(why, why_size, "no jobs wait for it")
                   : say(why, why_size, "%" PRId64 " glideins are on their way", facts->coming);
    }
    int64_t room = room_of(facts, limits, &limit);
    if (room == 0) {
        return say(why, why_size, "%s is reached", limit);
    }
    if (facts->needs_canary) {
        return facts->coming > 0
                   ? say(why, why_size, "it failed: one glidein is tried before others")
                   : 1;
    }
    if (room < missing) {
        (void)say(why, why_size, "%s leaves room for %" PRId64 " of %" PRId64, limit, room,
                  missing);
    }
    return after_refusals(facts, least(least(missing, room), limits->submission));
}

int64_t grow_plan_order(const struct grow_facts *facts, const struct grow_limits *limits,
                        int64_t asked, char *why, size_t why_size)
{
    const char *limit = "";
    why[0] = '\0';
    if (may_not_be_asked(facts, why, why_size)) {
        return 0;
    }
    if (facts->held >= limits->held) {
        return say(why, why_size, "%" PRId64 " glideins are held (max_held)", facts->held);
    }
    int64_t room = most(room_of(facts, limits, &limit) - facts->ordered, 0);
    if (room == 0) {
        return say(why, why_size, "%s is reached", limit);
    }
    if (facts->needs_canary) {
        (void)say(why, why_size, "it failed: one glidein is tried before others");
        return facts->coming + facts->ordered > 0 ? 0 : 1;
    }
    if (room < asked) {
        (void)say(why, why_size, "%s leaves room for %" PRId64 " of %" PRId64, limit, room, asked);
    } else if (asked > limits->submission) {
        (void)say(why, why_size, "%" PRId64 " at a time (max_submission)", limits->submission);
    }
    return least(asked, room);
}

int64_t grow_plan_room(const struct grow_facts *facts, const struct grow_limits *limits)
{
    char why[200];
    const char *limit = "";
    if (may_not_be_asked(facts, why, sizeof(why)) || facts->held >= limits->held) {
        return 0;
    }
    /* What is queued already does not make room smaller: it is what jobs may be waiting for. */
    int64_t room = room_of(facts, limits, &limit);
    return room + facts->coming;
}
