/* bench/submit_speed.c - `roost submit`: a cluster of 10,000 jobs, and one job again and again.
 *
 * A schedd process of its own, asked over its Unix socket.  Each job of the cluster has arguments,
 * output and error of its own.  What one job costs is taken in turns with `roost --version`, which
 * is the start of a command and nothing else.
 *
 * Environment: ROOST_BIN (needed), BENCH_JOBS, BENCH_TRIES, BENCH_SINGLES, BENCH_KEEP=1 leaves the
 * directory.
 *
 * SHORT: BENCH_JOBS=100 BENCH_TRIES=1 BENCH_SINGLES=3
 * LINK: cli wire offline_ads classad base
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench/command_speed.h"

#define TARGET_ONE_MS 4.0 /* of one job, above `roost --version` */
#define SETTINGS      "MAX_JOBS_PER_OWNER = 2000000\nMAX_JOBS_PER_SUBMISSION = 2000000\n"

static void write_description(const char *path, const char *directory, int jobs)
{
    FILE *file = fopen(path, "w");
    CHECK(file != NULL &&
          fprintf(file,
                  "executable = /bin/true\ninitialdir = %s\narguments = $(Process)\n"
                  "output = out.$(Process)\nerror = err.$(Process)\nlog = job.log\n"
                  "request_memory = 100\nqueue %d\n",
                  directory, jobs) > 0 &&
          fclose(file) == 0);
}

static double wall_ms(struct bench *bench, const char *const *argv)
{
    struct cost cost;
    if (run(bench, argv, &cost) != 0) {
        fail(bench, argv[1], NULL);
    }
    return cost.wall_ms;
}

static void submit_singles(struct bench *bench, const char *path, int singles)
{
    static const char *const VERSION[] = {"roost", "--version", NULL};
    const char *const submit[] = {"roost", "submit", path, NULL};
    double version[TRIES_MAX], one[TRIES_MAX];
    for (int i = 0; i < singles; i++) {
        version[i] = wall_ms(bench, VERSION);
        one[i] = wall_ms(bench, submit);
    }
    double start_ms = median(version, singles), all_ms = median(one, singles);
    (void)printf("BENCH %s_one %.1f ms ratio %.1f vs roost_version\n", bench->what, all_ms,
                 all_ms / start_ms);
    (void)printf("BENCH %s_one_over_version %.1f ms ratio %.2f vs target %.0f ms\n", bench->what,
                 all_ms - start_ms, (all_ms - start_ms) / TARGET_ONE_MS, TARGET_ONE_MS);
}

int main(void)
{
    struct bench bench = {.what = "submit",
                          .server_name = "schedd",
                          .bin = getenv("ROOST_BIN"),
                          .tries = number("BENCH_TRIES", 7, TRIES_MAX)};
    char many[500], one[500];
    bench_begin(&bench);
    bench_serve(&bench, "roost-schedd", SETTINGS, cli_schedd);
    (void)snprintf(many, sizeof many, "%s/many.sub", bench.dir);
    (void)snprintf(one, sizeof one, "%s/one.sub", bench.dir);
    write_description(many, bench.dir, number("BENCH_JOBS", 10000, 1000000));
    write_description(one, bench.dir, 1);
    measure_nothing(&bench);
    const char *const submit[] = {"roost", "submit", many, NULL};
    measure(&bench, "cluster", submit, bench.nothing_ms, "/bin/true");
    submit_singles(&bench, one, number("BENCH_SINGLES", 100, TRIES_MAX));
    bench_end(&bench);
    return 0;
}
