/* cli/cmd_cert.c - `roost cert create|renew`.
 *
 * Makes the certificates of collectors and schedds, each with its role and name
 * (base/server_role.h).  This needs only the key of the pool's CA; the pool need not run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/config/config.h"
#include "base/knob.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/pki.h"
#include "base/server_role.h"
#include "base/strbuf.h"
#include "base/stream/stream.h"
#include "cli/cli.h"
#include "cli/listing.h"
#include "collector/knobs.h"
#include "schedd/knobs.h"

static bool is_there(struct cli *cli, const char *path)
{
    struct os_stat stat;
    return os_stat(cli->os, path, &stat) == 0;
}

/* ---- making a certificate */

struct cert {
    const char *role, *name;
    const char *path, *key_path;
};

/* Prints where the certificate is, with its SHA-256 fingerprint, because COLLECTOR_PIN must be set
 * to the new fingerprint where it is used. */
static int say_made(struct cli *cli, const struct cert *cert, struct err *err)
{
    struct tls_identity *identity = NULL;
    int rc = tls_identity_load(cli->os, cert->path, cert->key_path, &identity, err);
    if (rc == 0) {
        (void)printf("%s: %s '%s', SHA-256 %s\n", cert->path, cert->role, cert->name,
                     tls_identity_pin(identity));
    }
    tls_identity_destroy(identity);
    return rc;
}

static int make_certificate(struct cli *cli, const struct cert *cert, struct err *err)
{
    const char *ca = config_path(cli->config, "SEC_DIRECTORY");
    const struct pki_server server = {.role = cert->role, .name = cert->name};
    int rc = pki_make_server_cert(cli->os, ca, cert->path, cert->key_path, &server, err);
    if (rc == -ENOENT && err != NULL) {
        const struct err why = *err;
        return err_set(err, rc, "%s; make certificates on the host of the pool's CA", why.text);
    }
    return rc;
}

/* ---- create */

static int create_in(struct cli *cli, const char *role, const char *name, const char *directory,
                     struct err *err)
{
    struct strbuf path, key_path;
    strbuf_init(&path, 0);
    strbuf_init(&key_path, 0);
    strbuf_printf(&path, "%s/%s.pem", directory, role);
    strbuf_printf(&key_path, "%s/%s-key.pem", directory, role);
    const struct cert cert = {role, name, strbuf_text(&path), strbuf_text(&key_path)};
    int rc = 0;
    if (is_there(cli, cert.path) || is_there(cli, cert.key_path)) {
        rc = err_set(err, -EEXIST,
                     "%s or its key exists already; `roost cert renew` replaces the certificates "
                     "of this host",
                     cert.path);
    }
    rc = rc != 0 ? rc : make_certificate(cli, &cert, err);
    rc = rc != 0 ? rc : say_made(cli, &cert, err);
    strbuf_fini(&path);
    strbuf_fini(&key_path);
    return rc;
}

static int cert_create(struct cli *cli)
{
    const char *words[2] = {NULL, NULL}, *directory = ".";
    size_t count = 0;
    struct err err;
    for (int i = 2; i < cli->argc; i++) {
        const char *arg = cli->argv[i];
        if (arg[0] == '-' && listing_is(arg, "directory", 1)) {
            if (i + 1 == cli->argc) {
                return cli_usage(cli, "%s needs a directory", arg);
            }
            directory = cli->argv[++i];
        } else if (arg[0] == '-' || count == ARRAY_COUNT(words)) {
            return cli_unknown(cli, arg);
        } else {
            words[count++] = arg;
        }
    }
    if (count < ARRAY_COUNT(words)) {
        return cli_usage(cli, "role and name are missing: collector or schedd, and its name");
    }
    if (!server_role_is_known(words[0])) {
        return cli_usage(cli, "unknown role '%s'; expected collector or schedd", words[0]);
    }
    if (cli_config(cli, &err) != 0 || create_in(cli, words[0], words[1], directory, &err) != 0) {
        return cli_fail(cli, "%s", err.text);
    }
    return CLI_OK;
}

/* ---- renew */

/* A server that may run on this host, and the knobs that name its certificate. */
struct server {
    const char *subsystem, *role;
    const struct knob_table *table;
    const char *name_knob, *cert_knob, *key_knob;
};

/* Gives the new key to the owner of the old one, because a daemon may have its own account. */
static int keep_owner(struct cli *cli, const char *path, const struct os_stat *old, struct err *err)
{
    return os_chown(cli->os, path, old->uid, old->gid, err);
}

/* Returns 1 when the certificate was renewed, 0 when this host has none, or -errno. */
static int renew_one(struct cli *cli, const struct server *server, struct err *err)
{
    const struct knob_table *const TABLES[] = {server->table, &knobs_common};
    struct config *config = NULL;
    struct os_stat old;
    const struct config_options how = {.tables = TABLES,
                                       .table_count = ARRAY_COUNT(TABLES),
                                       .subsystem = server->subsystem};
    int rc = cli_config_load(cli, &how, &config, err);
    if (rc != 0) {
        return rc;
    }
    const struct cert cert = {.role = server->role,
                              .name = config_string(config, server->name_knob),
                              .path = config_path(config, server->cert_knob),
                              .key_path = config_path(config, server->key_knob)};
    if (is_there(cli, cert.path)) {
        bool had_key = os_stat(cli->os, cert.key_path, &old) == 0;
        rc = make_certificate(cli, &cert, err);
        rc = rc != 0 || !had_key ? rc : keep_owner(cli, cert.key_path, &old, err);
        rc = rc != 0 ? rc : say_made(cli, &cert, err);
        rc = rc != 0 ? rc : 1;
    }
    config_destroy(config);
    return rc;
}

static int cert_renew(struct cli *cli)
{
    static const struct server SERVERS[] = {
        {"COLLECTOR", SERVER_ROLE_COLLECTOR, &collector_knobs, "COLLECTOR_NAME", "COLLECTOR_CERT",
         "COLLECTOR_KEY"},
        {"SCHEDD", SERVER_ROLE_SCHEDD, &schedd_knobs, "SCHEDD_NAME", "SCHEDD_CERT", "SCHEDD_KEY"},
    };
    struct err err;
    int renewed = 0;
    if (cli->argc > 2) {
        return cli_unknown(cli, cli->argv[2]);
    }
    if (cli_config(cli, &err) != 0) {
        return cli_fail(cli, "%s", err.text);
    }
    for (size_t i = 0; i < ARRAY_COUNT(SERVERS); i++) {
        int rc = renew_one(cli, &SERVERS[i], &err);
        if (rc < 0) {
            return cli_fail(cli, "%s", err.text);
        }
        renewed += rc;
    }
    if (renewed == 0) {
        return cli_fail(cli, "no certificate of this host's configuration exists (COLLECTOR_CERT, "
                             "SCHEDD_CERT); `roost cert create` makes the first one");
    }
    (void)printf("`roost config reload` makes running daemons use %s.\n",
                 renewed == 1 ? "it" : "them");
    return CLI_OK;
}

int cmd_cert(struct cli *cli)
{
    const char *verb = cli->argc > 1 ? cli->argv[1] : "";
    if (strcmp(verb, "create") == 0) {
        return cert_create(cli);
    }
    if (strcmp(verb, "renew") == 0) {
        return cert_renew(cli);
    }
    return verb[0] != '\0' ? cli_usage(cli, "unknown action '%s'; expected create or renew", verb)
                           : cli_usage(cli, "the action is missing: create or renew");
}
