/* tests/unit/shadow/test_remote_plan.c - what jobs with remote system calls may reach.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "shadow/remote_plan.h"

#include <errno.h>
#include <string.h>

#include "tests/support/unit.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "shadow/transfer_plan.h"

static const char *const ALL[] = {"/"};
static const char *const SOME[] = {"~", "/data/"};
static const char *const READONLY[] = {"~/.profile", "/etc"};
static const char *const HIDDEN[] = {"~/.ssh"};
static const char *const ALWAYS[] = {"/var/spool/roost", NULL};

static struct remote_site site(const char *const *roots, size_t count)
{
    return (struct remote_site){.home = "/home/ann",
                                .roots = roots,
                                .root_count = count,
                                .readonly = READONLY,
                                .readonly_count = 2,
                                .hidden = HIDDEN,
                                .hidden_count = 1,
                                .always = ALWAYS,
                                .always_count = 2,
                                .bytes_max = 1000,
                                .files_max = 10,
                                .lease_ms = 5000};
}

static struct ad *parse(const char *text)
{
    struct ad *ad = NULL;
    assert_int_equal(ad_parse(text, strlen(text), &ad, NULL), 0);
    return ad;
}

/* "view=directory ... -hidden ... +readonly ... <within". */
static void offers(const char *text, const struct remote_site *place, const char *expected)
{
    struct ad *job = parse(text);
    struct remote_offer *offer = mem_zalloc(sizeof(*offer));
    struct strbuf said;
    struct err err;
    strbuf_init(&said, 0);
    assert_int_equal(remote_plan_offer(job, place, offer, &err), 0);
    for (size_t i = 0; i < offer->offer.root_count; i++) {
        strbuf_printf(&said, "%s=%s ", offer->offer.roots[i].view, offer->offer.roots[i].directory);
        assert_false(offer->offer.roots[i].readonly);
    }
    for (size_t i = 0; i < offer->offer.part_count; i++) {
        strbuf_printf(&said, "%c%s ", offer->offer.parts[i].hidden ? '-' : '+',
                      offer->offer.parts[i].path);
    }
    for (size_t i = 0; i < offer->offer.within_count; i++) {
        strbuf_printf(&said, "<%s ", offer->offer.within[i]);
    }
    assert_string_equal(strbuf_text(&said), expected);
    assert_int_equal(offer->offer.limits.bytes_max, 1000);
    assert_int_equal(offer->offer.limits.files_max, 10);
    assert_int_equal(offer->offer.limits.lease_ms, 5000);
    strbuf_fini(&said);
    remote_offer_fini(offer);
    mem_free(offer);
    ad_destroy(job);
}

#define PARTS "-/var/spool/roost -/home/ann/.ssh +/home/ann/.profile +/etc "

static void a_job_that_does_not_say_sees_what_the_site_offers(void **state)
{
    (void)state;
    struct remote_site all = site(ALL, 1), some = site(SOME, 2);
    offers("[WantRemoteSyscalls = true]", &all, "/=/ " PARTS);
    offers("[WantRemoteSyscalls = true]", &some, "/home/ann=/home/ann /data=/data " PARTS);
}

/* "start:..., given:..., output:...". */
static void grants(const char *text, const char *expected)
{
    static const char *const KINDS[] = {"start", "given", "output"};
    struct remote_site all = site(ALL, 1);
    struct ad *job = parse(text);
    struct remote_offer *offer = mem_zalloc(sizeof(*offer));
    struct strbuf said;
    struct err err;
    all.now_ms = 77;
    strbuf_init(&said, 0);
    assert_int_equal(remote_plan_offer(job, &all, offer, &err), 0);
    for (size_t i = 0; i < offer->offer.grant_count; i++) {
        strbuf_printf(&said, "%s:%s ", KINDS[offer->offer.grants[i].kind],
                      offer->offer.grants[i].path);
    }
    assert_string_equal(strbuf_text(&said), expected);
    assert_true(offer->offer.guarded);
    assert_string_equal(offer->offer.home, "/home/ann");
    assert_int_equal(offer->offer.began_ms, ad_int_or(job, "RemoteBeganMs", 77));
    strbuf_fini(&said);
    remote_offer_fini(offer);
    mem_free(offer);
    ad_destroy(job);
}

static void it_may_change_what_it_was_given_to_change(void **state)
{
    (void)state;
    grants("[Iwd = \"/home/ann/run\"]", "start:/home/ann/run ");
    grants("[Iwd = \"/home/ann\"; RemoteBeganMs = 5; RemoteWrite = \"a, /data/b/\"; "
           "Out = \"o\"; Err = \"/logs/e\"; In = \"i\"; UserLog = \"/home/ann/log\"]",
           "start:/home/ann given:/home/ann/a given:/data/b output:/home/ann/o output:/logs/e ");
    grants("[Iwd = \"/r/run\"; RemoteRoot = \"/r\"; RemoteWrite = \"x, /y\"; Out = \"/r/o\"]",
           "start:/r/run given:/r/run/x given:/r/y output:/r/o ");
    grants("[Iwd = \"/r\"; TransferOutput = \"d/e, f\"; Out = \"/dev/null\"; "
           "TransferOutputRemaps = \"f = /s/f ; g=http://h/g\"]",
           "start:/r output:/r/d/e output:/r/f output:/s/f ");
}

static void a_root_of_its_own_is_to_be_within_the_sites(void **state)
{
    (void)state;
    struct remote_site some = site(SOME, 2);
    offers("[RemoteRoot = \"/data/jail/\"; RemoteReadonly = \"/in, /lib/x\"]", &some,
           "/=/data/jail " PARTS "+/data/jail/in +/data/jail/lib/x </home/ann </data ");
}

static void refuses(const char *text, const struct remote_site *place, int code)
{
    struct ad *job = parse(text);
    struct remote_offer *offer = mem_zalloc(sizeof(*offer));
    struct err err;
    assert_int_equal(remote_plan_offer(job, place, offer, &err), code);
    assert_int_equal(offer->offer.part_count, 0);
    mem_free(offer);
    ad_destroy(job);
}

static void what_could_not_be_kept_is_not_offered(void **state)
{
    (void)state;
    struct remote_site all = site(ALL, 1), none = site(ALL, 0);
    struct strbuf many;
    refuses("[RemoteRoot = \"jail\"]", &all, -EINVAL);
    refuses("[RemoteReadonly = \"/a,b\"]", &all, -EINVAL);
    refuses("[WantRemoteSyscalls = true]", &none, -E2BIG);
    strbuf_init(&many, 0);
    strbuf_puts(&many, "[RemoteReadonly = \"");
    for (int i = 0; i < RSYS_PARTS_MAX; i++) {
        strbuf_printf(&many, "/%d,", i);
    }
    strbuf_puts(&many, "\"]");
    refuses(strbuf_text(&many), &all, -E2BIG);
    strbuf_fini(&many);
}

static void places_of_a_home_that_is_not_known_are_left_out(void **state)
{
    (void)state;
    struct remote_site all = site(ALL, 1);
    all.home = NULL;
    offers("[WantRemoteSyscalls = true]", &all, "/=/ -/var/spool/roost +/etc ");
}

static void starts(const char *text, const char *attribute, const char *expected)
{
    struct ad *job = parse(text), *ad = transfer_plan_sandbox_ad(job);
    assert_string_equal(ad_string_or(ad, attribute, "(none)"), expected);
    assert_false(transfer_plan_is_wanted(job));
    ad_destroy(ad);
    ad_destroy(job);
}

static void its_starter_is_told_what_the_job_sees(void **state)
{
    (void)state;
    static const char HOME[] =
        "[WantRemoteSyscalls = true; Iwd = \"/home/ann/w/\"; Cmd = \"prog\"; "
        "Out = \"out\"; Err = \"/dev/null\"]";
    static const char JAIL[] = "[WantRemoteSyscalls = true; RemoteRoot = \"/data/jail\"; "
                               "Iwd = \"/data/jail\"; Cmd = \"/bin/sh\"; In = \"in/x\"; "
                               "Out = \"/data/jail/out\"; Err = \"/data/jailer/err\"]";
    starts(HOME, "Iwd", "/home/ann/w");
    starts(HOME, "Cmd", "/home/ann/w/prog");
    starts(HOME, "In", "/dev/null");
    starts(HOME, "Out", "/home/ann/w/out");
    starts(HOME, "Err", "/dev/null");
    starts(HOME, "ShouldTransferFiles", "NO");
    starts(JAIL, "Iwd", "/");
    starts(JAIL, "Cmd", "/bin/sh");
    starts(JAIL, "In", "/in/x");
    starts(JAIL, "Out", "/out");
    starts(JAIL, "Err", "/data/jailer/err");
}

UNIT_TESTS(UNIT(a_job_that_does_not_say_sees_what_the_site_offers),
           UNIT(it_may_change_what_it_was_given_to_change),
           UNIT(a_root_of_its_own_is_to_be_within_the_sites),
           UNIT(what_could_not_be_kept_is_not_offered),
           UNIT(places_of_a_home_that_is_not_known_are_left_out),
           UNIT(its_starter_is_told_what_the_job_sees))
