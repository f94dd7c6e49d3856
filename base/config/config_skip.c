/* base/config/config_skip.c - one pass over the bytes of sections that nobody here needs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/config/config_skip.h"

#include <stdbool.h>
#include <string.h>

#include "base/config/config_scan.h"

/* What a byte may be part of. */
enum {
    IN_BLANK = 1,
    IN_NAME = 2,
    IN_WORD = 4,
    IN_QUOTES = 8, /* also the other kind of quote */
    BEGINS_NAME = 16,
};

#define LETTER  (IN_NAME | IN_WORD | IN_QUOTES | BEGINS_NAME)
#define DIGIT   (IN_NAME | IN_WORD | IN_QUOTES)
#define PLAIN   (IN_WORD | IN_QUOTES)
#define DIVIDER IN_QUOTES /* ends a word: see config_scan.h */

/* Left out, so in nothing: control characters, the backslash, and '$', which needs a look. */
static const unsigned char CLASSES[256] = {
    ['\n'] = IN_BLANK,
    ['\r'] = IN_BLANK,
    ['\t'] = IN_BLANK | IN_QUOTES,
    [' '] = IN_BLANK | IN_QUOTES,
    ['#'] = DIVIDER,
    ['"'] = DIVIDER,
    ['\''] = DIVIDER,
    ['='] = DIVIDER,
    ['{'] = DIVIDER,
    ['}'] = DIVIDER,
    ['('] = DIVIDER,
    [')'] = DIVIDER,
    ['+'] = DIVIDER,
    [','] = DIVIDER,
    ['*'] = DIVIDER,
    ['.'] = IN_NAME | IN_WORD | IN_QUOTES,
    ['_'] = LETTER,
    ['a' ... 'z'] = LETTER,
    ['A' ... 'Z'] = LETTER,
    ['0' ... '9'] = DIGIT,
    ['!'] = PLAIN,
    ['%'] = PLAIN,
    ['&'] = PLAIN,
    ['-'] = PLAIN,
    ['/'] = PLAIN,
    [':'] = PLAIN,
    [';'] = PLAIN,
    ['<'] = PLAIN,
    ['>'] = PLAIN,
    ['?'] = PLAIN,
    ['@'] = PLAIN,
    ['['] = PLAIN,
    [']'] = PLAIN,
    ['^'] = PLAIN,
    ['`'] = PLAIN,
    ['|'] = PLAIN,
    ['~'] = PLAIN,
    [0x80 ... 0xff] = PLAIN,
};

struct walk {
    struct config_skip *skip;
    const char *at, *end;
    unsigned lines;
};

static bool is_in(const struct walk *walk, unsigned classes)
{
    return walk->at < walk->end && (CLASSES[(unsigned char)*walk->at] & classes) != 0;
}

/* Steps over bytes of these classes; returns how many. */
static size_t step_over(struct walk *walk, unsigned classes)
{
    const char *start = walk->at;
    while (is_in(walk, classes)) {
        walk->at++;
    }
    return (size_t)(walk->at - start);
}

static bool is_next(const struct walk *walk, char c)
{
    return walk->at < walk->end && *walk->at == c;
}

/* Steps over blanks and comments that end with their line. */
static void step_over_space(struct walk *walk)
{
    for (;;) {
        while (is_in(walk, IN_BLANK)) {
            walk->lines += *walk->at == '\n' ? 1 : 0;
            walk->at++;
        }
        bool slashes = walk->end - walk->at >= 2 && walk->at[0] == '/' && walk->at[1] == '/';
        if (!slashes && !is_next(walk, '#')) {
            return;
        }
        const char *line_end = memchr(walk->at, '\n', (size_t)(walk->end - walk->at));
        walk->at = line_end != NULL ? line_end : walk->end;
    }
}

/* Steps over $(NAME), which the caller's quotes contain. */
static bool step_over_reference(struct walk *walk)
{
    struct config_skip *skip = walk->skip;
    walk->at++;
    if (!is_next(walk, '(')) {
        return false;
    }
    walk->at++;
    const char *name = walk->at;
    if (!is_in(walk, BEGINS_NAME)) {
        return false;
    }
    const size_t length = step_over(walk, IN_NAME);
    if (length > CONFIG_NAME_MAX || !is_next(walk, ')')) {
        return false;
    }
    walk->at++;
    if (skip->last_name == NULL || skip->last_length != length ||
        memcmp(skip->last_name, name, length) != 0) {
        skip->refers(skip->arg, name, length);
        skip->last_name = name;
        skip->last_length = length;
    }
    return true;
}

static bool step_over_quoted(struct walk *walk)
{
    const char quote = *walk->at++;
    while (!is_next(walk, quote)) {
        if (is_in(walk, IN_QUOTES)) {
            walk->at++;
        } else if (!is_next(walk, '$') || !step_over_reference(walk)) {
            return false;
        }
    }
    walk->at++;
    return true;
}

static bool step_over_value(struct walk *walk)
{
    if (is_next(walk, '"') || is_next(walk, '\'')) {
        return step_over_quoted(walk);
    }
    return step_over(walk, IN_WORD) > 0;
}

static bool step_over_assignment(struct walk *walk)
{
    const char *name = walk->at;
    if (!is_in(walk, BEGINS_NAME)) {
        return false;
    }
    const size_t length = step_over(walk, IN_NAME);
    if (length > CONFIG_NAME_MAX || (length >= 2 && memcmp(name, "__", 2) == 0)) {
        return false;
    }
    step_over_space(walk);
    if (!is_next(walk, '=')) {
        return false;
    }
    walk->at++;
    step_over_space(walk);
    return step_over_value(walk);
}

/* Steps over a title that is not the needed one. */
static bool step_over_title(struct walk *walk)
{
    const char *title = walk->at;
    size_t length;
    if (is_next(walk, '"') || is_next(walk, '\'')) {
        const char quote = *walk->at++;
        title++;
        while (!is_next(walk, quote) && is_in(walk, IN_QUOTES)) {
            walk->at++;
        }
        length = (size_t)(walk->at - title);
        if (!is_next(walk, quote)) {
            return false;
        }
        walk->at++;
    } else {
        length = is_next(walk, ':') ? 0 : step_over(walk, IN_WORD); /* ':' assigns */
    }
    const char *needed = walk->skip->needed_title;
    bool is_needed =
        needed != NULL && strlen(needed) == length && memcmp(needed, title, length) == 0;
    return !is_needed && length > 0 && length + 2 <= CONFIG_TITLE_MAX;
}

const char *config_skip_titled(struct config_skip *skip, const char *text, const char *end,
                               unsigned *lines)
{
    struct walk walk = {.skip = skip, .at = text, .end = end, .lines = *lines};
    if (!step_over_title(&walk)) {
        return NULL;
    }
    step_over_space(&walk);
    if (!is_next(&walk, '{')) {
        return NULL;
    }
    walk.at++;
    step_over_space(&walk);
    while (!is_next(&walk, '}')) {
        if (!step_over_assignment(&walk)) {
            return NULL;
        }
        step_over_space(&walk);
    }
    *lines = walk.lines;
    return walk.at + 1;
}

const char *config_skip_section(struct config_skip *skip, const char *text, const char *end,
                                unsigned *lines)
{
    struct walk walk = {.skip = skip, .at = text, .end = end, .lines = *lines};
    step_over_space(&walk);
    if ((size_t)(end - walk.at) <= skip->kind_length ||
        memcmp(walk.at, skip->kind, skip->kind_length) != 0) {
        return NULL;
    }
    walk.at += skip->kind_length;
    const char *kind_end = walk.at;
    step_over_space(&walk);
    if (walk.at == kind_end && !is_next(&walk, '"') && !is_next(&walk, '\'')) {
        return NULL; /* a longer word */
    }
    const char *after = config_skip_titled(skip, walk.at, end, &walk.lines);
    if (after != NULL) {
        *lines = walk.lines;
    }
    return after;
}
