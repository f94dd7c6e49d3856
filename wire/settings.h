/* wire/settings.h - a daemon's configuration, asked for and changed from elsewhere: the verb
 * CONFIG.
 *
 * Who may ask for it or have it read again holds the scope ADMINISTRATOR.  Who may set a knob is
 * told by SETTABLE_ATTRS_<SCOPE> of this daemon, one list for each scope of a token;
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

/* Answers a CONFIG request.  env is the daemon's own, whose config its reload() replaces: that may
 * be called before this returns. */
void settings_serve(const struct daemon_env *env, struct wire_request *request);

/* For the daemon's own ads: PersistentConfig, the names that were set at run time; nothing when
 * there are none. */
void settings_put(struct ad *ad, const struct config *config);

/* One knob or macro (knob NULL): Name, IsKnob, Value, Layer, File, Line, Written, Help; the
 * caller's. */
struct ad *settings_describe(const struct config *config, const char *name,
                             const struct knob *knob);

#endif
