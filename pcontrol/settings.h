/* pcontrol/settings.h - what the configuration says of pcontrol.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PCONTROL_SETTINGS_H
#define PCONTROL_SETTINGS_H

struct controller_settings;
struct err;
struct os;

/* Reads the knobs PCONTROL_... from the configuration and the environment; there need not be a
 * configuration.  Returns 0 or -errno.  settings_fini() frees what is in *ret. */
int settings_load(struct os *os, struct controller_settings *ret, struct err *err);
void settings_fini(struct controller_settings *settings);

#endif
