/* starter/job_run.c - one run of one job: what every part of a run needs of it.
 *
 * The parts of a run (input, the cage, the checkpoints ...) stand above this file and below
 * starter.c.  A part notes here that the run continues, is given up or is held, and wakes the run.
 * starter.c then does what is due: at once if starter.c called the part, else in the next turn of
 * the loop.  The phase changes within the call, so that whatever happens before that turn sees the
 * new phase.  Rejected: parts that call starter.c.  Then no two of them could be understood, or
 * tested, without all others.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "starter/job_run.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/config/config.h"
#include "base/digest.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "starter/ckpt/checkpoint.h"
#include "starter/starter.h"
#include "wire/remote_attrs.h"
#include "wire/wire.h"

#define AGAIN_TRIES_MAX 4
#define AGAIN_FIRST_MS  100 /* doubled with each try: 1.5 s in all */

static const char *const PHASE_NAMES[] = {"fetch", "input", "run",  "output", "report",
                                          "clean", "tell",  "idle", "end"};

/* ---- names ----------------------------------------------------------------------------------- */

const char *job_run_path(const struct starter *starter, const char *name, char *ret, size_t size)
{
    (void)snprintf(ret, size, "%s/%s", starter->run.sandbox, name);
    return ret;
}

const struct ad *job_run_slot(const struct starter *starter)
{
    const struct ad *slot = NULL;
    return ad_get_ad(starter->run.record, "Slot", &slot) == 0 ? slot : NULL;
}

const char *job_run_inside(const struct starter *starter)
{
    return starter->run.ckpt.wanted ? config_path(starter->env.config, "CHECKPOINT_SANDBOX")
                                    : starter->run.sandbox;
}

char *job_run_image_path(const struct starter *starter, const char *name)
{
    struct strbuf path;
    strbuf_init(&path, 0);
    strbuf_printf(&path, "%s/" STARTER_CKPT_DIRECTORY "%s%s", starter->run.directory,
                  name[0] != '\0' ? "/" : "", name);
    char *text = strbuf_take(&path);
    strbuf_fini(&path);
    return text;
}

char *job_run_image_inside(const struct starter *starter, const char *name)
{
    struct strbuf path;
    strbuf_init(&path, 0);
    strbuf_printf(&path, "%s.images%s%s", config_path(starter->env.config, "CHECKPOINT_SANDBOX"),
                  name[0] != '\0' ? "/" : "", name);
    char *text = strbuf_take(&path);
    strbuf_fini(&path);
    return text;
}

int job_run_image_directory(struct starter *starter, struct err *err)
{
    struct os *os = starter->env.os;
    char *path = job_run_image_path(starter, "");
    int rc = os_mkdirs(os, path, 0700, err);
    if (rc == 0 && starter->run.account.change_user) {
        rc = os_chown(os, path, starter->run.account.uid, starter->run.account.gid, err);
    }
    mem_free(path);
    return rc;
}

bool job_run_is_remote(const struct starter *starter)
{
    return starter->run.job != NULL && ad_bool_or(starter->run.job, REMOTE_WANTED, false);
}

bool job_run_is_wrapped(const struct starter *starter)
{
    const struct ad *slot = job_run_slot(starter);
    return job_run_is_remote(starter) && slot != NULL && !ad_bool_or(slot, REMOTE_HAS, false);
}

/* ---- its phase and its end ------------------------------------------------------------------- */

void job_run_close_file(struct starter *starter)
{
    os_file_close(starter->run.in_hand.file);
    starter->run.in_hand.file = NULL;
    starter->run.in_hand.offset = 0;
    digest_destroy(starter->run.in_hand.digest);
    starter->run.in_hand.digest = NULL;
}

void job_run_wake(struct starter *starter, enum starter_wake wake)
{
    starter->run.wake = wake > starter->run.wake ? wake : starter->run.wake;
    loop_timer_set(starter->timers[TIMER_WAKE], 0);
}

void job_run_enter(struct starter *starter, enum starter_phase phase)
{
    CHECK(phase > starter->run.phase);
    log_info(starter->env.log, "starter.phase", "next phase", LOG_TEXT("job", starter->run.job_id),
             LOG_TEXT("from", PHASE_NAMES[starter->run.phase]), LOG_TEXT("to", PHASE_NAMES[phase]));
    starter->run.phase = phase;
    starter->run.busy = false;
    job_run_close_file(starter);
}

void job_run_give_up(struct starter *starter, const char *reason)
{
    if (starter->run.phase >= STARTER_CLEAN) {
        return;
    }
    if (reason[0] != '\0') {
        log_warn(starter->env.log, "starter.gives_up", reason,
                 LOG_TEXT("job", starter->run.job_id));
    }
    (void)snprintf(starter->run.end.reason, sizeof starter->run.end.reason, "%s", reason);
    starter->run.end.odd = true;
    job_run_enter(starter, STARTER_CLEAN);
    job_run_wake(starter, WAKE_GO);
}

void job_run_blame_machine(struct starter *starter, const char *reason)
{
    if (starter->run.phase < STARTER_CLEAN) {
        starter->run.end.machine_fault = true;
        job_run_give_up(starter, reason);
    }
}

void job_run_give_up_for(struct starter *starter, int code, const char *reason)
{
    if (err_is_shortage(code)) {
        job_run_blame_machine(starter, reason);
    } else {
        job_run_give_up(starter, reason);
    }
}

bool job_run_tries_again(struct starter *starter, int code, const char *reason,
                         enum starter_wake wake)
{
    struct job_again *again = &starter->run.again;
    if (!err_is_shortage(code) || again->tries >= AGAIN_TRIES_MAX) {
        return false;
    }
    log_warn(starter->env.log, "job.again", reason, LOG_TEXT("job", starter->run.job_id),
             LOG_INT("try", again->tries + 1));
    again->wake = wake;
    loop_timer_set(starter->timers[TIMER_AGAIN], (uint64_t)AGAIN_FIRST_MS << again->tries);
    again->tries++;
    return true;
}

void job_run_note_hold(struct starter *starter, int code, int subcode, const char *reason)
{
    starter->run.end.hold = ad_create();
    starter->run.end.odd = true;
    ad_set_string(starter->run.end.hold, "HoldReason", reason);
    ad_set_int(starter->run.end.hold, "HoldReasonCode", code);
    ad_set_int(starter->run.end.hold, "HoldReasonSubCode", subcode);
    log_info(starter->env.log, "job.hold", reason, LOG_TEXT("job", starter->run.job_id),
             LOG_INT("code", code), LOG_INT("subcode", subcode));
}

void job_run_hold(struct starter *starter, int code, int subcode, const char *reason)
{
    job_run_note_hold(starter, code, subcode, reason);
    starter->run.process.pid = -1;
    job_run_enter(starter, STARTER_REPORT);
    job_run_wake(starter, WAKE_GO);
}

bool job_run_may_stay(const struct starter *starter)
{
    return !starter->run.end.odd &&
           starter->runs < config_int(starter->env.config, "STARTER_MAX_JOBS");
}

/* ---- its links ------------------------------------------------------------------------------- */

struct ad *job_run_hello(const struct starter *starter)
{
    struct ad *hello = ad_create();
    ad_set_string(hello, "JobId", starter->run.job_id);
    ad_set_int(hello, "ClaimEpoch", starter->run.epoch);
    return hello;
}

struct ad *job_run_shadow_who(struct starter *starter)
{
    bool kept = starter->run.shadow_kept;
    starter->run.shadow_kept = false;
    return kept ? job_run_hello(starter) : NULL;
}

void job_run_close_shadow(struct starter *starter)
{
    wire_close(starter->shadow);
    starter->shadow = NULL;
    starter->run.shadow_kept = false;
    loop_timer_stop(starter->timers[TIMER_DIAL]);
}

void job_run_dial_again(struct starter *starter)
{
    job_run_close_shadow(starter);
    loop_timer_set(starter->timers[TIMER_DIAL], 0);
}

struct ad *job_run_startd_who(const struct starter *starter)
{
    struct ad *args = ad_create();
    ad_set_string(args, "JobId", starter->run.job_id);
    ad_set_int(args, "ClaimEpoch", starter->run.epoch);
    ad_set_int(args, "Pid", os_pid(starter->env.os));
    return args;
}

struct wire_body job_run_startd_body(const struct starter *starter, const struct ad *args)
{
    return (struct wire_body){.args = args, .secrets = &starter->run.claim_id, .secret_count = 1};
}

/* ---- what came, and how it ended ------------------------------------------------------------- */

static void input_destroy(void *value)
{
    struct starter_input *input = value;
    mem_free(input->name);
    mem_free(input->target);
    mem_free(input->url);
    mem_free(input);
}

void job_run_forget_inputs(struct starter *starter)
{
    vec_fini(&starter->run.input.list, input_destroy);
    starter->run.input.at = 0;
    starter->run.input.bytes = 0;
    starter->run.input.made = false;
}

int64_t job_run_length_s(const struct starter *starter)
{
    int64_t started_ms = starter->run.process.started_ms, ended_ms = starter->run.process.ended_ms;
    return ended_ms != 0 ? (ended_ms - started_ms) / 1000
                         : loop_since_s(starter->env.loop, started_ms);
}

void job_run_add_exit(const struct starter *starter, struct ad *args)
{
    ad_set_bool(args, "ExitBySignal", starter->run.process.exit.signal != 0);
    if (starter->run.process.exit.signal != 0) {
        ad_set_int(args, "ExitSignal", starter->run.process.exit.signal);
        ad_set_bool(args, "JobCoreDumped", starter->run.process.exit.core);
    } else {
        ad_set_int(args, "ExitCode", starter->run.process.exit.status);
    }
}
