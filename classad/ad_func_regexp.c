/* classad/ad_func_regexp.c - built-ins with regular expressions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "classad/ad_evaluator.h"
#include "classad/ad_func.h"
#include "classad/ad_regex.h"

/* regexp(pattern, text[, options]) */
void ad_func_regexp(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    struct ad_value pattern;
    struct ad_value text;
    struct ad_value options;
    ad_is_text(&options, "", 0);
    if (!ad_arg_string(ev, call, 0, &pattern, ret) || !ad_arg_string(ev, call, 1, &text, ret) ||
        (call->count > 2 && !ad_arg_string(ev, call, 2, &options, ret))) {
        return;
    }
    struct ad_regex *regex =
        ad_regex_create(pattern.string.text, pattern.string.length, options.string.text);
    int found = regex == NULL || !ad_evaluator_spend(ev, 20 + text.string.length / 16)
                    ? -1
                    : ad_regex_match(regex, text.string.text, text.string.length, 0);
    if (found < 0) {
        ad_is(ret, AD_TYPE_ERROR);
    } else {
        ad_is_bool(ret, found > 0);
    }
    ad_regex_destroy(regex);
}
