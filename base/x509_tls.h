/* base/x509_tls.h - keys and certificates, for stream_tls.c and pki_tls.c.
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
    const char *name; /* common name; longer than 64 bytes is cut, as X.509 wants it */
    bool ca;
    int64_t valid_from_s, valid_to_s; /* seconds since 1970 */
    X509 *issuer;                     /* NULL: self-signed */
    EVP_PKEY *issuer_key;             /* NULL: self-signed */
    const char *const *sans;          /* host names and IP addresses */
    size_t san_count;
    const char *uri; /* one more subject alternative name; may be NULL */
};

EVP_PKEY *x509_key(void); /* a new P-256 key; NULL when OpenSSL cannot */
/* -EINVAL for a name that X.509 cannot hold; -EIO when OpenSSL fails otherwise. */
int x509_make(EVP_PKEY *key, const struct x509_spec *spec, X509 **ret, struct err *err);
/* Who its subject alternative names say that it is.  -ENOENT: no URI of them is about that;
 * -EINVAL: several are, or it is malformed, or the names cannot be decoded. */
int x509_role(X509 *cert, struct server_role *ret, struct err *err);
/* Its common name, of a CA the pool's, as a string of size bytes at most.  -EINVAL: none, several,
 * too long, or with a zero byte in it. */
int x509_common_name(X509 *cert, char *ret, size_t size, struct err *err);
/* Sets err to "WHAT: OpenSSL's reason" and empties OpenSSL's queue; returns code. */
int x509_err(struct err *err, int code, const char *what);

#endif
