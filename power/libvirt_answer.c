/* power/libvirt_answer.c - see libvirt_answer.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "power/libvirt_answer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CODE_MAX 4095 /* largest errno of the kernel */

/* Cuts off the next word: returns its beginning, and its length in *length. */
static const char *word_of(const char **rest, size_t *length)
{
    const char *word = *rest;
    *length = strcspn(word, " ");
    *rest = word + *length + (word[*length] == ' ' ? 1 : 0);
    return word;
}

static bool is_word(const char *word, size_t length, const char *name)
{
    return length == strlen(name) && memcmp(word, name, length) == 0;
}

static bool number_of(const char **rest, uint64_t *ret)
{
    size_t length;
    char *end;
    const char *word = word_of(rest, &length);
    if (*word < '0' || *word > '9') {
        return false;
    }
    errno = 0;
    unsigned long long value = strtoull(word, &end, 10);
    if (errno != 0 || end != word + length) {
        return false;
    }
    *ret = value;
    return true;
}

/* Reads the errno of "ERRNO TEXT"; without a number everything is the text. */
static int code_of(const char **rest)
{
    const char *text = *rest;
    uint64_t code;
    if (!number_of(&text, &code)) {
        return -EIO;
    }
    *rest = text;
    return code > 0 && code <= CODE_MAX ? -(int)code : -EIO;
}

bool libvirt_answer_read(const char *line, struct libvirt_answer *ret)
{
    struct libvirt_answer answer = {.status = -EIO, .state = POWER_UNKNOWN};
    const char *rest = line;
    size_t length = strcspn(line, " ");
    if (line[length] != ' ' || !number_of(&rest, &answer.id)) {
        return false;
    }
    const char *word = word_of(&rest, &length);
    if (is_word(word, length, "ok")) {
        answer.status = 0;
    } else if (is_word(word, length, "error")) {
        answer.status = code_of(&rest);
    } else if (is_word(word, length, "on")) {
        answer.state = POWER_ON;
    } else if (is_word(word, length, "off")) {
        answer.state = POWER_OFF;
    } else {
        answer.is_silent = is_word(word, length, "silent");
    }
    answer.text = rest;
    *ret = answer;
    return true;
}
