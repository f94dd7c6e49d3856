/* tests/unit/schedd/test_machine_trouble.c - which machines get no job for a while, and for how
 * long.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <stdio.h>
#include <string.h>

#include "base/loop.h"
#include "base/loop_run.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "schedd/claim/machine_trouble.h"
#include "schedd/schedd_state.h"

#define HOUR_MS ((uint64_t)3600000)
#define LATER   UINT64_MAX /* a claim that was made after all that is known */

static struct schedd *make(uint64_t backoff_ms)
{
    struct schedd *schedd = mem_zalloc(sizeof *schedd);
    assert_int_equal(loop_create(&schedd->loop, NULL), 0);
    schedd->settings.starter_backoff_ms = backoff_ms;
    troubles_init(schedd);
    return schedd;
}

static void unmake(struct schedd *schedd)
{
    troubles_fini(schedd);
    assert_null(schedd->troubles);
    loop_destroy(schedd->loop);
    mem_free(schedd);
}

/* What a request asks of its machines then; "": nothing. */
static void requirements_are(const struct schedd *schedd, const char *before, const char *after)
{
    struct ad *request = ad_create();
    struct strbuf text;
    strbuf_init(&text, 0);
    if (before != NULL) {
        assert_int_equal(ad_set_expr_old(request, "Requirements", before, NULL), 0);
    }
    troubles_narrow(schedd, request);
    if (ad_lookup(request, "Requirements") != NULL) {
        ad_expr_print(ad_lookup(request, "Requirements"), AD_OLD, &text);
    }
    assert_string_equal(strbuf_text(&text), after);
    strbuf_fini(&text);
    ad_destroy(request);
}

static void the_first_failure_of_a_machine_is_free_and_the_second_is_not(void **state)
{
    (void)state;
    struct schedd *schedd = make(HOUR_MS);
    trouble_note(schedd, "a", 0, false);
    assert_false(trouble_is_avoided(schedd, "a"));
    requirements_are(schedd, "X > 1", "X > 1");
    trouble_note(schedd, "a", LATER, false);
    assert_true(trouble_is_avoided(schedd, "a"));
    assert_false(trouble_is_avoided(schedd, "b"));
    requirements_are(schedd, "X || Y", "(X || Y) && TARGET.Machine =!= \"a\"");
    requirements_are(schedd, NULL, "true && TARGET.Machine =!= \"a\"");
    unmake(schedd);
}

static void the_ads_of_the_schedd_name_the_machines_that_are_avoided(void **state)
{
    (void)state;
    struct schedd *schedd = make(HOUR_MS);
    struct ad *ad = ad_create();
    troubles_show(schedd, ad);
    assert_false(ad_has(ad, "AvoidedMachines"));
    trouble_note(schedd, "a", 0, true);
    troubles_narrow(schedd, ad);
    assert_string_equal(ad_string_or(ad, "AvoidedMachines", ""), "a");
    trouble_note(schedd, "b", 0, true);
    troubles_show(schedd, ad);
    assert_int_equal(strlen(ad_string_or(ad, "AvoidedMachines", "")), strlen("a, b"));
    ad_destroy(ad);
    unmake(schedd);
}

static void a_machine_that_is_surely_at_fault_is_avoided_at_once(void **state)
{
    (void)state;
    struct schedd *schedd = make(HOUR_MS);
    trouble_note(schedd, "a", 0, true);
    assert_true(trouble_is_avoided(schedd, "a"));
    unmake(schedd);
}

static void claims_that_were_made_before_a_failure_tell_nothing_new(void **state)
{
    (void)state;
    struct schedd *schedd = make(HOUR_MS);
    trouble_note(schedd, "a", 0, false);
    for (int i = 0; i < 9; i++) { /* its other slots, at the same time */
        trouble_note(schedd, "a", 0, false);
    }
    assert_false(trouble_is_avoided(schedd, "a"));
    unmake(schedd);
}

static void a_result_makes_the_next_failure_a_first_one_of_a_row_again(void **state)
{
    (void)state;
    struct schedd *schedd = make(1);
    trouble_passed(schedd, "a"); /* of which nothing is known */
    trouble_note(schedd, "a", 0, false);
    trouble_passed(schedd, "a");
    schedd->settings.starter_backoff_ms = HOUR_MS;
    trouble_note(schedd, "a", LATER, false); /* the second: one slot may be well, another not */
    assert_true(trouble_is_avoided(schedd, "a"));
    unmake(schedd);
}

static void no_machine_is_avoided_without_a_back_off_or_a_name(void **state)
{
    (void)state;
    struct schedd *schedd = make(0);
    trouble_note(schedd, "a", 0, false);
    trouble_note(schedd, "a", LATER, false);
    assert_false(trouble_is_avoided(schedd, "a"));
    schedd->settings.starter_backoff_ms = HOUR_MS;
    trouble_note(schedd, "", 0, false);
    trouble_note(schedd, "", LATER, false);
    requirements_are(schedd, "X", "X");
    unmake(schedd);
}

struct waiting {
    struct schedd *schedd;
    struct loop_timer *timer;
    bool over;
    int looks;
};

static void look(void *arg)
{
    struct waiting *waiting = arg;
    waiting->over = !trouble_is_avoided(waiting->schedd, "a") || ++waiting->looks > 20000;
    if (!waiting->over) {
        loop_timer_set(waiting->timer, 1);
    }
}

static void a_machine_is_tried_again_when_its_time_is_over(void **state)
{
    (void)state;
    struct schedd *schedd = make(20);
    struct waiting waiting = {.schedd = schedd};
    trouble_note(schedd, "a", 0, false);
    trouble_note(schedd, "a", LATER, false);
    assert_true(trouble_is_avoided(schedd, "a"));
    waiting.timer = loop_timer_create(schedd->loop, look, &waiting);
    loop_timer_set(waiting.timer, 0);
    loop_run_until(schedd->loop, &waiting.over);
    loop_timer_destroy(waiting.timer);
    assert_false(trouble_is_avoided(schedd, "a"));
    requirements_are(schedd, "X", "X");
    /* It fails again at once: for longer. */
    schedd->settings.starter_backoff_ms = HOUR_MS;
    trouble_note(schedd, "a", LATER, false);
    assert_true(trouble_is_avoided(schedd, "a"));
    unmake(schedd);
}

static void of_too_many_machines_the_one_that_is_tried_first_is_forgotten(void **state)
{
    (void)state;
    struct schedd *schedd = make(HOUR_MS);
    char name[16];
    for (int i = 0; i < TROUBLES_MAX; i++) {
        (void)snprintf(name, sizeof name, "m%d", i);
        schedd->settings.starter_backoff_ms = (i == 7 ? 1 : 2) * HOUR_MS;
        trouble_note(schedd, name, 0, false);
        trouble_note(schedd, name, LATER, false);
    }
    assert_true(trouble_is_avoided(schedd, "m7"));
    trouble_note(schedd, "one more", 0, false);
    assert_false(trouble_is_avoided(schedd, "m7"));
    assert_true(trouble_is_avoided(schedd, "m6"));
    assert_true(trouble_is_avoided(schedd, "m63"));
    unmake(schedd);
}

UNIT_TESTS(UNIT(the_first_failure_of_a_machine_is_free_and_the_second_is_not),
           UNIT(the_ads_of_the_schedd_name_the_machines_that_are_avoided),
           UNIT(a_machine_that_is_surely_at_fault_is_avoided_at_once),
           UNIT(claims_that_were_made_before_a_failure_tell_nothing_new),
           UNIT(a_result_makes_the_next_failure_a_first_one_of_a_row_again),
           UNIT(no_machine_is_avoided_without_a_back_off_or_a_name),
           UNIT(a_machine_is_tried_again_when_its_time_is_over),
           UNIT(of_too_many_machines_the_one_that_is_tried_first_is_forgotten))
