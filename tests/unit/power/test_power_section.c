/* Tests of power/power_section.h: what is wrong in a `node` section is said with its line when the
 * file is read.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "power/power_section.h"

#include <string.h>

#include "base/check.h"
#include "base/config/config.h"
#include "base/err.h"
#include "power/power.h"
#include "tests/support/config_memory.h"
#include "tests/support/unit.h"

static int load(const char *text, struct config **ret, struct err *err)
{
    static const struct knob_table *const TABLES[] = {&power_knobs, &knobs_common};
    struct config_memory memory = {.files = {{"/pool.conf", text}}};
    const struct config_source source = config_memory_source(&memory);
    const struct config_options options = {.subsystem = "ROOSTER",
                                           .path = "/pool.conf",
                                           .tables = TABLES,
                                           .table_count = ARRAY_COUNT(TABLES),
                                           .check_section = power_section_check};
    return config_load(&source, &options, ret, err);
}

static void a_mistake_in_a_section_is_named_with_its_line(void **state)
{
    (void)state;
    static const struct {
        const char *options, *said;
    } CASES[] = {
        {"bmc = x\n", ":2: bmc: node n: no method; expected method = process"},
        {"", ":1: node n: no method"},
        {"method = wol\nhardware_address = \"52:54:00\"\n", ":3: hardware_address: node n"},
        {"method = wol\nhardware_address = \"ff:ff:ff:ff:ff:ff\"\n", "is all zero or a group"},
        {"method = wol\nsubnet = \"10.0.0.0/33\"\n", ":3: subnet: node n"},
        {"method = ipmi\n", ":2: method: node n: method ipmi needs bmc"},
        {"method = ipmi\nbmc = a\n", "needs bmc_user"},
        {"method = ipmi\nbmc = a\nbmc_user = u\n", "needs bmc_password_file"},
        {"method = redfish\nbmc = \"a/b\"\nbmc_user = u\nbmc_password_file = \"/p\"\n",
         ":3: bmc: node n: method redfish: bmc 'a/b'"},
        {"method = command\n", "needs wake_command"},
        {"method = command\nwake_command = \"wake -x\"\n", ":3: wake_command: node n"},
        {"method = command\nwake_command = \"/wake\"\nsleep_command = \"sleep\"\n",
         ":4: sleep_command: node n: method command: sleep_command: 'sleep' is not an absolute"},
        {"method = command\nwake_command = \"/wake\"\nstatus_command = \"ask\"\n",
         ":4: status_command: node n"},
        {"method = process\n", "needs lock_dir"},
        {"method = wol\nnext_methods = {imi}\n",
         ":3: next_methods: node n: 'imi' is not a power method"},
        {"method = wol\nnext_methods = {ipmi}\n", "needs bmc"},
        {"method = wol\nnext_methods = {host}\nbmc = x\n", NULL}, /* it can power down */
    };
    for (size_t i = 0; i < ARRAY_COUNT(CASES); i++) {
        struct config *config = NULL;
        struct err err = {""};
        char text[400];
        (void)snprintf(text, sizeof text, "node \"n\" {\n%s}\n", CASES[i].options);
        int rc = load(text, &config, &err);
        if (CASES[i].said == NULL ? rc != 0
                                  : rc == 0 || strstr(err.text, CASES[i].said) == NULL ||
                                        strncmp(err.text, "/pool.conf:", 11) != 0) {
            fail_msg("%s: %s, wanted %s", CASES[i].options, err.text, CASES[i].said);
        }
        config_destroy(config);
    }
}

static void what_ads_may_add_need_not_be_in_a_section(void **state)
{
    (void)state;
    static const char *const GOOD[] = {
        "method = wol\n",
        "method = wol\nhardware_address = \"52:54:00:12:34:56\"\nsubnet = \"10.0.0.0/24\"\n",
        "method = command\nwake_command = \"/wake -x\"\n",
        "method = wol\nnext_methods = {command}\nstatus_command = \"/ask\"\n",
        "method = libvirt\n",
        "method = ipmi\nbmc = \"[::1]:623\"\nbmc_user = u\nbmc_password_file = \"/p\"\n",
    };
    for (size_t i = 0; i < ARRAY_COUNT(GOOD); i++) {
        struct config *config = NULL;
        struct err err = {""};
        char text[400];
        (void)snprintf(text, sizeof text, "node \"n\" {\n%s}\n", GOOD[i]);
        if (load(text, &config, &err) != 0) {
            fail_msg("%s: %s", GOOD[i], err.text);
        }
        config_destroy(config);
    }
}

UNIT_TESTS(UNIT(a_mistake_in_a_section_is_named_with_its_line),
           UNIT(what_ads_may_add_need_not_be_in_a_section))
