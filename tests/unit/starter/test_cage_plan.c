/* tests/unit/starter/test_cage_plan.c - what a job sees, and when it has taken too much.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "starter/job/cage_plan.h"

static const char *const HIDE[] = {"/var/lib/roost/execute", "/var/lib/roost/spool", "/run/roost"};
static const char *const SCRATCH[] = {"/tmp", "/var/tmp"};
static const struct cage_place PLACE = {
    .directory = "/var/lib/roost/execute/dir_1",
    .sandbox = "/var/lib/roost/execute/dir_1/sandbox",
    .hide = HIDE,
    .hide_count = 3,
    .secret = "/etc/roost/token",
    .scratch = SCRATCH,
    .scratch_count = 2,
    .private_shm = true,
};

static struct ad *parse(const char *text)
{
    struct ad *ad;
    assert_int_equal(ad_parse(text, strlen(text), &ad, NULL), 0);
    return ad;
}

static void view_of(const char *job, const struct cage_place *place, struct cage_view *ret)
{
    struct ad *ad = parse(job);
    cage_plan_view(ad, place, ret);
    ad_destroy(ad);
}

static int index_of(const struct cage_view *view, enum os_mount_kind kind, const char *to)
{
    for (size_t i = 0; i < view->mount_count; i++) {
        if (view->mounts[i].kind == kind && strcmp(view->mounts[i].to, to) == 0) {
            return (int)i;
        }
    }
    return -1;
}

static void the_sandbox_is_shown_after_all_is_hidden(void **state)
{
    (void)state;
    struct cage_view view;
    view_of("[Cmd = \"condor_exec.exe\"]", &PLACE, &view);
    int sandbox = index_of(&view, OS_MOUNT_BIND, PLACE.sandbox);
    assert_true(sandbox > 0);
    for (size_t i = 0; i < 3; i++) {
        assert_in_range(index_of(&view, OS_MOUNT_HIDE, HIDE[i]), 0, sandbox - 1);
    }
    assert_in_range(index_of(&view, OS_MOUNT_BIND, "/tmp"), 0, sandbox - 1);
    assert_in_range(index_of(&view, OS_MOUNT_MEMORY, "/dev/shm"), 0, sandbox - 1);
    assert_int_equal(index_of(&view, OS_MOUNT_PROC, "/proc"), (int)view.mount_count - 1);
    assert_int_equal(view.name_count, 2);
    assert_string_equal(view.names[1], "/var/lib/roost/execute/dir_1/scratch1/in");
    cage_view_fini(&view);
}

static void a_secret_file_is_covered_where_no_directory_hides_it(void **state)
{
    (void)state;
    struct cage_view view;
    view_of("[]", &PLACE, &view);
    int at = index_of(&view, OS_MOUNT_BIND, "/etc/roost/token");
    assert_true(at >= 0);
    assert_string_equal(view.mounts[at].from, "/dev/null");
    cage_view_fini(&view);
    struct cage_place place = PLACE;
    place.secret = "/run/roost/token";
    view_of("[]", &place, &view);
    assert_int_equal(index_of(&view, OS_MOUNT_BIND, place.secret), -1);
    cage_view_fini(&view);
    place.secret = "/tmp/pool/token";
    view_of("[]", &place, &view);
    assert_int_equal(index_of(&view, OS_MOUNT_BIND, place.secret), -1);
    cage_view_fini(&view);
    place.secret = NULL;
    view_of("[]", &place, &view);
    cage_view_fini(&view);
}

static void what_the_job_names_below_tmp_it_finds(void **state)
{
    (void)state;
    struct cage_view view;
    view_of("[Cmd = \"/tmp/program\"]", &PLACE, &view);
    assert_int_equal(index_of(&view, OS_MOUNT_BIND, "/tmp"), -1);
    assert_true(index_of(&view, OS_MOUNT_BIND, "/var/tmp") >= 0);
    cage_view_fini(&view);
    view_of("[Cmd = \"/tmporary/x\"; Iwd = \"/tmp/here\"]", &PLACE, &view);
    assert_true(index_of(&view, OS_MOUNT_BIND, "/tmp") >= 0);
    cage_view_fini(&view);
    view_of("[Iwd = \"/tmp/here\"; ShouldTransferFiles = \"NO\"]", &PLACE, &view);
    assert_int_equal(index_of(&view, OS_MOUNT_BIND, "/tmp"), -1);
    cage_view_fini(&view);
}

static void a_cgroup_is_named_after_the_run(void **state)
{
    (void)state;
    struct strbuf name;
    char path[600];
    strbuf_init(&name, 0);
    cage_plan_group_name("/var/lib/roost/execute/dir_slot1_1.0_1", &name);
    assert_string_equal(strbuf_text(&name), "var_lib_roost_execute_dir_slot1_1.0_1");
    memset(path, 'x', sizeof path);
    memcpy(path + 570, "/dir_slot1_1.0_1", 17);
    strbuf_clear(&name);
    cage_plan_group_name(path, &name);
    assert_true(name.length <= 200);
    assert_non_null(strstr(strbuf_text(&name), "_dir_slot1_1.0_1"));
    strbuf_fini(&name);
}

static void an_account_is_named_for_a_piece_or_for_its_slot(void **state)
{
    (void)state;
    char knobs[2][CAGE_KNOB_SIZE];
    cage_plan_slot_knobs("slot1_2@wn", "USER", knobs);
    assert_string_equal(knobs[0], "SLOT1_2_USER");
    assert_string_equal(knobs[1], "SLOT1_USER");
    cage_plan_slot_knobs("slot3@wn", "USER", knobs);
    assert_string_equal(knobs[0], "SLOT3_USER");
    assert_string_equal(knobs[1], "");
    cage_plan_slot_knobs("", "USER", knobs);
    assert_string_equal(knobs[0], "");
}

static void too_much_memory_is_said_as_htcondor_says_it(void **state)
{
    (void)state;
    struct cage_verdict verdict;
    const struct cage_taken killed = {.oom_kills = 1,
                                      .limit_hits = 1,
                                      .memory_mib = 127,
                                      .memory_limit_mib = 128,
                                      .disk_limit_kib = 5};
    cage_plan_judge("slot1@wn", &killed, &verdict);
    assert_int_equal(verdict.code, 34);
    assert_int_equal(verdict.subcode, 102);
    assert_string_equal(verdict.reason,
                        "Error from slot1@wn: Job has gone over cgroup memory limit of 128 "
                        "megabytes. Last measured usage: 127 megabytes.  Consider resubmitting "
                        "with a higher request_memory.");
    const struct cage_taken measured = {.memory_mib = 129, .memory_limit_mib = 128};
    cage_plan_judge("slot1@wn", &measured, &verdict);
    assert_int_equal(verdict.subcode, 102);
}

static void a_machine_without_memory_is_not_the_jobs_fault(void **state)
{
    (void)state;
    struct cage_verdict verdict;
    struct cage_taken taken = {.oom_kills = 1, .memory_mib = 100, .memory_limit_mib = 128};
    assert_true(cage_plan_is_machines_oom(&taken));
    assert_false(cage_plan_is_over_memory(&taken));
    cage_plan_judge("slot1@wn", &taken, &verdict);
    assert_int_equal(verdict.code, 0);
    taken.limit_hits = 1;
    assert_false(cage_plan_is_machines_oom(&taken));
    assert_true(cage_plan_is_over_memory(&taken));
    taken.limit_hits = 0;
    taken.memory_mib = 129;
    assert_false(cage_plan_is_machines_oom(&taken));
    taken = (struct cage_taken){.memory_mib = 100, .memory_limit_mib = 128};
    assert_false(cage_plan_is_machines_oom(&taken));
}

static void too_much_disk_is_held_and_what_is_allowed_is_not(void **state)
{
    (void)state;
    struct cage_verdict verdict;
    struct cage_taken taken = {.memory_mib = 128,
                               .memory_limit_mib = 128,
                               .disk_kib = 1000,
                               .disk_limit_kib = 1000};
    cage_plan_judge("slot1@wn", &taken, &verdict);
    assert_int_equal(verdict.code, 0);
    taken.disk_kib = 1001;
    cage_plan_judge("slot1@wn", &taken, &verdict);
    assert_int_equal(verdict.code, 34);
    assert_int_equal(verdict.subcode, 104);
    taken.disk_limit_kib = taken.memory_limit_mib = 0;
    cage_plan_judge("slot1@wn", &taken, &verdict);
    assert_int_equal(verdict.code, 0);
    taken.files = 5000;
    taken.files_limit = 5000;
    cage_plan_judge("slot1@wn", &taken, &verdict);
    assert_int_equal(verdict.code, 0);
    taken.files++;
    cage_plan_judge("slot1@wn", &taken, &verdict);
    assert_int_equal(verdict.code, 34);
    assert_int_equal(verdict.subcode, 104);
    assert_non_null(strstr(verdict.reason, "more than 5000 files"));
}

static void a_whole_slot_has_a_number_and_a_piece_has_none(void **state)
{
    (void)state;
    assert_int_equal(cage_plan_slot_number("slot3@wn"), 3);
    assert_int_equal(cage_plan_slot_number("slot12"), 12);
    assert_int_equal(cage_plan_slot_number("slot1_2@wn"), 0);
    assert_int_equal(cage_plan_slot_number("other@wn"), 0);
}

static void a_job_with_checkpoints_finds_its_sandbox_where_it_is_told(void **state)
{
    (void)state;
    struct cage_view view;
    struct cage_place place = PLACE;
    place.home = "/var/tmp/job";
    place.images = "/var/lib/roost/execute/dir_1/ckpt";
    place.images_at = "/var/tmp/job.images";
    view_of("[Cmd = \"condor_exec.exe\"]", &place, &view);
    int scratch = index_of(&view, OS_MOUNT_BIND, "/var/tmp");
    int home = index_of(&view, OS_MOUNT_BIND, place.home);
    assert_true(scratch >= 0 && home > scratch);
    assert_string_equal(view.mounts[home].from, PLACE.sandbox);
    int images = index_of(&view, OS_MOUNT_BIND, place.images_at);
    assert_true(images > scratch);
    assert_string_equal(view.mounts[images].from, place.images);
    /* What it has in /dev/shm is a directory of its own, too. */
    assert_int_equal(index_of(&view, OS_MOUNT_MEMORY, "/dev/shm"), -1);
    int shm = index_of(&view, OS_MOUNT_BIND, "/dev/shm");
    assert_true(shm >= 0);
    assert_string_equal(view.mounts[shm].from, "/var/lib/roost/execute/dir_1/scratch2/in");
    cage_view_fini(&view);
}

/* What is mounted later comes over it: the sandbox below them is the job's. */
static void what_the_daemons_read_is_mounted_first(void **state)
{
    (void)state;
    static const char *const WAYS[] = {"/home/a/pool", "/home/a/pool/nodes"};
    static const char *const KEPT[] = {"/home/a/pool/roost.conf"};
    struct cage_view view;
    struct cage_place place = PLACE;
    place.ways = WAYS;
    place.way_count = 2;
    place.readonly = KEPT;
    place.readonly_count = 1;
    view_of("[Cmd = \"condor_exec.exe\"]", &place, &view);
    assert_int_equal(view.kept_count, 3);
    assert_int_equal(index_of(&view, OS_MOUNT_BIND, WAYS[0]), 0);
    assert_int_equal(index_of(&view, OS_MOUNT_BIND, WAYS[1]), 1);
    assert_int_equal(index_of(&view, OS_MOUNT_READONLY, KEPT[0]), 2);
    cage_view_fini(&view);
}

static void programs_of_the_site_stay_where_a_job_has_its_own_directory(void **state)
{
    (void)state;
    static const char *const PROGRAMS[] = {"/tmp/trial/bin", "/usr/lib/roost", "/tmp",
                                           "/dev/shm/bin", "/tmporary"};
    struct cage_view view;
    struct cage_place place = PLACE;
    place.programs = PROGRAMS;
    place.program_count = sizeof PROGRAMS / sizeof PROGRAMS[0];
    place.private_shm = true;
    view_of("[Cmd = \"condor_exec.exe\"]", &place, &view);
    int scratch = index_of(&view, OS_MOUNT_BIND, "/tmp");
    int program = index_of(&view, OS_MOUNT_READONLY, PROGRAMS[0]);
    assert_true(scratch >= 0 && program > scratch);
    assert_string_equal(view.mounts[program].from, PROGRAMS[0]);
    assert_string_not_equal(view.mounts[scratch].from, "/tmp");
    assert_true(index_of(&view, OS_MOUNT_READONLY, PROGRAMS[3]) >
                index_of(&view, OS_MOUNT_MEMORY, "/dev/shm"));
    assert_int_equal(index_of(&view, OS_MOUNT_READONLY, PROGRAMS[1]), -1);
    assert_int_equal(index_of(&view, OS_MOUNT_READONLY, PROGRAMS[4]), -1);
    cage_view_fini(&view);
    /* Of a job that has the machine's /tmp, they are there anyhow. */
    view_of("[Cmd = \"/tmp/job\"]", &place, &view);
    assert_int_equal(index_of(&view, OS_MOUNT_READONLY, PROGRAMS[0]), -1);
    cage_view_fini(&view);
}

static void the_way_to_a_sandbox_below_a_scratch_directory_is_in_memory(void **state)
{
    (void)state;
    static const char *const PROGRAMS[] = {"/tmp/pool/bin"}, *const SLASHED[] = {"/tmp/"};
    struct cage_view view;
    struct cage_place place = PLACE;
    place.sandbox = "/tmp/pool/execute/dir_1/sandbox";
    place.programs = PROGRAMS;
    place.program_count = 1;
    for (int slashed = 0; slashed < 2; slashed++) {
        place.scratch = slashed ? SLASHED : SCRATCH;
        place.scratch_count = slashed ? 1 : 2;
        view_of("[Cmd = \"condor_exec.exe\"]", &place, &view);
        int way = index_of(&view, OS_MOUNT_WAY, "/tmp/pool");
        assert_int_equal(way, index_of(&view, OS_MOUNT_BIND, place.scratch[0]) + 1);
        /* What is shown below it is mounted later. */
        assert_true(index_of(&view, OS_MOUNT_READONLY, PROGRAMS[0]) > way);
        assert_true(index_of(&view, OS_MOUNT_BIND, place.sandbox) > way);
        cage_view_fini(&view);
    }
    /* One name is as much as the mount would need; the machine's own /tmp is left alone. */
    place.sandbox = "/tmp/sandbox";
    view_of("[Cmd = \"condor_exec.exe\"]", &place, &view);
    assert_null(view.way);
    cage_view_fini(&view);
    place.sandbox = "/tmp/pool/execute/dir_1/sandbox";
    view_of("[Cmd = \"/tmp/job\"]", &place, &view);
    assert_null(view.way);
    cage_view_fini(&view);
}

static bool fits(const char *job, const char *home)
{
    struct ad *ad = parse(job);
    bool yes = cage_plan_home_fits(ad, SCRATCH, 2, home);
    ad_destroy(ad);
    return yes;
}

static void a_home_is_below_a_directory_that_stays_the_jobs_own(void **state)
{
    (void)state;
    assert_true(fits("[Cmd = \"condor_exec.exe\"]", "/var/tmp/job"));
    assert_false(fits("[Cmd = \"condor_exec.exe\"]", "/var/tmp"));
    assert_false(fits("[Cmd = \"condor_exec.exe\"]", "/srv/job"));
    assert_false(fits("[Cmd = \"/var/tmp/program\"]", "/var/tmp/job"));
    assert_true(fits("[Cmd = \"/tmp/program\"]", "/var/tmp/job"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sandbox_is_shown_after_all_is_hidden),
        cmocka_unit_test(a_secret_file_is_covered_where_no_directory_hides_it),
        cmocka_unit_test(what_the_job_names_below_tmp_it_finds),
        cmocka_unit_test(a_cgroup_is_named_after_the_run),
        cmocka_unit_test(an_account_is_named_for_a_piece_or_for_its_slot),
        cmocka_unit_test(too_much_memory_is_said_as_htcondor_says_it),
        cmocka_unit_test(a_machine_without_memory_is_not_the_jobs_fault),
        cmocka_unit_test(too_much_disk_is_held_and_what_is_allowed_is_not),
        cmocka_unit_test(a_job_with_checkpoints_finds_its_sandbox_where_it_is_told),
        cmocka_unit_test(what_the_daemons_read_is_mounted_first),
        cmocka_unit_test(programs_of_the_site_stay_where_a_job_has_its_own_directory),
        cmocka_unit_test(the_way_to_a_sandbox_below_a_scratch_directory_is_in_memory),
        cmocka_unit_test(a_home_is_below_a_directory_that_stays_the_jobs_own),
        cmocka_unit_test(a_whole_slot_has_a_number_and_a_piece_has_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
