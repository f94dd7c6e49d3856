/* wire/token.c - issuing and checking tokens through libjwt.
 *
 * libjwt parses a token without a key (it would parse that key anew for each token, see
 * token_key.h); before a claim is looked at, the header must say ES256 and a key that we have, and
 * the signature over exactly these bytes must be that key's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wire/token.h"

#include <errno.h>
#include <jwt.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "wire/token_key.h"
#include "wire/verbs.h"

#define KEY_FILE_MAX 16384 /* bytes of a PEM file */

struct token_key {
    char kid[TOKEN_KID_MAX];
    struct evp_pkey_st *key;
};

struct token_keys {
    struct token_key keys[TOKEN_KEYS_MAX];
    size_t count;
};

/* ---- keys ------------------------------------------------------------------------------------ */

struct key_list {
    struct os *os;
    const char *dir;
    struct token_keys *keys;
    struct err *err;
    int rc;
};

static void key_load(void *arg, const char *name)
{
    struct key_list *list = arg;
    size_t length = strlen(name);
    if (list->rc < 0 || length <= 4 || strcmp(name + length - 4, ".pub") != 0) {
        return;
    }
    length -= 4;
    if (length >= TOKEN_KID_MAX || list->keys->count == TOKEN_KEYS_MAX) {
        list->rc = err_set(list->err, -E2BIG, "%s: too many signing keys, or name '%s' too long",
                           list->dir, name);
        return;
    }
    struct token_key *key = &list->keys->keys[list->keys->count];
    struct strbuf path;
    strbuf_init(&path, 4096);
    strbuf_printf(&path, "%s/%s", list->dir, name);
    char *pem = NULL;
    size_t pem_length = 0;
    list->rc =
        os_read_file(list->os, strbuf_text(&path), KEY_FILE_MAX, &pem, &pem_length, list->err);
    if (list->rc == 0) {
        key->key = token_key_public(pem, pem_length);
        if (key->key == NULL) {
            list->rc = err_set(list->err, -EINVAL, "%s: not a public key of curve P-256 in PEM",
                               strbuf_text(&path));
        } else {
            memcpy(key->kid, name, length);
            list->keys->count++;
        }
    }
    mem_free(pem);
    strbuf_fini(&path);
}

int token_keys_load(struct os *os, const char *dir, struct token_keys **ret, struct err *err)
{
    struct token_keys *keys = mem_zalloc(sizeof *keys);
    struct key_list list = {.os = os, .dir = dir, .keys = keys, .err = err};
    int rc = os_list(os, dir, key_load, &list, err);
    if (rc == 0) {
        rc = list.rc;
    }
    if (rc == 0 && keys->count == 0) {
        rc = err_set(err, -ENOENT, "%s: no signing keys (*.pub) here", dir);
    }
    if (rc < 0) {
        token_keys_destroy(keys);
        return rc;
    }
    *ret = keys;
    return 0;
}

void token_keys_destroy(struct token_keys *keys)
{
    if (keys == NULL) {
        return;
    }
    for (size_t i = 0; i < keys->count; i++) {
        token_key_free(keys->keys[i].key);
    }
    mem_free(keys);
}

size_t token_keys_count(const struct token_keys *keys)
{
    return keys->count;
}

static const struct token_key *key_find(const struct token_keys *keys, const char *kid)
{
    for (size_t i = 0; i < keys->count; i++) {
        if (strcmp(keys->keys[i].kid, kid) == 0) {
            return &keys->keys[i];
        }
    }
    return NULL;
}

/* ---- issuing --------------------------------------------------------------------------------- */

static int claims_put(jwt_t *jwt, const struct token *token)
{
    char scopes[128];
    (void)scope_names(token->scopes, scopes, sizeof scopes);
    for (char *at = scopes; *at != '\0'; at++) {
        *at = *at == ',' ? ' ' : *at;
    }
    int rc = jwt_add_grant(jwt, "sub", token->identity);
    rc = rc != 0 ? rc : jwt_add_grant(jwt, "scope", scopes);
    rc = rc != 0 ? rc : jwt_add_grant(jwt, "iss", token->pool);
    rc = rc != 0 ? rc : jwt_add_grant(jwt, "jti", token->id);
    rc = rc != 0 ? rc : jwt_add_grant_int(jwt, "iat", (long)token->issued_s);
    if (rc == 0 && token->expires_s != 0) {
        rc = jwt_add_grant_int(jwt, "exp", (long)token->expires_s);
    }
    if (rc == 0 && token->pattern[0] != '\0') {
        rc = jwt_add_grant(jwt, "pattern", token->pattern);
    }
    return rc;
}

static int key_read(struct os *os, const char *path, char **pem, size_t *length, struct err *err)
{
    struct os_stat stat;
    int rc = os_stat(os, path, &stat);
    if (rc < 0) {
        return err_set(err, rc, "%s: %s", path, err_code_text(rc));
    }
    if ((stat.mode & 077) != 0) {
        return err_set(err, -EACCES, "%s: a signing key that others may read: make its mode 0600",
                       path);
    }
    return os_read_file(os, path, KEY_FILE_MAX, pem, length, err);
}

int token_issue(struct os *os, const char *key_path, const char *kid, const struct token *token,
                char **ret, struct err *err)
{
    char *pem = NULL;
    size_t pem_length = 0;
    jwt_t *jwt = NULL;
    char *text = NULL;
    int rc = key_read(os, key_path, &pem, &pem_length, err);
    if (rc < 0) {
        return rc;
    }
    int failed = jwt_new(&jwt);
    failed = failed != 0 ? failed : claims_put(jwt, token);
    failed = failed != 0 ? failed : jwt_add_header(jwt, "kid", kid);
    failed = failed != 0
                 ? failed
                 : jwt_set_alg(jwt, JWT_ALG_ES256, (const unsigned char *)pem, (int)pem_length);
    text = failed != 0 ? NULL : jwt_encode_str(jwt);
    if (text == NULL) {
        rc = err_set(err, -EINVAL, "%s: cannot sign a token for '%s' with this key", key_path,
                     token->identity);
    } else if (strlen(text) > TOKEN_TEXT_MAX) {
        rc = err_set(err, -E2BIG, "token for '%s' is longer than %d bytes", token->identity,
                     TOKEN_TEXT_MAX);
    } else {
        *ret = mem_strdup(text);
    }
    free(text);
    jwt_free(jwt);
    memset(pem, 0, pem_length);
    mem_free(pem);
    return rc;
}

/* ---- checking -------------------------------------------------------------------------------- */

/* A text of a claim; absent is "".  Control characters would break log lines: refused. */
static int claim_text(jwt_t *jwt, const char *name, char *ret, size_t size, struct err *err)
{
    const char *text = jwt_get_grant(jwt, name);
    size_t length = text == NULL ? 0 : strlen(text);
    if (length >= size) {
        return err_set(err, -EINVAL, "malformed token: claim '%s' is longer than %zu bytes", name,
                       size - 1);
    }
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f) {
            return err_set(err, -EINVAL, "malformed token: control character in claim '%s'", name);
        }
    }
    memcpy(ret, text == NULL ? "" : text, length + 1);
    return 0;
}

/* A whole number; absent is 0.  jwt_get_grant_int() would read "never" as 0, too. */
static int claim_number(jwt_t *jwt, const char *name, int64_t *ret, struct err *err)
{
    char *json = jwt_get_grants_json(jwt, name);
    if (json == NULL) {
        *ret = 0;
        return 0;
    }
    int64_t number = 0;
    int rc = text_parse_int64(json, &number, NULL);
    free(json);
    if (rc < 0 || number < 0) {
        return err_set(err, -EINVAL, "malformed token: claim '%s' is no time", name);
    }
    *ret = number;
    return 0;
}

static int claim_scopes(jwt_t *jwt, uint32_t *ret, struct err *err)
{
    char text[512];
    int rc = claim_text(jwt, "scope", text, sizeof text, err);
    if (rc < 0) {
        return rc;
    }
    uint32_t scopes = 0;
    for (char *at = text; *at != '\0';) {
        size_t length = strcspn(at, " ,");
        char *next = at + length + (at[length] != '\0' ? 1 : 0);
        at[length] = '\0';
        uint32_t bit = 0;
        if (scope_parse(at, &bit) == 0) {
            scopes |= bit;
        }
        at = next;
    }
    *ret = scopes;
    return 0;
}

static int claims_get(jwt_t *jwt, struct token *token, struct err *err)
{
    int rc = claim_text(jwt, "sub", token->identity, sizeof token->identity, err);
    rc = rc < 0 ? rc : claim_text(jwt, "jti", token->id, sizeof token->id, err);
    rc = rc < 0 ? rc : claim_text(jwt, "iss", token->pool, sizeof token->pool, err);
    rc = rc < 0 ? rc : claim_text(jwt, "pattern", token->pattern, sizeof token->pattern, err);
    rc = rc < 0 ? rc : claim_scopes(jwt, &token->scopes, err);
    rc = rc < 0 ? rc : claim_number(jwt, "iat", &token->issued_s, err);
    /* An exp of 0, said in so many words, is 1970, not never. */
    char *expires = jwt_get_grants_json(jwt, "exp");
    rc = rc < 0 ? rc : claim_number(jwt, "exp", &token->expires_s, err);
    if (rc == 0 && expires != NULL && token->expires_s == 0) {
        token->expires_s = 1;
    }
    free(expires);
    if (rc == 0 && token->identity[0] == '\0') {
        rc = err_set(err, -EINVAL, "malformed token: no identity (claim 'sub')");
    }
    return rc;
}

/* Header and signature: 0 when the text is one of ours. */
static int signature_check(const struct token_keys *keys, jwt_t *jwt, const char *text,
                           struct err *err)
{
    const char *signature = strrchr(text, '.');
    const char *kid = jwt_get_header(jwt, "kid");
    const struct token_key *key = kid == NULL ? NULL : key_find(keys, kid);
    /* Without a key libjwt calls every algorithm "none": the header says which it is. */
    const char *algorithm = jwt_get_header(jwt, "alg");
    if (algorithm == NULL || strcmp(algorithm, "ES256") != 0) {
        return err_set(err, -EINVAL, "malformed token: its algorithm is not ES256");
    }
    if (kid == NULL) {
        return err_set(err, -EINVAL, "malformed token: no key named (header 'kid')");
    }
    if (key == NULL) {
        return err_set(err, -EKEYREJECTED, "token is signed with unknown key '%s'", kid);
    }
    if (!token_key_verify(key->key, text, (size_t)(signature - text), signature + 1)) {
        return err_set(err, -EKEYREJECTED, "token signature is wrong (key '%s')", kid);
    }
    return 0;
}

/* Three parts, no more: what is signed must be all that libjwt reads. */
static bool has_two_dots(const char *text)
{
    unsigned dots = 0;
    for (const char *at = text; *at != '\0'; at++) {
        dots += *at == '.';
    }
    return dots == 2;
}

int token_check(const struct token_keys *keys, const char *text, int64_t now_s, struct token *ret,
                struct err *err)
{
    if (text == NULL || text[0] == '\0') {
        return err_set(err, -ENOKEY, "no token");
    }
    if (strlen(text) > TOKEN_TEXT_MAX) {
        return err_set(err, -EINVAL, "malformed token: longer than %d bytes", TOKEN_TEXT_MAX);
    }
    jwt_t *jwt = NULL;
    if (!has_two_dots(text) || jwt_decode(&jwt, text, NULL, 0) != 0) {
        return err_set(err, -EINVAL, "malformed token: not a JWT");
    }
    struct token token = {0};
    int rc = signature_check(keys, jwt, text, err);
    rc = rc < 0 ? rc : claims_get(jwt, &token, err);
    jwt_free(jwt);
    if (rc < 0) {
        return rc;
    }
    *ret = token;
    if (token.expires_s != 0 && token.expires_s <= now_s) {
        char when[TEXT_UTC_MAX];
        text_utc_s(token.expires_s, when);
        return err_set(err, -EKEYEXPIRED, "token expired at %s (id '%s' of %s)", when, token.id,
                       token.identity);
    }
    return 0;
}
