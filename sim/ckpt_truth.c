/* sim/ckpt_truth.c - see ckpt_truth.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/ckpt_truth.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "classad/ad.h"
#include "sim/check.h"
#include "sim/sim_private.h"
#include "sim/tap.h"
#include "sim/work_sim.h"
#include "wire/checkpoint_attrs.h"

#define DIRECTORY_NAME "ROOST_STARTER_DIR="
/* a lease, and the time until all are connected again */
#define HEALS_US    (150 * SIM_S)
#define CLOCK_S     2 /* difference between clocks, with rounding */
#define HEARD_MAX   8
#define RUN_SPARE_S 2 /* for each run: its length is rounded down */

struct made { /* an image that was made */
    struct sim_image image;
    int64_t epoch, sequence; /* epoch of the run; sequence in the file's name */
    uint64_t starter;        /* serial of the starter */
    uint64_t at_us;
    int64_t wall_s;
    bool told, committed; /* the schedd was told of the image; the schedd has committed it */
    uint64_t committed_us;
    /* the submit host's clock when the schedd was told, and when it answered */
    int64_t heard_s[HEARD_MAX];
    unsigned heard_count;
};

struct job {
    struct made *made;
    size_t made_count;
    uint64_t best_us; /* the most work that a process of the job ever had done */
    unsigned runs;
    int64_t committed_s; /* last value of CommittedTime */
    uint64_t began_us;   /* start of the first run */
    char id[32];         /* job id such as "12.3"; "": not known yet */
};

struct window {
    uint64_t from_us, until_us;
};

struct ckpt_truth {
    struct ckpt_truth_options options;
    struct sim *sim;
    struct judge *judge;
    struct tap *tap;
    struct job *jobs;
    struct window *windows; /* sorted by time; they do not overlap */
    size_t window_count;
    struct ckpt_figures figures;
};

/* ---- runs, by the names of their directories ------------------------------------------------- */

struct run { /* a run, from its directory's name: .../dir_slot1_12.3_4 */
    char id[32];
    int64_t epoch;
};

static bool run_of(const struct sim_process *process, struct run *ret)
{
    const size_t length = sizeof(DIRECTORY_NAME) - 1;
    const char *directory = NULL;
    for (size_t i = 0; process->env[i] != NULL; i++) {
        directory = strncmp(process->env[i], DIRECTORY_NAME, length) == 0 ? process->env[i] + length
                                                                          : directory;
    }
    const char *epoch = directory != NULL ? strrchr(directory, '_') : NULL;
    const char *id = epoch;
    while (id != NULL && id > directory && id[-1] != '_') {
        id--;
    }
    if (id == NULL || epoch - id >= (long)sizeof(ret->id)) {
        return false;
    }
    (void)snprintf(ret->id, sizeof(ret->id), "%.*s", (int)(epoch - id), id);
    ret->epoch = strtoll(epoch + 1, NULL, 10);
    return true;
}

static struct job *job_of(struct ckpt_truth *truth, unsigned number)
{
    return number < truth->options.jobs ? &truth->jobs[number] : NULL;
}

static unsigned number_of(const struct ckpt_truth *truth, const struct job *job)
{
    return (unsigned)(job - truth->jobs);
}

/* Finds a job by the id that its first process reported. */
static struct job *job_by_id(struct ckpt_truth *truth, const char *id)
{
    for (unsigned i = 0; i < truth->options.jobs; i++) {
        if (strcmp(truth->jobs[i].id, id) == 0) {
            return &truth->jobs[i];
        }
    }
    return NULL;
}

static struct made *find_made(struct job *job, int64_t epoch, int64_t sequence)
{
    for (size_t i = job->made_count; i > 0; i--) {
        struct made *made = &job->made[i - 1];
        if (made->epoch == epoch && made->sequence == sequence) {
            return made;
        }
    }
    return NULL;
}

/* Returns the committed image with the most work, of runs before that epoch; NULL: none. */
static const struct made *best_kept(const struct job *job, int64_t before_epoch)
{
    const struct made *best = NULL;
    for (size_t i = 0; i < job->made_count; i++) {
        const struct made *made = &job->made[i];
        if (made->committed && made->epoch < before_epoch &&
            (best == NULL || sim_image_done_us(&made->image) > sim_image_done_us(&best->image))) {
            best = made;
        }
    }
    return best;
}

/* ---- trouble --------------------------------------------------------------------------------- */

void ckpt_truth_trouble(struct ckpt_truth *truth, uint64_t for_us)
{
    uint64_t now_us = sim_now_us(truth->sim), until_us = now_us + for_us + HEALS_US;
    struct window *last = truth->window_count > 0 ? &truth->windows[truth->window_count - 1] : NULL;
    if (last != NULL && last->until_us >= now_us) {
        last->until_us = last->until_us > until_us ? last->until_us : until_us;
        return;
    }
    truth->windows = sim_realloc(truth->windows, (truth->window_count + 1) * sizeof(*last));
    truth->windows[truth->window_count++] = (struct window){now_us, until_us};
}

static uint64_t trouble_between(const struct ckpt_truth *truth, uint64_t from_us, uint64_t until_us)
{
    uint64_t sum_us = 0;
    for (size_t i = 0; i < truth->window_count; i++) {
        const struct window *window = &truth->windows[i];
        uint64_t low = window->from_us > from_us ? window->from_us : from_us;
        uint64_t high = window->until_us < until_us ? window->until_us : until_us;
        sum_us += high > low ? high - low : 0;
    }
    return sum_us;
}

/* ---- jobs and images ------------------------------------------------------------------------- */

static void image_made(void *arg, struct sim_process *dumper, const struct sim_process *process,
                       const struct sim_image *image)
{
    struct ckpt_truth *truth = arg;
    struct job *job = job_of(truth, image->number);
    const char *name = strrchr(sim_process_arg(dumper, 3), '.');
    struct run run;
    if (job == NULL || name == NULL || !run_of(process, &run)) {
        return;
    }
    job->made = sim_realloc(job->made, (job->made_count + 1) * sizeof(*job->made));
    const struct sim_process *starter = sim_process_find(dumper->host, dumper->parent);
    job->made[job->made_count++] = (struct made){.image = *image,
                                                 .epoch = run.epoch,
                                                 .sequence = strtoll(name + 1, NULL, 10),
                                                 .starter = starter != NULL ? starter->serial : 0,
                                                 .at_us = sim_now_us(truth->sim),
                                                 .wall_s = sim_host_wall_ms(dumper->host) / 1000};
    truth->figures.made++;
    truth->figures.deltas += image->base_id != 0 ? 1 : 0;
}

static const struct made *made_of_id(const struct job *job, uint64_t id)
{
    for (size_t i = 0; i < job->made_count; i++) {
        if (job->made[i].image.id == id) {
            return &job->made[i];
        }
    }
    return NULL;
}

/* Checks how much work is repeated because the run before ended. */
static void judge_loss(struct ckpt_truth *truth, struct job *job, uint64_t done_us,
                       uint64_t since_us)
{
    const uint64_t max_us = truth->options.loss_max_us, now_us = sim_now_us(truth->sim);
    uint64_t lost_us = job->best_us > done_us ? job->best_us - done_us : 0;
    if (job->runs == 0) {
        return;
    }
    truth->figures.lost_runs += lost_us > 0 ? 1 : 0;
    truth->figures.lost_us += lost_us;
    truth->figures.worst_us = lost_us > truth->figures.worst_us ? lost_us : truth->figures.worst_us;
    uint64_t may_us = max_us + trouble_between(truth, since_us, now_us);
    if (max_us > 0 && lost_us > may_us) {
        judge_broken(truth->judge,
                     "work_lost: job %u had done %.1f s and begins with %.1f: %.1f s are allowed",
                     number_of(truth, job), (double)job->best_us / 1e6, (double)done_us / 1e6,
                     (double)may_us / 1e6);
    }
}

static void job_started(void *arg, struct sim_process *process, const char *key)
{
    struct ckpt_truth *truth = arg;
    struct sim_image image;
    struct run run;
    (void)key;
    if (!sim_work_look(process, &image) || !run_of(process, &run)) {
        return;
    }
    struct job *job = job_of(truth, image.number);
    if (job != NULL && job->id[0] == '\0' && image.id == 0) {
        (void)snprintf(job->id, sizeof(job->id), "%s", run.id);
        job->began_us = sim_now_us(truth->sim);
    }
    if (job == NULL || strcmp(job->id, run.id) != 0) {
        judge_broken(truth->judge, "ckpt_foreign: a run of job %s goes on with job %u", run.id,
                     image.number);
        return;
    }
    uint64_t done_us = sim_image_done_us(&image);
    const struct made *from = image.id != 0 ? made_of_id(job, image.id) : NULL;
    const struct made *kept = best_kept(job, run.epoch);
    if (kept != NULL && done_us < sim_image_done_us(&kept->image)) {
        judge_broken(truth->judge,
                     "ckpt_lost: job %u begins its run %" PRId64 " with %.1f s; checkpoint %" PRId64
                     " of run %" PRId64 " has %.1f",
                     image.number, run.epoch, (double)done_us / 1e6, kept->sequence, kept->epoch,
                     (double)sim_image_done_us(&kept->image) / 1e6);
    }
    judge_loss(truth, job, done_us, from != NULL ? from->at_us : job->began_us);
    job->runs++;
    truth->figures.starts++;
    truth->figures.resumed += from != NULL ? 1 : 0;
}

static void job_ended(void *arg, struct sim_process *process, const char *key, bool finished)
{
    struct ckpt_truth *truth = arg;
    struct sim_image image;
    (void)key;
    (void)finished;
    struct job *job = sim_work_look(process, &image) ? job_of(truth, image.number) : NULL;
    uint64_t done_us = job != NULL ? sim_image_done_us(&image) : 0;
    if (job != NULL && done_us > job->best_us) {
        job->best_us = done_us;
    }
}

/* ---- committed images ------------------------------------------------------------------------ */

static void commit_image(struct ckpt_truth *truth, struct job *job, struct made *made)
{
    const struct made *kept = best_kept(job, INT64_MAX);
    if (kept != NULL && sim_image_done_us(&made->image) < sim_image_done_us(&kept->image)) {
        judge_broken(truth->judge,
                     "ckpt_backwards: job %u: checkpoint %" PRId64 " with %.1f s is committed "
                     "after one with %.1f",
                     number_of(truth, job), made->sequence,
                     (double)sim_image_done_us(&made->image) / 1e6,
                     (double)sim_image_done_us(&kept->image) / 1e6);
    }
    truth->figures.committed += made->committed ? 0 : 1;
    made->committed_us = made->committed ? made->committed_us : sim_now_us(truth->sim);
    made->committed = true;
}

static void status_seen(struct ckpt_truth *truth, const struct tap_message *message)
{
    const struct ad *args = message->is_reply ? message->request : message->args;
    const char *event = ad_string_or(args, "Event", "");
    struct job *job = job_by_id(truth, ad_string_or(args, "JobId", ""));
    if (job == NULL) {
        return;
    }
    if (strcmp(event, CKPT_EVENT_REFUSED) == 0 && ad_bool_or(args, "Damaged", false)) {
        judge_broken(truth->judge, "ckpt_damaged: job %u: %s", number_of(truth, job),
                     ad_string_or(args, "Reason", ""));
    }
    struct made *made =
        strcmp(event, CKPT_EVENT_TAKEN) != 0
            ? NULL
            : find_made(job, ad_int_or(args, "ClaimEpoch", -1), ad_int_or(args, CKPT_SEQUENCE, -1));
    if (made != NULL) {
        made->heard_s[made->heard_count++ % HEARD_MAX] =
            sim_host_wall_ms(sim_host_at(truth->sim, 0)) / 1000;
    }
    if (made != NULL && !message->is_reply) {
        made->told = true;
    } else if (made != NULL && message->status == 0) {
        commit_image(truth, job, made);
    }
}

static void note_told(struct ckpt_truth *truth, const struct job *job, const struct made *made)
{
    if (!made->committed) {
        judge_broken(truth->judge,
                     "ckpt_unkept: job %u: checkpoint %" PRId64
                     " is said to be kept, and the schedd does not have it",
                     number_of(truth, job), made->sequence);
    }
}

/* Notes that a starter was told that an image is committed. */
static void done_seen(struct ckpt_truth *truth, const struct tap_message *message)
{
    if (!message->is_reply || message->status != 0) {
        return;
    }
    int64_t sequence = ad_int_or(message->request, CKPT_SEQUENCE, -1);
    const struct made *latest = NULL;
    const struct job *of = NULL;
    for (unsigned i = 0; i < truth->options.jobs; i++) {
        const struct job *job = &truth->jobs[i];
        for (size_t k = 0; k < job->made_count; k++) {
            const struct made *made = &job->made[k];
            if (made->starter == message->asker_serial && made->sequence == sequence &&
                (latest == NULL || made->at_us > latest->at_us)) {
                latest = made;
                of = job;
            }
        }
    }
    if (latest != NULL) {
        note_told(truth, of, latest);
    }
}

void ckpt_truth_told(struct ckpt_truth *truth, const char *id, int64_t sequence)
{
    const struct job *job = job_by_id(truth, id);
    const struct made *latest = NULL;
    for (size_t i = 0; job != NULL && i < job->made_count; i++) {
        latest = job->made[i].sequence == sequence ? &job->made[i] : latest;
    }
    if (latest != NULL) {
        note_told(truth, job, latest);
    }
}

static void message_seen(void *arg, const struct tap_message *message)
{
    struct ckpt_truth *truth = arg;
    if (message->verb == VERB_JOB_STATUS) {
        status_seen(truth, message);
    } else if (message->verb == VERB_CKPT_DONE) {
        done_seen(truth, message);
    }
}

/* ---- counts ---------------------------------------------------------------------------------- */

struct counts {
    int64_t committed, told; /* generations of images */
    int64_t latest;          /* the latest of the generations committed before a given time */
};

static void count_generations(const struct job *job, uint64_t before_us, struct counts *ret)
{
    *ret = (struct counts){0};
    for (size_t i = 0; i < job->made_count; i++) {
        const struct made *made = &job->made[i];
        bool is_last = true; /* of its generation: one is made again where it was refused */
        for (size_t k = i + 1; k < job->made_count; k++) {
            is_last = is_last && (job->made[k].epoch != made->epoch ||
                                  job->made[k].sequence != made->sequence);
        }
        ret->committed += is_last && made->committed && made->committed_us < before_us ? 1 : 0;
        ret->told += is_last && (made->told || made->committed) ? 1 : 0;
        if (made->committed && made->committed_us < before_us && made->sequence > ret->latest) {
            ret->latest = made->sequence;
        }
    }
}

/* Returns whether the schedd heard of the image when its clock showed that: it takes its own time
 * if that of the machine cannot be right. */
static bool was_heard_at(const struct made *made, int64_t wall_s)
{
    for (unsigned i = 0; i < HEARD_MAX && i < made->heard_count; i++) {
        int64_t late_s = wall_s - made->heard_s[i];
        if (late_s >= -CLOCK_S && late_s <= CLOCK_S) {
            return true;
        }
    }
    return false;
}

/* Returns whether an image was made at that time, or the schedd heard then of the start of the
 * image's run. */
static bool was_made_at(const struct ckpt_truth *truth, const struct job *job, int64_t wall_s)
{
    for (size_t i = 0; i < job->made_count; i++) {
        const struct made *made = &job->made[i];
        uint64_t until_us = made->committed ? made->committed_us : sim_now_us(truth->sim);
        bool is_troubled = trouble_between(truth, job->began_us, until_us) > 0;
        int64_t late_s = is_troubled ? (int64_t)((until_us - made->at_us) / SIM_S) : 0;
        bool is_at = wall_s >= made->wall_s - CLOCK_S && wall_s <= made->wall_s + late_s + CLOCK_S;
        if (made->told && (is_at || was_heard_at(made, wall_s))) {
            return true;
        }
    }
    return false;
}

static void books_broken(struct ckpt_truth *truth, unsigned number, const char *name, int64_t has,
                         int64_t low, int64_t high)
{
    judge_broken(truth->judge,
                 "books_wrong: job %u: %s is %" PRId64 ", and should be %" PRId64 " to %" PRId64,
                 number, name, has, low, high);
}

/* Checks that the committed time only grows, and in the end is the whole work. */
static void check_time(struct ckpt_truth *truth, unsigned number, const struct ad *ad)
{
    struct job *job = &truth->jobs[number];
    int64_t time_s = ad_int_or(ad, "CommittedTime", 0);
    bool is_over = ad_int_or(ad, "JobStatus", 0) == 4;
    int64_t low_s = job->committed_s;
    /* A run whose start was told late is as long as the schedd knew of it. */
    uint64_t trouble_us = trouble_between(truth, job->began_us, sim_now_us(truth->sim));
    int64_t work_s = (int64_t)truth->options.seconds[number] - (int64_t)job->runs * RUN_SPARE_S -
                     1 - (int64_t)(trouble_us / SIM_S);
    low_s = is_over && work_s > low_s ? work_s : low_s;
    if (time_s < low_s) {
        books_broken(truth, number, "CommittedTime", time_s, low_s, INT64_MAX);
    }
    job->committed_s = time_s;
}

void ckpt_truth_seen(struct ckpt_truth *truth, uint64_t began_us, unsigned number,
                     const struct ad *ad)
{
    struct job *job = job_of(truth, number);
    struct counts counts;
    if (job == NULL || !ad_bool_or(ad, CKPT_WANTED, false)) {
        return;
    }
    count_generations(job, began_us, &counts);
    int64_t has = ad_int_or(ad, CKPT_NUMBER, 0), status = ad_int_or(ad, "JobStatus", 0);
    if (has < counts.committed || has > counts.told) {
        books_broken(truth, number, CKPT_NUMBER, has, counts.committed, counts.told);
    }
    if (has > 0 && !was_made_at(truth, job, ad_int_or(ad, CKPT_LAST_TIME, 0))) {
        books_broken(truth, number, CKPT_LAST_TIME, ad_int_or(ad, CKPT_LAST_TIME, 0), 0, 0);
    }
    int64_t sequence = ad_int_or(ad, CKPT_SEQUENCE, 0);
    if ((status == 1 || status == 2 || status == 5) && sequence < counts.latest) {
        books_broken(truth, number, CKPT_SEQUENCE, sequence, counts.latest, INT64_MAX);
    }
    check_time(truth, number, ad);
}

/* Checks that the output has a line for each step, in order, once. */
bool ckpt_truth_is_output(const struct ckpt_truth *truth, unsigned number, const char *text)
{
    uint64_t steps = truth->options.seconds[number] * SIM_S / SIM_STEP_US;
    char line[48];
    for (uint64_t i = 1; i <= steps; i++) {
        int length = snprintf(line, sizeof(line), "%u %" PRIu64 "\n", number, i);
        if (strncmp(text, line, (size_t)length) != 0) {
            return false;
        }
        text += length;
    }
    return *text == '\0';
}

/* ---- the end --------------------------------------------------------------------------------- */

static void path_of(const struct sim_node *node, struct strbuf *ret)
{
    if (node->parent != NULL) {
        path_of(node->parent, ret);
        strbuf_printf(ret, "/%s", node->name);
    }
}

static void look_below(struct ckpt_truth *truth, const struct sim_node *node)
{
    static const char MARK[] = "#!/sim/" SIM_IMAGE_PROGRAM "\n";
    bool is_image = node->type == SIM_FILE && node->size >= sizeof(MARK) &&
                    memcmp(node->data, MARK, sizeof(MARK) - 1) == 0;
    if (is_image ||
        (node->type == SIM_DIR && node->name != NULL && strncmp(node->name, "dir_slot", 8) == 0)) {
        struct strbuf path;
        strbuf_init(&path, 0);
        path_of(node, &path);
        judge_broken(truth->judge, "image_left: %s: %s", node->host->name, strbuf_text(&path));
        strbuf_fini(&path);
    }
    for (size_t i = 0; i < node->child_count; i++) {
        look_below(truth, node->children[i]);
    }
}

void ckpt_truth_finish(struct ckpt_truth *truth)
{
    for (size_t i = 0; i < truth->sim->host_count; i++) {
        if (!truth->sim->hosts[i]->unclean) { /* else nobody could remove anything there yet */
            look_below(truth, truth->sim->hosts[i]->root);
        }
    }
}

const struct ckpt_figures *ckpt_truth_figures(const struct ckpt_truth *truth)
{
    return &truth->figures;
}

/* ---- life ------------------------------------------------------------------------------------ */

struct ckpt_truth *ckpt_truth_create(const struct ckpt_truth_options *options)
{
    static const enum wire_verb VERBS[] = {VERB_JOB_STATUS, VERB_CKPT_DONE, VERB_NONE};
    struct ckpt_truth *truth = sim_alloc(sizeof(*truth));
    truth->options = *options;
    truth->jobs = sim_alloc((options->jobs + 1) * sizeof(*truth->jobs));
    truth->tap = tap_create(VERBS, message_seen, truth);
    return truth;
}

void ckpt_truth_destroy(struct ckpt_truth *truth)
{
    for (unsigned i = 0; i < truth->options.jobs; i++) {
        sim_free(truth->jobs[i].made);
    }
    tap_destroy(truth->tap);
    sim_free(truth->jobs);
    sim_free(truth->windows);
    sim_free(truth);
}

void ckpt_truth_observe(struct ckpt_truth *truth, struct sim_observer *observer)
{
    *observer = (struct sim_observer){.job_started = job_started,
                                      .job_ended = job_ended,
                                      .image_made = image_made,
                                      .arg = truth};
}

struct tap *ckpt_truth_tap(struct ckpt_truth *truth)
{
    return truth->tap;
}

void ckpt_truth_begin(struct ckpt_truth *truth, struct sim *sim, struct judge *judge)
{
    truth->sim = sim;
    truth->judge = judge;
}
