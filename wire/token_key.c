/* wire/token_key.c - making a signing key of the pool.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/os.h"
#include "base/secret_file.h"
#include "base/strbuf.h"
#include "wire/p256.h"
#include "wire/token.h"

static int pem_write(struct os *os, const char *dir, const char *kid, const struct evp_pkey_st *key,
                     bool is_private, struct err *err)
{
    struct strbuf path, pem;
    strbuf_init(&path, 4096);
    strbuf_init(&pem, P256_PEM_MAX);
    strbuf_printf(&path, "%s/%s.%s", dir, kid, is_private ? "key" : "pub");
    int rc = is_private ? p256_put_private(key, &pem) : p256_put_public(key, &pem);
    if (rc < 0 || path.failed) {
        rc = err_set(err, -ENOMEM, "signing key '%s' cannot be written as PEM", kid);
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

int token_key_make(struct os *os, struct loop *loop, const char *dir, const char *kid,
                   struct err *err)
{
    if (!token_kid_is_valid(kid)) {
        return err_set(err, -EINVAL, "'%s' cannot name a signing key", kid);
    }
    struct os_stat there;
    struct strbuf path;
    strbuf_init(&path, 4096);
    strbuf_printf(&path, "%s/%s.key", dir, kid);
    int rc = os_stat(os, strbuf_text(&path), &there);
    strbuf_fini(&path);
    if (rc == 0) {
        return err_set(err, -EEXIST, "signing key '%s' exists in %s", kid, dir);
    }
    struct evp_pkey_st *key = NULL;
    rc = p256_make(loop, &key);
    if (rc < 0) {
        return err_set(err, rc, "signing key '%s' cannot be made", kid);
    }
    rc = pem_write(os, dir, kid, key, true, err);
    if (rc == 0) {
        rc = pem_write(os, dir, kid, key, false, err);
    }
    p256_free(key);
    return rc;
}
