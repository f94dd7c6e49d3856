/* sim/client.c - see client.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/client.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "sim/host_faults.h"
#include "sim/sim_private.h"
#include "submit/submit_making.h"
#include "wire/checkpoint_attrs.h"
#include "wire/wire.h"

#define TICK_MS   500
#define REDIAL_MS 1000

struct link { /* a connection that is made again when it ends */
    struct person *person;
    const char *address, *route;
    struct wire *wire;
    struct loop_timer *redial;
};

struct question { /* a QUERY without an answer yet */
    struct person *person;
    struct vec ads;
    uint64_t began_us;
    unsigned batch;
    struct vec *keep; /* where the ads go; NULL: into this struct */
    void (*answered)(struct question *question, int status);
};

struct person {
    struct client *client;
    struct sim *sim;
    struct sim_host *host;
    struct loop *loop;
    struct wire_context *context;
    struct link schedd, collector;
    struct loop_timer *tick;
    uint64_t next_audit_us;
    bool auditing_jobs, auditing_offline;
    struct vec queue; /* ads of the current audit */
};

/* Leaves the process's heap for a moment: what a listener keeps must not be in it.  Returns the
 * process, to enter it again. */
static struct sim_process *step_out(struct person *person)
{
    struct sim_process *was = person->sim->current;
    person->sim->current = NULL;
    return was;
}

static void step_in(struct person *person, struct sim_process *was)
{
    person->sim->current = was;
}

/* ---- connections ----------------------------------------------------------------------------- */

static void on_closed(void *arg, struct wire *wire, int status, const char *why)
{
    struct link *link = arg;
    struct person *person = link->person;
    sim_trace(person->sim, NULL, "client: %s: %d %s", link->address, status, why);
    wire_close(wire);
    if (link->wire == wire) {
        link->wire = NULL;
        loop_timer_set(link->redial, REDIAL_MS);
    }
}

static const struct wire_events WIRE_EVENTS = {.closed = on_closed};

static void dial_link(void *arg)
{
    struct link *link = arg;
    struct wire_dial how = {.address = link->address, .route = link->route, .name = ""};
    struct err err = {""};
    if (wire_dial(link->person->context, &how, &WIRE_EVENTS, link, &link->wire, &err) != 0) {
        sim_trace(link->person->sim, NULL, "client: %s", err.text);
        link->wire = NULL;
        loop_timer_set(link->redial, REDIAL_MS);
    }
}

static void link_open(struct person *person, struct link *link, const char *address,
                      const char *route)
{
    link->person = person;
    link->address = address;
    link->route = route;
    link->redial = loop_timer_create(person->loop, dial_link, link);
    dial_link(link);
}

static bool link_ready(const struct link *link)
{
    return link->wire != NULL && wire_is_ready(link->wire);
}

/* ---- questions ------------------------------------------------------------------------------- */

static void ads_free(void *ad)
{
    ad_destroy(ad);
}

static void question_reply(void *arg, struct wire_reply *reply)
{
    struct question *question = arg;
    struct vec *ads = question->keep != NULL ? question->keep : &question->ads;
    for (size_t i = 0; i < reply->ad_count; i++) {
        vec_push(ads, wire_reply_take_ad(reply, i));
    }
    if (reply->more) {
        return;
    }
    question->answered(question, reply->status);
    vec_fini(&question->ads, ads_free);
    mem_free(question);
}

static void ask_for_ads(struct person *person, struct link *link, const char *type,
                        const char *constraint, struct vec *keep,
                        void (*answered)(struct question *question, int status), unsigned batch,
                        uint64_t began_us)
{
    struct question *question = mem_zalloc(sizeof(*question));
    question->person = person;
    question->began_us = began_us;
    question->batch = batch;
    question->keep = keep;
    question->answered = answered;
    struct ad *args = ad_create();
    ad_set_string(args, "Type", type);
    if (constraint != NULL) {
        ad_set_string(args, "Constraint", constraint);
    }
    struct wire_body body = {.args = args};
    int64_t code = wire_call(link->wire, VERB_QUERY, &body, 0, question_reply, question);
    ad_destroy(args);
    if (code < 0) {
        answered(question, (int)code);
        mem_free(question);
    }
}

/* ---- auditing the jobs ----------------------------------------------------------------------- */

static void history_answered(struct question *question, int status)
{
    struct person *person = question->person;
    const struct client_events *events = &person->client->events;
    if (status == 0 && events->jobs != NULL) {
        struct sim_process *was = step_out(person);
        events->jobs(events->arg, question->began_us, (struct ad *const *)person->queue.items,
                     person->queue.count, (struct ad *const *)question->ads.items,
                     question->ads.count);
        step_in(person, was);
    }
    vec_clear(&person->queue, ads_free);
    person->auditing_jobs = false;
}

/* Continues with the history.  The queue is asked first, so that a job that moves meanwhile is seen
 * in at least one of them. */
static void queue_answered(struct question *question, int status)
{
    struct person *person = question->person;
    if (status == 0 && link_ready(&person->schedd)) {
        ask_for_ads(person, &person->schedd, "History", NULL, NULL, history_answered, 0,
                    question->began_us);
        return;
    }
    vec_clear(&person->queue, ads_free);
    person->auditing_jobs = false;
}

static void offline_answered(struct question *question, int status)
{
    struct person *person = question->person;
    const struct client_events *events = &person->client->events;
    person->auditing_offline = false;
    if (status == 0 && events->offline != NULL) {
        struct sim_process *was = step_out(person);
        events->offline(events->arg, question->began_us, (struct ad *const *)question->ads.items,
                        question->ads.count);
        step_in(person, was);
    } else if (status != 0) {
        sim_trace(person->sim, NULL, "client: asking the collector: %d", status);
    }
}

static void released(void *arg, struct wire_reply *reply)
{
    struct person *person = arg;
    if (reply->status != 0) {
        sim_trace(person->sim, NULL, "client: release: %d %s", reply->status, reply->text);
    }
}

static void release_jobs(struct person *person)
{
    struct ad *args = ad_create();
    ad_set_string(args, "Action", "Release");
    ad_set_string(args, "Constraint", "JobStatus == 5");
    const struct wire_body body = {.args = args};
    (void)wire_call(person->schedd.wire, VERB_ACT, &body, 0, released,
                    person); /* at the next audit */
    ad_destroy(args);
}

static void audit_jobs(struct person *person)
{
    uint64_t now_us = sim_now_us(person->sim);
    if (now_us < person->next_audit_us) {
        return;
    }
    person->next_audit_us = now_us + person->client->audit_us;
    if (!person->auditing_jobs && link_ready(&person->schedd)) {
        person->auditing_jobs = true;
        ask_for_ads(person, &person->schedd, "Job", NULL, &person->queue, queue_answered, 0,
                    now_us);
        if (person->client->releases) {
            release_jobs(person);
        }
    }
    if (!person->auditing_offline && link_ready(&person->collector)) {
        person->auditing_offline = true;
        ask_for_ads(person, &person->collector, "Machine", "Offline =?= true", NULL,
                    offline_answered, 0, now_us);
    }
}

/* ---- submitting ------------------------------------------------------------------------------ */

struct submission { /* or removal */
    struct person *person;
    struct client_batch *batch;
};

static void submit_reply(void *arg, struct wire_reply *reply)
{
    struct submission *submission = arg;
    struct person *person = submission->person;
    struct client_batch *batch = submission->batch;
    const struct client_events *events = &person->client->events;
    unsigned number = (unsigned)(batch - person->client->batches);
    batch->under_way = false;
    batch->acknowledged = reply->status == 0;
    sim_trace(person->sim, NULL, "client: batch %u: %d %s", number, reply->status, reply->text);
    /* While the disk is full or read-only, no new jobs are taken; whoever submits tries again. */
    bool again = reply->status == -ECONNRESET || reply->status == -ETIMEDOUT ||
                 reply->status == -ENOSPC || reply->status == -EROFS;
    if (reply->status != 0 && !again && events->refused != NULL) {
        struct sim_process *was = step_out(person);
        events->refused(events->arg, number, reply->status, reply->text);
        step_in(person, was);
    }
    mem_free(submission);
}

static struct ad *job_ad(const struct client_batch *batch, unsigned index)
{
    char text[96];
    struct ad *ad = ad_create();
    unsigned number = batch->first + index;
    (void)snprintf(text, sizeof(text), "%u 0 OUTPUT %u", batch->seconds[index], number);
    ad_set_string(ad, "Args", text);
    (void)snprintf(text, sizeof(text), "job.%u.out", number);
    ad_set_string(ad, "Out", text);
    ad_set_int(ad, "SimNumber", number);
    ad_set_int(ad, "SimFame", batch->fame);
    ad_set_int(ad, "RequestCpus", batch->cpus > 0 ? batch->cpus : 1);
    if (batch->limits != NULL) {
        ad_set_string(ad, "ConcurrencyLimits", batch->limits);
    }
    if (batch->checkpoints) {
        ad_set_bool(ad, CKPT_WANTED, true);
    }
    const char *need = checkpoint_need(ad);
    struct strbuf wants;
    strbuf_init(&wants, 0);
    strbuf_puts(&wants, "TARGET.Cpus >= RequestCpus");
    if (batch->machines != NULL) {
        strbuf_printf(&wants, " && (%s)", batch->machines);
    }
    if (need != NULL) {
        strbuf_printf(&wants, " && (%s)", need);
    }
    (void)ad_set_expr(ad, "Requirements", strbuf_text(&wants),
                      NULL); /* the scenario's text: cannot fail */
    strbuf_fini(&wants);
    return ad;
}

static void submit_batch(struct person *person, struct client_batch *batch)
{
    const struct client *client = person->client;
    struct submission *submission = mem_zalloc(sizeof(*submission));
    submission->person = person;
    submission->batch = batch;
    struct ad *args = ad_create();
    ad_set_string(args, "Cmd", batch->checkpoints ? client->steps_program : client->program);
    ad_set_string(args, "Iwd", client->directory);
    ad_set_int(args, "SimBatch", (int64_t)(batch - client->batches));
    ad_set_int(args, "SimFirst", batch->first);
    struct ad **ads = mem_alloc(batch->count * sizeof(struct ad *));
    for (unsigned i = 0; i < batch->count; i++) {
        ads[i] = job_ad(batch, i);
    }
    struct wire_body body = {.args = args,
                             .ads = (const struct ad *const *)ads,
                             .ad_count = batch->count};
    batch->under_way = true;
    batch->attempts++;
    int64_t code = wire_call(person->schedd.wire, VERB_SUBMIT, &body, 0, submit_reply, submission);
    if (code < 0) {
        batch->under_way = false;
        batch->attempts--;
        mem_free(submission);
    }
    for (unsigned i = 0; i < batch->count; i++) {
        ad_destroy(ads[i]);
    }
    mem_free(ads);
    ad_destroy(args);
}

static void batch_constraint(const struct person *person, const struct client_batch *batch,
                             char *text, size_t size)
{
    (void)snprintf(text, size, "SimBatch =?= %u", (unsigned)(batch - person->client->batches));
}

/* Returns whether what is seen in the queue is durable: while the schedd's disk takes no changes,
 * the queue shows jobs whose submission is not committed yet. */
static bool is_kept(const struct person *person)
{
    return sim_disk_fault(person->host) == 0;
}

/* ---- removing -------------------------------------------------------------------------------- */

static void removed(void *arg, struct wire_reply *reply)
{
    struct submission *removal = arg;
    struct client_batch *batch = removal->batch;
    if (reply->more) {
        return; /* the schedd goes on */
    }
    sim_trace(removal->person->sim, NULL, "client: batch %u is removed: %d %s",
              (unsigned)(batch - removal->person->client->batches), reply->status, reply->text);
    batch->under_way = false;
    batch->removed_us = reply->status == 0 ? sim_now_us(removal->person->sim) : 0;
    mem_free(removal);
}

static void remove_batch(struct person *person, struct client_batch *batch)
{
    char text[64];
    struct submission *removal = mem_zalloc(sizeof(*removal));
    removal->person = person;
    removal->batch = batch;
    struct ad *args = ad_create();
    batch_constraint(person, batch, text, sizeof(text));
    ad_set_string(args, "Action", "Remove");
    ad_set_string(args, "Constraint", text);
    const struct wire_body body = {.args = args};
    batch->under_way = true;
    if (wire_call(person->schedd.wire, VERB_ACT, &body, 0, removed, removal) < 0) {
        batch->under_way = false;
        mem_free(removal);
    }
    ad_destroy(args);
}

/* ---- looking whether a submission arrived ---------------------------------------------------- */

static void looked_up_history(struct question *question, int status)
{
    struct client_batch *batch = &question->person->client->batches[question->batch];
    batch->under_way = false;
    if (status == 0 && question->ads.count > 0) {
        batch->acknowledged = is_kept(question->person);
    } else if (status == 0 && link_ready(&question->person->schedd)) {
        submit_batch(question->person, batch);
    }
}

static void looked_up_queue(struct question *question, int status)
{
    struct person *person = question->person;
    struct client_batch *batch = &person->client->batches[question->batch];
    batch->under_way = false;
    if (status == 0 && question->ads.count > 0) {
        batch->acknowledged = is_kept(question->person);
    } else if (status == 0 && link_ready(&person->schedd)) {
        char text[64];
        batch_constraint(person, batch, text, sizeof(text));
        batch->under_way = true;
        ask_for_ads(person, &person->schedd, "History", text, NULL, looked_up_history,
                    question->batch, 0);
    }
}

static void on_tick(void *arg)
{
    struct person *person = arg;
    struct client *client = person->client;
    uint64_t now_us = sim_now_us(person->sim);
    loop_timer_set(person->tick, TICK_MS);
    for (size_t i = 0; i < client->batch_count && link_ready(&person->schedd); i++) {
        struct client_batch *batch = &client->batches[i];
        if (batch->under_way || batch->at_us > now_us) {
            continue;
        }
        if (batch->acknowledged) {
            if (batch->remove_us > 0 && batch->remove_us <= now_us && batch->removed_us == 0) {
                remove_batch(person, batch);
            }
            continue;
        }
        if (batch->attempts == 0) {
            submit_batch(person, batch);
        } else {
            char text[64];
            batch_constraint(person, batch, text, sizeof(text));
            batch->under_way = true;
            ask_for_ads(person, &person->schedd, "Job", text, NULL, looked_up_queue, (unsigned)i,
                        0);
        }
    }
    audit_jobs(person);
}

/* ---- life ------------------------------------------------------------------------------------ */

static int client_start(const struct sim_env *env, void **state)
{
    struct person *person = mem_zalloc(sizeof(*person));
    struct client *client = (struct client *)(uintptr_t)env->program->data;
    struct err err = {""};
    person->client = client;
    person->sim = env->sim;
    person->host = sim_process_host(env->process);
    person->loop = env->loop;
    for (size_t i = 0; i < client->batch_count; i++) {
        client->batches[i].under_way = false;
    }
    struct wire_context_options options = {.loop = env->loop,
                                           .os = env->os,
                                           .token_path = client->token_path,
                                           .ca_file = client->ca_path,
                                           .uid_domain = "pool",
                                           .admin_uid = 1000};
    if (wire_context_create(&options, &person->context, &err) != 0) {
        sim_trace(env->sim, env->process, "%s", err.text);
        return 1;
    }
    *state = person;
    link_open(person, &person->schedd, client->schedd_socket, "schedd");
    link_open(person, &person->collector, client->collector_address, "collector");
    person->tick = loop_timer_create(env->loop, on_tick, person);
    loop_timer_set(person->tick, TICK_MS);
    return SIM_STAYS;
}

const struct sim_program sim_program_client = {.name = "client", .start = client_start};

void client_program(struct sim_program *program, struct client *client)
{
    *program = sim_program_client;
    program->data = client;
}
