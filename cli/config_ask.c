/* cli/config_ask.c - see config_ask.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/config_ask.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "classad/ad.h"
#include "wire/wire.h"

#define KNOB_BYTES 256 /* most bytes of a knob's name, with the terminating zero */

/* A daemon of a machine, with a title for messages such as "wn01's startd". */
struct whom {
    char uplink[WIRE_NAME_MAX + 1]; /* empty for the collector itself */
    char title[WIRE_NAME_MAX + 64];
    const char *relay_to;
};

static int find_daemon(const struct config_peer *peer, struct whom *ret, struct err *err)
{
    const char *subsystem = peer->subsystem != NULL ? peer->subsystem : "STARTD";
    char name[64] = "";
    for (size_t i = 0; subsystem[i] != '\0' && i + 1 < sizeof name; i++) {
        name[i] = text_lower(subsystem[i]);
        name[i + 1] = '\0';
    }
    bool is_collector = strcmp(name, "collector") == 0;
    if (peer->node == NULL && !is_collector) {
        return err_set(err, -EINVAL, "no machine named; use --node NAME");
    }
    int length =
        snprintf(ret->uplink, sizeof ret->uplink, "%s/%s", name, is_collector ? "" : peer->node);
    if (length < 0 || (size_t)length >= sizeof ret->uplink) {
        return err_set(err, -EINVAL, "the machine name is too long");
    }
    (void)snprintf(ret->title, sizeof ret->title, "the %s%s%s", name, is_collector ? "" : " of ",
                   is_collector ? "" : peer->node);
    ret->relay_to = is_collector ? NULL : ret->uplink;
    return 0;
}

static int call_daemon(struct cli *cli, const struct whom *whom, const struct ad *args,
                       struct cli_reply *reply, struct err *err)
{
    const struct wire_body body = {.args = args};
    *reply = (struct cli_reply){0};
    int rc = cli_collector(cli, err);
    if (rc != 0) {
        return rc;
    }
    rc = cli_call(cli, cli->collector, whom->relay_to, VERB_CONFIG, &body, 0, reply, err);
    if (rc == -EHOSTUNREACH) {
        return err_set(err, rc,
                       "%s is not connected to the collector: the machine is asleep, or no machine "
                       "has this name",
                       whom->title);
    }
    return rc != 0 ? err_prefix(err, rc, "%s", whom->title) : 0;
}

int config_ask_get(struct cli *cli, const struct config_peer *peer, const char *const *patterns,
                   size_t count, struct cli_reply *reply, struct err *err)
{
    struct whom whom;
    *reply = (struct cli_reply){0};
    int rc = find_daemon(peer, &whom, err);
    if (rc != 0) {
        return rc;
    }
    struct ad *args = ad_create();
    ad_set_string(args, "Action", "Get");
    ad_set_strings(args, "Names", patterns, count);
    rc = call_daemon(cli, &whom, args, reply, err);
    ad_destroy(args);
    return rc;
}

/* ---- set, unset */

static const char *after_blanks(const char *text)
{
    return text + strspn(text, " \t");
}

/* Splits "KNOB = VALUE": name gets the knob without blanks, *value points to the value. */
static int split_setting(const char *word, bool unset, char name[KNOB_BYTES], const char **value,
                         struct err *err)
{
    const char *begin = after_blanks(word);
    const char *sign = unset ? begin + strlen(begin) : strchr(begin, '=');
    if (sign == NULL) {
        return err_set(err, -EINVAL, "'%.60s' is not of the form KNOB=VALUE", word);
    }
    size_t length = (size_t)(sign - begin);
    while (length > 0 && (begin[length - 1] == ' ' || begin[length - 1] == '\t')) {
        length--;
    }
    if (length == 0 || length >= KNOB_BYTES) {
        return err_set(err, -EINVAL, "'%.60s' is not a valid knob name", word);
    }
    memcpy(name, begin, length);
    name[length] = '\0';
    *value = unset ? NULL : after_blanks(sign + 1);
    return 0;
}

static void say_changes(const struct whom *whom, const struct cli_reply *reply, const char *nothing)
{
    const char *changed = ad_string_or(reply->args, "Changed", "");
    const char *restart = ad_string_or(reply->args, "NeedsRestart", "");
    if (changed[0] == '\0') {
        (void)printf("%s: %s\n", whom->title, nothing);
        return;
    }
    (void)printf("%s: changed %s\n", whom->title, changed);
    if (restart[0] != '\0') {
        (void)printf("%s: must be restarted to use the new value of %s\n", whom->title, restart);
    }
}

/* Warns when the daemon's environment overrides the new value. */
static void say_layer(const struct whom *whom, const struct cli_reply *reply, const char *name)
{
    const char *file = ad_string_or(reply->args, "File", "");
    if (strcmp(ad_string_or(reply->args, "Layer", ""), "environment") == 0) {
        (void)printf("%s: %s in the environment of the daemon overrules the new value of %s\n",
                     whom->title, file, name);
    }
}

/* Prints what the daemon doubts about the new value. */
static void say_warnings(const struct cli *cli, const struct cli_reply *reply)
{
    struct ad_value lines, line;
    (void)ad_eval_attr(reply->args, NULL, "Warnings", NULL, &lines); /* absent: not a list */
    for (size_t i = 0; lines.type == AD_TYPE_LIST && i < ad_value_count(&lines); i++) {
        ad_value_item(&lines, i, &line);
        if (line.type == AD_TYPE_STRING) {
            (void)cli_fail(cli, "%s", line.string.text); /* a warning only */
        }
        ad_value_fini(&line);
    }
    ad_value_fini(&lines);
}

int config_ask_set(struct cli *cli, const struct config_peer *peer, const char *word, bool unset)
{
    char name[KNOB_BYTES];
    const char *value;
    struct whom whom;
    struct cli_reply reply;
    struct err err;
    if (split_setting(word, unset, name, &value, &err) != 0 ||
        find_daemon(peer, &whom, &err) != 0) {
        return cli_usage(cli, "%s", err.text);
    }
    struct ad *args = ad_create();
    ad_set_string(args, "Action", unset ? "Unset" : "Set");
    ad_set_string(args, "Name", name);
    if (value != NULL) {
        ad_set_string(args, "Value", value);
    }
    int rc = call_daemon(cli, &whom, args, &reply, &err);
    ad_destroy(args);
    if (rc == 0 && reply.args != NULL) {
        const char *now = ad_string_or(reply.args, "Value", NULL);
        (void)printf("%s: %s%s%s\n", whom.title, name, now != NULL ? " = " : " is not set",
                     now != NULL ? now : "");
        say_changes(&whom, &reply, "the configuration is the same as before");
        say_layer(&whom, &reply, name);
        say_warnings(cli, &reply);
    }
    cli_reply_fini(&reply);
    return rc != 0 ? cli_fail(cli, "%s", err.text) : CLI_OK;
}

/* ---- reload */

static int reload_one(struct cli *cli, const struct config_peer *peer, struct err *err)
{
    struct whom whom;
    struct cli_reply reply;
    int rc = find_daemon(peer, &whom, err);
    if (rc != 0) {
        return rc;
    }
    struct ad *args = ad_create();
    ad_set_string(args, "Action", "Reload");
    rc = call_daemon(cli, &whom, args, &reply, err);
    ad_destroy(args);
    if (rc == 0 && reply.args != NULL) {
        say_changes(&whom, &reply, "the configuration is the same as before");
    }
    cli_reply_fini(&reply);
    return rc;
}

int config_ask_reload(struct cli *cli, const struct config_peer *peer)
{
    struct err err;
    if (peer->subsystem != NULL || peer->node == NULL) {
        return reload_one(cli, peer, &err) != 0 ? cli_fail(cli, "%s", err.text) : CLI_OK;
    }
    /* The startd tells what changed; the master has all daemons of the machine do it. */
    const struct config_peer startd = {peer->node, "STARTD"}, master = {peer->node, "MASTER"};
    int rc = reload_one(cli, &startd, &err);
    if (rc != 0 && rc != -EHOSTUNREACH) {
        return cli_fail(cli, "%s", err.text);
    }
    int master_rc = reload_one(cli, &master, &err);
    if (master_rc != 0 && (rc != 0 || master_rc != -EHOSTUNREACH)) {
        return cli_fail(cli, "%s", err.text);
    }
    if (master_rc != 0) {
        (void)printf("%s: only the startd was told to read its configuration\n", err.text);
    }
    return CLI_OK;
}
