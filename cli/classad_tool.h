/* cli/classad_tool.h - what the files of `roost classad` share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_CLASSAD_TOOL_H
#define CLI_CLASSAD_TOOL_H

#include <stddef.h>

struct ad;
struct cli;
struct err;

/* The whole text of a file, of standard input when path is "-"; at most AD_TEXT_MAX bytes.  0 and
 * *text (mem_free), zero-terminated. */
int classad_tool_text(const struct cli *cli, const char *path, char **text, size_t *length,
                      struct err *err);

/* One ad from a file or "-": `[ ... ]` or long form.  Errors name the file. */
int classad_tool_ad(const struct cli *cli, const char *path, struct ad **ret, struct err *err);

/* Each prints its own messages and returns the exit status; argv[1] is the verb. */
int classad_tool_eval(struct cli *cli); /* eval, unparse */

#endif
