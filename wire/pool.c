/* wire/pool.c - reads a pool's addresses and secrets from the configuration: see pool.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wire/expr_attrs.h"
#include "wire/pool.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/config/config.h"
#include "base/daemon/daemon.h"
#include "base/err.h"
#include "base/log.h"
#include "base/net_text.h"
#include "base/os/os.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "wire/wire.h"

static void options_read(const struct config *config, struct wire_context_options *ret)
{
    ret->token_path = config_path(config, "TOKEN_FILE");
    ret->pool_keys = config_path(config, "POOL_KEYS");
    ret->pool = config_string(config, "POOL_NAME");
    ret->ca_file = config_path(config, "POOL_CA");
    ret->collector_pin = config_string(config, "COLLECTOR_PIN");
    ret->uid_domain = config_string(config, "UID_DOMAIN");
}

static int create_context(const struct daemon_env *env, bool judges, struct wire_context **ret,
                          struct err *err)
{
    struct wire_context_options options = {
        .loop = env->loop,
        .os = env->os,
        .log = env->log,
        .admin_uid = os_uid(env->os),
    };
    options_read(env->config, &options);
    options.keys_when_asked = !judges;
    options.complaint_dir = judges ? config_path(env->config, "LOCK") : NULL;
    options.complaint_name = env->name;
    struct strbuf path;
    strbuf_init(&path, 0);
    strbuf_printf(&path, "%s/revoked.%s", config_path(env->config, "SPOOL"), env->name);
    options.revocations_path = judges ? strbuf_text(&path) : NULL;
    int rc = wire_context_create(&options, ret, err);
    strbuf_fini(&path);
    return rc;
}

int pool_context_create(const struct daemon_env *env, struct wire_context **ret, struct err *err)
{
    expr_attrs_log(env->config, env->log);
    return create_context(env, true, ret, err);
}

int pool_client_context_create(const struct daemon_env *env, struct wire_context **ret,
                               struct err *err)
{
    return create_context(env, false, ret, err);
}

void pool_context_reload(struct wire_context *context, const struct config *config, struct log *log)
{
    struct wire_context_options options = {.loop = NULL};
    struct err err = {""};
    options_read(config, &options);
    if (wire_context_change(context, &options, &err) < 0) {
        log_error(log, "config.refused", err.text, LOG_TEXT("kept", "the old keys and token"));
    }
    expr_attrs_log(config, log);
}

/* Appends one entry "HOST", "HOST:PORT", "[IPV6]" or "[IPV6]:PORT" as "tcp:HOST:PORT". */
static int append_address(struct strbuf *out, const char *knob, const char *entry, int64_t port,
                          struct err *err)
{
    size_t host_length;
    int rc = net_text_address(entry, &host_length, &port, err);
    if (rc != 0) {
        return err_prefix(err, rc, "%s", knob);
    }
    strbuf_printf(out, "%stcp:%.*s:%lld", out->length > 0 ? "," : "", (int)host_length, entry,
                  (long long)port);
    return 0;
}

int pool_collector_addresses(const struct config *config, char *ret, size_t size, struct err *err)
{
    size_t count;
    const char *const *hosts = config_list(config, "COLLECTOR_HOST", &count);
    struct strbuf out;
    strbuf_init(&out, 0);
    int rc =
        count > 0 ? 0 : err_set(err, -EINVAL, "COLLECTOR_HOST is empty; name the collector's host");
    for (size_t i = 0; i < count && rc == 0; i++) {
        rc = append_address(&out, "COLLECTOR_HOST", hosts[i], config_int(config, "COLLECTOR_PORT"),
                            err);
    }
    if (rc == 0 && out.length >= size) {
        rc = err_set(err, -ENAMETOOLONG, "COLLECTOR_HOST has more than %zu bytes", size - 1);
    }
    if (rc == 0) {
        (void)snprintf(ret, size, "%s", strbuf_text(&out));
    }
    strbuf_fini(&out);
    return rc;
}

void pool_uplink_reload(struct uplink *uplink, const struct config *config, struct log *log)
{
    char addresses[POOL_ADDRESS_MAX];
    struct err err = {""};
    int rc = pool_collector_addresses(config, addresses, sizeof(addresses), &err);
    rc = rc < 0 ? rc : uplink_change(uplink, addresses, &err);
    if (rc < 0) {
        log_error(log, "config.refused", err.text, LOG_TEXT("kept", "the old COLLECTOR_HOST"));
    }
}

int pool_address(const char *knob, const char *entry, int64_t port, char *ret, size_t size,
                 struct err *err)
{
    struct strbuf out;
    strbuf_init(&out, 0);
    int rc = append_address(&out, knob, entry, port, err);
    if (rc == 0 && out.length >= size) {
        rc = err_set(err, -ENAMETOOLONG, "%s has more than %zu bytes", knob, size - 1);
    }
    if (rc == 0) {
        (void)snprintf(ret, size, "%s", strbuf_text(&out));
    }
    strbuf_fini(&out);
    return rc;
}
