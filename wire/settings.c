/* wire/settings.c - see settings.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wire/settings.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/config/config.h"
#include "base/daemon/daemon.h"
#include "base/err.h"
#include "base/knob.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "wire/expr_attrs.h"
#include "wire/wire.h"

/* most bytes of a value that are logged, with the terminating zero */
#define LOGGED_BYTES 400

static const struct {
    uint32_t scope;
    const char *knob;
} LEVELS[] = {
    {SCOPE_ADMINISTRATOR, "SETTABLE_ATTRS_ADMINISTRATOR"},
    {SCOPE_SCHEDD | SCOPE_ROOSTER, "SETTABLE_ATTRS_DAEMON"},
    {SCOPE_NEGOTIATOR, "SETTABLE_ATTRS_NEGOTIATOR"},
    {SCOPE_WRITE, "SETTABLE_ATTRS_WRITE"},
};

/* ---- ads */

struct ad *settings_describe(const struct config *config, const char *name, const struct knob *knob)
{
    struct config_origin origin;
    struct ad *ad = ad_create();
    const char *value = config_text(config, name);
    ad_set_string(ad, "Name", name);
    ad_set_bool(ad, "IsKnob", knob != NULL);
    if (value != NULL) {
        ad_set_string(ad, "Value", value);
    }
    if (config_why(config, name, &origin)) {
        ad_set_string(ad, "Layer", config_layer_name(origin.layer));
        if (origin.file != NULL) {
            ad_set_string(ad, "File", origin.file);
        }
        if (origin.line > 0) {
            ad_set_int(ad, "Line", origin.line);
        }
        if (origin.raw != NULL) {
            ad_set_string(ad, "Written", origin.raw);
        }
    }
    if (knob != NULL && knob->help != NULL) {
        ad_set_string(ad, "Help", knob->help);
    }
    return ad;
}

void settings_put(struct ad *ad, const struct config *config)
{
    struct strbuf names;
    strbuf_init(&names, 0);
    config_settings_names(config, &names);
    if (names.length > 0) {
        ad_set_string(ad, "PersistentConfig", strbuf_text(&names));
    }
    strbuf_fini(&names);
}

/* ---- who may */

static bool is_listed(const struct config *config, const char *list, const char *name)
{
    size_t count;
    const char *const *patterns = config_list(config, list, &count);
    for (size_t i = 0; i < count; i++) {
        if (text_glob(patterns[i], name, true)) {
            return true;
        }
    }
    return false;
}

/* Returns 0 if one of the caller's levels allows the knob; else err names the levels that do
 * not. */
static int may_set(const struct config *config, const struct wire_peer *peer, const char *name,
                   struct err *err)
{
    struct strbuf lists;
    strbuf_init(&lists, 0);
    for (size_t i = 0; i < ARRAY_COUNT(LEVELS); i++) {
        if ((peer->scopes & LEVELS[i].scope) == 0) {
            continue;
        }
        if (is_listed(config, LEVELS[i].knob, name)) {
            strbuf_fini(&lists);
            return 0;
        }
        strbuf_printf(&lists, "%s%s", lists.length > 0 ? ", " : "", LEVELS[i].knob);
    }
    int rc = err_set(err, -EACCES, "%s may not be set by %s: the knob is not in %s of this daemon",
                     name, peer->identity, lists.length > 0 ? strbuf_text(&lists) : "any list");
    strbuf_fini(&lists);
    return rc;
}

/* ---- Get */

static bool is_wanted(const struct vec *patterns, const char *name)
{
    for (size_t i = 0; i < patterns->count; i++) {
        if (text_glob(patterns->items[i], name, true)) {
            return true;
        }
    }
    return patterns->count == 0;
}

static void names_of(const struct ad *args, struct vec *ret)
{
    struct ad_value list, item;
    (void)ad_eval_attr(args, NULL, "Names", NULL, &list); /* absent: not a list */
    for (size_t i = 0; list.type == AD_TYPE_LIST && i < ad_value_count(&list); i++) {
        ad_value_item(&list, i, &item);
        if (item.type == AD_TYPE_STRING) {
            vec_push(ret, mem_strdup(item.string.text));
        }
        ad_value_fini(&item);
    }
    ad_value_fini(&list);
}

static void answer_get(const struct daemon_env *env, struct wire_request *request)
{
    struct vec patterns = {0}, ads = {0};
    const char *name;
    const struct knob *knob;
    size_t at = 0;
    names_of(wire_request_args(request), &patterns);
    while (config_next(env->config, &at, &name, &knob)) {
        if (is_wanted(&patterns, name)) {
            vec_push(&ads, settings_describe(env->config, name, knob));
        }
    }
    if (ads.count > WIRE_ADS_MAX) {
        wire_reply_error(request, -E2BIG, "%zu names in one request; ask for fewer", ads.count);
    } else {
        const struct wire_body body = {.ads = (const struct ad *const *)ads.items,
                                       .ad_count = ads.count};
        wire_reply_ok(request, &body);
    }
    vec_fini(&ads, ad_destroy_item);
    vec_fini(&patterns, mem_free);
}

/* ---- Set, Unset, Reload */

static void log_setting(const struct daemon_env *env, const struct wire_peer *peer,
                        const char *name, const char *value)
{
    char text[LOGGED_BYTES];
    (void)snprintf(text, sizeof text, "%s", value != NULL ? value : "");
    log_info(env->log, "config.set",
             value != NULL ? "knob set at run time" : "run-time value of a knob removed",
             LOG_TEXT("knob", name), LOG_TEXT("value", text), LOG_TEXT("by", peer->identity),
             LOG_TEXT("from", peer->address));
}

static void reply_change(struct wire_request *request, struct ad *args, struct strbuf *changed,
                         struct strbuf *restart)
{
    const struct wire_body body = {.args = args};
    ad_set_string(args, "Changed", strbuf_text(changed));
    ad_set_string(args, "NeedsRestart", strbuf_text(restart));
    wire_reply_ok(request, &body);
    ad_destroy(args);
}

static void add_warning(void *arg, const char *text)
{
    vec_push(arg, mem_strdup(text));
}

/* Adds what is doubtful about the value now in force, as `roost config check` would say it. */
static void put_warnings(const struct config *config, const char *name, struct ad *args)
{
    struct vec lines = {0};
    expr_attrs_check_knob(config, name, add_warning, &lines);
    if (lines.count > 0) {
        ad_set_strings(args, "Warnings", (const char *const *)lines.items, lines.count);
    }
    vec_fini(&lines, mem_free);
}

static void answer_set(const struct daemon_env *env, struct wire_request *request, bool is_set)
{
    const struct wire_peer *peer = wire_request_peer(request);
    const char *name = ad_string_or(wire_request_args(request), "Name", "");
    const char *value = is_set ? ad_string_or(wire_request_args(request), "Value", NULL) : NULL;
    struct strbuf changed, restart;
    struct err err = {""};
    strbuf_init(&changed, 0);
    strbuf_init(&restart, 0);
    int rc = is_set && value == NULL ? err_set(&err, -EINVAL, "CONFIG: Set without a Value") : 0;
    if (rc == 0 && is_set) { /* first: a misspelt name is in no list */
        rc = config_settings_may_name(env->config, name, &err);
    }
    rc = rc != 0 ? rc : may_set(env->config, peer, name, &err);
    rc = rc != 0 ? rc : daemon_set(env, name, value, &changed, &restart, &err);
    if (rc != 0) {
        log_warn(env->log, "config.set_refused", err.text, LOG_TEXT("by", peer->identity),
                 LOG_TEXT("from", peer->address));
        wire_reply_error(request, rc, "%s", err.text);
    } else {
        log_setting(env, peer, name, value);
        struct ad *args = settings_describe(env->config, name, NULL);
        put_warnings(env->config, name, args);
        reply_change(request, args, &changed, &restart);
    }
    strbuf_fini(&changed);
    strbuf_fini(&restart);
}

static void answer_reload(const struct daemon_env *env, struct wire_request *request)
{
    struct strbuf changed, restart;
    struct err err = {""};
    strbuf_init(&changed, 0);
    strbuf_init(&restart, 0);
    int rc = daemon_reload(env, &changed, &restart, &err);
    if (rc != 0) {
        wire_reply_error(request, rc, "%s", err.text);
    } else {
        reply_change(request, ad_create(), &changed, &restart);
    }
    strbuf_fini(&changed);
    strbuf_fini(&restart);
}

void settings_serve(const struct daemon_env *env, struct wire_request *request)
{
    const struct wire_peer *peer = wire_request_peer(request);
    const char *action = ad_string_or(wire_request_args(request), "Action", "");
    bool is_set = text_equal_nocase(action, "Set");
    if (is_set || text_equal_nocase(action, "Unset")) {
        answer_set(env, request, is_set);
    } else if ((peer->scopes & SCOPE_ADMINISTRATOR) == 0) {
        wire_reply_error(request, -EACCES, "token is too weak: the scope ADMINISTRATOR is needed");
    } else if (text_equal_nocase(action, "Get")) {
        answer_get(env, request);
    } else if (text_equal_nocase(action, "Reload")) {
        answer_reload(env, request);
    } else {
        wire_reply_error(request, -EINVAL, "CONFIG: unknown Action '%.40s'", action);
    }
}
