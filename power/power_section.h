/* power/power_section.h - reads and checks the `node` sections of the configuration.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef POWER_POWER_SECTION_H
#define POWER_POWER_SECTION_H

struct config_section;
struct err;
struct power_node;

/* Fills *power with the section's options for one of its methods; method NULL: none.  The texts
 * live as long as the configuration. */
void power_section_read(const struct config_section *section, const char *method,
                        struct power_node *power);

/* Checks a section by the methods that it names, as power_check() does, so that a mistake is found
 * when the configuration is read and not when the machine is to be woken.  The first method must be
 * able to wake the machine, the others (next_methods) must be able to do something.  What a
 * machine's ads may add, such as the hardware address of its adapter, may be missing.  context: not
 * used.  Returns 0; or -EINVAL, err names the node and the option. */
int power_section_check(void *context, const struct config_section *section, struct err *err);

#endif
