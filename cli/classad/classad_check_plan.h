/* cli/classad/classad_check_plan.h - finds all errors in the text of an ad, not only the first.
 *
 * After an error the attribute that contains it is overwritten with blanks, so that positions stay
 * the same, and the text is parsed again.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_CLASSAD_CLASSAD_CHECK_PLAN_H
#define CLI_CLASSAD_CLASSAD_CHECK_PLAN_H

#include <stddef.h>

#include "classad/ad_stream.h"

struct ad_context;

typedef void classad_check_f(void *arg, struct ad_place place, const char *reason);

/* Calls tell(arg, ...) for the errors (at most `most`) of a text that is one ad in the given form,
 * in the order in which they were found.  text is changed.  from: position of the text's first
 * byte in its file; context: for parsing the ad.  Returns the number of errors reported. */
size_t classad_check_text(enum ad_form form, char *text, size_t length, struct ad_place from,
                          const struct ad_context *context, size_t most, classad_check_f *tell,
                          void *arg);

#endif
