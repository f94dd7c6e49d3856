/* classad/ad_func_version.c - built-ins that compare versions: runs of digits count as numbers.
 *
 * The order is that of glibc's strverscmp (see its man page): a run that begins with 0 counts as a
 * fraction, so that 1.01 < 1.010 < 1.1 is false and 1.02 < 1.2 is true.  The value of versioncmp is
 * what HTCondor gives: the difference of the bytes, or of the lengths of the runs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "base/strbuf.h"
#include "classad/ad_convert.h"
#include "classad/ad_evaluator.h"
#include "classad/ad_func.h"
#include "classad/ad_func_variants.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int run_length(const char *text)
{
    int length = 0;
    while (is_digit(text[length])) {
        length++;
    }
    return length;
}

/* Both texts from where they differ; `zeros` and `digits` describe the run of digits before that
 * place, which they share. */
static int differ(const char *a, const char *b, bool digits, bool zeros, bool fraction)
{
    int bytes = (unsigned char)*a - (unsigned char)*b;
    if (zeros && is_digit(*a) != is_digit(*b)) {
        return is_digit(*a) ? -1 : 1; /* more zeros are less */
    }
    if (fraction || zeros) {
        return bytes;
    }
    if (digits && is_digit(*a) != is_digit(*b)) {
        return is_digit(*a) ? 1 : -1;
    }
    if (!is_digit(*a) || !is_digit(*b)) {
        return bytes;
    }
    if (!digits && (*a == '0' || *b == '0')) {
        return *a == '0' ? -1 : 1;
    }
    int longer = run_length(a) - run_length(b);
    return longer != 0 ? longer : bytes;
}

static int version_compare(const char *a, const char *b)
{
    bool digits = false;
    bool zeros = false;
    bool fraction = false;
    for (; *a == *b; a++, b++) {
        if (*a == '\0') {
            return 0;
        }
        if (!is_digit(*a)) {
            digits = zeros = fraction = false;
        } else if (!digits) {
            digits = true;
            zeros = *a == '0';
        } else if (zeros && *a != '0') {
            zeros = false;
            fraction = true;
        }
    }
    return differ(a, b, digits, zeros, fraction);
}

static void judge(enum ad_version what, const int *sign, struct ad_value *ret)
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
        undefined = undefined || value.type == AD_TYPE_UNDEFINED;
        error = error || value.type == AD_TYPE_ERROR;
        ad_text_of(&value, &text[i]);
        error = error || text[i].failed || !ad_evaluator_spend(ev, text[i].length / 64);
    }
    if (error || undefined) {
        ad_is(ret, error ? AD_TYPE_ERROR : AD_TYPE_UNDEFINED);
    } else {
        int sign[2] = {0, 0};
        for (uint32_t i = 1; i < call->count; i++) {
            sign[i - 1] = version_compare(strbuf_text(&text[0]), strbuf_text(&text[i]));
        }
        judge((enum ad_version)call->variant, sign, ret);
    }
    for (uint32_t i = 0; i < 3; i++) {
        strbuf_fini(&text[i]);
    }
}
