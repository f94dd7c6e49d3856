/* submit/submit_path.c - parts of a file's name: see submit_path.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "submit/submit_path.h"

#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"

bool submit_path_letters_are_valid(const char *letters)
{
    for (; *letters != '\0'; letters++) {
        if (strchr("abdfnpquwx", text_lower(*letters)) == NULL) {
            return false;
        }
    }
    return true;
}

static bool is_slash(char c)
{
    return c == '/' || c == '\\';
}

/* Returns the index of the name: behind the last slash. */
static size_t name_at(const char *path)
{
    size_t at = strlen(path);
    while (at > 0 && !is_slash(path[at - 1])) {
        at--;
    }
    return at;
}

/* Returns the index of the extension with its dot; the end when there is none. */
static size_t extension_at(const char *path, size_t name)
{
    size_t end = strlen(path), at = end;
    while (at > name && path[at] != '.') {
        at--;
    }
    return path[at] == '.' ? at : end;
}

/* Returns the index where the last `count` directories before `name` begin. */
static size_t directories_at(const char *path, size_t name, size_t count)
{
    size_t at = name;
    for (; count > 0 && at > 0; count--) {
        at--; /* the slash at its end */
        while (at > 0 && !is_slash(path[at - 1])) {
            at--;
        }
    }
    return at;
}

static size_t count_of(const char *letters, char letter)
{
    size_t count = 0;
    for (; *letters != '\0'; letters++) {
        count += text_lower(*letters) == letter ? 1 : 0;
    }
    return count;
}

/* Returns path without quotes, made absolute and with the slashes that the letters ask for; freed
 * with mem_free(). */
static char *prepare_path(const char *letters, const char *path, const char *cwd)
{
    struct strbuf text;
    size_t length = strlen(path);
    if (length > 1 && path[0] == path[length - 1] && (path[0] == '"' || path[0] == '\'')) {
        path++;
        length -= 2;
    }
    strbuf_init(&text, 0);
    strbuf_puts(&text, "");
    if (count_of(letters, 'f') > 0 && path[0] != '/' && cwd != NULL && cwd[0] != '\0') {
        bool here = length > 2 && strncmp(path, "./", 2) == 0;
        strbuf_puts(&text, cwd);
        if (cwd[strlen(cwd) - 1] != '/') {
            strbuf_putc(&text, '/');
        }
        path += here ? 2 : 0;
        length -= here ? 2 : 0;
    }
    strbuf_append(&text, path, length);
    char *ret = mem_strdup(strbuf_text(&text));
    strbuf_fini(&text);
    bool back = count_of(letters, 'w') > 0, forth = count_of(letters, 'u') > 0;
    for (char *at = ret; *at != '\0' && (back || forth); at++) {
        if (is_slash(*at)) {
            *at = back ? '\\' : '/';
        }
    }
    return ret;
}

void submit_path_parts(const char *letters, const char *path, const char *cwd, struct strbuf *out)
{
    char *whole = prepare_path(letters, path, cwd);
    size_t name = name_at(whole), extension = extension_at(whole, name), end = strlen(whole);
    size_t up = count_of(letters, 'd');
    bool n = count_of(letters, 'n') > 0, x = count_of(letters, 'x') > 0;
    bool p = count_of(letters, 'p') > 0, bare = count_of(letters, 'b') > 0;
    size_t from = 0;
    if (name == 0 && (n || x)) {
        up = 0;
        p = false;
    }
    if (up > 0) {
        from = directories_at(whole, name, up);
    } else if (p) {
        from = 0;
    } else if (n) {
        from = name;
    } else if (x) {
        from = extension + (bare && extension < end ? 1 : 0);
    }
    if ((up > 0 || p) && !n && !x) {
        end = bare && name > from ? name - 1 : name;
    } else if (n && !x) {
        end = extension;
    }
    char quote = count_of(letters, 'q') == 0 ? '\0' : count_of(letters, 'a') > 0 ? '\'' : '"';
    if (quote != '\0') {
        strbuf_putc(out, quote);
    }
    strbuf_append(out, whole + from, end > from ? end - from : 0);
    if (quote != '\0') {
        strbuf_putc(out, quote);
    }
    mem_free(whole);
}
