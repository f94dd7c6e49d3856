/* bench/q_speed.c - `roost q` on 100,000 jobs: the whole process, and the schedd's part.
 *
 * A schedd process of its own, asked over its Unix socket; clusters of 1,000 jobs, each job with
 * Arguments of its own, then again with jobs that have nothing of their own (BENCH_ALIKE=1: only
 * these).  An eighth of the jobs is held.  Before that: what they cost the schedd, in private
 * memory of its process.
 *
 * Environment: ROOST_BIN (needed), BENCH_JOBS, BENCH_TRIES, BENCH_KEEP=1 leaves the directory,
 * BENCH_HOLD=SECONDS only fills the queue and holds it for a profiler.
 *
 * SHORT: BENCH_JOBS=1000 BENCH_TRIES=1
 * LINK: cli wire offline_ads classad base
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench/command_speed.h"
#include "bench/private_memory.h"

#define CLUSTER_JOBS 1000
#define JOB_BYTES    300 /* an idle job in the schedd */
#define SETTINGS     "MAX_JOBS_PER_OWNER = 2000000\nMAX_JOBS_PER_SUBMISSION = 2000000\n"

static void ask(struct bench *bench, enum wire_verb verb, const struct wire_body *body)
{
    struct cli_reply reply;
    struct err err;
    if (cli_call(&bench->cli, bench->cli.schedd, NULL, verb, body, 0, &reply, &err) != 0) {
        fail(bench, wire_verb_name(verb), &err);
    }
    cli_reply_fini(&reply);
}

static struct ad *cluster_ad(int number)
{
    struct ad *ad = ad_create();
    struct err err;
    char name[32];
    (void)snprintf(name, sizeof name, "batch%d", number);
    ad_set_string(ad, "Cmd", "/bin/true");
    ad_set_string(ad, "Iwd", "/tmp");
    ad_set_string(ad, "JobBatchName", name);
    ad_set_string(ad, "Environment", "PATH=/usr/bin:/bin HOME=/tmp LANG=C.UTF-8");
    ad_set_string(ad, "TransferInput", "data.csv,model.bin,run.py");
    ad_set_int(ad, "RequestMemory", 1024);
    CHECK(ad_set_expr(ad, "RequestDisk", "MAX({1024, DiskUsage}) * 2", &err) == 0);
    ad_set_int(ad, "TotalSubmitProcs", CLUSTER_JOBS);
    return ad;
}

static void fill(struct bench *bench, int jobs, bool alike)
{
    for (int i = 0; i < jobs / CLUSTER_JOBS; i++) {
        struct ad *own[CLUSTER_JOBS];
        struct ad *args = cluster_ad(i);
        struct wire_body body = {.args = args};
        if (alike) {
            ad_set_int(args, "ProcCount", CLUSTER_JOBS);
        } else {
            body.ads = (const struct ad *const *)own;
            body.ad_count = CLUSTER_JOBS;
        }
        for (int proc = 0; proc < (int)body.ad_count; proc++) {
            char text[64];
            (void)snprintf(text, sizeof text, "--seed %d --case %d", i, proc);
            own[proc] = ad_create();
            ad_set_string(own[proc], "Args", text);
        }
        ask(bench, VERB_SUBMIT, &body);
        for (size_t proc = 0; proc < body.ad_count; proc++) {
            ad_destroy(own[proc]);
        }
        ad_destroy(args);
    }
}

static void hold_some(struct bench *bench)
{
    struct ad *args = ad_create();
    ad_set_string(args, "Action", "Hold");
    ad_set_string(args, "Constraint", "ClusterId % 8 == 0");
    const struct wire_body body = {.args = args};
    ask(bench, VERB_ACT, &body);
    ad_destroy(args);
}

static void measure_all(struct bench *bench, const char *suffix)
{
    static const struct {
        const char *name;
        const char *argv[8];
        double target_ms;
    } KINDS[] = {
        {"batches", {"roost", "q", "-allusers"}, 20},
        {"totals", {"roost", "q", "-totals", "-allusers"}, 20},
        {"rows", {"roost", "q", "-nobatch", "-allusers"}, 150},
        {"mine", {"roost", "q"}, 20},
        {"one", {"roost", "q", "8.3", "-nobatch"}, 6},
        {"hold", {"roost", "q", "-hold", "-allusers"}, 150},
        {"af", {"roost", "q", "-allusers", "-af", "ClusterId", "ProcId", "JobStatus"}, 150},
        {"constraint", {"roost", "q", "-nobatch", "-constraint", "ProcId == 7"}, 150},
    };
    for (size_t i = 0; i < ARRAY_COUNT(KINDS); i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "%s%s", KINDS[i].name, suffix);
        measure(bench, name, KINDS[i].argv, KINDS[i].target_ms, "what was asked for");
    }
}

int main(void)
{
    struct bench bench = {.bin = getenv("ROOST_BIN"),
                          .what = "q",
                          .server_name = "schedd",
                          .tries = number("BENCH_TRIES", 9, TRIES_MAX)};
    int jobs = number("BENCH_JOBS", 100000, 1000000);
    bool alike = getenv("BENCH_ALIKE") != NULL;
    bench_begin(&bench);
    bench_serve(&bench, "roost-schedd", SETTINGS, cli_schedd);
    double before_kb = private_kb(bench.server);
    fill(&bench, jobs, alike);
    double bytes = (private_kb(bench.server) - before_kb) * 1024 / jobs;
    (void)printf("BENCH q_job_bytes%s %.0f B ratio %.2f vs %d B\n", alike ? "_alike" : "", bytes,
                 bytes / JOB_BYTES, JOB_BYTES);
    hold_some(&bench);
    if (getenv("BENCH_HOLD") != NULL) {
        bench_hold(&bench);
    } else {
        measure_nothing(&bench);
        measure_all(&bench, alike ? "_alike" : "");
    }
    bench_end(&bench);
    return 0;
}
