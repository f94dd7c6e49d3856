/* power/method_ipmi.c - switches a machine by its management controller with IPMI 2.0, using
 * ipmitool.
 *
 * ipmitool reads the password from the file itself (-f), after we have checked who may read the
 * file: the password is in no argument and no environment.  The privilege of an operator is
 * requested, which may switch the machine and nothing more.  The output must match word for word:
 * anything but "Chassis Power is on" and "... off" is Unknown.  bmc_plan.h decides what follows.
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
#include "power/bmc.h"
#include "power/bmc_text.h"

#define IPMI_PASSWORD_MAX 20 /* bytes: of IPMI 2.0 */
#define IPMI_PORT         623
#define IPMI_ARGS_MAX     24

static int ipmi_check(const struct power_node *node, enum power_operation operation,
                      struct err *err)
{
    char host[BMC_TEXT_HOST_MAX], port[BMC_TEXT_PORT_MAX];
    (void)operation;
    int rc = bmc_check(node, err);
    if (rc == 0 && bmc_text_address(node->bmc, IPMI_PORT, host, port) != 0) {
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
    char complaint[280], text[300];
    bmc_complaint(bmc, complaint, sizeof complaint);
    if (status < 0) {
        (void)snprintf(text, sizeof text, "ipmitool was ended by a signal");
    } else if (complaint[0] != '\0') {
        (void)snprintf(text, sizeof text, "%s", complaint);
    } else {
        (void)snprintf(text, sizeof text, "ipmitool ended with status %d", status);
    }
    bmc_failed(bmc, -EIO, text);
}

static void state_printed(struct bmc *bmc, int status)
{
    if (status != 0) {
        failed_run(bmc, status);
        return;
    }
    bmc_told(bmc, bmc_text_state(bmc->output.data, bmc->output.length));
}

static void was_ordered(struct bmc *bmc, int status)
{
    if (status != 0) {
        failed_run(bmc, status);
        return;
    }
    bmc_ordered(bmc);
}

static void run_ipmitool(struct bmc *bmc, const char *word,
                         void (*ran)(struct bmc *bmc, int status))
{
    const struct power_node *node = &bmc->call->node;
    char host[BMC_TEXT_HOST_MAX], port[BMC_TEXT_PORT_MAX], suite[8],
        password[IPMI_PASSWORD_MAX + 1];
    struct err err;
    int rc =
        secret_file_read(bmc->call->os, node->bmc_password_file, password, sizeof password, &err);
    secret_wipe(password, sizeof password);
    if (rc != 0) {
        bmc_failed(bmc, rc, err.text);
        return;
    }
    (void)bmc_text_address(node->bmc, IPMI_PORT, host, port); /* checked before */
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

static void ipmi_ask(struct bmc *bmc)
{
    run_ipmitool(bmc, "status", state_printed);
}

static void ipmi_order(struct bmc *bmc, enum bmc_act what)
{
    run_ipmitool(bmc,
                 what == BMC_ORDER_ON     ? "on"
                 : what == BMC_ORDER_SOFT ? "soft"
                                          : "off",
                 was_ordered);
}

static const struct bmc_hands HANDS = {.ask = ipmi_ask, .order = ipmi_order};

static void ipmi_begin(struct power_call *call)
{
    bmc_begin(call, &HANDS, NULL);
}

const struct power_method power_method_ipmi = {.name = "ipmi",
                                               .check = ipmi_check,
                                               .begin = ipmi_begin,
                                               .create = bmc_turns_create,
                                               .destroy = bmc_turns_destroy,
                                               .sleep_max_ms = bmc_sleep_max_ms};
