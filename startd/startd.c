/* startd/startd.c - the daemon of a machine: how its parts are put together.
 *
 * The parts: slots (slots.c, slot.c), offers (offer.c), claims (claim.c, activation.c, preempt.c),
 * starters (starters.c), the connection to the collector (startd_serve.c, advertise.c), sleep
 * (hibernate.c); slot_plan.c has decisions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "startd/startd.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/config/config.h"
#include "base/daemon/daemon_checking.h"
#include "base/err.h"
#include "base/knob.h"
#include "base/knob_check.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "classad/ad.h"
#include "classad/ad_doubts.h"
#include "power/power.h"
#include "startd/claim/claim.h"
#include "startd/claim/claim_record.h"
#include "startd/draining.h"
#include "startd/draining_call.h"
#include "startd/draining_facts.h"
#include "startd/sleep/farewell.h"
#include "startd/sleep/hibernate.h"
#include "startd/sleep/hibernate_look.h"
#include "startd/sleep/leave.h"
#include "startd/owner/idle_hint.h"
#include "startd/claim/job_ckpt.h"
#include "startd/keep.h"
#include "startd/machine/meter.h"
#include "startd/claim/old_claims.h"
#include "startd/machine/opsys_plan.h"
#include "startd/owner/policy.h"
#include "startd/revoked.h"
#include "startd/slot/slot_fixed.h"
#include "startd/slot/slot_division.h"
#include "startd/slot/slot_plan.h"
#include "startd/slot/slots.h"
#include "startd/startd_serve.h"
#include "startd/startd_state.h"
#include "startd/starters.h"
#include "store/store.h"
#include "user_maps/user_world.h"
#include "transfer/transfer_plugins.h"
#include "wire/pool.h"
#include "wire/wire.h"

#define OPSYS_BYTES_MAX  65536 /* of /etc/os-release */
#define STOP_TRIES       2     /* to reach a schedd that is to hear of its claim's end */
#define STOP_GRACE_MS    20000 /* for the jobs of a startd that is told to stop */
#define STOP_TELL_MS     5000  /* then, for the collector's answer to offline ads */
#define FAREWELL_POLL_MS 200   /* is the last slot free? */
#define STANDS_POLL_MS   200   /* an offer of draining stands: nothing may change */
/* So much of the disk is kept for what the startd records of its claims while the disk is full. */
#define STORE_RESERVE_BYTES (INT64_C(1) << 20)

/* While no figure of the machine matters, it is looked at once in so many POLLING_INTERVALs. */
#define REST_POLLS 6

static void startd_stop_all(void *state);

static void poll_machine(void *arg)
{
    struct startd *startd = arg;
    if (draining_stands(startd)) {
        loop_timer_set(startd->poll.timer, STANDS_POLL_MS);
        return;
    }
    const struct config *config = startd->env.config;
    uint64_t interval_ms = (uint64_t)config_duration_s(config, "POLLING_INTERVAL") * 1000;
    hibernate_check_slept(startd);
    idle_hint_look(startd);
    bool may_wait = policy_poll(startd);
    if (farewell_check(startd)) {
        startd_stop_all(startd);
        return;
    }
    startd->poll.rests = may_wait && !startd->farewell.begun && !farewell_is_awaited(startd);
    loop_timer_set(startd->poll.timer, startd->farewell.begun ? FAREWELL_POLL_MS
                                       : startd->poll.rests   ? REST_POLLS * interval_ms
                                                              : interval_ms);
}

static int open_store(struct startd *startd, struct err *err)
{
    static const char *const TABLES[] = {"claims", "nonces", "draining", "power", NULL};
    static const struct store_schema SCHEMA = {.daemon = "startd",
                                               .tables = TABLES,
                                               .migrations = STARTD_OLD_ROWS,
                                               .version = STARTD_STORE_VERSION};
    const struct config *config = startd->env.config;
    struct strbuf path;
    strbuf_init(&path, 0);
    strbuf_printf(&path, "%s/startd.db", config_path(config, "SPOOL"));
    int rc = os_mkdirs(startd->env.os, config_path(config, "SPOOL"), 0755, err);
    if (rc == 0) {
        rc = store_open(startd->env.loop, startd->env.os, strbuf_text(&path), &SCHEMA,
                        startd->env.log, &startd->store, err);
    }
    strbuf_fini(&path);
    return rc;
}

static int read_expr(const struct config *config, const char *knob, struct ad_expr **ret,
                     struct err *err)
{
    const char *text = config_expr(config, knob);
    struct ad_expr *fresh;
    int rc = ad_expr_parse(text, strlen(text), AD_OLD, &fresh, err);
    if (rc == 0) {
        ad_expr_destroy(*ret);
        *ret = fresh;
    }
    return rc;
}

static struct ad *find_opsys(struct os *os)
{
    static const char *const FILES[] = {"/etc/os-release", "/usr/lib/os-release"};
    struct ad *ad = ad_create();
    char *text = NULL;
    size_t length;
    for (size_t i = 0; i < ARRAY_COUNT(FILES) && text == NULL; i++) {
        (void)os_read_file(os, FILES[i], OPSYS_BYTES_MAX, &text, &length, NULL); /* or the next */
    }
    opsys_plan_name(text != NULL ? text : "", ad);
    mem_free(text);
    return ad;
}

static int set_names(struct startd *startd, struct err *err)
{
    startd->opsys = find_opsys(startd->env.os);
    int rc = os_machine(startd->env.os, &startd->machine, err);
    if (rc != 0) {
        return rc;
    }
    const char *name = config_string(startd->env.config, "STARTD_NAME");
    (void)snprintf(startd->name, sizeof startd->name, "%s",
                   name != NULL && name[0] != '\0' ? name : startd->machine.hostname);
    (void)snprintf(startd->uplink, sizeof startd->uplink, "startd/%s", startd->name);
    rc = read_expr(startd->env.config, "HIBERNATE", &startd->down.when, err);
    return rc != 0 ? rc
                   : read_expr(startd->env.config, "DAEMON_SHUTDOWN", &startd->farewell.when, err);
}

static void plugins_known(void *arg)
{
    slot_fixed_forget(arg);
    slots_refresh(arg);
}

static void ask_plugins(struct startd *startd)
{
    const struct config *config = startd->env.config;
    struct strbuf path;
    strbuf_init(&path, 0);
    strbuf_printf(&path, "%s/plugin.answer", config_path(config, "SPOOL"));
    const struct transfer_plugins_options options = {
        .loop = startd->env.loop,
        .os = startd->env.os,
        .log = startd->env.log,
        .paths = config_list(config, "FILETRANSFER_PLUGINS", NULL),
        .curl = config_string(config, "FILETRANSFER_CURL"),
        .scratch = strbuf_text(&path),
        .ready = plugins_known,
        .arg = startd,
    };
    startd->plugins = transfer_plugins_create(&options);
    strbuf_fini(&path);
}

static void startd_destroy(void *state)
{
    struct startd *startd = state;
    transfer_plugins_destroy(startd->plugins);
    hibernate_look_close(startd);
    idle_hint_close(startd);
    startd_serve_close(startd);
    starters_close(startd);
    meter_close(startd);
    claims_destroy(startd);
    draining_close(startd);
    loop_timer_destroy(startd->poll.timer);
    loop_timer_destroy(startd->stop_timer);
    hibernate_close(startd);
    slots_destroy(startd);
    power_destroy(startd->power);
    store_close(startd->store);
    loop_timer_destroy(startd->end_timer);
    loop_timer_destroy(startd->starters.trim_timer);
    wire_context_destroy(startd->wires);
    claims_release_rest(startd);
    ad_expr_destroy(startd->down.when);
    ad_expr_destroy(startd->farewell.when);
    user_world_destroy(startd->eval.users);
    ad_destroy(startd->opsys);
    ad_destroy(startd->probed.ckpt);
    mem_free(startd);
}

/* On a full disk the slots offer no claim ids, and say why. */
static void store_changed(void *arg)
{
    struct startd *startd = arg;
    slots_refresh(startd);
}

static void trim_memory(void *arg)
{
    (void)arg; /* it is the process's */
    mem_trim();
}

static int startd_start(const struct daemon_env *env, void **state, struct err *err)
{
    struct startd *startd = mem_zalloc(sizeof *startd);
    startd->env = *env;
    startd->eval.users = user_world_create(env->os, env->config);
    for (int i = 0; i < env->argc; i++) {
        startd->asleep = startd->asleep || strcmp(env->argv[i], "-asleep") == 0;
    }
    startd->sent.epoch = (uint64_t)loop_wall_ms(env->loop);
    startd->started_ms = (int64_t)loop_now_ms(env->loop);
    startd->look.awake_since_ms = (int64_t)loop_now_ms(env->loop);
    loop_secret(env->loop, &startd->eval.random_state, sizeof startd->eval.random_state);
    startd->poll.timer = loop_timer_create(env->loop, poll_machine, startd);
    hibernate_open(startd);
    draining_call_open(startd);
    startd->end_timer = loop_timer_create(env->loop, startd_stop_all, startd);
    startd->starters.trim_timer = loop_timer_create(env->loop, trim_memory, startd);
    startd->power = power_create(env->loop, env->os, env->log);
    int rc = set_names(startd, err);
    rc = rc != 0 ? rc : pool_context_create(env, &startd->wires, err);
    rc = rc != 0 ? rc : open_store(startd, err);
    if (rc == 0) {
        job_ckpt_probe(startd);
        ask_plugins(startd);
    }
    rc = rc != 0 ? rc : draining_open(startd, err);
    rc = rc != 0 ? rc : keep_open(startd, err);
    rc = rc != 0 ? rc : meter_open(startd, err);
    rc = rc != 0 ? rc : slots_create(startd, err);
    if (rc == 0) {
        hibernate_look_open(startd);
    }
    rc = rc != 0 ? rc : starters_open(startd, err);
    rc = rc != 0 ? rc : claims_restore(startd, err);
    if (rc == 0) {
        claims_revoked_start(startd);
        starters_sweep(startd);
        rc = startd_serve_open(startd, err);
    }
    if (rc != 0) {
        startd_destroy(startd);
        return rc;
    }
    store_keep_reserve(startd->store, STORE_RESERVE_BYTES);
    store_on_problem(startd->store, store_changed, startd);
    draining_begin(startd);
    poll_machine(startd);
    hibernate_begin(startd);
    *state = startd;
    return 0;
}

static void startd_reload(void *state, const struct config *config)
{
    struct startd *startd = state;
    startd->env.config = config;
    slot_fixed_forget(startd);
    user_world_destroy(startd->eval.users);
    startd->eval.users = user_world_create(startd->env.os, config);
    pool_context_reload(startd->wires, config, startd->env.log);
    pool_uplink_reload(startd->collector, config, startd->env.log);
    (void)read_expr(config, "HIBERNATE", &startd->down.when, NULL); /* checked when it was loaded */
    (void)read_expr(config, "DAEMON_SHUTDOWN", &startd->farewell.when, NULL);
    hibernate_look_open(startd);
    meter_reload(startd);
    slots_reload(startd);
    startd->starters.configurations++;
    starters_unkeep_all(startd);
    draining_moved(startd); /* promises may be others now */
    hibernate_check(startd);
    poll_machine(startd);
}

/* Stops: schedds were told of claims whose jobs ended in time; the rest is found by the next
 * startd, or ended by the lease. */
static void end_startd(struct startd *startd)
{
    bool tells = farewell_tell(startd) ||
                 (startd->stopping == STARTD_GOES_DOWN && leave_at_shutdown(startd));
    if (!tells) {
        loop_stop(startd->env.loop, 0);
    }
}

/* The jobs had their time.  The collector's answer has some more. */
static void stop_now(void *arg)
{
    struct startd *startd = arg;
    if (startd->stopping == STARTD_GOES_DOWN && !startd->sent.taken_back) {
        loop_timer_stop(startd->poll.timer);
        loop_timer_set(startd->stop_timer, STOP_TELL_MS);
        end_startd(startd);
        return;
    }
    loop_stop(startd->env.loop, 0);
}

/* Returns whether the claim's job is left to its starter, for the next startd to find. */
static bool is_left(const struct claim *claim)
{
    return claim->startd->stopping == STARTD_LEAVES_JOBS && claim_plan_has_run(claim->stage);
}

/* Returns whether stopping waits for the claim: its job is ending, or its schedd, which can be
 * reached, must be told.  A schedd that cannot be reached, or let the lease end, hears of it from
 * the next startd. */
static bool is_waited_for(const struct claim *claim)
{
    bool is_to_be_told =
        claim->stage != CLAIM_OVER || (claim->link.failures < STOP_TRIES && !claim->ending.late);
    return !is_left(claim) && is_to_be_told;
}

static void stop_check(void *arg)
{
    struct startd *startd = arg;
    size_t waited_for = 0;
    for (size_t i = 0; i < startd->claims.count; i++) {
        waited_for += is_waited_for(startd->claims.items[i]) ? 1 : 0;
    }
    if (waited_for == 0) {
        end_startd(startd);
        return;
    }
    loop_timer_set(startd->poll.timer, 20);
}

static void begin_stop(struct startd *startd, enum startd_stopping how)
{
    if (startd->stopping != STARTD_STAYS) {
        return;
    }
    startd->stopping = how;
    hibernate_stop(startd);
    size_t left = 0;
    for (size_t i = startd->claims.count; i > 0; i--) {
        struct claim *claim = startd->claims.items[i - 1];
        if (is_left(claim)) {
            left++;
        } else {
            claim_end(claim, "the startd is stopping", false);
        }
    }
    log_info(startd->env.log, "startd.stop",
             how == STARTD_LEAVES_JOBS ? "running jobs continue under their starters"
                                       : "running jobs end",
             LOG_INT("jobs_left", left));
    loop_timer_destroy(startd->poll.timer);
    startd->poll.timer = loop_timer_create(startd->env.loop, stop_check, startd);
    startd->stop_timer = loop_timer_create(startd->env.loop, stop_now, startd);
    loop_timer_set(startd->stop_timer, STOP_GRACE_MS);
    stop_check(startd);
}

/* SIGTERM: the startd is restarted.  Its jobs run on, and the next startd finds them, as after a
 * kill -9.  A glidein has no next startd. */
static void startd_stop(void *state)
{
    struct startd *startd = state;
    bool leaves = !config_bool(startd->env.config, "STARTD_IS_GLIDEIN");
    begin_stop(startd, leaves ? STARTD_LEAVES_JOBS : STARTD_ENDS_JOBS);
}

static void startd_stop_all(void *state)
{
    begin_stop(state, STARTD_ENDS_JOBS);
}

/* SIGPWR: the machine is shut down. */
static void startd_stop_host(void *state)
{
    begin_stop(state, STARTD_GOES_DOWN);
}

static void note_level(void *arg, const struct ad_value *value)
{
    bool *sleeps = arg;
    *sleeps = *sleeps || (value->type == AD_TYPE_INT && value->integer > 0) ||
              (value->type == AD_TYPE_STRING && slot_plan_level_of(value->string.text) > 0);
}

/* Doubts a level of sleep on a machine that cannot sleep. */
static void doubt_hibernate(const struct daemon_checking *checking)
{
    const char *text = config_expr(checking->config, "HIBERNATE");
    struct ad_expr *expr = NULL;
    bool sleeps = false;
    if (strcmp(config_string(checking->config, "POWER_METHOD"), "none") != 0 || text == NULL ||
        ad_expr_parse(text, strlen(text), AD_OLD, &expr, NULL) != 0) {
        return;
    }
    ad_constant_results(expr, note_level, &sleeps);
    if (sleeps) {
        daemon_doubt(checking, "HIBERNATE",
                     "HIBERNATE has no effect: POWER_METHOD is none, so that the machine never "
                     "goes to sleep; expected host, process, command or rooster");
    }
    ad_expr_destroy(expr);
}

/* Doubts commands that this host cannot run. */
static void doubt_commands(const struct daemon_checking *checking)
{
    const struct config *config = checking->config;
    daemon_doubt_command(checking, "HIBERNATION_PLUGIN", config_text(config, "HIBERNATION_PLUGIN"));
    daemon_doubt_command(checking, "POWER_SLEEP_CMD", config_text(config, "POWER_SLEEP_CMD"));
    const char *command = config_text(config, "POWER_SLEEP_CMD");
    if (strcmp(config_string(config, "POWER_METHOD"), "command") == 0 &&
        (command == NULL || command[0] == '\0')) {
        daemon_doubt(checking, "POWER_METHOD",
                     "POWER_METHOD command needs POWER_SLEEP_CMD, which is not set: the machine "
                     "never goes to sleep");
    }
}

/* Doubts attributes that would be undefined. */
static void doubt_attrs(const struct daemon_checking *checking)
{
    static const char *const KNOBS[] = {"STARTD_ATTRS", "STARTD_EXPRS"};
    for (size_t i = 0; i < ARRAY_COUNT(KNOBS); i++) {
        size_t count;
        const char *const *names = config_list(checking->config, KNOBS[i], &count);
        for (size_t j = 0; j < count; j++) {
            if (config_text(checking->config, names[j]) == NULL) {
                daemon_doubt(checking, KNOBS[i], "%s names %s, which is not set", KNOBS[i],
                             names[j]);
            }
        }
    }
}

/* Refuses what would keep each starter, which reads these knobs, from running a job. */
static int check_affinities(const struct daemon_checking *checking, struct err *err)
{
    const char *name = NULL;
    const struct knob *knob = NULL;
    size_t at = 0;
    int rc = 0;
    while (rc == 0 && config_next(checking->config, &at, &name, &knob)) {
        const char *text = config_text(checking->config, name);
        if (knob == NULL && text_glob("SLOT*_CPU_AFFINITY", name, true) && text != NULL &&
            text[0] != '\0') {
            rc = knob_check_cpus(text, err);
            rc = rc != 0 ? err_prefix(err, rc, "%s", name) : 0;
        }
    }
    return rc;
}

static int startd_check(const struct daemon_checking *checking, struct err *err)
{
    doubt_hibernate(checking);
    doubt_commands(checking);
    doubt_attrs(checking);
    int rc = check_affinities(checking, err);
    return rc != 0 ? rc : slot_division_check(checking, err);
}

static const struct knob_table *const TABLES[] = {&startd_knobs, &power_knobs, &knobs_common};

const struct daemon startd_daemon = {
    .name = "startd",
    .check_expr = ad_expr_check,
    .check = startd_check,
    .tables = TABLES,
    .table_count = ARRAY_COUNT(TABLES),
    .only_title = "STARTD_NAME",
    .start = startd_start,
    .reload = startd_reload,
    .stop = startd_stop,
    .stop_all = startd_stop_all,
    .stop_host = startd_stop_host,
    .destroy = startd_destroy,
};
