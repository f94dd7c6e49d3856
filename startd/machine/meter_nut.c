/* startd/machine/meter_nut.c - asks a UPS how much power it delivers: `upsc NAME`, every
 * NUT_INTERVAL.
 *
 * NUT's program is run instead of speaking its protocol: one line of text every half minute is not
 * worth a second client.  A program that takes longer than NUT_TIMEOUT is killed.  An answer is
 * valid for three intervals; that there is no answer is logged once, and once that there is one
 * again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "startd/machine/meter_nut.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/config/config.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "startd/machine/meter_plan.h"
#include "startd/startd_state.h"

#define ANSWER_BYTES_MAX ((size_t)64 << 10)
#define PATH_SIZE        4200 /* most bytes of a path, with the terminating zero */
#define ANSWERS_LIVE     3    /* intervals */

struct meter_nut {
    struct startd *startd;
    struct loop_timer *timer, *limit;
    pid_t pid; /* it is being asked; 0: it is not */
    bool late; /* and has been killed for it */
    double watts;
    uint64_t said_ms; /* when; 0: never */
    bool complained;
};

static const char *ups_of(const struct startd *startd)
{
    const char *ups = config_string(startd->env.config, "NUT_UPS");
    return ups != NULL ? ups : "";
}

static uint64_t interval_ms(const struct startd *startd)
{
    return (uint64_t)config_duration_s(startd->env.config, "NUT_INTERVAL") * 1000;
}

static void answer_path(const struct startd *startd, char ret[PATH_SIZE])
{
    (void)snprintf(ret, PATH_SIZE, "%s/nut.answer", config_path(startd->env.config, "SPOOL"));
}

static void log_complaint(struct meter_nut *nut, const char *why)
{
    if (!nut->complained) {
        log_warn(nut->startd->env.log, "meter.nut", why, LOG_TEXT("ups", ups_of(nut->startd)));
        nut->complained = true;
    }
}

static void upsc_ended(void *arg, pid_t pid, const struct os_exit *how)
{
    struct meter_nut *nut = arg;
    struct startd *startd = nut->startd;
    char path[PATH_SIZE], *text = NULL;
    size_t length = 0;
    struct err err;
    (void)pid;
    nut->pid = 0;
    loop_timer_stop(nut->limit);
    answer_path(startd, path);
    if (nut->late) {
        log_complaint(nut, "the UPS did not answer in NUT_TIMEOUT");
    } else if (how->signal != 0 || how->status != 0) {
        log_complaint(nut, "the UPS cannot be asked: upsc failed");
    } else if (os_read_file(startd->env.os, path, ANSWER_BYTES_MAX, &text, &length, &err) != 0 ||
               meter_plan_ups_w(text, &nut->watts, &err) != 0) {
        log_complaint(nut, err.text);
    } else {
        nut->said_ms = loop_now_ms(startd->env.loop);
        if (nut->complained) {
            log_info(startd->env.log, "meter.nut", "the UPS answers again");
            nut->complained = false;
        }
    }
    (void)os_remove(startd->env.os, path, NULL); /* left: small, and written over */
    mem_free(text);
}

static void too_late(void *arg)
{
    struct meter_nut *nut = arg;
    nut->late = true;
    (void)os_kill_group(nut->startd->env.os, nut->pid, SIGKILL); /* gone: upsc_ended() follows */
}

static void ask_upsc(void *arg)
{
    struct meter_nut *nut = arg;
    struct startd *startd = nut->startd;
    const struct config *config = startd->env.config;
    char path[PATH_SIZE];
    struct err err;
    loop_timer_set(nut->timer, interval_ms(startd));
    if (nut->pid > 0) {
        return; /* it has its time limit */
    }
    answer_path(startd, path);
    const char *const argv[] = {config_path(config, "NUT_PROGRAM"), ups_of(startd), NULL};
    const struct os_spawn spec = {.argv = argv,
                                  .cwd = "/",
                                  .stdout_path = path,
                                  .truncate_output = true,
                                  .new_session = true};
    nut->late = false;
    if (os_spawn(startd->env.os, &spec, upsc_ended, nut, &nut->pid, &err) != 0) {
        nut->pid = 0;
        log_complaint(nut, err.text);
        return;
    }
    loop_timer_set(nut->limit, (uint64_t)config_duration_s(config, "NUT_TIMEOUT") * 1000);
}

struct meter_nut *meter_nut_create(struct startd *startd)
{
    struct meter_nut *nut = mem_zalloc(sizeof *nut);
    nut->startd = startd;
    nut->timer = loop_timer_create(startd->env.loop, ask_upsc, nut);
    nut->limit = loop_timer_create(startd->env.loop, too_late, nut);
    meter_nut_reload(nut);
    return nut;
}

void meter_nut_reload(struct meter_nut *nut)
{
    nut->complained = false;
    if (ups_of(nut->startd)[0] != '\0') {
        loop_timer_set(nut->timer, 0);
    } else {
        loop_timer_stop(nut->timer);
        nut->said_ms = 0;
    }
}

double meter_nut_watts(const struct meter_nut *nut)
{
    uint64_t now_ms = loop_now_ms(nut->startd->env.loop);
    bool counts =
        nut->said_ms != 0 && now_ms - nut->said_ms <= ANSWERS_LIVE * interval_ms(nut->startd);
    return counts ? nut->watts : -1;
}

void meter_nut_destroy(struct meter_nut *nut)
{
    if (nut == NULL) {
        return;
    }
    if (nut->pid > 0) {
        os_forget(nut->startd->env.os, nut->pid);
        (void)os_kill_group(nut->startd->env.os, nut->pid, SIGKILL); /* gone: fine */
    }
    loop_timer_destroy(nut->timer);
    loop_timer_destroy(nut->limit);
    mem_free(nut);
}
