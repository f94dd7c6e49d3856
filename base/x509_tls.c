/* base/x509_tls.c - keys and certificates by OpenSSL.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/x509_tls.h"

#include <errno.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>

#include "base/err.h"
#include "base/server_role.h"

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

/* Adds a string to the names, which then own it; the string is NULL after a failure. */
static bool push_name(GENERAL_NAMES *names, int type, ASN1_STRING *value)
{
    GENERAL_NAME *name = value != NULL ? GENERAL_NAME_new() : NULL;
    if (name == NULL) {
        ASN1_STRING_free(value);
        return false;
    }
    GENERAL_NAME_set0_value(name, type, value);
    if (sk_GENERAL_NAME_push(names, name) > 0) {
        return true;
    }
    GENERAL_NAME_free(name);
    return false;
}

static ASN1_IA5STRING *ia5_string(const char *text)
{
    ASN1_IA5STRING *string = ASN1_IA5STRING_new();
    if (string != NULL && ASN1_STRING_set(string, text, -1) != 1) {
        ASN1_IA5STRING_free(string);
        return NULL;
    }
    return string;
}

/* Does not use add_extension(): a name with a comma would be read as two. */
static bool add_sans(X509 *cert, const struct x509_spec *spec)
{
    GENERAL_NAMES *names = sk_GENERAL_NAME_new_null();
    bool ok = names != NULL;
    for (size_t i = 0; ok && i < spec->san_count; i++) {
        ASN1_OCTET_STRING *ip = a2i_IPADDRESS(spec->sans[i]);
        ok = ip != NULL ? push_name(names, GEN_IPADD, ip)
                        : push_name(names, GEN_DNS, ia5_string(spec->sans[i]));
    }
    ok = ok && (spec->uri == NULL || push_name(names, GEN_URI, ia5_string(spec->uri)));
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
    return ok && ((spec->san_count == 0 && spec->uri == NULL) || add_sans(cert, spec));
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
        return x509_err(err, -EINVAL, "not a valid name for a certificate");
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

/* ---- what a certificate says ----------------------------------------------------------------- */

/* True for a URI of ours, in any case: one that is nearly right is refused, not skipped. */
static bool is_about_role(const ASN1_STRING *uri)
{
    size_t length = strlen(SERVER_ROLE_SCHEME);
    return (size_t)ASN1_STRING_length(uri) >= length &&
           strncasecmp((const char *)ASN1_STRING_get0_data(uri), SERVER_ROLE_SCHEME, length) == 0;
}

int x509_role(X509 *cert, struct server_role *ret, struct err *err)
{
    int found = 0, count = 0;
    const ASN1_STRING *ours = NULL;
    GENERAL_NAMES *names = X509_get_ext_d2i(cert, NID_subject_alt_name, &found, NULL);
    if (names == NULL && found != -1) {
        ERR_clear_error();
        return err_set(err, -EINVAL, "cannot read the certificate's alternative names");
    }
    for (int i = 0; i < sk_GENERAL_NAME_num(names); i++) {
        int type = 0;
        const ASN1_STRING *value = GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(names, i), &type);
        if (type == GEN_URI && is_about_role(value)) {
            ours = value;
            count++;
        }
    }
    int code = 0;
    if (count == 0) {
        code = err_set(err, -ENOENT, "the certificate names no role (collector or schedd): %s",
                       SERVER_ROLE_REMEDY);
    } else if (count > 1) {
        code = err_set(err, -EINVAL, "the certificate names %d roles, expected one", count);
    } else {
        code = server_role_parse((const char *)ASN1_STRING_get0_data(ours),
                                 (size_t)ASN1_STRING_length(ours), ret, err);
        code = code != 0 ? err_prefix(err, code, "the certificate names a malformed role") : 0;
    }
    GENERAL_NAMES_free(names);
    return code;
}

int x509_common_name(X509 *cert, char *ret, size_t size, struct err *err)
{
    X509_NAME *subject = X509_get_subject_name(cert);
    unsigned char *text = NULL;
    int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
    bool one = at >= 0 && X509_NAME_get_index_by_NID(subject, NID_commonName, at) == -1;
    int length =
        one ? ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)))
            : -1;
    int code = 0;
    if (length <= 0 || (size_t)length >= size || memchr(text, '\0', (size_t)length) != NULL) {
        ERR_clear_error();
        code =
            err_set(err, -EINVAL, "the certificate has no common name of 1 to %zu bytes", size - 1);
    } else {
        memcpy(ret, text, (size_t)length);
        ret[length] = '\0';
    }
    OPENSSL_free(text);
    return code;
}
