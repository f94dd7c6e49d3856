/* cli/classad/classad_output_plan.h - writes ads one after another in one form.
 *
 * Long form: ads are separated by an empty line.  New syntax: one ad on each line.  JSON: an array;
 * XML: a document; both laid out as HTCondor's tools do.  Private attributes are written too,
 * because whoever converts a file has them already.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_CLASSAD_CLASSAD_OUTPUT_PLAN_H
#define CLI_CLASSAD_CLASSAD_OUTPUT_PLAN_H

#include <stddef.h>

#include "cli/classad/classad_input.h"

struct ad;
struct strbuf;

struct classad_output {
    enum classad_form form; /* not CLASSAD_GUESS */
    size_t count;           /* number of ads written so far; the caller sets it to 0 first */
};

void classad_output_ad(struct classad_output *output, const struct ad *ad, struct strbuf *out);

/* Call in place of classad_output_ad() for an ad that was refused.  In long form and new syntax,
 * writes the line CLASSAD_REFUSED; in JSON and XML, writes nothing. */
void classad_output_refused(struct classad_output *output, struct strbuf *out);

void classad_output_end(struct classad_output *output, struct strbuf *out);

#endif
