/* tests/unit/base/test_pki.c - the pool's CA, and what clients make of certificates.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/base/stream_rig.h"

#include <time.h>

#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "base/os/os.h"
#include "base/os/os_run.h"
#include "base/pki.h"
#include "base/server_role.h"
#include "base/x509_tls.h"

#define DAY_S ((int64_t)86400)

/* A collector without names for other programs. */
static const struct pki_server PLAIN = {.role = "collector", .name = "head"};

struct pki {
    struct rig *rig;
    struct os *os;
    char path[12][160];
    unsigned next;
    struct err err;
};

static int setup(void **state)
{
    struct pki *pki = mem_zalloc(sizeof(*pki));
    assert_int_equal(rig_setup((void **)&pki->rig), 0);
    pki->os = pki->rig->os;
    tls_identity_destroy(pki->rig->identity);
    pki->rig->identity = NULL;
    *state = pki;
    return 0;
}

static int teardown(void **state)
{
    struct pki *pki = *state;
    assert_int_equal(rig_teardown((void **)&pki->rig), 0);
    mem_free(pki);
    return 0;
}

static const char *at(struct pki *pki, const char *name)
{
    char *path = pki->path[pki->next++ % 12];
    (void)snprintf(path, sizeof(pki->path[0]), "%s/%s", pki->rig->directory, name);
    return path;
}

static void make_ca(struct pki *pki, const char *name)
{
    assert_int_equal(os_mkdirs(pki->os, at(pki, name), 0700, NULL), 0);
    if (pki_make_ca(pki->os, at(pki, name), name, &pki->err) != 0) {
        fail_msg("%s", pki->err.text);
    }
}

/* The rig's server shows a certificate of this CA. */
static void make_server(struct pki *pki, const char *ca)
{
    static const char *const SANS[] = {"head.example.org", "127.0.0.1", "::1", "a,DNS:b"};
    static const struct pki_server SERVER = {"collector", "head", SANS, 4};
    if (pki_make_server_cert(pki->os, at(pki, ca), at(pki, "server.pem"), at(pki, "server-key.pem"),
                             &SERVER, &pki->err) != 0 ||
        tls_identity_load(pki->os, at(pki, "server.pem"), at(pki, "server-key.pem"),
                          &pki->rig->identity, &pki->err) != 0) {
        fail_msg("%s", pki->err.text);
    }
}

/* Connects with the CA file, until the client is open or refused. */
static void dial(struct pki *pki, const char *ca_file)
{
    struct rig *rig = pki->rig;
    struct stream_trust trust = {.ca_file = ca_file, .role = "collector"};
    if (rig->listener == NULL) {
        rig_listen(rig, "tcp:127.0.0.1:0");
    }
    assert_int_equal(stream_connect(rig->loop, listener_address(rig->listener), "collector", &trust,
                                    &END_EVENTS, &rig->client, &rig->client.stream, NULL),
                     0);
    AWAIT(rig, rig->client.opened || rig->client.closed);
}

static void hang_up(struct pki *pki)
{
    struct rig *rig = pki->rig;
    stream_close(rig->client.stream);
    rig->client.stream = NULL;
    AWAIT(rig, rig->server.stream != NULL);
    AWAIT(rig, rig->server.closed);
    end_close(&rig->server);
    rig->client.opened = rig->client.closed = rig->server.opened = rig->server.closed = 0;
}

static void a_server_of_the_pool_is_trusted(void **state)
{
    struct pki *pki = *state;
    make_ca(pki, "ca");
    make_server(pki, "ca");
    dial(pki, at(pki, "ca/ca.pem"));
    assert_int_equal(pki->rig->client.opened, 1);
    assert_int_equal(stream_write(pki->rig->client.stream, "hi", 2), 0);
    AWAIT(pki->rig, pki->rig->server.got_bytes == 2);
    /* The same certificate by its pin. */
    hang_up(pki);
    rig_connect(pki->rig, tls_identity_pin(pki->rig->identity));
    AWAIT(pki->rig, pki->rig->client.opened);
}

static void a_server_of_another_ca_is_refused_and_named(void **state)
{
    struct pki *pki = *state;
    make_ca(pki, "ca");
    make_ca(pki, "other");
    make_server(pki, "other");
    dial(pki, at(pki, "ca/ca.pem"));
    assert_int_equal(pki->rig->client.code, -EKEYREJECTED);
    assert_int_equal(pki->rig->client.opened, 0);
    char expected[256];
    (void)snprintf(expected, sizeof(expected), "%s: the certificate is not signed by the pool's CA",
                   listener_address(pki->rig->listener));
    assert_int_equal(strncmp(pki->rig->client.why, expected, strlen(expected)), 0);
    AWAIT(pki->rig, pki->rig->server.closed);
    assert_int_equal(pki->rig->server.code, -EPROTO);
}

static void a_ca_file_that_was_replaced_counts_from_the_next_connection(void **state)
{
    struct pki *pki = *state;
    char *data;
    size_t length;
    make_ca(pki, "ca");
    make_ca(pki, "other");
    make_server(pki, "other");
    dial(pki, at(pki, "ca/ca.pem"));
    assert_int_equal(pki->rig->client.code, -EKEYREJECTED);
    hang_up(pki);
    assert_int_equal(os_read_file(pki->os, at(pki, "other/ca.pem"), 10000, &data, &length, NULL),
                     0);
    assert_int_equal(os_write_file(pki->os, at(pki, "ca/ca.pem"), data, length, 0644, false, NULL),
                     0);
    mem_free(data);
    dial(pki, at(pki, "ca/ca.pem"));
    assert_int_equal(pki->rig->client.opened, 1);
}

/* A CA and a server certificate with these dates, made by hand. */
static void make_dated(struct pki *pki, int64_t from_s, int64_t to_s)
{
    struct x509_spec ca = {.name = "ca", .ca = true, .valid_from_s = from_s, .valid_to_s = to_s};
    struct x509_spec server = {.name = "server",
                               .valid_from_s = from_s,
                               .valid_to_s = to_s,
                               .uri = "roost://ca/collector/server"};
    X509 *cert;
    server.issuer_key = x509_key();
    EVP_PKEY *key = x509_key();
    assert_int_equal(x509_make(server.issuer_key, &ca, &server.issuer, NULL), 0);
    assert_int_equal(x509_make(key, &server, &cert, NULL), 0);
    FILE *files[3] = {fopen(at(pki, "dated-ca.pem"), "w"), fopen(at(pki, "dated.pem"), "w"),
                      fopen(at(pki, "dated-key.pem"), "w")};
    assert_int_equal(chmod(at(pki, "dated-key.pem"), 0600), 0);
    assert_int_equal(PEM_write_X509(files[0], server.issuer), 1);
    assert_int_equal(PEM_write_X509(files[1], cert), 1);
    assert_int_equal(PEM_write_PrivateKey(files[2], key, NULL, NULL, 0, NULL, NULL), 1);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(fclose(files[i]), 0);
    }
    X509_free(cert);
    X509_free(server.issuer);
    EVP_PKEY_free(key);
    EVP_PKEY_free(server.issuer_key);
    assert_int_equal(tls_identity_load(pki->os, at(pki, "dated.pem"), at(pki, "dated-key.pem"),
                                       &pki->rig->identity, NULL),
                     0);
}

static void a_machine_whose_clock_is_dead_still_comes_back(void **state)
{
    struct pki *pki = *state;
    int64_t now_s = (int64_t)time(NULL);
    make_dated(pki, now_s + 1000 * DAY_S, now_s + 2000 * DAY_S); /* we think it is long ago */
    dial(pki, at(pki, "dated-ca.pem"));
    assert_int_equal(pki->rig->client.opened, 1);
    hang_up(pki);
    tls_identity_destroy(pki->rig->identity);
    make_dated(pki, now_s - 2000 * DAY_S, now_s - 1000 * DAY_S); /* or far in the future */
    dial(pki, at(pki, "dated-ca.pem"));
    assert_int_equal(pki->rig->client.opened, 1);
}

static void a_server_certificate_is_no_ca(void **state)
{
    struct pki *pki = *state;
    char *data;
    size_t length;
    make_ca(pki, "ca");
    make_server(pki, "ca");
    tls_identity_destroy(pki->rig->identity);
    pki->rig->identity = NULL;
    /* A server that plays CA: its own key and certificate in the CA's place. */
    assert_int_equal(os_mkdirs(pki->os, at(pki, "evil"), 0700, NULL), 0);
    assert_int_equal(os_rename(pki->os, at(pki, "server.pem"), at(pki, "evil/ca.pem"), false, NULL),
                     0);
    assert_int_equal(os_rename(pki->os, at(pki, "server-key.pem"), at(pki, "evil/ca-key.pem"),
                               false, NULL),
                     0);
    assert_int_equal(pki_make_server_cert(pki->os, at(pki, "evil"), at(pki, "leaf.pem"),
                                          at(pki, "leaf-key.pem"), &PLAIN, NULL),
                     0);
    /* It shows the whole chain. */
    struct strbuf chain;
    strbuf_init(&chain, 0);
    const char *parts[] = {"leaf.pem", "evil/ca.pem"};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(os_read_file(pki->os, at(pki, parts[i]), 10000, &data, &length, NULL), 0);
        strbuf_append(&chain, data, length);
        mem_free(data);
    }
    assert_int_equal(os_write_file(pki->os, at(pki, "chain.pem"), chain.data, chain.length, 0644,
                                   false, NULL),
                     0);
    strbuf_fini(&chain);
    assert_int_equal(tls_identity_load(pki->os, at(pki, "chain.pem"), at(pki, "leaf-key.pem"),
                                       &pki->rig->identity, NULL),
                     0);
    dial(pki, at(pki, "ca/ca.pem"));
    assert_int_equal(pki->rig->client.code, -EKEYREJECTED);
}

static void an_identity_that_cannot_be_loaded_is_named(void **state)
{
    struct pki *pki = *state;
    struct tls_identity *identity = NULL;
    make_ca(pki, "ca");
    for (int i = 0; i < 2; i++) {
        char cert[32], key[32];
        (void)snprintf(cert, sizeof(cert), "%d.pem", i);
        (void)snprintf(key, sizeof(key), "%d-key.pem", i);
        assert_int_equal(pki_make_server_cert(pki->os, at(pki, "ca"), at(pki, cert), at(pki, key),
                                              &PLAIN, NULL),
                         0);
    }
    assert_int_equal(tls_identity_load(pki->os, at(pki, "0.pem"), at(pki, "1-key.pem"), &identity,
                                       &pki->err),
                     -EINVAL);
    assert_non_null(strstr(pki->err.text, "1-key.pem"));
    assert_int_equal(tls_identity_load(pki->os, at(pki, "none.pem"), at(pki, "1-key.pem"),
                                       &identity, &pki->err),
                     -ENOENT);
    assert_non_null(strstr(pki->err.text, "none.pem"));
    assert_int_equal(tls_identity_load(pki->os, at(pki, "0-key.pem"), at(pki, "0-key.pem"),
                                       &identity, &pki->err),
                     -EINVAL);
    assert_int_equal(chmod(at(pki, "0-key.pem"), 0640), 0);
    assert_int_equal(tls_identity_load(pki->os, at(pki, "0.pem"), at(pki, "0-key.pem"), &identity,
                                       &pki->err),
                     -EACCES);
    assert_non_null(strstr(pki->err.text, "0-key.pem"));
    assert_null(identity);
    struct stream_trust trust = {.ca_file = at(pki, "0-key.pem"), .role = "collector"};
    assert_int_equal(stream_connect(pki->rig->loop, "tcp:127.0.0.1:1", "x", &trust, &END_EVENTS,
                                    &pki->rig->client, &pki->rig->client.stream, &pki->err),
                     -EINVAL);
    assert_non_null(strstr(pki->err.text, "0-key.pem"));
}

static void a_ca_is_never_replaced_and_keys_are_secret(void **state)
{
    struct pki *pki = *state;
    struct os_stat st;
    make_ca(pki, "ca");
    assert_int_equal(os_stat(pki->os, at(pki, "ca/" PKI_CA_KEY), &st), 0);
    assert_int_equal(st.mode, 0600);
    assert_int_equal(os_stat(pki->os, at(pki, "ca/" PKI_CA_CERT), &st), 0);
    assert_int_equal(st.mode, 0644);
    assert_int_equal(pki_make_ca(pki->os, at(pki, "ca"), "again", &pki->err), -EEXIST);
    assert_non_null(strstr(pki->err.text, "ca.pem"));
    assert_int_equal(pki_make_ca(pki->os, at(pki, "missing"), "x", &pki->err), -ENOENT);
    assert_int_equal(pki_make_server_cert(pki->os, at(pki, "missing"), at(pki, "s.pem"),
                                          at(pki, "s-key.pem"), &PLAIN, &pki->err),
                     -ENOENT);
    make_server(pki, "ca");
    assert_int_equal(os_stat(pki->os, at(pki, "server-key.pem"), &st), 0);
    assert_int_equal(st.mode, 0600);
    /* A run that was cut short after the key is simply repeated. */
    assert_int_equal(os_remove(pki->os, at(pki, "ca/ca.pem"), NULL), 0);
    assert_int_equal(pki_make_ca(pki->os, at(pki, "ca"), "again", NULL), 0);
}

static void certificates_say_what_they_are(void **state)
{
    struct pki *pki = *state;
    make_ca(pki, "ca");
    make_server(pki, "ca");
    FILE *file = fopen(at(pki, "server.pem"), "r");
    X509 *cert = PEM_read_X509(file, NULL, NULL, NULL);
    assert_int_equal(fclose(file), 0);
    assert_non_null(cert);
    assert_int_equal(X509_check_host(cert, "head.example.org", 0, 0, NULL), 1);
    assert_int_equal(X509_check_ip_asc(cert, "127.0.0.1", 0), 1);
    assert_int_equal(X509_check_ip_asc(cert, "::1", 0), 1);
    assert_int_equal(X509_check_host(cert, "b", 0, 0, NULL), 0); /* "a,DNS:b" is one odd name */
    struct server_role role;
    assert_int_equal(x509_role(cert, &role, NULL), 0);
    assert_string_equal(role.pool, "ca");
    assert_string_equal(role.role, "collector");
    assert_string_equal(role.name, "head");
    assert_int_equal(X509_check_ca(cert), 0);
    assert_int_equal(X509_get_extended_key_usage(cert), XKU_SSL_SERVER);
    int days = 0, seconds = 0;
    assert_int_equal(ASN1_TIME_diff(&days, &seconds, NULL, X509_get0_notAfter(cert)), 1);
    assert_in_range(days, 3651, 3653);
    X509_free(cert);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_server_of_the_pool_is_trusted),
        TEST(a_server_of_another_ca_is_refused_and_named),
        TEST(a_ca_file_that_was_replaced_counts_from_the_next_connection),
        TEST(a_machine_whose_clock_is_dead_still_comes_back),
        TEST(a_server_certificate_is_no_ca),
        TEST(an_identity_that_cannot_be_loaded_is_named),
        TEST(a_ca_is_never_replaced_and_keys_are_secret),
        TEST(certificates_say_what_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
