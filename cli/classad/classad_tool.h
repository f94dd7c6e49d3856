/* cli/classad/classad_tool.h - the verbs of `roost classad`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_CLASSAD_CLASSAD_TOOL_H
#define CLI_CLASSAD_CLASSAD_TOOL_H

struct cli;

/* Each function runs one verb (argv[1]), prints its own messages and returns the exit status. */
int classad_tool_eval(struct cli *cli); /* eval, unparse */
int classad_tool_match(struct cli *cli);
int classad_tool_convert(struct cli *cli);
int classad_tool_check(struct cli *cli);

#endif
