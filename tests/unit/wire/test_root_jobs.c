/* tests/unit/wire/test_root_jobs.c - which jobs count as root's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wire/root_jobs.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/err.h"
#include "base/loop_run.h"
#include "base/os/os_run.h"
#include "classad/ad.h"

struct machine {
    struct loop *loop;
    struct os *os;
};

static int set_up(void **state)
{
    static struct machine machine;
    *state = &machine;
    return loop_create(&machine.loop, NULL) != 0 || os_create(machine.loop, &machine.os, NULL) != 0
               ? -1
               : 0;
}

static int tear_down(void **state)
{
    struct machine *machine = *state;
    os_destroy(machine->os);
    loop_destroy(machine->loop);
    return 0;
}

static void root_is_root_and_whoever_has_its_uid(void **state)
{
    struct os *os = ((struct machine *)*state)->os;
    assert_true(root_jobs_name(os, "root"));
    assert_false(root_jobs_name(os, "nobody"));
    assert_false(root_jobs_name(os, "no-such-account-here"));
    assert_false(root_jobs_name(os, ""));
}

/* says: part of the message; NULL: the job may run. */
static void judged(void **state, const char *text, const char *says)
{
    struct ad *job = NULL;
    struct err err = {""};
    assert_int_equal(ad_parse(text, strlen(text), &job, NULL), 0);
    assert_int_equal(root_jobs_judge(((struct machine *)*state)->os, job, &err),
                     says != NULL ? -EPERM : 0);
    if (says != NULL && strstr(err.text, says) == NULL) {
        fail_msg("'%s' has not '%s'", err.text, says);
    }
    ad_destroy(job);
}

static void a_job_of_root_of_any_domain_may_not_run(void **state)
{
    judged(state, "[]", NULL);
    judged(state, "[Owner = \"ann\"; User = \"ann@pool\"]", NULL);
    judged(state, "[Owner = \"ann\"; User = \"ann@root\"]", NULL);
    judged(state, "[Owner = \"rooted\"; User = \"rooted@pool\"]", NULL);
    judged(state, "[Owner = \"root\"; User = \"root@pool\"]", "Owner is 'root'");
    judged(state, "[Owner = \"ann\"; User = \"root@elsewhere\"]", "User is 'root@elsewhere'");
    judged(state, "[User = \"root\"]", "User is 'root'");
}

static void an_owner_that_is_an_expression_may_not_run(void **state)
{
    judged(state, "[Owner = TARGET.Machine =?= undefined ? \"ann\" : \"root\"]",
           "Owner is not a string literal");
    judged(state, "[Owner = \"ann\"; User = strcat(\"root\", \"@pool\")]",
           "User is not a string literal");
    judged(state, "[Owner = 0]", "Owner is not a string literal");
    judged(state, "[Owner = undefined]", "Owner is not a string literal");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(root_is_root_and_whoever_has_its_uid),
        cmocka_unit_test(a_job_of_root_of_any_domain_may_not_run),
        cmocka_unit_test(an_owner_that_is_an_expression_may_not_run),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
