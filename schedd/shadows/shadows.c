/* schedd/shadows/shadows.c - see shadows.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/shadows/shadows.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>

#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/random.h"
#include "base/secret_file.h"
#include "base/strbuf.h"
#include "base/stream/stream.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "schedd/requests/job_autocluster.h"
#include "schedd/claim/job_claims.h"
#include "schedd/queue/queue_table.h"
#include "schedd/schedd_state.h"
#include "schedd/shadows/shadow_start.h"
#include "wire/wire.h"

#define RESPAWN_FIRST_MS 100
#define RESPAWN_MAX_MS   10000
#define ADMITS_MAX       256
#define ADMIT_MS         40000
#define EXIT_LOCK_HELD \
    3 /* base/daemon/daemon.h: another shadow of this owner lives, and will dial */

struct shadow {
    struct schedd *schedd;
    struct owner *owner;
    pid_t pid;         /* the process that we started; 0: none */
    struct wire *wire; /* connection after SHADOW_HELLO; NULL: not connected */
    char pin[STREAM_PIN_SIZE];
    char *pass_address;
    struct vec waiting;       /* struct incoming: they wait until the shadow says hello */
    struct vec admits;        /* struct admit: not answered yet */
    struct loop_timer *timer; /* starts the process (again), or ends it */
    uint64_t backoff_ms;
    bool ending; /* it was told to end */
};

/* A call that waits for the shadow, or for its answer. */
struct admit {
    struct shadow *shadow; /* NULL: the schedd ends, nobody waits */
    enum wire_verb verb;
    struct ad *args;
    char *ticket; /* NULL: none */
    shadows_admitted_f answered;
    void *arg;
    struct loop_timer *deadline;
    bool asked; /* sent on the present connection */
};

static void spawn_shadow(struct shadow *shadow);

/* ---- life ------------------------------------------------------------------------------------ */

static bool is_needed(const struct shadow *shadow)
{
    const struct owner *owner = shadow->owner;
    bool has_runs = owner->runs != NULL && strmap_count(owner->runs) > 0;
    return (has_runs || shadow->waiting.count > 0 || shadow->admits.count > 0 ||
            owner->events > 0) &&
           !shadow->schedd->stopping;
}

/* Returns whether the owner has claims.  A starter may connect when its job is already in the
 * history, because the answer about this was lost with the shadow.  While the slot is ours, a
 * shadow must be there to tell it. */
static bool has_claims(const struct shadow *shadow)
{
    size_t at = 0;
    void *value = NULL;
    while (strmap_next(shadow->schedd->claimed.by_id, &at, NULL, &value)) {
        const struct claim *claim = value;
        if (claim->autocluster != NULL && claim->autocluster->owner == shadow->owner) {
            return true;
        }
    }
    return false;
}

static void drop_waiting(struct shadow *shadow)
{
    for (size_t i = 0; i < shadow->waiting.count; i++) {
        incoming_refuse(shadow->waiting.items[i]);
    }
    vec_clear(&shadow->waiting, NULL);
}

static void ignore_answer(void *arg, struct wire_reply *reply)
{
    (void)arg, (void)reply; /* a shadow that is gone has nothing to stop */
}

static void kill_process(struct shadow *shadow)
{
    if (shadow->pid > 0 && !shadow->ending) {
        shadow->ending = true;
        (void)os_kill(shadow->schedd->os, shadow->pid, SIGTERM); /* gone already: on_exit comes */
    }
}

/* Ends the shadow.  It is asked over its connection, because a shadow that an earlier schedd
 * process has started is not our child. */
static void end_shadow(struct shadow *shadow)
{
    if (shadow->wire != NULL) {
        (void)wire_call(shadow->wire, VERB_JOB_STOP, NULL, 0, ignore_answer, NULL); /* or SIGTERM */
    }
    kill_process(shadow);
}

static void plan_next(struct shadow *shadow);

struct ending {
    struct schedd *schedd;
    char owner[OWNER_NAME_MAX + 1];
};

static void end_answered(void *arg, struct wire_reply *reply)
{
    struct ending *ending = arg;
    struct owner *owner = ending->schedd->queue.owners != NULL && reply->status != -ECONNRESET
                              ? strmap_get(ending->schedd->queue.owners, ending->owner)
                              : NULL;
    if (reply->status != 0 && owner != NULL && owner->shadow != NULL) {
        owner->shadow->ending = false; /* files are spooled or fetched: asked again later */
        plan_next(owner->shadow);
    }
    mem_free(ending);
}

/* Asks the shadow to end if it has nothing to do. */
static void retire_shadow(struct shadow *shadow)
{
    if (shadow->wire == NULL) {
        kill_process(shadow);
        return;
    }
    struct ending *ending = mem_zalloc(sizeof(*ending));
    ending->schedd = shadow->schedd;
    (void)snprintf(ending->owner, sizeof(ending->owner), "%s", shadow->owner->name); /* fits */
    struct ad *args = ad_create();
    ad_set_bool(args, "IfIdle", true);
    const struct wire_body body = {.args = args};
    shadow->ending = shadow->pid > 0;
    if (wire_call(shadow->wire, VERB_JOB_STOP, &body, 0, end_answered, ending) < 0) {
        mem_free(ending); /* it is going */
    }
    ad_destroy(args);
}

static void timer_fired(void *arg)
{
    struct shadow *shadow = arg;
    if (is_needed(shadow)) {
        if (shadow->wire == NULL && shadow->pid == 0) {
            spawn_shadow(shadow);
        }
    } else {
        drop_waiting(shadow);
        retire_shadow(shadow);
    }
}

static void plan_next(struct shadow *shadow)
{
    if (!is_needed(shadow)) {
        loop_timer_set(shadow->timer, shadow->schedd->settings.shadow_linger_ms);
    } else if (shadow->wire == NULL && shadow->pid == 0) {
        loop_timer_set(shadow->timer,
                       rng_jitter(loop_rng(shadow->schedd->loop), shadow->backoff_ms, 20));
    } else {
        loop_timer_stop(shadow->timer);
    }
}

static void back_off(struct shadow *shadow)
{
    shadow->backoff_ms = shadow->backoff_ms == 0 ? RESPAWN_FIRST_MS : shadow->backoff_ms * 2;
    if (shadow->backoff_ms > RESPAWN_MAX_MS) {
        shadow->backoff_ms = RESPAWN_MAX_MS;
    }
}

/* Notes in the owner why the shadow does not start, for the ads of the owner's jobs. */
static void set_error(struct owner *owner, const char *why)
{
    mem_free(owner->shadow_error);
    owner->shadow_error = why != NULL ? mem_strdup(why) : NULL;
}

/* Notes why a shadow that has ended is not there: its own words are in a file or its log. */
static void note_exit(struct shadow *shadow, const struct os_exit *how)
{
    char text[512];
    if (shadow->wire == NULL) {
        (void)snprintf(text, sizeof(text),
                       "the process ended with %s %d; see the files in %s/owner/%s",
                       how->signal != 0 ? "signal" : "status",
                       how->signal != 0 ? how->signal : how->status, shadow->schedd->self.spool,
                       shadow->owner->name); /* cut if long */
        set_error(shadow->owner, text);
    }
}

static void on_exit_of_shadow(void *arg, pid_t pid, const struct os_exit *how)
{
    struct shadow *shadow = arg;
    struct log *log = shadow->schedd->log;
    if (pid != shadow->pid) {
        return;
    }
    bool ended = shadow->ending;
    shadow->pid = 0;
    shadow->ending = false;
    if (!ended) {
        log_warn(log, "shadow.exited", "a shadow ended unexpectedly",
                 LOG_TEXT("owner", shadow->owner->name), LOG_INT("status", how->status),
                 LOG_INT("signal", how->signal));
        back_off(shadow);
    }
    if (!ended && how->status != EXIT_LOCK_HELD) {
        note_exit(shadow, how);
    }
    if (how->status == EXIT_LOCK_HELD) {
        log_info(log, "shadow.other",
                 "a shadow of the earlier schedd is running; waiting for its connection",
                 LOG_TEXT("owner", shadow->owner->name));
    }
    plan_next(shadow);
}

static struct shadow *shadow_of(struct schedd *schedd, struct owner *owner)
{
    if (owner->shadow == NULL) {
        struct shadow *shadow = mem_zalloc(sizeof(*shadow));
        shadow->schedd = schedd;
        shadow->owner = owner;
        shadow->timer = loop_timer_create(schedd->loop, timer_fired, shadow);
        owner->shadow = shadow;
    }
    return owner->shadow;
}

/* ---- starting -------------------------------------------------------------------------------- */

static void spawn_shadow(struct shadow *shadow)
{
    struct schedd *schedd = shadow->schedd;
    uid_t uid = 0;
    gid_t gid = 0;
    struct err err = {{0}};
    int result = os_user_find(schedd->os, shadow->owner->name, &uid, &gid, &err);
    if (result == 0 && (uid == 0 || shadow->owner->is_root)) { /* the account may have changed */
        result = err_set(&err, -EPERM, "no shadow is started for root: jobs never run as root");
    }
    if (result == 0) {
        const struct shadow_account account = {shadow->owner->name, uid, gid};
        result = shadow_start(schedd, &account, on_exit_of_shadow, shadow, &shadow->pid, &err);
    }
    if (result == 0) {
        log_info(schedd->log, "shadow.started", "shadow started",
                 LOG_TEXT("owner", shadow->owner->name), LOG_INT("pid", shadow->pid));
    } else {
        shadow->pid = 0;
        back_off(shadow);
        set_error(shadow->owner, err.text);
        log_error(schedd->log, "shadow.not_started", err.text,
                  LOG_TEXT("owner", shadow->owner->name));
    }
    plan_next(shadow);
}

static void want_shadow(struct shadow *shadow)
{
    if (shadow->wire == NULL && shadow->pid == 0 && !loop_timer_is_set(shadow->timer)) {
        spawn_shadow(shadow);
    } else {
        plan_next(shadow);
    }
}

/* ---- letting others in ----------------------------------------------------------------------- */

static void admit_over(struct admit *admit, int status, const char *text)
{
    struct shadow *shadow = admit->shadow;
    for (size_t i = 0; i < shadow->admits.count; i++) {
        if (shadow->admits.items[i] == admit) {
            vec_remove_at(&shadow->admits, i);
            break;
        }
    }
    admit->answered(admit->arg, status, text);
    plan_next(shadow);
    loop_timer_destroy(admit->deadline);
    ad_destroy(admit->args);
    secret_free(admit->ticket);
    if (!admit->asked) {
        mem_free(admit);
    } else {
        admit->shadow = NULL; /* its call still has it */
    }
}

static void admit_late(void *arg)
{
    admit_over(arg, -ETIMEDOUT, "the owner's shadow does not start; see the schedd's log");
}

static void admit_answered(void *arg, struct wire_reply *reply)
{
    struct admit *admit = arg;
    admit->asked = false;
    if (admit->shadow == NULL) {
        mem_free(admit);
    } else if (reply->status != -ECONNRESET) { /* else asked again when it says hello */
        admit_over(admit, reply->status, reply->status == 0 ? admit->shadow->pin : reply->text);
    }
}

static void admit_ask(struct admit *admit)
{
    struct shadow *shadow = admit->shadow;
    const struct wire_secret ticket = {SECRET_TICKET, SECRET_OF_ARGS, admit->ticket};
    const struct wire_body body = {.args = admit->args,
                                   .secrets = &ticket,
                                   .secret_count = admit->ticket != NULL ? 1 : 0};
    if (shadow->wire != NULL && !admit->asked) {
        admit->asked = wire_call(shadow->wire, admit->verb, &body, 0, admit_answered, admit) >= 0;
    }
}

void shadows_call(struct schedd *schedd, struct owner *owner, enum wire_verb verb,
                  const struct ad *args, const char *ticket, shadows_admitted_f answered, void *arg)
{
    struct shadow *shadow = shadow_of(schedd, owner);
    if (shadow->admits.count >= ADMITS_MAX) {
        answered(arg, -EBUSY, "too many requests wait for the owner's shadow");
        return;
    }
    struct admit *admit = mem_zalloc(sizeof(*admit));
    *admit = (struct admit){.shadow = shadow,
                            .verb = verb,
                            .args = ad_copy(args),
                            .ticket = ticket != NULL ? mem_strdup(ticket) : NULL,
                            .answered = answered,
                            .arg = arg,
                            .deadline = loop_timer_create(schedd->loop, admit_late, admit)};
    vec_push(&shadow->admits, admit);
    loop_timer_set(admit->deadline, ADMIT_MS);
    want_shadow(shadow);
    admit_ask(admit);
}

/* Fails all calls that wait for the shadow, because the schedd ends. */
static void drop_admits(struct shadow *shadow)
{
    while (shadow->admits.count > 0) {
        admit_over(shadow->admits.items[0], -ESHUTDOWN, "the schedd is stopping");
    }
    vec_fini(&shadow->admits, NULL);
}

/* ---- its calls ------------------------------------------------------------------------------- */

static void pass_connection(struct shadow *shadow, struct incoming *incoming)
{
    struct err err;
    int result = incoming_pass(incoming, shadow->pass_address, &err);
    if (result != 0) {
        log_warn(shadow->schedd->log, "shadow.not_passed", err.text,
                 LOG_TEXT("owner", shadow->owner->name));
    }
}

void shadows_incoming(struct schedd *schedd, struct incoming *incoming, const char *owner_name)
{
    struct owner *owner = strmap_get(schedd->queue.owners, owner_name);
    struct shadow *shadow = owner != NULL ? owner->shadow : NULL;
    /* Strangers must not be able to make us start processes. */
    if (shadow != NULL && shadow->wire != NULL) {
        pass_connection(shadow, incoming);
    } else if (shadow == NULL || schedd->stopping || (!is_needed(shadow) && !has_claims(shadow))) {
        incoming_refuse(incoming);
    } else if (shadow->waiting.count < SHADOW_WAITING_MAX) {
        vec_push(&shadow->waiting, incoming);
        want_shadow(shadow);
    } else {
        incoming_refuse(incoming);
    }
}

bool shadows_connect(struct schedd *schedd, struct owner *owner, struct wire *wire, const char *pin)
{
    struct shadow *shadow = shadow_of(schedd, owner);
    if (shadow->wire != NULL && shadow->wire != wire) {
        return false;
    }
    shadow->wire = wire;
    shadow->backoff_ms = 0;
    set_error(owner, NULL);
    (void)snprintf(shadow->pin, sizeof(shadow->pin), "%s", pin); /* a malformed one fits nobody */
    mem_free(shadow->pass_address);
    struct strbuf address;
    strbuf_init(&address, 0);
    strbuf_printf(&address, "pass:%s/owner/%s/pass", schedd->self.spool, owner->name);
    shadow->pass_address = strbuf_take(&address);
    return true;
}

void shadows_connected(struct owner *owner)
{
    struct shadow *shadow = owner->shadow;
    for (size_t i = 0; i < shadow->waiting.count; i++) {
        pass_connection(shadow, shadow->waiting.items[i]);
    }
    vec_clear(&shadow->waiting, NULL);
    for (size_t i = 0; i < shadow->admits.count; i++) {
        admit_ask(shadow->admits.items[i]);
    }
}

void shadows_want(struct schedd *schedd, struct owner *owner)
{
    want_shadow(shadow_of(schedd, owner));
}

struct wire *shadows_wire_for_events(struct schedd *schedd, struct owner *owner)
{
    struct shadow *shadow = shadow_of(schedd, owner);
    if (shadow->wire == NULL && !schedd->stopping) {
        want_shadow(shadow);
    }
    return shadow->wire;
}

void shadows_look_at(struct owner *owner)
{
    if (owner->shadow != NULL) {
        plan_next(owner->shadow);
    }
}

void shadows_gone(struct schedd *schedd, const struct wire *wire)
{
    struct owner *owner = shadows_owner(schedd, wire);
    if (owner != NULL) {
        owner->shadow->wire = NULL;
        plan_next(owner->shadow);
    }
}

struct wire *shadows_wire(const struct owner *owner)
{
    return owner->shadow != NULL ? owner->shadow->wire : NULL;
}

const char *shadows_pin(const struct owner *owner)
{
    return owner->shadow->pin;
}

struct owner *shadows_owner(const struct schedd *schedd, const struct wire *wire)
{
    size_t at = 0;
    void *value = NULL;
    while (strmap_next(schedd->queue.owners, &at, NULL, &value)) {
        struct owner *owner = value;
        if (owner->shadow != NULL && owner->shadow->wire == wire) {
            return owner;
        }
    }
    return NULL;
}

void shadows_stop(struct schedd *schedd)
{
    size_t at = 0;
    void *value = NULL;
    while (strmap_next(schedd->queue.owners, &at, NULL, &value)) {
        struct shadow *shadow = ((const struct owner *)value)->shadow;
        if (shadow != NULL) {
            loop_timer_stop(shadow->timer);
            drop_waiting(shadow);
            end_shadow(shadow);
        }
    }
}

bool shadows_are_gone(const struct schedd *schedd)
{
    size_t at = 0;
    void *value = NULL;
    while (strmap_next(schedd->queue.owners, &at, NULL, &value)) {
        const struct shadow *shadow = ((const struct owner *)value)->shadow;
        if (shadow != NULL && (shadow->pid > 0 || shadow->wire != NULL)) {
            return false;
        }
    }
    return true;
}

void shadows_fini(struct schedd *schedd)
{
    size_t at = 0;
    void *value = NULL;
    while (strmap_next(schedd->queue.owners, &at, NULL, &value)) {
        struct owner *owner = value;
        struct shadow *shadow = owner->shadow;
        if (shadow == NULL) {
            continue;
        }
        if (shadow->pid > 0) {
            os_forget(schedd->os, shadow->pid);
        }
        drop_waiting(shadow);
        vec_fini(&shadow->waiting, NULL);
        loop_timer_stop(shadow->timer);
        drop_admits(shadow);
        loop_timer_destroy(shadow->timer);
        mem_free(shadow->pass_address);
        mem_free(shadow);
        owner->shadow = NULL;
    }
}
