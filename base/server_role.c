/* base/server_role.c - see server_role.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/server_role.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/strbuf.h"

#define SCHEME   SERVER_ROLE_SCHEME "//"
#define TEXT_MAX 64 /* most bytes of a name in a message, without the terminating zero */
/* bytes of a text that names a server, with the terminating zero */
#define WORDS_SIZE (4 * TEXT_MAX)

bool server_role_is_known(const char *role)
{
    return strcmp(role, SERVER_ROLE_COLLECTOR) == 0 || strcmp(role, SERVER_ROLE_SCHEDD) == 0;
}

static bool is_plain(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("-._~@", c) != NULL);
}

static bool is_control(unsigned char c)
{
    return c < 0x20 || c == 0x7f;
}

/* ---- printing */

static int append_part(const char *what, const char *part, struct strbuf *out, struct err *err)
{
    size_t length = strlen(part);
    if (length == 0 || length > SERVER_ROLE_NAME_MAX) {
        return err_set(err, -EINVAL, "the %s of a server must have 1 to %d bytes, not %zu", what,
                       SERVER_ROLE_NAME_MAX, length);
    }
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)part[i];
        if (is_control(c)) {
            return err_set(err, -EINVAL, "the %s '%.*s' has control characters in it", what,
                           TEXT_MAX, part);
        }
        if (is_plain(c)) {
            strbuf_putc(out, (char)c);
        } else {
            strbuf_printf(out, "%%%02X", c);
        }
    }
    return 0;
}

int server_role_print(const char *pool, const char *role, const char *name, struct strbuf *out,
                      struct err *err)
{
    if (!server_role_is_known(role)) {
        return err_set(err, -EINVAL, "unknown role '%.*s'; expected collector or schedd", TEXT_MAX,
                       role);
    }
    strbuf_puts(out, SCHEME);
    int code = append_part("pool", pool, out, err);
    strbuf_printf(out, "/%s/", role);
    return code != 0 ? code : append_part("name", name, out, err);
}

/* ---- parsing */

/* Returns the value of '0'-'9' or 'A'-'F'; -1 for others. */
static int digit_of(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Decodes the byte at *at and moves *at behind it; -1: not written as we write it. */
static int next_byte(const char **at, const char *end)
{
    unsigned char c = (unsigned char)*(*at)++;
    if (is_plain(c)) {
        return c;
    }
    if (c != '%' || end - *at < 2) {
        return -1;
    }
    int high = digit_of((*at)[0]), low = digit_of((*at)[1]);
    *at += 2;
    if (high < 0 || low < 0) {
        return -1;
    }
    c = (unsigned char)(high << 4 | low);
    return is_control(c) || is_plain(c) ? -1 : c;
}

/* Reads the part up to the next '/' or the end; *at is there afterwards. */
static bool take_part(const char **at, const char *end, char *ret, size_t size)
{
    size_t length = 0;
    while (*at < end && **at != '/') {
        int byte = next_byte(at, end);
        if (byte < 0 || length + 1 >= size) {
            return false;
        }
        ret[length++] = (char)byte;
    }
    ret[length] = '\0';
    return length > 0;
}

static bool take_slash(const char **at, const char *end)
{
    return *at < end && *(*at)++ == '/';
}

int server_role_parse(const char *uri, size_t length, struct server_role *ret, struct err *err)
{
    struct server_role role;
    const char *end = uri + length, *at = uri + strlen(SCHEME);
    bool good = length > strlen(SCHEME) && memcmp(uri, SCHEME, strlen(SCHEME)) == 0 &&
                take_part(&at, end, role.pool, sizeof(role.pool)) && take_slash(&at, end) &&
                take_part(&at, end, role.role, sizeof(role.role)) && take_slash(&at, end) &&
                take_part(&at, end, role.name, sizeof(role.name)) && at == end;
    if (!good) {
        return err_set(err, -EINVAL, "'%.*s' is not of the form roost://POOL/ROLE/NAME",
                       (int)(length < TEXT_MAX ? length : TEXT_MAX), uri);
    }
    *ret = role;
    return 0;
}

/* ---- judging */

/* Appends "schedd 'a' of pool 'p'", or "a collector". */
static void say_server(const char *pool, const char *role, const char *name, char ret[WORDS_SIZE])
{
    int at = name != NULL ? snprintf(ret, WORDS_SIZE, "%s '%.*s'", role, TEXT_MAX, name)
                          : snprintf(ret, WORDS_SIZE, "a %s", role);
    if (pool != NULL && at > 0) {
        (void)snprintf(ret + at, WORDS_SIZE - (size_t)at, " of pool '%.*s'", TEXT_MAX, pool);
    }
}

int server_role_judge(const struct server_role *shown, const char *pool, const char *role,
                      const char *name, struct err *err)
{
    char is[WORDS_SIZE], expected[WORDS_SIZE];
    if (strcmp(shown->role, role) == 0 && (pool == NULL || strcmp(shown->pool, pool) == 0) &&
        (name == NULL || strcmp(shown->name, name) == 0)) {
        return 0;
    }
    say_server(shown->pool, shown->role, shown->name, is);
    say_server(pool, role, name, expected);
    return err_set(err, -EKEYREJECTED, "the server shows the certificate of %s, expected %s", is,
                   expected);
}
