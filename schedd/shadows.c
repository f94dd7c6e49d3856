/* schedd/shadows.c - see shadows.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/shadows.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/config.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/random.h"
#include "base/secret_file.h"
#include "base/strbuf.h"
#include "base/stream.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "schedd/event_rows.h"
#include "schedd/job_ad.h"
#include "schedd/job_autocluster.h"
#include "schedd/job_change.h"
#include "schedd/job_claims.h"
#include "schedd/job_dollar.h"
#include "schedd/job_nonce.h"
#include "schedd/queue_table.h"
#include "schedd/schedd_state.h"
#include "schedd/shadow_hello.h"
#include "schedd/shadow_start.h"
#include "wire/wire.h"

#define RESPAWN_FIRST_MS 100
#define RESPAWN_MAX_MS   10000
#define ADMITS_MAX       256
#define ADMIT_MS         40000
#define EXIT_LOCK_HELD   3 /* base/daemon.h: another shadow of this owner lives, and will dial */

struct run {
    int64_t epoch;
    bool place_only;
};

struct shadow {
    struct schedd *schedd;
    struct owner *owner;
    struct strmap *runs; /* job id -> struct run */
    pid_t pid;           /* of the one that we started; 0: none */
    struct wire *wire;   /* after SHADOW_HELLO; NULL: not connected */
    char pin[STREAM_PIN_SIZE];
    char *pass_address;
    struct vec waiting;       /* struct incoming, until it says hello */
    struct vec admits;        /* struct admit: not answered yet */
    struct loop_timer *timer; /* start it (again), or end it */
    uint64_t backoff_ms;
    bool ending; /* it was told to end */
};

/* Somebody is to be let in. */
struct admit {
    struct shadow *shadow; /* NULL: the schedd ends, nobody waits */
    enum wire_verb verb;
    struct ad *args;
    char *ticket; /* NULL: none */
    shadows_admitted_f answered;
    void *arg;
    struct loop_timer *deadline;
    bool asked; /* on the connection as it is now */
};

struct forget {
    struct shadow *shadow;
    char job_id[JOB_ID_SIZE];
    int64_t epoch;
    bool stop;
    char why[128];
};

static void spawn(struct shadow *shadow);

/* ---- life ------------------------------------------------------------------------------------ */

static bool is_needed(const struct shadow *shadow)
{
    return (strmap_count(shadow->runs) > 0 || shadow->waiting.count > 0 ||
            shadow->admits.count > 0 || event_rows_wait(shadow->schedd, shadow->owner)) &&
           !shadow->schedd->stopping;
}

/* A starter may come when its job is in the history already: the answer that said so was lost with
 * the shadow.  While its slot is ours somebody must tell it. */
static bool has_claims(const struct shadow *shadow)
{
    size_t at = 0;
    void *value = NULL;
    while (strmap_next(shadow->schedd->claims, &at, NULL, &value)) {
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

static void kill_it(struct shadow *shadow)
{
    if (shadow->pid > 0 && !shadow->ending) {
        shadow->ending = true;
        (void)os_kill(shadow->schedd->os, shadow->pid, SIGTERM); /* gone already: on_exit comes */
    }
}

/* One that an earlier schedd started is not our child: it is asked. */
static void end(struct shadow *shadow)
{
    if (shadow->wire != NULL) {
        (void)wire_call(shadow->wire, VERB_JOB_STOP, NULL, 0, ignore_answer, NULL); /* or SIGTERM */
    }
    kill_it(shadow);
}

static void plan_next(struct shadow *shadow);

struct ending {
    struct schedd *schedd;
    char owner[OWNER_NAME_MAX + 1];
};

static void end_answered(void *arg, struct wire_reply *reply)
{
    struct ending *ending = arg;
    struct owner *owner = ending->schedd->owners != NULL && reply->status != -ECONNRESET
                              ? strmap_get(ending->schedd->owners, ending->owner)
                              : NULL;
    if (reply->status != 0 && owner != NULL && owner->shadow != NULL) {
        owner->shadow->ending = false; /* files are spooled or fetched: asked again later */
        plan_next(owner->shadow);
    }
    mem_free(ending);
}

/* Asks it to end if it has nothing to do. */
static void retire(struct shadow *shadow)
{
    if (shadow->wire == NULL) {
        kill_it(shadow);
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
            spawn(shadow);
        }
    } else {
        drop_waiting(shadow);
        retire(shadow);
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
        log_warn(log, "shadow.exited", "a shadow ended without being told to",
                 LOG_TEXT("owner", shadow->owner->name), LOG_INT("status", how->status),
                 LOG_INT("signal", how->signal));
        back_off(shadow);
    }
    if (how->status == EXIT_LOCK_HELD) {
        log_info(log, "shadow.other", "a shadow from before lives; waiting for its call",
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
        shadow->runs = strmap_create(STRMAP_CASE_SENSITIVE);
        shadow->timer = loop_timer_create(schedd->loop, timer_fired, shadow);
        owner->shadow = shadow;
    }
    return owner->shadow;
}

/* ---- starting -------------------------------------------------------------------------------- */

static void spawn(struct shadow *shadow)
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
        log_error(schedd->log, "shadow.not_started", err.text,
                  LOG_TEXT("owner", shadow->owner->name));
    }
    plan_next(shadow);
}

static void want(struct shadow *shadow)
{
    if (shadow->wire == NULL && shadow->pid == 0 && !loop_timer_is_set(shadow->timer)) {
        spawn(shadow);
    } else {
        plan_next(shadow);
    }
}

/* ---- telling it ------------------------------------------------------------------------------ */

struct run_ref {
    struct schedd *schedd;
    char job_id[JOB_ID_SIZE];
    char owner[OWNER_NAME_MAX + 1];
    int64_t epoch;
    bool place_only;
};

static void run_answered(void *arg, struct wire_reply *reply)
{
    struct run_ref *ref = arg;
    struct schedd *schedd = ref->schedd;
    bool cut = reply->status == -ECONNRESET; /* told again when it says hello */
    if (schedd->claims != NULL && schedd->owners != NULL && !cut) {
        struct owner *owner = strmap_get(schedd->owners, ref->owner);
        if (reply->status < 0) {
            log_warn(schedd->log, "shadow.refused", reply->text, LOG_TEXT("job", ref->job_id),
                     LOG_INT("status", reply->status));
        }
        if (!ref->place_only && owner != NULL && owner->shadow != NULL) {
            const char *pin = reply->status == 0 ? owner->shadow->pin : NULL;
            claims_shadow_answered(schedd, ref->job_id, ref->epoch, pin,
                                   "its shadow cannot serve the job");
        }
    }
    mem_free(ref);
}

static void tell(struct shadow *shadow, const char *id, const struct run *run)
{
    struct schedd *schedd = shadow->schedd;
    const struct job *job = queue_job_by_id(schedd, id);
    if (shadow->wire == NULL || job == NULL ||
        (job->epoch != run->epoch && !claims_keep_run(schedd, job, run->epoch))) {
        return;
    }
    struct ad *args = ad_create();
    ad_set_string(args, "JobId", id);
    ad_set_int(args, "ClaimEpoch", run->epoch);
    if (run->place_only) {
        ad_set_bool(args, "PlaceOnly", true);
    }
    struct ad *flat = job_run_ad(schedd, job);
    const struct ad *ads[] = {flat};
    const struct wire_secret nonce = {SECRET_NONCE, SECRET_OF_ARGS, job_nonce(job)};
    const struct wire_body body = {
        .args = args, .ads = ads, .ad_count = 1, .secrets = &nonce, .secret_count = 1};
    struct run_ref *ref = mem_zalloc(sizeof(*ref));
    ref->schedd = schedd;
    ref->epoch = run->epoch;
    ref->place_only = run->place_only;
    (void)snprintf(ref->job_id, sizeof(ref->job_id), "%s", id);                /* fits */
    (void)snprintf(ref->owner, sizeof(ref->owner), "%s", shadow->owner->name); /* fits */
    if (wire_call(shadow->wire, VERB_JOB_RUN, &body, 0, run_answered, ref) < 0) {
        mem_free(ref); /* told when it says hello */
    }
    ad_destroy(flat);
    ad_destroy(args);
}

static void add_run(struct schedd *schedd, const struct job *job, bool place_only)
{
    struct shadow *shadow = shadow_of(schedd, job->cluster->owner);
    char id[JOB_ID_SIZE];
    job_id(job, id);
    struct run *run = strmap_get(shadow->runs, id);
    if (run == NULL) {
        run = mem_zalloc(sizeof(*run));
        (void)strmap_set(shadow->runs, id, run); /* was absent */
    }
    run->epoch = job->epoch;
    run->place_only = place_only;
    want(shadow);
    tell(shadow, id, run);
}

void shadows_run(struct schedd *schedd, const struct job *job)
{
    add_run(schedd, job, false);
}

void shadows_place(struct schedd *schedd, const struct job *job)
{
    add_run(schedd, job, true);
}

static void placing_after_commit(void *arg)
{
    struct forget *forget = arg;
    struct run *run = strmap_get(forget->shadow->runs, forget->job_id);
    if (run != NULL && run->epoch == forget->epoch) {
        run->place_only = true;
    }
    mem_free(forget);
}

static struct forget *remember(const struct job *job, bool stop, const char *why)
{
    struct forget *forget = mem_zalloc(sizeof(*forget));
    forget->shadow = job->cluster->owner->shadow;
    forget->epoch = job->epoch;
    forget->stop = stop;
    job_id(job, forget->job_id);
    (void)snprintf(forget->why, sizeof(forget->why), "%s", why); /* cut if long */
    return forget;
}

void shadows_expect_placing(struct change *change, const struct job *job)
{
    if (job->cluster->owner->shadow != NULL) {
        change_then(change, placing_after_commit, remember(job, false, ""));
    }
}

static void forget_run(struct shadow *shadow, const char *id, int64_t epoch, bool stop,
                       const char *why)
{
    struct run *run = strmap_get(shadow->runs, id);
    if (run != NULL && run->epoch == epoch) {
        mem_free(strmap_remove(shadow->runs, id));
    }
    if (stop && shadow->wire != NULL) {
        struct ad *args = ad_create();
        ad_set_string(args, "JobId", id);
        ad_set_int(args, "ClaimEpoch", epoch);
        ad_set_string(args, "Reason", why);
        const struct wire_body body = {.args = args};
        (void)wire_call(shadow->wire, VERB_JOB_STOP, &body, 0, ignore_answer, NULL);
        ad_destroy(args);
    }
    plan_next(shadow);
}

static void forget_after_commit(void *arg)
{
    struct forget *forget = arg;
    forget_run(forget->shadow, forget->job_id, forget->epoch, forget->stop, forget->why);
    mem_free(forget);
}

void shadows_run_ended(struct owner *owner, const char *id, int64_t epoch)
{
    if (owner->shadow != NULL) {
        forget_run(owner->shadow, id, epoch, true, "it was told to end, and has ended");
    }
}

void shadows_forget(struct change *change, const struct job *job, bool stop, const char *why)
{
    if (job->cluster->owner->shadow != NULL) { /* else it was never told */
        change_then(change, forget_after_commit, remember(job, stop, why));
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
    admit_over(arg, -ETIMEDOUT,
               "the owner's shadow does not come up; the schedd's log may say why");
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
        answered(arg, -EBUSY, "too many wait for the owner's shadow");
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
    want(shadow);
    admit_ask(admit);
}

/* The schedd ends. */
static void drop_admits(struct shadow *shadow)
{
    while (shadow->admits.count > 0) {
        admit_over(shadow->admits.items[0], -ESHUTDOWN, "the schedd ends");
    }
    vec_fini(&shadow->admits, NULL);
}

/* ---- its calls ------------------------------------------------------------------------------- */

static void pass(struct shadow *shadow, struct incoming *incoming)
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
    struct owner *owner = strmap_get(schedd->owners, owner_name);
    struct shadow *shadow = owner != NULL ? owner->shadow : NULL;
    /* Strangers must not be able to make us start processes. */
    if (shadow != NULL && shadow->wire != NULL) {
        pass(shadow, incoming);
    } else if (shadow == NULL || schedd->stopping || (!is_needed(shadow) && !has_claims(shadow))) {
        incoming_refuse(incoming);
    } else if (shadow->waiting.count < SHADOW_WAITING_MAX) {
        vec_push(&shadow->waiting, incoming);
        want(shadow);
    } else {
        incoming_refuse(incoming);
    }
}

static struct owner *hello_owner(struct schedd *schedd, struct wire_request *request,
                                 struct err *err)
{
    const struct wire_peer *peer = wire_request_peer(request);
    const char *name = ad_string_or(wire_request_args(request), "Owner", "");
    uid_t uid = 0;
    gid_t gid = 0;
    if (!peer->has_uid || !owner_name_is_valid(name)) {
        (void)err_set(err, -EACCES, "a shadow calls over the Unix socket and names its owner");
        return NULL;
    }
    if (os_user_find(schedd->os, name, &uid, &gid, err) != 0) {
        return NULL;
    }
    if (uid == 0) {
        (void)err_set(err, -EACCES, "'%s' has uid 0: root has no shadow", name);
        return NULL;
    }
    if (uid != peer->uid) {
        (void)err_set(err, -EACCES, "uid %u is not %s", (unsigned)peer->uid, name);
        return NULL;
    }
    return queue_owner(schedd, name);
}

void shadows_hello(struct schedd *schedd, struct wire_request *request)
{
    struct err err = {{0}};
    const struct ad *args = wire_request_args(request);
    struct owner *owner = hello_owner(schedd, request, &err);
    if (owner == NULL) {
        wire_reply_error(request, -EACCES, "%s", err.text);
        return;
    }
    struct shadow *shadow = shadow_of(schedd, owner);
    if (shadow->wire != NULL && shadow->wire != wire_request_wire(request)) {
        /* Else whoever has the account could take its runs and requests away from it.  One whose
         * connection is about to be found closed asks again. */
        log_warn(schedd->log, "shadow.second", "a shadow of this owner is there already",
                 LOG_TEXT("owner", owner->name), LOG_INT("pid", ad_int_or(args, "Pid", 0)));
        wire_reply_error(request, -EBUSY, "another shadow of %s is connected", owner->name);
        return;
    }
    shadow->wire = wire_request_wire(request);
    shadow->backoff_ms = 0;
    (void)snprintf(shadow->pin, sizeof(shadow->pin), "%s",
                   ad_string_or(args, "ShadowPin", "")); /* a malformed one fits nobody */
    mem_free(shadow->pass_address);
    struct strbuf address;
    strbuf_init(&address, 0);
    strbuf_printf(&address, "pass:%s/owner/%s/pass", schedd->spool, owner->name);
    shadow->pass_address = strbuf_take(&address);
    log_info(schedd->log, "shadow.hello", "a shadow is there", LOG_TEXT("owner", owner->name),
             LOG_INT("pid", ad_int_or(args, "Pid", 0)),
             LOG_INT("runs", strmap_count(shadow->runs)));

    struct strbuf known;
    strbuf_init(&known, 0);
    size_t at = 0;
    const char *id = NULL;
    void *value = NULL;
    while (strmap_next(shadow->runs, &at, &id, &value)) {
        strbuf_printf(&known, "%s%s.%lld", known.length > 0 ? "," : "", id,
                      (long long)((const struct run *)value)->epoch);
    }
    struct ad *answer = ad_create();
    shadow_hello_put(schedd, owner, args, &known, answer);
    const struct wire_body body = {.args = answer};
    wire_reply_ok(request, &body);
    ad_destroy(answer);
    strbuf_fini(&known);

    at = 0;
    while (strmap_next(shadow->runs, &at, &id, &value)) {
        tell(shadow, id, value);
    }
    for (size_t i = 0; i < shadow->waiting.count; i++) {
        pass(shadow, shadow->waiting.items[i]);
    }
    vec_clear(&shadow->waiting, NULL);
    for (size_t i = 0; i < shadow->admits.count; i++) {
        admit_ask(shadow->admits.items[i]);
    }
    event_rows_shadow_up(schedd, owner);
    plan_next(shadow);
}

struct wire *shadows_wire_for_events(struct schedd *schedd, struct owner *owner)
{
    struct shadow *shadow = shadow_of(schedd, owner);
    if (shadow->wire == NULL && !schedd->stopping) {
        want(shadow);
    }
    return shadow->wire;
}

void shadows_done_with_events(struct schedd *schedd, struct owner *owner)
{
    (void)schedd;
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

struct owner *shadows_owner(const struct schedd *schedd, const struct wire *wire)
{
    size_t at = 0;
    void *value = NULL;
    while (strmap_next(schedd->owners, &at, NULL, &value)) {
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
    while (strmap_next(schedd->owners, &at, NULL, &value)) {
        struct shadow *shadow = ((const struct owner *)value)->shadow;
        if (shadow != NULL) {
            loop_timer_stop(shadow->timer);
            drop_waiting(shadow);
            end(shadow);
        }
    }
}

bool shadows_are_gone(const struct schedd *schedd)
{
    size_t at = 0;
    void *value = NULL;
    while (strmap_next(schedd->owners, &at, NULL, &value)) {
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
    while (strmap_next(schedd->owners, &at, NULL, &value)) {
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
        strmap_destroy(shadow->runs, mem_free);
        loop_timer_destroy(shadow->timer);
        mem_free(shadow->pass_address);
        mem_free(shadow);
        owner->shadow = NULL;
    }
}
