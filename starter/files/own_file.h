/* starter/files/own_file.h - reading what the job's account has written.
 *
 * The account's processes may put something else in place of such a file at any moment, and we may
 * be root: what is looked at is what is opened, no link is followed, and a file of anybody else's
 * (a second name of it) is not read.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_FILES_OWN_FILE_H
#define STARTER_FILES_OWN_FILE_H

#include <stddef.h>

struct starter;

/* At most max bytes of the account's file `name` below that directory, zero-terminated, the
 * caller's; NULL: there is no such file. */
char *own_file_read(const struct starter *starter, const char *directory, const char *name,
                    size_t max);

#endif
