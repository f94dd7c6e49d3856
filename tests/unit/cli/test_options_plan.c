/* What is said of an option or a command that is not there.
 *
 * LINK: cli
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/cli/ads.h"

#include "cli/commands.h"
#include "cli/options_plan.h"

static const struct cli_command Q = {"q", NULL, "[ID...] [-nobatch|-run]", "show jobs",
                                     "  -allusers   everybody's\n  --json  as JSON\n"};
static const struct cli_command POWER = {"power", NULL, "status|on|off [NODE...]", "", NULL};
static const struct cli_command RM = {"rm", NULL, "", "", NULL};
static const struct cli_command STATUS = {"status", NULL, "", "", NULL};
static const struct cli_command *const COMMANDS[] = {&Q, &POWER, &RM, &STATUS, NULL};

static void says(const struct cli_command *command, const char *arg, const char *text)
{
    struct strbuf out;
    strbuf_init(&out, 0);
    options_unknown(command, arg, &out);
    ads_expect(&out, text);
}

static void a_slip_is_answered_by_the_nearest_option(void **state)
{
    (void)state;
    says(&Q, "-nobtach", "unknown option '-nobtach'; did you mean -nobatch?");
    says(&Q, "--alluser", "unknown option '--alluser'; did you mean -allusers?");
    says(&Q, "-jsno", "unknown option '-jsno'; did you mean --json?");
    says(&POWER, "statsu", "unknown argument 'statsu'; did you mean status?");
    says(&POWER, "-status", "unknown option '-status'; `roost power --help` lists all options");
}

static void what_is_near_to_nothing_leads_to_the_help(void **state)
{
    (void)state;
    says(&Q, "-frobnicate", "unknown option '-frobnicate'; `roost q --help` lists all options");
}

static void an_option_of_htcondors_is_refused_with_the_reason(void **state)
{
    (void)state;
    says(&Q, "-dag", "unknown option '-dag': Roost has no DAGMan; -nobatch shows each job");
    says(&STATUS, "-direct",
         "unknown option '-direct': machines accept no connections; roost status MACHINE asks the "
         "collector about a machine");
    assert_true(options_ignored("q", "-stream-results"));
    assert_true(options_ignored("status", "-debug:D_FULLDEBUG"));
    assert_false(options_ignored("q", "-dag"));
    assert_false(options_ignored("rm", "-stream-results"));
}

static void a_command_is_found_by_htcondors_name_or_a_near_one(void **state)
{
    (void)state;
    assert_string_equal(options_nearest_command(COMMANDS, "condor_q"), "q");
    assert_string_equal(options_nearest_command(COMMANDS, "stauts"), "status");
    assert_string_equal(options_nearest_command(COMMANDS, "kill"), "rm");
    assert_string_equal(options_nearest_command(COMMANDS, "condor_cancel"), "rm");
    assert_null(options_nearest_command(COMMANDS, "frobnicate"));
    assert_null(options_nearest_command(COMMANDS, "qedit")); /* there is no edit in this table */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slip_is_answered_by_the_nearest_option),
        cmocka_unit_test(what_is_near_to_nothing_leads_to_the_help),
        cmocka_unit_test(an_option_of_htcondors_is_refused_with_the_reason),
        cmocka_unit_test(a_command_is_found_by_htcondors_name_or_a_near_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
