/* submit/relinked.h - tells whether a program was linked with the wrappers for remote system calls,
 * so that its calls on files can go to another machine.
 *
 * roost-compile --remote adds a note named "Roost", of type 1, to such a program
 * (rsyscall/wrap/wrap_link.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SUBMIT_RELINKED_H
#define SUBMIT_RELINKED_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes at the beginning of a program that contain its notes. */
#define RELINKED_HEAD_BYTES ((size_t)64 << 10)

/* Returns whether the program has the note of roost-compile --remote.  head: the first
 * RELINKED_HEAD_BYTES of the file, or the whole file if it is shorter.  False for a file that is
 * not an x86-64 program. */
bool relinked_is_remote(const void *head, size_t length);

#endif
