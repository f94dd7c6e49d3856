/* base/plain_env.h - the part of our environment that a process of another account gets.
 *
 * A daemon of root has the environment of whoever started it: passwords, tokens and the like may be
 * in it.  A process that it starts as another account must not have them, because that account can
 * read them (/proc/PID/environ, and the process's memory).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_PLAIN_ENV_H
#define BASE_PLAIN_ENV_H

struct config;
struct os;
struct vec;

/* Adds to ret, as mem_ blocks and with NULL at the end, what a daemon of ours needs: its search
 * paths, the words of language and time, what is for Roost (ROOST_...), for OpenSSL and for
 * sanitizers, and what the configuration itself reads ($ENV(NAME)), because that daemon reads the
 * same configuration. */
void plain_env_make(struct os *os, const struct config *config, struct vec *ret);

#endif
