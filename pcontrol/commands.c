/* pcontrol/commands.c - see commands.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pcontrol/commands.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/queue.h>

#include "base/check.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/text.h"
#include "pcontrol/controller.h"
#include "pcontrol/host_name_plan.h"
#include "pcontrol/job_words_plan.h"
#include "pcontrol/output.h"
#include "pcontrol/show.h"

#define NOTE_MS 10000 /* so often it is told what "wait" waits for */

LIST_HEAD(call_list, command_call);

struct commands {
    struct controller *controller;
    struct os *os;
    struct call_list calls;
    void (*say)(void *arg, const char *line);
    void *say_arg;
    bool verbose;
};

struct command_call {
    LIST_ENTRY(command_call) entry;
    struct commands *commands;
    struct command_answer answer;
    const char *cwd; /* only while the command runs */
    command_done_f done;
    command_note_f note;
    void *arg;
    struct controller_wait *wait;
    struct output_save *save; /* of "stdout -file" */
    struct loop_timer *soon;  /* completes it; of "wait": tells what it waits for */
    size_t left;              /* jobs that had not ended when that was looked at last */
};

struct command {
    const char *name;
    /* words[0..count) follow the name.  Returns true if the answer is complete. */
    bool (*run)(struct command_call *call, char *const *words, size_t count);
    const char *usage; /* after the name */
    const char *help;
};

/* ---- answers ----------------------------------------------------------------------------------
 */

static bool refuse(struct command_call *call, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Completes the answer by an error; a further one goes on the next line. */
static bool refuse(struct command_call *call, int status, const char *format, ...)
{
    va_list args;
    if (call->answer.why.length > 0) {
        strbuf_putc(&call->answer.why, '\n');
    }
    va_start(args, format);
    strbuf_vprintf(&call->answer.why, format, args);
    va_end(args);
    call->answer.status = status;
    return true;
}

/* word: the one at fault; NULL: one is missing. */
static bool refuse_usage(struct command_call *call, const char *command, const char *word);

static bool is_option(char *const *words, size_t count, size_t at, const char *option)
{
    return at < count && strcmp(words[at], option) == 0;
}

/* Takes "--json" out of the words. */
static bool take_json(char **words, size_t *count)
{
    for (size_t i = 0; i < *count; i++) {
        if (strcmp(words[i], "--json") == 0) {
            memmove(&words[i], &words[i + 1], (*count - i - 1) * sizeof(*words));
            --*count;
            return true;
        }
    }
    return false;
}

/* Finds the job with the number in the word; NULL, with the answer complete: there is none. */
static struct pjob *find_job(struct command_call *call, const char *word)
{
    int64_t id = 0;
    if (text_parse_int64(word, &id, NULL) != 0 || id < 1) {
        (void)refuse(call, COMMAND_USAGE, "'%s' is not the number of a job", word);
        return NULL;
    }
    struct pjob *job = controller_find_job(call->commands->controller, (uint64_t)id);
    if (job == NULL) {
        (void)refuse(call, COMMAND_FAILED, "no such job: %lld", (long long)id);
    }
    return job;
}

static struct phost_name *find_host(struct command_call *call, const char *word)
{
    struct phost_name *name = controller_find_host(call->commands->controller, word);
    if (name == NULL || name->entry_count == 0) {
        (void)refuse(call, COMMAND_FAILED, "no such host: %s", word);
        return NULL;
    }
    return name;
}

/* Returns the path as seen from the directory of whoever gave the command. */
static char *path_from(struct command_call *call, const char *path)
{
    char *ret = NULL;
    struct err err;
    if (call->cwd != NULL && path[0] != '/') {
        struct strbuf whole;
        size_t length = strlen(call->cwd);
        while (path[0] == '.' && path[1] == '/') { /* as os_absolute() does */
            path += 2;
        }
        strbuf_init(&whole, 0);
        strbuf_puts(&whole, call->cwd);
        strbuf_puts(&whole, length > 0 && call->cwd[length - 1] == '/' ? "" : "/");
        strbuf_puts(&whole, path);
        ret = strbuf_take(&whole);
    } else if (os_absolute(call->commands->os, path, &ret, &err) != 0) {
        (void)refuse(call, COMMAND_FAILED, "%s", err.text);
    }
    return ret;
}

/* ---- job, delete, kill ------------------------------------------------------------------------
 */

static bool run_job(struct command_call *call, char *const *words, size_t count)
{
    struct pjob_wish wish;
    struct err err;
    if (job_words_read(words, count, &wish, &err) != 0) {
        return refuse(call, COMMAND_USAGE, "%s", err.text);
    }
    uint64_t id = 0;
    bool complete = true;
    for (int i = 0; i < 2 && complete; i++) {
        char *path = wish.paths[i] != NULL ? path_from(call, wish.paths[i]) : NULL;
        complete = path != NULL || wish.paths[i] == NULL;
        if (path != NULL) {
            mem_free(wish.paths[i]);
            wish.paths[i] = path;
        }
    }
    if (complete) {
        id = controller_add_job(call->commands->controller, &wish, &err);
        if (id == 0) {
            (void)refuse(call, COMMAND_FAILED, "%s", err.text);
        } else {
            strbuf_printf(&call->answer.text, "%llu\n", (unsigned long long)id);
        }
    }
    pjob_wish_fini(&wish);
    return true;
}

static bool each_job(struct command_call *call, char *const *words, size_t count,
                     int (*act)(struct pjob *job, struct err *err), const char *command)
{
    if (count == 0) {
        return refuse_usage(call, command, NULL);
    }
    for (size_t i = 0; i < count; i++) {
        struct err err;
        struct pjob *job = find_job(call, words[i]);
        if (job != NULL && act(job, &err) != 0) {
            (void)refuse(call, COMMAND_FAILED, "%s", err.text);
        }
    }
    return true;
}

static bool run_delete(struct command_call *call, char *const *words, size_t count)
{
    return each_job(call, words, count, controller_delete_job, "delete");
}

static bool run_kill(struct command_call *call, char *const *words, size_t count)
{
    return each_job(call, words, count, controller_kill_job, "kill");
}

/* ---- host -------------------------------------------------------------------------------------
 */

static bool run_host(struct command_call *call, char *const *words, size_t count)
{
    static const struct {
        const char *option;
        enum controller_verb verb;
    } VERBS[] = {{"-on", HOST_ON},
                 {"-off", HOST_OFF},
                 {"-start", HOST_START},
                 {"-stop", HOST_STOP},
                 {"-delete", HOST_DELETE}};
    struct err err;
    if (count < 1 || count > 2) {
        return refuse_usage(call, "host", count > 2 ? words[2] : NULL);
    }
    if (host_name_check(words[0], &err) != 0) {
        return refuse(call, COMMAND_USAGE, "%s", err.text);
    }
    struct controller *controller = call->commands->controller;
    struct phost_name *name = controller_find_host(controller, words[0]);
    bool is_there = name != NULL && name->entry_count > 0;
    if (count == 1 || (!is_there && is_option(words, count, 1, "-off"))) {
        controller_add_host(controller, words[0], count == 2);
        return true;
    }
    for (size_t i = 0; i < ARRAY_COUNT(VERBS); i++) {
        if (!is_option(words, count, 1, VERBS[i].option)) {
            continue;
        }
        if (!is_there) {
            return refuse(call, COMMAND_FAILED, "no such host: %s", words[0]);
        }
        return controller_do_host(name, VERBS[i].verb, &err) > 0
                   ? true
                   : refuse(call, COMMAND_FAILED, "%s", err.text);
    }
    return refuse_usage(call, "host", words[1]);
}

/* ---- stdout, stderr ---------------------------------------------------------------------------
 */

static void call_is_complete(struct command_call *call);

static void output_is_saved(void *arg)
{
    struct command_call *call = arg;
    const char *why = output_save_why(call->save);
    call->save = NULL;
    if (why != NULL) {
        (void)refuse(call, COMMAND_FAILED, "%s", why);
    }
    call_is_complete(call);
}

static bool give_output(struct command_call *call, char *const *words, size_t count, int at,
                        const char *command)
{
    bool to_file = is_option(words, count, 1, "-file") && count == 3;
    if (count != 1 && !to_file) {
        bool known = is_option(words, count, 1, "-file");
        return refuse_usage(call, command,
                            count > 3 && known    ? words[3]
                            : count > 1 && !known ? words[1]
                                                  : NULL);
    }
    const struct pjob *job = find_job(call, words[0]);
    if (job == NULL) {
        return true;
    }
    size_t length = 0;
    uint64_t dropped = 0;
    const char *bytes = "";
    if (job->wish.paths[at] != NULL) {
        return refuse(call, COMMAND_FAILED, "the %s of job %llu is in %s", command,
                      (unsigned long long)job->id, job->wish.paths[at]);
    }
    if (job->outputs[at] != NULL) {
        bytes = output_bytes(job->outputs[at], &length, &dropped);
    }
    if (to_file) {
        struct err err;
        char *path = path_from(call, words[2]);
        if (path != NULL && controller_check_file(call->commands->controller, path, &err) != 0) {
            (void)refuse(call, COMMAND_FAILED, "%s", err.text);
        } else if (path != NULL) {
            call->save = output_save_start(controller_house(call->commands->controller), path,
                                           job->id, bytes, length, output_is_saved, call);
        }
        mem_free(path);
    } else {
        strbuf_append(&call->answer.text, bytes, length);
    }
    if (dropped > 0) { /* what is there is given, but is not all */
        const char *limit = output_limit(job->outputs[at]);
        strbuf_printf(&call->answer.why,
                      "the first %llu bytes of the %s of job %llu were dropped%s%s%s",
                      (unsigned long long)dropped, command, (unsigned long long)job->id,
                      limit != NULL ? " (" : "", limit != NULL ? limit : "",
                      limit != NULL ? ")" : "");
    }
    return call->save == NULL;
}

static bool run_stdout(struct command_call *call, char *const *words, size_t count)
{
    return give_output(call, words, count, 0, "stdout");
}

static bool run_stderr(struct command_call *call, char *const *words, size_t count)
{
    return give_output(call, words, count, 1, "stderr");
}

/* ---- status, check ----------------------------------------------------------------------------
 */

static bool refuse_status(struct command_call *call, char *const *words, size_t count)
{
    bool valued = is_option(words, count, 0, "-job") || is_option(words, count, 0, "-machine");
    bool known =
        valued || is_option(words, count, 0, "-queues") || is_option(words, count, 0, "-jobs");
    size_t at = !known ? 0 : valued ? 2 : 1;
    return refuse_usage(call, "status", at < count ? words[at] : NULL);
}

static bool run_status(struct command_call *call, char *const *words, size_t count)
{
    struct vec rest = {0};
    for (size_t i = 0; i < count; i++) {
        vec_push(&rest, words[i]);
    }
    size_t left = rest.count;
    bool json = take_json((char **)rest.items, &left);
    char *const *word = (char *const *)rest.items;
    if (left == 0 || (left == 1 && is_option(word, left, 0, "-queues"))) {
        show_queues(call->commands->controller, json, &call->answer.text);
    } else if (left == 1 && is_option(word, left, 0, "-jobs")) {
        show_jobs(call->commands->controller, json, &call->answer.text);
    } else if (left == 2 && is_option(word, left, 0, "-job")) {
        const struct pjob *job = find_job(call, word[1]);
        if (job != NULL) {
            show_job(job, json, &call->answer.text);
        }
    } else if (left == 2 && is_option(word, left, 0, "-machine")) {
        const struct phost_name *name = find_host(call, word[1]);
        if (name != NULL) {
            show_machine(name, json, &call->answer.text);
        }
    } else {
        (void)refuse_status(call, word, left);
    }
    vec_fini(&rest, NULL);
    return true;
}

static bool run_check(struct command_call *call, char *const *words, size_t count)
{
    struct controller *controller = call->commands->controller;
    if (count < 1 || count > 2) {
        return refuse_usage(call, "check", count > 2 ? words[2] : NULL);
    }
    if (strcmp(words[0], "job") == 0) {
        const struct pjob *job = count == 2 ? find_job(call, words[1]) : NULL;
        if (count == 2 && job == NULL) {
            return true;
        }
        uint64_t id = job != NULL ? job->id : 0;
        controller_check_jobs(controller);
        job = id != 0 ? controller_find_job(controller, id) : NULL;
        const struct pjob *each;
        TAILQ_FOREACH(each, controller_jobs(controller), entry)
        {
            if (each == job || (id == 0 && each->state <= PJOB_DONE)) {
                show_job_line(each, &call->answer.text);
            }
        }
        return true;
    }
    if (strcmp(words[0], "host") != 0) {
        return refuse_usage(call, "check", words[0]);
    }
    struct phost_name *name = count == 2 ? find_host(call, words[1]) : NULL;
    if (count == 2 && name == NULL) {
        return true;
    }
    const struct phost *host;
    TAILQ_FOREACH(host, controller_hosts(controller), all_entry)
    {
        if (name == NULL || host->name == name) {
            controller_check_host(host->name);
        }
    }
    if (name != NULL) {
        show_machine(name, false, &call->answer.text);
    } else {
        show_queues(controller, false, &call->answer.text);
    }
    return true;
}

/* ---- run, stop, verbose -----------------------------------------------------------------------
 */

static bool set_running(struct command_call *call, char *const *words, size_t count, bool run,
                        const char *command)
{
    bool jobs = count == 0 || is_option(words, count, 0, "jobs");
    bool hosts = count == 0 || is_option(words, count, 0, "hosts");
    if (count > 1 || (!jobs && !hosts)) {
        return refuse_usage(call, command, jobs || hosts ? words[1] : words[0]);
    }
    if (hosts) {
        controller_run_hosts(call->commands->controller, run);
    }
    if (jobs) {
        controller_run_jobs(call->commands->controller, run);
    }
    return true;
}

static bool run_run(struct command_call *call, char *const *words, size_t count)
{
    return set_running(call, words, count, true, "run");
}

static bool run_stop(struct command_call *call, char *const *words, size_t count)
{
    return set_running(call, words, count, false, "stop");
}

static bool run_verbose(struct command_call *call, char *const *words, size_t count)
{
    bool on = !call->commands->verbose;
    if (count > 1 || (count == 1 && text_parse_bool(words[0], &on, NULL) != 0)) {
        return refuse_usage(call, "verbose", words[count - 1]);
    }
    struct commands *commands = call->commands;
    commands->verbose = on;
    controller_listen(commands->controller, on ? commands->say : NULL, commands->say_arg);
    return true;
}

/* ---- wait, exit, help -------------------------------------------------------------------------
 */

static void wait_is_over(void *arg)
{
    struct command_call *call = arg;
    call->wait = NULL;
    call_is_complete(call);
}

static size_t count_left(const struct command_call *call, struct strbuf *text)
{
    size_t count;
    const uint64_t *ids = controller_wait_ids(call->wait, &count);
    return show_left(call->commands->controller, ids, count, text);
}

/* Nothing is told while jobs end. */
static void tell_left(struct command_call *call)
{
    struct strbuf text;
    strbuf_init(&text, 0);
    size_t left = count_left(call, &text);
    if (left == call->left && left > 0) {
        call->note(call->arg, strbuf_text(&text));
    }
    call->left = left;
    strbuf_fini(&text);
    loop_timer_set(call->soon, NOTE_MS);
}

static bool run_wait(struct command_call *call, char *const *words, size_t count)
{
    uint64_t *ids = count > 0 ? mem_alloc(count * sizeof(*ids)) : NULL;
    bool found = true;
    for (size_t i = 0; i < count && found; i++) {
        const struct pjob *job = find_job(call, words[i]);
        found = job != NULL;
        if (ids != NULL) {
            ids[i] = found ? job->id : 0;
        }
    }
    if (found) {
        call->wait =
            controller_wait_for(call->commands->controller, ids, count, wait_is_over, call);
        struct strbuf text;
        strbuf_init(&text, 0);
        call->left = count_left(call, &text);
        strbuf_fini(&text);
        loop_timer_set(call->soon, NOTE_MS);
    }
    mem_free(ids);
    return !found;
}

static bool run_exit(struct command_call *call, char *const *words, size_t count)
{
    bool only_idle = is_option(words, count, 0, "-idle");
    if (count > (only_idle ? 1 : 0)) {
        return refuse_usage(call, "exit", words[count - 1]);
    }
    size_t left = controller_jobs_left(call->commands->controller);
    if (only_idle && left > 0) {
        return refuse(call, COMMAND_FAILED, "jobs that are not done: %zu", left);
    }
    call->answer.leave = true;
    return true;
}

static bool run_help(struct command_call *call, char *const *words, size_t count);

static const struct command COMMANDS[] = {
    {"job", run_job,
     "[-host NAME | +host NAME] [-timeout S] [-stdout FILE] [-stderr FILE] [-priority N] "
     "[-retries N] ARGV...",
     "Submits a job; prints its JobID."},
    {"host", run_host, "NAME [-on | -off | -start | -stop | -delete]",
     "Adds a host (with -off: one that is OFF), or changes all entries of its name."},
    {"stdout", run_stdout, "ID [-file NAME]", "Prints a job's standard output."},
    {"stderr", run_stderr, "ID [-file NAME]", "Prints a job's standard error."},
    {"delete", run_delete, "ID...", "Deletes jobs that wait or have ended."},
    {"kill", run_kill, "ID...", "Kills jobs that run."},
    {"status", run_status, "[-job ID | -machine NAME | -jobs | -queues] [--json]",
     "Shows a job, a host, all jobs (one line each), or how many jobs there are and all hosts."},
    {"check", run_check, "host [NAME] | job [ID]",
     "Looks once at hosts or jobs, also while they are stopped."},
    {"run", run_run, "[jobs | hosts]", "Starts jobs, and connects to hosts, by itself."},
    {"stop", run_stop, "[jobs | hosts]", "Does not; jobs that run and connections stay."},
    {"wait", run_wait, "[ID...]", "Waits until jobs (all, unless some are named) have ended."},
    {"verbose", run_verbose, "[on | off]", "Tells each change of a state."},
    {"help", run_help, "[COMMAND]", "Lists the commands, or shows one of them."},
    {"exit", run_exit, "[-idle]",
     "Ends pcontrol and all jobs that run; -idle: only if all jobs are done."},
    {"quit", run_exit, "[-idle]", "The same as exit."},
};

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < ARRAY_COUNT(COMMANDS); i++) {
        if (strcmp(COMMANDS[i].name, name) == 0) {
            return &COMMANDS[i];
        }
    }
    return NULL;
}

static bool refuse_command(struct command_call *call, const char *name)
{
    const char *near = NULL;
    size_t distance = text_near_enough(name) + 1;
    for (size_t i = 0; i < ARRAY_COUNT(COMMANDS); i++) {
        text_take_nearer(COMMANDS[i].name, name, &near, &distance);
    }
    return refuse(call, COMMAND_USAGE, "unknown command '%s'%s%s", name,
                  near != NULL ? "; did you mean " : ": try help", near != NULL ? near : "");
}

static bool run_help(struct command_call *call, char *const *words, size_t count)
{
    if (count > 1) {
        return refuse_usage(call, "help", words[1]);
    }
    const struct command *only = count == 1 ? find_command(words[0]) : NULL;
    if (count == 1 && only == NULL) {
        return refuse_command(call, words[0]);
    }
    for (size_t i = 0; i < ARRAY_COUNT(COMMANDS); i++) {
        const struct command *command = &COMMANDS[i];
        if (only == NULL || command == only) {
            strbuf_printf(&call->answer.text, "%s%s%s\n    %s\n", command->name,
                          command->usage[0] != '\0' ? " " : "", command->usage, command->help);
        }
    }
    return true;
}

static bool refuse_usage(struct command_call *call, const char *command, const char *word)
{
    const char *usage = find_command(command)->usage;
    const char *gap = usage[0] != '\0' ? " " : "";
    if (word == NULL) {
        return refuse(call, COMMAND_USAGE, "a word is missing; usage: %s%s%s", command, gap, usage);
    }
    return refuse(call, COMMAND_USAGE, "%s %s; usage: %s%s%s",
                  word[0] == '-' ? "unknown option" : "unexpected word", word, command, gap, usage);
}

/* ---- calls ------------------------------------------------------------------------------------
 */

static void free_call(struct command_call *call)
{
    LIST_REMOVE(call, entry);
    loop_timer_destroy(call->soon);
    controller_wait_cancel(call->wait);
    output_save_cancel(call->save);
    strbuf_fini(&call->answer.text);
    strbuf_fini(&call->answer.why);
    mem_free(call);
}

static void call_is_complete(struct command_call *call)
{
    call->done(call->arg, &call->answer);
    free_call(call);
}

static void time_has_come(void *arg)
{
    struct command_call *call = arg;
    if (call->wait != NULL) {
        tell_left(call);
    } else {
        call_is_complete(call);
    }
}

struct command_call *commands_run(struct commands *commands, char *const *words, size_t count,
                                  const char *cwd, command_done_f done, command_note_f note,
                                  void *arg)
{
    struct command_call *call = mem_zalloc(sizeof(*call));
    call->commands = commands;
    call->done = done;
    call->note = note;
    call->arg = arg;
    call->cwd = cwd;
    strbuf_init(&call->answer.text, 0);
    strbuf_init(&call->answer.why, 0);
    LIST_INSERT_HEAD(&commands->calls, call, entry);
    call->soon = loop_timer_create(controller_loop(commands->controller), time_has_come, call);
    const struct command *command = count > 0 ? find_command(words[0]) : NULL;
    bool complete = true;
    if (command != NULL) {
        complete = command->run(call, words + 1, count - 1);
    } else if (count > 0) {
        (void)refuse_command(call, words[0]);
    }
    call->cwd = NULL;
    if (complete) {
        loop_timer_set(call->soon, 0);
    }
    return call;
}

void command_cancel(struct command_call *call)
{
    free_call(call);
}

struct commands *commands_create(struct controller *controller, struct os *os,
                                 void (*say)(void *arg, const char *line), void *arg)
{
    struct commands *commands = mem_zalloc(sizeof(*commands));
    commands->controller = controller;
    commands->os = os;
    commands->say = say;
    commands->say_arg = arg;
    LIST_INIT(&commands->calls);
    return commands;
}

void commands_destroy(struct commands *commands)
{
    if (commands != NULL) {
        while (!LIST_EMPTY(&commands->calls)) {
            free_call(LIST_FIRST(&commands->calls));
        }
        mem_free(commands);
    }
}
