/* cli/classad/classad_output_plan.h - ads written one after another in one form.
 *
 * Long form: ads apart by an empty line.  New syntax: an ad on each line.  JSON: an array, XML: a
 * document, both laid out as HTCondor's tools do.  Private attributes are written, too: whoever
 * converts a file has it.  Pure.
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
    size_t count;           /* ads so far: 0 at first */
};

void classad_output_ad(struct classad_output *output, const struct ad *ad, struct strbuf *out);

/* In place of an ad that was refused: the line CLASSAD_REFUSED where the form has lines. */
void classad_output_refused(struct classad_output *output, struct strbuf *out);

void classad_output_end(struct classad_output *output, struct strbuf *out);

#endif
