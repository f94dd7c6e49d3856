/* submit/submit_path.h - takes parts of a file's path: the macro functions $F...(), $DIRNAME(),
 * $BASENAME().
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SUBMIT_SUBMIT_PATH_H
#define SUBMIT_SUBMIT_PATH_H

#include <stdbool.h>

struct strbuf;

/* Returns whether all letters are among abdfnpquwx, so that $F<letters>() is a function. */
bool submit_path_letters_are_valid(const char *letters);

/* Appends the parts of path that the letters ask for:
 *
 *   p  the directories, up to and with the last slash    d  the last directory, dd the last two
 *   n  the name without extension                        x  the extension with its dot
 *   b  no slash after the directories, no dot before x   f  first make path absolute with cwd
 *   u  slashes instead of backslashes (w: the reverse)   q  in double quotes (qa: in single ones)
 *
 * Quotes around path are removed.  When no letter asks for a part, the whole path is appended.
 */
void submit_path_parts(const char *letters, const char *path, const char *cwd, struct strbuf *out);

#endif
