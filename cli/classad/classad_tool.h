/* cli/classad/classad_tool.h - functions that the files of `roost classad` share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_CLASSAD_CLASSAD_TOOL_H
#define CLI_CLASSAD_CLASSAD_TOOL_H

struct ad;
struct cli;
struct err;

/* Reads the first ad of a file, in any form; path "-" is standard input.  Errors name the file. */
int classad_tool_ad(struct cli *cli, const char *path, struct ad **ret, struct err *err);

/* Each function runs one verb (argv[1]), prints its own messages and returns the exit status. */
int classad_tool_eval(struct cli *cli); /* eval, unparse */
int classad_tool_match(struct cli *cli);
int classad_tool_convert(struct cli *cli);
int classad_tool_check(struct cli *cli);

#endif
