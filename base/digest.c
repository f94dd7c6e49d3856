/* base/digest.c - see digest.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/digest.h"

#include <openssl/evp.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/text.h"

struct digest {
    EVP_MD_CTX *context;
};

static void release_context(void *handle)
{
    EVP_MD_CTX_free(handle);
}

struct digest *digest_create(void)
{
    struct digest *digest = mem_alloc(sizeof(*digest));
    digest->context = EVP_MD_CTX_new();
    CHECK(digest->context != NULL);
    mem_on_drop(digest->context, release_context);
    CHECK(EVP_DigestInit_ex(digest->context, EVP_sha256(), NULL) == 1);
    return digest;
}

void digest_destroy(struct digest *digest)
{
    if (digest == NULL) {
        return;
    }
    mem_off_drop(digest->context);
    EVP_MD_CTX_free(digest->context);
    mem_free(digest);
}

void digest_update(struct digest *digest, const void *data, size_t length)
{
    CHECK(EVP_DigestUpdate(digest->context, data, length) == 1);
}

void digest_hex(struct digest *digest, char ret[DIGEST_HEX_SIZE])
{
    unsigned char bytes[EVP_MAX_MD_SIZE];
    unsigned int length = 0;
    CHECK(EVP_DigestFinal_ex(digest->context, bytes, &length) == 1);
    CHECK(length == (DIGEST_HEX_SIZE - 1) / 2);
    text_hex(bytes, length, ret);
    CHECK(EVP_DigestInit_ex(digest->context, EVP_sha256(), NULL) == 1);
}

void digest_peek(const struct digest *digest, char ret[DIGEST_HEX_SIZE])
{
    struct digest *copy = digest_create();
    CHECK(EVP_MD_CTX_copy_ex(copy->context, digest->context) == 1);
    digest_hex(copy, ret);
    digest_destroy(copy);
}
