/* base/config/config_number.c - a recursive descent parser for numbers, units and operators.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/config/config_number.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/text.h"

#define NUMBER_TEXT_MAX 64 /* most bytes of one number, with the terminating zero */

struct number {
    int64_t integer;
    double real;
    bool amount; /* has a unit */
};

struct reader {
    const char *text;
    const char *at;
    enum knob_type type;
    int64_t bare; /* what one of the knob's own unit is in the small unit: 1000 for seconds */
    unsigned depth;
    struct err *err;
};

static int read_sum(struct reader *r, struct number *ret);

static int refuse_text(const struct reader *r, const char *what)
{
    return err_set(r->err, -EINVAL, "'%s': %s", r->text, what);
}

static int too_large(const struct reader *r)
{
    return err_set(r->err, -ERANGE, "'%s': the result is too large", r->text);
}

static void skip_blanks(struct reader *r)
{
    while (*r->at == ' ' || *r->at == '\t' || *r->at == '\n') {
        r->at++;
    }
}

static bool take_char(struct reader *r, char c)
{
    skip_blanks(r);
    if (*r->at != c) {
        return false;
    }
    r->at++;
    return true;
}

/* Reads the digits (for a real also point and exponent) at r->at. */
static int read_digits(struct reader *r, struct number *ret)
{
    char digits[NUMBER_TEXT_MAX];
    size_t length = 0;
    bool real = r->type == KNOB_REAL;
    for (const char *at = r->at;
         text_is_digit(*at) || (real && (*at == '.' || text_lower(*at) == 'e')) ||
         (real && (*at == '+' || *at == '-') && length > 0 && text_lower(at[-1]) == 'e');
         at++) {
        if (length == sizeof(digits) - 1) {
            return too_large(r);
        }
        digits[length++] = *at;
    }
    digits[length] = '\0';
    if (length == 0) {
        return *r->at ? refuse_text(r, "a number is expected")
                      : refuse_text(r, "a number is expected at the end");
    }
    int rc = real ? text_parse_double(digits, &ret->real, r->err)
                  : text_parse_int64(digits, &ret->integer, r->err);
    r->at += length;
    return rc < 0 ? err_prefix(r->err, rc, "'%s'", r->text) : 0;
}

static bool find_unit(const struct reader *r, const char *word, size_t length, int64_t *ret)
{
    if (r->type == KNOB_SIZE_BYTES) {
        return text_unit_size_bytes(word, length, ret);
    }
    return (r->type == KNOB_DURATION_S || r->type == KNOB_DURATION_MS) &&
           text_unit_duration_ms(word, length, ret);
}

/* Names the units that a number of this type may have, for messages. */
static const char *known_units(enum knob_type type)
{
    switch (type) {
    case KNOB_SIZE_BYTES:
        return "B, KiB, MiB, GiB, TiB or PiB";
    case KNOB_DURATION_S:
    case KNOB_DURATION_MS:
        return "ms, s, m, h, d or w";
    default:
        return "a number without a unit";
    }
}

/* Reads number | number unit { number unit }. */
static int read_number(struct reader *r, struct number *ret)
{
    struct number sum = {0};
    for (bool first = true;; first = false) {
        struct number part = {0};
        int rc = read_digits(r, &part);
        if (rc < 0) {
            return rc;
        }
        skip_blanks(r);
        const char *word = r->at;
        while ((text_lower(*r->at) >= 'a' && text_lower(*r->at) <= 'z') || *r->at == '_') {
            r->at++;
        }
        const size_t length = (size_t)(r->at - word);
        if (length == 0) {
            if (!first) {
                return refuse_text(r, "after a number with a unit, this number needs a unit, too");
            }
            *ret = part;
            return 0;
        }
        int64_t factor = 0;
        if (!find_unit(r, word, length, &factor)) {
            return err_set(r->err, -EINVAL, "'%s': unknown unit '%.*s'; expected %s", r->text,
                           length < 40 ? (int)length : 40, word, known_units(r->type));
        }
        if (__builtin_mul_overflow(part.integer, factor, &part.integer) ||
            __builtin_add_overflow(sum.integer, part.integer, &sum.integer)) {
            return too_large(r);
        }
        sum.amount = true;
        skip_blanks(r);
        if (!text_is_digit(*r->at)) {
            *ret = sum;
            return 0;
        }
    }
}

static int read_factor(struct reader *r, struct number *ret)
{
    bool negative = false;
    for (skip_blanks(r); *r->at == '-' || *r->at == '+'; skip_blanks(r)) {
        negative = negative != (*r->at == '-');
        r->at++;
    }
    int rc = 0;
    if (take_char(r, '(')) {
        if (r->depth == CONFIG_NUMBER_DEPTH_MAX) {
            return refuse_text(r, "parentheses are nested too deeply");
        }
        r->depth++;
        rc = read_sum(r, ret);
        r->depth--;
        if (rc == 0 && !take_char(r, ')')) {
            return refuse_text(r, "')' is missing");
        }
    } else {
        rc = read_number(r, ret);
    }
    if (rc == 0 && negative) {
        ret->real = -ret->real;
        if (__builtin_sub_overflow(INT64_C(0), ret->integer, &ret->integer)) {
            return too_large(r);
        }
    }
    return rc;
}

static int divide_numbers(const struct reader *r, char operation, struct number *left,
                          const struct number *right)
{
    bool zero = r->type == KNOB_REAL ? right->real == 0 : right->integer == 0;
    if (zero) {
        return refuse_text(r, "a division by zero");
    }
    if (r->type == KNOB_REAL) {
        left->real = operation == '/' ? left->real / right->real : fmod(left->real, right->real);
    } else if (right->integer == -1) {
        /* INT64_MIN / -1 does not fit, and INT64_MIN % -1 traps. */
        if (operation == '%') {
            left->integer = 0;
        } else if (__builtin_sub_overflow(INT64_C(0), left->integer, &left->integer)) {
            return too_large(r);
        }
    } else {
        left->integer =
            operation == '/' ? left->integer / right->integer : left->integer % right->integer;
    }
    return 0;
}

static int read_product(struct reader *r, struct number *ret)
{
    int rc = read_factor(r, ret);
    while (rc == 0) {
        skip_blanks(r);
        const char operation = *r->at;
        if (operation != '*' && operation != '/' && operation != '%') {
            break;
        }
        r->at++;
        struct number right = {0};
        rc = read_factor(r, &right);
        if (rc < 0) {
            break;
        }
        if (right.amount && (ret->amount || operation != '*')) {
            return refuse_text(r, operation == '*'
                                      ? "two numbers with units cannot be multiplied"
                                      : "a division by a number with a unit is not possible");
        }
        if (operation == '*') {
            ret->amount = ret->amount || right.amount;
            ret->real *= right.real;
            if (__builtin_mul_overflow(ret->integer, right.integer, &ret->integer)) {
                return too_large(r);
            }
        } else {
            rc = divide_numbers(r, operation, ret, &right);
        }
    }
    return rc;
}

/* Turns a plain number into an amount, in the knob's own unit. */
static int make_amount(const struct reader *r, struct number *number)
{
    if (!number->amount && __builtin_mul_overflow(number->integer, r->bare, &number->integer)) {
        return too_large(r);
    }
    number->amount = true;
    return 0;
}

static int read_sum(struct reader *r, struct number *ret)
{
    int rc = read_product(r, ret);
    while (rc == 0) {
        skip_blanks(r);
        const char operation = *r->at;
        if (operation != '+' && operation != '-') {
            break;
        }
        r->at++;
        struct number right = {0};
        rc = read_product(r, &right);
        if (rc == 0 && ret->amount != right.amount) {
            rc = make_amount(r, ret);
            rc = rc < 0 ? rc : make_amount(r, &right);
        }
        if (rc == 0) {
            ret->real += operation == '+' ? right.real : -right.real;
            if (operation == '+'
                    ? __builtin_add_overflow(ret->integer, right.integer, &ret->integer)
                    : __builtin_sub_overflow(ret->integer, right.integer, &ret->integer)) {
                return too_large(r);
            }
        }
    }
    return rc;
}

static int read_all(struct reader *r, struct number *ret)
{
    r->at = r->text;
    int rc = read_sum(r, ret);
    skip_blanks(r);
    if (rc == 0 && *r->at) {
        return err_set(r->err, -EINVAL, "'%s': '%.40s' is not valid in a number", r->text, r->at);
    }
    return rc;
}

int config_number_int(const char *text, enum knob_type type, int64_t *ret, struct err *err)
{
    CHECK(type == KNOB_INT || type == KNOB_DURATION_S || type == KNOB_DURATION_MS ||
          type == KNOB_SIZE_BYTES);
    struct reader reader = {.text = text,
                            .type = type,
                            .bare = type == KNOB_DURATION_S ? 1000 : 1,
                            .err = err};
    struct number number = {0};
    int rc = read_all(&reader, &number);
    rc = rc < 0 ? rc : make_amount(&reader, &number);
    if (rc == 0) {
        *ret = number.integer;
    }
    return rc;
}

int config_number_real(const char *text, double *ret, struct err *err)
{
    struct reader reader = {.text = text, .type = KNOB_REAL, .bare = 1, .err = err};
    struct number number = {0};
    int rc = read_all(&reader, &number);
    if (rc == 0 && !isfinite(number.real)) {
        return too_large(&reader);
    }
    if (rc == 0) {
        *ret = number.real;
    }
    return rc;
}
