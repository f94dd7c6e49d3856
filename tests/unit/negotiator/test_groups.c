/* Accounting groups as they are configured, and what is left out of a bad configuration.
 *
 * LINK: negotiator
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <math.h>
#include <string.h>

#include "base/config/config.h"
#include "base/daemon/daemon_checking.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "negotiator/groups.h"
#include "negotiator/negotiator.h"
#include "tests/support/config_memory.h"

static void load(const char *content, struct config **config)
{
    static const struct knob_table *const TABLES[] = {&negotiator_knobs, &knobs_common};
    static const struct config_macro MACROS[] = {{"HOSTNAME", "h"}, {"FULL_HOSTNAME", "h"}};
    const struct config_options options = {.subsystem = "NEGOTIATOR",
                                           .path = "/roost.conf",
                                           .tables = TABLES,
                                           .table_count = 2,
                                           .macros = MACROS,
                                           .macro_count = 2};
    struct err err = {""};
    struct config_memory memory = {.files = {{"/roost.conf", content}}};
    const struct config_source source = config_memory_source(&memory);
    if (config_load(&source, &options, config, &err) != 0) {
        fail_msg("%s", err.text);
    }
}

static struct groups *read_groups(const char *content, struct config **config)
{
    load(content, config);
    return groups_create(*config, NULL);
}

static void end(struct groups *groups, struct config *config)
{
    groups_destroy(groups);
    config_destroy(config);
}

static const struct ad_context CONTEXT = {.now_s = 1000};

static void knobs_of_each_name_are_read(void **state)
{
    (void)state;
    struct config *config;
    struct groups *groups = read_groups("GROUP_NAMES = \"phys.cms, Phys, chem\"\n"
                                        "GROUP_QUOTA_phys = 60\n"
                                        "GROUP_QUOTA_DYNAMIC_phys.cms = 0.5\n"
                                        "GROUP_ACCEPT_SURPLUS = true\n"
                                        "GROUP_ACCEPT_SURPLUS_chem = false\n"
                                        "GROUP_AUTOREGROUP_chem = true\n"
                                        "GROUP_PRIO_FACTOR_chem = 20\n"
                                        "GROUP_QUOTA_ROUND_ROBIN_RATE = 2.5\n"
                                        "NEGOTIATOR_ALLOW_QUOTA_OVERSUBSCRIPTION = false\n",
                                        &config);
    assert_int_equal(groups->count, 4);
    size_t phys = groups_find(groups, "PHYS"), cms = groups_find(groups, "phys.cms");
    size_t chem = groups_find(groups, "chem");
    assert_int_equal(groups_find(groups, "none.such"), groups->count);
    assert_int_equal(groups_find(groups, "<none>"), 0);
    assert_true(phys < cms); /* parents first */
    assert_int_equal(groups->entries[cms].parent, phys);
    assert_true(groups->entries[cms].is_dynamic);
    assert_false(groups->entries[phys].is_dynamic);
    assert_true(groups->entries[phys].accept_surplus);
    assert_false(groups->entries[chem].accept_surplus);
    assert_true(groups->entries[chem].autoregroup);
    assert_false(groups->entries[phys].autoregroup);
    assert_true(fabs(groups->prio_factors[chem] - 20) < 1e-9);
    assert_true(fabs(groups->round_robin - 2.5) < 1e-9);
    assert_false(groups->oversubscribe);
    groups_begin(groups, 100, &CONTEXT);
    assert_true(fabs(groups->entries[cms].quota - 30) < 1e-9);
    assert_true(fabs(groups->entries[phys].quota - 30) < 1e-9);
    assert_string_equal(groups_name_of(groups, "phys.cms.bob@x"), "phys.cms");
    assert_string_equal(groups_name_of(groups, "bob@x"), "<none>");
    end(groups, config);
}

static void what_is_configured_badly_is_left_out_and_the_rest_is_served(void **state)
{
    (void)state;
    struct config *config;
    struct groups *groups = read_groups("GROUP_NAMES = \"a, A, b.c, d..e, .f, g. , h!, i\"\n"
                                        "GROUP_QUOTA_i = 7\n",
                                        &config);
    assert_int_equal(groups->count, 3);
    size_t a = groups_find(groups, "a"), i = groups_find(groups, "i");
    assert_true(a < groups->count && i < groups->count);
    assert_true(groups->entries[a].config_quota < 1e-9); /* nothing rather than anything */
    assert_true(fabs(groups->entries[i].config_quota - 7) < 1e-9);
    assert_false(groups->entries[i].accept_surplus);
    end(groups, config);
}

static void without_names_there_is_the_root_alone(void **state)
{
    (void)state;
    struct config *config;
    struct groups *groups = read_groups("GROUP_QUOTA_a = 5\n", &config);
    assert_int_equal(groups->count, 1);
    groups_begin(groups, 40, &CONTEXT);
    assert_true(fabs(groups->entries[0].quota - 40) < 1e-9);
    assert_string_equal(groups_name_of(groups, "a.bob@x"), "<none>");
    end(groups, config);
}

static void the_order_of_groups_can_be_configured(void **state)
{
    (void)state;
    struct config *config;
    struct groups *groups =
        read_groups("GROUP_NAMES = \"a, b\"\nGROUP_QUOTA_a = 5\nGROUP_QUOTA_b = 20\n"
                    "GROUP_SORT_EXPR = \"ifThenElse(AccountingGroup == \\\"<none>\\\", -1, "
                    "0 - GroupQuota)\"\n",
                    &config);
    groups_begin(groups, 100, &CONTEXT);
    assert_true(fabs(groups->entries[0].sort_key + 1) < 1e-9);
    assert_true(fabs(groups->entries[groups_find(groups, "b")].sort_key + 20) < 1e-9);
    end(groups, config);
}

static void append_doubt(void *arg, const char *text)
{
    strbuf_printf(arg, "%s\n", text);
}

static void a_knob_of_a_group_that_does_not_exist_is_doubted(void **state)
{
    (void)state;
    struct config *config;
    struct strbuf said;
    strbuf_init(&said, 0);
    load("GROUP_NAMES = \"phys.cms, Phys, chem, x.y\"\n"
         "GROUP_QUOTA_PHYS = 60\n"
         "GROUP_QUOTA_DYNAMIC_phys.cms = 0.5\n"
         "GROUP_QUOTA_phsy = 1\n"
         "GROUP_QUOTA_old = \"\"\n"
         "GROUP_ACCEPT_SURPLUS_chem = false\n"
         "GROUP_ACCEPT_SURPLUS = true\n"
         "GROUP_QUOTA_ROUND_ROBIN_RATE = 2\n",
         &config);
    struct daemon_checking checking = {.config = config, .doubt = append_doubt, .arg = &said};
    groups_check(&checking);
    assert_string_equal(
        strbuf_text(&said),
        "/roost.conf:1: GROUP_NAMES: group 'x.y' is ignored: not a valid group name, or the parent "
        "group is not in GROUP_NAMES\n"
        "/roost.conf:4: GROUP_QUOTA_phsy has no effect: GROUP_NAMES has no group 'phsy'; did you "
        "mean Phys\n");
    config_destroy(config);
    static const char *const KNOBS[] = {"GROUP_QUOTA_DYNAMIC_lab = 0.5",
                                        "GROUP_ACCEPT_SURPLUS_lab = true",
                                        "GROUP_AUTOREGROUP_lab = true",
                                        "GROUP_PRIO_FACTOR_lab = 3"};
    for (size_t i = 0; i < sizeof KNOBS / sizeof KNOBS[0]; i++) {
        strbuf_clear(&said);
        load(KNOBS[i], &config);
        checking.config = config;
        groups_check(&checking);
        assert_non_null(strstr(strbuf_text(&said), "_lab has no effect: GROUP_NAMES has no group "
                                                   "'lab'\n"));
        config_destroy(config);
    }
    strbuf_fini(&said);
}

UNIT_TESTS(UNIT(knobs_of_each_name_are_read),
           UNIT(what_is_configured_badly_is_left_out_and_the_rest_is_served),
           UNIT(without_names_there_is_the_root_alone), UNIT(the_order_of_groups_can_be_configured),
           UNIT(a_knob_of_a_group_that_does_not_exist_is_doubted))
