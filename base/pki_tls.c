/* base/pki_tls.c - the pool's certificate authority.
 *
 * Design note: certificates begin a day before they were made, for machines whose clock is a little
 * behind; the CA's key is written before its certificate, so that a CA is there exactly when its
 * certificate is, and a run that was interrupted is simply repeated.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/pki.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/pem.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/server_role.h"
#include "base/strbuf.h"
#include "base/x509_tls.h"

#define PEM_MAX   ((size_t)64 << 10)
#define DAY_S     ((int64_t)86400)
#define YEAR_S    (365 * DAY_S + DAY_S / 4)
#define CERT_MODE 0644
#define KEY_MODE  0600

static char *path_in(const char *directory, const char *name)
{
    struct strbuf path;
    strbuf_init(&path, 0);
    strbuf_printf(&path, "%s/%s", directory, name);
    return strbuf_take(&path);
}

/* Writes what OpenSSL put into the BIO, and frees it. */
static int write_bio(struct os *os, const char *path, BIO *bio, mode_t mode, struct err *err)
{
    char *data = NULL;
    long length = BIO_get_mem_data(bio, &data);
    int code = os_write_file(os, path, data, (size_t)length, mode, true, err);
    OPENSSL_cleanse(data, (size_t)length);
    BIO_free(bio);
    return code;
}

static int write_key(struct os *os, const char *path, EVP_PKEY *key, struct err *err)
{
    BIO *bio = BIO_new(BIO_s_mem());
    if (bio == NULL || PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL) != 1) {
        BIO_free(bio);
        return err_prefix(err,
                          x509_err(err, -EIO, "cannot convert the new private key to PEM format"),
                          "%s", path);
    }
    return write_bio(os, path, bio, KEY_MODE, err);
}

static int write_cert(struct os *os, const char *path, X509 *cert, struct err *err)
{
    BIO *bio = BIO_new(BIO_s_mem());
    if (bio == NULL || PEM_write_bio_X509(bio, cert) != 1) {
        BIO_free(bio);
        return err_prefix(err,
                          x509_err(err, -EIO, "cannot convert the new certificate to PEM format"),
                          "%s", path);
    }
    return write_bio(os, path, bio, CERT_MODE, err);
}

static struct x509_spec spec_of(const char *name, int64_t years)
{
    int64_t now_s = (int64_t)time(NULL);
    return (struct x509_spec){.name = name,
                              .valid_from_s = now_s - DAY_S,
                              .valid_to_s = now_s + years * YEAR_S};
}

int pki_make_ca(struct os *os, const char *dir, const char *pool, struct err *err)
{
    char *cert_path = path_in(dir, PKI_CA_CERT), *key_path = path_in(dir, PKI_CA_KEY);
    struct x509_spec spec = spec_of(pool, PKI_CA_YEARS);
    struct os_stat st;
    EVP_PKEY *key = NULL;
    X509 *cert = NULL;
    int code;
    spec.ca = true;
    ERR_clear_error();
    if (os_stat(os, cert_path, &st) == 0) {
        code = err_set(err, -EEXIST, "%s: a CA certificate exists already", cert_path);
        goto out;
    }
    key = x509_key();
    code = key != NULL ? x509_make(key, &spec, &cert, err)
                       : x509_err(err, -EIO, "cannot make a private key");
    if (code == 0) {
        code = write_key(os, key_path, key, err);
    }
    if (code == 0) {
        code = write_cert(os, cert_path, cert, err);
    }
out:
    X509_free(cert);
    EVP_PKEY_free(key);
    mem_free(cert_path);
    mem_free(key_path);
    return code;
}

/* The file as a BIO over *text, which the caller wipes and frees. */
static int read_bio(struct os *os, const char *path, char **text, size_t *length, BIO **ret,
                    struct err *err)
{
    int code = os_read_file(os, path, PEM_MAX, text, length, err);
    if (code == 0) {
        *ret = BIO_new_mem_buf(*text, (int)*length);
    }
    return code;
}

static int load_ca(struct os *os, const char *dir, X509 **cert, EVP_PKEY **key, struct err *err)
{
    char *cert_path = path_in(dir, PKI_CA_CERT), *key_path = path_in(dir, PKI_CA_KEY);
    char *cert_text = NULL, *key_text = NULL;
    size_t cert_length = 0, key_length = 0;
    BIO *cert_bio = NULL, *key_bio = NULL;
    int code = read_bio(os, cert_path, &cert_text, &cert_length, &cert_bio, err);
    if (code == 0) {
        code = read_bio(os, key_path, &key_text, &key_length, &key_bio, err);
    }
    if (code == 0 && (*cert = PEM_read_bio_X509(cert_bio, NULL, NULL, NULL)) == NULL) {
        code = err_prefix(err, x509_err(err, -EINVAL, "not a certificate in PEM format"), "%s",
                          cert_path);
    }
    if (code == 0 && (*key = PEM_read_bio_PrivateKey(key_bio, NULL, NULL, NULL)) == NULL) {
        code = err_prefix(err, x509_err(err, -EINVAL, "not a private key in PEM format"), "%s",
                          key_path);
    }
    if (code == 0 && X509_check_private_key(*cert, *key) != 1) {
        code =
            err_prefix(err, x509_err(err, -EINVAL, "the key does not belong to the CA certificate"),
                       "%s", key_path);
    }
    if (key_text != NULL) {
        OPENSSL_cleanse(key_text, key_length);
    }
    BIO_free(cert_bio);
    BIO_free(key_bio);
    mem_free(cert_text);
    mem_free(key_text);
    mem_free(cert_path);
    mem_free(key_path);
    return code;
}

static int print_uri(X509 *ca, const struct pki_server *server, struct strbuf *ret, struct err *err)
{
    char pool[SERVER_ROLE_NAME_MAX + 1];
    int code = x509_common_name(ca, pool, sizeof(pool), err);
    return code != 0 ? err_prefix(err, code, "the CA's certificate")
                     : server_role_print(pool, server->role, server->name, ret, err);
}

int pki_make_server_cert(struct os *os, const char *ca_dir, const char *cert_path,
                         const char *key_path, const struct pki_server *server, struct err *err)
{
    struct x509_spec spec = spec_of(server->role, PKI_SERVER_YEARS);
    EVP_PKEY *key = NULL;
    X509 *cert = NULL;
    struct strbuf uri;
    strbuf_init(&uri, 0);
    spec.sans = server->sans;
    spec.san_count = server->san_count;
    ERR_clear_error();
    int code = load_ca(os, ca_dir, &spec.issuer, &spec.issuer_key, err);
    if (code == 0) {
        code = print_uri(spec.issuer, server, &uri, err);
    }
    if (code == 0) {
        spec.uri = strbuf_text(&uri);
        key = x509_key();
        code = key != NULL ? x509_make(key, &spec, &cert, err)
                           : x509_err(err, -EIO, "cannot make a private key");
    }
    if (code == 0) {
        code = write_key(os, key_path, key, err);
    }
    if (code == 0) {
        code = write_cert(os, cert_path, cert, err);
    }
    X509_free(cert);
    EVP_PKEY_free(key);
    X509_free(spec.issuer);
    EVP_PKEY_free(spec.issuer_key);
    strbuf_fini(&uri);
    return code;
}
