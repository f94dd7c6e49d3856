/* power/method_libvirt.c - switches a machine that is a guest of a hypervisor.
 *
 * libvirt runs in another process, roost-libvirt (virt/), one for each connection, as long as this
 * process lives, because its calls block without a deadline.  Orders go to its standard input, one
 * per line (virt/line_plan.h); answers (libvirt_answer.h) come from its standard output in the
 * order in which they are known.  A process that answers nothing at all until a call's deadline
 * hangs together with its libvirtd.  It is killed, which ends its other calls, and the next order
 * starts another one.
 *
 * How a guest is taken down depends on the level that its machine chose: S5 is a shutdown, S4 a
 * managed save (its memory goes to the host's disk), S1 to S3 the guest's own suspend.
 * `domain_sleep` of its `node` section overrides that.
 *
 * A watch is an order that is answered many times; a restarted roost-libvirt gets all watches
 * again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os_terminal.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "power/libvirt_answer.h"
#include "power/method.h"

#define LIBVIRT_URI        "qemu:///system"
#define LIBVIRT_PATIENCE_S 60
#define LIBVIRT_ORDER_MS   30000  /* to start, to ask */
#define LIBVIRT_SAVE_MS    900000 /* a guest's memory goes to a disk */
#define LIBVIRT_SPARE_MS   15000  /* after the patience with a guest: to destroy it */
/* roost-libvirt gives up so much earlier than we do, so that it can report why. */
#define LIBVIRT_EARLIER_MS 2000
/* most bytes of a line of an answer, with the terminating zero */
#define LIBVIRT_LINE_MAX   1024
#define LIBVIRT_OUTPUT_MAX (8 << 20) /* orders that it has not read yet */
/* A process with watches is restarted so long after its end. */
#define LIBVIRT_AGAIN_MIN_MS 500
#define LIBVIRT_AGAIN_MAX_MS 60000

struct pending {
    uint64_t id;
    struct power_call *call;
    uint64_t sent_ms;
};

struct helper { /* a roost-libvirt process */
    struct libvirt *libvirt;
    char *uri, *program;
    pid_t pid; /* 0: does not run */
    struct os_terminal *terminal;
    struct strbuf output; /* what it has not read yet */
    size_t output_at;
    char line[LIBVIRT_LINE_MAX]; /* the beginning of its next answer */
    size_t line_length;
    struct vec pending;
    struct vec watches; /* struct pending */
    struct loop_timer *again;
    uint64_t again_ms; /* after its next end */
    uint64_t heard_ms; /* when it last answered, monotonic */
    bool killed;
};

struct libvirt {
    struct loop *loop;
    struct os *os;
    struct log *log;
    struct vec helpers;
    uint64_t last_id;
};

static const char *how_of(const struct power_node *node, const char *level)
{
    const char *how = node->domain_sleep;
    if (how != NULL && strcmp(how, "level") != 0) {
        return how;
    }
    if (strcmp(level, "S4") == 0) {
        return "save";
    }
    return strcmp(level, "S5") == 0 || level[0] != 'S' ? "shutdown" : "suspend";
}

static bool is_one_line(const char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < ' ') {
            return false;
        }
    }
    return true;
}

static int libvirt_check(const struct power_node *node, enum power_operation operation,
                         struct err *err)
{
    (void)operation;
    const char *domain = node->domain != NULL ? node->domain : node->name;
    if (node->helper == NULL || node->helper[0] != '/') {
        return err_set(err, -EINVAL, "node %s: method libvirt needs helper, an absolute path",
                       node->name);
    }
    if (domain[0] == '\0' || strlen(domain) > 255 || !is_one_line(domain)) {
        return err_set(err, -EINVAL,
                       "node %s: method libvirt: domain must have 1 to 255 characters", node->name);
    }
    if (node->uri != NULL && (node->uri[0] == '\0' || node->uri[0] == '-')) {
        return err_set(err, -EINVAL,
                       "node %s: method libvirt: uri '%s' must not be empty or begin with '-'",
                       node->name, node->uri);
    }
    return 0;
}

/* ---- the end of calls */

static void end_pending(struct pending *pending, int status, const char *text)
{
    struct power_call *call = pending->call;
    mem_free(pending);
    if (call->operation == POWER_DO_STATUS) {
        power_call_status(call, POWER_UNKNOWN, text);
    } else {
        power_call_done(call, status, "%s", text);
    }
}

static struct pending *take_pending(struct helper *helper, uint64_t id)
{
    for (size_t i = 0; i < helper->pending.count; i++) {
        struct pending *pending = helper->pending.items[i];
        if (pending->id == id) {
            vec_remove_at(&helper->pending, i);
            return pending;
        }
    }
    return NULL;
}

static const struct pending *watch_of(const struct helper *helper, uint64_t id)
{
    for (size_t i = 0; i < helper->watches.count; i++) {
        const struct pending *watch = helper->watches.items[i];
        if (watch->id == id) {
            return watch;
        }
    }
    return NULL;
}

static const char *domain_of(const struct power_call *call)
{
    return call->node.domain != NULL ? call->node.domain : call->node.name;
}

static void tell_all(const struct helper *helper, const char *why)
{
    const struct power_news news = {.state = POWER_UNKNOWN, .text = why};
    for (size_t i = 0; i < helper->watches.count; i++) {
        power_call_news(((const struct pending *)helper->watches.items[i])->call, &news);
    }
}

/* Closes our side of the process and ends its calls. */
static void helper_gone(struct helper *helper, const char *why)
{
    struct vec pending = helper->pending;
    helper->pending = (struct vec){0};
    os_terminal_close(helper->terminal);
    helper->terminal = NULL;
    strbuf_clear(&helper->output);
    helper->output_at = helper->line_length = 0;
    helper->pid = 0;
    helper->killed = false;
    for (size_t i = 0; i < pending.count; i++) {
        end_pending(pending.items[i], -EPIPE, why);
    }
    vec_fini(&pending, NULL);
    if (helper->watches.count > 0) {
        if (helper->again_ms > LIBVIRT_AGAIN_MIN_MS) { /* it has not said a word */
            tell_all(helper, why);
        }
        loop_timer_set(helper->again, helper->again_ms);
        helper->again_ms = helper->again_ms * 2 < LIBVIRT_AGAIN_MAX_MS ? helper->again_ms * 2
                                                                       : LIBVIRT_AGAIN_MAX_MS;
    }
}

static void helper_ended(void *arg, pid_t pid, const struct os_exit *how)
{
    struct helper *helper = arg;
    char why[80];
    (void)pid;
    if (how->signal != 0) {
        (void)snprintf(why, sizeof why, "roost-libvirt was ended by signal %d%s", how->signal,
                       helper->killed ? ": no answer" : "");
    } else {
        (void)snprintf(why, sizeof why, "roost-libvirt ended with status %d", how->status);
    }
    log_warn(helper->libvirt->log, "power.helper", why, LOG_TEXT("uri", helper->uri));
    helper_gone(helper, why);
}

/* ---- its answers */

static void tell_news(const struct pending *watch, const struct libvirt_answer *answer)
{
    const struct power_news news = {.state = answer->state,
                                    .answers = !answer->is_silent,
                                    .text = answer->text};
    power_call_news(watch->call, &news);
}

static void end_with(struct pending *pending, const struct libvirt_answer *answer)
{
    struct power_call *call = pending->call;
    if (call->operation == POWER_DO_STATUS) {
        mem_free(pending);
        power_call_status(call, answer->state, answer->text);
        return;
    }
    end_pending(pending, answer->status, answer->text);
}

static void helper_answered(struct helper *helper)
{
    struct libvirt_answer answer;
    helper->heard_ms = loop_now_ms(helper->libvirt->loop);
    helper->again_ms = LIBVIRT_AGAIN_MIN_MS;
    bool is_answer = libvirt_answer_read(helper->line, &answer);
    struct pending *pending = is_answer ? take_pending(helper, answer.id) : NULL;
    const struct pending *watch = is_answer && pending == NULL ? watch_of(helper, answer.id) : NULL;
    if (watch != NULL) {
        tell_news(watch, &answer);
        return;
    }
    if (pending == NULL) { /* of a call that was given up */
        log_debug(helper->libvirt->log, "power.answer", helper->line, LOG_TEXT("uri", helper->uri));
        return;
    }
    end_with(pending, &answer);
}

static void read_answers(struct helper *helper)
{
    char data[4096], word[256];
    ssize_t got;
    while ((got = os_terminal_read(helper->terminal, 2, word, sizeof word - 1)) > 0) {
        word[got] = '\0';
        log_warn(helper->libvirt->log, "power.helper", word, LOG_TEXT("uri", helper->uri));
    }
    bool complains = got == -EAGAIN;
    while ((got = os_terminal_read(helper->terminal, 1, data, sizeof data)) > 0) {
        for (ssize_t i = 0; i < got; i++) {
            if (data[i] == '\n') {
                helper->line[helper->line_length] = '\0';
                helper->line_length = 0;
                helper_answered(helper);
            } else if (helper->line_length < sizeof helper->line - 1) {
                helper->line[helper->line_length++] = data[i];
            }
        }
    }
    os_terminal_want(helper->terminal, helper->output.length > helper->output_at, got == -EAGAIN,
                     complains); /* after its end, the news of its death comes */
}

static void write_orders(struct helper *helper)
{
    while (helper->output_at < helper->output.length) {
        ssize_t wrote = os_terminal_write(helper->terminal, helper->output.data + helper->output_at,
                                          helper->output.length - helper->output_at);
        if (wrote <= 0) {
            if (wrote != -EAGAIN) { /* it dies; that ends the calls */
                strbuf_clear(&helper->output);
                helper->output_at = 0;
            }
            return;
        }
        helper->output_at += (size_t)wrote;
    }
    strbuf_clear(&helper->output);
    helper->output_at = 0;
}

static void helper_ready(void *arg)
{
    struct helper *helper = arg;
    write_orders(helper);
    read_answers(helper);
}

/* Sends the waiting orders and waits for answers. */
static void send_orders(struct helper *helper)
{
    write_orders(helper);
    os_terminal_want(helper->terminal, helper->output.length > helper->output_at, true, true);
}

/* ---- its life */

static void put_line(struct helper *helper, const struct pending *watch, const char *verb)
{
    strbuf_printf(&helper->output, "%llu %s %s\n", (unsigned long long)watch->id, verb,
                  domain_of(watch->call));
}

static int helper_start(struct helper *helper, struct err *err)
{
    struct libvirt *libvirt = helper->libvirt;
    const struct os_terminal_spec terminal = {.ready = helper_ready, .arg = helper};
    int rc = os_terminal_open(libvirt->os, &terminal, &helper->terminal, err);
    if (rc != 0) {
        return rc;
    }
    const char *argv[] = {helper->program, helper->uri, NULL};
    const struct os_spawn spec = {.argv = argv,
                                  .cwd = "/",
                                  .new_session = true,
                                  .no_new_privs = true,
                                  .terminal = helper->terminal};
    rc = os_spawn(libvirt->os, &spec, helper_ended, helper, &helper->pid, err);
    if (rc != 0) {
        os_terminal_close(helper->terminal);
        helper->terminal = NULL;
        helper->pid = 0;
        return rc;
    }
    helper->heard_ms = loop_now_ms(libvirt->loop);
    loop_timer_stop(helper->again);
    for (size_t i = 0; i < helper->watches.count; i++) {
        const struct pending *watch = helper->watches.items[i];
        put_line(helper, watch, "watch");
    }
    return 0;
}

static void start_again(void *arg)
{
    struct helper *helper = arg;
    struct err err;
    if (helper->pid > 0 || helper->watches.count == 0) {
        return;
    }
    if (helper_start(helper, &err) != 0) {
        helper_gone(helper, err.text); /* again later */
        return;
    }
    send_orders(helper);
}

static struct helper *helper_of(struct libvirt *libvirt, const char *uri, const char *program)
{
    for (size_t i = 0; i < libvirt->helpers.count; i++) {
        struct helper *helper = libvirt->helpers.items[i];
        if (strcmp(helper->uri, uri) == 0 && strcmp(helper->program, program) == 0) {
            return helper;
        }
    }
    struct helper *helper = mem_zalloc(sizeof *helper);
    helper->libvirt = libvirt;
    helper->uri = mem_strdup(uri);
    helper->program = mem_strdup(program);
    helper->again = loop_timer_create(libvirt->loop, start_again, helper);
    helper->again_ms = LIBVIRT_AGAIN_MIN_MS;
    strbuf_init(&helper->output, LIBVIRT_OUTPUT_MAX);
    vec_push(&libvirt->helpers, helper);
    return helper;
}

static void *libvirt_create(struct loop *loop, struct os *os, struct log *log)
{
    struct libvirt *libvirt = mem_zalloc(sizeof *libvirt);
    libvirt->loop = loop;
    libvirt->os = os;
    libvirt->log = log;
    return libvirt;
}

static void helper_destroy(void *item)
{
    struct helper *helper = item;
    struct os *os = helper->libvirt->os;
    if (helper->pid > 0) {
        os_forget(os, helper->pid);
        (void)os_kill_group(os, helper->pid, SIGKILL); /* gone: fine */
    }
    os_terminal_close(helper->terminal);
    strbuf_fini(&helper->output);
    loop_timer_destroy(helper->again);
    vec_fini(&helper->pending, mem_free); /* the calls are dropped by who has them */
    vec_fini(&helper->watches, mem_free);
    mem_free(helper->uri);
    mem_free(helper->program);
    mem_free(helper);
}

static void libvirt_destroy(void *state)
{
    struct libvirt *libvirt = state;
    vec_fini(&libvirt->helpers, helper_destroy);
    mem_free(libvirt);
}

/* ---- a call */

static struct helper *helper_with(const struct libvirt *libvirt, const struct power_call *call,
                                  size_t *ret)
{
    for (size_t i = 0; i < libvirt->helpers.count; i++) {
        struct helper *helper = libvirt->helpers.items[i];
        const struct vec *calls =
            call->operation == POWER_DO_WATCH ? &helper->watches : &helper->pending;
        for (size_t j = 0; j < calls->count; j++) {
            if (((const struct pending *)calls->items[j])->call == call) {
                *ret = j;
                return helper;
            }
        }
    }
    return NULL;
}

static void libvirt_late(struct power_call *call)
{
    size_t at = 0;
    struct helper *helper = helper_with(call->state, call, &at);
    if (helper == NULL) {
        power_call_done(call, -ETIMEDOUT, "libvirt did not answer in time");
        return;
    }
    struct pending *pending = helper->pending.items[at];
    bool silent = helper->heard_ms <= pending->sent_ms;
    vec_remove_at(&helper->pending, at);
    end_pending(pending, -ETIMEDOUT, "libvirt did not answer in time");
    if (silent && helper->pid > 0) {
        helper->killed = true;
        (void)os_kill_group(helper->libvirt->os, helper->pid, SIGKILL); /* gone: fine */
    }
}

static int64_t patience_of(const struct power_node *node)
{
    return node->shutdown_timeout_s > 0 ? node->shutdown_timeout_s : LIBVIRT_PATIENCE_S;
}

static uint64_t sleep_max_ms(const struct power_node *node, const char *level)
{
    return strcmp(how_of(node, level), "save") == 0
               ? LIBVIRT_SAVE_MS
               : (uint64_t)patience_of(node) * 1000 + LIBVIRT_SPARE_MS;
}

static uint64_t time_for(const struct power_call *call)
{
    return call->node.deadline_ms != 0         ? call->node.deadline_ms
           : call->operation != POWER_DO_SLEEP ? LIBVIRT_ORDER_MS
                                               : sleep_max_ms(&call->node, call->level);
}

static void put_order(struct strbuf *out, const struct power_call *call, uint64_t id,
                      uint64_t limit_s)
{
    static const char *const VERBS[] = {"wake", "sleep", "status"};
    strbuf_printf(out, "%llu %s ", (unsigned long long)id, VERBS[call->operation]);
    if (call->operation == POWER_DO_SLEEP) {
        strbuf_printf(out, "%s %lld ", how_of(&call->node, call->level),
                      (long long)patience_of(&call->node));
    }
    strbuf_printf(out, "%llu %s\n", (unsigned long long)limit_s, domain_of(call));
}

static void refuse_call(struct power_call *call, int status, const char *text)
{
    struct pending *none = mem_zalloc(sizeof *none);
    none->call = call;
    end_pending(none, status, text);
}

static void begin_watch(struct helper *helper, struct power_call *call)
{
    struct libvirt *libvirt = call->state;
    struct pending *watch = mem_zalloc(sizeof *watch);
    struct err err;
    *watch = (struct pending){.id = ++libvirt->last_id, .call = call};
    vec_push(&helper->watches, watch);
    if (helper->pid > 0) {
        put_line(helper, watch, "watch");
        helper->output.failed = false; /* it hangs; one that is started anew is told of all */
    } else if (helper_start(helper, &err) != 0) {
        helper->again_ms *= 2; /* so that it is said why */
        helper_gone(helper, err.text);
        return;
    }
    send_orders(helper);
}

static void libvirt_begin(struct power_call *call)
{
    struct libvirt *libvirt = call->state;
    const struct power_node *node = &call->node;
    struct helper *helper =
        helper_of(libvirt, node->uri != NULL ? node->uri : LIBVIRT_URI, node->helper);
    struct err err;
    if (call->operation == POWER_DO_WATCH) {
        begin_watch(helper, call);
        return;
    }
    int rc = helper->pid > 0 ? 0 : helper_start(helper, &err);
    if (rc != 0) {
        refuse_call(call, rc, err.text);
        return;
    }
    uint64_t time_ms = time_for(call);
    uint64_t limit_ms =
        time_ms - (time_ms > 2 * LIBVIRT_EARLIER_MS ? LIBVIRT_EARLIER_MS : time_ms / 2);
    struct pending *pending = mem_zalloc(sizeof *pending);
    *pending = (struct pending){.id = ++libvirt->last_id,
                                .call = call,
                                .sent_ms = loop_now_ms(libvirt->loop)};
    put_order(&helper->output, call, pending->id, limit_ms > 1000 ? limit_ms / 1000 : 1);
    if (helper->output.failed) { /* it reads nothing: those before us are late soon */
        helper->output.failed = false;
        mem_free(pending);
        refuse_call(call, -EBUSY, "too many orders wait for libvirt");
        return;
    }
    vec_push(&helper->pending, pending);
    call->end_ms = pending->sent_ms + time_ms;
    power_call_later(call, time_ms, libvirt_late);
    send_orders(helper);
}

/* Cancels a watch or an order.  What the guest was already told it may still do; it is not
 * destroyed. */
static void libvirt_cancel(struct power_call *call)
{
    size_t at = 0;
    bool is_watch = call->operation == POWER_DO_WATCH;
    struct helper *helper = helper_with(call->state, call, &at);
    if (helper == NULL) {
        return;
    }
    struct vec *from = is_watch ? &helper->watches : &helper->pending;
    struct pending *pending = from->items[at];
    if (helper->pid > 0) {
        put_line(helper, pending, is_watch ? "unwatch" : "cancel");
        helper->output.failed = false;
        send_orders(helper);
    }
    vec_remove_at(from, at);
    mem_free(pending);
}

const struct power_method power_method_libvirt = {.name = "libvirt",
                                                  .check = libvirt_check,
                                                  .begin = libvirt_begin,
                                                  .create = libvirt_create,
                                                  .destroy = libvirt_destroy,
                                                  .cancel = libvirt_cancel,
                                                  .can_watch = true,
                                                  .sleep_max_ms = sleep_max_ms};
