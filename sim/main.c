/* sim/main.c - roost-sim: days of a simulated pool, one per seed.
 *
 *     roost-sim [--seed N | --seeds A-B] [--parallel N] [--nodes N] [--jobs N] [--calm] [--pause S]
 *               [--power HOURS [--queue] | --checkpoints | --hasty | --faults KIND |
 *                --factory [--sites N] [--glideins N]] [--stop] [--trace]
 *
 * --power HOURS: machines that sleep, not all of them sound (power_days.h), instead of a day of
 * chaos.
 * --queue: these machines sleep and wake by figures of the queue.
 * --checkpoints: jobs that are evicted and go on elsewhere (ckpt_days.h).
 * --factory: a pool without machines whose factory has sites start glideins (factory_days.h).
 * --hasty: nothing breaks, but jobs are held and released, and machines drained, without a pause.
 * --faults KIND: beside the chaos, faults that last (faults.h): fork, memory, keeper, still, disk,
 * rows, names, client, or all; with --calm, without the chaos.
 * --pause S: at most S seconds between two things that go wrong (default: by seed); --calm: nothing
 * does. Exit status 0: no promise was broken; 1: one was (which, in which seed, and the last events
 * are on stdout); 2 usage.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "sim/factory_days.h"
#include "sim/faults.h"
#include "sim/power_days.h"
#include "sim/seeds.h"

static int print_usage(void)
{
    (void)fprintf(
        stderr,
        "usage: roost-sim [--seed N | --seeds A-B] [--parallel N] [--nodes N] "
        "[--jobs N] [--calm] [--pause S] [--power HOURS [--queue] | --checkpoints | --hasty | "
        "--faults KIND | --factory [--sites N] [--glideins N]] [--stop] [--trace]\n");
    return 2;
}

static bool parse_number(const char *text, uint64_t max, uint64_t *ret)
{
    int64_t value = 0;
    if (text == NULL || text_parse_int64(text, &value, NULL) != 0 || value < 0 ||
        (uint64_t)value > max) {
        return false;
    }
    *ret = (uint64_t)value;
    return true;
}

static bool parse_range(const char *text, uint64_t *first, uint64_t *last)
{
    unsigned long long a = 0, b = 0;
    char rest = '\0';
    if (text == NULL || sscanf(text, "%llu-%llu%c", &a, &b, &rest) != 2 || a > b) {
        return false;
    }
    *first = a;
    *last = b;
    return true;
}

static bool parse_options(int argc, char **argv, struct seeds *ret)
{
    uint64_t value = 0;
    for (int i = 1; i < argc; i++) {
        const char *next = i + 1 < argc ? argv[i + 1] : NULL;
        bool taken = true;
        if (strcmp(argv[i], "--calm") == 0) {
            ret->pool.chaos = false;
            taken = false;
        } else if (strcmp(argv[i], "--checkpoints") == 0) {
            ret->checkpoints = true;
            taken = false;
        } else if (strcmp(argv[i], "--factory") == 0) {
            ret->sites = ret->sites > 0 ? ret->sites : FACTORY_SITES;
            ret->pool.nodes = 0;
            taken = false;
        } else if (strcmp(argv[i], "--queue") == 0) {
            ret->queue = true;
            taken = false;
        } else if (strcmp(argv[i], "--hasty") == 0) {
            ret->pool.hasty = true;
            ret->pool.chaos = false;
            taken = false;
        } else if (strcmp(argv[i], "--stop") == 0) { /* at the first broken promise */
            ret->stop = true;
            taken = false;
        } else if (strcmp(argv[i], "--trace") == 0) {
            ret->pool.trace = true;
            taken = false;
        } else if (strcmp(argv[i], "--seeds") == 0 && parse_range(next, &ret->first, &ret->last)) {
        } else if (strcmp(argv[i], "--seed") == 0 && parse_number(next, UINT64_MAX / 2, &value)) {
            ret->first = ret->last = value;
        } else if (strcmp(argv[i], "--nodes") == 0 && parse_number(next, 10000, &value) &&
                   value > 0) {
            ret->pool.nodes = (unsigned)value;
        } else if (strcmp(argv[i], "--jobs") == 0 && parse_number(next, 100000, &value)) {
            ret->pool.jobs = (unsigned)value;
        } else if (strcmp(argv[i], "--power") == 0 && parse_number(next, 1000, &value) &&
                   value >= POWER_HOURS_MIN) {
            ret->hours = (unsigned)value;
        } else if (strcmp(argv[i], "--sites") == 0 && parse_number(next, 100, &value) &&
                   value >= FACTORY_SITES_MIN) {
            ret->sites = (unsigned)value;
        } else if (strcmp(argv[i], "--glideins") == 0 && parse_number(next, 10000, &value) &&
                   value > 0) {
            ret->glideins = (unsigned)value;
        } else if (strcmp(argv[i], "--faults") == 0 && next != NULL && faults_by_name(next) != 0) {
            ret->pool.faults |= faults_by_name(next);
        } else if (strcmp(argv[i], "--pause") == 0 && parse_number(next, 86400, &value)) {
            ret->pool.pause_s = (unsigned)value;
        } else if (strcmp(argv[i], "--parallel") == 0 && parse_number(next, 4096, &value) &&
                   value > 0) {
            ret->parallel = value < SEEDS_PARALLEL_MAX ? (unsigned)value : SEEDS_PARALLEL_MAX;
        } else {
            return false;
        }
        i += taken ? 1 : 0;
    }
    return true;
}

int main(int argc, char **argv)
{
    struct seeds seeds = {.pool = {.nodes = 50, .jobs = 200, .chaos = true},
                          .glideins = 200,
                          .first = 1,
                          .last = 1,
                          .parallel = 1};
    return parse_options(argc, argv, &seeds) ? seeds_run(&seeds) : print_usage();
}
