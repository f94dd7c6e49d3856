/* base/x509_tls.h - makes and reads keys and certificates, for stream_tls.c and pki_tls.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_X509_TLS_H
#define BASE_X509_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <openssl/evp.h>
#include <openssl/x509.h>

struct err;
struct server_role;

struct x509_spec {
    const char *name; /* common name; cut to 64 bytes, the limit of X.509 */
    bool ca;
    int64_t valid_from_s, valid_to_s; /* seconds since 1970 */
    X509 *issuer;                     /* certificate of the CA that signs; NULL: self-signed */
    EVP_PKEY *issuer_key;             /* private key of the CA that signs; NULL: self-signed */
    const char *const *sans;          /* subject alternative names: host names and IP addresses */
    size_t san_count;
    const char *uri; /* one more subject alternative name, a URI; may be NULL */
};

/* returns a new P-256 key, which the caller frees with EVP_PKEY_free(); NULL: OpenSSL failed */
EVP_PKEY *x509_key(void);
/* Makes a certificate for key; the caller frees *ret with X509_free().  Returns 0; -EINVAL: a name
 * is not possible in X.509; -EIO: OpenSSL failed. */
int x509_make(EVP_PKEY *key, const struct x509_spec *spec, X509 **ret, struct err *err);
/* Reads the role from the URI in the certificate's subject alternative names.  Returns 0;
 * -ENOENT: no URI names a role; -EINVAL: several URIs do, the URI is malformed, or the names
 * cannot be decoded. */
int x509_role(X509 *cert, struct server_role *ret, struct err *err);
/* Copies the certificate's common name (for a CA: the pool's name) into ret[0..size).  Returns
 * 0; -EINVAL: no common name or several, or the name is too long or contains a zero byte. */
int x509_common_name(X509 *cert, char *ret, size_t size, struct err *err);
/* Sets err to the text `what`, ": " and OpenSSL's reason, empties OpenSSL's queue of errors, and
 * returns code. */
int x509_err(struct err *err, int code, const char *what);

#endif
