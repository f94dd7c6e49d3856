/* startd/slot.c - slots: their ads and their moves.
 *
 * A slot's ad is built anew whenever something in it changed; it is what is sent, what START and
 * HIBERNATE are evaluated in, and what becomes the offline ad.  Claim ids are minted here: 128
 * secret bits behind a readable prefix, kept in the private part of the ad.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/config.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"
#include "classad/ad.h"
#include "startd/startd.h"

struct ad_context startd_context(struct startd *startd)
{
    return (struct ad_context){.now_s = loop_wall_s(startd->env.loop),
                               .random_state = &startd->random_state};
}

static void mint_claim_id(struct slot *slot)
{
    slot->minted_s = loop_wall_s(slot->startd->env.loop);
    unsigned char secret[16];
    char hex[33];
    loop_secret(slot->startd->env.loop, secret, sizeof secret);
    text_hex(secret, sizeof secret, hex);
    (void)snprintf(slot->claim_id, sizeof slot->claim_id, "%.100s#%.36s#%s", slot->name,
                   slot->startd->machine.boot_id, hex);
}

static void set_machine(struct slot *slot, struct ad *ad)
{
    struct startd *startd = slot->startd;
    const struct config *config = startd->env.config;
    int64_t share = (int64_t)startd->slot_count;
    int64_t disk = os_disk_free_kib(startd->env.os, config_path(config, "EXECUTE"));
    ad_set_string(ad, "Machine", startd->name);
    ad_set_int(ad, "SlotID", slot->id);
    ad_set_string(ad, "SlotType", "Static");
    ad_set_string(ad, "OpSys", startd->machine.opsys);
    ad_set_string(ad, "Arch", startd->machine.arch);
    ad_set_string(ad, "KernelVersion", startd->machine.kernel);
    int64_t cpus = config_int(config, "NUM_CPUS");
    int64_t memory = config_int(config, "MEMORY");
    cpus = cpus > 0 ? cpus : (int64_t)startd->machine.cpus;
    memory = memory > 0 ? memory : startd->machine.memory_mib;
    ad_set_int(ad, "Cpus", cpus / share > 0 ? cpus / share : 1);
    ad_set_int(ad, "Memory", memory / share);
    ad_set_int(ad, "Disk", disk > 0 ? disk / share : 0);
    ad_set_int(ad, "TotalCpus", cpus);
    ad_set_int(ad, "TotalMemory", memory);
    ad_set_int(ad, "TotalSlots", share);
    ad_set_real(ad, "LoadAvg", os_load_average(startd->env.os) / (double)share);
    ad_set_int(ad, "KeyboardIdle", os_keyboard_idle_s(startd->env.os));
    ad_set_string(ad, "BootId", startd->machine.boot_id);
    ad_set_int(ad, "BootTime", startd->machine.boot_time_s);
    ad_set_string(ad, "StartdUplink", startd->uplink);
    ad_set_int(ad, "DaemonStartTime", startd->started_s);
}

static void set_policy(struct slot *slot, struct ad *ad)
{
    struct startd *startd = slot->startd;
    const struct config *config = startd->env.config;
    static const char *const PAIRS[][2] = {{"START", "Start"},
                                           {"RANK", "Rank"},
                                           {"UNHIBERNATE", "Unhibernate"},
                                           {"HIBERNATE", "Hibernate"}};
    for (size_t i = 0; i < ARRAY_COUNT(PAIRS); i++) {
        const char *text = config_expr(config, PAIRS[i][0]);
        struct err err;
        if (text != NULL && ad_set_expr_old(ad, PAIRS[i][1], text, &err) != 0) {
            log_error(startd->env.log, "config.expr", err.text, LOG_TEXT("knob", PAIRS[i][0]));
            ad_set_error(ad, PAIRS[i][1]);
        }
    }
    (void)ad_set_expr(ad, "Requirements", "Start", NULL); /* a constant text: cannot fail */
    size_t count;
    const char *const *names = config_list(config, "STARTD_ATTRS", &count);
    for (size_t i = 0; i < count; i++) {
        const char *text = config_text(config, names[i]);
        struct err err = {.text = "not defined"};
        if (text == NULL || !ad_name_is_valid(names[i]) ||
            ad_set_expr_old(ad, names[i], text, &err) != 0) {
            log_warn(startd->env.log, "config.attr", err.text, LOG_TEXT("attribute", names[i]));
        }
    }
}

static void set_state(struct slot *slot, struct ad *ad)
{
    struct startd *startd = slot->startd;
    int64_t now_s = loop_wall_s(startd->env.loop);
    ad_set_string(ad, "State", slot_state_name(slot->state));
    ad_set_string(ad, "Activity", slot_activity_name(slot->activity));
    ad_set_int(ad, "EnteredCurrentState", slot->entered_state_s);
    ad_set_int(ad, "EnteredCurrentActivity", slot->entered_activity_s);
    ad_set_int(ad, "MyCurrentTime", now_s);
    ad_set_int(ad, "CurrentTime", now_s);
    ad_set_bool(ad, "CanHibernate",
                strcmp(config_string(startd->env.config, "POWER_METHOD"), "none") != 0);
    ad_set_string(ad, "HibernationState", startd->going_down ? startd->sleep_level : "NONE");
    ad_set_string(ad, "PowerState",
                  startd->going_down ? "GoingDown"
                  : startd->leaving  ? "Draining"
                                     : "On");
    ad_set_string(ad, "PowerMethod", config_string(startd->env.config, "POWER_METHOD"));
    if (slot->claim_id[0] != '\0' && !startd->going_down && !startd->leaving) {
        ad_set_string(ad, "ClaimId", slot->claim_id);
    }
    const struct claim *claim = slot->claim;
    if (claim != NULL) {
        ad_set_string(ad, "ScheddName", claim->schedd_name);
        if (claim->job_id[0] != '\0') {
            ad_set_string(ad, "JobId", claim->job_id);
        }
        if (claim->user != NULL) {
            ad_set_string(ad, "RemoteUser", claim->user);
            ad_set_string(ad, "RemoteOwner", claim->user);
        }
    }
}

void slot_refresh(struct slot *slot)
{
    struct ad *ad = ad_create();
    ad_set_string(ad, "MyType", "Machine");
    ad_set_string(ad, "Name", slot->name);
    set_machine(slot, ad);
    set_policy(slot, ad);
    set_state(slot, ad);
    ad_destroy(slot->ad);
    slot->ad = ad;
    slot->changed = true;
    advertise_soon(slot->startd);
}

void slot_move(struct slot *slot, enum slot_state state, enum slot_activity activity)
{
    struct startd *startd = slot->startd;
    if (state == slot->state && activity == slot->activity) {
        slot_refresh(slot);
        return;
    }
    CHECK(slot_plan_may_move(slot->state, slot->activity, state, activity));
    int64_t now_s = loop_wall_s(startd->env.loop);
    log_info(startd->env.log, "slot.state", "changed state", LOG_TEXT("slot", slot->name),
             LOG_TEXT("from", slot_state_name(slot->state)),
             LOG_TEXT("from_activity", slot_activity_name(slot->activity)),
             LOG_TEXT("to", slot_state_name(state)),
             LOG_TEXT("to_activity", slot_activity_name(activity)));
    if (state != slot->state) {
        slot->entered_state_s = now_s;
    }
    slot->entered_activity_s = now_s;
    slot->state = state;
    slot->activity = activity;
    slot_refresh(slot);
}

void slot_rest(struct slot *slot)
{
    CHECK(slot->claim == NULL);
    if (slot->state == SLOT_CLAIMED && slot->activity != SLOT_IDLE) {
        slot_move(slot, SLOT_PREEMPTING, SLOT_KILLING); /* its job was ended, or died, at once */
    }
    mint_claim_id(slot);
    struct ad_context context = startd_context(slot->startd);
    slot_move(slot, slot_plan_rest(slot->ad, &context), SLOT_IDLE);
}

struct slot *slot_by_claim_id(struct startd *startd, const char *claim_id)
{
    struct slot *found = NULL;
    size_t length = strlen(claim_id);
    for (size_t i = 0; i < startd->slot_count; i++) {
        struct slot *slot = &startd->slots[i];
        if (length > 0 && strlen(slot->claim_id) == length &&
            text_equal_secret(slot->claim_id, claim_id, length)) {
            found = slot;
        }
    }
    return found;
}

void slots_poll(struct startd *startd)
{
    for (size_t i = 0; i < startd->slot_count; i++) {
        struct slot *slot = &startd->slots[i];
        if (slot->claim != NULL || (slot->state != SLOT_OWNER && slot->state != SLOT_UNCLAIMED)) {
            continue;
        }
        struct ad_context context = startd_context(startd);
        ad_set_real(slot->ad, "LoadAvg",
                    os_load_average(startd->env.os) / (double)startd->slot_count);
        ad_set_int(slot->ad, "KeyboardIdle", os_keyboard_idle_s(startd->env.os));
        ad_set_int(slot->ad, "CurrentTime", context.now_s);
        if (context.now_s - slot->minted_s >= CLAIM_ID_LIFETIME_S ||
            context.now_s < slot->minted_s) {
            mint_claim_id(
                slot); /* the last one may have been given away, and the word of it lost */
            slot_refresh(slot);
        }
        enum slot_state rest = slot_plan_rest(slot->ad, &context);
        if (rest != slot->state) {
            slot_move(slot, rest, SLOT_IDLE);
        }
    }
}

int slots_create(struct startd *startd, struct err *err)
{
    int64_t count = config_int(startd->env.config, "NUM_SLOTS");
    int64_t cpus = config_int(startd->env.config, "NUM_CPUS");
    if (count == 0) {
        count = cpus > 0 ? cpus : (int64_t)startd->machine.cpus;
    }
    if (count < 1 || count > STARTD_SLOTS_MAX) {
        return err_set(err, -ERANGE, "NUM_SLOTS: %lld slots are not in 1..%d", (long long)count,
                       STARTD_SLOTS_MAX);
    }
    startd->slot_count = (size_t)count;
    startd->slots = mem_zalloc((size_t)count * sizeof *startd->slots);
    int64_t now_s = loop_wall_s(startd->env.loop);
    for (size_t i = 0; i < startd->slot_count; i++) {
        struct slot *slot = &startd->slots[i];
        slot->startd = startd;
        slot->id = (int)i + 1;
        (void)snprintf(slot->name, sizeof slot->name, "slot%d@%s", slot->id, startd->name);
        slot->state = SLOT_UNCLAIMED;
        slot->entered_state_s = slot->entered_activity_s = now_s;
        mint_claim_id(slot);
        slot_refresh(slot);
    }
    return 0;
}

void slots_destroy(struct startd *startd)
{
    for (size_t i = 0; i < startd->slot_count; i++) {
        ad_destroy(startd->slots[i].ad);
    }
    mem_free(startd->slots);
    startd->slots = NULL;
    startd->slot_count = 0;
}
