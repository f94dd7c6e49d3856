/* sim/tls_sim.c - certificates as names: the identities of base/stream/stream.h in the simulator.
 *
 * A certificate is a file with the text "sim-cert NAME ISSUER [URI]" (the URI of
 * base/server_role.h), a CA file has "sim-ca ISSUER", where the issuer is the pool, and a pin is a
 * hash of the certificate's file.  What base/stream/stream_tls.c refuses is refused here, too.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/server_role.h"
#include "base/text.h"
#include "sim/net_sim.h"

#define SECRET_FILE_MASK 0077

static void make_pin(const char *text, size_t length, char pin[STREAM_PIN_SIZE])
{
    uint64_t seed = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < length; i++) {
        seed = (seed ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    }
    struct rng rng;
    rng_seed(&rng, seed);
    for (size_t i = 0; i < 4; i++) {
        (void)snprintf(pin + 16 * i, 17, "%016llx", (unsigned long long)rng_next(&rng));
    }
}

static size_t file_text(const struct tls_identity *identity, char *text, size_t size)
{
    return (size_t)snprintf(text, size, "sim-cert %s %s%s%s", identity->name, identity->issuer,
                            identity->uri[0] != '\0' ? " " : "", identity->uri);
}

int tls_identity_load(struct os *os, const char *cert_path, const char *key_path,
                      struct tls_identity **ret, struct err *err)
{
    char *text = NULL;
    size_t length = 0;
    struct os_stat key;
    int code = os_read_file(os, cert_path, 4096, &text, &length, err);
    if (code != 0) {
        return code;
    }
    struct tls_identity *identity = mem_zalloc(sizeof(*identity));
    code = os_stat(os, key_path, &key);
    if (code != 0) {
        code = err_set(err, code, "%s: %s", key_path, err_code_text(code));
    } else if ((key.mode & SECRET_FILE_MASK) != 0) {
        code = err_set(err, -EACCES, "%s: others than its owner can read this key", key_path);
    } else if (sscanf(text, "sim-cert %127s %127s %255s", identity->name, identity->issuer,
                      identity->uri) < 2) {
        code = err_set(err, -EINVAL, "%s: not a certificate", cert_path);
    }
    make_pin(text, length, identity->pin);
    mem_free(text);
    if (code != 0) {
        mem_free(identity);
        return code;
    }
    *ret = identity;
    return 0;
}

int tls_identity_ephemeral(struct loop *loop, const char *name, struct tls_identity **ret,
                           struct err *err)
{
    (void)err;
    struct tls_identity *identity = mem_zalloc(sizeof(*identity));
    (void)snprintf(identity->name, sizeof(identity->name), "%s", name);
    uint8_t key[32];
    loop_secret(loop, key, sizeof(key));
    text_hex(key, sizeof(key), identity->issuer); /* no CA has such a name */
    char text[sizeof(*identity)];
    make_pin(text, file_text(identity, text, sizeof(text)), identity->pin);
    *ret = identity;
    return 0;
}

int tls_identity_save(struct os *os, const struct tls_identity *identity, const char *path,
                      struct err *err)
{
    char text[sizeof(*identity)];
    size_t length = file_text(identity, text, sizeof(text));
    return os_write_file(os, path, text, length, 0600, true, err);
}

void tls_identity_destroy(struct tls_identity *identity)
{
    mem_free(identity);
}

int tls_identity_judge(const struct tls_identity *identity, const char *role, const char *name,
                       struct err *err)
{
    struct server_role shown;
    return server_role_parse(identity->uri, strlen(identity->uri), &shown, err) != 0
               ? -EKEYREJECTED
               : server_role_judge(&shown, NULL, role, name, err);
}

const char *tls_identity_pin(const struct tls_identity *identity)
{
    return identity->pin;
}

/* Makes the binding of the connection's number: both ends know it, and it differs for each
 * connection. */
bool stream_binding(const struct stream *stream, uint8_t ret[STREAM_BINDING_BYTES])
{
    if (stream->connection->is_unix) {
        return false;
    }
    struct rng rng;
    rng_seed(&rng, stream->connection->serial);
    for (size_t i = 0; i < STREAM_BINDING_BYTES; i += sizeof(uint64_t)) {
        uint64_t bits = rng_next(&rng);
        memcpy(ret + i, &bits, sizeof(bits));
    }
    return true;
}

int sim_tls_judge(const struct stream *client, const struct sim_connection *connection,
                  struct err *err)
{
    const char *uri = connection->server_uri;
    struct server_role shown;
    if (client->pin != NULL) {
        return strcmp(client->pin, connection->server_pin) == 0
                   ? 0
                   : err_set(err, -EKEYREJECTED,
                             "the server's certificate is not the one that was expected");
    }
    if (strcmp(client->ca_issuer, connection->server_issuer) != 0) {
        return err_set(err, -EKEYREJECTED,
                       "the server's certificate is not signed by the pool's CA");
    }
    int code = server_role_parse(uri, strlen(uri), &shown, err);
    return code != 0
               ? code
               : server_role_judge(&shown, client->ca_issuer, client->role, client->name, err);
}
