/* cli/classad/classad_batch_plan.h - one case of `roost classad eval` and `unparse`: text in,
 * answer out.
 *
 * The same code answers an expression on the command line and a line of a batch, so that what
 * tests/conformance/classad/ shows is what a user gets.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_CLASSAD_CLASSAD_BATCH_PLAN_H
#define CLI_CLASSAD_CLASSAD_BATCH_PLAN_H

#include <stdbool.h>
#include <stddef.h>

struct ad;
struct ad_context;
struct err;
struct strbuf;

#define CLASSAD_REFUSED "PARSE-ERROR" /* the answer to a text that is no expression, or no ad */

struct classad_batch {
    bool unparse;        /* the canonical text of the tree; otherwise the value */
    bool old;            /* expressions in old lexing; unparse: the text in old syntax as well */
    bool tsv;            /* a line is ad TAB expression, or my TAB target TAB expression */
    const struct ad *my; /* never NULL; of a line that brings no ad */
    const struct ad *target; /* the same; may be NULL */
    const struct ad_context *context;
};

/* Appends the answer to one line, without the end of the line.  -EINVAL or -E2BIG: the answer is
 * CLASSAD_REFUSED, and err tells why.  With three fields the expression is read in old lexing, and
 * `symmetric-match` asks whether the Requirements of both ads are true. */
int classad_batch_answer(const struct classad_batch *batch, const char *line, size_t length,
                         struct strbuf *out, struct err *err);

#endif
