/* tests/unit/base/test_stream_role.c - a client and the certificates of servers that the pool's CA
 * signed, but that are not the one that was meant, or that say so in an odd way.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/base/stream_rig.h"

#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "base/check.h"
#include "base/os/os.h"
#include "base/os/os_run.h"
#include "base/x509_tls.h"

#define RIGHT   "roost://pool/collector/head"
#define FOREVER ((int64_t)4000000000)

struct bench {
    struct rig *rig;
    struct os *os;
    EVP_PKEY *ca_key, *key;
    X509 *ca;
    int refusal; /* what is_trusted() expects of a server that is refused */
    char ca_file[96], cert_file[96], key_file[96];
};

/* One subject alternative name; text may have zero bytes in it. */
struct san {
    int type; /* GEN_*; 0: the end of a list */
    const char *text;
    size_t length; /* 0: of a string */
};

static void write_cert(const char *path, const char *mode, X509 *cert)
{
    FILE *file = fopen(path, mode);
    assert_non_null(file);
    assert_int_equal(PEM_write_X509(file, cert), 1);
    assert_int_equal(fclose(file), 0);
}

static X509 *make_ca(EVP_PKEY *key, const char *name)
{
    const struct x509_spec spec = {.name = name, .ca = true, .valid_to_s = FOREVER};
    X509 *ca = NULL;
    assert_int_equal(x509_make(key, &spec, &ca, NULL), 0);
    return ca;
}

static int setup(void **state)
{
    struct bench *bench = mem_zalloc(sizeof(*bench));
    assert_int_equal(rig_setup((void **)&bench->rig), 0);
    bench->os = bench->rig->os;
    tls_identity_destroy(bench->rig->identity);
    bench->rig->identity = NULL;
    bench->refusal = -EKEYREJECTED;
    const char *dir = bench->rig->directory;
    (void)snprintf(bench->ca_file, sizeof(bench->ca_file), "%s/ca.pem", dir);
    (void)snprintf(bench->cert_file, sizeof(bench->cert_file), "%s/cert.pem", dir);
    (void)snprintf(bench->key_file, sizeof(bench->key_file), "%s/key.pem", dir);
    bench->key = x509_key();
    bench->ca_key = x509_key();
    bench->ca = make_ca(bench->ca_key, "pool");
    write_cert(bench->ca_file, "w", bench->ca);
    FILE *file = fopen(bench->key_file, "w");
    assert_int_equal(chmod(bench->key_file, 0600), 0);
    assert_int_equal(PEM_write_PrivateKey(file, bench->key, NULL, NULL, 0, NULL, NULL), 1);
    assert_int_equal(fclose(file), 0);
    rig_listen(bench->rig, "tcp:127.0.0.1:0");
    *state = bench;
    return 0;
}

static int teardown(void **state)
{
    struct bench *bench = *state;
    X509_free(bench->ca);
    EVP_PKEY_free(bench->ca_key);
    EVP_PKEY_free(bench->key);
    assert_int_equal(rig_teardown((void **)&bench->rig), 0);
    mem_free(bench);
    return 0;
}

static void add_names(X509 *cert, const struct san *sans, unsigned long how)
{
    GENERAL_NAMES *names = sk_GENERAL_NAME_new_null();
    for (; sans->type != 0; sans++) {
        GENERAL_NAME *name = GENERAL_NAME_new();
        ASN1_IA5STRING *text = ASN1_IA5STRING_new();
        size_t length = sans->length > 0 ? sans->length : strlen(sans->text);
        assert_int_equal(ASN1_STRING_set(text, sans->text, (int)length), 1);
        GENERAL_NAME_set0_value(name, sans->type, text);
        assert_true(sk_GENERAL_NAME_push(names, name) > 0);
    }
    assert_int_equal(X509_add1_ext_i2d(cert, NID_subject_alt_name, names, 0, how), 1);
    GENERAL_NAMES_free(names);
}

/* The server's certificate with these names, and, unless NULL, a second extension of the same kind
 * with those. */
static X509 *make_cert(struct bench *bench, const struct san *sans, const struct san *again)
{
    const struct x509_spec spec = {.name = RIGHT, /* a common name is no alternative name */
                                   .valid_to_s = FOREVER,
                                   .issuer = bench->ca,
                                   .issuer_key = bench->ca_key};
    X509 *cert = NULL;
    assert_int_equal(x509_make(bench->key, &spec, &cert, NULL), 0);
    if (sans->type != 0) {
        add_names(cert, sans, X509V3_ADD_DEFAULT);
    }
    if (again != NULL) {
        add_names(cert, again, X509V3_ADD_APPEND);
    }
    assert_true(X509_sign(cert, bench->ca_key, EVP_sha256()) > 0);
    return cert;
}

static void show(struct bench *bench, X509 *cert)
{
    struct err err = {""};
    write_cert(bench->cert_file, "w", cert);
    tls_identity_destroy(bench->rig->identity);
    bench->rig->identity = NULL;
    if (tls_identity_load(bench->os, bench->cert_file, bench->key_file, &bench->rig->identity,
                          &err) != 0) {
        fail_msg("%s", err.text);
    }
    X509_free(cert);
}

static void hang_up(struct rig *rig)
{
    end_close(&rig->client);
    AWAIT(rig, rig->server.stream != NULL);
    AWAIT(rig, rig->server.closed);
    end_close(&rig->server);
    rig->client.opened = rig->client.closed = rig->server.opened = rig->server.closed = 0;
    rig->server.got_bytes = 0;
}

/* Dials, says its secret without waiting, as wire/ does with its greeting, and hangs up.  Was the
 * server trusted?  If not, it has got nothing. */
static bool is_trusted(struct bench *bench, const char *role, const char *name)
{
    struct rig *rig = bench->rig;
    const struct stream_trust trust = {.ca_file = bench->ca_file, .role = role, .name = name};
    assert_int_equal(stream_connect(rig->loop, listener_address(rig->listener), "collector", &trust,
                                    &END_EVENTS, &rig->client, &rig->client.stream, NULL),
                     0);
    assert_int_equal(stream_write(rig->client.stream, "secret", 6), 0);
    AWAIT(rig, rig->client.opened || rig->client.closed);
    bool trusted = rig->client.opened > 0;
    if (trusted) {
        AWAIT(rig, rig->server.got_bytes == 6);
    } else {
        assert_int_equal(rig->client.code, bench->refusal);
        AWAIT(rig, rig->server.closed);
        assert_int_equal(rig->server.opened, 0);
        assert_int_equal(rig->server.got_bytes, 0);
    }
    hang_up(rig);
    return trusted;
}

static void a_server_is_known_by_its_role_and_where_that_is_asked_its_name(void **state)
{
    struct bench *bench = *state;
    show(bench, make_cert(bench, (struct san[]){{GEN_URI, RIGHT, 0}, {0, NULL, 0}}, NULL));
    assert_true(is_trusted(bench, "collector", NULL));
    assert_true(is_trusted(bench, "collector", "head"));
    assert_false(is_trusted(bench, "collector", "hea"));
    assert_false(is_trusted(bench, "collector", "Head"));
    assert_false(is_trusted(bench, "collector", ""));
    assert_false(is_trusted(bench, "schedd", NULL));
    assert_false(is_trusted(bench, "schedd", "head"));
    assert_false(is_trusted(bench, "Collector", NULL));
}

static void the_schedds_certificate_does_not_make_a_collector(void **state)
{
    struct bench *bench = *state;
    char expected[400];
    show(bench,
         make_cert(bench, (struct san[]){{GEN_URI, "roost://pool/schedd/submit1", 0}, {0, NULL, 0}},
                   NULL));
    assert_false(is_trusted(bench, "collector", NULL));
    (void)snprintf(
        expected, sizeof(expected),
        "%s: the server shows the certificate of schedd 'submit1' of pool 'pool', expected a "
        "collector of pool 'pool'; check the address and the server at this address",
        listener_address(bench->rig->listener));
    assert_string_equal(bench->rig->client.why, expected);
    assert_true(is_trusted(bench, "schedd", "submit1"));
}

static void what_is_not_exactly_one_right_uri_is_refused(void **state)
{
    static const struct {
        struct san sans[4];
        bool good;
    } CASES[] = {
        {{{GEN_URI, RIGHT, 0}}, true},
        /* names for other programs, among them URIs, do not matter */
        {{{GEN_DNS, "head.lab", 0}, {GEN_URI, RIGHT, 0}, {GEN_URI, "spiffe://lab/head", 0}}, true},
        {{{GEN_URI, "https://head.lab/", 0}, {GEN_URI, RIGHT, 0}}, true},
        /* none */
        {{{0, NULL, 0}}, false},
        {{{GEN_DNS, "head.lab", 0}}, false},
        {{{GEN_URI, "spiffe://pool/collector/head", 0}}, false},
        /* of another kind */
        {{{GEN_DNS, RIGHT, 0}}, false},
        {{{GEN_EMAIL, RIGHT, 0}}, false},
        {{{GEN_DNS, RIGHT, 0}, {GEN_URI, "https://head.lab/", 0}}, false},
        /* two, whichever is right */
        {{{GEN_URI, RIGHT, 0}, {GEN_URI, RIGHT, 0}}, false},
        {{{GEN_URI, RIGHT, 0}, {GEN_URI, "roost://pool/schedd/head", 0}}, false},
        {{{GEN_URI, "roost://pool/schedd/head", 0}, {GEN_URI, RIGHT, 0}}, false},
        {{{GEN_URI, RIGHT, 0}, {GEN_URI, "ROOST:", 0}}, false},
        {{{GEN_URI, "Roost://other", 0}, {GEN_URI, RIGHT, 0}}, false},
        /* of another pool, role, or none */
        {{{GEN_URI, "roost://other/collector/head", 0}}, false},
        {{{GEN_URI, "roost://Pool/collector/head", 0}}, false},
        {{{GEN_URI, "roost://pool/schedd/head", 0}}, false},
        {{{GEN_URI, "roost://pool/collectors/head", 0}}, false},
        {{{GEN_URI, "roost://pool/collector", 0}}, false},
        {{{GEN_URI, "roost://pool/collector/", 0}}, false},
        {{{GEN_URI, "roost:///collector/head", 0}}, false},
        /* another way to write the same */
        {{{GEN_URI, "Roost://pool/collector/head", 0}}, false},
        {{{GEN_URI, "ROOST://POOL/COLLECTOR/HEAD", 0}}, false},
        {{{GEN_URI, "roost://pool/Collector/head", 0}}, false},
        {{{GEN_URI, "roost://pool/%63ollector/head", 0}}, false},
        {{{GEN_URI, "roost://%70ool/collector/head", 0}}, false},
        {{{GEN_URI, "roost://pool/collector%2Fhead", 0}}, false},
        {{{GEN_URI, "roost://pool/schedd/../collector/head", 0}}, false},
        {{{GEN_URI, "roost://pool//collector/head", 0}}, false},
        {{{GEN_URI, "roost://pool/collector/head/", 0}}, false},
        {{{GEN_URI, "roost://pool/collector/head?x", 0}}, false},
        {{{GEN_URI, "roost://pool/collector/head#x", 0}}, false},
        {{{GEN_URI, "roost://user@pool/collector/head", 0}}, false},
        {{{GEN_URI, " roost://pool/collector/head", 0}}, false},
        {{{GEN_URI, "roost://pool/collector/head\n", 0}}, false},
        /* a zero byte, behind which a C string has ended */
        {{{GEN_URI, RIGHT "\0", sizeof(RIGHT)}}, false},
        {{{GEN_URI, RIGHT "\0.example", sizeof(RIGHT) + 8}}, false},
        {{{GEN_URI, "roost://pool/collector\0/head", 28}}, false},
        {{{GEN_URI, "\0" RIGHT, sizeof(RIGHT)}}, false},
    };
    struct bench *bench = *state;
    for (size_t i = 0; i < ARRAY_COUNT(CASES); i++) {
        show(bench, make_cert(bench, CASES[i].sans, NULL));
        if (is_trusted(bench, "collector", NULL) != CASES[i].good) {
            fail_msg("case %zu: %s", i, bench->rig->client.why);
        }
    }
}

static void a_certificate_without_a_role_is_told_how_to_get_one(void **state)
{
    struct bench *bench = *state;
    struct err err = {""};
    show(bench, make_cert(bench, (struct san[]){{GEN_DNS, "head.lab", 0}, {0, NULL, 0}}, NULL));
    assert_false(is_trusted(bench, "collector", NULL));
    assert_non_null(strstr(bench->rig->client.why, "the certificate names no role"));
    assert_non_null(strstr(bench->rig->client.why, "`roost cert renew`"));
    assert_non_null(strstr(bench->rig->client.why, "on the host of the pool's CA"));
    /* Its server finds out before it listens. */
    assert_int_equal(tls_identity_judge(bench->rig->identity, "collector", NULL, &err),
                     -EKEYREJECTED);
    assert_non_null(strstr(err.text, "`roost cert renew`"));
}

static void a_server_sees_that_its_certificate_is_anothers(void **state)
{
    struct bench *bench = *state;
    struct err err = {""};
    show(bench, make_cert(bench, (struct san[]){{GEN_URI, RIGHT, 0}, {0, NULL, 0}}, NULL));
    const struct tls_identity *identity = bench->rig->identity;
    assert_int_equal(tls_identity_judge(identity, "collector", NULL, &err), 0);
    assert_int_equal(tls_identity_judge(identity, "collector", "head", &err), 0);
    assert_int_equal(tls_identity_judge(identity, "schedd", "head", &err), -EKEYREJECTED);
    assert_int_equal(tls_identity_judge(identity, "collector", "tail", &err), -EKEYREJECTED);
    assert_non_null(strstr(err.text, "collector 'head' of pool 'pool', expected collector 'tail'"));
    assert_non_null(strstr(err.text, "`roost cert renew`"));
}

static void names_that_are_there_twice_are_refused(void **state)
{
    static const struct san RIGHT_ONE[] = {{GEN_URI, RIGHT, 0}, {0, NULL, 0}};
    static const struct san OTHER[] = {{GEN_DNS, "head.lab", 0}, {0, NULL, 0}};
    struct bench *bench = *state;
    bench->refusal = -EPROTO; /* OpenSSL finds that before us */
    show(bench, make_cert(bench, RIGHT_ONE, OTHER));
    assert_false(is_trusted(bench, "collector", NULL));
    show(bench, make_cert(bench, OTHER, RIGHT_ONE));
    assert_false(is_trusted(bench, "collector", NULL));
}

static void a_ca_speaks_for_the_pool_of_its_own_name_only(void **state)
{
    struct bench *bench = *state;
    X509 *ours = bench->ca;
    EVP_PKEY *our_key = bench->ca_key;
    bench->ca_key = x509_key();
    bench->ca = make_ca(bench->ca_key, "other");
    write_cert(bench->ca_file, "a", bench->ca); /* both are trusted here */
    show(bench, make_cert(bench, (struct san[]){{GEN_URI, RIGHT, 0}, {0, NULL, 0}}, NULL));
    assert_false(is_trusted(bench, "collector", NULL));
    show(bench,
         make_cert(bench,
                   (struct san[]){{GEN_URI, "roost://other/collector/head", 0}, {0, NULL, 0}},
                   NULL));
    assert_true(is_trusted(bench, "collector", NULL));
    X509_free(ours);
    EVP_PKEY_free(our_key);
}

/* A CA whose subject has these common names. */
static void replace_ca(struct bench *bench, const char *const *names, int length)
{
    X509_NAME *subject = X509_NAME_new();
    X509_free(bench->ca);
    bench->ca = make_ca(bench->ca_key, "pool");
    for (; *names != NULL; names++) {
        assert_int_equal(X509_NAME_add_entry_by_txt(subject, "CN", V_ASN1_UTF8STRING,
                                                    (const unsigned char *)*names, length, -1, 0),
                         1);
    }
    assert_int_equal(X509_set_subject_name(bench->ca, subject), 1);
    assert_int_equal(X509_set_issuer_name(bench->ca, subject), 1);
    assert_true(X509_sign(bench->ca, bench->ca_key, EVP_sha256()) > 0);
    X509_NAME_free(subject);
    write_cert(bench->ca_file, "w", bench->ca);
    show(bench, make_cert(bench, (struct san[]){{GEN_URI, RIGHT, 0}, {0, NULL, 0}}, NULL));
}

static void a_ca_without_one_plain_name_stands_for_no_pool(void **state)
{
    struct bench *bench = *state;
    replace_ca(bench, (const char *const[]){"pool", NULL}, -1);
    assert_true(is_trusted(bench, "collector", NULL));
    replace_ca(bench, (const char *const[]){"pool", "pool", NULL}, -1);
    assert_false(is_trusted(bench, "collector", NULL));
    replace_ca(bench, (const char *const[]){"other", "pool", NULL}, -1);
    assert_false(is_trusted(bench, "collector", NULL));
    replace_ca(bench, (const char *const[]){"pool\0x", NULL}, 6);
    assert_false(is_trusted(bench, "collector", NULL));
    replace_ca(bench, (const char *const[]){NULL}, -1);
    assert_false(is_trusted(bench, "collector", NULL));
    assert_non_null(
        strstr(bench->rig->client.why, "the pool's CA: the certificate has no common name"));
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_server_is_known_by_its_role_and_where_that_is_asked_its_name),
        TEST(the_schedds_certificate_does_not_make_a_collector),
        TEST(what_is_not_exactly_one_right_uri_is_refused),
        TEST(a_certificate_without_a_role_is_told_how_to_get_one),
        TEST(a_server_sees_that_its_certificate_is_anothers),
        TEST(names_that_are_there_twice_are_refused),
        TEST(a_ca_speaks_for_the_pool_of_its_own_name_only),
        TEST(a_ca_without_one_plain_name_stands_for_no_pool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
