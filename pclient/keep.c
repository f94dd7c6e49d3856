/* pclient/keep.c - see keep.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pclient/keep.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/loop.h"
#include "base/loop_run.h"
#include "base/mem.h"
#include "base/os/os_enclose.h"
#include "base/os/os_mark.h"
#include "base/os/os_output.h"
#include "base/os/os_post.h"
#include "base/os/os_run.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "pclient/job.h"
#include "pclient/pclient.h"
#include "pclient/protocol.h"

#define MS_PER_S      1000
#define ANSWER_MS     2000 /* for a keeper that is asked or told something */
#define KILL_MS       7000 /* ... and for one that kills its job */
#define SWEEPS_MAX    50   /* of what a keeper that is dead has left */
#define PREFIX_FORMAT "roost-pclient-%u-"
#define PREFIX_MAX    32

/* The words of the program outside: OUTSIDE, what to do, and for OUTSIDE_KEEP all that follows. */
#define OUTSIDE       "-outside"
#define OUTSIDE_KEEP  "keep" /* mark, lease, how, stdout, stderr, the words of the job */
#define OUTSIDE_JOBS  "jobs"
#define OUTSIDE_RENEW "renew" /* mark, seconds or 0 */
#define OUTSIDE_KILL  "kill"  /* mark */
enum { KEEP_MARK = 3, KEEP_LEASE, KEEP_HOW, KEEP_STDOUT, KEEP_STDERR, KEEP_ARGV };

static void name_prefix(char ret[PREFIX_MAX])
{
    (void)snprintf(ret, PREFIX_MAX, PREFIX_FORMAT, (unsigned)os_uid(NULL));
}

static void name_of(const char *mark, char ret[OS_POST_NAME_MAX + 1])
{
    char prefix[PREFIX_MAX];
    name_prefix(prefix);
    (void)snprintf(ret, OS_POST_NAME_MAX + 1, "%s%s", prefix, mark);
}

/* ---- the keeper ------------------------------------------------------------------------------ */

struct keeper {
    char *const *words; /* of the program, see above */
    struct job_host host;
    struct job *job;
    struct os_post *post;
    struct loop_timer *lease;
    uint64_t lease_end_ms;
    int64_t lease_s;
    struct os_post_sender *killer; /* who waits for the end of the job; NULL: nobody */
    char variable[sizeof(PCLIENT_MARK_NAME) + REQUEST_MARK_MAX];
};

static void job_changed(void *arg)
{
    struct keeper *self = arg;
    if (job_phase(self->job) != JOB_ENDED) {
        return;
    }
    if (self->killer != NULL) {
        os_post_answer(self->post, self->killer, PCLIENT_OK);
    }
    os_post_close(self->post);
    self->post = NULL;
    job_destroy(self->job);
    self->job = NULL;
    loop_stop(self->host.loop, PCLIENT_ENDED);
}

static void end_job(void *arg)
{
    struct keeper *self = arg;
    if (self->job != NULL) {
        job_kill(self->job, REASON_KILLED);
    }
}

static void lease_look(void *arg)
{
    struct keeper *self = arg;
    uint64_t now_ms = loop_now_ms(self->host.loop);
    if (now_ms >= self->lease_end_ms) {
        os_enclosure_kill_others(self->host.enclosure);
        loop_stop(self->host.loop, PCLIENT_LEASE_OVER);
    } else {
        loop_timer_set(self->lease, self->lease_end_ms - now_ms);
    }
}

static void set_lease(struct keeper *self, int64_t lease_s)
{
    self->lease_end_ms = loop_now_ms(self->host.loop) + (uint64_t)lease_s * MS_PER_S;
    os_enclosure_renew(self->host.enclosure, self->lease_end_ms);
    loop_timer_set(self->lease, (uint64_t)lease_s * MS_PER_S);
}

static void keeper_asked(void *arg, const struct os_post_sender *sender, const char *text)
{
    struct keeper *self = arg;
    int64_t lease_s;
    if (strcmp(text, OUTSIDE_JOBS) == 0) {
        char answer[64];
        uint64_t now_ms = loop_now_ms(self->host.loop);
        (void)snprintf(answer, sizeof(answer), "%d %" PRIu64, (int)job_pid(self->job),
                       self->lease_end_ms > now_ms ? (self->lease_end_ms - now_ms) / MS_PER_S : 0);
        os_post_answer(self->post, sender, answer);
    } else if (strcmp(text, OUTSIDE_KILL) == 0) {
        mem_free(self->killer);
        self->killer = os_post_keep(sender);
        end_job(self);
    } else if (text_parse_int64(text, &lease_s, NULL) == 0) {
        set_lease(self, lease_s > 0 && lease_s <= PCLIENT_LEASE_MAX_S ? lease_s : self->lease_s);
        os_post_answer(self->post, sender, PCLIENT_OK);
    }
}

static int keeper_begin(struct keeper *self, struct err *err)
{
    char name[OS_POST_NAME_MAX + 1];
    const char *mark = self->words[KEEP_MARK];
    const struct job_spec spec = {.argv = (const char *const *)self->words + KEEP_ARGV,
                                  .detached = true,
                                  .stdout_path = self->words[KEEP_STDOUT],
                                  .stderr_path = self->words[KEEP_STDERR]};
    int rc = loop_create(&self->host.loop, err);
    rc = rc == 0 ? os_create(self->host.loop, &self->host.os, err) : rc;
    if (rc != 0) {
        return rc;
    }
    os_become_subreaper(self->host.os);
    loop_on_signal(self->host.loop, SIGTERM, end_job, self);
    name_of(mark, name);
    rc = os_post_open(self->host.loop, name, keeper_asked, self, &self->post, err);
    if (rc != 0) {
        return rc == -EADDRINUSE ? err_set(err, rc, "a detached job has the mark '%s'", mark) : rc;
    }
    self->lease = loop_timer_create(self->host.loop, lease_look, self);
    set_lease(self, self->lease_s);
    return job_start(&self->host, &spec, job_changed, self, &self->job, err);
}

static int keeper_inside(void *arg, struct os_enclosure *enclosure)
{
    struct keeper *self = arg;
    struct err err = {""};
    int status = PCLIENT_FAILED;
    self->host.enclosure = enclosure;
    self->host.mark = self->variable;
    int rc = keeper_begin(self, &err);
    if (rc == 0) {
        (void)printf("%d\n", (int)job_pid(self->job));
    } else {
        os_post_close(self->post); /* the mark is free again before anybody hears of it */
        self->post = NULL;
        (void)printf("%s %s\n", PCLIENT_REFUSED, err.text);
    }
    (void)fflush(stdout); /* whoever does not read it learns that nothing was answered */
    os_output_leave();
    if (rc == 0) {
        status = loop_run(self->host.loop);
    }
    if (!os_enclosure_is_namespace(enclosure)) { /* else the kernel does that */
        os_enclosure_sweep(enclosure);
    }
    job_destroy(self->job);
    os_post_close(self->post);
    loop_timer_destroy(self->lease);
    mem_free(self->killer);
    os_destroy(self->host.os);
    loop_destroy(self->host.loop);
    return status;
}

static int keep_job(int argc, char **argv)
{
    struct keeper self = {.words = argv};
    struct err err = {""};
    if (argc <= KEEP_ARGV || request_plan_mark(argv[KEEP_MARK], &err) != 0 ||
        request_plan_lease(argv[KEEP_LEASE], &self.lease_s, &err) != 0) {
        (void)printf("%s cannot keep a job: %s\n", PCLIENT_REFUSED, err.text);
        return PCLIENT_USAGE;
    }
    (void)snprintf(self.variable, sizeof(self.variable), "%s%s", PCLIENT_MARK_NAME,
                   argv[KEEP_MARK]);
    const struct os_enclose enclose = {
        /* In a user namespace a post of that uid would take others for itself. */
        .no_namespaces = argv[KEEP_HOW][0] != '\0' || os_uid(NULL) == OS_POST_UNKNOWN_UID,
        .lease_ms = (uint64_t)self.lease_s * MS_PER_S};
    return os_enclose_run(&enclose, keeper_inside, &self, &err);
}

/* ---- what is asked --------------------------------------------------------------------------- */

struct listing {
    struct vec names; /* char * */
    struct strbuf lines;
    size_t count, prefix;
};

static void add_name(void *arg, const char *name)
{
    struct listing *listing = arg;
    vec_push(&listing->names, mem_strdup(name));
}

static void add_line(void *arg, size_t index, const char *text)
{
    struct listing *listing = arg;
    const char *name = listing->names.items[index];
    listing->count++;
    strbuf_printf(&listing->lines, "%s %s\n", name + listing->prefix, text);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int list_jobs(void)
{
    struct listing listing = {.count = 0};
    char prefix[PREFIX_MAX];
    name_prefix(prefix);
    strbuf_init(&listing.lines, 0);
    listing.prefix = strlen(prefix);
    os_post_list(prefix, add_name, &listing);
    if (listing.names.count > 0) {
        qsort(listing.names.items, listing.names.count, sizeof(void *), compare_names);
    }
    (void)os_post_ask((const char *const *)listing.names.items, listing.names.count, OUTSIDE_JOBS,
                      ANSWER_MS, add_line, &listing); /* those that stand still are left out */
    (void)printf("NJOBS %zu\n%s", listing.count, strbuf_text(&listing.lines));
    strbuf_fini(&listing.lines);
    vec_fini(&listing.names, mem_free);
    return PCLIENT_ENDED;
}

static void copy_answer(void *arg, size_t index, const char *text)
{
    (void)index;
    strbuf_puts(arg, text);
}

/* Asks one keeper.  Returns 0: *answer is filled; -ENOENT: there is none; -ETIMEDOUT. */
static int ask_keeper(const char *mark, const char *question, unsigned wait_ms,
                      struct strbuf *answer)
{
    char name[OS_POST_NAME_MAX + 1];
    const char *const names[] = {name};
    name_of(mark, name);
    int asked = os_post_ask(names, 1, question, wait_ms, copy_answer, answer);
    return asked < 0 ? asked : asked == 0 ? -ENOENT : answer->length == 0 ? -ETIMEDOUT : 0;
}

static int print_answer(const char *mark, int rc, struct strbuf *answer)
{
    if (rc == 0) {
        (void)printf("%s\n", strbuf_text(answer));
    } else if (rc == -ENOENT) {
        (void)printf("%s no detached job has the mark '%s'\n", PCLIENT_REFUSED, mark);
    } else if (rc == -ETIMEDOUT) {
        (void)printf("%s the keeper of job '%s' does not answer\n", PCLIENT_REFUSED, mark);
    } else {
        (void)printf("%s %s\n", PCLIENT_REFUSED, err_code_text(rc));
    }
    strbuf_fini(answer);
    return rc == 0 ? PCLIENT_ENDED : PCLIENT_FAILED;
}

/* What a keeper has left that was killed itself, or stands still. */
struct leftovers {
    struct os *os;
    const char *mark;
    size_t killed;
};

static void kill_marked(void *arg, pid_t pid, const char *value)
{
    struct leftovers *left = arg;
    if (strcmp(value, left->mark) == 0 && os_kill(left->os, pid, SIGKILL) == 0) {
        left->killed++;
    }
}

static int kill_job(const char *mark)
{
    struct leftovers left = {.mark = mark};
    struct strbuf answer;
    strbuf_init(&answer, 0);
    int rc = ask_keeper(mark, OUTSIDE_KILL, KILL_MS, &answer);
    if (os_create(NULL, &left.os, NULL) == 0) {
        size_t before = SIZE_MAX; /* they may start others meanwhile */
        for (int i = 0; i < SWEEPS_MAX && left.killed != before; i++) {
            before = left.killed;
            os_mark_each(PCLIENT_MARK_NAME, kill_marked, &left);
        }
        os_destroy(left.os);
    }
    if (rc != 0 && left.killed > 0) {
        strbuf_clear(&answer);
        strbuf_puts(&answer, PCLIENT_OK);
        rc = 0;
    }
    return print_answer(mark, rc, &answer);
}

static int renew_job(const char *mark, const char *lease)
{
    struct strbuf answer;
    strbuf_init(&answer, 0);
    int rc = ask_keeper(mark, lease, ANSWER_MS, &answer);
    return print_answer(mark, rc, &answer);
}

/* ---- both ------------------------------------------------------------------------------------ */

static void add_word(struct vec *words, const char *word)
{
    vec_push(words, mem_strdup(word != NULL ? word : ""));
}

void keep_words(const struct request *request, bool no_namespaces, struct vec *ret)
{
    char lease[TEXT_DECIMAL_MAX + 1];
    (void)snprintf(lease, sizeof(lease), "%" PRId64, request->lease_s);
    add_word(ret, "pclient");
    add_word(ret, OUTSIDE);
    switch (request->kind) {
    case REQUEST_JOB:
        add_word(ret, OUTSIDE_KEEP);
        add_word(ret, request->mark);
        add_word(ret, lease);
        add_word(ret, no_namespaces ? PCLIENT_SUBREAPER : "");
        add_word(ret, request->stdout_path);
        add_word(ret, request->stderr_path);
        for (const char *const *word = request->argv; *word != NULL; word++) {
            add_word(ret, *word);
        }
        break;
    case REQUEST_RENEW:
        add_word(ret, OUTSIDE_RENEW);
        add_word(ret, request->mark);
        add_word(ret, lease);
        break;
    case REQUEST_KILL:
        add_word(ret, OUTSIDE_KILL);
        add_word(ret, request->mark);
        break;
    default:
        add_word(ret, OUTSIDE_JOBS);
        break;
    }
    vec_push(ret, NULL);
}

bool keep_is_outside(int argc, char **argv)
{
    return argc > 2 && strcmp(argv[1], OUTSIDE) == 0;
}

int keep_outside(int argc, char **argv)
{
    if (strcmp(argv[2], OUTSIDE_KEEP) == 0) {
        return keep_job(argc, argv);
    }
    if (strcmp(argv[2], OUTSIDE_JOBS) == 0) {
        return list_jobs();
    }
    if (strcmp(argv[2], OUTSIDE_KILL) == 0 && argc == 4 && request_plan_mark(argv[3], NULL) == 0) {
        return kill_job(argv[3]);
    }
    if (strcmp(argv[2], OUTSIDE_RENEW) == 0 && argc == 5 && request_plan_mark(argv[3], NULL) == 0) {
        return renew_job(argv[3], argv[4]);
    }
    return PCLIENT_USAGE;
}
