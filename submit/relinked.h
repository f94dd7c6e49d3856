/* submit/relinked.h - was a program linked so that its calls on files can go to another machine?
 *
 * roost-compile --remote adds a note to it (rsyscall/wrap/wrap_link.c): of "Roost", type 1.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SUBMIT_RELINKED_H
#define SUBMIT_RELINKED_H

#include <stdbool.h>
#include <stddef.h>

#define RELINKED_HEAD_BYTES ((size_t)64 << 10) /* of a program: its notes are in there */

/* head: the file's beginning, RELINKED_HEAD_BYTES or all of it.  False for what is no program of
 * x86-64. */
bool relinked_is_remote(const void *head, size_t length);

#endif
