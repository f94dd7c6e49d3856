/* startd/slot/slot_fixed.c - attributes that the slots' ads have in common until the configuration
 * changes.
 *
 * A slot's ad is made anew for each of its moves, and when somebody asks for all slots; most
 * attributes are the machine's, or the owner's policy.  These are parsed and put together once, and
 * a new ad begins as a copy that shares the expressions.  Rejected: to change ads in place.  Then
 * it would have to be known everywhere which attributes must be removed.
 *
 * There are two parts because of their order: a slot's own attributes override the machine's, and
 * STARTD_ATTRS overrides both.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "startd/slot/slot_fixed.h"

#include <string.h>

#include "base/check.h"
#include "base/config/config.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "startd/slot/carve_plan.h"
#include "startd/claim/job_ckpt.h"
#include "startd/slot/slot_knobs.h"
#include "startd/startd_state.h"
#include "transfer/transfer_plugins.h"
#include "wire/daemon_ad.h"
#include "wire/settings.h"

static void set_plugins(const struct startd *startd, struct ad *ad)
{
    struct strbuf methods;
    strbuf_init(&methods, 0);
    transfer_plugins_methods(startd->plugins, &methods);
    if (methods.length > 0) {
        ad_set_string(ad, "HasFileTransferPluginMethods", strbuf_text(&methods));
    }
    strbuf_fini(&methods);
}

static void set_machine(const struct startd *startd, struct ad *ad)
{
    const struct config *config = startd->env.config;
    ad_set_string(ad, "MyType", "Machine");
    daemon_ad_put_program(ad, &startd->machine,
                          loop_wall_of_s(startd->env.loop, startd->started_ms));
    settings_put(ad, config);
    ad_set_string(ad, "Machine", startd->name);
    ad_set_string(ad, "OpSys", startd->machine.opsys);
    ad_set_string(ad, "Arch", startd->machine.arch);
    ad_set_string(ad, "KernelVersion", startd->machine.kernel);
    ad_merge(ad, startd->opsys);
    ad_set_string(ad, "FileSystemDomain", config_string(config, "FILESYSTEM_DOMAIN"));
    ad_set_string(ad, "UidDomain", config_string(config, "UID_DOMAIN"));
    ad_set_bool(ad, "HasFileTransfer", true);
    set_plugins(startd, ad);
    job_ckpt_put_machine(startd, ad);
    ad_set_bool(ad, "HasJobDeferral", true);
    ad_set_string(ad, "CondorVersion", DAEMON_AD_CONDOR_VERSION);
    ad_set_int(ad, "DetectedCpus", startd->machine.cpus);
    ad_set_int(ad, "DetectedMemory", startd->machine.memory_mib);
    carve_plan_write(startd->division.kinds, &startd->division.total, "Total", "", ad);
    ad_set_string(ad, "BootId", startd->machine.boot_id);
    ad_set_int(ad, "BootTime", startd->machine.boot_time_s);
    ad_set_string(ad, "StartdUplink", startd->uplink);
}

static void set_attrs(const struct startd *startd, const char *knob, struct ad *ad)
{
    size_t count;
    const char *const *names = config_list(startd->env.config, knob, &count);
    for (size_t i = 0; i < count; i++) {
        const char *text = config_text(startd->env.config, names[i]);
        struct err err = {.text = "not defined"};
        if (text == NULL || !ad_name_is_valid(names[i]) ||
            ad_set_expr_old(ad, names[i], text, &err) != 0) {
            log_warn(startd->env.log, "config.attr", err.text, LOG_TEXT("attribute", names[i]));
        }
    }
}

static void set_policy(const struct startd *startd, int type_id, struct ad *ad)
{
    const struct config *config = startd->env.config;
    static const char *const PAIRS[][2] = {{"START", "Start"},
                                           {"RANK", "Rank"},
                                           {"SLOT_WEIGHT", "SlotWeight"},
                                           {"UNHIBERNATE", "Unhibernate"},
                                           {"HIBERNATE", "Hibernate"},
                                           {"MAXJOBRETIREMENTTIME", "MaxJobRetirementTime"},
                                           {"MACHINEMAXVACATETIME", "MachineMaxVacateTime"},
                                           {"CPU_BUSY", "CpuBusy"}};
    for (size_t i = 0; i < ARRAY_COUNT(PAIRS); i++) {
        const char *text = slot_knobs_expr(config, type_id, PAIRS[i][0]);
        text = text != NULL ? text : config_expr(config, PAIRS[i][0]);
        struct err err;
        if (text != NULL && ad_set_expr_old(ad, PAIRS[i][1], text, &err) != 0) {
            log_error(startd->env.log, "config.expr", err.text, LOG_TEXT("knob", PAIRS[i][0]));
            ad_set_error(ad, PAIRS[i][1]);
        }
    }
    (void)ad_set_expr(ad, "Requirements", "Start", NULL); /* a constant text: cannot fail */
    set_attrs(startd, "STARTD_ATTRS", ad);
    set_attrs(startd, "STARTD_EXPRS", ad);
}

const struct ad *slot_fixed_machine(struct startd *startd)
{
    struct slot_fixed *fixed = &startd->fixed;
    if (fixed->machine == NULL) {
        fixed->machine = ad_create();
        set_machine(startd, fixed->machine);
    }
    return fixed->machine;
}

const struct ad *slot_fixed_rules(struct startd *startd, int type_id)
{
    struct slot_fixed *fixed = &startd->fixed;
    CHECK(type_id >= 0 && type_id <= SLOT_TYPES_MAX);
    if (fixed->rules[type_id] == NULL) {
        fixed->rules[type_id] = ad_create();
        set_policy(startd, type_id, fixed->rules[type_id]);
    }
    return fixed->rules[type_id];
}

void slot_fixed_forget(struct startd *startd)
{
    ad_destroy(startd->fixed.machine);
    for (size_t i = 0; i <= SLOT_TYPES_MAX; i++) {
        ad_destroy(startd->fixed.rules[i]);
    }
    startd->fixed = (struct slot_fixed){0};
}
