/* power/method_ipmi.c - a machine whose management controller speaks IPMI 2.0, by ipmitool.
 *
 * ipmitool reads the password from the file itself (-f), after we have looked at who may read it:
 * it is in no argument and no environment.  It is asked for the privilege of an operator, which
 * may switch and nothing more.
 *
 * What it prints is believed word by word or not at all: everything but "Chassis Power is on" and
 * "... off" is Unknown.  bmc_plan.h says what follows from it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/secret_file.h"
#include "base/text.h"
#include "power/bmc.h"

#define IPMI_PASSWORD_MAX 20 /* bytes: of IPMI 2.0 */
#define IPMI_HOST_MAX     256
#define IPMI_ARGS_MAX     24

/* "host", "host:9001", "[::1]", "[::1]:9001"; also an address of IPv6 as it is, without a port. */
static int split_address(const char *text, char host[IPMI_HOST_MAX], char port[8])
{
    const char *end = text[0] == '[' ? strchr(text, ']') : strrchr(text, ':');
    const char *colon = end;
    size_t length = strlen(text);
    if (text[0] == '[') {
        if (end == NULL || (end[1] != '\0' && end[1] != ':')) {
            return -EINVAL;
        }
        colon = end[1] == ':' ? end + 1 : NULL;
        length = (size_t)(end - ++text);
    } else if (colon != NULL && strchr(text, ':') != colon) {
        colon = NULL;
    } else if (colon != NULL) {
        length = (size_t)(colon - text);
    }
    int64_t number = 623;
    if (colon != NULL &&
        (text_parse_int64(colon + 1, &number, NULL) != 0 || number < 1 || number > 65535)) {
        return -EINVAL;
    }
    if (length == 0 || length >= IPMI_HOST_MAX) {
        return -EINVAL;
    }
    memcpy(host, text, length);
    host[length] = '\0';
    (void)snprintf(port, 8, "%d", (int)number);
    return 0;
}

static int check(const struct power_node *node, enum power_operation operation, struct err *err)
{
    char host[IPMI_HOST_MAX], port[8];
    (void)operation;
    int rc = bmc_check(node, err);
    if (rc == 0 && split_address(node->bmc, host, port) != 0) {
        rc = err_set(err, -EINVAL,
                     "node %s: method ipmi: bmc '%s' is not HOST, HOST:PORT or "
                     "[ADDRESS]:PORT",
                     node->name, node->bmc);
    }
    if (rc == 0 && strlen(node->bmc_user) > 16) {
        rc = err_set(err, -EINVAL, "node %s: method ipmi: a bmc_user has at most 16 characters",
                     node->name);
    }
    return rc;
}

static void failed_run(struct bmc *bmc, int status)
{
    char text[300];
    const char *complaint = bmc_complaint(bmc);
    if (status < 0) {
        (void)snprintf(text, sizeof text, "ipmitool was ended by a signal");
    } else if (complaint[0] != '\0') {
        (void)snprintf(text, sizeof text, "%.280s", complaint);
    } else {
        (void)snprintf(text, sizeof text, "ipmitool ended with status %d", status);
    }
    bmc_failed(bmc, -EIO, text);
}

static void asked(struct bmc *bmc, int status)
{
    static const struct {
        const char *words;
        enum power_state state;
    } ANSWERS[] = {{"Chassis Power is on\n", POWER_ON}, {"Chassis Power is off\n", POWER_OFF}};
    if (status != 0) {
        failed_run(bmc, status);
        return;
    }
    const char *text = strbuf_text(&bmc->output);
    enum power_state state = POWER_UNKNOWN;
    for (size_t i = 0; i < sizeof ANSWERS / sizeof ANSWERS[0]; i++) {
        state = strcmp(text, ANSWERS[i].words) == 0 ? ANSWERS[i].state : state;
    }
    bmc_told(bmc, state);
}

static void was_ordered(struct bmc *bmc, int status)
{
    if (status != 0) {
        failed_run(bmc, status);
        return;
    }
    bmc_ordered(bmc);
}

static void run(struct bmc *bmc, const char *word, void (*ran)(struct bmc *bmc, int status))
{
    const struct power_node *node = &bmc->call->node;
    char host[IPMI_HOST_MAX], port[8], suite[8], password[IPMI_PASSWORD_MAX + 1];
    struct err err;
    int rc = secret_file_read(bmc->call->os, node->bmc_password_file, password, sizeof password, &err);
    secret_wipe(password, sizeof password);
    if (rc != 0) {
        bmc_failed(bmc, rc, err.text);
        return;
    }
    (void)split_address(node->bmc, host, port); /* checked before */
    const char *argv[IPMI_ARGS_MAX] = {node->bmc_program,
                                       "-I",
                                       "lanplus",
                                       "-H",
                                       host,
                                       "-p",
                                       port,
                                       "-U",
                                       node->bmc_user,
                                       "-f",
                                       node->bmc_password_file,
                                       "-L",
                                       node->bmc_privilege != NULL ? node->bmc_privilege
                                                                   : "OPERATOR"};
    size_t count = 13;
    if (node->cipher_suite > 0) {
        (void)snprintf(suite, sizeof suite, "%d", (int)node->cipher_suite);
        argv[count++] = "-C";
        argv[count++] = suite;
    }
    argv[count++] = "chassis";
    argv[count++] = "power";
    argv[count++] = word;
    argv[count] = NULL;
    /* its words are to be English, and HOME may hold no settings of somebody's */
    const char *env_add[] = {"LC_ALL=C", "HOME=/nonexistent", NULL};
    rc = bmc_run(bmc, argv, env_add, NULL, ran, &err);
    if (rc != 0) {
        bmc_failed(bmc, rc, err.text);
    }
}

static void ask(struct bmc *bmc)
{
    run(bmc, "status", asked);
}

static void order(struct bmc *bmc, enum bmc_act what)
{
    run(bmc, what == BMC_ORDER_ON ? "on" : what == BMC_ORDER_SOFT ? "soft" : "off", was_ordered);
}

static const struct bmc_hands HANDS = {.ask = ask, .order = order};

static void begin(struct power_call *call)
{
    bmc_begin(call, &HANDS, NULL);
}

const struct power_method power_method_ipmi = {.name = "ipmi", .check = check, .begin = begin};
