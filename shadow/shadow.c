/* shadow/shadow.c - puts the parts of the shadow together: the uplink to the schedd, the listener
 * for starters, and the schedd's requests.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "shadow/shadow.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/config/config.h"
#include "base/daemon/daemon.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/strbuf.h"
#include "base/stream/stream.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "shadow/ckpt/ckpt_remove.h"
#include "shadow/event_log.h"
#include "shadow/feed.h"
#include "shadow/guest.h"
#include "shadow/knobs.h"
#include "shadow/link_accept.h"
#include "shadow/mail.h"
#include "shadow/stage/place.h"
#include "shadow/remote.h"
#include "shadow/report.h"
#include "shadow/run/run_drop.h"
#include "shadow/run/run_work.h"
#include "shadow/run/shadow_run.h"
#include "shadow/shadow_state.h"
#include "shadow/spool.h"
#include "shadow/stage/stage_sweep.h"
#include "shadow/turns.h"
#include "wire/checkpoint_attrs.h"
#include "wire/wire.h"

#define GREET_AGAIN_MS 500

/* ---- what the schedd asks
 * ------------------------------------------------------------------------ */

static void answer_pin(struct shadow *shadow, struct wire_request *request)
{
    struct ad *args = ad_create();
    ad_set_string(args, "ShadowPin", tls_identity_pin(shadow->identity));
    const struct wire_body body = {.args = args};
    wire_reply_ok(request, &body);
    ad_destroy(args);
}

static bool id_is_valid(const char *id)
{
    return id[0] != '\0' && strlen(id) < RUN_ID_SIZE && strspn(id, "0123456789.") == strlen(id);
}

static void job_run(struct shadow *shadow, struct wire_request *request)
{
    const struct ad *args = wire_request_args(request);
    const char *id = ad_string_or(args, "JobId", "");
    int64_t epoch = ad_int_or(args, "ClaimEpoch", 0);
    bool place_only = ad_bool_or(args, "PlaceOnly", false);
    if (!id_is_valid(id) || epoch <= 0 || wire_request_ad_count(request) != 1) {
        wire_reply_error(request, -EINVAL, "JOB_RUN needs JobId, ClaimEpoch and the job ad");
        return;
    }
    struct run *run = strmap_get(shadow->runs, id);
    if (run != NULL && run->epoch != epoch) {
        run_drop(run, true); /* a newer run has begun */
        run = NULL;
    }
    if (run == NULL) {
        run = run_create(shadow, id, epoch, wire_request_secret(request, SECRET_NONCE),
                         wire_request_ad(request, 0));
        log_info(shadow->log, "run.began",
                 place_only ? "waiting to place the job's output" : "waiting for the job's starter",
                 LOG_TEXT("job", id), LOG_INT("epoch", epoch));
    }
    if (!place_only && run->phase == RUN_OPEN) {
        remotes_open(run);
    }
    if (place_only && run->phase == RUN_OPEN) {
        run_move(run, RUN_PLACING);
        place_staged(run);
    }
    answer_pin(shadow, request);
}

static void revoke_guests(struct shadow *shadow, const char *token_ids)
{
    struct vec gone = {0};
    guests_revoked(shadow, token_ids, &gone);
    for (size_t i = 0; i < gone.count; i++) {
        links_end_guest(shadow, gone.items[i]);
    }
    vec_fini(&gone, NULL);
}

static void job_stop(struct shadow *shadow, struct wire_request *request)
{
    const struct ad *args = wire_request_args(request);
    const char *id = ad_string_or(args, "JobId", "");
    if (ad_has(args, "Sandbox")) {
        spool_remove(shadow, ad_string_or(args, "Sandbox", ""));
        wire_reply_ok(request, NULL);
        return;
    }
    if (ad_has(args, "Revoked")) {
        revoke_guests(shadow, ad_string_or(args, "Revoked", ""));
        wire_reply_ok(request, NULL);
        return;
    }
    if (ad_has(args, CKPT_JOBS)) {
        checkpoints_remove(shadow, ad_string_or(args, CKPT_JOBS, ""));
        wire_reply_ok(request, NULL);
        return;
    }
    if (id[0] == '\0' && ad_bool_or(args, "IfIdle", false) && guests_are_there(shadow)) {
        wire_reply_error(request, -EBUSY, "clients are connected");
        return;
    }
    if (id[0] == '\0') {
        log_info(shadow->log, "shadow.told", "the schedd no longer needs this shadow");
        wire_reply_ok(request, NULL);
        loop_stop(shadow->loop, 0);
        return;
    }
    struct run *run = run_find(shadow, id, ad_int_or(args, "ClaimEpoch", 0));
    if (run != NULL && (run->phase == RUN_OPEN || run->phase == RUN_SYNCING)) {
        log_info(shadow->log, "run.stopped", ad_string_or(args, "Reason", ""), LOG_TEXT("job", id));
        run_drop(run, true);
    } /* else its report is with the schedd, and the answer to that decides */
    wire_reply_ok(request, NULL);
}

static void on_request(void *arg, struct wire_request *request)
{
    struct shadow *shadow = arg;
    switch (wire_request_verb(request)) {
    case VERB_JOB_RUN:
        job_run(shadow, request);
        break;
    case VERB_JOB_STOP:
        job_stop(shadow, request);
        break;
    case VERB_JOB_ADMIT:
        guests_admit(shadow, request);
        break;
    case VERB_JOB_EVENT:
        if (ad_bool_or(wire_request_args(request), "Mail", false)) {
            mail_handle(shadow, request);
        } else {
            event_logs_handle(shadow, request);
        }
        break;
    case VERB_PING:
        wire_reply_ok(request, NULL);
        break;
    default:
        wire_reply_error(request, -ENOSYS, "a shadow does not support %s",
                         wire_verb_name(wire_request_verb(request)));
        break;
    }
}

static char *join_texts(const char *a, const char *b, const char *c)
{
    struct strbuf text;
    strbuf_init(&text, 0);
    strbuf_printf(&text, "%s%s%s", a, b, c);
    return strbuf_take(&text);
}

/* ---- the uplink
 * ---------------------------------------------------------------------------------- */

/* Drops the runs that the schedd no longer knows, except those with a report under way, whose
 * answer decides. */
static void drop_unknown(struct shadow *shadow, const char *known)
{
    struct vec gone = {0};
    size_t at = 0;
    void *value = NULL;
    while (strmap_next(shadow->runs, &at, NULL, &value)) {
        struct run *run = value;
        char id[64];
        (void)snprintf(id, sizeof(id), "%s.%lld", run->id, (long long)run->epoch); /* fits */
        if ((run->phase == RUN_OPEN || run->phase == RUN_SYNCING) &&
            !stage_sweep_lists(known, id)) {
            vec_push(&gone, run);
        }
    }
    for (size_t i = 0; i < gone.count; i++) {
        run_drop(gone.items[i], true);
    }
    vec_fini(&gone, NULL);
}

static void hello_answered(void *arg, struct wire_reply *reply)
{
    struct shadow *shadow = arg;
    if (reply->status == -ECONNRESET || shadow->uplink == NULL) {
        return;
    }
    if (reply->status == -EBUSY) { /* our connection of before, perhaps: it is seen to be closed */
        log_warn(shadow->log, "uplink.busy", reply->text);
        loop_timer_set(shadow->greeting, GREET_AGAIN_MS);
        return;
    }
    if (reply->status != 0) {
        log_error(shadow->log, "uplink.refused", reply->text, LOG_INT("status", reply->status));
        loop_stop(shadow->loop, 1);
        return;
    }
    const char *known = reply->args != NULL ? ad_string_or(reply->args, "Runs", "") : "";
    shadow->greeted = true;
    loop_timer_stop(shadow->orphan);
    drop_unknown(shadow, known);
    stage_sweep_stages(shadow, known);
    if (reply->args != NULL && ad_has(reply->args, "Spooled")) {
        char *spooled = join_texts(known, ",", ad_string_or(reply->args, "Spooled", ""));
        stage_sweep_spools(shadow, spooled);
        mem_free(spooled);
    }
    if (reply->args != NULL && ad_has(reply->args, CKPT_JOBS)) {
        checkpoints_sweep(shadow, ad_string_or(reply->args, CKPT_JOBS, ""));
    }
    if (reply->args != NULL) {
        revoke_guests(shadow, ad_string_or(reply->args, "Revoked", ""));
    }
    reports_send_again(shadow);
    turns_ask_again(shadow);
    spool_sweep(shadow);
}

static void uplink_up(void *arg, struct wire *wire)
{
    struct shadow *shadow = arg;
    struct ad *args = ad_create();
    ad_set_string(args, "Owner", shadow->owner);
    ad_set_int(args, "Pid", os_pid(shadow->os));
    ad_set_string(args, "ShadowPin", tls_identity_pin(shadow->identity));
    ad_set_string(args, "PassAddress", listener_address(shadow->listener));
    struct strbuf tokens;
    strbuf_init(&tokens, 0);
    guests_put_tokens(shadow, &tokens);
    ad_set_string(args, "GuestTokens", strbuf_text(&tokens));
    strbuf_fini(&tokens);
    const struct wire_body body = {.args = args};
    (void)wire_call(wire, VERB_SHADOW_HELLO, &body, 0, hello_answered,
                    shadow); /* a cut: up again */
    ad_destroy(args);
}

static void greet_again(void *arg)
{
    struct shadow *shadow = arg;
    struct wire *wire = shadow->uplink != NULL ? uplink_wire(shadow->uplink) : NULL;
    if (wire != NULL && !shadow->greeted) {
        uplink_up(shadow, wire);
    }
}

static void uplink_down(void *arg, const char *why)
{
    struct shadow *shadow = arg;
    if (shadow->greeted) {
        log_warn(shadow->log, "uplink.down", why);
    }
    shadow->greeted = false;
    loop_timer_stop(shadow->greeting); /* it says hello when it is up again */
    if (!loop_timer_is_set(shadow->orphan)) {
        loop_timer_set(shadow->orphan, shadow->orphan_ms);
    }
}

static void schedd_stayed_away(void *arg)
{
    struct shadow *shadow = arg;
    log_error(shadow->log, "shadow.orphaned", "the schedd did not come back");
    loop_stop(shadow->loop, 0);
}

/* ---- start
 * --------------------------------------------------------------------------------------- */

static int read_arguments(struct shadow *shadow, const struct daemon_env *env, struct err *err)
{
    const char *owner = NULL;
    for (int i = 0; i + 1 < env->argc; i++) {
        if (strcmp(env->argv[i], "-owner") == 0) {
            owner = env->argv[i + 1];
        }
    }
    if (owner == NULL || owner[0] == '\0' || strchr(owner, '/') != NULL) {
        return err_set(err, -EINVAL,
                       "usage: roost-shadow -owner NAME (only the schedd starts shadows)");
    }
    uid_t uid = 0;
    gid_t gid = 0;
    int result = os_user_find(env->os, owner, &uid, &gid, err);
    if (result != 0) {
        return result;
    }
    if (uid != os_uid(env->os)) {
        return err_set(err, -EPERM, "a shadow of %s must run as %s", owner, owner);
    }
    shadow->owner = mem_strdup(owner);
    char *parent = join_texts(config_path(env->config, "SPOOL"), "/owner/", owner);
    shadow->directory = parent;
    shadow->stages = join_texts(parent, "/stage", "");
    shadow->spools = join_texts(parent, "/spool", "");
    shadow->ckpt.directory = join_texts(parent, "/ckpt", "");
    return os_mkdirs(shadow->os, shadow->stages, 0700, err);
}

/* Loads the certificate, or makes it.  Starters were told its pin, so a restarted shadow must still
 * have it. */
static int find_identity(struct shadow *shadow, struct err *err)
{
    char *path = join_texts(shadow->directory, "/identity", "");
    int result = tls_identity_load(shadow->os, path, path, &shadow->identity, NULL);
    if (result != 0) {
        result = tls_identity_ephemeral(shadow->loop, "shadow", &shadow->identity, err);
        if (result == 0) {
            result = tls_identity_save(shadow->os, shadow->identity, path, err);
        }
    }
    mem_free(path);
    return result;
}

static int open_doors(struct shadow *shadow, const struct daemon_env *env, struct err *err)
{
    static const struct uplink_events EVENTS = {
        .up = uplink_up,
        .down = uplink_down,
        .request = on_request,
    };
    int result = find_identity(shadow, err);
    if (result == 0) {
        const struct wire_context_options options = {
            .loop = env->loop,
            .os = env->os,
            .log = env->log,
            .uid_domain = config_string(env->config, "UID_DOMAIN"),
            .admin_uid = os_uid(env->os),
        };
        result = wire_context_create(&options, &shadow->context, err);
    }
    stream_set_strangers_max(shadow->loop, SHADOW_STRANGERS_MAX);
    if (result == 0) {
        char *address = join_texts("pass:", shadow->directory, "/pass");
        result =
            listener_create(shadow->loop, address, link_accept, shadow, &shadow->listener, err);
        mem_free(address);
    }
    if (result == 0) {
        char *address = join_texts("unix:", config_path(env->config, "SPOOL"), "/schedd.sock");
        const struct wire_dial dial = {
            .address = address,
            .route = "shadow",
            .name = "",
            .server_scopes = SCOPE_SCHEDD,
        };
        loop_timer_set(shadow->orphan, shadow->orphan_ms);
        result = uplink_create(shadow->context, &dial, &EVENTS, shadow, &shadow->uplink, err);
        mem_free(address);
    }
    return result;
}

static void destroy_shadow(void *state)
{
    struct shadow *shadow = state;
    struct uplink *uplink = shadow->uplink;
    shadow->uplink = NULL; /* answers that come from now on are not acted on */
    listener_destroy(shadow->listener);
    uplink_destroy(uplink);
    links_end(shadow);
    for (size_t i = 0; i < shadow->lane_count; i++) {
        loop_lane_destroy(shadow->lanes[i]);
    }
    guests_end(shadow);
    runs_drop_all(shadow);
    run_works_end(shadow);
    feeds_end(shadow);
    reports_end(shadow);
    stage_sweep_end(shadow);
    strmap_destroy(shadow->runs, NULL);
    remotes_end(shadow);
    checkpoints_end(shadow);
    spools_end(shadow);
    event_logs_end(shadow);
    mail_forget(shadow);
    loop_timer_destroy(shadow->orphan);
    loop_timer_destroy(shadow->greeting);
    wire_context_destroy(shadow->context);
    tls_identity_destroy(shadow->identity);
    mem_free(shadow->owner);
    mem_free(shadow->directory);
    mem_free(shadow->stages);
    mem_free(shadow->spools);
    mem_free(shadow->ckpt.directory);
    mem_free(shadow->ckpt.program);
    mem_free(shadow->ckpt.destination);
    mem_free(shadow);
}

static int start_shadow(const struct daemon_env *env, void **state, struct err *err)
{
    struct shadow *shadow = mem_zalloc(sizeof(*shadow));
    shadow->loop = env->loop;
    shadow->os = env->os;
    shadow->log = env->log;
    shadow->runs = strmap_create(STRMAP_CASE_SENSITIVE);
    shadow->orphan = loop_timer_create(env->loop, schedd_stayed_away, shadow);
    shadow->greeting = loop_timer_create(env->loop, greet_again, shadow);
    shadow->orphan_ms = (uint64_t)config_duration_ms(env->config, "SHADOW_ORPHAN_TIMEOUT");
    guests_begin(shadow);
    spools_begin(shadow, config_bytes(env->config, "SPOOL_QUOTA_PER_OWNER"));
    mail_begin(shadow, config_string(env->config, "SENDMAIL"));
    shadow->ckpt.program = mem_strdup(config_path(env->config, "CKPT_PROGRAM"));
    const char *destination = config_path(env->config, "CHECKPOINT_DESTINATION");
    shadow->ckpt.destination = destination != NULL ? mem_strdup(destination) : NULL;
    shadow->ckpt.quota = config_bytes(env->config, "CHECKPOINT_QUOTA_PER_OWNER");
    shadow->spool_reserve = config_bytes(env->config, "SPOOL_RESERVE");
    shadow->input_mb_max = config_int(env->config, "MAX_TRANSFER_INPUT_MB");
    shadow->output_mb_max = config_int(env->config, "MAX_TRANSFER_OUTPUT_MB");
    shadow->lane_count = (size_t)config_int(env->config, "SHADOW_LANES");
    CHECK(shadow->lane_count <= SHADOW_LANES_MAX);
    for (size_t i = 0; i < shadow->lane_count; i++) {
        shadow->lanes[i] = loop_lane_create(env->loop);
    }
    int result = read_arguments(shadow, env, err);
    if (result == 0) {
        remotes_begin(shadow, env);
        result = open_doors(shadow, env, err);
    }
    if (result != 0) {
        destroy_shadow(shadow);
        return result;
    }
    log_info(shadow->log, "shadow.started", "shadow is up", LOG_TEXT("owner", shadow->owner));
    *state = shadow;
    return 0;
}

static const struct knob_table *const TABLES[] = {&shadow_knobs, &knobs_common};

const struct daemon shadow_daemon = {
    .name = "shadow",
    .tables = TABLES,
    .table_count = ARRAY_COUNT(TABLES),
    .start = start_shadow,
    .destroy = destroy_shadow,
};
