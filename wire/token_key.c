/* wire/token_key.c - making a signing key; signing and verifying with one.
 *
 * The private number is drawn from loop_secret(), not by OpenSSL, so that a simulated pool has the
 * same keys in each run of a seed: 32 bytes are a valid key of P-256 unless they are zero or not
 * below the order of the group, which is drawn again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wire/token_key.h"

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

#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/strbuf.h"
#include "wire/base64url.h"
#include "wire/token.h"

#define KEY_BYTES         32
#define POINT_BYTES       65 /* uncompressed */
#define DRAWS_MAX         16 /* one in 2^32 fails */
#define SIGNATURE_BYTES   64 /* ES256: two numbers of 32 bytes, RFC 7518 section 3.4 */
#define SIGNATURE_DER_MAX 80 /* the same as OpenSSL makes it: at most 72 */

/* A private number in 1 .. order-1 and the point that belongs to it. */
static int key_draw(struct loop *loop, BIGNUM *secret, uint8_t point[POINT_BYTES])
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
                                       POINT_BYTES, NULL) != POINT_BYTES)) {
        rc = -ENOMEM;
    }
out:
    OPENSSL_cleanse(bytes, sizeof bytes);
    EC_POINT_free(public);
    EC_GROUP_free(group);
    return rc;
}

static int key_build(struct loop *loop, EVP_PKEY **ret)
{
    int rc = -ENOMEM;
    uint8_t point[POINT_BYTES];
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
    rc = 0;
out:
    OSSL_PARAM_free(params);
    EVP_PKEY_CTX_free(context);
    OSSL_PARAM_BLD_free(build);
    BN_clear_free(secret);
    return rc;
}

static int pem_write(struct os *os, const char *dir, const char *kid, EVP_PKEY *key,
                     bool is_private, struct err *err)
{
    struct strbuf path;
    char *data = NULL;
    int rc = -ENOMEM;
    strbuf_init(&path, 4096);
    strbuf_printf(&path, "%s/%s.%s", dir, kid, is_private ? "key" : "pub");
    BIO *text = BIO_new(BIO_s_mem());
    if (text == NULL || path.failed ||
        (is_private ? PEM_write_bio_PrivateKey(text, key, NULL, NULL, 0, NULL, NULL)
                    : PEM_write_bio_PUBKEY(text, key)) != 1) {
        (void)err_set(err, rc, "signing key '%s' cannot be written as PEM", kid);
        goto out;
    }
    long length = BIO_get_mem_data(text, &data);
    rc = os_write_file(os, strbuf_text(&path), data, (size_t)length, is_private ? 0600 : 0644, true,
                       err);
    if (is_private) {
        OPENSSL_cleanse(data, (size_t)length);
    }
out:
    BIO_free(text);
    strbuf_fini(&path);
    return rc;
}

static bool kid_is_valid(const char *kid)
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
    if (!kid_is_valid(kid)) {
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
    EVP_PKEY *key = NULL;
    rc = key_build(loop, &key);
    if (rc < 0) {
        return err_set(err, rc, "signing key '%s' cannot be made", kid);
    }
    rc = pem_write(os, dir, kid, key, true, err);
    if (rc == 0) {
        rc = pem_write(os, dir, kid, key, false, err);
    }
    EVP_PKEY_free(key);
    return rc;
}

/* ---- keys from their files ------------------------------------------------------------------- */

static void key_drop(void *key)
{
    EVP_PKEY_free(key);
}

static bool is_p256(EVP_PKEY *key)
{
    char group[32];
    size_t used = 0;
    return EVP_PKEY_get_group_name(key, group, sizeof group, &used) == 1 &&
           strcmp(group, "prime256v1") == 0;
}

struct evp_pkey_st *token_key_public(const char *pem, size_t length)
{
    BIO *text = BIO_new_mem_buf(pem, (int)length);
    EVP_PKEY *key = text == NULL ? NULL : PEM_read_bio_PUBKEY(text, NULL, NULL, NULL);
    BIO_free(text);
    if (key == NULL || !is_p256(key)) {
        EVP_PKEY_free(key);
        ERR_clear_error();
        return NULL;
    }
    mem_on_drop(key, key_drop);
    return key;
}

void token_key_free(struct evp_pkey_st *key)
{
    if (key != NULL) {
        mem_off_drop(key);
        EVP_PKEY_free(key);
    }
}

/* ---- signing --------------------------------------------------------------------------------- */

/* A key that is locked by a passphrase is refused: nobody is there to be asked. */
static int no_passphrase(char *buffer, int size, int writes, void *arg)
{
    (void)buffer;
    (void)size;
    (void)writes;
    (void)arg;
    return -1;
}

/* The two numbers of a signature in DER, each in 32 bytes. */
static bool signature_raw(const uint8_t *der, size_t length, uint8_t bytes[SIGNATURE_BYTES])
{
    const unsigned char *at = der;
    ECDSA_SIG *signature = d2i_ECDSA_SIG(NULL, &at, (long)length);
    bool good = signature != NULL &&
                BN_bn2binpad(ECDSA_SIG_get0_r(signature), bytes, SIGNATURE_BYTES / 2) ==
                    SIGNATURE_BYTES / 2 &&
                BN_bn2binpad(ECDSA_SIG_get0_s(signature), bytes + SIGNATURE_BYTES / 2,
                             SIGNATURE_BYTES / 2) == SIGNATURE_BYTES / 2;
    ECDSA_SIG_free(signature);
    return good;
}

int token_key_sign(const char *pem, size_t pem_length, struct strbuf *text)
{
    uint8_t der[SIGNATURE_DER_MAX], bytes[SIGNATURE_BYTES];
    size_t length = sizeof der;
    BIO *file = BIO_new_mem_buf(pem, (int)pem_length);
    EVP_PKEY *key = file == NULL ? NULL : PEM_read_bio_PrivateKey(file, NULL, no_passphrase, NULL);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool good = key != NULL && is_p256(key) && context != NULL &&
                EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, key) == 1 &&
                EVP_DigestSign(context, der, &length, (const unsigned char *)strbuf_text(text),
                               text->length) == 1 &&
                signature_raw(der, length, bytes);
    if (good) {
        strbuf_putc(text, '.');
        base64url_encode(text, bytes, sizeof bytes);
    }
    EVP_MD_CTX_free(context);
    EVP_PKEY_free(key);
    BIO_free(file);
    ERR_clear_error();
    return good ? 0 : -EINVAL;
}

/* ---- verifying ------------------------------------------------------------------------------- */

/* OpenSSL wants the two numbers in DER. */
static int signature_der(const uint8_t bytes[SIGNATURE_BYTES], uint8_t **der)
{
    int length = -1;
    ECDSA_SIG *signature = ECDSA_SIG_new();
    BIGNUM *r = BN_bin2bn(bytes, SIGNATURE_BYTES / 2, NULL);
    BIGNUM *s = BN_bin2bn(bytes + SIGNATURE_BYTES / 2, SIGNATURE_BYTES / 2, NULL);
    if (signature != NULL && r != NULL && s != NULL && ECDSA_SIG_set0(signature, r, s) == 1) {
        r = s = NULL; /* the signature's now */
        length = i2d_ECDSA_SIG(signature, der);
    }
    BN_free(r);
    BN_free(s);
    ECDSA_SIG_free(signature);
    return length;
}

bool token_key_verify(struct evp_pkey_st *key, const char *text, size_t length,
                      const char *signature)
{
    uint8_t bytes[SIGNATURE_BYTES];
    uint8_t *der = NULL;
    if (base64url_decode(signature, strlen(signature), bytes, sizeof bytes) != SIGNATURE_BYTES) {
        return false;
    }
    int der_length = signature_der(bytes, &der);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool good = der_length > 0 && context != NULL &&
                EVP_DigestVerifyInit(context, NULL, EVP_sha256(), NULL, key) == 1 &&
                EVP_DigestVerify(context, der, (size_t)der_length, (const unsigned char *)text,
                                 length) == 1;
    EVP_MD_CTX_free(context);
    OPENSSL_free(der);
    ERR_clear_error(); /* what OpenSSL noted must not be taken for an error of somebody's TLS */
    return good;
}
