/* cli/classad/classad_check_plan.h - all that is wrong with the text of an ad, not only the first.
 *
 * After a fault the attribute that it lies in is blanked out, so that all places stay the same, and
 * the rest is parsed again.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_CLASSAD_CLASSAD_CHECK_PLAN_H
#define CLI_CLASSAD_CLASSAD_CHECK_PLAN_H

#include <stddef.h>

#include "classad/ad_stream.h"

struct ad_context;

typedef void classad_check_f(void *arg, struct ad_place place, const char *reason);

/* Tells at most `most` faults of a text that is one ad in that form, in the order of their places
 * as far as one was found after the other.  text is changed.  Returns how many it told. */
size_t classad_check_text(enum ad_form form, char *text, size_t length, struct ad_place from,
                          const struct ad_context *context, size_t most, classad_check_f *tell,
                          void *arg);

#endif
