/* base/plain_env.h - the part of the environment of this process that may be given to a process of
 * another account.
 *
 * A daemon of root has the environment of whoever started it, perhaps with passwords and tokens.  A
 * process that runs as another account must not have those, because that account can read them
 * (/proc/PID/environ, or the process's memory).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_PLAIN_ENV_H
#define BASE_PLAIN_ENV_H

struct config;
struct os;
struct vec;

/* Appends to ret the variables of this process's environment that a daemon of Roost needs, ended by
 * NULL; the caller frees each with mem_free(): search paths, language and time zone, variables for
 * Roost (ROOST_...), OpenSSL and sanitizers, and those that the configuration reads with
 * $ENV(NAME), because the daemon reads the same configuration. */
void plain_env_make(struct os *os, const struct config *config, struct vec *ret);

#endif
