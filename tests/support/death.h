/* tests/support/death.h - run something that must abort, in a process of its own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_SUPPORT_DEATH_H
#define TESTS_SUPPORT_DEATH_H

#include <stddef.h>

/* Runs act(arg) in a child.  Returns 1 if it died of SIGABRT, with what it wrote to stderr in text;
 * 0 if it came back or ended otherwise; -1 if there was no child. */
int death_by_abort(void (*act)(void *arg), void *arg, char *text, size_t text_size);

#endif
