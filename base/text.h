/* base/text.h - strict reading and writing of small texts: numbers, durations, sizes, times, hex,
 * patterns.
 *
 * Design note: the C library's readers skip blanks, stop at the first strange character, obey the
 * locale and accept "0x", "inf" and "nan"; a configuration or an ad that says "10 m1nutes" must be
 * refused, not read as 10.  So every reader here takes the whole text or refuses it, naming the
 * text in err.  On failure outputs stay untouched.
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

/* Bytes of ASCII, whatever the locale. */
static inline bool text_is_digit(char c)
{
    return c >= '0' && c <= '9';
}
static inline bool text_is_blank(char c) /* within a line */
{
    return c == ' ' || c == '\t';
}
static inline bool text_is_gap(char c) /* what separates words: blanks and ends of lines */
{
    return text_is_blank(c) || c == '\n' || c == '\r';
}
static inline bool text_is_space(char c) /* isspace() of the C locale */
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Return 0, -EINVAL (not of that form) or -ERANGE (of that form, but too large). */
int text_parse_int64(const char *text, int64_t *ret, struct err *err); /* [+-]digits */
int text_parse_double(const char *text, double *ret,
                      struct err *err); /* [+-]digits[.digits][e[+-]digits] */
int text_parse_bool(const char *text, bool *ret,
                    struct err *err); /* true false yes no on off t f y n 1 0 */

/* "10m", "1h30m", "250 ms", "2 days"; units ms, s, m, h, d, w and their English words; a number
 * without unit counts in seconds (text_parse_duration_s: whole seconds only) or milliseconds
 * (text_parse_duration_ms).  Never negative. */
int text_parse_duration_s(const char *text, int64_t *ret, struct err *err);
int text_parse_duration_ms(const char *text, int64_t *ret, struct err *err);

/* "2 GiB", "512M", "100 kb", "4096": units B K M G T P with an optional "B" or "iB", all powers of
 * 1024 and in any case, as HTCondor reads them; without unit bytes.  Whole numbers only.  Never
 * negative. */
int text_parse_size(const char *text, int64_t *ret_bytes, struct err *err);

/* The factor of a unit word ("m", "GiB", any case), in milliseconds or bytes; false if there is no
 * such unit. */
bool text_unit_duration_ms(const char *word, size_t length, int64_t *ret);
bool text_unit_size_bytes(const char *word, size_t length, int64_t *ret);

#define TEXT_UTC_MAX 32
/* "2026-11-20T09:34:36.123Z", and without the milliseconds; years 0..9999, others are clamped. */
void text_utc_ms(int64_t utc_ms, char out[TEXT_UTC_MAX]);
void text_utc_s(int64_t utc_s, char out[TEXT_UTC_MAX]);
/* Reads both forms back, into milliseconds. */
int text_parse_utc(const char *text, int64_t *ret_ms, struct err *err);

void text_hex(const void *data, size_t length, char *out); /* 2 * length + 1 bytes, lower case */
/* Exactly 2 * length hex digits into out[0..length); -EINVAL otherwise. */
int text_unhex(const char *text, void *out, size_t length, struct err *err);

/* True if the whole text matches: '*' any run, '?' any one byte, all else itself.  O(pattern *
 * text). */
bool text_glob(const char *pattern, const char *text, bool ignore_case);

/* Compares in a time that depends on length only. */
bool text_equal_secret(const void *a, const void *b, size_t length);

bool text_equal_nocase(const char *a, const char *b); /* ASCII case only, whatever the locale */
int text_compare_nocase(const char *a, const char *b);
char text_lower(char c); /* ASCII only */

/* How many insertions, deletions, replacements and swaps of neighbours (case ignored) make a into
 * b; at most max + 1. For "did you mean": texts longer than 64 bytes count as max + 1 apart. */
size_t text_distance(const char *a, const char *b, size_t max);

/* Appends text as it is if it is one plain word, else in double quotes with \" \\ \n \r \t \xHH
 * escapes, so that what is read as one token stays one token of one line. */
void text_append_quoted(struct strbuf *buf, const char *text);

#endif
