/* Simulated jobs, their images and archives: what a checkpoint of one holds, and what goes on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"
#include "sim/sim_private.h"
#include "sim/work_sim.h"
#include "tests/support/toy.h"

#define SECONDS 20

static const struct sim_image IMAGE = {.id = 0x1234,
                                       .number = 7,
                                       .steps = 10,
                                       .done = 4,
                                       .rest_us = SIM_STEP_US / 4,
                                       .out = "/box/job.7.out",
                                       .offset = 16,
                                       .features = "avx,sse",
                                       .bytes = 3000};

static void an_image_comes_back_as_it_was_and_is_refused_if_a_byte_is_not(void **state)
{
    (void)state;
    struct sim *sim = toy_sim(1, NULL); /* whose heap strbuf uses */
    struct sim_image back;
    struct strbuf bytes;
    strbuf_init(&bytes, 0);
    sim_image_encode(&IMAGE, &bytes);
    assert_int_equal(bytes.length, IMAGE.bytes);
    assert_true(sim_image_decode(bytes.data, bytes.length, &back));
    assert_int_equal(back.number, 7);
    assert_int_equal(back.offset, 16);
    assert_string_equal(back.out, IMAGE.out);
    assert_int_equal(sim_image_done_us(&back), 4 * SIM_STEP_US + SIM_STEP_US * 3 / 4);
    assert_false(sim_image_decode(bytes.data, bytes.length - 1, &back));
    bytes.data[2000] ^= 1;
    assert_false(sim_image_decode(bytes.data, bytes.length, &back));
    strbuf_fini(&bytes);
    sim_destroy(sim);
}

static void a_machine_suits_that_has_each_feature(void **state)
{
    (void)state;
    assert_true(sim_features_suit("", ""));
    assert_true(sim_features_suit("sse", "avx,sse"));
    assert_true(sim_features_suit("avx,sse", "sse,avx"));
    assert_false(sim_features_suit("avx,sse", "sse"));
    assert_false(sim_features_suit("sse", "sse2"));
}

static int put_back(void *arg, const char *path, mode_t mode, const void *data, size_t length)
{
    struct sim_host *host = arg;
    char full[128];
    (void)snprintf(full, sizeof(full), "/%s", path);
    sim_file_put(host, full, data, length, mode);
    return 0;
}

static void an_archive_has_the_files_of_its_moment_under_their_new_names(void **state)
{
    (void)state;
    static const struct sim_program *const NONE[] = {NULL};
    struct sim *sim = toy_sim(1, NULL);
    struct sim_host *host = toy_host(sim, "a", NONE), *other = toy_host(sim, "b", NONE);
    struct strbuf bytes;
    sim_file_put(host, "/run/sandbox/out", "one\n", 4, 0600);
    sim_file_put(host, "/run/sandbox/.job.ad", "x", 1, 0600);
    sim_file_put(host, "/run/sandbox/deep/empty", "", 0, 0755);
    strbuf_init(&bytes, 0);
    sim_archive_add(host, "/run/sandbox", "box", &bytes);
    sim_archive_end(&bytes);
    assert_true(sim_archive_walk(bytes.data, bytes.length, put_back, other));
    assert_false(sim_archive_walk(bytes.data, bytes.length - 2, put_back, other));
    assert_string_equal(sim_file_get(other, "/box/out", NULL), "one\n");
    assert_string_equal(sim_file_get(other, "/box/deep/empty", NULL), "");
    assert_null(sim_file_get(other, "/box/.job.ad", NULL)); /* of that run */
    strbuf_fini(&bytes);
    sim_destroy(sim);
}

/* ---- a job moves ----------------------------------------------------------------------------- */

struct seen {
    struct os *os;
    unsigned made;
    struct sim_image image;
};

static void keep_os(const struct sim_env *env, void *arg)
{
    ((struct seen *)arg)->os = env->os;
}

static void image_made(void *arg, struct sim_process *dumper, const struct sim_process *job,
                       const struct sim_image *image)
{
    struct seen *seen = arg;
    (void)dumper;
    (void)job;
    seen->made++;
    seen->image = *image;
}

static pid_t run(struct sim *sim, struct seen *seen, const char *const *argv, const char *cwd,
                 const char *out)
{
    const struct os_spawn spec = {.argv = argv, .cwd = cwd, .stdout_path = out};
    pid_t pid = 0;
    assert_int_equal(os_spawn(seen->os, &spec, NULL, NULL, &pid, NULL), 0);
    sim_run_for(sim, SIM_S / 10);
    return pid;
}

/* Its output says each step once, though it was ended in the middle of one. */
static void a_job_that_is_killed_goes_on_from_its_image_and_archive(void **state)
{
    (void)state;
    struct seen seen = {.made = 0};
    struct toy toy = {keep_os, &seen};
    struct sim_program program = TOY("toy", &toy);
    const struct sim_program *programs[] = {&program, NULL};
    struct sim_options options = {.seed = 3,
                                  .programs = programs,
                                  .observer = {.image_made = image_made, .arg = &seen}};
    struct sim *sim = sim_create(&options);
    struct sim_host *host = toy_host(sim, "a", programs);
    char pid[16];
    static const char *const STEPS[] = {"/bin/ckpt", "run",    "--", "/bin/steps", "20",
                                        "0",         "OUTPUT", "7",  NULL};
    const char *const DUMP[] = {
        "/bin/ckpt", "dump",   pid,  "image", "--with",
        "files",     "--kill", "--", "tar",   "--transform=flags=rhS;s,^box\\(/\\|$\\),box\\1,",
        "--create",  "box",    NULL};
    static const char *const TAR[] = {"/bin/env", "tar", "--extract", "--file", "/w/files", NULL};
    static const char *const RESUME[] = {"/w/image", "--stdio", NULL};
    sim_program_put(host, "/bin/ckpt", "roost-ckpt");
    sim_program_put(host, "/bin/steps", "steps");
    sim_program_put(host, "/bin/env", "env");
    sim_file_put(host, "/w/box/other", "", 0, 0600);
    assert_non_null(toy_spawn(host, "/bin/toy"));
    sim_run_for(sim, SIM_S);
    pid_t job = run(sim, &seen, STEPS, "/w", "/w/box/out");
    sim_run_for(sim, 7 * SIM_S);
    (void)snprintf(pid, sizeof(pid), "%d", (int)job);
    (void)run(sim, &seen, DUMP, "/w", "/w/said");
    sim_run_for(sim, 3 * SIM_S);
    assert_int_equal(seen.made, 1);
    assert_null(sim_process_find(host, job));
    assert_in_range(sim_image_done_us(&seen.image), 6 * SIM_S, 8 * SIM_S);
    assert_non_null(strstr(sim_file_get(host, "/w/said", NULL), "CkptImageId"));
    sim_file_put(host, "/box/out", "", 0, 0600); /* what is in the archive comes in its place */
    (void)run(sim, &seen, TAR, "/", NULL);
    sim_run_for(sim, SIM_S);
    assert_non_null(strstr(sim_file_get(host, "/box/out", NULL), "7 3\n"));
    sim_file_put(host, "/w/box/out", "", 0, 0600);
    sim_file_put(host, "/w/box/out", sim_file_get(host, "/box/out", NULL),
                 strlen(sim_file_get(host, "/box/out", NULL)), 0600);
    pid_t resumed = run(sim, &seen, RESUME, "/w", NULL);
    sim_run_for(sim, (SECONDS - 6) * SIM_S);
    assert_null(sim_process_find(host, resumed));
    assert_string_equal(sim_file_get(host, "/w/box/out", NULL),
                        "7 1\n7 2\n7 3\n7 4\n7 5\n7 6\n7 7\n7 8\n7 9\n7 10\n");
    sim_destroy(sim);
}

UNIT_TESTS(UNIT(an_image_comes_back_as_it_was_and_is_refused_if_a_byte_is_not),
           UNIT(a_machine_suits_that_has_each_feature),
           UNIT(an_archive_has_the_files_of_its_moment_under_their_new_names),
           UNIT(a_job_that_is_killed_goes_on_from_its_image_and_archive))
