/* base/x509_tls.c - keys and certificates by OpenSSL.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/x509_tls.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>

#include "base/err.h"

#define NAME_MAX_BYTES 64 /* ub-common-name of RFC 5280 */
#define SERIAL_BITS    127

int x509_err(struct err *err, int code, const char *what)
{
    unsigned long reason = ERR_peek_error();
    const char *text = reason != 0 ? ERR_reason_error_string(reason) : NULL;
    ERR_clear_error();
    return err_set(err, code, "%s: %s", what, text != NULL ? text : "OpenSSL gives no reason");
}

EVP_PKEY *x509_key(void)
{
    return EVP_EC_gen("P-256");
}

static bool set_serial(X509 *cert)
{
    bool ok = false;
    BIGNUM *number = BN_new();
    if (number != NULL && BN_rand(number, SERIAL_BITS, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) == 1) {
        ok = BN_to_ASN1_INTEGER(number, X509_get_serialNumber(cert)) != NULL;
    }
    BN_free(number);
    return ok;
}

static bool set_name(X509 *cert, const char *name)
{
    size_t length = strlen(name);
    return X509_NAME_add_entry_by_txt(X509_get_subject_name(cert), "CN", MBSTRING_UTF8,
                                      (const unsigned char *)name,
                                      (int)(length < NAME_MAX_BYTES ? length : NAME_MAX_BYTES), -1,
                                      0) == 1;
}

static bool add_extension(X509 *cert, X509 *issuer, int nid, const char *value)
{
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, cert, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_nconf_nid(NULL, &context, nid, value);
    bool ok = extension != NULL && X509_add_ext(cert, extension, -1) == 1;
    X509_EXTENSION_free(extension);
    return ok;
}

/* Not by add_extension(): a name with a comma in it would be read as two. */
static bool add_sans(X509 *cert, const char *const *sans, size_t count)
{
    GENERAL_NAMES *names = sk_GENERAL_NAME_new_null();
    bool ok = names != NULL;
    for (size_t i = 0; ok && i < count; i++) {
        ASN1_OCTET_STRING *ip = a2i_IPADDRESS(sans[i]);
        GENERAL_NAME *name = GENERAL_NAME_new();
        ASN1_IA5STRING *dns = ip == NULL ? ASN1_IA5STRING_new() : NULL;
        ok =
            name != NULL && (ip != NULL || (dns != NULL && ASN1_STRING_set(dns, sans[i], -1) == 1));
        if (!ok) {
            ASN1_OCTET_STRING_free(ip);
            ASN1_IA5STRING_free(dns);
            GENERAL_NAME_free(name);
            break;
        }
        if (ip != NULL) {
            GENERAL_NAME_set0_value(name, GEN_IPADD, ip);
        } else {
            GENERAL_NAME_set0_value(name, GEN_DNS, dns);
        }
        ok = sk_GENERAL_NAME_push(names, name) > 0;
        if (!ok) {
            GENERAL_NAME_free(name);
        }
    }
    ok = ok && X509_add1_ext_i2d(cert, NID_subject_alt_name, names, 0, 0) == 1;
    GENERAL_NAMES_free(names);
    ERR_clear_error(); /* a2i_IPADDRESS complains of host names */
    return ok;
}

static bool add_extensions(X509 *cert, X509 *issuer, const struct x509_spec *spec)
{
    bool ok =
        add_extension(cert, issuer, NID_basic_constraints,
                      spec->ca ? "critical,CA:TRUE,pathlen:0" : "critical,CA:FALSE") &&
        add_extension(cert, issuer, NID_key_usage,
                      spec->ca ? "critical,keyCertSign,cRLSign" : "critical,digitalSignature") &&
        add_extension(cert, issuer, NID_subject_key_identifier, "hash");
    if (ok && spec->issuer != NULL) {
        ok = add_extension(cert, issuer, NID_authority_key_identifier, "keyid:always");
    }
    if (ok && !spec->ca) {
        ok = add_extension(cert, issuer, NID_ext_key_usage, "serverAuth");
    }
    return ok && (spec->san_count == 0 || add_sans(cert, spec->sans, spec->san_count));
}

int x509_make(EVP_PKEY *key, const struct x509_spec *spec, X509 **ret, struct err *err)
{
    X509 *cert = X509_new();
    X509 *issuer = spec->issuer != NULL ? spec->issuer : cert;
    EVP_PKEY *signer = spec->issuer_key != NULL ? spec->issuer_key : key;
    bool ok = cert != NULL && X509_set_version(cert, X509_VERSION_3) == 1 && set_serial(cert) &&
              ASN1_TIME_set(X509_getm_notBefore(cert), (time_t)spec->valid_from_s) != NULL &&
              ASN1_TIME_set(X509_getm_notAfter(cert), (time_t)spec->valid_to_s) != NULL &&
              X509_set_pubkey(cert, key) == 1;
    if (ok && !set_name(cert, spec->name)) {
        X509_free(cert);
        return x509_err(err, -EINVAL, "not a name for a certificate");
    }
    ok = ok && X509_set_issuer_name(cert, X509_get_subject_name(issuer)) == 1 &&
         add_extensions(cert, issuer, spec) && X509_sign(cert, signer, EVP_sha256()) > 0;
    if (!ok) {
        X509_free(cert);
        return x509_err(err, -EIO, "cannot make a certificate");
    }
    *ret = cert;
    return 0;
}
