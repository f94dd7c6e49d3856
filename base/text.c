/* base/text.c - strict readers and writers of short texts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"

#define MS_PER_S    INT64_C(1000)
#define UTC_S_MIN   INT64_C(-62167219200) /* year 0 */
#define UTC_S_MAX   INT64_C(253402300799) /* the end of year 9999 */
#define UTC_LENGTH  20                    /* of "2026-11-20T09:34:36Z" */
#define NEAREST_MAX 64

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

char text_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

int text_compare_nocase(const char *a, const char *b)
{
    while (*a && text_lower(*a) == text_lower(*b)) {
        a++;
        b++;
    }
    return (unsigned char)text_lower(*a) - (unsigned char)text_lower(*b);
}

bool text_equal_nocase(const char *a, const char *b)
{
    return text_compare_nocase(a, b) == 0;
}

bool text_equal_secret(const void *a, const void *b, size_t length)
{
    const volatile unsigned char *x = a;
    const volatile unsigned char *y = b;
    unsigned difference = 0;
    for (size_t i = 0; i < length; i++) {
        difference |= (unsigned)(x[i] ^ y[i]);
    }
    return difference == 0;
}

/* ---- numbers ---- */

/* Reads the digits at *at.  False: the number is too large. */
static bool read_digits(const char **at, int64_t *ret)
{
    int64_t value = 0;
    bool fits = true;
    for (; text_is_digit(**at); ++*at) {
        fits = fits && !__builtin_mul_overflow(value, 10, &value) &&
               !__builtin_add_overflow(value, **at - '0', &value);
    }
    *ret = value;
    return fits;
}

int text_parse_int64(const char *text, int64_t *ret, struct err *err)
{
    const char *at = text;
    bool negative = *at == '-';
    if (*at == '-' || *at == '+') {
        at++;
    }
    if (!text_is_digit(*at)) {
        return err_set(err, -EINVAL, "'%s' is not a whole number", text);
    }
    int64_t value = 0;
    bool fits = true;
    for (; text_is_digit(*at); at++) {
        /* Downwards for negative numbers: INT64_MIN has no positive twin. */
        int digit = negative ? -(*at - '0') : *at - '0';
        fits = fits && !__builtin_mul_overflow(value, 10, &value) &&
               !__builtin_add_overflow(value, digit, &value);
    }
    if (*at) {
        return err_set(err, -EINVAL, "'%s' is not a whole number", text);
    }
    if (!fits) {
        return err_set(err, -ERANGE, "'%s' does not fit in 64 bits", text);
    }
    *ret = value;
    return 0;
}

int text_parse_double(const char *text, double *ret, struct err *err)
{
    const char *at = text;
    if (*at == '-' || *at == '+') {
        at++;
    }
    const char *digits = at;
    while (text_is_digit(*at)) {
        at++;
    }
    bool good = at > digits;
    if (*at == '.') {
        at++;
        good = good || text_is_digit(*at);
        while (text_is_digit(*at)) {
            at++;
        }
    }
    if (good && (*at == 'e' || *at == 'E')) {
        at++;
        if (*at == '-' || *at == '+') {
            at++;
        }
        good = text_is_digit(*at);
        while (text_is_digit(*at)) {
            at++;
        }
    }
    if (!good || *at) {
        return err_set(err, -EINVAL, "'%s' is not a number", text);
    }
    /* The daemons never leave the "C" locale, so that strtod's point is a point. */
    double value = strtod(text, NULL);
    if (value > __DBL_MAX__ || value < -__DBL_MAX__) {
        return err_set(err, -ERANGE, "'%s' is too large for a number", text);
    }
    *ret = value;
    return 0;
}

int text_parse_bool(const char *text, bool *ret, struct err *err)
{
    static const struct {
        const char *word;
        bool value;
    } WORDS[] = {{"true", true}, {"false", false}, {"yes", true}, {"no", false},
                 {"on", true},   {"off", false},   {"t", true},   {"f", false},
                 {"y", true},    {"n", false},     {"1", true},   {"0", false}};
    for (size_t i = 0; i < ARRAY_COUNT(WORDS); i++) {
        if (text_equal_nocase(text, WORDS[i].word)) {
            *ret = WORDS[i].value;
            return 0;
        }
    }
    return err_set(err, -EINVAL, "'%s' is not true or false", text);
}

/* ---- units ---- */

static bool is_word(const char *word, size_t length, const char *expected)
{
    for (size_t i = 0; i < length; i++) {
        if (expected[i] == '\0' || text_lower(word[i]) != expected[i]) {
            return false;
        }
    }
    return expected[length] == '\0';
}

bool text_unit_duration_ms(const char *word, size_t length, int64_t *ret)
{
    static const struct {
        const char *names[6];
        int64_t ms;
    } UNITS[] = {
        {{"ms", "msec", "millisecond", "milliseconds"}, 1},
        {{"s", "sec", "secs", "second", "seconds"}, MS_PER_S},
        {{"m", "min", "mins", "minute", "minutes"}, 60 * MS_PER_S},
        {{"h", "hr", "hour", "hours"}, 3600 * MS_PER_S},
        {{"d", "day", "days"}, 86400 * MS_PER_S},
        {{"w", "week", "weeks"}, 7 * 86400 * MS_PER_S},
    };
    for (size_t i = 0; i < ARRAY_COUNT(UNITS); i++) {
        for (size_t k = 0; k < ARRAY_COUNT(UNITS[i].names) && UNITS[i].names[k]; k++) {
            if (is_word(word, length, UNITS[i].names[k])) {
                *ret = UNITS[i].ms;
                return true;
            }
        }
    }
    return false;
}

bool text_unit_size_bytes(const char *word, size_t length, int64_t *ret)
{
    if (is_word(word, length, "b") || is_word(word, length, "byte") ||
        is_word(word, length, "bytes")) {
        *ret = 1;
        return true;
    }
    static const char LETTERS[] = "kmgtp";
    const char *letter = length > 0 ? strchr(LETTERS, text_lower(word[0])) : NULL;
    if (!letter || !*letter ||
        !(length == 1 || is_word(word + 1, length - 1, "b") ||
          is_word(word + 1, length - 1, "ib"))) {
        return false;
    }
    *ret = INT64_C(1) << (10 * (letter - LETTERS + 1));
    return true;
}

static void skip_blanks(const char **at)
{
    while (text_is_blank(**at)) {
        ++*at;
    }
}

typedef bool (*unit_f)(const char *word, size_t length, int64_t *ret);

/* Reads digits [unit] { digits unit }; the sum is in the small unit. bare: the unit of a number
 * without unit. */
static int parse_with_unit(const char *text, unit_f unit, int64_t bare, const char *what,
                           int64_t *ret, struct err *err)
{
    int64_t sum = 0;
    bool fits = true;
    bool complete = false; /* the text ended where it may */
    const char *at = text;
    for (bool first = true; !complete && text_is_digit(*at); first = false) {
        int64_t number = 0;
        fits = read_digits(&at, &number) && fits;
        complete = first && !*at; /* a number without unit stands alone */
        int64_t factor = bare;
        if (!complete) {
            skip_blanks(&at);
            const char *word = at;
            while (is_letter(*at)) {
                at++;
            }
            if (at == word) {
                break;
            }
            if (!unit(word, (size_t)(at - word), &factor)) {
                return err_set(err, -EINVAL, "'%s' is not a %s: unknown unit '%.*s'", text, what,
                               at - word < 32 ? (int)(at - word) : 32, word);
            }
            complete = !*at;
            skip_blanks(&at);
        }
        fits = fits && !__builtin_mul_overflow(number, factor, &number) &&
               !__builtin_add_overflow(sum, number, &sum);
    }
    if (!complete) {
        return err_set(err, -EINVAL, "'%s' is not a %s", text, what);
    }
    if (!fits) {
        return err_set(err, -ERANGE, "'%s' is too large for a %s", text, what);
    }
    *ret = sum;
    return 0;
}

int text_parse_duration_ms(const char *text, int64_t *ret, struct err *err)
{
    return parse_with_unit(text, text_unit_duration_ms, 1, "duration", ret, err);
}

int text_parse_duration_s(const char *text, int64_t *ret, struct err *err)
{
    int64_t ms = 0;
    int rc = parse_with_unit(text, text_unit_duration_ms, MS_PER_S, "duration", &ms, err);
    if (rc < 0) {
        return rc;
    }
    if (ms % MS_PER_S != 0) {
        return err_set(err, -EINVAL, "'%s' is not a whole number of seconds", text);
    }
    *ret = ms / MS_PER_S;
    return 0;
}

int text_parse_size(const char *text, int64_t *ret_bytes, struct err *err)
{
    return parse_with_unit(text, text_unit_size_bytes, 1, "size", ret_bytes, err);
}

/* ---- numbers as text ---- */

size_t text_put_decimal(char *out, uint64_t value, size_t width)
{
    char digits[TEXT_DECIMAL_MAX];
    size_t at = sizeof(digits);
    CHECK(width <= sizeof(digits));
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    while (sizeof(digits) - at < width) {
        digits[--at] = '0';
    }
    memcpy(out, digits + at, sizeof(digits) - at);
    return sizeof(digits) - at;
}

/* ---- time ---- */

/* Writes the last `count` digits of a number that is not negative. */
static void put_digits(char *out, size_t count, int number)
{
    for (size_t i = count; i > 0; i--) {
        out[i - 1] = (char)('0' + number % 10);
        number /= 10;
    }
}

void text_utc_s(int64_t utc_s, char out[TEXT_UTC_MAX])
{
    time_t seconds = utc_s < UTC_S_MIN ? UTC_S_MIN : utc_s > UTC_S_MAX ? UTC_S_MAX : utc_s;
    struct tm tm;
    CHECK(gmtime_r(&seconds, &tm)); /* cannot fail within these years */
    memcpy(out, "0000-00-00T00:00:00Z", UTC_LENGTH + 1);
    put_digits(out, 4, tm.tm_year + 1900);
    put_digits(out + 5, 2, tm.tm_mon + 1);
    put_digits(out + 8, 2, tm.tm_mday);
    put_digits(out + 11, 2, tm.tm_hour);
    put_digits(out + 14, 2, tm.tm_min);
    put_digits(out + 17, 2, tm.tm_sec);
}

void text_utc_ms(int64_t utc_ms, char out[TEXT_UTC_MAX])
{
    int64_t seconds = utc_ms / MS_PER_S;
    int64_t ms = utc_ms % MS_PER_S;
    if (ms < 0) {
        ms += MS_PER_S;
        seconds--;
    }
    text_utc_s(seconds, out);
    memcpy(out + UTC_LENGTH - 1, ".000Z", sizeof(".000Z")); /* over the Z */
    put_digits(out + UTC_LENGTH, 3, (int)ms);
}

/* Reads a number of fixed length: "2026-11-20T09:34:36". */
static bool read_number(const char *at, size_t digits, int *ret)
{
    *ret = 0;
    for (size_t i = 0; i < digits; i++) {
        if (!text_is_digit(at[i])) {
            return false;
        }
        *ret = *ret * 10 + (at[i] - '0');
    }
    return true;
}

int text_parse_utc(const char *text, int64_t *ret_ms, struct err *err)
{
    static const char FORM[] = "####-##-##T##:##:##";
    size_t length = strlen(text);
    bool good = length == sizeof(FORM) || length == sizeof(FORM) + 4;
    for (size_t i = 0; good && i < sizeof(FORM) - 1; i++) {
        good = FORM[i] == '#' ? text_is_digit(text[i]) : text[i] == FORM[i];
    }
    int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, ms = 0;
    good = good && text[length - 1] == 'Z' && read_number(text, 4, &year) &&
           read_number(text + 5, 2, &month) && read_number(text + 8, 2, &day) &&
           read_number(text + 11, 2, &hour) && read_number(text + 14, 2, &minute) &&
           read_number(text + 17, 2, &second);
    if (good && length > sizeof(FORM)) {
        good = text[19] == '.' && read_number(text + 20, 3, &ms);
    }
    struct tm tm = {.tm_year = year - 1900,
                    .tm_mon = month - 1,
                    .tm_mday = day,
                    .tm_hour = hour,
                    .tm_min = minute,
                    .tm_sec = second};
    if (good) {
        struct tm normal = tm;
        int64_t seconds = timegm(&normal);
        /* timegm turns the 31st of June into the 1st of July: refused. */
        good = normal.tm_mon == tm.tm_mon && normal.tm_mday == tm.tm_mday &&
               normal.tm_hour == tm.tm_hour && normal.tm_min == tm.tm_min &&
               normal.tm_sec == tm.tm_sec;
        if (good) {
            *ret_ms = seconds * MS_PER_S + ms;
            return 0;
        }
    }
    return err_set(err, -EINVAL, "'%s' is not a time like 2026-11-20T09:34:36Z", text);
}

/* ---- hex ---- */

void text_hex(const void *data, size_t length, char *out)
{
    static const char DIGITS[] = "0123456789abcdef";
    const unsigned char *bytes = data;
    for (size_t i = 0; i < length; i++) {
        *out++ = DIGITS[bytes[i] >> 4];
        *out++ = DIGITS[bytes[i] & 15];
    }
    *out = '\0';
}

static int hex_digit(char c)
{
    c = text_lower(c);
    return text_is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int text_unhex(const char *text, void *out, size_t length, struct err *err)
{
    bool good = strlen(text) == 2 * length;
    for (size_t i = 0; good && i < 2 * length; i++) {
        good = hex_digit(text[i]) >= 0;
    }
    if (!good) {
        return err_set(err, -EINVAL, "'%.80s' is not %zu hex digits", text, 2 * length);
    }
    unsigned char *bytes = out;
    for (size_t i = 0; i < length; i++) {
        bytes[i] = (unsigned char)(hex_digit(text[2 * i]) * 16 + hex_digit(text[2 * i + 1]));
    }
    return 0;
}

/* ---- patterns and likeness ---- */

bool text_glob(const char *pattern, const char *text, bool ignore_case)
{
    /* Only the last '*' is ever tried again: whatever matched before it stays matched. */
    const char *star = NULL;
    const char *star_text = NULL;
    while (*text) {
        if (*pattern == '*') {
            star = pattern++;
            star_text = text;
        } else if (*pattern == '?' || *pattern == *text ||
                   (ignore_case && text_lower(*pattern) == text_lower(*text))) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star + 1;
            text = ++star_text;
        } else {
            return false;
        }
    }
    while (*pattern == '*') {
        pattern++;
    }
    return *pattern == '\0';
}

size_t text_distance(const char *a, const char *b, size_t max)
{
    size_t a_length = strlen(a);
    size_t b_length = strlen(b);
    if (a_length > NEAREST_MAX || b_length > NEAREST_MAX ||
        (a_length > b_length ? a_length - b_length : b_length - a_length) > max) {
        return max + 1; /* so many insertions at least */
    }
    /* Optimal string alignment: rows of the last three prefixes of a. */
    size_t rows[3][NEAREST_MAX + 1];
    size_t least_above = 0; /* in the row above */
    for (size_t j = 0; j <= b_length; j++) {
        rows[0][j] = j;
    }
    for (size_t i = 1; i <= a_length; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i + 2) % 3];
        const size_t *above2 = rows[(i + 1) % 3];
        size_t least = row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            bool same = text_lower(a[i - 1]) == text_lower(b[j - 1]);
            size_t best = above[j - 1] + (same ? 0 : 1);
            best = above[j] + 1 < best ? above[j] + 1 : best;
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            if (i > 1 && j > 1 && text_lower(a[i - 1]) == text_lower(b[j - 2]) &&
                text_lower(a[i - 2]) == text_lower(b[j - 1]) && above2[j - 2] + 1 < best) {
                best = above2[j - 2] + 1;
            }
            row[j] = best;
            least = best < least ? best : least;
        }
        if (least > max && least_above > max) {
            return max + 1; /* every way on begins in one of these two rows */
        }
        least_above = least;
    }
    size_t distance = rows[a_length % 3][b_length];
    return distance > max ? max + 1 : distance;
}

size_t text_near_enough(const char *name)
{
    size_t edits = strlen(name) / 3;
    return edits > 3 ? 3 : edits;
}

void text_take_nearer(const char *candidate, const char *name, const char **best, size_t *distance)
{
    size_t edits = *distance == 0 ? 0 : text_distance(candidate, name, *distance - 1);
    if (edits < *distance) {
        *distance = edits;
        *best = candidate;
    }
}

/* ---- quoting ---- */

static bool is_plain(const char *text)
{
    if (!*text) {
        return false;
    }
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c <= 0x20 || c == 0x7f || c == '"' || c == '\\' || c == '=' || c == '\'') {
            return false;
        }
    }
    return true;
}

void text_append_quoted(struct strbuf *buf, const char *text)
{
    if (is_plain(text)) {
        strbuf_puts(buf, text);
        return;
    }
    strbuf_putc(buf, '"');
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        switch (c) {
        case '"':
        case '\\':
            strbuf_putc(buf, '\\');
            strbuf_putc(buf, *text);
            break;
        case '\n':
            strbuf_puts(buf, "\\n");
            break;
        case '\r':
            strbuf_puts(buf, "\\r");
            break;
        case '\t':
            strbuf_puts(buf, "\\t");
            break;
        default:
            if (c < 0x20 || c == 0x7f) {
                strbuf_printf(buf, "\\x%02x", c);
            } else {
                strbuf_putc(buf, *text);
            }
            break;
        }
    }
    strbuf_putc(buf, '"');
}

char *text_insert(const char *text, const char *mark, const char *value, bool *found)
{
    struct strbuf buf;
    strbuf_init(&buf, 0);
    for (const char *at; (at = strstr(text, mark)) != NULL; text = at + strlen(mark)) {
        strbuf_append(&buf, text, (size_t)(at - text));
        strbuf_puts(&buf, value);
        *found = true;
    }
    strbuf_puts(&buf, text);
    char *result = strbuf_take(&buf);
    return result != NULL ? result : mem_strdup("");
}
