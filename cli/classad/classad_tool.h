/* cli/classad/classad_tool.h - what the files of `roost classad` share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_CLASSAD_CLASSAD_TOOL_H
#define CLI_CLASSAD_CLASSAD_TOOL_H

struct ad;
struct cli;
struct err;

/* The first ad of a file, of standard input when path is "-", in whatever form.  Errors name the
 * file. */
int classad_tool_ad(struct cli *cli, const char *path, struct ad **ret, struct err *err);

/* Each prints its own messages and returns the exit status; argv[1] is the verb. */
int classad_tool_eval(struct cli *cli); /* eval, unparse */
int classad_tool_match(struct cli *cli);
int classad_tool_convert(struct cli *cli);
int classad_tool_check(struct cli *cli);

#endif
