/* LINK: schedd
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/strbuf.h"
#include "classad/ad.h"
#include "schedd/mail_plan.h"

static struct ad *job(int64_t notification)
{
    struct ad *ad = ad_create();
    ad_set_int(ad, "ClusterId", 8);
    ad_set_int(ad, "ProcId", 1);
    ad_set_string(ad, "Owner", "alice");
    ad_set_string(ad, "Cmd", "/bin/sleep");
    ad_set_string(ad, "Args", "300");
    ad_set_int(ad, "QDate", 1795165734);
    ad_set_int(ad, "JobNotification", notification);
    ad_set_int(ad, "ExitCode", 0);
    return ad;
}

static void check_wish(int64_t notification, const char *attribute, int64_t value,
                       enum mail_occasion occasion, bool wanted)
{
    struct ad *ad = job(notification);
    ad_set_int(ad, attribute, value);
    assert_int_equal(mail_plan_is_wanted(ad, occasion), wanted);
    ad_destroy(ad);
}

static void mail_comes_when_it_is_wished_for(void **state)
{
    (void)state;
    check_wish(MAIL_NEVER, "ExitCode", 1, MAIL_ENDED, false);
    check_wish(MAIL_ALWAYS, "ExitCode", 0, MAIL_REMOVED, true);
    check_wish(MAIL_COMPLETE, "ExitCode", 0, MAIL_ENDED, true);
    check_wish(MAIL_COMPLETE, "HoldReasonCode", 3, MAIL_HELD, false);
    check_wish(MAIL_ERROR, "ExitCode", 0, MAIL_ENDED, false);
    check_wish(MAIL_ERROR, "ExitCode", 2, MAIL_ENDED, true);
    check_wish(MAIL_ERROR, "ExitBySignal", 1, MAIL_ENDED, true);
    check_wish(MAIL_ERROR, "HoldReasonCode", 13, MAIL_HELD, true);
    check_wish(MAIL_ERROR, "HoldReasonCode", 1, MAIL_HELD, false);
    check_wish(MAIL_ERROR, "HoldReasonCode", 1, MAIL_REMOVED, false);
    check_wish(MAIL_START, "ExitCode", 0, MAIL_STARTED, true);
    check_wish(MAIL_START, "ExitCode", 1, MAIL_ENDED, false);
    check_wish(MAIL_COMPLETE, "ExitCode", 1, MAIL_STARTED, false);
    check_wish(MAIL_ALWAYS, "ExitCode", 1, MAIL_STARTED, true);
}

static const struct mail_facts FACTS = {.occasion = MAIL_ENDED,
                                        .reason = "",
                                        .machine = "submit1",
                                        .domain = "example.org",
                                        .now_s = 1795165744,
                                        .zone_s = 3600};

static void an_end_is_told_with_times_and_use(void **state)
{
    (void)state;
    struct strbuf out;
    struct ad *ad = job(MAIL_COMPLETE);
    ad_set_real(ad, "RemoteUserCpu", 65.2);
    strbuf_init(&out, 0);
    mail_plan_message(ad, &FACTS, &out);
    assert_string_equal(
        strbuf_text(&out),
        "To: alice@example.org\nSubject: [Roost] Job 8.1\nAuto-Submitted: auto-generated\n"
        "Content-Type: text/plain; charset=utf-8\n\n"
        "This is an automated email from the Roost system on machine \"submit1\".  Do not reply.\n"
        "\nYour job 8.1\n    /bin/sleep 300\nexited normally with status 0\n\n"
        "Submitted at:        2026-11-20 10:08:54\nCompleted at:        2026-11-20 10:09:04\n"
        "Real Time:               0 00:00:10\n\nVirtual Image Size:  0 Kilobytes\n\n"
        "Statistics from last run:\nAllocation/Run time:     0 00:00:00\n"
        "Remote User CPU Time:    0 00:01:05\nRemote System CPU Time:  0 00:00:00\n"
        "Total Remote CPU Time:   0 00:01:05\n\n"
        "Statistics totaled from all runs:\nAllocation/Run time:     0 00:00:00\n");
    strbuf_fini(&out);
    ad_destroy(ad);
}

static void a_hold_is_told_with_its_reason(void **state)
{
    (void)state;
    struct strbuf out;
    struct ad *ad = job(MAIL_ALWAYS);
    struct mail_facts facts = FACTS;
    facts.occasion = MAIL_HELD;
    facts.reason = "no such\nfile";
    strbuf_init(&out, 0);
    mail_plan_message(ad, &facts, &out);
    assert_non_null(strstr(strbuf_text(&out), "Subject: [Roost] Job 8.1 held\n"));
    assert_non_null(strstr(strbuf_text(&out), "is being held.\n\n    no such file\n"));
    assert_null(strstr(strbuf_text(&out), "Completed"));
    strbuf_fini(&out);
    ad_destroy(ad);
}

static void a_start_is_told_with_its_slot(void **state)
{
    (void)state;
    struct strbuf out;
    struct ad *ad = job(MAIL_START);
    struct mail_facts facts = FACTS;
    facts.occasion = MAIL_STARTED;
    ad_set_string(ad, "RemoteHost", "slot1@m");
    strbuf_init(&out, 0);
    mail_plan_message(ad, &facts, &out);
    assert_non_null(strstr(strbuf_text(&out), "Subject: [Roost] Job 8.1 started\n"));
    assert_non_null(strstr(strbuf_text(&out), "has started on slot1@m.\n"));
    strbuf_fini(&out);
    ad_destroy(ad);
}

static void attributes_that_the_owner_named_are_told(void **state)
{
    (void)state;
    struct strbuf out;
    struct ad *ad = job(MAIL_COMPLETE);
    ad_set_string(ad, "EmailAttributes", "ExitCode, Nothing,Note,ClaimId,");
    ad_set_string(ad, "Note", "a\nb");
    ad_set_string(ad, "ClaimId", "secret");
    strbuf_init(&out, 0);
    mail_plan_message(ad, &FACTS, &out);
    const char *tail = strstr(strbuf_text(&out), "\n\n\nExitCode");
    assert_non_null(tail);
    assert_string_equal(tail, "\n\n\nExitCode = 0\nNote = \"a b\"\n");
    strbuf_fini(&out);
    ad_destroy(ad);
}

static void nothing_of_the_job_can_add_a_header(void **state)
{
    (void)state;
    struct strbuf out;
    struct ad *ad = job(MAIL_ALWAYS);
    ad_set_string(ad, "NotifyUser", "bob@x\nBcc: everybody@y");
    strbuf_init(&out, 0);
    mail_plan_message(ad, &FACTS, &out);
    assert_int_equal(strncmp(strbuf_text(&out), "To: bob@x Bcc: everybody@y\nSubject", 34), 0);
    strbuf_fini(&out);
    ad_destroy(ad);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mail_comes_when_it_is_wished_for),
        cmocka_unit_test(an_end_is_told_with_times_and_use),
        cmocka_unit_test(a_hold_is_told_with_its_reason),
        cmocka_unit_test(a_start_is_told_with_its_slot),
        cmocka_unit_test(attributes_that_the_owner_named_are_told),
        cmocka_unit_test(nothing_of_the_job_can_add_a_header),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
