/* cli/cmd_wait.c - `roost wait`: waits until jobs have left the queue.
 *
 * The command watches the schedd instead of asking it again and again.  When the schedd goes away
 * (killed, restarted, updated), it is dialled again with back-off.  Jobs that left the queue
 * meanwhile, or before, are looked up in the schedd's history.  A job that is in neither is an
 * error, because a schedd never loses jobs.
 *
 * If the first argument names an existing file, the file is a job event log, and no schedd is asked
 * (wait_log.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/loop.h"
#include "base/loop_run.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/random.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/text.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "cli/cli.h"
#include "cli/jobs/jobs_plan.h"
#include "cli/listing.h"
#include "cli/wait_log.h"
#include "cli/wait_log_plan.h"
#include "cli/wait_plan.h"
#include "wire/watch.h"
#include "wire/wire.h"

#define FIRST_CONTACT_MS 30000 /* longest wait for a schedd that has never answered */
#define RETRY_MS         50    /* first pause between tries; it doubles up to RETRY_MAX_MS */
#define RETRY_MAX_MS     2000

struct waited {
    bool is_over;  /* the job's end was seen */
    bool in_queue; /* in the queue; after its end, until its output is fetched */
};

enum wait_contact { /* with the schedd */
                    WAIT_UNREACHED,
                    WAIT_TOLD, /* unreached, and the user knows that we try again */
                    WAIT_REACHED,
};

struct wait {
    struct cli *cli;
    struct listing listing; /* only its constraints are used: they select the jobs */
    struct vec words;       /* arguments; borrowed */
    int64_t timeout_s;      /* value of -wait; 0: no limit */
    bool echo, status;      /* for a job event log: -echo and -status */
    int64_t number;
    struct strmap *jobs; /* id -> struct waited, for all jobs that were seen in the queue */
    size_t left;         /* how many of these are in the queue and not over */
    struct watch *watch;
    bool wake; /* ends loop_run_until(): something happened */
    bool lost, timed_out;
    enum wait_contact contact;
    int refused; /* negative errno with which the schedd refused; 0: it did not */
    char why[ERR_TEXT_MAX];
};

/* ---- events of the watch */

static struct waited *waited_of(struct wait *wait, const char *id)
{
    struct waited *waited = strmap_get(wait->jobs, id);
    if (waited == NULL) {
        waited = mem_zalloc(sizeof *waited);
        (void)strmap_set(wait->jobs, id, waited); /* was absent */
    }
    return waited;
}

static void job_ended(struct wait *wait, const char *id, const struct ad *job)
{
    struct waited *waited = waited_of(wait, id);
    if (!waited->is_over && wait->echo) {
        struct strbuf line;
        strbuf_init(&line, 0);
        wait_plan_outcome(id, job, &line);
        (void)printf("%s\n", strbuf_text(&line));
        (void)fflush(stdout); /* seen at the end, too */
        strbuf_fini(&line);
    }
    if (waited->in_queue && !waited->is_over) {
        wait->left--;
        wait->wake = wait->left == 0;
    }
    waited->is_over = true;
}

static void job_changed(void *arg, const char *key, const struct ad *ad)
{
    struct wait *wait = arg;
    struct waited *waited = waited_of(wait, key);
    if (!waited->in_queue) {
        waited->in_queue = true;
        wait->left += waited->is_over ? 0 : 1;
    }
    if (wait_plan_is_over(ad)) {
        job_ended(wait, key, ad);
    }
}

static void job_gone(void *arg, const char *key)
{
    struct wait *wait = arg;
    struct waited *waited = waited_of(wait, key);
    if (waited->in_queue) {
        waited->in_queue = false;
        wait->left -= waited->is_over ? 0 : 1;
    }
    wait->wake = true; /* those whose end was not seen are looked up at the end */
}

static void watch_synced(void *arg)
{
    struct wait *wait = arg;
    wait->wake = true;
}

static void watch_lost(void *arg)
{
    struct wait *wait = arg;
    wait->lost = true;
    wait->wake = true;
}

static void watch_refused(void *arg, int status, const char *why)
{
    struct wait *wait = arg;
    wait->refused = status;
    (void)snprintf(wait->why, sizeof wait->why, "%s", why);
    wait->wake = true;
}

static void time_over(void *arg)
{
    struct wait *wait = arg;
    wait->timed_out = true;
    wait->wake = true;
}

/* ---- the connection */

/* True for errors after which the schedd may answer again. */
static bool is_passing(int rc)
{
    static const int PASSING[] = {ECONNREFUSED, ECONNRESET, ENOENT,       ETIMEDOUT, EPIPE,
                                  ENOTCONN,     EAGAIN,     EHOSTUNREACH, ESHUTDOWN, ECONNABORTED};
    for (size_t i = 0; i < sizeof PASSING / sizeof PASSING[0]; i++) {
        if (rc == -PASSING[i]) {
            return true;
        }
    }
    return false;
}

/* Dials the schedd until it answers.  Returns 0 or an error that will not pass. */
static int connect_again(struct wait *wait, struct err *err)
{
    struct cli *cli = wait->cli;
    uint64_t begin_ms = loop_now_ms(cli->loop), delay_ms = RETRY_MS;
    int config = cli_config(cli, err);
    if (config != 0) {
        return config; /* nothing to wait for */
    }
    for (;;) {
        int rc = cli_schedd(cli, err);
        if (rc == 0) {
            wait->contact = WAIT_REACHED;
            return 0;
        }
        if (wait->contact == WAIT_UNREACHED && is_passing(rc)) {
            wait->contact = WAIT_TOLD;
            (void)cli_fail(cli, "%s; retrying for %d s", err->text, FIRST_CONTACT_MS / 1000);
        }
        bool hopeless =
            wait->contact != WAIT_REACHED && loop_now_ms(cli->loop) - begin_ms >= FIRST_CONTACT_MS;
        if (wait->timed_out || hopeless || !is_passing(rc)) {
            return rc;
        }
        cli_pause(cli, rng_jitter(loop_rng(cli->loop), delay_ms, 25));
        delay_ms = delay_ms * 2 < RETRY_MAX_MS ? delay_ms * 2 : RETRY_MAX_MS;
    }
}

/* Watches the queue until none of the jobs is left in it or the time limit is reached. */
static int follow_queue(struct wait *wait, struct err *err)
{
    for (;;) {
        wait->lost = wait->wake = false;
        int rc = connect_again(wait, err);
        if (rc != 0) {
            return wait->timed_out ? 0 : rc;
        }
        rc = watch_start(wait->watch, wait->cli->schedd);
        if (rc == -ENOTCONN) {
            continue; /* lost between the two */
        }
        if (rc != 0) {
            return err_set(err, rc, "cannot watch the schedd: %s", err_code_text(rc));
        }
        while (!wait->lost) {
            if (wait->timed_out || (watch_is_synced(wait->watch) && wait->left == 0)) {
                return 0;
            }
            if (wait->refused != 0) {
                return err_set(err, wait->refused, "%s", wait->why);
            }
            loop_run_until(wait->cli->loop, &wait->wake);
            wait->wake = false;
        }
    }
}

/* Queries the history of the schedd; asks again when the schedd goes away meanwhile. */
static int ask_history(struct wait *wait, const char *constraint, int64_t limit,
                       struct cli_reply *reply, struct err *err)
{
    static const char *const PROJECTION[] = {"ClusterId",  "ProcId",       "JobStatus", "ExitCode",
                                             "ExitSignal", "ExitBySignal", NULL};
    for (;;) {
        struct listing which = {.limit = limit};
        *reply = (struct cli_reply){0};
        int rc = connect_again(wait, err);
        if (rc == 0) {
            listing_also(&which, constraint);
            rc = listing_query(wait->cli, wait->cli->schedd, NULL, "History", &which, PROJECTION,
                               NULL, reply, err);
            listing_fini(&which);
        }
        if (rc == 0 || wait->timed_out || !is_passing(rc)) {
            return rc;
        }
        cli_reply_fini(reply);
        cli_pause(wait->cli, RETRY_MS);
    }
}

/* ---- at the end */

/* A constraint on the clusters of jobs whose end was not seen, "ClusterId == 3 || ...", owned by
 * the caller; NULL: there are none. */
static char *unseen_clusters(struct wait *wait)
{
    struct strbuf text;
    size_t at = 0;
    const char *id;
    void *value;
    int64_t last = 0;
    strbuf_init(&text, 0);
    while (strmap_next(wait->jobs, &at, &id, &value)) {
        char number[32];
        int64_t cluster = 0;
        (void)snprintf(number, sizeof number, "%.*s", (int)strcspn(id, "."), id);
        if (((struct waited *)value)->is_over || text_parse_int64(number, &cluster, NULL) != 0 ||
            cluster == last) {
            continue;
        }
        strbuf_printf(&text, "%sClusterId == %lld", text.length > 0 ? " || " : "",
                      (long long)cluster);
        last = cluster;
    }
    return text.length > 0 ? strbuf_take(&text) : NULL;
}

static int look_up_unseen(struct wait *wait, struct err *err)
{
    struct cli_reply reply;
    char *constraint = unseen_clusters(wait);
    if (constraint == NULL) {
        return 0;
    }
    int rc = ask_history(wait, constraint, 0, &reply, err);
    mem_free(constraint);
    for (size_t i = 0; rc == 0 && i < reply.ads.count; i++) {
        const struct ad *job = reply.ads.items[i];
        char id[64];
        (void)snprintf(id, sizeof id, "%lld.%lld", (long long)ad_int_or(job, "ClusterId", 0),
                       (long long)ad_int_or(job, "ProcId", 0));
        if (strmap_get(wait->jobs, id) != NULL) {
            job_ended(wait, id, job);
        }
    }
    cli_reply_fini(&reply);
    size_t at = 0;
    const char *id;
    void *value;
    while (rc == 0 && strmap_next(wait->jobs, &at, &id, &value)) {
        if (!((struct waited *)value)->is_over) {
            rc = err_set(err, -ENOENT, "job %s is neither in the queue nor in the history", id);
        }
    }
    return rc;
}

static bool was_seen(struct wait *wait, const char *word)
{
    size_t at = 0, length = strlen(word);
    const char *id;
    if (strmap_get(wait->jobs, word) != NULL) {
        return true;
    }
    while (strchr(word, '.') == NULL && strmap_next(wait->jobs, &at, &id, NULL)) {
        if (strncmp(id, word, length) == 0 && id[length] == '.') {
            return true;
        }
    }
    return false;
}

static void all_ended(struct wait *wait, const struct cli_reply *reply)
{
    for (size_t i = 0; i < reply->ads.count; i++) {
        const struct ad *job = reply->ads.items[i];
        char id[64];
        (void)snprintf(id, sizeof id, "%lld.%lld", (long long)ad_int_or(job, "ClusterId", 0),
                       (long long)ad_int_or(job, "ProcId", 0));
        job_ended(wait, id, job);
    }
}

/* Looks up named jobs that were never seen in the queue: they have ended before, or the id is
 * wrong.  A user without jobs in queue and history is an error, too; the word may be the name of a
 * missing log. */
static int look_up_named(struct wait *wait, struct err *err)
{
    for (size_t i = 0; i < wait->words.count; i++) {
        const char *word = wait->words.items[i];
        struct cli_reply reply;
        struct strbuf constraint;
        bool is_id = jobs_plan_is_id(word);
        if (is_id ? was_seen(wait, word) : strmap_count(wait->jobs) > 0) {
            continue;
        }
        strbuf_init(&constraint, 0);
        (void)jobs_plan_select(word, &constraint, NULL); /* it was taken before */
        int rc =
            ask_history(wait, strbuf_text(&constraint), wait->echo && is_id ? 0 : 1, &reply, err);
        bool found = rc == 0 && reply.ads.count > 0;
        if (rc == 0 && !found && !is_id) {
            rc = err_set(
                err, -ENOENT,
                "'%s' is neither a job, nor an existing job event log, nor a user with jobs", word);
        } else if (found && is_id) {
            all_ended(wait, &reply);
        }
        cli_reply_fini(&reply);
        strbuf_fini(&constraint);
        if (rc == 0 && !found) {
            rc = err_set(err, -ENOENT, "no such job: %s; neither the queue nor the history has it",
                         word);
        }
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

/* ---- arguments */

static int parse_one(struct wait *wait, int *at)
{
    struct cli *cli = wait->cli;
    char *arg = cli->argv[*at];
    char *next = *at + 1 < cli->argc ? cli->argv[*at + 1] : NULL;
    struct err err = {.text = "expected a time"};
    if (listing_is(arg, "timeout", 1) || listing_is(arg, "wait", 2)) {
        ++*at;
        if (next == NULL || text_parse_duration_s(next, &wait->timeout_s, &err) != 0 ||
            wait->timeout_s < 1) {
            return cli_usage(cli, "%s: %s", arg, err.text);
        }
    } else if (listing_is(arg, "echo", 1) || listing_is(arg, "verbose", 1)) {
        wait->echo = true;
    } else if (listing_is(arg, "status", 1)) {
        wait->status = true;
    } else if (listing_is(arg, "num", 1)) {
        ++*at;
        if (next == NULL || text_parse_int64(next, &wait->number, NULL) != 0 || wait->number < 1) {
            return cli_usage(cli, "%s needs a number", arg);
        }
    } else if (arg[0] == '-') {
        return cli_unknown(cli, arg);
    } else {
        vec_push(&wait->words, arg);
    }
    return CLI_OK;
}

/* Returns the first argument if it names a file, so that it is a job event log; else NULL. */
static const char *log_of(const struct wait *wait)
{
    struct os_stat st;
    const char *word = wait->words.count > 0 ? wait->words.items[0] : NULL;
    bool is_file = word != NULL && !jobs_plan_is_id(word) &&
                   os_stat(wait->cli->os, word, &st) == 0 && !st.is_dir;
    return is_file || (word != NULL && strchr(word, '/') != NULL) ? word : NULL;
}

static int follow_log(struct wait *wait, const char *path)
{
    struct wait_log which;
    int status = CLI_OK;
    wait_log_init(&which);
    which.number = wait->number;
    which.status = wait->status;
    which.echo = wait->echo;
    if (wait->words.count > 2) {
        status = cli_usage(wait->cli, "expected one job event log and at most one job id");
    } else if (wait->words.count == 2 && !wait_log_set_job(&which, wait->words.items[1])) {
        status = cli_usage(wait->cli, "'%s' is not a job id", (const char *)wait->words.items[1]);
    } else {
        status = wait_log_follow(wait->cli, path, &which, wait->timeout_s);
    }
    wait_log_fini(&which);
    return status;
}

static int parse_options(struct wait *wait, char *me, size_t size)
{
    struct cli *cli = wait->cli;
    struct err err;
    for (int i = 1; i < cli->argc; i++) {
        int status = parse_one(wait, &i);
        if (status != CLI_OK) {
            return status;
        }
    }
    if (log_of(wait) != NULL) {
        return CLI_OK;
    }
    if (wait->status || wait->number > 0) {
        return cli_usage(cli, "-status and -num need a job event log: name its file");
    }
    char *const *words = (char *const *)wait->words.items;
    size_t count = wait->words.count;
    if (count == 0) {
        if (cli_config(cli, &err) != 0 || cli_owner_name(cli, me, size, &err) != 0) {
            return cli_fail(cli, "%s; name the jobs to wait for", err.text);
        }
        words = &me;
        count = 1;
    }
    return listing_jobs(&wait->listing, words, count, &err) != 0 ? cli_usage(cli, "%s", err.text)
                                                                 : CLI_OK;
}

static int run_wait(struct wait *wait)
{
    static const struct watch_events EVENTS = {.changed = job_changed,
                                               .gone = job_gone,
                                               .synced = watch_synced,
                                               .lost = watch_lost,
                                               .refused = watch_refused};
    static const char *const PROJECTION[] = {"ClusterId",  "ProcId",       "JobStatus", "ExitCode",
                                             "ExitSignal", "ExitBySignal", NULL};
    struct cli *cli = wait->cli;
    struct err err;
    char *constraint = listing_plan_constraint(&wait->listing);
    const struct watch_spec spec = {.type = "Job",
                                    .constraint = constraint,
                                    .projection = PROJECTION};
    struct loop_timer *timer = loop_timer_create(cli->loop, time_over, wait);
    if (wait->timeout_s > 0) {
        loop_timer_set(timer, (uint64_t)wait->timeout_s * 1000);
    }
    wait->watch = watch_create(cli->loop, &spec, &EVENTS, wait);
    int rc = follow_queue(wait, &err);
    size_t left = wait->left;
    watch_destroy(wait->watch);
    if (rc == 0 && !wait->timed_out) {
        rc = look_up_unseen(wait, &err);
        rc = rc != 0 ? rc : look_up_named(wait, &err);
    }
    loop_timer_destroy(timer);
    mem_free(constraint);
    if (rc == 0 && wait->timed_out) {
        rc = err_set(&err, -ETIMEDOUT, "%zu job%s still in the queue after %lld s", left,
                     left == 1 ? " is" : "s are", (long long)wait->timeout_s);
    }
    return rc != 0 ? cli_fail(cli, "%s", err.text) : CLI_OK;
}

int cmd_wait(struct cli *cli)
{
    struct wait wait = {.cli = cli};
    char me[256];
    int status = parse_options(&wait, me, sizeof me);
    if (status == CLI_OK && log_of(&wait) != NULL) {
        status = follow_log(&wait, log_of(&wait));
    } else if (status == CLI_OK) {
        wait.jobs = strmap_create(STRMAP_CASE_SENSITIVE);
        status = run_wait(&wait);
        strmap_destroy(wait.jobs, mem_free);
    }
    listing_fini(&wait.listing);
    vec_fini(&wait.words, NULL);
    return status;
}
