/* wire/token_limits.c - see token_limits.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wire/token_limits.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "wire/token.h"
#include "wire/verbs.h"

#define SKEW_S ((int64_t)600) /* so far apart the clocks of two hosts may be */

/* What a machine that comes and goes needs; all other scopes give power over others. */
#define ALLOWED (SCOPE_READ | SCOPE_ADVERTISE | SCOPE_TICKET)

int token_limits_valid(const struct token_limits *limits, struct err *err)
{
    size_t length = strlen(limits->pattern);
    char names[128];
    if (length < 2 || strcspn(limits->pattern, "*?") != length - 1 ||
        limits->pattern[length - 1] != '*') {
        return err_set(err, -EINVAL,
                       "'%s' is not the beginning of names and a '*', such as factory-*",
                       limits->pattern);
    }
    for (const char *at = limits->pattern; *at != '\0'; at++) {
        if ((unsigned char)*at <= ' ' || *at == '\x7f') {
            return err_set(err, -EINVAL, "a pattern of names has no blanks");
        }
    }
    if (limits->scopes == 0 || (limits->scopes & ~(uint32_t)ALLOWED) != 0) {
        return err_set(err, -EINVAL, "a limited key can have the scopes %s only",
                       scope_names(ALLOWED, names, sizeof(names)));
    }
    if (limits->life_s <= 0 || limits->life_s > TOKEN_LIMITS_LIFE_MAX_S || limits->until_s <= 0) {
        return err_set(err, -EINVAL,
                       "a limited key needs a life of its tokens (at most %d days) and an end",
                       (int)(TOKEN_LIMITS_LIFE_MAX_S / 86400));
    }
    return 0;
}

static int refuse(const char *kid, struct err *err, const char *what)
{
    return err_set(err, -EKEYREJECTED, "the key '%s' may not sign %s", kid, what);
}

int token_limits_check(const struct token_limits *limits, const char *kid,
                       const struct token *token, int64_t now_s, struct err *err)
{
    size_t length = strlen(limits->pattern) - 1; /* without the '*' */
    char names[128], what[400];
    uint32_t more = token->scopes & ~limits->scopes;
    if (strncmp(token->identity, limits->pattern, length) != 0) {
        (void)snprintf(what, sizeof(what), "for the identity '%.100s': its own begin with '%.*s'",
                       token->identity, (int)length, limits->pattern);
        return refuse(kid, err, what);
    }
    if (strncmp(token->pattern, limits->pattern, length) != 0) {
        (void)snprintf(what, sizeof(what), "for the names '%.100s': its own begin with '%.*s'",
                       token->pattern, (int)length, limits->pattern);
        return refuse(kid, err, what);
    }
    if (more != 0) {
        (void)snprintf(what, sizeof(what), "the scope %s", scope_names(more, names, sizeof(names)));
        return refuse(kid, err, what);
    }
    if (token->expires_s == 0 || token->expires_s > now_s + limits->life_s + SKEW_S) {
        (void)snprintf(what, sizeof(what), "a token that is valid for more than %" PRId64 " s",
                       limits->life_s);
        return refuse(kid, err, what);
    }
    return token->expires_s <= limits->until_s
               ? 0
               : refuse(kid, err, "a token that is valid after the end of the key");
}

void token_limits_print(const struct token_limits *limits, struct strbuf *out)
{
    char names[128];
    strbuf_printf(out, "%s %s %" PRId64 " %" PRId64, limits->pattern,
                  scope_names(limits->scopes, names, sizeof(names)), limits->life_s,
                  limits->until_s);
}

/* Copies the word at *at, and moves *at behind it and one blank.  Returns whether it fits. */
static bool next_word(const char **at, char *ret, size_t size)
{
    size_t length = strcspn(*at, " ");
    if (length == 0 || length >= size) {
        return false;
    }
    memcpy(ret, *at, length);
    ret[length] = '\0';
    *at += length + ((*at)[length] == ' ' ? 1 : 0);
    return true;
}

static bool read_scopes(const char *at, uint32_t *ret)
{
    char name[32];
    *ret = 0;
    while (*at != '\0') {
        size_t length = strcspn(at, ",");
        uint32_t bit;
        (void)snprintf(name, sizeof(name), "%.*s", (int)(length < 31 ? length : 31), at);
        if (scope_parse(name, &bit) != 0) {
            return false;
        }
        *ret |= bit;
        at += length + (at[length] == ',' ? 1 : 0);
    }
    return true;
}

int token_limits_parse(const char *text, struct token_limits *ret)
{
    struct token_limits limits = {.pattern = ""};
    char scopes[128], life[24], until[24];
    bool good = next_word(&text, limits.pattern, sizeof(limits.pattern)) &&
                next_word(&text, scopes, sizeof(scopes)) && next_word(&text, life, sizeof(life)) &&
                next_word(&text, until, sizeof(until)) && *text == '\0' &&
                read_scopes(scopes, &limits.scopes) &&
                text_parse_int64(life, &limits.life_s, NULL) == 0 &&
                text_parse_int64(until, &limits.until_s, NULL) == 0 &&
                token_limits_valid(&limits, NULL) == 0;
    if (!good) {
        return -EINVAL;
    }
    *ret = limits;
    return 0;
}
