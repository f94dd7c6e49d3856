/* wire/settings.h - the verb CONFIG: reads and changes a daemon's configuration from elsewhere.
 *
 * Reading the configuration and reloading it need the scope ADMINISTRATOR.  Who may set a knob is
 * configured in the daemon's SETTABLE_ATTRS_<LEVEL>, one list of knobs for each level of scopes.
 * base/daemon/daemon.h does the rest.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_SETTINGS_H
#define WIRE_SETTINGS_H

struct ad;
struct config;
struct daemon_env;
struct knob;
struct wire_request;

/* Answers a CONFIG request.  env: the environment that the daemon got in its callback start()
 * (struct daemon).  Before this function returns, the daemon's callback reload() may be called and
 * env->config be replaced. */
void settings_serve(const struct daemon_env *env, struct wire_request *request);

/* For the daemon's own ads: sets PersistentConfig, the names of knobs that were set at run time.
 * Sets nothing when there are none. */
void settings_put(struct ad *ad, const struct config *config);

/* Describes one knob, or a macro if knob is NULL, as an ad owned by the caller: Name, IsKnob,
 * Value, Layer, File, Line, Written, Help; attributes without a value are missing. */
struct ad *settings_describe(const struct config *config, const char *name,
                             const struct knob *knob);

#endif
