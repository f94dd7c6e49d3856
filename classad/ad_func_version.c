/* classad/ad_func_version.c - built-in functions that compare versions; runs of digits count as
 * numbers.
 *
 * A run of digits is compared as a number: by its length, then byte by byte.  The run with fewer
 * leading zeros comes first; runs with equally many are compared like texts.  The result of
 * versioncmp() is HTCondor's: the difference of the bytes, of the lengths of the runs, or of the
 * zeros.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "base/strbuf.h"
#include "base/text.h"
#include "classad/ad_convert.h"
#include "classad/ad_evaluator.h"
#include "classad/ad_func.h"
#include "classad/ad_func_variants.h"

static int run_of(const char *text, char only)
{
    int length = 0;
    while (only != '\0' ? text[length] == only : text_is_digit(text[length])) {
        length++;
    }
    return length;
}

/* Returns the number of leading zeros of a run of digits; its last digit does not count as one. */
static int leading_zeros(const char *run)
{
    int zeros = run_of(run, '0');
    return zeros > 0 && !text_is_digit(run[zeros]) ? zeros - 1 : zeros;
}

static int version_compare(const char *a, const char *b)
{
    size_t same = 0;
    while (a[same] != '\0' && a[same] == b[same]) {
        same++;
    }
    int bytes = (signed char)a[same] - (signed char)b[same]; /* chars are signed on x86-64 */
    size_t run = same; /* where the digits begin that the difference lies in */
    while (run > 0 && text_is_digit(a[run - 1])) {
        run--;
    }
    if (bytes == 0 || (run == same && (!text_is_digit(a[same]) || !text_is_digit(b[same])))) {
        return bytes;
    }
    int zeros[2] = {leading_zeros(a + run), leading_zeros(b + run)};
    if (zeros[0] != zeros[1]) {
        return zeros[1] - zeros[0];
    }
    if (zeros[0] > 0) {
        return bytes;
    }
    int longer = run_of(a + run, '\0') - run_of(b + run, '\0');
    return longer != 0 ? longer : bytes;
}

static void judge_sign(enum ad_version what, const int *sign, struct ad_value *ret)
{
    switch (what) {
    case AD_VERSION_CMP:
        ad_is_int(ret, sign[0]);
        break;
    case AD_VERSION_LE:
        ad_is_bool(ret, sign[0] <= 0);
        break;
    case AD_VERSION_LT:
        ad_is_bool(ret, sign[0] < 0);
        break;
    case AD_VERSION_GE:
        ad_is_bool(ret, sign[0] >= 0);
        break;
    case AD_VERSION_GT:
        ad_is_bool(ret, sign[0] > 0);
        break;
    case AD_VERSION_EQ:
        ad_is_bool(ret, sign[0] == 0);
        break;
    case AD_VERSION_IN_RANGE:
        ad_is_bool(ret, sign[0] >= 0 && sign[1] <= 0);
        break;
    }
}

void ad_func_version(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    struct strbuf text[3];
    bool undefined = false;
    bool error = false;
    for (uint32_t i = 0; i < 3; i++) {
        strbuf_init(&text[i], AD_STRING_MAX);
    }
    for (uint32_t i = 0; i < call->count; i++) {
        struct ad_value value;
        ad_arg(ev, call, i, &value);
        bool tested = i == 0 && call->variant == AD_VERSION_IN_RANGE;
        undefined = undefined || (value.type == AD_TYPE_UNDEFINED && !tested);
        error = error || value.type == AD_TYPE_ERROR || (value.type == AD_TYPE_UNDEFINED && tested);
        ad_text_of(&value, &text[i]);
        ad_charge_print(ev, &value, text[i].length);
        error = error || text[i].failed ||
                !ad_evaluator_spend(ev, text[i].length / AD_JOIN_BYTES_A_STEP);
    }
    if (error || undefined) { /* undefined even beside an error */
        ad_is(ret, undefined ? AD_TYPE_UNDEFINED : AD_TYPE_ERROR);
    } else {
        int sign[2] = {0, 0};
        for (uint32_t i = 1; i < call->count; i++) {
            sign[i - 1] = version_compare(strbuf_text(&text[0]), strbuf_text(&text[i]));
        }
        judge_sign((enum ad_version)call->variant, sign, ret);
    }
    for (uint32_t i = 0; i < 3; i++) {
        strbuf_fini(&text[i]);
    }
}
