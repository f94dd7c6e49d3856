/* startd/slot/slots.c - which slots a machine has: the configured ones, and the pieces (dynamic
 * slots) of partitionable ones.
 *
 * The division of the machine is computed once, at the start: slot_types_plan.c.  A piece is made
 * by an offer (offer.c) or found again in the store, and removed with its claim.  What is free of a
 * partitionable slot is not tracked: it is all of it less its pieces, computed when asked.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "startd/slot/slots.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/args.h"
#include "base/config/config.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/plant.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "classad/ad.h"
#include "startd/advertise_due.h"
#include "startd/slot/carve_plan.h"
#include "startd/machine/figures.h"
#include "startd/machine/inventory_plan.h"
#include "startd/slot/slot.h"
#include "startd/slot/slot_division.h"
#include "startd/slot/slot_facts.h"
#include "startd/slot/slot_fixed.h"
#include "startd/slot/slot_knobs.h"
#include "startd/slot/slot_policy.h"
#include "startd/slot/slot_types_plan.h"
#include "startd/startd_context.h"
#include "startd/startd_state.h"
#include "wire/secret_list.h"

#define INVENTORY_MS    30000 /* that its script may take */
#define INVENTORY_BYTES ((size_t)1 << 20)
#define DISK_GROWTH     64 /* the disk is divided anew when it has one part in so many more */

/* ---- the machine */

/* Runs the script and waits for it: what the machine has must be known before it is divided. */
static int read_inventory(const struct startd *startd, const char *command, const char *answer,
                          struct ad **ret, struct err *err)
{
    struct os *os = startd->env.os;
    struct vec words = {0};
    struct os_exit how;
    char *text = NULL;
    size_t length;
    int rc = args_parse_v2(command, &words, err);
    if (rc == 0 && words.count == 0) {
        rc = err_set(err, -EINVAL, "the command is empty; name a program");
    }
    if (rc == 0) {
        vec_push(&words, NULL);
        const struct os_spawn spec = {.argv = (const char *const *)words.items,
                                      .stdout_path = answer,
                                      .truncate_output = true,
                                      .new_session = true};
        rc = os_run(os, &spec, INVENTORY_MS, &how, err);
    }
    if (rc == 0 && how.status != 0) {
        rc = err_set(err, -EIO, "%s ended with %s %d", (const char *)words.items[0],
                     how.signal != 0 ? "signal" : "status",
                     how.signal != 0 ? how.signal : how.status);
    }
    rc = rc != 0 ? rc : os_read_file(os, answer, INVENTORY_BYTES, &text, &length, err);
    rc = rc != 0 ? rc : ad_parse_long(text, length, ret, err);
    (void)os_remove(os, answer, NULL); /* left: small, and written over */
    mem_free(text);
    vec_fini(&words, mem_free);
    return rc;
}

/* If a script fails the machine lacks that resource; the pool does not lack the machine. */
static void find_inventory(struct startd *startd, const char *name, const char *command)
{
    struct strbuf answer;
    struct ad *found = NULL;
    struct err err;
    strbuf_init(&answer, 0);
    strbuf_printf(&answer, "%s/inventory.answer", config_path(startd->env.config, "SPOOL"));
    int rc = read_inventory(startd, command, strbuf_text(&answer), &found, &err);
    rc = rc != 0 ? rc
                 : inventory_plan_add(startd->division.kinds, name, found, &startd->division.total,
                                      startd->division.inventory, &err);
    if (rc != 0) {
        log_error(startd->env.log, "config.inventory", err.text, LOG_TEXT("resource", name),
                  LOG_TEXT("command", command));
    }
    ad_destroy(found);
    strbuf_fini(&answer);
}

static int find_resource(struct startd *startd, const char *knob, struct err *err)
{
    const struct config *config = startd->env.config;
    const char *name = knob + strlen(RESOURCE_PREFIX);
    const char *text = config_text(config, knob);
    text = text != NULL ? text : "";
    if (!text_glob(INVENTORY_PREFIX "?*", name, true)) {
        return slot_division_counts(config, name)
                   ? carve_plan_kinds_add(startd->division.kinds, name, text,
                                          &startd->division.total, err)
                   : 0;
    }
    name += strlen(INVENTORY_PREFIX);
    struct strbuf plain;
    strbuf_init(&plain, 0);
    strbuf_printf(&plain, RESOURCE_PREFIX "%s", name);
    if (slot_division_counts(config, name) && config_text(config, strbuf_text(&plain)) == NULL) {
        find_inventory(startd, name, text); /* what is written down is not looked for */
    }
    strbuf_fini(&plain);
    return 0;
}

/* Returns how much of the disk jobs may use now, KiB. */
static int64_t disk_for_jobs(const struct startd *startd)
{
    const struct config *config = startd->env.config;
    int64_t disk = os_disk_free_kib(startd->env.os, config_path(config, "EXECUTE")) -
                   config_int(config, "RESERVED_DISK") * 1024;
    return disk > 0 ? disk : 0;
}

static int find_resources(struct startd *startd, struct err *err)
{
    const struct config *config = startd->env.config;
    struct resources *total = &startd->division.total;
    slot_division_machine(config, &startd->machine, total);
    total->amount[RESOURCE_DISK] = disk_for_jobs(startd);
    startd->division.kinds = mem_zalloc(sizeof *startd->division.kinds);
    carve_plan_kinds_init(startd->division.kinds);
    startd->division.inventory = ad_create();
    if (config_bool(config, "ASSIGN_CPU_AFFINITY")) {
        uint32_t numbers[RESOURCE_IDS_MAX];
        size_t numbered = os_cpu_numbers(startd->env.os, numbers, RESOURCE_IDS_MAX);
        carve_plan_name_cpus(startd->division.kinds, numbers, numbered, total);
    }
    size_t at = 0;
    const char *name = NULL;
    const struct knob *knob = NULL;
    int rc = 0;
    while (rc == 0 && config_next(config, &at, &name, &knob)) {
        if (knob == NULL && text_glob(RESOURCE_PREFIX "?*", name, true)) {
            rc = find_resource(startd, name, err);
        }
    }
    return rc;
}

/* ---- slots */

static struct slot *add_slot(struct startd *startd, enum slot_kind kind)
{
    struct slot *slot = mem_zalloc(sizeof *slot);
    slot->startd = startd;
    slot->kind = kind;
    slot->state = SLOT_UNCLAIMED;
    slot->activity = SLOT_IDLE;
    slot->entered_state_ms = slot->entered_activity_ms = (int64_t)loop_now_ms(startd->env.loop);
    startd->slots = mem_realloc(startd->slots, (startd->slot_count + 1) * sizeof(struct slot *));
    startd->slots[startd->slot_count++] = slot;
    return slot;
}

static void destroy_slot(struct slot *slot)
{
    vec_fini(&slot->piece_ids, mem_free);
    secret_list_unref(slot->offered);
    slot_policy_unload(slot);
    ad_destroy(slot->ad);
    mem_free(slot);
}

static const char *const ATTR_KNOBS[] = {"STARTD_ATTRS", "STARTD_EXPRS"};

/* Room = "B12" without quotes in the knob would be the value of an attribute B12; if there is no
 * such attribute, a text was meant, and that is logged. */
static void check_attrs(const struct startd *startd, const char *knob)
{
    size_t count;
    const char *const *names = config_list(startd->env.config, knob, &count);
    for (size_t i = 0; i < count; i++) {
        const char *text = config_text(startd->env.config, names[i]);
        if (text != NULL && ad_name_is_valid(text) && !ad_has(startd->slots[0]->ad, text)) {
            log_warn(startd->env.log, "config.attr",
                     "the value names an attribute that does not exist; a text needs its own "
                     "quotes: \"\\\"text\\\"\"",
                     LOG_TEXT("attribute", names[i]), LOG_TEXT("value", text));
        }
    }
}

static void check_all_attrs(const struct startd *startd)
{
    for (size_t i = 0; i < ARRAY_COUNT(ATTR_KNOBS); i++) {
        check_attrs(startd, ATTR_KNOBS[i]);
    }
}

int slots_create(struct startd *startd, struct err *err)
{
    struct slot_type types[SLOT_TYPES_MAX];
    size_t type_count, count = 0;
    /* The disk that is free is asked for there; starters_open() says what is wrong with it. */
    (void)os_mkdirs(startd->env.os, config_path(startd->env.config, "EXECUTE"), 0755, NULL);
    int rc = find_resources(startd, err);
    rc = rc != 0
             ? rc
             : slot_division_types(startd->env.config, startd->division.total.amount[RESOURCE_CPUS],
                                   types, &type_count, err);
    if (rc != 0) {
        return rc;
    }
    struct slot_share *shares = mem_alloc(STARTD_SLOTS_MAX * sizeof *shares);
    rc = slot_types_plan_divide(startd->division.kinds, &startd->division.total, types, type_count,
                                STARTD_SLOTS_MAX, shares, &count, err);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        struct slot *slot =
            add_slot(startd, shares[i].partitionable ? SLOT_PARTITIONABLE : SLOT_STATIC);
        slot->id = (int)i + 1;
        slot->type_id = shares[i].type_id;
        slot->total = shares[i].resources;
        (void)snprintf(slot->short_name, sizeof slot->short_name, "slot%d", slot->id);
        (void)snprintf(slot->name, sizeof slot->name, "slot%d@%s", slot->id, startd->name);
    }
    mem_free(shares);
    if (rc != 0) {
        return rc;
    }
    startd->machine_slots = startd->slot_count;
    slot_knobs_find_modifiers(startd);
    for (size_t i = 0; i < startd->slot_count; i++) {
        slot_policy_load(startd->slots[i]);
        slot_mint(startd->slots[i]);
        slot_refresh(startd->slots[i]);
    }
    figures_measure(startd);
    check_all_attrs(startd);
    return 0;
}

void slots_destroy(struct startd *startd)
{
    for (size_t i = 0; i < startd->slot_count; i++) {
        destroy_slot(startd->slots[i]);
    }
    mem_free(startd->slots);
    startd->slots = NULL;
    startd->slot_count = startd->machine_slots = 0;
    for (size_t i = 0; i < RESOURCE_KINDS_MAX; i++) {
        ad_expr_destroy(startd->division.modify[i]);
        startd->division.modify[i] = NULL;
    }
    if (startd->division.kinds != NULL) {
        carve_plan_kinds_fini(startd->division.kinds);
    }
    mem_free(startd->division.kinds);
    startd->division.kinds = NULL;
    ad_destroy(startd->division.inventory);
    startd->division.inventory = NULL;
    slot_fixed_forget(startd);
    vec_fini(&startd->sent.gone, mem_free);
}

void slots_divide_more_disk(struct startd *startd)
{
    struct slot_type types[SLOT_TYPES_MAX];
    size_t type_count, count = 0;
    int64_t *had = &startd->division.total.amount[RESOURCE_DISK];
    const int64_t found = disk_for_jobs(startd);
    if (found <= *had + *had / DISK_GROWTH ||
        slot_division_types(startd->env.config, startd->division.total.amount[RESOURCE_CPUS], types,
                            &type_count, NULL) != 0) {
        return;
    }
    struct resources total = startd->division.total;
    total.amount[RESOURCE_DISK] = found;
    struct slot_share *shares = mem_alloc(STARTD_SLOTS_MAX * sizeof *shares);
    int rc = slot_types_plan_divide(startd->division.kinds, &total, types, type_count,
                                    STARTD_SLOTS_MAX, shares, &count, NULL);
    if (rc == 0 && count == startd->machine_slots) { /* else the configuration has changed */
        log_info(startd->env.log, "disk.more", "the disk has more room than when the startd began",
                 LOG_INT("had_kib", *had), LOG_INT("kib", found));
        *had = found;
        for (size_t i = 0; i < count; i++) {
            startd->slots[i]->total.amount[RESOURCE_DISK] =
                shares[i].resources.amount[RESOURCE_DISK];
        }
    }
    mem_free(shares);
}

void slots_refresh(struct startd *startd)
{
    slots_divide_more_disk(startd);
    figures_freshen(startd);
    for (size_t i = 0; i < startd->slot_count; i++) {
        slot_build(startd->slots[i]);
    }
    advertise_soon(startd);
}

void slots_replace_ids(struct startd *startd)
{
    for (size_t i = 0; i < startd->slot_count; i++) {
        struct slot *slot = startd->slots[i];
        if (slot->claim_id[0] != '\0' || slot->piece_ids.count > 0) {
            slot_mint(slot);
        }
    }
}

void slots_reload(struct startd *startd)
{
    slot_knobs_find_modifiers(startd);
    for (size_t i = 0; i < startd->slot_count; i++) {
        slot_policy_load(startd->slots[i]);
    }
    slots_refresh(startd);
    check_all_attrs(startd);
}

/* ---- pieces */

/* Returns the lowest number that no piece of parent has. */
static int free_piece_id(const struct slot *parent)
{
    const struct startd *startd = parent->startd;
    for (int id = 1;; id++) {
        bool used = false;
        for (size_t i = startd->machine_slots; i < startd->slot_count; i++) {
            used = used || (startd->slots[i]->parent == parent && startd->slots[i]->piece_id == id);
        }
        if (!used) {
            return id;
        }
    }
}

static struct slot *add_piece(struct slot *parent, int piece_id, const struct resources *resources)
{
    struct startd *startd = parent->startd;
    struct slot *piece = add_slot(startd, SLOT_DYNAMIC);
    piece->parent = parent;
    piece->id = parent->id;
    piece->type_id = parent->type_id;
    piece->piece_id = piece_id;
    piece->total = *resources;
    (void)snprintf(piece->short_name, sizeof piece->short_name, "slot%d_%d", piece->id, piece_id);
    (void)snprintf(piece->name, sizeof piece->name, "%s@%s", piece->short_name, startd->name);
    slot_policy_load(piece);
    slot_build(piece);
    return piece;
}

void slots_keep(struct slot *piece)
{
    struct slot *parent = piece->parent;
    parent->entered_state_ms = parent->entered_activity_ms =
        (int64_t)loop_now_ms(piece->startd->env.loop);
    slot_refresh(piece);
}

static void take_out(struct slot *piece)
{
    struct startd *startd = piece->startd;
    CHECK(piece->kind == SLOT_DYNAMIC && piece->claim == NULL && piece->waiting == NULL);
    size_t at = startd->machine_slots;
    while (startd->slots[at] != piece) {
        at++;
    }
    startd->slot_count--;
    memmove(&startd->slots[at], &startd->slots[at + 1],
            (startd->slot_count - at) * sizeof(struct slot *));
    destroy_slot(piece);
}

void slots_uncarve(struct slot *piece)
{
    take_out(piece);
}

static int request_of(const struct slot *slot, const struct ad *job, struct resources *ret,
                      struct err *err)
{
    struct startd *startd = slot->startd;
    struct ad_context context = startd_context(startd);
    struct carve_exprs exprs;
    for (size_t i = 0; i < RESOURCE_KINDS_MAX; i++) {
        exprs.expr[i] = startd->division.modify[i];
    }
    int rc = carve_plan_request(startd->division.kinds, &exprs, job, slot->ad, &context, ret, err);
    if (rc == 0) {
        inventory_plan_wish(startd->division.kinds, job, &context, ret);
    }
    return rc;
}

int slots_fit(const struct slot *slot, const struct ad *job, struct err *err)
{
    struct resources want;
    if (slot->kind != SLOT_DYNAMIC) {
        return 0;
    }
    int rc = request_of(slot->parent, job, &want, err); /* rounded as it was carved */
    rc = rc != 0 ? rc : carve_plan_fits(slot->startd->division.kinds, &slot->total, &want, err);
    return rc != 0 ? err_prefix(err, rc, "%s: the job", slot->name) : 0;
}

int slots_carve(struct slot *parent, const struct ad *job, struct slot **ret, struct err *err)
{
    struct startd *startd = parent->startd;
    struct resources want, free;
    int rc = request_of(parent, job, &want, err);
    if (rc != 0) {
        return rc;
    }
    slot_free_resources(parent, &free);
    rc = carve_plan_fits(startd->division.kinds, &free, &want, err);
    if (rc == 0 && startd->slot_count >= STARTD_SLOTS_MAX) {
        rc = err_set(err, -ENOSPC,
                     "needs a new slot, but the machine already has %d slots, the most possible",
                     STARTD_SLOTS_MAX);
    }
    if (rc != 0) {
        return err_prefix(err, rc, "%s: the job", parent->name);
    }
    carve_plan_take(startd->division.kinds, &free, &want);
    *ret = add_piece(parent, free_piece_id(parent), &want);
    return 0;
}

struct slot *slots_carve_again(struct startd *startd, const char *name, const struct ad *resources)
{
    int id = 0, piece_id = 0, length = 0;
    if (sscanf(name, "slot%d_%d%n", &id, &piece_id, &length) != 2 || id < 1 || piece_id < 1 ||
        name[length] != '@' || strcmp(name + length + 1, startd->name) != 0 ||
        (size_t)id > startd->machine_slots || startd->slot_count >= STARTD_SLOTS_MAX ||
        startd->slots[id - 1]->kind != SLOT_PARTITIONABLE || slot_by_name(startd, name) != NULL) {
        return NULL;
    }
    struct resources piece;
    carve_plan_read(startd->division.kinds, resources, &piece);
    if (piece.amount[RESOURCE_CPUS] < 1) {
        piece.amount[RESOURCE_CPUS] = 1;
    }
    struct slot *slot = add_piece(startd->slots[id - 1], piece_id, &piece);
    slots_keep(slot);
    return slot;
}

void slots_remove(struct slot *piece)
{
    struct startd *startd = piece->startd;
    struct slot *parent = piece->parent;
    vec_push(&startd->sent.gone, mem_strdup(piece->name));
    log_info(startd->env.log, "slot.gone",
             "a dynamic slot was removed, and its resources are free again",
             LOG_TEXT("slot", piece->name));
    take_out(piece);
    parent->entered_state_ms = parent->entered_activity_ms = (int64_t)loop_now_ms(startd->env.loop);
    slot_refresh(parent);
}
