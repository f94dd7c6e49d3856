/* What `roost advertise` is asked to do.
 *
 * LINK: cli
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/cli/ads.h"

#include "cli/advertise_plan.h"

static void commands_are_those_of_condor_advertise(void **state)
{
    (void)state;
    struct advertise_command command;
    assert_true(advertise_plan_command("UPDATE_STARTD_AD", &command));
    assert_string_equal(command.type, "Machine");
    assert_false(command.invalidate);
    assert_true(advertise_plan_command("update_machine_ad", &command));
    assert_string_equal(command.type, "Machine");
    assert_true(advertise_plan_command("INVALIDATE_SCHEDD_ADS", &command));
    assert_string_equal(command.type, "Scheduler");
    assert_true(command.invalidate);
    assert_true(advertise_plan_command("UPDATE_SUBMITTOR_AD", &command));
    assert_string_equal(command.type, "Submitter");
    assert_true(advertise_plan_command("INVALIDATE_ADS_GENERIC", &command));
    assert_string_equal(command.type, "Generic");
    assert_true(command.invalidate);
    assert_true(advertise_plan_command("UPDATE_FACTORY_AD", &command));
    assert_string_equal(command.type, "Factory");
    assert_true(advertise_plan_command("UPDATE_SITE_AD", &command));
    assert_string_equal(command.type, "Site");
    assert_true(advertise_plan_command("INVALIDATE_GLIDEIN_ADS", &command));
    assert_string_equal(command.type, "Glidein");
    assert_false(advertise_plan_command("UPDATE_AD", &command));
    assert_false(advertise_plan_command("UPDATE__AD", &command));
    assert_false(advertise_plan_command("UPDATE_NOSUCH_AD", &command));
    assert_false(advertise_plan_command("Machine", &command));
}

static void prepared(const char *type, const char *text, int rc, const char *words,
                     const char *my_type)
{
    struct vec ads = {0};
    struct err err = {""};
    const struct advertise_command command = {.type = type};
    ads_add(&ads, text);
    assert_int_equal(advertise_plan_prepare(&command, ads.items[0], &err), rc);
    assert_non_null(strstr(err.text, words));
    assert_string_equal(ad_string_or(ads.items[0], "MyType", ""), my_type);
    vec_fini(&ads, ads_destroy_one);
}

static void an_ad_gets_the_type_it_lacks_and_keeps_the_one_it_has(void **state)
{
    (void)state;
    prepared("Machine", "[Name = \"a\"]", 0, "", "Machine");
    prepared("Machine", "[Name = \"a\"; MyType = \"machine\"]", 0, "", "machine");
    prepared("Generic", "[Name = \"a\"; MyType = \"Chiller\"]", 0, "", "Chiller");
    prepared("Machine", "[Name = \"a\"; MyType = \"Chiller\"]", -EINVAL, "'a' is of type Chiller",
             "Chiller");
    prepared(NULL, "[Name = \"a\"]", -EINVAL, "no MyType", "");
    prepared("Machine", "[MyType = \"Machine\"]", -EINVAL, "no Name", "Machine");
}

static void asked(const char *type, const char *text, const char *printed)
{
    struct vec ads = {0};
    struct err err = {""};
    struct strbuf out;
    const struct advertise_command command = {.type = type, .invalidate = true};
    ads_add(&ads, text);
    strbuf_init(&out, 0);
    struct ad *args = advertise_plan_invalidation(&command, ads.items[0], &err);
    if (args != NULL) {
        ad_print_long(args, &out);
    } else {
        strbuf_puts(&out, err.text);
    }
    assert_string_equal(strbuf_text(&out), printed);
    strbuf_fini(&out);
    ad_destroy(args);
    vec_fini(&ads, ads_destroy_one);
}

static void an_invalidation_takes_the_name_or_the_requirements(void **state)
{
    (void)state;
    asked("Machine", "[Name = \"a\"; Requirements = true]",
          "Type = \"Machine\"\nNames = { \"a\" }\n");
    asked("Machine", "[MyType = \"Query\"; Requirements = Cpus > 1]",
          "Type = \"Machine\"\nConstraint = \"Cpus > 1\"\n");
    asked(NULL, "[MyType = \"Query\"; TargetType = \"Chiller\"; Name = \"a\"]",
          "Type = \"Chiller\"\nNames = { \"a\" }\n");
    asked("Generic", "[MyType = \"Chiller\"; Name = \"a\"]",
          "Type = \"Chiller\"\nNames = { \"a\" }\n");
    asked("Machine", "[x = 1]", "the ad has neither a Name nor Requirements");
    asked(NULL, "[Name = \"a\"]", "the ad has neither MyType nor TargetType");
}

UNIT_TESTS(UNIT(commands_are_those_of_condor_advertise),
           UNIT(an_ad_gets_the_type_it_lacks_and_keeps_the_one_it_has),
           UNIT(an_invalidation_takes_the_name_or_the_requirements))
