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
static void put_statement(const struct token_key_endorsement *endorsement, const char *kid,
                          struct strbuf *out)
{
    const struct proof_signing_key key = {.by = endorsement->by,
                                          .kid = kid,
                                          .point = endorsement->point,
                                          .limits = endorsement->limits};
    strbuf_init(out, 0);
    proof_put_signing_key(&key, out);
}

bool token_key_is_endorsed(const struct token_key_endorsement *endorsement, const char *kid,
                           struct evp_pkey_st *by)
{
    struct strbuf statement;
    put_statement(endorsement, kid, &statement);
    bool good = p256_verify(by, strbuf_text(&statement), statement.length, endorsement->proof);
    strbuf_fini(&statement);
    return good;
}

/* Splits the line of an endorsement.  Returns false if it is not one. */
static bool read_endorsement(char *line, struct token_key_endorsement *ret)
{
    char *proof = strchr(line, ' '), *limits = proof != NULL ? strchr(proof + 1, ' ') : NULL;
    struct token_limits parsed;
    if (proof == NULL) {
        return false;
    }
    *proof++ = '\0';
    if (limits != NULL) {
        *limits++ = '\0';
        if (strlen(limits) >= sizeof(ret->limits) || token_limits_parse(limits, &parsed) != 0) {
            return false;
        }
        memcpy(ret->limits, limits, strlen(limits) + 1);
    }
    if (!token_kid_is_valid(line) || !proof_from_text(proof, ret->proof)) {
        return false;
    }
    memcpy(ret->by, line, strlen(line) + 1);
    return true;
}

int token_key_endorsement_read(struct os *os, const char *key_path,
                               struct token_key_endorsement *ret, struct err *err)
{
    struct strbuf path;
    char *text = NULL;
    size_t length = strlen(key_path);
    bool is_key = length > 4 && strcmp(key_path + length - 4, ".key") == 0;
    *ret = (struct token_key_endorsement){.by = ""};
    strbuf_init(&path, 4096);
    strbuf_printf(&path, "%.*s.by", (int)(is_key ? length - 4 : length), key_path);
    int rc = os_read_file(os, strbuf_text(&path), ENDORSEMENT_MAX, &text, &length, err);
    if (rc == 0) {
        text[strcspn(text, "\r\n")] = '\0';
        if (!read_endorsement(text, ret)) {
            rc = err_set(err, -EINVAL,
                         "%s: expected the name of a signing key, its signature, and the limits "
                         "of a key that has any",
                         strbuf_text(&path));
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

/* Signs the endorsement, whose parts but the signature are there, and writes <kid>.by. */
static int endorsement_write(struct os *os, const char *dir, const char *kid,
                             struct token_key_endorsement *endorsement, struct err *err)
{
    char text[PROOF_TEXT_SIZE];
    struct strbuf statement, path, line;
    put_statement(endorsement, kid, &statement);
    int rc = statement_sign(os, dir, endorsement->by, &statement, endorsement->proof, err);
    strbuf_fini(&statement);
    if (rc < 0) {
        return rc;
    }
    proof_text(endorsement->proof, text);
    strbuf_init(&path, 4096);
    strbuf_init(&line, 0);
    strbuf_printf(&path, "%s/%s.by", dir, kid);
    strbuf_printf(&line, "%s %s%s%s\n", endorsement->by, text,
                  endorsement->limits[0] != '\0' ? " " : "", endorsement->limits);
    rc = os_write_file(os, strbuf_text(&path), strbuf_text(&line), line.length, 0644, true, err);
    strbuf_fini(&line);
    strbuf_fini(&path);
    return rc;
}

static int check_names(const char *kid, const char *by, struct err *err)
{
    return token_kid_is_valid(kid) && token_kid_is_valid(by) && strcmp(kid, by) != 0
               ? 0
               : err_set(err, -EINVAL,
                         "signing key '%s' cannot endorse '%s': expected two valid and different "
                         "names of keys",
                         by, kid);
}

int token_key_endorse(struct os *os, const char *dir, const char *kid, const char *by,
                      struct err *err)
{
    struct token_key_endorsement endorsement = {.limits = ""};
    int rc = check_names(kid, by, err);
    if (rc < 0) {
        return rc;
    }
    memcpy(endorsement.by, by, strlen(by) + 1);
    rc = public_key_read(os, dir, kid, endorsement.point, err);
    return rc < 0 ? rc : endorsement_write(os, dir, kid, &endorsement, err);
}

int token_key_make_limited(struct os *os, struct loop *loop, const char *dir,
                           const struct token_key_limited *spec, struct err *err)
{
    struct token_key_endorsement endorsement = {.limits = ""};
    struct evp_pkey_st *key = NULL;
    struct strbuf limits;
    int rc = check_names(spec->kid, spec->by, err);
    rc = rc < 0 ? rc : token_limits_valid(&spec->limits, err);
    rc = rc < 0 ? rc : refuse_existing(os, dir, spec->kid, err);
    if (rc < 0) {
        return rc;
    }
    rc = p256_make(loop, &key);
    if (rc < 0) {
        return err_set(err, rc, "cannot make signing key '%s'", spec->kid);
    }
    strbuf_init(&limits, 0);
    token_limits_print(&spec->limits, &limits);
    memcpy(endorsement.by, spec->by, strlen(spec->by) + 1);
    memcpy(endorsement.limits, strbuf_text(&limits), limits.length + 1);
    strbuf_fini(&limits);
    p256_point(key, endorsement.point);
    /* The endorsement first: a key without one would be of no use, and could not be made again. */
    rc = endorsement_write(os, dir, spec->kid, &endorsement, err);
    rc = rc < 0 ? rc : pem_write(os, dir, spec->kid, key, true, err);
    p256_free(key);
    return rc;
}
