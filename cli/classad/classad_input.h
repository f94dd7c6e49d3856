/* cli/classad/classad_input.h - the ads of a file or of standard input, one after another, in any
 * form.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_CLASSAD_CLASSAD_INPUT_H
#define CLI_CLASSAD_CLASSAD_INPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "classad/ad_stream.h"

struct ad;
struct ad_context;
struct classad_input;
struct err;

enum classad_form {
    CLASSAD_LONG, /* also called old */
    CLASSAD_NEW,
    CLASSAD_JSON,
    CLASSAD_XML,
    CLASSAD_GUESS, /* by the first bytes */
};

/* old, long, new, json, xml; false for another word. */
bool classad_form_of(const char *word, enum classad_form *ret);

/* path "-": standard input.  0, or -errno with the file named. */
int classad_input_open(const char *path, enum classad_form form, const struct ad_context *context,
                       struct classad_input **ret, struct err *err);
void classad_input_close(struct classad_input *input); /* NULL is allowed */

/* 1 and *ret: an ad.  0: that was all.  Else a negative errno: *refused tells that an ad was
 * refused, at *place, and that the next call may give another one; otherwise the file cannot be
 * read on. err then names file, line and column. */
int classad_input_next(struct classad_input *input, struct ad **ret, struct ad_place *place,
                       bool *refused, struct err *err);

/* The form that was found, and for all but XML the text of the ad that was given or refused last.
 */
enum classad_form classad_input_form(const struct classad_input *input);
const char *classad_input_text(const struct classad_input *input, size_t *length,
                               struct ad_place *place);

#endif
