/* kbdd/display_plan.c - parses names of X displays, servers' command lines and cookies: see
 * display_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kbdd/display_plan.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

static const char *const SERVERS[] = {"X",    "Xorg",      "Xorg.bin", "Xorg.wrap",
                                      "Xvfb", "Xwayland",  "Xephyr",   "Xnest",
                                      "Xvnc", "Xtigervnc", "Xspice"};

/* Returns the number that text is, digits only; -1: text is something else. */
static int number_of(const char *text, size_t length)
{
    int number = 0;
    if (length < 1 || length > 5) {
        return -1;
    }
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9') {
            return -1;
        }
        number = number * 10 + (text[i] - '0');
    }
    return number <= DISPLAY_NUMBER_MAX ? number : -1;
}

int display_plan_number(const char *socket_name)
{
    return socket_name[0] == 'X' ? number_of(socket_name + 1, strlen(socket_name + 1)) : -1;
}

static bool is_server(const char *program)
{
    const char *slash = strrchr(program, '/');
    const char *name = slash != NULL ? slash + 1 : program;
    for (size_t i = 0; i < ARRAY_COUNT(SERVERS); i++) {
        if (strcmp(name, SERVERS[i]) == 0) {
            return true;
        }
    }
    return false;
}

enum display_match display_plan_server(const char *line, size_t length, int number, char *auth,
                                       size_t size)
{
    if (length == 0 || line[length - 1] != '\0' || !is_server(line)) {
        return DISPLAY_OTHER;
    }
    enum display_match match = DISPLAY_MAYBE;
    const char *file = "";
    for (size_t at = strlen(line) + 1; at < length;) {
        const char *word = line + at;
        at += strlen(word) + 1;
        if (word[0] == ':' && number_of(word + 1, strlen(word + 1)) >= 0) {
            match =
                number_of(word + 1, strlen(word + 1)) == number ? DISPLAY_SURELY : DISPLAY_OTHER;
        } else if (strcmp(word, "-auth") == 0 && at < length) {
            file = line + at;
            at += strlen(file) + 1;
        }
    }
    if (match != DISPLAY_OTHER) {
        size_t room = strlen(file) < size ? strlen(file) : 0; /* too long: none */
        memcpy(auth, file, room);
        auth[room] = '\0';
    }
    return match;
}

struct reader {
    const unsigned char *at;
    size_t left;
};

/* Reads a text that has its length before it; false at the end of the file. */
static bool take_text(struct reader *reader, const unsigned char **text, size_t *length)
{
    if (reader->left < 2) {
        return false;
    }
    size_t wanted = (size_t)reader->at[0] << 8 | reader->at[1];
    if (reader->left - 2 < wanted) {
        return false;
    }
    *text = reader->at + 2;
    *length = wanted;
    reader->at += 2 + wanted;
    reader->left -= 2 + wanted;
    return true;
}

int display_plan_cookie(const void *data, size_t length, int number,
                        unsigned char ret[DISPLAY_COOKIE_MAX])
{
    struct reader reader = {.at = data, .left = length};
    while (reader.left > 0) {
        const unsigned char *field[4]; /* address, number, name, data */
        size_t size[4];
        if (reader.left < 2) {
            return -EINVAL;
        }
        reader.at += 2;
        reader.left -= 2;
        for (int i = 0; i < 4; i++) {
            if (!take_text(&reader, &field[i], &size[i])) {
                return -EINVAL;
            }
        }
        bool same = size[1] == 0 || number_of((const char *)field[1], size[1]) == number;
        if (same && size[2] == strlen(DISPLAY_COOKIE) &&
            memcmp(field[2], DISPLAY_COOKIE, size[2]) == 0 && size[3] <= DISPLAY_COOKIE_MAX) {
            memcpy(ret, field[3], size[3]);
            return (int)size[3];
        }
    }
    return -ENOENT;
}
