/* tests/unit/schedd/test_autocluster_plan.c - which jobs are alike.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/requests/autocluster_plan.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/strbuf.h"
#include "base/strmap.h"
#include "classad/ad.h"

static struct ad *parse(const char *text)
{
    struct ad *ad = NULL;
    assert_int_equal(ad_parse(text, strlen(text), &ad, NULL), 0);
    return ad;
}

static bool alike(const char *a, const char *b, const char *const *extra)
{
    struct strbuf keys[2];
    const char *texts[2] = {a, b};
    for (int i = 0; i < 2; i++) {
        struct ad *ad = parse(texts[i]);
        struct strmap *names = strmap_create(STRMAP_CASE_IGNORED);
        autocluster_plan_names(ad, extra, names);
        autocluster_plan_requests(ad, names);
        strbuf_init(&keys[i], 0);
        autocluster_plan_key(ad, names, &keys[i]);
        strmap_destroy(names, NULL);
        ad_destroy(ad);
    }
    bool same = strcmp(strbuf_text(&keys[0]), strbuf_text(&keys[1])) == 0;
    strbuf_fini(&keys[0]);
    strbuf_fini(&keys[1]);
    return same;
}

static void order_case_priority_and_the_process_do_not_matter(void **state)
{
    (void)state;
    assert_true(alike("[Owner = \"a\"; RequestCpus = 1; JobPrio = 5; ProcId = 1; Args = \"x\"]",
                      "[requestcpus = 1; ProcId = 2; OWNER = \"a\"; Args = \"y\"]", NULL));
}

static void what_machines_are_asked_for_matters(void **state)
{
    (void)state;
    assert_false(alike("[RequestCpus = 1]", "[RequestCpus = 2]", NULL));
    assert_false(alike("[RequestCpus = 1]", "[RequestMemory = 1]", NULL));
    assert_false(alike("[requestTapes = 1]", "[RequestTapes = 2]", NULL));
    assert_false(alike("[RequestTapes = 1]", "[]", NULL));
    assert_true(alike("[Request = 1; Requested = 2]", "[Request = 3; Requested = 2]", NULL));
    assert_false(alike("[Owner = \"a\"]", "[Owner = \"b\"]", NULL));
    assert_false(alike("[Rank = 1]", "[]", NULL));
    assert_false(alike("[Owner = \"A\"]", "[Owner = \"a\"]", NULL));
}

static void what_requirements_refer_to_in_the_job_matters(void **state)
{
    (void)state;
    const char *one = "[Requirements = TARGET.Memory > MY.Wanted; Wanted = Half * 2; Half = 1]";
    const char *two = "[Requirements = TARGET.Memory > MY.Wanted; Wanted = Half * 2; Half = 2]";
    assert_false(alike(one, two, NULL));
    assert_true(alike(one, one, NULL));
    /* the same number where nothing refers to it */
    assert_true(alike("[Requirements = true; Half = 1]", "[Requirements = true; Half = 2]", NULL));
}

static void what_the_configuration_adds_matters(void **state)
{
    (void)state;
    const char *const extra[] = {"Project", NULL};
    assert_true(alike("[Project = 1]", "[Project = 2]", NULL));
    assert_false(alike("[Project = 1]", "[Project = 2]", extra));
}

static void a_job_differs_by_any_request(void **state)
{
    (void)state;
    struct strmap *names = strmap_create(STRMAP_CASE_IGNORED);
    struct ad *own = parse("[ProcId = 1; RequestTapes = 1]");
    assert_true(autocluster_plan_differs(own, names));
    ad_remove(own, "RequestTapes");
    assert_false(autocluster_plan_differs(own, names));
    ad_destroy(own);
    strmap_destroy(names, NULL);
}

static void a_job_differs_only_by_a_name_that_matters(void **state)
{
    (void)state;
    struct ad *ad = parse("[Requirements = Wanted > 1; Wanted = 1]");
    struct strmap *names = strmap_create(STRMAP_CASE_IGNORED);
    autocluster_plan_names(ad, NULL, names);
    struct ad *own = parse("[Args = \"3\"; Out = \"out.3\"]");
    assert_false(autocluster_plan_differs(own, names));
    assert_false(autocluster_plan_differs(NULL, names));
    ad_set_int(own, "WANTED", 7);
    assert_true(autocluster_plan_differs(own, names));
    ad_destroy(own);
    strmap_destroy(names, NULL);
    ad_destroy(ad);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_case_priority_and_the_process_do_not_matter),
        cmocka_unit_test(what_machines_are_asked_for_matters),
        cmocka_unit_test(what_requirements_refer_to_in_the_job_matters),
        cmocka_unit_test(what_the_configuration_adds_matters),
        cmocka_unit_test(a_job_differs_by_any_request),
        cmocka_unit_test(a_job_differs_only_by_a_name_that_matters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
