/* base/text.h - strict reading and writing of short texts: numbers, durations, sizes, times, hex,
 * patterns.
 *
 * Design note: the C library's readers skip blanks, stop at the first strange character, obey the
 * locale and accept "0x", "inf" and "nan".  But a configuration or an ad that says "10 m1nutes"
 * must be refused, not read as 10.  So each reader here accepts the whole text or refuses it, with
 * the text named in err.  On failure outputs stay untouched.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct strbuf;

/* Returns whether c is a digit.  The functions text_is_...() know only ASCII, whatever the
 * locale. */
static inline bool text_is_digit(char c)
{
    return c >= '0' && c <= '9';
}
static inline bool text_is_blank(char c) /* returns whether c is a blank or a tab */
{
    return c == ' ' || c == '\t';
}
/* Returns whether c separates words: a blank, a tab or the end of a line. */
static inline bool text_is_gap(char c)
{
    return text_is_blank(c) || c == '\n' || c == '\r';
}
static inline bool text_is_space(char c) /* returns isspace(c) of the C locale */
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Reads [+-]digits.  Returns 0, -EINVAL (wrong form) or -ERANGE (right form, but too large). */
int text_parse_int64(const char *text, int64_t *ret, struct err *err);
/* Reads [+-]digits[.digits][e[+-]digits].  Returns 0, -EINVAL (wrong form) or -ERANGE (right
 * form, but too large). */
int text_parse_double(const char *text, double *ret, struct err *err);
/* Reads one of: true false yes no on off t f y n 1 0.  Returns 0 or -EINVAL (another text). */
int text_parse_bool(const char *text, bool *ret, struct err *err);

/* Reads a duration into *ret, in seconds: "10m", "1h30m", "250 ms", "2 days".  Units are ms, s, m,
 * h, d, w and their English words; a number without a unit counts in seconds.  The sum must be
 * whole seconds, and not negative.  Returns 0, -EINVAL (wrong form) or -ERANGE (too large). */
int text_parse_duration_s(const char *text, int64_t *ret, struct err *err);
/* Reads a duration, in the form of text_parse_duration_s(), into *ret, in milliseconds; but a
 * number without a unit counts in milliseconds.  Returns 0, -EINVAL (wrong form) or -ERANGE (too
 * large). */
int text_parse_duration_ms(const char *text, int64_t *ret, struct err *err);

/* Reads a size in bytes: "2 GiB", "512M", "100 kb", "4096".  Units are B K M G T P with an optional
 * "B" or "iB", in any case; all are powers of 1024, as in HTCondor.  Without a unit: bytes.  Whole
 * numbers only, never negative.  Returns 0, -EINVAL (wrong form) or -ERANGE (too large). */
int text_parse_size(const char *text, int64_t *ret_bytes, struct err *err);

/* Gives the milliseconds of a unit of time, word[0..length): "m", "days", in any case.  Returns
 * false if the unit is unknown. */
bool text_unit_duration_ms(const char *word, size_t length, int64_t *ret);
/* Gives the bytes of a unit of size, word[0..length): "K", "GiB", in any case.  Returns false if
 * the unit is unknown. */
bool text_unit_size_bytes(const char *word, size_t length, int64_t *ret);

#define TEXT_DECIMAL_MAX 20 /* most digits of a number with 64 bits */
/* Writes a number with at least `width` digits, which is at most TEXT_DECIMAL_MAX, without a
 * terminating zero; returns how many it wrote.  A tenth of the time of printf(). */
size_t text_put_decimal(char *out, uint64_t value, size_t width);

#define TEXT_UTC_MAX 32 /* enough bytes for a time as text, with the terminating zero */
/* Writes "2026-11-20T09:34:36.123Z".  Years before 0 or after 9999 are clamped. */
void text_utc_ms(int64_t utc_ms, char out[TEXT_UTC_MAX]);
/* Writes "2026-11-20T09:34:36Z".  Years before 0 or after 9999 are clamped. */
void text_utc_s(int64_t utc_s, char out[TEXT_UTC_MAX]);
/* Reads "2026-11-20T09:34:36Z", also with milliseconds; *ret_ms is in milliseconds since 1970.
 * Returns 0 or -EINVAL (not such a time). */
int text_parse_utc(const char *text, int64_t *ret_ms, struct err *err);

/* Writes data as 2 * length hex digits, lower case, and the terminating zero. */
void text_hex(const void *data, size_t length, char *out);
/* Reads exactly 2 * length hex digits into out[0..length).  Returns 0 or -EINVAL (not a hex digit,
 * or another number of digits). */
int text_unhex(const char *text, void *out, size_t length, struct err *err);

/* Returns whether the pattern matches the whole text: '*' stands for any bytes or none, '?' for
 * any one byte, every other byte for itself.  O(pattern * text). */
bool text_glob(const char *pattern, const char *text, bool ignore_case);

/* Returns whether two secrets are equal; the time taken depends only on length. */
bool text_equal_secret(const void *a, const void *b, size_t length);

/* Returns whether the texts are equal except for the case of ASCII letters, whatever the locale. */
bool text_equal_nocase(const char *a, const char *b);
int text_compare_nocase(const char *a, const char *b);
char text_lower(char c); /* returns c in lower case; changes ASCII letters only */

/* Returns how many insertions, deletions, replacements and swaps of neighbours make a into b,
 * ignoring case; at most max + 1.  Used for "did you mean".  A text longer than 64 bytes counts as
 * max + 1 away. */
size_t text_distance(const char *a, const char *b, size_t max);
/* Returns how many edits may lie between a name and what was meant by it: a third of its letters,
 * three at most. */
size_t text_near_enough(const char *name);
/* Sets *best to the candidate, and *distance to its distance from the name, if it is nearer than
 * *distance.  Before the first call, *distance is text_near_enough(name) + 1, and *best NULL. */
void text_take_nearer(const char *candidate, const char *name, const char **best, size_t *distance);

/* Returns a copy of the text with `value` in the place of each `mark`, which the caller frees with
 * mem_free().  Sets *found to true if there was any; leaves it as it is otherwise. */
char *text_insert(const char *text, const char *mark, const char *value, bool *found);

/* Appends the text so that it reads as one token on one line: unchanged if it is one plain word,
 * else in double quotes, with the escapes \" \\ \n \r \t \xHH. */
void text_append_quoted(struct strbuf *buf, const char *text);

#endif
