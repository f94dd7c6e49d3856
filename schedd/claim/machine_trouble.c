/* schedd/claim/machine_trouble.c - see machine_trouble.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/claim/machine_trouble.h"

#include "base/check.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "schedd/requests/request_news.h"
#include "schedd/schedd_plan.h"
#include "schedd/schedd_state.h"

struct trouble {
    unsigned failures;
    /* time of the last failure; the machine is avoided until until_ms */
    uint64_t noted_ms, until_ms;
};

struct troubles {
    struct schedd *schedd;
    struct strmap *machines;  /* name -> struct trouble */
    struct loop_timer *timer; /* fires when the next machine may be tried again */
};

static bool is_avoided(const struct trouble *trouble, uint64_t now_ms)
{
    return trouble->until_ms > now_ms;
}

static void set_timer(struct troubles *self)
{
    uint64_t now_ms = loop_now_ms(self->schedd->loop);
    uint64_t next_ms = UINT64_MAX;
    size_t at = 0;
    void *value = NULL;
    while (strmap_next(self->machines, &at, NULL, &value)) {
        const struct trouble *trouble = value;
        if (is_avoided(trouble, now_ms) && trouble->until_ms < next_ms) {
            next_ms = trouble->until_ms;
        }
    }
    if (next_ms != UINT64_MAX) {
        loop_timer_set(self->timer, next_ms - now_ms);
    }
}

static void timer_fired(void *arg)
{
    struct troubles *self = arg;
    set_timer(self);
    request_news_moved(self->schedd);
}

void troubles_init(struct schedd *schedd)
{
    struct troubles *self = mem_zalloc(sizeof(*self));
    self->schedd = schedd;
    self->machines = strmap_create(STRMAP_CASE_SENSITIVE);
    self->timer = loop_timer_create(schedd->loop, timer_fired, self);
    schedd->troubles = self;
}

void troubles_fini(struct schedd *schedd)
{
    struct troubles *self = schedd->troubles;
    if (self != NULL) {
        loop_timer_destroy(self->timer);
        strmap_destroy(self->machines, mem_free);
        mem_free(self);
        schedd->troubles = NULL;
    }
}

/* Makes room for one more machine: forgets the machine that may be tried again first. */
static void make_room(struct troubles *self)
{
    const char *name = NULL;
    const char *oldest = NULL;
    uint64_t oldest_ms = UINT64_MAX;
    size_t at = 0;
    void *value = NULL;
    while (strmap_next(self->machines, &at, &name, &value)) {
        const struct trouble *trouble = value;
        if (trouble->until_ms < oldest_ms) {
            oldest_ms = trouble->until_ms;
            oldest = name;
        }
    }
    if (strmap_count(self->machines) >= TROUBLES_MAX && oldest != NULL) {
        mem_free(strmap_remove(self->machines, oldest));
    }
}

static struct trouble *find_or_make(struct troubles *self, const char *machine)
{
    struct trouble *trouble = strmap_get(self->machines, machine);
    if (trouble == NULL) {
        make_room(self);
        trouble = mem_zalloc(sizeof(*trouble));
        CHECK(strmap_set(self->machines, machine, trouble) == NULL);
    }
    return trouble;
}

void trouble_note(struct schedd *schedd, const char *machine, uint64_t claimed_ms, bool is_sure)
{
    struct troubles *self = schedd->troubles;
    uint64_t first_ms = schedd->settings.starter_backoff_ms;
    uint64_t now_ms = loop_now_ms(schedd->loop);
    if (machine[0] == '\0' || first_ms == 0) {
        return;
    }
    struct trouble *trouble = find_or_make(self, machine);
    if (trouble->failures > 0 && claimed_ms <= trouble->noted_ms) {
        return; /* the same trouble */
    }
    if (trouble->failures > 0 && schedd_plan_trouble_is_old(trouble->noted_ms, now_ms, first_ms)) {
        trouble->failures = 0;
    }
    trouble->failures += is_sure && trouble->failures == 0 ? 2 : 1;
    trouble->noted_ms = now_ms;
    uint64_t wait_ms = schedd_plan_trouble_wait(trouble->failures, first_ms);
    if (wait_ms == 0) {
        return;
    }
    trouble->until_ms = now_ms + wait_ms;
    log_warn(schedd->log, "machine.avoided",
             "starters failed on this machine; it gets no job for a while",
             LOG_TEXT("machine", machine), LOG_INT("failures", trouble->failures),
             LOG_INT("s", wait_ms / 1000));
    set_timer(self);
    request_news_moved(schedd);
}

void trouble_passed(struct schedd *schedd, const char *machine)
{
    struct trouble *trouble = strmap_get(schedd->troubles->machines, machine);
    if (trouble != NULL && trouble->failures > 1) {
        trouble->failures = 1; /* one slot of it may be well, another not */
    }
}

bool trouble_is_avoided(const struct schedd *schedd, const char *machine)
{
    const struct trouble *trouble = strmap_get(schedd->troubles->machines, machine);
    return trouble != NULL && is_avoided(trouble, loop_now_ms(schedd->loop));
}

static void put_string(struct strbuf *text, const char *value)
{
    struct ad *ad = ad_create();
    ad_set_string(ad, "Value", value);
    ad_expr_print(ad_lookup(ad, "Value"), AD_OLD, text);
    ad_destroy(ad);
}

void troubles_narrow(const struct schedd *schedd, struct ad *request)
{
    uint64_t now_ms = loop_now_ms(schedd->loop);
    struct strbuf text;
    strbuf_init(&text, 0);
    if (ad_lookup(request, "Requirements") != NULL) {
        strbuf_puts(&text, "(");
        ad_expr_print(ad_lookup(request, "Requirements"), AD_OLD, &text);
        strbuf_puts(&text, ")");
    } else {
        strbuf_puts(&text, "true");
    }
    size_t before = text.length;
    const char *name = NULL;
    size_t at = 0;
    void *value = NULL;
    while (strmap_next(schedd->troubles->machines, &at, &name, &value)) {
        if (is_avoided(value, now_ms)) {
            strbuf_puts(&text, " && TARGET.Machine =!= ");
            put_string(&text, name);
        }
    }
    troubles_show(schedd, request);
    struct err err;
    if (text.length > before &&
        ad_set_expr_old(request, "Requirements", strbuf_text(&text), &err) != 0) {
        log_warn(schedd->log, "machine.not_avoided", err.text); /* too long: MATCH is refused */
    }
    strbuf_fini(&text);
}

void troubles_show(const struct schedd *schedd, struct ad *ad)
{
    uint64_t now_ms = loop_now_ms(schedd->loop);
    struct strbuf names;
    const char *name = NULL;
    size_t at = 0;
    void *value = NULL;
    strbuf_init(&names, 0);
    while (strmap_next(schedd->troubles->machines, &at, &name, &value)) {
        if (is_avoided(value, now_ms)) {
            strbuf_printf(&names, "%s%s", names.length > 0 ? ", " : "", name);
        }
    }
    if (names.length > 0) {
        ad_set_string(ad, "AvoidedMachines", strbuf_text(&names));
    }
    strbuf_fini(&names);
}
