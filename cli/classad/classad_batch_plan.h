/* cli/classad/classad_batch_plan.h - one case of `roost classad eval` or `unparse`: text in, answer
 * out.
 *
 * The same code answers an expression on the command line and a line of a batch file, so the tests
 * in tests/conformance/classad/ show what users get.
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

/* the answer for a text that is not an expression or not an ad */
#define CLASSAD_REFUSED "PARSE-ERROR"

struct classad_batch {
    /* true: answer with the expression's canonical text; false: with its value */
    bool unparse;
    /* true: expressions are in old syntax; with `unparse`, so is the output */
    bool old;
    /* true: a line is "ad TAB expression" or "my TAB target TAB expression" */
    bool tsv;
    const struct ad *my;     /* the ad for lines that contain no ad; never NULL */
    const struct ad *target; /* the target for lines that contain no target; may be NULL */
    const struct ad_context *context;
};

/* Appends the answer to one line, without a newline.  -EINVAL or -E2BIG: the answer is
 * CLASSAD_REFUSED and err says why.  A line of three fields has its expression in old syntax; the
 * expression `symmetric-match` asks whether the Requirements of both ads are true. */
int classad_batch_answer(const struct classad_batch *batch, const char *line, size_t length,
                         struct strbuf *out, struct err *err);

#endif
