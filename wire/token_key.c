/* wire/token_key.c - makes signing keys of the pool, and lets one vouch for another.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/secret_file.h"
#include "base/strbuf.h"
#include "wire/p256.h"
#include "wire/proof.h"
#include "wire/token.h"
#include "wire/token_key.h"

#define ENDORSEMENT_MAX 1024 /* bytes of its file */

static int pem_write(struct os *os, const char *dir, const char *kid, const struct evp_pkey_st *key,
                     bool is_private, struct err *err)
{
    struct strbuf path, pem;
    strbuf_init(&path, 4096);
    strbuf_init(&pem, P256_PEM_MAX);
    strbuf_printf(&path, "%s/%s.%s", dir, kid, is_private ? "key" : "pub");
    int rc = is_private ? p256_put_private(key, &pem) : p256_put_public(key, &pem);
    if (rc < 0 || path.failed) {
        rc = err_set(err, -ENOMEM, "signing key '%s' cannot be written in PEM format", kid);
    } else {
        rc = os_write_file(os, strbuf_text(&path), strbuf_text(&pem), pem.length,
                           is_private ? 0600 : 0644, true, err);
    }
    secret_wipe(pem.data, pem.length);
    strbuf_fini(&pem);
    strbuf_fini(&path);
    return rc;
}

bool token_kid_is_valid(const char *kid)
{
    static const char FIRST[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    size_t length = strlen(kid);
    if (length == 0 || length >= TOKEN_KID_MAX || strchr(FIRST, kid[0]) == NULL) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        if (kid[i] != '.' && strchr(FIRST, kid[i]) == NULL) {
            return false;
        }
    }
    return true;
}

/* Refuses to overwrite either half: a lone public key may belong to an administrator elsewhere,
 * whose tokens are valid. */
static int refuse_existing(struct os *os, const char *dir, const char *kid, struct err *err)
{
    static const char *const HALVES[] = {"key", "pub"};
    for (size_t i = 0; i < ARRAY_COUNT(HALVES); i++) {
        struct os_stat there;
        struct strbuf path;
        strbuf_init(&path, 4096);
        strbuf_printf(&path, "%s/%s.%s", dir, kid, HALVES[i]);
        int rc = os_stat(os, strbuf_text(&path), &there);
        strbuf_fini(&path);
        if (rc == 0) {
            return err_set(err, -EEXIST, "signing key '%s' exists already in %s (%s.%s)", kid, dir,
                           kid, HALVES[i]);
        }
    }
    return 0;
}

int token_key_make(struct os *os, struct loop *loop, const char *dir, const char *kid,
                   struct err *err)
{
    if (!token_kid_is_valid(kid)) {
        return err_set(err, -EINVAL, "'%s' is not a valid name for a signing key", kid);
    }
    int rc = refuse_existing(os, dir, kid, err);
    if (rc < 0) {
        return rc;
    }
    struct evp_pkey_st *key = NULL;
    rc = p256_make(loop, &key);
    if (rc < 0) {
        return err_set(err, rc, "cannot make signing key '%s'", kid);
    }
    rc = pem_write(os, dir, kid, key, true, err);
    if (rc == 0) {
        rc = pem_write(os, dir, kid, key, false, err);
    }
    p256_free(key);
    return rc;
}

int token_key_read(struct os *os, const char *path, char **pem, size_t *length, struct err *err)
{
    struct os_stat stat;
    int rc = os_stat(os, path, &stat);
    if (rc < 0) {
        return err_set(err, rc, "%s: %s", path, err_code_text(rc));
    }
    if ((stat.mode & 077) != 0) {
        return err_set(err, -EACCES, "%s: other users can read this signing key; run chmod 0600",
                       path);
    }
    return os_read_file(os, path, TOKEN_KEY_FILE_MAX, pem, length, err);
}

/* ---- endorsements ---------------------------------------------------------------------------- */

/* Puts the statement that kid is the name of this key. */
static void put_statement(const char *by, const char *kid, const uint8_t *point, struct strbuf *out)
{
    const struct proof_signing_key key = {.by = by, .kid = kid, .point = point};
    strbuf_init(out, 0);
    proof_put_signing_key(&key, out);
}

bool token_key_is_endorsed(const struct token_key_endorsement *endorsement, const char *kid,
                           struct evp_pkey_st *by)
{
    struct strbuf statement;
    put_statement(endorsement->by, kid, endorsement->point, &statement);
    bool good = p256_verify(by, strbuf_text(&statement), statement.length, endorsement->proof);
    strbuf_fini(&statement);
    return good;
}

int token_key_endorsement_read(struct os *os, const char *key_path,
                               struct token_key_endorsement *ret, struct err *err)
{
    struct strbuf path;
    char *text = NULL, *blank = NULL;
    size_t length = strlen(key_path);
    bool is_key = length > 4 && strcmp(key_path + length - 4, ".key") == 0;
    *ret = (struct token_key_endorsement){.by = ""};
    strbuf_init(&path, 4096);
    strbuf_printf(&path, "%.*s.by", (int)(is_key ? length - 4 : length), key_path);
    int rc = os_read_file(os, strbuf_text(&path), ENDORSEMENT_MAX, &text, &length, err);
    if (rc == 0) {
        text[strcspn(text, "\r\n")] = '\0';
        blank = strchr(text, ' ');
        if (blank != NULL) {
            *blank = '\0';
        }
        if (blank == NULL || !token_kid_is_valid(text) || !proof_from_text(blank + 1, ret->proof)) {
            rc = err_set(err, -EINVAL, "%s: expected the name of a signing key and its signature",
                         strbuf_text(&path));
        } else {
            memcpy(ret->by, text, strlen(text) + 1);
        }
    }
    mem_free(text);
    strbuf_fini(&path);
    return rc == -ENOENT ? 0 : rc;
}

static int public_key_read(struct os *os, const char *dir, const char *kid,
                           uint8_t ret[P256_POINT_BYTES], struct err *err)
{
    struct strbuf path;
    char *pem = NULL;
    size_t length = 0;
    strbuf_init(&path, 4096);
    strbuf_printf(&path, "%s/%s.pub", dir, kid);
    int rc = os_read_file(os, strbuf_text(&path), TOKEN_KEY_FILE_MAX, &pem, &length, err);
    if (rc == 0) {
        struct evp_pkey_st *key = p256_from_public_pem(pem, length);
        if (key == NULL) {
            rc = err_set(err, -EINVAL, "%s: not a public key of curve P-256 in PEM",
                         strbuf_text(&path));
        } else {
            p256_point(key, ret);
        }
        p256_free(key);
    }
    mem_free(pem);
    strbuf_fini(&path);
    return rc;
}

static int statement_sign(struct os *os, const char *dir, const char *by,
                          const struct strbuf *statement, uint8_t ret[PROOF_BYTES], struct err *err)
{
    struct strbuf path;
    char *pem = NULL;
    size_t length = 0;
    strbuf_init(&path, 4096);
    strbuf_printf(&path, "%s/%s.key", dir, by);
    int rc = token_key_read(os, strbuf_text(&path), &pem, &length, err);
    if (rc == 0) {
        struct evp_pkey_st *key = p256_from_private_pem(pem, length);
        rc = key == NULL ? -EINVAL : p256_sign(key, statement->data, statement->length, ret);
        rc = rc == 0 ? 0
                     : err_set(err, rc, "%s: not a private key of curve P-256 in PEM",
                               strbuf_text(&path));
        p256_free(key);
        secret_wipe(pem, length);
    }
    mem_free(pem);
    strbuf_fini(&path);
    return rc;
}

int token_key_endorse(struct os *os, const char *dir, const char *kid, const char *by,
                      struct err *err)
{
    uint8_t point[P256_POINT_BYTES], proof[PROOF_BYTES];
    char text[PROOF_TEXT_SIZE];
    struct strbuf statement, path, line;
    if (!token_kid_is_valid(kid) || !token_kid_is_valid(by) || strcmp(kid, by) == 0) {
        return err_set(
            err, -EINVAL,
            "signing key '%s' cannot endorse '%s': expected two valid and different names of keys",
            by, kid);
    }
    int rc = public_key_read(os, dir, kid, point, err);
    if (rc < 0) {
        return rc;
    }
    put_statement(by, kid, point, &statement);
    rc = statement_sign(os, dir, by, &statement, proof, err);
    strbuf_fini(&statement);
    if (rc < 0) {
        return rc;
    }
    proof_text(proof, text);
    strbuf_init(&path, 4096);
    strbuf_init(&line, 0);
    strbuf_printf(&path, "%s/%s.by", dir, kid);
    strbuf_printf(&line, "%s %s\n", by, text);
    rc = os_write_file(os, strbuf_text(&path), strbuf_text(&line), line.length, 0644, true, err);
    strbuf_fini(&line);
    strbuf_fini(&path);
    return rc;
}
