/* Resources and pieces of them: what is asked for, what fits, what is left.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "classad/ad.h"
#include "startd/slot/carve_plan.h"

static const struct ad_context NOW = {.now_s = 1764000000};

struct machine {
    struct resource_kinds kinds;
    struct resources total;
    struct carve_exprs exprs;
    struct ad_expr *owned[RESOURCE_KINDS_MAX];
};

static int setup(void **state)
{
    static const char *const EXPRS[] = {"quantize(RequestCpus,{1})",
                                        "quantize(RequestMemory,{128})",
                                        "quantize(RequestDisk,{1024})"};
    struct machine *machine = test_calloc(1, sizeof *machine);
    carve_plan_kinds_init(&machine->kinds);
    machine->total.amount[RESOURCE_CPUS] = 8;
    machine->total.amount[RESOURCE_MEMORY] = 4096;
    machine->total.amount[RESOURCE_DISK] = 1000000;
    assert_int_equal(carve_plan_kinds_add(&machine->kinds, "GPUs", "CUDA0, CUDA1 CUDA2",
                                          &machine->total, NULL),
                     0);
    assert_int_equal(carve_plan_kinds_add(&machine->kinds, "Tapes", "5", &machine->total, NULL), 0);
    for (size_t i = 0; i < RESOURCE_CUSTOM; i++) {
        assert_int_equal(ad_expr_parse(EXPRS[i], strlen(EXPRS[i]), AD_OLD, &machine->owned[i],
                                       NULL),
                         0);
        machine->exprs.expr[i] = machine->owned[i];
    }
    *state = machine;
    return 0;
}

static int teardown(void **state)
{
    struct machine *machine = *state;
    for (size_t i = 0; i < RESOURCE_KINDS_MAX; i++) {
        ad_expr_destroy(machine->owned[i]);
    }
    test_free(machine);
    return 0;
}

static int request(const struct machine *machine, const char *job_text, struct resources *ret,
                   struct err *err)
{
    struct ad *job = NULL, *slot = ad_create();
    assert_int_equal(ad_parse(job_text, strlen(job_text), &job, NULL), 0);
    ad_set_int(slot, "TotalSlotMemory", 4096);
    int rc = carve_plan_request(&machine->kinds, &machine->exprs, job, slot, &NOW, ret, err);
    ad_destroy(job);
    ad_destroy(slot);
    return rc;
}

static void is_request(const struct machine *machine, const char *job, int64_t cpus,
                       int64_t memory_mib, int64_t disk_kib, int64_t gpus, int64_t tapes)
{
    struct resources want;
    struct err err = {{0}};
    if (request(machine, job, &want, &err) != 0) {
        fail_msg("%s: %s", job, err.text);
    }
    assert_int_equal(want.amount[RESOURCE_CPUS], cpus);
    assert_int_equal(want.amount[RESOURCE_MEMORY], memory_mib);
    assert_int_equal(want.amount[RESOURCE_DISK], disk_kib);
    assert_int_equal(want.amount[RESOURCE_CUSTOM], gpus);
    assert_int_equal(want.amount[RESOURCE_CUSTOM + 1], tapes);
}

static void requests_are_rounded_as_the_expressions_say(void **state)
{
    is_request(*state, "[RequestCpus = 3; RequestMemory = 129; RequestDisk = 1; RequestGPUs = 2]",
               3, 256, 1024, 2, 0);
    is_request(*state,
               "[RequestCpus = 1; RequestMemory = 128; RequestDisk = 2048; RequestTapes = 1]", 1,
               128, 2048, 0, 1);
    is_request(*state, "[RequestCpus = 1.2; RequestMemory = 0.5 * 1000; RequestDisk = 1025]", 2,
               512, 2048, 0, 0);
    is_request(*state, "[RequestCpus = Base * 2; Base = 2; RequestMemory = TotalSlotMemory / 4]", 4,
               1024, 1024, 0, 0);
}

static void a_job_without_requests_gets_the_smallest_piece(void **state)
{
    is_request(*state, "[x = 1]", 1, 128, 1024, 0, 0);
    is_request(*state, "[RequestMemory = undefined; RequestCpus = Nothing]", 1, 128, 1024, 0, 0);
    is_request(*state, "[RequestCpus = 0; RequestMemory = 0; RequestDisk = 0]", 1, 128, 1024, 0, 0);
}

static void a_request_that_is_no_amount_is_refused_by_name(void **state)
{
    static const char *const BAD[][2] = {{"[RequestCpus = -1]", "RequestCpus"},
                                         {"[RequestMemory = \"much\"]", "RequestMemory"},
                                         {"[RequestDisk = 1.0e300]", "RequestDisk"},
                                         {"[RequestGPUs = error]", "RequestGPUs"},
                                         {"[RequestTapes = {1}]", "RequestTapes"}};
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        struct resources want = {.amount = {77}};
        struct err err = {{0}};
        assert_int_equal(request(*state, BAD[i][0], &want, &err), -EINVAL);
        assert_non_null(strstr(err.text, BAD[i][1]));
        assert_int_equal(want.amount[0], 77); /* untouched */
    }
}

static struct resources want_of(int64_t cpus, int64_t memory_mib, int64_t gpus)
{
    return (struct resources){.amount = {cpus, memory_mib, 1024, gpus}};
}

static void cpus_with_numbers_are_shared_out_like_other_units(void **state)
{
    (void)state;
    static const uint32_t NUMBERS[] = {2, 3, 64, 130};
    struct resource_kinds *kinds = mem_zalloc(sizeof *kinds);
    struct resources free = {.amount = {4, 4096, 4096}}, first = {.amount = {1, 1, 1}};
    struct resources second = {.amount = {2, 1, 1}}, read;
    carve_plan_kinds_init(kinds);
    carve_plan_name_cpus(kinds, NUMBERS, 4, &free);
    carve_plan_take(kinds, &free, &first);
    carve_plan_take(kinds, &free, &second);
    struct ad *ad = ad_create();
    carve_plan_write(kinds, &second, "", "", ad);
    carve_plan_write_ids(kinds, &second, ad);
    assert_string_equal(ad_string_or(ad, "AssignedCpus", ""), "3,64");
    carve_plan_read(kinds, ad, &read);
    assert_memory_equal(&read.ids[RESOURCE_CPUS], &second.ids[RESOURCE_CPUS],
                        sizeof read.ids[RESOURCE_CPUS]);
    carve_plan_write_ids(kinds, &free, ad);
    assert_string_equal(ad_string_or(ad, "AssignedCpus", ""), "130");
    ad_destroy(ad);
    struct resources fewer = {.amount = {1, 1, 1}}; /* NUM_CPUS is less than there are, or more */
    carve_plan_name_cpus(kinds, NUMBERS, 4, &fewer);
    assert_int_equal(kinds->kinds[RESOURCE_CPUS].id_count, 1);
    fewer.amount[RESOURCE_CPUS] = 9;
    carve_plan_name_cpus(kinds, NUMBERS, 4, &fewer);
    assert_int_equal(kinds->kinds[RESOURCE_CPUS].id_count, 4);
    mem_free(kinds);
}

static void a_piece_fits_to_the_last_unit_and_not_beyond(void **state)
{
    const struct machine *machine = *state;
    struct resources exact = want_of(8, 4096, 3), over = want_of(9, 1, 0);
    struct err err = {{0}};
    assert_int_equal(carve_plan_fits(&machine->kinds, &machine->total, &exact, NULL), 0);
    assert_int_equal(carve_plan_fits(&machine->kinds, &machine->total, &over, &err), -ENOSPC);
    assert_string_equal(err.text, "requests 9 Cpus, but only 8 are free");
    over = want_of(1, 1, 4);
    assert_int_equal(carve_plan_fits(&machine->kinds, &machine->total, &over, &err), -ENOSPC);
    assert_string_equal(err.text, "requests 4 GPUs, but only 3 are free");
}

static void what_is_taken_and_what_is_left_are_the_whole(void **state)
{
    const struct machine *machine = *state;
    struct resources free = machine->total, again = machine->total;
    struct resources first = want_of(2, 1024, 1), second = want_of(3, 512, 2);
    carve_plan_take(&machine->kinds, &free, &first);
    carve_plan_take(&machine->kinds, &free, &second);
    assert_int_equal(free.amount[RESOURCE_CPUS], 3);
    assert_int_equal(free.amount[RESOURCE_MEMORY], 4096 - 1024 - 512);
    assert_int_equal(free.amount[RESOURCE_CUSTOM], 0);
    assert_int_equal(first.ids[RESOURCE_CUSTOM].word[0], 1);
    assert_int_equal(second.ids[RESOURCE_CUSTOM].word[0], 6); /* no unit is in two pieces */
    assert_int_equal(free.ids[RESOURCE_CUSTOM].word[0], 0);
    carve_plan_subtract(&machine->kinds, &again, &second);
    carve_plan_subtract(&machine->kinds, &again, &first);
    assert_memory_equal(&again, &free, sizeof free); /* the same, counted anew */
    carve_plan_subtract(&machine->kinds, &again, &machine->total);
    assert_int_equal(again.amount[RESOURCE_CPUS], -5); /* configured anew, smaller */
    assert_int_equal(carve_plan_fits(&machine->kinds, &again, &first, NULL), -ENOSPC);
}

static void there_is_a_claim_id_for_each_free_cpu(void **state)
{
    (void)state;
    struct resources free = {.amount = {4, 1, 1}};
    assert_int_equal(carve_plan_offers(&free), 4);
    free.amount[RESOURCE_CPUS] = 1000;
    assert_int_equal(carve_plan_offers(&free), PIECES_OFFERED_MAX);
    free.amount[RESOURCE_CPUS] = -2;
    assert_int_equal(carve_plan_offers(&free), 0);
    free = (struct resources){.amount = {4, 0, 1}};
    assert_int_equal(carve_plan_offers(&free), 0);
    free = (struct resources){.amount = {4, 1, 0}};
    assert_int_equal(carve_plan_offers(&free), 0);
}

static void a_piece_is_written_and_read_back(void **state)
{
    const struct machine *machine = *state;
    struct resources free = machine->total, piece = want_of(2, 1024, 1), first = want_of(1, 1, 1);
    struct resources back;
    carve_plan_take(&machine->kinds, &free, &first);
    carve_plan_take(&machine->kinds, &free, &piece);
    struct ad *ad = ad_create();
    carve_plan_write(&machine->kinds, &piece, "", "", ad);
    carve_plan_write_ids(&machine->kinds, &piece, ad);
    assert_string_equal(ad_string_or(ad, "AssignedGPUs", ""), "CUDA1");
    assert_string_equal(ad_string_or(ad, "MachineResources", ""), "Cpus Memory Disk GPUs Tapes");
    assert_false(ad_has(ad, "AssignedTapes"));
    carve_plan_read(&machine->kinds, ad, &back);
    assert_memory_equal(&back, &piece, sizeof back);
    piece.amount[RESOURCE_CPUS] = -1;
    carve_plan_write(&machine->kinds, &piece, "TotalSlot", "", ad);
    assert_int_equal(ad_int_or(ad, "TotalSlotCpus", 7), 0);
    assert_int_equal(ad_int_or(ad, "TotalSlotMemory", 7), 1024);
    ad_destroy(ad);
}

static void kinds_with_bad_names_or_amounts_are_refused(void **state)
{
    struct machine *machine = *state;
    static const char *const BAD[][2] = {
        {"Cpus", "4"}, {"gpus", "1"}, {"two words", "1"}, {"", "1"}, {"Licences", "-1"}};
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        assert_int_equal(carve_plan_kinds_add(&machine->kinds, BAD[i][0], BAD[i][1],
                                              &machine->total, NULL),
                         -EINVAL);
    }
    assert_int_equal(machine->kinds.count, 5);
    char name[3] = "Ra";
    for (; machine->kinds.count < RESOURCE_KINDS_MAX; name[1]++) {
        assert_int_equal(carve_plan_kinds_add(&machine->kinds, name, "1", &machine->total, NULL),
                         0);
    }
    assert_int_equal(carve_plan_kinds_add(&machine->kinds, name, "1", &machine->total, NULL),
                     -E2BIG);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

UNIT_TESTS(CASE(requests_are_rounded_as_the_expressions_say),
           CASE(a_job_without_requests_gets_the_smallest_piece),
           CASE(a_request_that_is_no_amount_is_refused_by_name),
           CASE(cpus_with_numbers_are_shared_out_like_other_units),
           CASE(a_piece_fits_to_the_last_unit_and_not_beyond),
           CASE(what_is_taken_and_what_is_left_are_the_whole),
           CASE(there_is_a_claim_id_for_each_free_cpu), CASE(a_piece_is_written_and_read_back),
           CASE(kinds_with_bad_names_or_amounts_are_refused))
