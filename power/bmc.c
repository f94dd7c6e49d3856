/* power/bmc.c - see bmc.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "power/bmc.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os_terminal.h"
#include "base/vec.h"
#include "power/bmc_text.h"

#define BMC_TEXT_MAX   255   /* most bytes of a program's argument, without the terminating zero */
#define BMC_ORDER_MS   30000 /* to switch on, to ask */
#define BMC_PATIENCE_S 60
#define BMC_SPARE_MS   20000 /* after the patience: to switch it off and see it */

static const char *const WAYS[] = {"graceful", "soft", "off"}; /* enum bmc_way */

struct bmc_turns {
    struct os *os;
    struct loop *loop;
    struct loop_timer *next; /* somebody's turn has come */
    unsigned running;
    struct vec sleeps, others; /* struct bmc, those that wait, in order */
    struct vec farewells;      /* struct farewell, those that run */
};

struct farewell {
    struct bmc_turns *turns;
    pid_t pid;
};

/* ---- turns */

static void next_turns(void *arg);

void *bmc_turns_create(struct loop *loop, struct os *os, struct log *log)
{
    struct bmc_turns *turns = mem_zalloc(sizeof *turns);
    (void)log;
    turns->os = os;
    turns->loop = loop;
    turns->next = loop_timer_create(loop, next_turns, turns);
    return turns;
}

void bmc_turns_destroy(void *state)
{
    struct bmc_turns *turns = state;
    for (size_t i = 0; i < turns->farewells.count; i++) {
        os_forget(turns->os, ((const struct farewell *)turns->farewells.items[i])->pid);
    }
    vec_fini(&turns->farewells, mem_free);
    vec_fini(&turns->sleeps, NULL);
    vec_fini(&turns->others, NULL);
    loop_timer_destroy(turns->next);
    mem_free(turns);
}

static void give_back(struct bmc_turns *turns)
{
    turns->running--;
    if (turns->sleeps.count + turns->others.count > 0) {
        loop_timer_set(turns->next, 0); /* not from within an operation that ends */
    }
}

static struct vec *line_of(const struct bmc *bmc)
{
    struct bmc_turns *turns = bmc->call->state;
    return bmc->call->operation == POWER_DO_SLEEP ? &turns->sleeps : &turns->others;
}

static void leave_line(struct bmc *bmc)
{
    struct vec *line = line_of(bmc);
    for (size_t i = 0; bmc->waits && i < line->count; i++) {
        if (line->items[i] == bmc) {
            vec_remove_at(line, i);
            break;
        }
    }
    bmc->waits = false;
}

static void end_turn(struct bmc *bmc)
{
    if (bmc->has_turn) {
        bmc->has_turn = false;
        give_back(bmc->call->state);
    }
}

static void begin_turn(struct bmc *bmc, void (*next)(struct bmc *bmc))
{
    struct bmc_turns *turns = bmc->call->state;
    turns->running++;
    bmc->has_turn = true;
    next(bmc);
}

static void call_due(struct power_call *call);

static void next_turns(void *arg)
{
    struct bmc_turns *turns = arg;
    while (turns->running < BMC_PROGRAMS_MAX) {
        struct vec *line = turns->sleeps.count > 0 ? &turns->sleeps : &turns->others;
        if (line->count == 0) {
            return;
        }
        struct bmc *bmc = line->items[0];
        struct power_call *call = bmc->call;
        void (*next)(struct bmc *) = bmc->next;
        uint64_t now_ms = loop_now_ms(turns->loop);
        leave_line(bmc);
        bmc->next = NULL;
        if (call->operation != POWER_DO_SLEEP) {
            call->end_ms += now_ms - bmc->waits_since_ms;
            power_call_later(call, call->end_ms - now_ms, call_due);
        }
        begin_turn(bmc, next);
    }
}

/* Calls next as soon as the operation may run a program. */
static void take_turn(struct bmc *bmc, void (*next)(struct bmc *bmc))
{
    const struct bmc_turns *turns = bmc->call->state;
    if (turns->running < BMC_PROGRAMS_MAX) {
        begin_turn(bmc, next);
        return;
    }
    bmc->next = next;
    bmc->waits = true;
    bmc->waits_since_ms = loop_now_ms(turns->loop);
    vec_push(line_of(bmc), bmc);
    if (bmc->call->operation != POWER_DO_SLEEP) {
        loop_timer_stop(bmc->call->timer);
    }
}

static void farewell_said(void *arg, pid_t pid, const struct os_exit *how)
{
    struct farewell *farewell = arg;
    struct bmc_turns *turns = farewell->turns;
    (void)pid;
    (void)how;
    for (size_t i = 0; i < turns->farewells.count; i++) {
        if (turns->farewells.items[i] == farewell) {
            vec_remove_at(&turns->farewells, i);
            break;
        }
    }
    mem_free(farewell);
    give_back(turns);
}

void bmc_farewell(struct bmc *bmc, const char *const *argv, const char *input)
{
    struct bmc_turns *turns = bmc->call->state;
    struct farewell *farewell = mem_zalloc(sizeof *farewell);
    const struct os_spawn spec = {
        .argv = argv, .cwd = "/", .input_text = input, .new_session = true, .no_new_privs = true};
    farewell->turns = turns;
    if (os_spawn(turns->os, &spec, farewell_said, farewell, &farewell->pid, NULL) != 0) {
        mem_free(farewell); /* it is then as if it had not been heard */
        return;
    }
    turns->running++;
    vec_push(&turns->farewells, farewell);
}

/* ---- the operation */

static void follow_step(struct bmc *bmc, const struct bmc_step *step);

static void finish_call(struct bmc *bmc, int status, enum power_state state, const char *text)
{
    struct power_call *call = bmc->call;
    char copy[300];
    (void)snprintf(copy, sizeof copy, "%s", text); /* it may be bmc's */
    if (call->operation == POWER_DO_STATUS) {
        power_call_status(call, state, copy);
    } else {
        power_call_done(call, status, "%s", copy);
    }
}

void bmc_failed(struct bmc *bmc, int status, const char *text)
{
    finish_call(bmc, status, POWER_UNKNOWN, text);
}

void bmc_told(struct bmc *bmc, enum power_state state)
{
    struct bmc_step step = bmc_plan_told(&bmc->plan, state, loop_now_ms(bmc->call->loop));
    follow_step(bmc, &step);
}

void bmc_ordered(struct bmc *bmc)
{
    struct bmc_step step = bmc_plan_ordered(&bmc->plan, loop_now_ms(bmc->call->loop));
    follow_step(bmc, &step);
}

static void call_due(struct power_call *call)
{
    struct bmc *bmc = call->own;
    uint64_t now_ms = loop_now_ms(call->loop);
    if (now_ms >= call->end_ms) {
        bmc_failed(bmc, -ETIMEDOUT,
                   bmc->waits ? "not done in time: too many other controllers answer slowly"
                              : "the machine's controller did not answer in time");
        return;
    }
    void (*next)(struct bmc *) = bmc->next;
    bmc->next = NULL;
    power_call_later(call, call->end_ms - now_ms, call_due);
    if (next != NULL) {
        take_turn(bmc, next);
    }
}

void bmc_later(struct bmc *bmc, uint64_t delay_ms, void (*next)(struct bmc *bmc))
{
    struct power_call *call = bmc->call;
    uint64_t now_ms = loop_now_ms(call->loop);
    uint64_t left_ms = call->end_ms > now_ms ? call->end_ms - now_ms : 0;
    end_turn(bmc);
    bmc->next = next;
    power_call_later(call, delay_ms < left_ms ? delay_ms : left_ms, call_due);
}

static void follow_step(struct bmc *bmc, const struct bmc_step *step)
{
    switch (step->act) {
    case BMC_ASK:
        bmc->hands->ask(bmc);
        return;
    case BMC_ASK_LATER:
        bmc_later(bmc, step->delay_ms, bmc->hands->ask);
        return;
    case BMC_ORDER_ON:
    case BMC_ORDER_SOFT:
    case BMC_ORDER_OFF:
        bmc->hands->order(bmc, step->act);
        return;
    case BMC_END:
        break;
    }
    finish_call(bmc, step->status, step->state, step->text);
}

static void bmc_free(void *own)
{
    struct bmc *bmc = own;
    leave_line(bmc);
    end_turn(bmc);
    if (bmc->hands->fini != NULL) {
        bmc->hands->fini(bmc);
    }
    os_terminal_close(bmc->terminal);
    strbuf_fini(&bmc->output);
    mem_free(bmc);
}

static bool find_way(const char *text, enum bmc_way *ret)
{
    for (int i = 0; i < (int)(sizeof WAYS / sizeof WAYS[0]); i++) {
        if (text == NULL || strcmp(text, WAYS[i]) == 0) {
            *ret = (enum bmc_way)i;
            return true;
        }
    }
    return false;
}

/* Returns whether a program would take the text as one word and not as an option. */
static bool is_word(const char *text)
{
    if (text == NULL || text[0] == '\0' || text[0] == '-' || strlen(text) > BMC_TEXT_MAX) {
        return false;
    }
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text <= ' ' || *text == 0x7f) {
            return false;
        }
    }
    return true;
}

int bmc_check(const struct power_node *node, struct err *err)
{
    enum bmc_way way;
    if (!is_word(node->bmc)) {
        return err_set(err, -EINVAL, "node %s: method %s needs bmc, an address without blanks",
                       node->name, node->method);
    }
    if (!is_word(node->bmc_user)) {
        return err_set(err, -EINVAL, "node %s: method %s needs bmc_user, a name without blanks",
                       node->name, node->method);
    }
    if (node->bmc_password_file == NULL || node->bmc_password_file[0] != '/') {
        return err_set(err, -EINVAL, "node %s: method %s needs bmc_password_file, an absolute path",
                       node->name, node->method);
    }
    if (node->bmc_program == NULL || node->bmc_program[0] != '/') {
        return err_set(
            err, -EINVAL,
            "node %s: method %s needs its program (option ipmitool or curl), an absolute path",
            node->name, node->method);
    }
    if (!find_way(node->bmc_sleep, &way)) {
        return err_set(err, -EINVAL, "node %s: method %s: bmc_sleep must be graceful, soft or off",
                       node->name, node->method);
    }
    return 0;
}

uint64_t bmc_sleep_max_ms(const struct power_node *node, const char *level)
{
    int64_t patience_s = node->shutdown_timeout_s > 0 ? node->shutdown_timeout_s : BMC_PATIENCE_S;
    (void)level;
    return (uint64_t)patience_s * 1000 + BMC_SPARE_MS;
}

static uint64_t time_for(const struct power_call *call)
{
    if (call->node.deadline_ms != 0) {
        return call->node.deadline_ms;
    }
    return call->operation == POWER_DO_SLEEP ? bmc_sleep_max_ms(&call->node, call->level)
                                             : BMC_ORDER_MS;
}

void bmc_begin(struct power_call *call, const struct bmc_hands *hands, void *own)
{
    static const enum bmc_aim AIMS[] = {BMC_AIM_WAKE, BMC_AIM_SLEEP, BMC_AIM_STATUS};
    const struct power_node *node = &call->node;
    enum bmc_way way = BMC_GRACEFUL;
    int64_t patience_s = node->shutdown_timeout_s > 0 ? node->shutdown_timeout_s : BMC_PATIENCE_S;
    struct bmc *bmc = mem_zalloc(sizeof *bmc);
    bmc->call = call;
    bmc->hands = hands;
    bmc->own = own;
    strbuf_init(&bmc->output, BMC_OUTPUT_MAX);
    call->own = bmc;
    call->own_free = bmc_free;
    (void)find_way(node->bmc_sleep, &way); /* checked before */
    bmc_plan_init(&bmc->plan, AIMS[call->operation], way, (uint64_t)patience_s * 1000);
    uint64_t time_ms = time_for(call);
    call->end_ms = loop_now_ms(call->loop) + time_ms;
    if (call->operation == POWER_DO_SLEEP && call->level[0] == 'S' &&
        strcmp(call->level, "S5") != 0) {
        bmc_failed(bmc, -ENOTSUP,
                   "a management controller cannot suspend a machine, only switch it off (S5)");
        return;
    }
    power_call_later(call, time_ms, call_due);
    take_turn(bmc, hands->ask);
}

/* ---- its program */

static void read_all(struct bmc *bmc)
{
    char data[4096];
    ssize_t got, error;
    while ((got = os_terminal_read(bmc->terminal, 1, data, sizeof data)) > 0) {
        strbuf_append(&bmc->output, data, (size_t)got);
    }
    while ((error = os_terminal_read(bmc->terminal, 2, data, sizeof data)) > 0) {
        size_t space = sizeof bmc->errors - 1 - bmc->errors_length;
        size_t length = (size_t)error < space ? (size_t)error : space;
        memcpy(bmc->errors + bmc->errors_length, data, length);
        bmc->errors_length += length;
    }
    os_terminal_want(bmc->terminal, false, got == -EAGAIN, error == -EAGAIN);
}

static void output_ready(void *arg)
{
    read_all(arg);
}

static void program_ended(void *arg, pid_t pid, const struct os_exit *how)
{
    struct bmc *bmc = arg;
    (void)pid;
    bmc->call->pid = 0;
    read_all(bmc);
    bmc->errors[bmc->errors_length] = '\0';
    os_terminal_close(bmc->terminal);
    bmc->terminal = NULL;
    if (bmc->output.failed) {
        bmc_failed(bmc, -EMSGSIZE, "the answer of the machine's controller is too long");
        return;
    }
    bmc->ran(bmc, how->signal != 0 ? -1 : how->status);
}

int bmc_run(struct bmc *bmc, const char *const *argv, const char *const *env_add, const char *input,
            void (*ran)(struct bmc *bmc, int status), struct err *err)
{
    struct power_call *call = bmc->call;
    const struct os_terminal_spec terminal = {.ready = output_ready, .arg = bmc};
    strbuf_clear(&bmc->output);
    bmc->errors_length = 0;
    int rc = os_terminal_open(call->os, &terminal, &bmc->terminal, err);
    if (rc != 0) {
        return rc;
    }
    const struct os_spawn spec = {.argv = argv,
                                  .env_add = env_add,
                                  .cwd = "/",
                                  .new_session = true,
                                  .no_new_privs = true,
                                  .terminal = bmc->terminal};
    rc = os_spawn(call->os, &spec, program_ended, bmc, &call->pid, err);
    if (rc != 0) {
        call->pid = 0;
        os_terminal_close(bmc->terminal);
        bmc->terminal = NULL;
        return rc;
    }
    bmc->ran = ran;
    if (input != NULL) { /* a new pipe takes 64 KiB; a program that is dead already says why */
        (void)os_terminal_write(bmc->terminal, input, strlen(input));
    }
    os_terminal_end_input(bmc->terminal);
    os_terminal_want(bmc->terminal, false, true, true);
    return 0;
}

void bmc_complaint(const struct bmc *bmc, char *ret, size_t size)
{
    bmc_text_last_line(bmc->errors, bmc->errors_length, ret, size);
}
