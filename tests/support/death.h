/* tests/support/death.h - runs code that must abort in a process of its own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_SUPPORT_DEATH_H
#define TESTS_SUPPORT_DEATH_H

#include <stddef.h>

/* Runs act(arg) in a child process.  Returns 1 if the child died of SIGABRT, with its stderr in
 * text; 0 if act returned or the child ended otherwise; -1 if no child could be made. */
int death_by_abort(void (*act)(void *arg), void *arg, char *text, size_t text_size);

#endif
