/* power/method_redfish.c - switches a machine by its management controller with Redfish, using
 * curl.
 *
 * Each request is a run of curl, which reads the request from its standard input: neither password
 * nor token is ever an argument.  bmc_plan.h decides what to ask and order; this file does it.  A
 * session is opened before the first request, again when the controller has forgotten it (401), and
 * deleted at the end of the operation in any case.  An order is a POST to the target that the
 * system names, of a type that it allows.  202 is followed to the end of its task; 428 is answered
 * with the ETag; after 412 the machine's state is checked again; 503 is waited out.  Redirections
 * are not followed, and only the path of a URL from the controller is used, so that the token goes
 * only to that controller.
 *
 * Rejected: libcurl in the rooster.  It would bring a resolver, a connection cache, and TLS with
 * strangers into the process that has all passwords (docs/decisions).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/secret_file.h"
#include "power/bmc.h"
#include "power/redfish_answer.h"

#define SESSIONS      "/redfish/v1/SessionService/Sessions"
#define SYSTEMS       "/redfish/v1/Systems"
#define PASSWORD_MAX  256  /* most bytes of a password, without the terminating zero */
#define BODY_MAX      2048 /* most bytes of a request's body, with the terminating zero */
#define CONFIG_MAX    16384
#define LOGINS_MAX    2 /* without an answer that is of use between them */
#define CONFLICTS_MAX 3
#define AGAIN_MS      200 /* where a controller does not say when to come again; then twice as ... */
#define AGAIN_MAX_MS  5000 /* ... long each time, up to this */
#define REQUEST_S     20   /* seconds for one request */
#define LOGOUT_S      10
#define AUTHORITY_MAX 256 /* most bytes of HOST:PORT in a URL, with the terminating zero */

struct redfish {
    char token[REDFISH_TOKEN_MAX]; /* "": no session */
    char session[REDFISH_PATH_MAX];
    char system[REDFISH_PATH_MAX];
    char etag[REDFISH_ETAG_MAX];
    char task[REDFISH_PATH_MAX];
    struct redfish_reset reset;
    enum power_state state; /* state in the last answer */
    enum bmc_act act;       /* the order */
    unsigned logins, conflicts;
    uint64_t again_ms; /* the wait before the next question of its task, or of one that is busy */
    /* the request under way, to be made again */
    const char *verb;
    char path[REDFISH_PATH_MAX];
    char body[100];
    bool if_match;
    void (*answered)(struct bmc *bmc, const struct redfish_answer *answer);
};

static void send_request(struct bmc *bmc);

/* ---- checking */

/* Returns HOST, HOST:PORT or [ADDRESS]:PORT without a leading https://; NULL: bmc is none of
 * these. */
static const char *authority_of(const char *bmc)
{
    const char *text = strncasecmp(bmc, "https://", 8) == 0 ? bmc + 8 : bmc;
    size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                 ".-_:[]");
    return length > 0 && length < AUTHORITY_MAX && text[length] == '\0' ? text : NULL;
}

/* Makes the system's path from `bmc_system`: a path, or a name below Systems; "": the only
 * system. */
static int system_path(const struct power_node *node, char ret[REDFISH_PATH_MAX])
{
    const char *text = node->bmc_system;
    char path[2 * REDFISH_PATH_MAX];
    if (text == NULL) {
        ret[0] = '\0';
        return 0;
    }
    (void)snprintf(path, sizeof path, "%s%s", text[0] == '/' ? "" : SYSTEMS "/", text);
    return redfish_path(path, ret);
}

static int redfish_check(const struct power_node *node, enum power_operation operation,
                         struct err *err)
{
    char path[REDFISH_PATH_MAX];
    (void)operation;
    int rc = bmc_check(node, err);
    if (rc == 0 && authority_of(node->bmc) == NULL) {
        rc =
            err_set(err, -EINVAL,
                    "node %s: method redfish: bmc '%s' is not HOST, HOST:PORT or https://HOST:PORT",
                    node->name, node->bmc);
    }
    if (rc == 0 && system_path(node, path) != 0) {
        rc = err_set(err, -EINVAL, "node %s: method redfish: bmc_system '%s' is not a name or path",
                     node->name, node->bmc_system);
    }
    if (rc == 0 && node->bmc_ca != NULL && node->bmc_ca[0] != '/') {
        rc = err_set(err, -EINVAL, "node %s: method redfish: bmc_ca must be an absolute path",
                     node->name);
    }
    if (rc == 0 && node->bmc_pin != NULL && strncmp(node->bmc_pin, "sha256//", 8) != 0) {
        rc = err_set(err, -EINVAL, "node %s: method redfish: bmc_pin must be sha256//BASE64",
                     node->name);
    }
    return rc;
}

/* ---- curl */

static void put_option(struct strbuf *out, const char *option, const char *before,
                       const char *value)
{
    strbuf_printf(out, "%s = \"%s", option, before);
    for (; *value != '\0'; value++) {
        if (*value == '"' || *value == '\\') {
            strbuf_putc(out, '\\');
        }
        strbuf_putc(out, *value);
    }
    strbuf_puts(out, "\"\n");
}

static void put_request(struct strbuf *out, const struct power_node *node, const char *verb,
                        const char *path, int seconds)
{
    char url[AUTHORITY_MAX + REDFISH_PATH_MAX + 16];
    (void)snprintf(url, sizeof url, "https://%s%s", authority_of(node->bmc), path);
    strbuf_printf(out,
                  "silent\nshow-error\ninclude\ngloboff\nhttp1.1\ntlsv1.2\nproto = \"=https\"\n"
                  "noproxy = \"*\"\nmax-filesize = %d\nmax-time = %d\n"
                  "header = \"Expect:\"\nheader = \"Accept: application/json\"\n"
                  "header = \"OData-Version: 4.0\"\n",
                  BMC_OUTPUT_MAX / 2, seconds);
    put_option(out, "request", "", verb);
    put_option(out, "url", "", url);
    if (node->bmc_ca != NULL) {
        put_option(out, "cacert", "", node->bmc_ca);
    }
    if (node->bmc_pin != NULL) {
        put_option(out, "pinnedpubkey", "", node->bmc_pin);
        if (node->bmc_ca == NULL) { /* the key itself is known: its certificate does not matter */
            strbuf_puts(out, "insecure\n");
        }
    }
}

static void put_body(struct strbuf *out, const char *body)
{
    strbuf_puts(out, "header = \"Content-Type: application/json\"\n");
    put_option(out, "data-raw", "", body);
}

static void put_token(struct strbuf *out, const struct redfish *redfish)
{
    put_option(out, "header", "X-Auth-Token: ", redfish->token);
}

static void wipe_text(struct strbuf *text)
{
    secret_wipe(text->data, text->length);
    strbuf_fini(text);
}

static void curl_ended(struct bmc *bmc, int status);

static void run_curl(struct bmc *bmc, struct strbuf *config)
{
    const char *argv[] = {bmc->call->node.bmc_program, "-q", "-K", "-", NULL};
    const char *env_add[] = {"LC_ALL=C", NULL};
    struct err err;
    int rc = config->failed ? err_set(&err, -EMSGSIZE, "the request to the controller is too long")
                            : bmc_run(bmc, argv, env_add, strbuf_text(config), curl_ended, &err);
    wipe_text(config);
    if (rc != 0) {
        bmc_failed(bmc, rc, err.text);
    }
}

static void request_refused(struct bmc *bmc, const struct redfish_answer *answer, const char *what)
{
    char complaint[150], text[300];
    int status = redfish_answer_status(answer);
    redfish_answer_complaint(answer, complaint, sizeof complaint);
    (void)snprintf(text, sizeof text, "the controller answered HTTP status %d to %s%s%s", status,
                   what, complaint[0] != '\0' ? ": " : "", complaint);
    bmc_failed(bmc, status == 401 || status == 403 ? -EACCES : -EIO, text);
}

/* ---- sessions */

static void logged_in(struct bmc *bmc, const struct redfish_answer *answer)
{
    struct redfish *redfish = bmc->own;
    int status = redfish_answer_status(answer);
    if (status != 201 && status != 200) {
        request_refused(bmc, answer, "a login");
        return;
    }
    if (redfish_answer_token(answer, redfish->token) != 0) {
        bmc_failed(bmc, -EPROTO, "the controller's answer to the login has no session token");
        return;
    }
    if (redfish_answer_location(answer, redfish->session) != 0) {
        redfish->session[0] = '\0'; /* it ends by itself */
    }
    send_request(bmc);
}

static void open_session(struct bmc *bmc)
{
    struct redfish *redfish = bmc->own;
    const struct power_node *node = &bmc->call->node;
    char password[PASSWORD_MAX + 1], body[BODY_MAX];
    struct err err;
    int rc =
        secret_file_read(bmc->call->os, node->bmc_password_file, password, sizeof password, &err);
    if (rc == 0 && redfish_login_body(node->bmc_user, password, body, sizeof body) != 0) {
        rc = err_set(&err, -EINVAL,
                     "%s: bmc_user or this password is not UTF-8, or they are too long together",
                     node->bmc_password_file);
    }
    secret_wipe(password, sizeof password);
    if (rc != 0) {
        bmc_failed(bmc, rc, err.text);
        return;
    }
    struct strbuf config;
    strbuf_init(&config, CONFIG_MAX);
    put_request(&config, node, "POST", SESSIONS, REQUEST_S);
    put_body(&config, body);
    secret_wipe(body, sizeof body);
    redfish->logins++;
    run_curl(bmc, &config);
}

static void close_session(struct bmc *bmc)
{
    const struct redfish *redfish = bmc->own;
    const char *argv[] = {bmc->call->node.bmc_program, "-q", "-K", "-", NULL};
    struct strbuf config;
    strbuf_init(&config, CONFIG_MAX);
    put_request(&config, &bmc->call->node, "DELETE", redfish->session, LOGOUT_S);
    put_token(&config, redfish);
    if (!config.failed) { /* else the session ends by itself */
        bmc_farewell(bmc, argv, strbuf_text(&config));
    }
    wipe_text(&config);
}

/* ---- requests */

static void send_request(struct bmc *bmc)
{
    struct redfish *redfish = bmc->own;
    if (redfish->token[0] == '\0') {
        open_session(bmc);
        return;
    }
    struct strbuf config;
    strbuf_init(&config, CONFIG_MAX);
    put_request(&config, &bmc->call->node, redfish->verb, redfish->path, REQUEST_S);
    put_token(&config, redfish);
    if (redfish->if_match && redfish->etag[0] != '\0') {
        put_option(&config, "header", "If-Match: ", redfish->etag);
    }
    if (redfish->body[0] != '\0') {
        put_body(&config, redfish->body);
    }
    run_curl(bmc, &config);
}

static void begin_request(struct bmc *bmc, const char *verb, const char *path,
                          void (*answered)(struct bmc *bmc, const struct redfish_answer *answer))
{
    struct redfish *redfish = bmc->own;
    char copy[REDFISH_PATH_MAX];
    (void)snprintf(copy, sizeof copy, "%s", path); /* it may be the request's own */
    memcpy(redfish->path, copy, sizeof copy);
    redfish->verb = verb;
    redfish->answered = answered;
    if (strcmp(verb, "POST") != 0) {
        redfish->body[0] = '\0';
        redfish->if_match = false;
    }
    send_request(bmc);
}

/* Calls next after the controller's Retry-After, or after a while if there is none. */
static void come_again(struct bmc *bmc, const struct redfish_answer *answer,
                       void (*next)(struct bmc *bmc))
{
    struct redfish *redfish = bmc->own;
    int64_t told_s = redfish_answer_retry_s(answer, 0);
    uint64_t delay_ms = told_s > 0 ? (uint64_t)told_s * 1000 : redfish->again_ms;
    redfish->again_ms = redfish->again_ms * 2 < AGAIN_MAX_MS ? redfish->again_ms * 2 : AGAIN_MAX_MS;
    bmc_later(bmc, delay_ms, next);
}

static void answer_heard(struct bmc *bmc, const struct redfish_answer *answer)
{
    struct redfish *redfish = bmc->own;
    int status = redfish_answer_status(answer);
    if (status == 503 || status == 429) { /* nothing was done */
        come_again(bmc, answer, send_request);
        return;
    }
    if (redfish->token[0] == '\0') {
        logged_in(bmc, answer);
        return;
    }
    if (status == 401 && redfish->logins < LOGINS_MAX) { /* the session is forgotten */
        redfish->token[0] = redfish->session[0] = '\0';
        send_request(bmc);
        return;
    }
    redfish->logins = status == 401 ? redfish->logins : 1;
    redfish->answered(bmc, answer);
}

static void curl_ended(struct bmc *bmc, int status)
{
    char text[300];
    struct redfish_answer *answer;
    struct err err;
    if (status != 0) {
        char complaint[200];
        bmc_complaint(bmc, complaint, sizeof complaint);
        (void)snprintf(text, sizeof text, "curl ended with status %d%s%s", status,
                       complaint[0] != '\0' ? ": " : "", complaint);
        bmc_failed(bmc, status == 28 ? -ETIMEDOUT : -EIO, text);
        return;
    }
    int rc = redfish_answer_parse(strbuf_text(&bmc->output), bmc->output.length, &answer, &err);
    secret_wipe(bmc->output.data, bmc->output.length); /* a token was in it */
    if (rc != 0) {
        bmc_failed(bmc, rc, err.text);
        return;
    }
    answer_heard(bmc, answer);
    redfish_answer_destroy(answer);
}

/* ---- to ask */

static void system_seen(struct bmc *bmc, const struct redfish_answer *answer)
{
    struct redfish *redfish = bmc->own;
    if (redfish_answer_status(answer) != 200) {
        request_refused(bmc, answer, redfish->path);
        return;
    }
    redfish->state = redfish_answer_system(answer, &redfish->reset);
    redfish_answer_etag(answer, redfish->etag);
    bmc_told(bmc, redfish->state);
}

static void systems_seen(struct bmc *bmc, const struct redfish_answer *answer)
{
    struct redfish *redfish = bmc->own;
    struct err err;
    if (redfish_answer_status(answer) != 200) {
        request_refused(bmc, answer, redfish->path);
        return;
    }
    int rc = redfish_answer_member(answer, redfish->system, &err);
    if (rc != 0) {
        bmc_failed(bmc, rc, err.text);
        return;
    }
    begin_request(bmc, "GET", redfish->system, system_seen);
}

static void redfish_ask(struct bmc *bmc)
{
    struct redfish *redfish = bmc->own;
    if (redfish->system[0] == '\0') {
        begin_request(bmc, "GET", SYSTEMS, systems_seen);
    } else {
        begin_request(bmc, "GET", redfish->system, system_seen);
    }
}

/* ---- to order */

static void order_now(struct bmc *bmc);

static void ask_task(struct bmc *bmc);

static void task_heard(struct bmc *bmc, const struct redfish_answer *answer)
{
    struct redfish *redfish = bmc->own;
    switch (redfish_answer_task(answer)) {
    case REDFISH_TASK_RUNS:
        come_again(bmc, answer, ask_task);
        return;
    case REDFISH_TASK_DONE:
        bmc_ordered(bmc);
        return;
    case REDFISH_TASK_FAILED:
        break;
    }
    request_refused(bmc, answer, redfish->path);
}

static void ask_task(struct bmc *bmc)
{
    struct redfish *redfish = bmc->own;
    begin_request(bmc, "GET", redfish->task, task_heard);
}

/* The system was changed by somebody else meanwhile: checks its state again. */
static void seen_again(struct bmc *bmc, const struct redfish_answer *answer)
{
    struct redfish *redfish = bmc->own;
    struct redfish_reset reset;
    if (redfish_answer_status(answer) != 200) {
        request_refused(bmc, answer, redfish->path);
        return;
    }
    if (redfish_answer_system(answer, &reset) != redfish->state) {
        bmc_failed(bmc, -EAGAIN, "another client is switching the machine, too; no order was sent");
        return;
    }
    redfish_answer_etag(answer, redfish->etag);
    order_now(bmc);
}

static void order_heard(struct bmc *bmc, const struct redfish_answer *answer)
{
    struct redfish *redfish = bmc->own;
    int status = redfish_answer_status(answer);
    if ((status == 428 || status == 412) && redfish->conflicts++ < CONFLICTS_MAX) {
        begin_request(bmc, "GET", redfish->system, seen_again);
        return;
    }
    if (status == 202 && redfish_answer_location(answer, redfish->task) == 0) {
        come_again(bmc, answer, ask_task);
        return;
    }
    if (status >= 200 && status <= 299) {
        bmc_ordered(bmc);
        return;
    }
    request_refused(bmc, answer, bmc_act_name(redfish->act));
}

static void order_now(struct bmc *bmc)
{
    struct redfish *redfish = bmc->own;
    const char *type = redfish_reset_type(&redfish->reset, redfish->act);
    if (type == NULL) {
        char text[100];
        (void)snprintf(text, sizeof text, "the controller does not support '%s'",
                       bmc_act_name(redfish->act));
        bmc_failed(bmc, -ENOTSUP, text);
        return;
    }
    (void)snprintf(redfish->body, sizeof redfish->body, "{\"ResetType\":\"%s\"}", type);
    redfish->if_match = redfish->conflicts > 0;
    begin_request(bmc, "POST", redfish->reset.target, order_heard);
}

static void info_seen(struct bmc *bmc, const struct redfish_answer *answer)
{
    struct redfish *redfish = bmc->own;
    if (redfish_answer_status(answer) != 200) {
        request_refused(bmc, answer, redfish->path);
        return;
    }
    redfish_answer_info(answer, &redfish->reset);
    order_now(bmc);
}

static void redfish_order(struct bmc *bmc, enum bmc_act act)
{
    struct redfish *redfish = bmc->own;
    redfish->act = act;
    redfish->again_ms = AGAIN_MS;
    redfish->conflicts = 0;
    if (redfish->reset.target[0] == '\0') {
        bmc_failed(bmc, -ENOTSUP, "the controller names no way to switch the machine");
    } else if (!redfish->reset.told && redfish->reset.info[0] != '\0') {
        begin_request(bmc, "GET", redfish->reset.info, info_seen);
    } else {
        order_now(bmc);
    }
}

static void redfish_fini(struct bmc *bmc)
{
    struct redfish *redfish = bmc->own;
    if (redfish->token[0] != '\0' && redfish->session[0] != '\0') {
        close_session(bmc);
    }
    secret_wipe(redfish, sizeof *redfish);
    secret_wipe(bmc->output.data, bmc->output.length);
    mem_free(redfish);
}

static const struct bmc_hands HANDS = {.ask = redfish_ask,
                                       .order = redfish_order,
                                       .fini = redfish_fini};

static void redfish_begin(struct power_call *call)
{
    struct redfish *redfish = mem_zalloc(sizeof *redfish);
    redfish->again_ms = AGAIN_MS;
    (void)system_path(&call->node, redfish->system); /* checked before */
    bmc_begin(call, &HANDS, redfish);
}

const struct power_method power_method_redfish = {.name = "redfish",
                                                  .check = redfish_check,
                                                  .begin = redfish_begin,
                                                  .create = bmc_turns_create,
                                                  .destroy = bmc_turns_destroy,
                                                  .sleep_max_ms = bmc_sleep_max_ms};
