/* What scripts find on a machine, and which units of it a job will do with.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "startd/machine/inventory_plan.h"

static const char FOUND[] = "DetectedGPUs=\"GPU-0a1b, GPU-2c3d, CUDA2\"\n"
                            "Common=[ DriverVersion=12.2; Capability=7.5 ]\n"
                            "GPU_0a1b=[ id=\"GPU-0a1b\"; Capability=6.5; GlobalMemoryMb=8110 ]\n"
                            "GPU_2c3d=[ Capability=8.6; GlobalMemoryMb=16117 ]\n"
                            "CUDALibrary=\"/usr/lib\"\n";

static const struct ad_context NOW = {.now_s = 1000000};

struct machine {
    struct resource_kinds kinds;
    struct resources total;
    struct ad *shown;
};

static int find(struct machine *machine, const char *name, const char *text, struct err *err)
{
    struct ad *found = NULL;
    assert_int_equal(ad_parse_long(text, strlen(text), &found, NULL), 0);
    int rc = inventory_plan_add(&machine->kinds, name, found, &machine->total, machine->shown, err);
    ad_destroy(found);
    return rc;
}

static int setup(void **state)
{
    struct machine *machine = mem_zalloc(sizeof *machine);
    carve_plan_kinds_init(&machine->kinds);
    machine->total.amount[RESOURCE_CPUS] = 8;
    machine->total.amount[RESOURCE_MEMORY] = 8192;
    machine->total.amount[RESOURCE_DISK] = 1000000;
    machine->shown = ad_create();
    assert_int_equal(find(machine, "GPUs", FOUND, NULL), 0);
    *state = machine;
    return 0;
}

static int teardown(void **state)
{
    struct machine *machine = *state;
    carve_plan_kinds_fini(&machine->kinds);
    ad_destroy(machine->shown);
    mem_free(machine);
    return 0;
}

static struct resources wish(const struct machine *machine, const char *text)
{
    struct ad *job = NULL, *slot = ad_create();
    struct resources want;
    const struct carve_exprs as_it_is = {{0}};
    assert_int_equal(ad_parse(text, strlen(text), &job, NULL), 0);
    assert_int_equal(carve_plan_request(&machine->kinds, &as_it_is, job, slot, &NOW, &want, NULL),
                     0);
    inventory_plan_wish(&machine->kinds, job, &NOW, &want);
    ad_destroy(job);
    ad_destroy(slot);
    return want;
}

static void is_shown(const struct ad *ad, const char *name, const char *text)
{
    struct strbuf printed;
    strbuf_init(&printed, 0);
    assert_non_null(ad_lookup(ad, name));
    ad_expr_print(ad_lookup(ad, name), AD_OLD, &printed);
    assert_string_equal(strbuf_text(&printed), text);
    strbuf_fini(&printed);
}

static void each_unit_has_its_own_properties_before_the_common_ones(void **state)
{
    const struct machine *machine = *state;
    const struct resource_kind *gpus = &machine->kinds.kinds[RESOURCE_CUSTOM];
    assert_int_equal(machine->total.amount[RESOURCE_CUSTOM], 3);
    assert_string_equal(gpus->ids[1], "GPU-2c3d");
    is_shown(gpus->properties[0], "Capability", "6.5");
    is_shown(gpus->properties[0], "DriverVersion", "12.2");
    is_shown(gpus->properties[1], "Id", "\"GPU-2c3d\"");
    is_shown(gpus->properties[2], "Capability", "7.5"); /* it has an ad of none */
    is_shown(machine->shown, "GPUs_DriverVersion", "12.2");
    is_shown(machine->shown, "CUDALibrary", "\"/usr/lib\"");
    assert_false(ad_has(machine->shown, "DetectedGPUs"));
    assert_false(ad_has(machine->shown, "GPU_0a1b"));
    assert_false(ad_has(machine->shown, "Common"));
}

static void a_slot_shows_its_units_and_a_match_counts_those_that_will_do(void **state)
{
    const struct machine *machine = *state;
    struct resources free = machine->total;
    struct resources first = wish(machine, "[RequestGPUs = 1]");
    carve_plan_take(&machine->kinds, &free, &first);
    struct ad *slot = ad_create();
    inventory_plan_write(&machine->kinds, &free, slot);
    assert_false(ad_has(slot, "GPUs_GPU_0a1b")); /* another has it */
    is_shown(slot, "AvailableGPUs", "{ GPUs_GPU_2c3d,GPUs_CUDA2 }");
    static const char JOB[] = "[RequestGPUs = 1; GPUsMinMemory = 10000; RequireGPUs = "
                              "GlobalMemoryMb >= GPUsMinMemory; Requirements = "
                              "countMatches(MY.RequireGPUs, TARGET.AvailableGPUs) >= RequestGPUs]";
    struct ad *job = NULL;
    assert_int_equal(ad_parse(JOB, strlen(JOB), &job, NULL), 0);
    assert_int_equal(ad_eval_bool(ad_lookup(job, "Requirements"), job, slot, &NOW), AD_TRUE);
    ad_set_int(job, "RequestGPUs", 2);
    assert_int_equal(ad_eval_bool(ad_lookup(job, "Requirements"), job, slot, &NOW), AD_FALSE);
    ad_destroy(job);
    ad_destroy(slot);
}

static void a_job_gets_the_units_that_meet_what_it_requires(void **state)
{
    const struct machine *machine = *state;
    struct resources free = machine->total;
    struct err err = {{0}};
    static const char NEW[] = "[RequestGPUs = 1; GPUsMinCapability = 7.5; RequireGPUs = "
                              "Capability >= GPUsMinCapability && Id != \"CUDA2\"]";
    struct resources want = wish(machine, NEW);
    assert_int_equal(carve_plan_fits(&machine->kinds, &free, &want, &err), 0);
    carve_plan_take(&machine->kinds, &free, &want);
    assert_int_equal(want.ids[RESOURCE_CUSTOM].word[0], 2);
    assert_int_equal(free.ids[RESOURCE_CUSTOM].word[0], 5);
    assert_int_equal(free.amount[RESOURCE_CUSTOM], 2);
    struct resources again = wish(machine, NEW); /* two are free, none will do */
    assert_int_equal(carve_plan_fits(&machine->kinds, &free, &again, &err), -ENOSPC);
    assert_string_equal(err.text, "requests 1 GPUs that meet its RequireGPUs, but only 0 are free");
    struct resources same = wish(machine, NEW); /* the next job of the claim fits its own piece */
    assert_int_equal(carve_plan_fits(&machine->kinds, &want, &same, NULL), 0);
    struct resources none = wish(machine, "[RequireGPUs = false]"); /* it wants no GPU at all */
    assert_int_equal(carve_plan_fits(&machine->kinds, &free, &none, NULL), 0);
}

static void units_of_which_nothing_is_known_meet_no_requirement(void **state)
{
    struct machine *machine = *state;
    struct err err = {{0}};
    assert_int_equal(carve_plan_kinds_add(&machine->kinds, "Tapes", "T0, T1", &machine->total,
                                          NULL),
                     0);
    struct resources want = wish(machine, "[RequestTapes = 1; RequireTapes = true]");
    assert_int_equal(carve_plan_fits(&machine->kinds, &machine->total, &want, &err), -ENOSPC);
    struct resources any = wish(machine, "[RequestTapes = 2]");
    assert_int_equal(carve_plan_fits(&machine->kinds, &machine->total, &any, &err), 0);
    struct ad *slot = ad_create();
    inventory_plan_write(&machine->kinds, &machine->total, slot);
    assert_true(ad_has(slot, "AvailableGPUs"));
    assert_false(ad_has(slot, "AvailableTapes"));
    ad_destroy(slot);
}

static void a_script_may_say_how_many_there_are_and_must_say_something(void **state)
{
    struct machine *machine = *state;
    struct err err = {{0}};
    assert_int_equal(find(machine, "Licences", "DetectedLicences=4\nLicenceServer=\"a\"\n", &err),
                     0);
    assert_int_equal(machine->total.amount[RESOURCE_CUSTOM + 1], 4);
    is_shown(machine->shown, "LicenceServer", "\"a\"");
    assert_int_equal(find(machine, "Disks", "Common=[a=1]\n", &err), -ENOENT);
    assert_non_null(strstr(err.text, "DetectedDisks"));
    assert_int_equal(find(machine, "GPUs", FOUND, &err), -EINVAL); /* twice */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_unit_has_its_own_properties_before_the_common_ones),
        TEST(a_slot_shows_its_units_and_a_match_counts_those_that_will_do),
        TEST(a_job_gets_the_units_that_meet_what_it_requires),
        TEST(units_of_which_nothing_is_known_meet_no_requirement),
        TEST(a_script_may_say_how_many_there_are_and_must_say_something),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
