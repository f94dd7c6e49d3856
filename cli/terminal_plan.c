/* cli/terminal_plan.c - see terminal_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/terminal_plan.h"

#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "base/strbuf.h"

#define RED    "\x1b[31m"
#define GREEN  "\x1b[32m"
#define YELLOW "\x1b[33m"
#define BLUE   "\x1b[34m"
#define CYAN   "\x1b[36m"

const char terminal_bold[] = "\x1b[1m", terminal_plain[] = "\x1b[0m";

/* ---- UTF-8 */

/* Decodes the UTF-8 character at the beginning of text; returns its length in bytes, or 0 for an
 * invalid one. */
static size_t decode_character(const char *text, size_t length, uint32_t *ret)
{
    static const uint32_t LEAST[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char first = (unsigned char)text[0];
    if (first < 0x80) {
        *ret = first;
        return 1;
    }
    size_t bytes = first >= 0xf0 && first < 0xf8 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 0;
    if (first >= 0xf8 || bytes == 0 || bytes > length) {
        return 0;
    }
    uint32_t character = first & (0x7fU >> bytes);
    for (size_t i = 1; i < bytes; i++) {
        unsigned char more = (unsigned char)text[i];
        if ((more & 0xc0) != 0x80) {
            return 0;
        }
        character = character << 6 | (more & 0x3fU);
    }
    bool surrogate = character >= 0xd800 && character <= 0xdfff;
    if (character < LEAST[bytes] || character > 0x10ffff || surrogate) {
        return 0;
    }
    *ret = character;
    return bytes;
}

struct range {
    uint32_t first, last;
};

static bool is_in(const struct range *ranges, size_t count, uint32_t character)
{
    for (size_t i = 0; i < count && character >= ranges[i].first; i++) {
        if (character <= ranges[i].last) {
            return true;
        }
    }
    return false;
}

/* Returns how many columns a character takes: 2 for Unicode's East Asian Width W and F, 0 for the
 * most common combining characters. */
static size_t columns_of(uint32_t character)
{
    static const struct range NONE[] = {{0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},
                                        {0x610, 0x61a},   {0x64b, 0x65f},   {0x1ab0, 0x1aff},
                                        {0x1dc0, 0x1dff}, {0x200b, 0x200f}, {0x20d0, 0x20ff},
                                        {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xfeff, 0xfeff}};
    static const struct range TWO[] = {{0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0x33ff},
                                       {0x3400, 0x4dbf},   {0x4e00, 0x9fff},   {0xa000, 0xa4cf},
                                       {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe4f},
                                       {0xff00, 0xff60},   {0xffe0, 0xffe6},   {0x1f300, 0x1f64f},
                                       {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};
    if (character < 0x300) {
        return 1;
    }
    return is_in(NONE, ARRAY_COUNT(NONE), character) ? 0
           : is_in(TWO, ARRAY_COUNT(TWO), character) ? 2
                                                     : 1;
}

static bool is_plain(const char *text, size_t length)
{
    unsigned char all = 0;
    for (size_t i = 0; i < length; i++) {
        all |= (unsigned char)text[i];
    }
    return all < 0x80;
}

static size_t fit_columns(const char *text, size_t length, size_t columns, size_t *width)
{
    size_t at = 0;
    *width = 0;
    while (at < length) {
        uint32_t character = '?';
        size_t bytes = decode_character(text + at, length - at, &character);
        size_t wide = bytes > 0 ? columns_of(character) : 1;
        if (*width + wide > columns) {
            break;
        }
        *width += wide;
        at += bytes > 0 ? bytes : 1;
    }
    return at;
}

size_t terminal_width(const char *text, size_t length)
{
    size_t width;
    if (is_plain(text, length)) {
        return length;
    }
    (void)fit_columns(text, length, SIZE_MAX, &width);
    return width;
}

size_t terminal_fit(const char *text, size_t length, size_t columns)
{
    size_t width;
    return length <= columns ? length : fit_columns(text, length, columns, &width);
}

void terminal_clean(char *text, size_t length)
{
    for (size_t i = 0; i < length;) {
        uint32_t character = 0;
        size_t bytes = decode_character(text + i, length - i, &character);
        if (bytes == 0) {
            text[i++] = '?';
            continue;
        }
        /* C0, DEL, C1, and what turns the direction of a line */
        bool control = character < ' ' || (character >= 0x7f && character < 0xa0) ||
                       (character >= 0x202a && character <= 0x202e) ||
                       (character >= 0x2066 && character <= 0x2069);
        if (control) {
            memset(text + i, '?', bytes);
        }
        i += bytes;
    }
}

void terminal_cut(struct strbuf *out, size_t begin, int columns)
{
    if (columns > 0 && !out->failed && out->length > begin) {
        out->length = begin + terminal_fit(out->data + begin, out->length - begin, (size_t)columns);
        out->data[out->length] = '\0';
    }
}

void terminal_cut_lines(const char *text, int columns, struct strbuf *out)
{
    while (*text != '\0') {
        size_t length = strcspn(text, "\n"), begin = out->length;
        strbuf_append(out, text, length);
        terminal_cut(out, begin, columns);
        strbuf_puts(out, text[length] == '\n' ? "\n" : "");
        text += length + (text[length] == '\n' ? 1 : 0);
    }
}

/* ---- colours */

static const struct {
    const char *heading, *text, *colour;
} COLOURS[] = {
    {"State", "Claimed", GREEN},
    {"State", "Owner", YELLOW},
    {"State", "Preempting", YELLOW},
    {"State", "Drained", YELLOW},
    {"Activity", "Suspended", YELLOW},
    {"Activity", "Vacating", YELLOW},
    {"Activity", "Retiring", YELLOW},
    {"Activity", "Killing", RED},
    {"Activity", "Busy", GREEN},
    {"Power", "Off", BLUE},
    {"Power", "Waking", CYAN},
    {"Power", "GoingDown", CYAN},
    {"Power", "Draining", CYAN},
    {"Power", "WakeFailed", RED},
    {"Power", "Unknown", RED},
    {"ST", "R", GREEN},
    {"ST", "H", RED},
    {"ST", "S", YELLOW},
    {"ST", "<", CYAN},
    {"ST", "<q", CYAN},
    {"ST", ">", CYAN},
    {"ST", "q>", CYAN},
    {"ST", "X", YELLOW},
};

const char *terminal_colour(const char *heading, const char *text, size_t length)
{
    for (size_t i = 0; i < ARRAY_COUNT(COLOURS); i++) {
        if (strcmp(COLOURS[i].heading, heading) == 0 && strlen(COLOURS[i].text) == length &&
            memcmp(COLOURS[i].text, text, length) == 0) {
            return COLOURS[i].colour;
        }
    }
    return "";
}
