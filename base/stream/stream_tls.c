/* base/stream/stream_tls.c - TLS 1.3 by OpenSSL 3: identities, what a client insists on, and the
 * four operations of a connection.
 *
 * Design note: OpenSSL works on the socket itself, without libevent's bufferevent_openssl between:
 * that layer reads on when the reader is paused and cannot tell a cut from an ordinary end, and
 * both matter here.
 *
 * A client knows the pool's CA, and the CA signs the pool's servers only, each with its role and
 * name (server_role.h): a chain that ends at the CA, and the role and name that were meant, are the
 * whole question.  Host names are not compared (a server may be reached by any address), and dates
 * are not judged, because a machine whose clock battery died must be able to come back to its pool.
 * With a pin the certificate's hash is the whole question.  Either is asked inside the handshake:
 * nothing that the owner wrote leaves before the answer is yes.  There are no session tickets:
 * every connection is a full handshake, of which a server does some thousand per second.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/stream/stream_tls.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include "base/check.h"
#include "base/err.h"
#include "base/loop_event.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/server_role.h"
#include "base/stream/stream.h"
#include "base/stream/stream_run.h"
#include "base/stream/stream_socket_tls.h"
#include "base/text.h"
#include "base/x509_tls.h"

#define PEM_FILE_MAX     ((size_t)256 << 10)
#define EPHEMERAL_S      ((int64_t)10 * 365 * 86400)
#define EPHEMERAL_PAST_S ((int64_t)86400)
#define PIN_BYTES        32
#define WARM_TURNS_MAX   8

struct tls_identity {
    SSL_CTX *context;
    char pin[STREAM_PIN_SIZE];
};

struct tls {
    SSL *ssl;
    struct tls_socket *socket; /* NULL before tls_attach(); the SSL's BIO owns it */
    bool by_pin;
    unsigned char pin[PIN_BYTES];
    char *role, *name; /* of the server, where it is known by the CA; name NULL: any */
    char *refusal;     /* why its role is not the one that was meant */
};

/* The context of clients that trust one CA file, kept while the file stays the same; file "" is the
 * one of clients with a pin. */
struct client_context {
    struct client_context *next;
    char *file;
    struct timespec mtime;
    ino_t inode;
    SSL_CTX *context;
};

struct client_contexts {
    struct client_context *first;
};

/* ---- the library ---- */

void stream_run_small(bool configured)
{
    uint64_t without = OPENSSL_INIT_NO_ADD_ALL_CIPHERS | OPENSSL_INIT_NO_ATEXIT;
    if (!configured) {
        without |= OPENSSL_INIT_NO_LOAD_CONFIG;
    }
    CHECK(OPENSSL_init_ssl(without, NULL) == 1);
}

/* ---- contexts -------------------------------------------------------------------------------- */

static SSL_CTX *context_create(const SSL_METHOD *method)
{
    SSL_CTX *context = SSL_CTX_new(method);
    CHECK(context != NULL);
    CHECK(SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) == 1);
    CHECK(SSL_CTX_set_num_tickets(context, 0) == 1);
    CHECK(SSL_CTX_set1_groups_list(context, "X25519:P-256") == 1);
    (void)SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION);
    (void)SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    /* RELEASE_BUFFERS: 30 KiB less for each of ten thousand quiet connections. */
    (void)SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE |
                                        SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                        SSL_MODE_RELEASE_BUFFERS);
    /* Who has hardware for AES has it for both, and the shorter key is a quarter faster; who has
     * none asks for ChaCha first. */
    CHECK(SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:"
                                            "TLS_CHACHA20_POLY1305_SHA256") == 1);
    return context;
}

static int verify_pin(X509_STORE_CTX *store, void *arg)
{
    (void)arg;
    const SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
    const struct tls *tls = SSL_get_app_data(ssl);
    unsigned char hash[EVP_MAX_MD_SIZE];
    unsigned length = 0;
    if (X509_digest(X509_STORE_CTX_get0_cert(store), EVP_sha256(), hash, &length) == 1 &&
        length == PIN_BYTES && memcmp(hash, tls->pin, PIN_BYTES) == 0) {
        return 1;
    }
    X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION);
    return 0;
}

/* Checks that the certificate names that role, and the pool whose CA signed it. */
static int judge_role(X509_STORE_CTX *store, const struct tls *tls, struct err *err)
{
    struct server_role shown;
    char pool[SERVER_ROLE_NAME_MAX + 1];
    STACK_OF(X509) *chain = X509_STORE_CTX_get0_chain(store);
    X509 *ca = sk_X509_value(chain, sk_X509_num(chain) - 1);
    int code = x509_common_name(ca, pool, sizeof(pool), err);
    if (code != 0) {
        return err_prefix(err, code, "the pool's CA");
    }
    code = x509_role(X509_STORE_CTX_get0_cert(store), &shown, err);
    return code != 0 ? code : server_role_judge(&shown, pool, tls->role, tls->name, err);
}

static int verify_role(X509_STORE_CTX *store, void *arg)
{
    (void)arg;
    const SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
    struct tls *tls = SSL_get_app_data(ssl);
    struct err err = {""};
    if (X509_verify_cert(store) != 1) {
        return 0;
    }
    int code = judge_role(store, tls, &err);
    if (code == 0) {
        return 1;
    }
    struct err why = err;
    if (code == -EKEYREJECTED) {
        (void)err_set(&err, code, "%s; check the address and the server at this address", why.text);
    }
    mem_free(tls->refusal);
    tls->refusal = mem_strdup(err.text);
    X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION);
    return 0;
}

static int context_load_ca(SSL_CTX *context, const char *file, struct err *err)
{
    ERR_clear_error();
    if (SSL_CTX_load_verify_file(context, file) != 1) {
        (void)x509_err(err, -EINVAL, "no CA certificate in PEM format in the file");
        return err_prefix(err, -EINVAL, "%s", file);
    }
    return X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context), X509_V_FLAG_NO_CHECK_TIME) == 1
               ? 0
               : x509_err(err, -EIO, "cannot set up the check of certificate dates");
}

static void contexts_destroy(void *value)
{
    struct client_contexts *contexts = value;
    struct client_context *next;
    for (struct client_context *each = contexts->first; each != NULL; each = next) {
        next = each->next;
        SSL_CTX_free(each->context);
        mem_free(each->file);
        mem_free(each);
    }
    mem_free(contexts);
}

static struct client_context *context_find(struct loop *loop, const char *file)
{
    struct client_contexts *contexts = loop_slot_get(loop, LOOP_SLOT_TLS);
    if (contexts == NULL) {
        contexts = mem_zalloc(sizeof(*contexts));
        loop_slot_set(loop, LOOP_SLOT_TLS, contexts, contexts_destroy);
    }
    for (struct client_context *each = contexts->first; each != NULL; each = each->next) {
        if (strcmp(each->file, file) == 0) {
            return each;
        }
    }
    struct client_context *fresh = mem_zalloc(sizeof(*fresh));
    fresh->file = mem_strdup(file);
    fresh->next = contexts->first;
    contexts->first = fresh;
    return fresh;
}

static SSL_CTX *pin_context(void)
{
    SSL_CTX *context = context_create(TLS_client_method());
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_cert_verify_callback(context, verify_pin, NULL);
    return context;
}

static int context_for_pin(struct loop *loop, SSL_CTX **ret)
{
    struct client_context *entry = context_find(loop, "");
    if (entry->context == NULL) {
        entry->context = pin_context();
    }
    *ret = entry->context;
    return 0;
}

static int context_for_ca(struct loop *loop, const char *file, SSL_CTX **ret, struct err *err)
{
    struct stat now;
    if (stat(file, &now) != 0) {
        return err_set(err, -errno, "%s: %s", file, strerror(errno));
    }
    struct client_context *entry = context_find(loop, file);
    if (entry->context == NULL || entry->inode != now.st_ino ||
        entry->mtime.tv_sec != now.st_mtim.tv_sec || entry->mtime.tv_nsec != now.st_mtim.tv_nsec) {
        SSL_CTX *context = context_create(TLS_client_method());
        int code = context_load_ca(context, file, err);
        if (code != 0) {
            SSL_CTX_free(context);
            return code;
        }
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
        SSL_CTX_set_cert_verify_callback(context, verify_role, NULL);
        SSL_CTX_free(entry->context); /* connections that use it hold it */
        entry->context = context;
        entry->inode = now.st_ino;
        entry->mtime = now.st_mtim;
    }
    *ret = entry->context;
    return 0;
}

/* ---- identities ------------------------------------------------------------------------------ */

static int identity_create(X509 *cert, EVP_PKEY *key, struct tls_identity **ret, struct err *err)
{
    unsigned char hash[EVP_MAX_MD_SIZE];
    unsigned length = 0;
    struct tls_identity *identity = mem_zalloc(sizeof(*identity));
    identity->context = context_create(TLS_server_method());
    ERR_clear_error();
    if (SSL_CTX_use_certificate(identity->context, cert) != 1 ||
        SSL_CTX_use_PrivateKey(identity->context, key) != 1 ||
        SSL_CTX_check_private_key(identity->context) != 1 ||
        X509_digest(cert, EVP_sha256(), hash, &length) != 1) {
        tls_identity_destroy(identity);
        return x509_err(err, -EINVAL, "the certificate and the key do not belong together");
    }
    text_hex(hash, PIN_BYTES, identity->pin);
    *ret = identity;
    return 0;
}

/* Opens a PEM file as a BIO. secret: only its owner may be able to read it. */
static int pem_open(const char *path, bool secret, char **text, BIO **ret, struct err *err)
{
    int code = 0;
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &st) != 0) {
        code = err_set(err, -errno, "%s: %s", path, strerror(errno));
        goto out;
    }
    if (secret && (st.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
        code =
            err_set(err, -EACCES, "%s: other users can read this private key; run chmod 600", path);
        goto out;
    }
    if (!S_ISREG(st.st_mode) || (size_t)st.st_size > PEM_FILE_MAX) {
        code = err_set(err, -EINVAL, "%s: not a file in PEM format", path);
        goto out;
    }
    char *data = mem_zalloc((size_t)st.st_size + 1);
    ssize_t got = read(fd, data, (size_t)st.st_size);
    if (got < 0) {
        code = err_set(err, -errno, "%s: %s", path, strerror(errno));
        mem_free(data);
        goto out;
    }
    *text = data;
    *ret = BIO_new_mem_buf(data, (int)got);
    CHECK(*ret != NULL);
out:
    if (fd >= 0) {
        close(fd);
    }
    return code;
}

static void pem_close(char *text, BIO *bio)
{
    BIO_free(bio);
    if (text != NULL) {
        OPENSSL_cleanse(text, strlen(text));
        mem_free(text);
    }
}

int tls_identity_load(struct os *os, const char *cert_path, const char *key_path,
                      struct tls_identity **ret, struct err *err)
{
    (void)os;
    char *cert_text = NULL, *key_text = NULL;
    BIO *cert_bio = NULL, *key_bio = NULL;
    X509 *cert = NULL;
    EVP_PKEY *key = NULL;
    struct tls_identity *identity = NULL;
    int code = pem_open(cert_path, false, &cert_text, &cert_bio, err);
    if (code == 0) {
        code = pem_open(key_path, true, &key_text, &key_bio, err);
    }
    if (code != 0) {
        goto out;
    }
    ERR_clear_error();
    cert = PEM_read_bio_X509(cert_bio, NULL, NULL, NULL);
    if (cert == NULL) {
        code = err_prefix(err, x509_err(err, -EINVAL, "no certificate in PEM format"), "%s",
                          cert_path);
        goto out;
    }
    key = PEM_read_bio_PrivateKey(key_bio, NULL, NULL, NULL);
    if (key == NULL) {
        code =
            err_prefix(err, x509_err(err, -EINVAL, "no private key in PEM format"), "%s", key_path);
        goto out;
    }
    code = identity_create(cert, key, &identity, err);
    if (code != 0) {
        (void)err_prefix(err, code, "%s, %s", cert_path, key_path);
        goto out;
    }
    X509 *link; /* the chain, where the CA in the pool's file did not sign the server itself */
    while ((link = PEM_read_bio_X509(cert_bio, NULL, NULL, NULL)) != NULL) {
        CHECK(SSL_CTX_add0_chain_cert(identity->context, link) == 1);
    }
    ERR_clear_error();
    *ret = identity;
out:
    EVP_PKEY_free(key);
    X509_free(cert);
    pem_close(key_text, key_bio);
    pem_close(cert_text, cert_bio);
    return code;
}

int tls_identity_ephemeral(struct loop *loop, const char *name, struct tls_identity **ret,
                           struct err *err)
{
    int64_t now_s = loop_wall_s(loop);
    struct x509_spec spec = {.name = name,
                             .valid_from_s = now_s - EPHEMERAL_PAST_S,
                             .valid_to_s = now_s + EPHEMERAL_S};
    X509 *cert = NULL;
    EVP_PKEY *key = x509_key();
    int code = key != NULL ? x509_make(key, &spec, &cert, err)
                           : x509_err(err, -EIO, "cannot make a private key");
    if (code == 0) {
        code = identity_create(cert, key, ret, err);
    }
    X509_free(cert);
    EVP_PKEY_free(key);
    return code;
}

int tls_identity_save(struct os *os, const struct tls_identity *identity, const char *path,
                      struct err *err)
{
    BIO *text = BIO_new(BIO_s_mem());
    CHECK(text != NULL);
    ERR_clear_error();
    int code = 0;
    if (PEM_write_bio_X509(text, SSL_CTX_get0_certificate(identity->context)) != 1 ||
        PEM_write_bio_PrivateKey(text, SSL_CTX_get0_privatekey(identity->context), NULL, NULL, 0,
                                 NULL, NULL) != 1) {
        code =
            x509_err(err, -EIO, "cannot convert the certificate and its private key to PEM format");
    } else {
        char *data = NULL;
        long length = BIO_get_mem_data(text, &data);
        code = os_write_file(os, path, data, (size_t)length, 0600, true, err);
        OPENSSL_cleanse(data, (size_t)length);
    }
    BIO_free(text);
    return code;
}

void tls_identity_destroy(struct tls_identity *identity)
{
    if (identity != NULL) {
        SSL_CTX_free(identity->context); /* streams that use it hold it */
        mem_free(identity);
    }
}

const char *tls_identity_pin(const struct tls_identity *identity)
{
    return identity->pin;
}

int tls_identity_judge(const struct tls_identity *identity, const char *role, const char *name,
                       struct err *err)
{
    struct server_role shown;
    struct err why = {""};
    if (x509_role(SSL_CTX_get0_certificate(identity->context), &shown, err) != 0) {
        return -EKEYREJECTED;
    }
    int code = server_role_judge(&shown, NULL, role, name, &why);
    return code == 0 ? 0 : err_set(err, code, "%s; %s", why.text, SERVER_ROLE_REMEDY);
}

/* ---- connections ----------------------------------------------------------------------------- */

static struct tls *tls_create(SSL_CTX *context)
{
    struct tls *tls = mem_zalloc(sizeof(*tls));
    tls->ssl = SSL_new(context);
    CHECK(tls->ssl != NULL);
    CHECK(SSL_set_app_data(tls->ssl, tls) == 1);
    return tls;
}

int tls_client_create(struct loop *loop, const struct stream_trust *trust, struct tls **ret,
                      struct err *err)
{
    unsigned char pin[PIN_BYTES] = {0};
    SSL_CTX *context = NULL;
    int code;
    if (trust->pin != NULL) {
        code = text_unhex(trust->pin, pin, PIN_BYTES, NULL);
        if (code != 0) {
            return err_set(err, -EINVAL, "'%s' is not a pin (expected 64 hex digits)", trust->pin);
        }
        code = context_for_pin(loop, &context);
    } else if (trust->role == NULL) {
        return err_set(
            err, -EINVAL,
            "%s: to check a server with a CA file, its role (collector or schedd) is needed, too",
            trust->ca_file);
    } else {
        code = context_for_ca(loop, trust->ca_file, &context, err);
    }
    if (code != 0) {
        return code;
    }
    struct tls *tls = tls_create(context);
    tls->by_pin = trust->pin != NULL;
    memcpy(tls->pin, pin, sizeof(pin));
    if (!tls->by_pin) {
        tls->role = mem_strdup(trust->role);
        tls->name = trust->name != NULL ? mem_strdup(trust->name) : NULL;
    }
    SSL_set_connect_state(tls->ssl);
    *ret = tls;
    return 0;
}

struct tls *tls_server_create(const struct tls_identity *identity)
{
    struct tls *tls = tls_create(identity->context);
    SSL_set_accept_state(tls->ssl);
    return tls;
}

/* Makes a handshake, and sends a record each way, until nothing is left to do. */
static void warm_connection(SSL *client, SSL *server)
{
    char byte = 0;
    for (int turn = 0; turn < WARM_TURNS_MAX; turn++) {
        bool done = SSL_do_handshake(client) == 1;
        if (SSL_do_handshake(server) == 1 && done) {
            break;
        }
    }
    (void)SSL_write(client, &byte, 1); /* what does not work here is told where it matters */
    (void)SSL_read(server, &byte, 1);
    (void)SSL_write(server, &byte, 1);
    (void)SSL_read(client, &byte, 1);
}

struct stream_warm {
    SSL_CTX *context; /* of clients with a pin */
};

struct stream_warm *stream_run_warm(void)
{
    struct x509_spec spec = {.name = "warm", .valid_to_s = EPHEMERAL_S};
    struct stream_warm *warm = mem_zalloc(sizeof(*warm));
    struct tls_identity *identity = NULL;
    BIO *ours = NULL, *theirs = NULL;
    X509 *cert = NULL;
    EVP_PKEY *key = x509_key();
    warm->context = pin_context();
    if (key != NULL && x509_make(key, &spec, &cert, NULL) == 0 &&
        identity_create(cert, key, &identity, NULL) == 0 &&
        BIO_new_bio_pair(&ours, 0, &theirs, 0) == 1) {
        struct tls *client = tls_create(warm->context);
        struct tls *server = tls_server_create(identity);
        (void)text_unhex(identity->pin, client->pin, PIN_BYTES, NULL); /* our own text */
        client->by_pin = true;
        SSL_set_connect_state(client->ssl);
        SSL_set_bio(client->ssl, ours, ours);
        SSL_set_bio(server->ssl, theirs, theirs);
        warm_connection(client->ssl, server->ssl);
        tls_destroy(client);
        tls_destroy(server);
    }
    tls_identity_destroy(identity);
    X509_free(cert);
    EVP_PKEY_free(key);
    ERR_clear_error();
    return warm;
}

void stream_run_adopt(struct loop *loop, struct stream_warm *warm)
{
    if (warm != NULL) {
        struct client_context *entry = context_find(loop, "");
        CHECK(entry->context == NULL);
        entry->context = warm->context;
        mem_free(warm);
    }
}

void tls_attach(struct tls *tls, struct tls_sockets *sockets, int fd)
{
    BIO *bio = tls_socket_bio(sockets, fd, &tls->socket);
    SSL_set_bio(tls->ssl, bio, bio);
}

void tls_set_read_max(struct tls *tls, size_t bytes)
{
    if (tls->socket != NULL) {
        tls_socket_set_read_max(tls->socket, bytes);
    }
}

void tls_no_input(struct tls *tls)
{
    tls_socket_is_empty(tls->socket);
}

void tls_turn_over(struct tls *tls)
{
    if (tls->socket != NULL) {
        tls_socket_turn_over(tls->socket);
    }
}

void tls_destroy(struct tls *tls)
{
    if (tls != NULL) {
        SSL_free(tls->ssl);
        mem_free(tls->role);
        mem_free(tls->name);
        mem_free(tls->refusal);
        mem_free(tls);
    }
}

static int verify_failed(const struct tls *tls, struct err *err)
{
    if (tls->by_pin) {
        char have[STREAM_PIN_SIZE];
        text_hex(tls->pin, PIN_BYTES, have);
        return err_set(err, -EKEYREJECTED,
                       "the certificate's SHA-256 fingerprint is not the expected one (%.16s...)",
                       have);
    }
    if (tls->refusal != NULL) {
        return err_set(err, -EKEYREJECTED, "%s", tls->refusal);
    }
    return err_set(err, -EKEYREJECTED, "the certificate is not signed by the pool's CA (%s)",
                   X509_verify_cert_error_string(SSL_get_verify_result(tls->ssl)));
}

/* Returns what a failed operation means, as an errno. */
static int tls_failed(struct tls *tls, int result, int os_error, unsigned *want, struct err *err)
{
    switch (SSL_get_error(tls->ssl, result)) {
    case SSL_ERROR_WANT_READ:
        *want = LOOP_READ;
        return -EAGAIN;
    case SSL_ERROR_WANT_WRITE:
        *want = LOOP_WRITE;
        return -EAGAIN;
    case SSL_ERROR_ZERO_RETURN:
        return 0;
    case SSL_ERROR_SYSCALL:
        ERR_clear_error();
        if (os_error == 0 || os_error == EPIPE || os_error == ECONNRESET) {
            return err_set(err, -ECONNRESET, "the connection was lost");
        }
        return err_set(err, -os_error, "%s", strerror(os_error));
    default:
        break;
    }
    unsigned long reason = ERR_peek_error();
    const char *text = ERR_reason_error_string(reason);
    int number = ERR_GET_REASON(reason);
    ERR_clear_error();
    if (number == SSL_R_UNEXPECTED_EOF_WHILE_READING) {
        return err_set(err, -ECONNRESET, "the connection was lost");
    }
    if (number == SSL_R_CERTIFICATE_VERIFY_FAILED) {
        return verify_failed(tls, err);
    }
    if (number >= SSL_AD_REASON_OFFSET) {
        return err_set(err, -EPROTO, "the peer ended TLS (%s)", text != NULL ? text : "no reason");
    }
    return err_set(err, -EPROTO, "TLS protocol error (%s)", text != NULL ? text : "no reason");
}

/* Empties OpenSSL's queue of errors only if it has some: emptying costs as much as encrypting a
 * small record. */
static void errors_forget(void)
{
    if (ERR_peek_error() != 0) {
        ERR_clear_error();
    }
}

int tls_handshake(struct tls *tls, unsigned *want, struct err *err)
{
    errors_forget();
    errno = 0;
    int result = SSL_do_handshake(tls->ssl);
    if (result == 1) {
        return 0;
    }
    int code = tls_failed(tls, result, errno, want, err);
    return code != 0 ? code
                     : err_set(err, -ECONNRESET,
                               "the peer closed the connection during the TLS handshake");
}

bool tls_has_begun(const struct tls *tls)
{
    return SSL_in_before(tls->ssl) == 0 && SSL_get_state(tls->ssl) != TLS_ST_SR_CLNT_HELLO;
}

ssize_t tls_read(struct tls *tls, void *data, size_t room, unsigned *want, struct err *err)
{
    size_t got = 0;
    errors_forget();
    errno = 0;
    int result = SSL_read_ex(tls->ssl, data, room, &got);
    if (result == 1) {
        return (ssize_t)got;
    }
    return tls_failed(tls, result, errno, want, err);
}

bool tls_may_have_more(const struct tls *tls)
{
    return SSL_has_pending(tls->ssl) == 1 || tls_socket_may_have_more(tls->socket);
}

ssize_t tls_write(struct tls *tls, const void *data, size_t length, unsigned *want, struct err *err)
{
    size_t put = 0;
    errors_forget();
    errno = 0;
    int result = SSL_write_ex(tls->ssl, data, length, &put);
    if (result == 1) {
        return (ssize_t)put;
    }
    int code = tls_failed(tls, result, errno, want, err);
    return code != 0 ? code : err_set(err, -EPIPE, "closed");
}

int tls_flush(struct tls *tls)
{
    return tls->socket != NULL ? tls_socket_flush(tls->socket) : 0;
}

size_t tls_pending(const struct tls *tls)
{
    return tls->socket != NULL ? tls_socket_pending(tls->socket) : 0;
}

int tls_say_bye(struct tls *tls, unsigned *want)
{
    errors_forget();
    errno = 0;
    int result = SSL_shutdown(tls->ssl);
    *want = LOOP_WRITE;
    return result >= 0 ? tls_flush(tls) : tls_failed(tls, result, errno, want, NULL);
}

bool tls_binding(const struct tls *tls, void *ret, size_t length)
{
    static const char LABEL[] = "EXPORTER-Channel-Binding";
    unsigned char bytes[64];
    CHECK(length <= sizeof(bytes));
    if (!SSL_is_init_finished(tls->ssl) ||
        SSL_export_keying_material(tls->ssl, bytes, length, LABEL, sizeof(LABEL) - 1, NULL, 0, 0) !=
            1) {
        ERR_clear_error();
        return false;
    }
    memcpy(ret, bytes, length);
    return true;
}
