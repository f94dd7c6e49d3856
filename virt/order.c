/* virt/order.c - carries out an order: wakes a domain, takes it down, or asks for its state.
 *
 * An order is a loop: get the domain's state, do the one thing that brings it nearer, wait for
 * libvirt's events, begin again.  So it does not matter in which state the domain is at first, who
 * else changes it, or that the connection is lost in between.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <libvirt/virterror.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "virt/line_plan.h"
#include "virt/virt.h"

#define AGAIN_MS     10000 /* a guest that has just begun to boot misses a shutdown: asked again */
#define RECONNECT_MS 250

enum step { STEP_DONE, STEP_WAIT, STEP_FAILED };

struct order {
    struct virt *virt;
    const struct virt_line *line;
    const atomic_bool *cancelled;
    virConnectPtr conn;
    virDomainPtr domain;
    uint64_t begin_ms, end_ms;
    uint64_t again_ms; /* when to ask the guest again */
    /* when the order fails because the guest could not be asked (why); 0: it could */
    uint64_t fail_ms;
    bool told;     /* the guest was asked to go down */
    bool by_force; /* the guest did not go down and was destroyed */
    struct err why;
    struct virt_answer *answer;
};

const char *virt_error_text(void)
{
    const virError *last = virGetLastError();
    return last != NULL && last->message != NULL ? last->message : "libvirt gives no reason";
}

static enum step order_done(struct order *order, const char *text)
{
    order->answer->status = 0;
    (void)snprintf(order->answer->text, sizeof order->answer->text, "%s", text);
    return STEP_DONE;
}

__attribute__((format(printf, 3, 4))) static enum step order_failed(struct order *order, int code,
                                                                    const char *format, ...)
{
    char text[VIRT_TEXT_MAX];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    order->answer->status = err_set(&order->why, code, "%s", text);
    return STEP_FAILED;
}

/* Handles the result of a libvirt call that changes the state.  If libvirt refused because the
 * state had changed meanwhile, that is not a failure: the state is checked again. */
static enum step after_change(struct order *order, int result, const char *text)
{
    const virError *last = virGetLastError();
    if (result == 0) {
        return order_done(order, text);
    }
    if (last != NULL && last->code == VIR_ERR_OPERATION_INVALID && !order->told) {
        order->told = true; /* once */
        return STEP_WAIT;
    }
    return order_failed(order, -EIO, "%s", virt_error_text());
}

/* Returns whether the domain is paused only on its way to another state. */
static bool is_passing(int reason)
{
    return reason == VIR_DOMAIN_PAUSED_SAVE || reason == VIR_DOMAIN_PAUSED_MIGRATION ||
           reason == VIR_DOMAIN_PAUSED_SHUTTING_DOWN || reason == VIR_DOMAIN_PAUSED_STARTING_UP;
}

static enum step wake_guest(struct order *order, int state, int reason, uint64_t *wait_ms)
{
    int saved;
    *wait_ms = order->end_ms;
    switch (state) {
    case VIR_DOMAIN_RUNNING:
    case VIR_DOMAIN_BLOCKED:
        return order_done(order, order->told ? "started" : "the guest is running already");
    case VIR_DOMAIN_PAUSED:
        if (is_passing(reason)) {
            return STEP_WAIT;
        }
        return after_change(order, virDomainResume(order->domain), "resumed");
    case VIR_DOMAIN_PMSUSPENDED:
        return after_change(order, virDomainPMWakeup(order->domain, 0), "woken from suspend");
    case VIR_DOMAIN_CRASHED: /* kept for whoever wants to look at it */
        return order_failed(order, -EIO, "the guest has crashed and is kept as it was");
    case VIR_DOMAIN_SHUTOFF:
        saved = virDomainHasManagedSaveImage(order->domain, 0);
        return after_change(order, virDomainCreate(order->domain),
                            saved == 1 ? "restored" : "started");
    default:
        return STEP_WAIT; /* shutting down: until it is off */
    }
}

static enum step destroy_guest(struct order *order)
{
    order->by_force = true;
    if (virDomainDestroy(order->domain) != 0) {
        const virError *last = virGetLastError();
        if (last == NULL || last->code != VIR_ERR_OPERATION_INVALID) { /* else: gone just now */
            return order_failed(order, -EIO, "%s", virt_error_text());
        }
    }
    return STEP_WAIT;
}

static int tell_guest(struct order *order)
{
    switch (order->line->how) {
    case VIRT_ACPI:
        return virDomainShutdownFlags(order->domain, VIR_DOMAIN_SHUTDOWN_ACPI_POWER_BTN);
    case VIRT_AGENT:
        return virDomainShutdownFlags(order->domain, VIR_DOMAIN_SHUTDOWN_GUEST_AGENT);
    case VIRT_SUSPEND:
        return virDomainPMSuspendForDuration(order->domain, VIR_NODE_SUSPEND_TARGET_MEM, 0, 0);
    case VIRT_DISK:
        return virDomainPMSuspendForDuration(order->domain, VIR_NODE_SUSPEND_TARGET_DISK, 0, 0);
    default:
        return virDomainShutdown(order->domain);
    }
}

/* The agent's socket may close before its answer comes, because the guest is already gone.  So the
 * error counts only if the guest is still there a while later. */
static enum step wait_for_refused(struct order *order, uint64_t now_ms, uint64_t *wait_ms)
{
    if (order->fail_ms == 0) {
        (void)err_set(&order->why, -EIO, "%s", virt_error_text());
        order->fail_ms = now_ms + AGAIN_MS;
    } else if (now_ms >= order->fail_ms) {
        order->answer->status = -EIO; /* why says what it was */
        return STEP_FAILED;
    }
    *wait_ms = order->fail_ms;
    return STEP_WAIT;
}

/* Asks the guest to go down by itself, and later forces it.  A guest that was asked to suspend is
 * never destroyed. */
static enum step ask_guest(struct order *order, uint64_t *wait_ms)
{
    bool may_force = order->line->how != VIRT_SUSPEND && order->line->how != VIRT_DISK;
    uint64_t now_ms = virt_now_ms();
    if (order->fail_ms != 0) {
        return wait_for_refused(order, now_ms, wait_ms);
    }
    uint64_t patience_ms = order->begin_ms + (uint64_t)order->line->patience_s * 1000;
    if (now_ms >= patience_ms) {
        return may_force ? destroy_guest(order)
                         : order_failed(order, -ETIMEDOUT, "the guest did not suspend in %u s",
                                        order->line->patience_s);
    }
    if (now_ms >= order->again_ms) {
        if (tell_guest(order) != 0 && !order->told) {
            const virError *last = virGetLastError();
            if (last == NULL || last->code != VIR_ERR_OPERATION_INVALID) {
                return wait_for_refused(order, now_ms, wait_ms);
            }
        }
        order->told = true;
        order->again_ms = now_ms + AGAIN_MS;
    }
    *wait_ms = order->again_ms < patience_ms ? order->again_ms : patience_ms;
    return STEP_WAIT;
}

static enum step go_down(struct order *order, int state, uint64_t *wait_ms)
{
    enum virt_how how = order->line->how;
    *wait_ms = order->end_ms;
    if (state == VIR_DOMAIN_SHUTOFF || state == VIR_DOMAIN_CRASHED) {
        return order_done(order, order->by_force
                                     ? "the guest did not shut down in time and was destroyed"
                                 : order->told || order->fail_ms != 0 ? "the guest has shut down"
                                                                      : "the guest is off already");
    }
    if (state == VIR_DOMAIN_PMSUSPENDED && (how == VIRT_SUSPEND || how == VIRT_DISK)) {
        return order_done(order, order->told || order->fail_ms != 0
                                     ? "the guest is suspended"
                                     : "the guest is suspended already");
    }
    if (virDomainIsPersistent(order->domain) == 0) {
        return order_failed(order, -EPERM,
                            "the domain is transient: it could not be started again");
    }
    if (how == VIRT_SAVE) {
        return after_change(order, virDomainManagedSave(order->domain, 0), "saved");
    }
    if (how == VIRT_DESTROY || order->by_force) {
        return order->by_force ? STEP_WAIT : destroy_guest(order);
    }
    return ask_guest(order, wait_ms);
}

/* ---- states in words, as virsh has them */

struct words {
    const char *state;
    const char *const *reasons; /* from reason 1 on; NULL after the last */
};

static const char *const RUNNING[] = {"booted",   "migrated",     "restored",  "snapshot",
                                      "unpaused", "not migrated", "not saved", "woken",
                                      "crashed",  "post-copy",    NULL};
static const char *const PAUSED[] = {
    "by somebody",      "migration", "save",        "dump",
    "I/O error",        "watchdog",  "snapshot",    "shutting down",
    "snapshot",         "crashed",   "starting up", "post-copy",
    "post-copy failed", NULL};
static const char *const OFF[] = {"shut down", "destroyed", "crashed", "migrated", "saved",
                                  "failed",    "snapshot",  "daemon",  NULL};
static const char *const CRASHED[] = {"panicked", NULL};
static const char *const NONE[] = {NULL};

const char *virt_state_text(int state, int reason, char text[VIRT_STATE_MAX])
{
    static const struct words WORDS[] = {
        [VIR_DOMAIN_NOSTATE] = {"no state", NONE},
        [VIR_DOMAIN_RUNNING] = {"running", RUNNING},
        [VIR_DOMAIN_BLOCKED] = {"blocked", NONE},
        [VIR_DOMAIN_PAUSED] = {"paused", PAUSED},
        [VIR_DOMAIN_SHUTDOWN] = {"shutting down", NONE},
        [VIR_DOMAIN_SHUTOFF] = {"shut off", OFF},
        [VIR_DOMAIN_CRASHED] = {"crashed", CRASHED},
        [VIR_DOMAIN_PMSUSPENDED] = {"suspended", NONE},
    };
    const struct words *words =
        &WORDS[state >= 0 && state <= VIR_DOMAIN_PMSUSPENDED ? state : VIR_DOMAIN_NOSTATE];
    int at = 0;
    while (words->reasons[at] != NULL && at + 1 < reason) {
        at++;
    }
    const char *why = reason > 0 ? words->reasons[at] : NULL;
    (void)snprintf(text, VIRT_STATE_MAX, "%s%s%s%s", words->state, why != NULL ? " (" : "",
                   why != NULL ? why : "", why != NULL ? ")" : "");
    bool passing =
        state == VIR_DOMAIN_SHUTDOWN || (state == VIR_DOMAIN_PAUSED && is_passing(reason));
    switch (state) {
    case VIR_DOMAIN_RUNNING:
    case VIR_DOMAIN_BLOCKED:
        return "on";
    case VIR_DOMAIN_SHUTOFF:
    case VIR_DOMAIN_PMSUSPENDED:
        return "off";
    default: /* neither: paused, it does nothing, and is there at once */
        return passing ? NULL : "unknown";
    }
}

static enum step tell_state(struct order *order, int state, int reason)
{
    char text[VIRT_STATE_MAX];
    const char *word = virt_state_text(state, reason, text);
    order->answer->state = word != NULL ? word : "unknown";
    return order_done(order, text);
}

/* Checks the state once and does at most one thing. */
static enum step order_step(struct order *order, uint64_t *wait_ms)
{
    int state = 0, reason = 0;
    if (atomic_load(order->cancelled)) {
        return order_failed(order, -ECANCELED, "the order was cancelled");
    }
    if (virDomainGetState(order->domain, &state, &reason, 0) != 0) {
        return order_failed(order, -EIO, "%s", virt_error_text());
    }
    switch (order->line->verb) {
    case VIRT_WAKE:
        return wake_guest(order, state, reason, wait_ms);
    case VIRT_SLEEP:
        return go_down(order, state, wait_ms);
    default: /* VIRT_STATUS: the others are no orders */
        break;
    }
    return tell_state(order, state, reason);
}

/* Works with one connection until the order is over, or the connection is lost (STEP_WAIT). */
static enum step with_connection(struct order *order)
{
    unsigned char uuid[VIR_UUID_BUFLEN];
    int rc = virt_find(virt_names(order->virt), order->conn, order->line->domain, &order->domain,
                       &order->why);
    if (rc != 0) {
        order->answer->status = rc;
        return rc == -EIO && virt_lost(order->virt, order->conn) ? STEP_WAIT : STEP_FAILED;
    }
    if (virDomainGetUUID(order->domain, uuid) != 0) {
        return order_failed(order, -EIO, "%s", virt_error_text());
    }
    struct virt_wait *wait = virt_wait_begin(order->virt, uuid);
    enum step next = STEP_WAIT;
    while (next == STEP_WAIT) {
        uint64_t until_ms = order->end_ms;
        next = order_step(order, &until_ms);
        if (next == STEP_WAIT && virt_now_ms() >= order->end_ms) {
            next = order_failed(order, -ETIMEDOUT, "the order was not carried out within %u s",
                                order->line->limit_s);
        } else if (next == STEP_WAIT) {
            virt_wait(wait, until_ms < order->end_ms ? until_ms : order->end_ms);
        }
        if (next != STEP_DONE && virt_lost(order->virt, order->conn)) {
            next = STEP_WAIT;
            break;
        }
    }
    virt_wait_end(wait);
    return next;
}

static void pause_until(struct virt *virt, uint64_t until_ms)
{
    struct virt_wait *wait = virt_wait_begin(virt, NULL);
    virt_wait(wait, until_ms);
    virt_wait_end(wait);
}

void virt_order(struct virt *virt, const struct virt_line *line, const atomic_bool *cancelled,
                struct virt_answer *ret)
{
    struct order order = {.virt = virt,
                          .line = line,
                          .cancelled = cancelled,
                          .begin_ms = virt_now_ms(),
                          .answer = ret};
    order.end_ms = order.begin_ms + (uint64_t)line->limit_s * 1000;
    *ret = (struct virt_answer){.state = "unknown"};
    enum step next = STEP_WAIT;
    do {
        ret->status = virt_connect(virt, &order.conn, &order.why);
        if (ret->status == 0) {
            next = with_connection(&order);
            if (order.domain != NULL) {
                (void)virDomainFree(order.domain);
            }
            order.domain = NULL;
            (void)virConnectClose(order.conn);
        }
        if (next == STEP_WAIT && atomic_load(cancelled)) {
            next = order_failed(&order, -ECANCELED, "the order was cancelled");
        } else if (next == STEP_WAIT && virt_now_ms() >= order.end_ms) {
            next = STEP_FAILED;
        } else if (next == STEP_WAIT) {
            pause_until(virt, virt_now_ms() + RECONNECT_MS);
        }
    } while (next == STEP_WAIT);
    if (next == STEP_FAILED) {
        ret->status = ret->status != 0 ? ret->status : -EIO;
        (void)snprintf(ret->text, sizeof ret->text, "%.290s", order.why.text);
    }
}
