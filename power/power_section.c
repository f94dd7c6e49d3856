/* power/power_section.c - see power_section.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "power/power_section.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/config/config.h"
#include "base/err.h"
#include "base/knob_check.h"
#include "power/power.h"

#define ANY_ADDRESS                                                              \
    "02:00:00:00:00:01" /* stands for the address that a machine's ads will name \
                         */

static const char *or_null(const char *text)
{
    return text != NULL && text[0] != '\0' ? text : NULL;
}

void power_section_read(const struct config_section *section, const char *method,
                        struct power_node *power)
{
    *power = (struct power_node){.name = section_title(section), .method = method};
    bool by_redfish = power->method != NULL && strcmp(power->method, "redfish") == 0;
    power->bmc_program = section_path(section, by_redfish ? "curl" : "ipmitool");
    power->config = section_path(section, "config");
    power->lock_dir = section_path(section, "lock_dir");
    power->program = section_path(section, "program");
    power->wake_command = section_string(section, "wake_command");
    power->sleep_command = section_string(section, "sleep_command");
    power->status_command = section_string(section, "status_command");
    power->hardware_address = or_null(section_string(section, "hardware_address"));
    power->subnet = or_null(section_string(section, "subnet"));
    power->relay = section_string(section, "relay");
    power->password_file = section_path(section, "password_file");
    power->wake_port = section_int(section, "wake_port");
    power->wake_repeats = section_int(section, "wake_repeats");
    power->helper = section_path(section, "helper");
    power->uri = or_null(section_string(section, "uri"));
    power->domain = or_null(section_string(section, "domain"));
    power->domain_sleep = section_string(section, "domain_sleep");
    power->shutdown_timeout_s = section_duration_s(section, "shutdown_timeout");
    power->bmc = or_null(section_string(section, "bmc"));
    power->bmc_password_file = section_path(section, "bmc_password_file");
    power->bmc_user = or_null(section_string(section, "bmc_user"));
    power->bmc_sleep = section_string(section, "bmc_sleep");
    power->bmc_privilege = section_string(section, "privilege");
    power->cipher_suite = section_int(section, "cipher_suite");
    power->bmc_system = or_null(section_string(section, "bmc_system"));
    power->bmc_ca = section_path(section, "bmc_ca");
    power->bmc_pin = or_null(section_string(section, "bmc_pin"));
}

/* Checks a command that the method may need only later. */
static int check_command(const struct power_node *power, const char *option, const char *text,
                         struct err *err)
{
    int rc = text == NULL || text[0] == '\0' ? 0 : knob_check_program(text, err);
    return rc == 0 ? 0 : err_prefix(err, rc, "node %s: method command: %s", power->name, option);
}

static int check_method(const struct config_section *section, const char *method, bool is_first,
                        struct err *err)
{
    struct power_node power;
    power_section_read(section, method, &power);
    int rc = check_command(&power, "wake_command", power.wake_command, err);
    rc = rc != 0 ? rc : check_command(&power, "sleep_command", power.sleep_command, err);
    rc = rc != 0 ? rc : check_command(&power, "status_command", power.status_command, err);
    if (rc != 0) {
        return rc;
    }
    if (strcmp(method, "wol") == 0 && power.hardware_address == NULL) {
        power.hardware_address = ANY_ADDRESS;
    }
    struct err why;
    rc = power_check(&power, &why);
    return rc == 0 || (!is_first && power_can(&power) != 0) ? 0 : err_set(err, rc, "%s", why.text);
}

static bool is_known(const char *method)
{
    unsigned at = 0;
    const char *name;
    while ((name = power_method_name(at)) != NULL && strcmp(name, method) != 0) {
        at++;
    }
    return name != NULL;
}

int power_section_check(void *context, const struct config_section *section, struct err *err)
{
    size_t count = 0;
    (void)context;
    if (strcmp(section_kind(section), "node") != 0) {
        return 0; /* of another daemon */
    }
    const char *const *next = section_list(section, "next_methods", &count);
    const char *method = section_string(section, "method");
    if (method == NULL) {
        return err_set(err, -EINVAL,
                       "node %s: no method; expected method = process, command, wol, libvirt, ipmi "
                       "or redfish",
                       section_title(section));
    }
    int rc = check_method(section, method, true, err);
    for (size_t i = 0; i < count && rc == 0; i++) {
        rc = is_known(next[i])
                 ? check_method(section, next[i], false, err)
                 : err_set(err, -EINVAL, "node %s: '%s' is not a power method; see next_methods",
                           section_title(section), next[i]);
    }
    return rc;
}
