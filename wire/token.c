/* wire/token.c - issues and checks tokens: JSON by jansson, signatures by p256.c.
 *
 * Before the signature is verified, only the token's header is parsed.  Claims are parsed only if
 * exactly these bytes were signed by a key that we have: then their author is somebody who holds
 * such a key.
 *
 * Rejected: libjwt (docs/decisions/0002-wire.md).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wire/token.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/secret_file.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "wire/base64url.h"
#include "wire/p256.h"
#include "wire/token_key.h"
#include "wire/token_limits.h"
#include "wire/verbs.h"

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
        list->rc =
            err_set(list->err, -E2BIG, "%s: too many signing keys, or the name '%s' is too long",
                    list->dir, name);
        return;
    }
    struct token_key *key = &list->keys->keys[list->keys->count];
    struct strbuf path;
    strbuf_init(&path, 4096);
    strbuf_printf(&path, "%s/%s", list->dir, name);
    char *pem = NULL;
    size_t pem_length = 0;
    list->rc = os_read_file(list->os, strbuf_text(&path), TOKEN_KEY_FILE_MAX, &pem, &pem_length,
                            list->err);
    if (list->rc == 0) {
        key->key = p256_from_public_pem(pem, pem_length);
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
        rc = err_set(err, -ENOENT, "%s: no signing keys (*.pub) in this directory", dir);
    }
    if (rc < 0) {
        token_keys_destroy(keys);
        return rc;
    }
    *ret = keys;
    return 0;
}

struct token_keys *token_keys_create(void)
{
    return mem_zalloc(sizeof(struct token_keys));
}

int token_keys_add(struct token_keys *keys, const char *kid, const char *pem, struct err *err)
{
    if (!token_kid_is_valid(kid)) {
        return err_set(err, -EINVAL, "'%.80s' is not a valid name for a signing key", kid);
    }
    if (keys->count == TOKEN_KEYS_MAX) {
        return err_set(err, -E2BIG, "more than %d signing keys", TOKEN_KEYS_MAX);
    }
    struct token_key *key = &keys->keys[keys->count];
    key->key = p256_from_public_pem(pem, strlen(pem));
    if (key->key == NULL) {
        return err_set(err, -EINVAL, "signing key '%s' is not a public key of curve P-256 in PEM",
                       kid);
    }
    memcpy(key->kid, kid, strlen(kid) + 1);
    keys->count++;
    return 0;
}

void token_keys_destroy(struct token_keys *keys)
{
    if (keys == NULL) {
        return;
    }
    for (size_t i = 0; i < keys->count; i++) {
        p256_free(keys->keys[i].key);
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

/* Checks a token that a key with these limits has signed, or is to sign; "": it has none. */
static int limits_check(const char *text, const char *kid, const struct token *token, int64_t now_s,
                        struct err *err)
{
    struct token_limits limits;
    if (text[0] == '\0') {
        return 0;
    }
    return token_limits_parse(text, &limits) == 0
               ? token_limits_check(&limits, kid, token, now_s, err)
               : err_set(err, -EINVAL, "malformed token: header 'limits' cannot be read");
}

/* ---- issuing --------------------------------------------------------------------------------- */

/* Makes the JSON of a public key, as in RFC 7517. */
static json_t *jwk_make(const uint8_t point[P256_POINT_BYTES])
{
    struct strbuf x, y;
    strbuf_init(&x, 0);
    strbuf_init(&y, 0);
    base64url_encode(&x, point, P256_POINT_BYTES / 2);
    base64url_encode(&y, point + P256_POINT_BYTES / 2, P256_POINT_BYTES / 2);
    json_t *jwk = json_pack("{s:s, s:s, s:s, s:s}", "kty", "EC", "crv", "P-256", "x",
                            strbuf_text(&x), "y", strbuf_text(&y));
    strbuf_fini(&x);
    strbuf_fini(&y);
    return jwk;
}

/* Makes the header; with the signing key itself if another key vouches for it. */
static json_t *header_make(const char *kid, const struct token_key_endorsement *endorsement)
{
    json_t *header = json_pack("{s:s, s:s, s:s}", "alg", "ES256", "typ", "JWT", "kid", kid);
    if (header == NULL || endorsement->by[0] == '\0') {
        return header;
    }
    char proof[PROOF_TEXT_SIZE];
    proof_text(endorsement->proof, proof);
    bool good = json_object_set_new(header, "jwk", jwk_make(endorsement->point)) == 0 &&
                json_object_set_new(header, "by", json_string(endorsement->by)) == 0 &&
                json_object_set_new(header, "by_proof", json_string(proof)) == 0 &&
                (endorsement->limits[0] == '\0' ||
                 json_object_set_new(header, "limits", json_string(endorsement->limits)) == 0);
    if (!good) {
        json_decref(header);
    }
    return good ? header : NULL;
}

static json_t *claims_make(const struct token *token)
{
    char scopes[128];
    (void)scope_names(token->scopes, scopes, sizeof scopes);
    for (char *at = scopes; *at != '\0'; at++) {
        *at = *at == ',' ? ' ' : *at;
    }
    json_t *claims =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:{s:o}}", "sub", token->identity, "scope",
                  scopes, "iss", token->pool, "aud", token->pool, "jti", token->id, "iat",
                  (json_int_t)token->issued_s, "cnf", "jwk", jwk_make(token->holder));
    bool good = claims != NULL;
    if (good && token->not_before_s != 0) {
        good = json_object_set_new(claims, "nbf", json_integer(token->not_before_s)) == 0;
    }
    if (good && token->expires_s != 0) {
        good = json_object_set_new(claims, "exp", json_integer(token->expires_s)) == 0;
    }
    if (good && token->pattern[0] != '\0') {
        good = json_object_set_new(claims, "pattern", json_string(token->pattern)) == 0;
    }
    if (good && token->uid_domain[0] != '\0') {
        good = json_object_set_new(claims, "uid_domain", json_string(token->uid_domain)) == 0;
    }
    if (good && token->owners[0] != '\0') {
        good = json_object_set_new(claims, "owners", json_string(token->owners)) == 0;
    }
    if (good && token->slots != 0) {
        good = json_object_set_new(claims, "slots", json_integer(token->slots)) == 0;
    }
    if (!good) {
        json_decref(claims);
        return NULL;
    }
    return claims;
}

/* Appends one part of a token; takes over json.  -EINVAL: json is NULL or has texts that are not
 * UTF-8. */
static int part_append(struct strbuf *out, json_t *json)
{
    char *text = json == NULL ? NULL : json_dumps(json, JSON_COMPACT);
    json_decref(json);
    if (text == NULL) {
        return -EINVAL;
    }
    base64url_encode(out, text, strlen(text));
    free(text);
    return 0;
}

/* Appends the signature; -EINVAL if key is NULL. */
static int sign_text(struct evp_pkey_st *key, struct strbuf *text)
{
    uint8_t signature[P256_SIGNATURE_BYTES];
    int rc = key == NULL ? -EINVAL : p256_sign(key, strbuf_text(text), text->length, signature);
    if (rc == 0) {
        strbuf_putc(text, '.');
        base64url_encode(text, signature, sizeof signature);
    }
    return rc;
}

int token_sign(const char *pem, size_t pem_length, struct strbuf *text)
{
    struct evp_pkey_st *key = p256_from_private_pem(pem, pem_length);
    int rc = sign_text(key, text);
    p256_free(key);
    return rc;
}

int token_issue(struct os *os, const char *key_path, const char *kid, const struct token *token,
                char **ret, struct err *err)
{
    static const uint8_t NOBODY[P256_POINT_BYTES];
    char *pem = NULL;
    size_t pem_length = 0;
    if (token->id[0] == '\0' || memcmp(token->holder, NOBODY, sizeof NOBODY) == 0) {
        return err_set(err, -EINVAL, "token for '%s' has no id, or no key of its holder",
                       token->identity);
    }
    int rc = token_key_read(os, key_path, &pem, &pem_length, err);
    if (rc < 0) {
        return rc;
    }
    struct token_key_endorsement endorsement;
    rc = token_key_endorsement_read(os, key_path, &endorsement, err);
    rc = rc < 0 ? rc : limits_check(endorsement.limits, kid, token, token->issued_s, err);
    struct evp_pkey_st *key = rc < 0 ? NULL : p256_from_private_pem(pem, pem_length);
    secret_wipe(pem, pem_length);
    mem_free(pem);
    if (rc < 0) {
        return rc;
    }
    if (key == NULL) {
        return err_set(err, -EINVAL,
                       "%s: not a private key of curve P-256 in PEM, or locked by a passphrase",
                       key_path);
    }
    struct strbuf text;
    strbuf_init(&text, 0);
    p256_point(key, endorsement.point);
    rc = part_append(&text, header_make(kid, &endorsement));
    strbuf_putc(&text, '.');
    rc = rc < 0 ? rc : part_append(&text, claims_make(token));
    rc = rc < 0 ? rc : sign_text(key, &text);
    if (rc < 0) {
        (void)err_set(err, rc, "cannot sign a token for '%.200s': a text in it is not valid UTF-8",
                      token->identity);
    } else if (text.length > TOKEN_TEXT_MAX) {
        rc = err_set(err, -E2BIG, "token for '%s' is longer than %d bytes", token->identity,
                     TOKEN_TEXT_MAX);
    } else {
        *ret = mem_strdup(strbuf_text(&text));
    }
    p256_free(key);
    strbuf_fini(&text);
    return rc;
}

int token_issue_file(struct os *os, struct loop *loop, const char *key_path, const char *kid,
                     const struct token *token, char **ret, struct err *err)
{
    struct evp_pkey_st *key = NULL;
    int rc = p256_make(loop, &key);
    if (rc < 0) {
        return err_set(err, rc, "cannot make the key of the token's holder");
    }
    struct token bound = *token;
    char *line = NULL;
    p256_point(key, bound.holder);
    rc = token_issue(os, key_path, kid, &bound, &line, err);
    if (rc == 0) {
        struct strbuf text;
        strbuf_init(&text, TOKEN_FILE_MAX);
        strbuf_printf(&text, "%s\n", line);
        rc = p256_put_private(key, &text);
        if (rc == 0) {
            *ret = strbuf_take(&text);
        } else {
            rc = err_set(err, rc, "cannot write the key of the token's holder in PEM format");
        }
        strbuf_fini(&text);
    }
    mem_free(line);
    p256_free(key);
    return rc;
}

int token_file_parse(const char *text, char **token, struct evp_pkey_st **key, struct err *err)
{
    const char *pem = strstr(text, "-----BEGIN");
    struct evp_pkey_st *found = NULL;
    if (pem != NULL) {
        found = p256_from_private_pem(pem, strlen(pem));
        if (found == NULL) {
            return err_set(err, -EINVAL, "no private key of curve P-256 after the token");
        }
    }
    const char *begin = text + strspn(text, " \t\r\n");
    *token = mem_strndup(begin, begin == pem ? 0 : strcspn(begin, " \t\r\n"));
    *key = found;
    return 0;
}

/* ---- checking -------------------------------------------------------------------------------- */

/* Reads a text claim; "" if missing.  Control characters are refused, because they would break log
 * lines. */
static int claim_text(const json_t *claims, const char *name, char *ret, size_t size,
                      struct err *err)
{
    const json_t *claim = json_object_get(claims, name);
    const char *text = claim == NULL ? "" : json_string_value(claim);
    if (text == NULL) {
        return err_set(err, -EINVAL, "malformed token: claim '%s' is not a text", name);
    }
    size_t length = strlen(text); /* json_parse() allows no zero in a text */
    if (length >= size) {
        return err_set(err, -EINVAL, "malformed token: claim '%s' is longer than %zu bytes", name,
                       size - 1);
    }
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f) {
            return err_set(err, -EINVAL, "malformed token: claim '%s' contains a control character",
                           name);
        }
    }
    memcpy(ret, text, length + 1);
    return 0;
}

/* Reads an integer claim; 0 if missing. */
static int claim_number(const json_t *claims, const char *name, int64_t *ret, struct err *err)
{
    const json_t *claim = json_object_get(claims, name);
    if (claim != NULL && (!json_is_integer(claim) || json_integer_value(claim) < 0)) {
        return err_set(err, -EINVAL, "malformed token: claim '%s' is not a time", name);
    }
    *ret = json_integer_value(claim);
    return 0;
}

/* Reads the number of slots; 0 if missing. */
static int claim_slots(const json_t *claims, uint32_t *ret, struct err *err)
{
    const json_t *claim = json_object_get(claims, "slots");
    json_int_t value = json_integer_value(claim);
    if (claim != NULL && (!json_is_integer(claim) || value < 1 || value > TOKEN_SLOTS_MAX)) {
        return err_set(err, -EINVAL, "malformed token: claim 'slots' is not a number from 1 to %d",
                       TOKEN_SLOTS_MAX);
    }
    *ret = (uint32_t)value;
    return 0;
}

static int claim_scopes(const json_t *claims, uint32_t *ret, struct err *err)
{
    char text[512];
    int rc = claim_text(claims, "scope", text, sizeof text, err);
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

/* Reads a coordinate of 32 bytes. */
static bool claim_coordinate(const json_t *jwk, const char *name, uint8_t *ret)
{
    const char *text = json_string_value(json_object_get(jwk, name));
    return text != NULL &&
           base64url_decode(text, strlen(text), ret, P256_POINT_BYTES / 2) == P256_POINT_BYTES / 2;
}

static bool is_text(const json_t *json, const char *expected)
{
    const char *text = json_string_value(json);
    return text != NULL && strcmp(text, expected) == 0;
}

static bool jwk_get(const json_t *jwk, uint8_t ret[P256_POINT_BYTES])
{
    return is_text(json_object_get(jwk, "kty"), "EC") &&
           is_text(json_object_get(jwk, "crv"), "P-256") && claim_coordinate(jwk, "x", ret) &&
           claim_coordinate(jwk, "y", ret + P256_POINT_BYTES / 2);
}

static int claim_holder(const json_t *claims, struct token *token, struct err *err)
{
    const json_t *cnf = json_object_get(claims, "cnf");
    const json_t *jwk = json_object_get(cnf, "jwk");
    if (cnf == NULL) {
        return err_set(err, -EKEYREJECTED,
                       "token is not bound to a key of its holder (id '%s' of %s, made by an older "
                       "version); make a new token with `roost token create`",
                       token->id, token->identity);
    }
    if (!jwk_get(jwk, token->holder)) {
        return err_set(err, -EINVAL,
                       "malformed token: claim 'cnf' does not contain a public key of P-256");
    }
    return 0;
}

/* Checks who made the token and for whom: a pool's tokens are valid for that pool only. */
static int claim_pool(const json_t *claims, struct token *token, struct err *err)
{
    char issuer[sizeof token->pool];
    int rc = claim_text(claims, "aud", token->pool, sizeof token->pool, err);
    rc = rc < 0 ? rc : claim_text(claims, "iss", issuer, sizeof issuer, err);
    if (rc == 0 && strcmp(issuer, token->pool) != 0) {
        rc = err_set(err, -EINVAL,
                     "malformed token: made by pool '%s' (claim 'iss') for pool '%s' (claim 'aud')",
                     issuer, token->pool);
    }
    return rc;
}

static int claims_get(const json_t *claims, struct token *token, struct err *err)
{
    int rc = claim_text(claims, "sub", token->identity, sizeof token->identity, err);
    rc = rc < 0 ? rc : claim_text(claims, "jti", token->id, sizeof token->id, err);
    rc = rc < 0 ? rc : claim_text(claims, "pattern", token->pattern, sizeof token->pattern, err);
    rc = rc < 0
             ? rc
             : claim_text(claims, "uid_domain", token->uid_domain, sizeof token->uid_domain, err);
    rc = rc < 0 ? rc : claim_text(claims, "owners", token->owners, sizeof token->owners, err);
    rc = rc < 0 ? rc : claim_scopes(claims, &token->scopes, err);
    rc = rc < 0 ? rc : claim_slots(claims, &token->slots, err);
    rc = rc < 0 ? rc : claim_number(claims, "iat", &token->issued_s, err);
    rc = rc < 0 ? rc : claim_number(claims, "exp", &token->expires_s, err);
    rc = rc < 0 ? rc : claim_number(claims, "nbf", &token->not_before_s, err);
    /* An exp of 0, said in so many words, is 1970, not never. */
    if (rc == 0 && token->expires_s == 0 && json_object_get(claims, "exp") != NULL) {
        token->expires_s = 1;
    }
    if (rc == 0 && token->identity[0] == '\0') {
        rc = err_set(err, -EINVAL, "malformed token: no identity (claim 'sub')");
    }
    if (rc == 0 && token->id[0] == '\0') {
        rc = err_set(err, -EINVAL,
                     "malformed token: no id (claim 'jti'); a token without an id is refused, "
                     "because it cannot be revoked");
    }
    rc = rc < 0 ? rc : claim_holder(claims, token, err);
    return rc < 0 ? rc : claim_pool(claims, token, err);
}

/* Positions of a token's three parts. */
struct parts {
    size_t header_length;
    const char *claims;
    size_t claims_length;
    const char *signature;
};

/* Splits the token into exactly three parts, so that everything that is read is signed. */
static bool parts_find(const char *text, struct parts *ret)
{
    const char *first = strchr(text, '.');
    const char *second = first == NULL ? NULL : strchr(first + 1, '.');
    if (second == NULL || strchr(second + 1, '.') != NULL) {
        return false;
    }
    *ret = (struct parts){.header_length = (size_t)(first - text),
                          .claims = first + 1,
                          .claims_length = (size_t)(second - first - 1),
                          .signature = second + 1};
    return true;
}

/* Returns the JSON object in a part, owned by the caller; NULL: there is none. */
static json_t *json_parse(const char *text, size_t length)
{
    char bytes[TOKEN_TEXT_MAX];
    ssize_t decoded = base64url_decode(text, length, bytes, sizeof bytes);
    json_t *json =
        decoded < 0 ? NULL : json_loadb(bytes, (size_t)decoded, JSON_REJECT_DUPLICATES, NULL);
    if (!json_is_object(json)) {
        json_decref(json);
        return NULL;
    }
    return json;
}

/* Reads the header `limits`: it is missing where the key has none. */
static bool header_limits(const json_t *header, char ret[TOKEN_LIMITS_TEXT])
{
    const json_t *limits = json_object_get(header, "limits");
    const char *text = limits == NULL ? "" : json_string_value(limits);
    if (text == NULL || strlen(text) >= TOKEN_LIMITS_TEXT || (limits != NULL && text[0] == '\0')) {
        return false;
    }
    memcpy(ret, text, strlen(text) + 1);
    return true;
}

/* What a token's signature was checked with. */
struct signer {
    const char *kid;
    char limits[TOKEN_LIMITS_TEXT]; /* of the key; "": none */
};

/* Returns the key in the header, which we have no file of, if one of our keys vouches for it; owned
 * by the caller.  Sets signer->limits. */
static int endorsed_key(const struct token_keys *keys, const json_t *header, struct signer *signer,
                        struct evp_pkey_st **ret, struct err *err)
{
    struct token_key_endorsement endorsement = {.by = ""};
    const char *kid = signer->kid;
    const char *by = json_string_value(json_object_get(header, "by"));
    const char *proof = json_string_value(json_object_get(header, "by_proof"));
    if (by == NULL || !token_kid_is_valid(kid)) {
        return err_set(err, -EKEYREJECTED, "token is signed with unknown key '%s'", kid);
    }
    if (proof == NULL || !proof_from_text(proof, endorsement.proof) ||
        !jwk_get(json_object_get(header, "jwk"), endorsement.point) ||
        !header_limits(header, endorsement.limits)) {
        return err_set(err, -EINVAL,
                       "malformed token: headers 'jwk', 'by_proof' and 'limits' do not show how "
                       "'%.80s' endorses the key",
                       by);
    }
    const struct token_key *known = key_find(keys, by);
    if (known == NULL) {
        return err_set(err, -EKEYREJECTED,
                       "token is signed with unknown key '%s', and the key '%.80s' that endorses "
                       "it is unknown, too",
                       kid, by);
    }
    (void)snprintf(endorsement.by, sizeof endorsement.by, "%s", by);
    struct evp_pkey_st *key = p256_from_point(endorsement.point);
    if (key == NULL || !token_key_is_endorsed(&endorsement, kid, known->key)) {
        p256_free(key);
        return err_set(err, -EKEYREJECTED,
                       "token is signed with unknown key '%s', which '%s' has not endorsed", kid,
                       by);
    }
    memcpy(signer->limits, endorsement.limits, sizeof(signer->limits));
    *ret = key;
    return 0;
}

/* Verifies header and signature with our keys; 0: valid. */
static int signature_check(const struct token_keys *keys, const json_t *header, const char *text,
                           const struct parts *parts, struct signer *signer, struct err *err)
{
    const char *algorithm = json_string_value(json_object_get(header, "alg"));
    const char *kid = json_string_value(json_object_get(header, "kid"));
    const struct token_key *key = kid == NULL ? NULL : key_find(keys, kid);
    if (algorithm == NULL || strcmp(algorithm, "ES256") != 0) {
        return err_set(err, -EINVAL, "malformed token: its algorithm is not ES256");
    }
    if (json_object_get(header, "crit") != NULL) {
        return err_set(err, -EINVAL, "malformed token: header 'crit' names unknown extensions");
    }
    if (kid == NULL) {
        return err_set(err, -EINVAL, "malformed token: header 'kid' is missing");
    }
    *signer = (struct signer){.kid = kid};
    struct evp_pkey_st *endorsed = NULL;
    int rc = key != NULL ? 0 : endorsed_key(keys, header, signer, &endorsed, err);
    if (rc < 0) {
        return rc;
    }
    uint8_t signature[P256_SIGNATURE_BYTES];
    if (base64url_decode(parts->signature, strlen(parts->signature), signature, sizeof signature) !=
            sizeof signature ||
        !p256_verify(key != NULL ? key->key : endorsed, text, (size_t)(parts->signature - 1 - text),
                     signature)) {
        rc = err_set(err, -EKEYREJECTED, "token signature is wrong (key '%s')", kid);
    }
    p256_free(endorsed);
    return rc;
}

/* Parses a token.  keys NULL: neither the signature nor what its key may sign is checked. */
static int parse_token(const struct token_keys *keys, const char *text, int64_t now_s,
                       struct token *token, struct err *err)
{
    struct parts parts = {0};
    struct signer signer = {.kid = ""};
    json_t *header = parts_find(text, &parts) ? json_parse(text, parts.header_length) : NULL;
    if (header == NULL) {
        return err_set(err, -EINVAL, "malformed token: not a JWT");
    }
    int rc = keys == NULL ? 0 : signature_check(keys, header, text, &parts, &signer, err);
    if (rc == 0) {
        json_t *claims = json_parse(parts.claims, parts.claims_length);
        rc = claims != NULL
                 ? claims_get(claims, token, err)
                 : err_set(err, -EINVAL, "malformed token: its claims are not a JSON object");
        json_decref(claims);
    }
    rc = rc < 0 ? rc : limits_check(signer.limits, signer.kid, token, now_s, err);
    json_decref(header);
    return rc;
}

int token_peek(const char *text, struct token *ret, struct err *err)
{
    struct token token = {.scopes = 0};
    int rc = parse_token(NULL, text, 0, &token, err);
    if (rc == 0) {
        *ret = token;
    }
    return rc;
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
    CHECK(keys != NULL);
    struct token token = {0};
    int rc = parse_token(keys, text, now_s, &token, err);
    if (rc < 0) {
        return rc;
    }
    *ret = token;
    return token_check_dates(&token, now_s, err);
}

int token_check_dates(const struct token *token, int64_t now_s, struct err *err)
{
    char when[TEXT_UTC_MAX];
    if (token->expires_s != 0 && token->expires_s <= now_s) {
        text_utc_s(token->expires_s, when);
        return err_set(err, -EKEYEXPIRED, "token expired at %s (id '%s' of %s)", when, token->id,
                       token->identity);
    }
    if (token->not_before_s > now_s) {
        text_utc_s(token->not_before_s, when);
        return err_set(err, -EKEYREJECTED, "token is valid from %s on (id '%s' of %s)", when,
                       token->id, token->identity);
    }
    return 0;
}
