/* cli/classad/classad_input.h - reads the ads of a file or of standard input, one by one, in any
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
    CLASSAD_LONG, /* the long form; users may also call it old */
    CLASSAD_NEW,
    CLASSAD_JSON,
    CLASSAD_XML,
    CLASSAD_GUESS, /* detect the form from the first bytes */
};

/* Parses the name of a form (old, long, new, json, xml); false for any other word. */
bool classad_form_of(const char *word, enum classad_form *ret);

/* Opens a file of ads in that form; path "-" is standard input.  context is for parsing the ads;
 * both context and path are borrowed until classad_input_close().  Returns 0, or -errno with the
 * file named in err. */
int classad_input_open(const char *path, enum classad_form form, const struct ad_context *context,
                       struct classad_input **ret, struct err *err);
void classad_input_close(struct classad_input *input); /* NULL is allowed */

/* Returns 1 and sets *ret: the next ad.  0: no more ads.  Negative errno: err names file, line and
 * column; if *refused is true, only the ad at *place is refused and the next call may return
 * another ad, otherwise the file cannot be read further. */
int classad_input_next(struct classad_input *input, struct ad **ret, struct ad_place *place,
                       bool *refused, struct err *err);

/* Reads the first ad of a file, in any form; path "-" is standard input.  Returns 0 with *ret owned
 * by the caller, or -errno with the file named in err. */
int classad_input_first(const char *path, const struct ad_context *context, struct ad **ret,
                        struct err *err);

/* Returns the form of the input: the form given to classad_input_open(), or the detected form. */
enum classad_form classad_input_form(const struct classad_input *input);
/* Returns the text of the ad that classad_input_next() returned or refused last; not for XML.
 * *place becomes the position of the text. */
const char *classad_input_text(const struct classad_input *input, size_t *length,
                               struct ad_place *place);

#endif
