/* wire/p256.c - see p256.h.
 *
 * The private number comes from loop_secret() and not from OpenSSL, so that a simulated pool has
 * the same keys in each run with the same seed.  Any 32 bytes are a valid key of P-256 unless they
 * are zero or not below the order of the group; then they are drawn again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wire/p256.h"

#include <errno.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/obj_mac.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <string.h>

#include "base/check.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/strbuf.h"

#define KEY_BYTES         32
#define OCTETS_BYTES      (1 + P256_POINT_BYTES) /* uncompressed: a 4, then the point */
#define DRAWS_MAX         16                     /* attempts to draw a number; one in 2^32 fails */
#define SIGNATURE_DER_MAX 80                     /* a signature as OpenSSL makes it: at most 72 */

/* ---- making ---------------------------------------------------------------------------------- */

static void key_drop(void *key)
{
    EVP_PKEY_free(key);
}

/* Draws a private number in 1 .. order-1 and computes the point that belongs to it. */
static int key_draw(struct loop *loop, BIGNUM *secret, uint8_t point[OCTETS_BYTES])
{
    int rc = -ENOMEM;
    uint8_t bytes[KEY_BYTES];
    EC_GROUP *group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1);
    EC_POINT *public = group == NULL ? NULL : EC_POINT_new(group);
    if (public == NULL) {
        goto out;
    }
    const BIGNUM *order = EC_GROUP_get0_order(group);
    for (int i = 0; i < DRAWS_MAX && rc != 0; i++) {
        loop_secret(loop, bytes, sizeof bytes);
        if (BN_bin2bn(bytes, sizeof bytes, secret) == NULL) {
            goto out;
        }
        rc = BN_is_zero(secret) || BN_cmp(secret, order) >= 0 ? -EAGAIN : 0;
    }
    if (rc == 0 && (EC_POINT_mul(group, public, secret, NULL, NULL, NULL) != 1 ||
                    EC_POINT_point2oct(group, public, POINT_CONVERSION_UNCOMPRESSED, point,
                                       OCTETS_BYTES, NULL) != OCTETS_BYTES)) {
        rc = -ENOMEM;
    }
out:
    OPENSSL_cleanse(bytes, sizeof bytes);
    EC_POINT_free(public);
    EC_GROUP_free(group);
    return rc;
}

int p256_make(struct loop *loop, EVP_PKEY **ret)
{
    int rc = -ENOMEM;
    uint8_t point[OCTETS_BYTES];
    OSSL_PARAM *params = NULL;
    BIGNUM *secret = BN_secure_new();
    OSSL_PARAM_BLD *build = OSSL_PARAM_BLD_new();
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
    if (secret == NULL || build == NULL || context == NULL) {
        goto out;
    }
    rc = key_draw(loop, secret, point);
    if (rc < 0) {
        goto out;
    }
    rc = -ENOMEM;
    if (OSSL_PARAM_BLD_push_utf8_string(build, OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0) != 1 ||
        OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_PRIV_KEY, secret) != 1 ||
        OSSL_PARAM_BLD_push_octet_string(build, OSSL_PKEY_PARAM_PUB_KEY, point, sizeof point) !=
            1) {
        goto out;
    }
    params = OSSL_PARAM_BLD_to_param(build);
    if (params == NULL || EVP_PKEY_fromdata_init(context) != 1 ||
        EVP_PKEY_fromdata(context, ret, EVP_PKEY_KEYPAIR, params) != 1) {
        goto out;
    }
    mem_on_drop(*ret, key_drop);
    rc = 0;
out:
    OSSL_PARAM_free(params);
    EVP_PKEY_CTX_free(context);
    OSSL_PARAM_BLD_free(build);
    BN_clear_free(secret);
    return rc;
}

void p256_free(EVP_PKEY *key)
{
    if (key != NULL) {
        mem_off_drop(key);
        EVP_PKEY_free(key);
    }
}

/* ---- reading and writing --------------------------------------------------------------------- */

/* Returns a key made by OpenSSL if it is of this curve; else frees it and returns NULL. */
static EVP_PKEY *key_keep(EVP_PKEY *key)
{
    char group[32];
    size_t used = 0;
    if (key == NULL || EVP_PKEY_get_group_name(key, group, sizeof group, &used) != 1 ||
        strcmp(group, "prime256v1") != 0) {
        EVP_PKEY_free(key);
        ERR_clear_error();
        return NULL;
    }
    mem_on_drop(key, key_drop);
    return key;
}

EVP_PKEY *p256_from_public_pem(const char *pem, size_t length)
{
    BIO *text = BIO_new_mem_buf(pem, (int)length);
    EVP_PKEY *key = text == NULL ? NULL : PEM_read_bio_PUBKEY(text, NULL, NULL, NULL);
    BIO_free(text);
    return key_keep(key);
}

/* Callback of OpenSSL: refuses a key that is locked by a passphrase, because there is nobody to
 * ask. */
static int no_passphrase(char *buffer, int size, int writes, void *arg)
{
    (void)buffer;
    (void)size;
    (void)writes;
    (void)arg;
    return -1;
}

EVP_PKEY *p256_from_private_pem(const char *pem, size_t length)
{
    BIO *text = BIO_new_mem_buf(pem, (int)length);
    EVP_PKEY *key = text == NULL ? NULL : PEM_read_bio_PrivateKey(text, NULL, no_passphrase, NULL);
    BIO_free(text);
    return key_keep(key);
}

EVP_PKEY *p256_from_point(const uint8_t point[P256_POINT_BYTES])
{
    EVP_PKEY *key = NULL;
    uint8_t octets[OCTETS_BYTES] = {4};
    char group[] = "prime256v1";
    memcpy(octets + 1, point, P256_POINT_BYTES);
    const OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, group,
                                                                  0),
                                 OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, octets,
                                                                   sizeof octets),
                                 OSSL_PARAM_construct_end()};
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
    if (context == NULL || EVP_PKEY_fromdata_init(context) != 1 ||
        EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, (OSSL_PARAM *)(uintptr_t)params) !=
            1) {
        key = NULL;
    }
    EVP_PKEY_CTX_free(context);
    return key_keep(key);
}

void p256_point(const EVP_PKEY *key, uint8_t ret[P256_POINT_BYTES])
{
    uint8_t octets[OCTETS_BYTES];
    size_t length = 0;
    CHECK(EVP_PKEY_get_octet_string_param(key, OSSL_PKEY_PARAM_PUB_KEY, octets, sizeof octets,
                                          &length) == 1 &&
          length == sizeof octets && octets[0] == 4);
    memcpy(ret, octets + 1, P256_POINT_BYTES);
}

static int pem_put(const EVP_PKEY *key, bool is_private, struct strbuf *pem)
{
    char *data = NULL;
    BIO *text = BIO_new(is_private ? BIO_s_secmem() : BIO_s_mem());
    if (text == NULL || (is_private ? PEM_write_bio_PrivateKey(text, key, NULL, NULL, 0, NULL, NULL)
                                    : PEM_write_bio_PUBKEY(text, key)) != 1) {
        BIO_free(text);
        ERR_clear_error();
        return -ENOMEM;
    }
    long length = BIO_get_mem_data(text, &data);
    strbuf_append(pem, data, (size_t)length);
    BIO_free(text);
    return pem->failed ? -ENOMEM : 0;
}

int p256_put_public(const EVP_PKEY *key, struct strbuf *pem)
{
    return pem_put(key, false, pem);
}

int p256_put_private(const EVP_PKEY *key, struct strbuf *pem)
{
    return pem_put(key, true, pem);
}

/* ---- signing and verifying ------------------------------------------------------------------- */

/* Converts the two numbers of a signature from DER to 32 bytes each. */
static bool signature_raw(const uint8_t *der, size_t length, uint8_t bytes[P256_SIGNATURE_BYTES])
{
    const unsigned char *at = der;
    ECDSA_SIG *signature = d2i_ECDSA_SIG(NULL, &at, (long)length);
    bool good = signature != NULL &&
                BN_bn2binpad(ECDSA_SIG_get0_r(signature), bytes, P256_SIGNATURE_BYTES / 2) ==
                    P256_SIGNATURE_BYTES / 2 &&
                BN_bn2binpad(ECDSA_SIG_get0_s(signature), bytes + P256_SIGNATURE_BYTES / 2,
                             P256_SIGNATURE_BYTES / 2) == P256_SIGNATURE_BYTES / 2;
    ECDSA_SIG_free(signature);
    return good;
}

int p256_sign(EVP_PKEY *key, const void *data, size_t length, uint8_t ret[P256_SIGNATURE_BYTES])
{
    uint8_t der[SIGNATURE_DER_MAX], bytes[P256_SIGNATURE_BYTES];
    size_t der_length = sizeof der;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool good = context != NULL &&
                EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, key) == 1 &&
                EVP_DigestSign(context, der, &der_length, data, length) == 1 &&
                signature_raw(der, der_length, bytes);
    if (good) {
        memcpy(ret, bytes, sizeof bytes);
    }
    EVP_MD_CTX_free(context);
    ERR_clear_error();
    return good ? 0 : -EINVAL;
}

/* Converts the two numbers of a signature to DER, which OpenSSL needs. */
static int signature_der(const uint8_t bytes[P256_SIGNATURE_BYTES], uint8_t **der)
{
    int length = -1;
    ECDSA_SIG *signature = ECDSA_SIG_new();
    BIGNUM *r = BN_bin2bn(bytes, P256_SIGNATURE_BYTES / 2, NULL);
    BIGNUM *s = BN_bin2bn(bytes + P256_SIGNATURE_BYTES / 2, P256_SIGNATURE_BYTES / 2, NULL);
    if (signature != NULL && r != NULL && s != NULL && ECDSA_SIG_set0(signature, r, s) == 1) {
        r = s = NULL; /* the signature's now */
        length = i2d_ECDSA_SIG(signature, der);
    }
    BN_free(r);
    BN_free(s);
    ECDSA_SIG_free(signature);
    return length;
}

bool p256_verify(EVP_PKEY *key, const void *data, size_t length,
                 const uint8_t signature[P256_SIGNATURE_BYTES])
{
    uint8_t *der = NULL;
    int der_length = signature_der(signature, &der);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool good = der_length > 0 && context != NULL &&
                EVP_DigestVerifyInit(context, NULL, EVP_sha256(), NULL, key) == 1 &&
                EVP_DigestVerify(context, der, (size_t)der_length, data, length) == 1;
    EVP_MD_CTX_free(context);
    OPENSSL_free(der);
    ERR_clear_error(); /* what OpenSSL noted must not be taken for an error of somebody's TLS */
    return good;
}

void p256_digest(const struct p256_piece *pieces, size_t count, uint8_t ret[P256_DIGEST_BYTES])
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    CHECK(context != NULL && EVP_DigestInit_ex(context, EVP_sha256(), NULL) == 1);
    for (size_t i = 0; i < count; i++) {
        CHECK(EVP_DigestUpdate(context, pieces[i].data, pieces[i].length) == 1);
    }
    CHECK(EVP_DigestFinal_ex(context, ret, NULL) == 1);
    EVP_MD_CTX_free(context);
}
