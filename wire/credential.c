/* wire/credential.c - see credential.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wire/credential.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/secret_file.h"
#include "base/strbuf.h"

static void forget_token(struct credential *credential)
{
    mem_free(credential->text);
    p256_free(credential->key);
    credential->text = NULL;
    credential->key = NULL;
    credential->token = (struct token){.scopes = 0};
}

void credential_init(struct credential *credential, const char *path)
{
    *credential = (struct credential){.path = path == NULL ? NULL : mem_strdup(path)};
}

void credential_fini(struct credential *credential)
{
    forget_token(credential);
    mem_free(credential->path);
    credential->path = NULL;
}

void credential_change(struct credential *credential, const char *path)
{
    char *copy = path == NULL ? NULL : mem_strdup(path);
    credential_fini(credential);
    credential->path = copy;
    credential->was_read = false;
}

static int judge_file(struct credential *credential, const char *path, struct err *err)
{
    if (credential->text[0] == '\0') {
        return err_set(err, -ENOKEY, "no token in %s", path);
    }
    int rc = token_peek(credential->text, &credential->token, err);
    if (rc == 0 && credential->key == NULL) {
        rc = err_set(err, -EKEYREJECTED,
                     "%s: the private key of the token is missing; the file that `roost token "
                     "create` wrote has the key after the token",
                     path);
    }
    uint8_t point[P256_POINT_BYTES];
    if (rc == 0) {
        p256_point(credential->key, point);
        if (memcmp(point, credential->token.holder, sizeof point) != 0) {
            rc = err_set(err, -EKEYREJECTED, "%s: the private key does not belong to the token",
                         path);
        }
    }
    return rc;
}

/* Parses the file unless it is unchanged: OpenSSL takes longer to read a private key than to sign
 * with it. */
static int take_file(struct credential *credential, const char *text, size_t length,
                     struct err *err)
{
    uint8_t digest[P256_DIGEST_BYTES];
    proof_digest(text, length, digest);
    if (credential->key != NULL && memcmp(digest, credential->file_digest, sizeof digest) == 0) {
        return 0;
    }
    forget_token(credential);
    memcpy(credential->file_digest, digest, sizeof digest);
    int rc = token_file_parse(text, &credential->text, &credential->key, err);
    return rc < 0 ? err_prefix(err, rc, "%s", credential->path)
                  : judge_file(credential, credential->path, err);
}

bool credential_read(struct credential *credential, struct os *os, struct loop *loop,
                     uint64_t max_age_ms)
{
    uint64_t now_ms = loop_now_ms(loop);
    char *text = NULL;
    size_t length = 0;
    struct err err = {""};
    if (credential->was_read && now_ms - credential->read_ms <= max_age_ms) {
        return credential->key != NULL;
    }
    credential->was_read = true;
    credential->read_ms = now_ms;
    if (credential->path == NULL) {
        (void)snprintf(credential->why, sizeof credential->why, "no token: TOKEN_FILE is not set");
        return false;
    }
    int rc = os_read_file(os, credential->path, TOKEN_FILE_MAX, &text, &length, &err);
    if (rc < 0) {
        (void)err_prefix(&err, rc, "no token");
    } else {
        rc = take_file(credential, text, length, &err);
        secret_wipe(text, length);
        mem_free(text);
    }
    if (rc < 0) {
        forget_token(credential);
        (void)snprintf(credential->why, sizeof credential->why, "%s", err.text);
    }
    return rc == 0;
}

void credential_sign(const struct credential *credential, struct strbuf *statement,
                     uint8_t ret[PROOF_BYTES])
{
    CHECK(credential->key != NULL);
    CHECK(p256_sign(credential->key, strbuf_text(statement), statement->length, ret) == 0);
}
