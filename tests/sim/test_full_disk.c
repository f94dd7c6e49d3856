/* A disk that was full for a while: what is left of that when it has room again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>

#include "base/check.h"
#include "sim/client.h"
#include "sim/host_faults.h"
#include "sim/pool.h"

#define ROOM     ((uint64_t)600 << 10) /* enough for the startd's store, not for a job */
#define BEGIN_US (1002 * SIM_S)        /* before the node has booted */
#define FULL_US  (55 * SIM_S)          /* until after its startd has begun */

static void fill_disk(void *arg)
{
    struct sim_host *node = sim_host_find(arg, "wn01");
    CHECK(node != NULL);
    sim_disk_refuse(node, -ENOSPC, ROOM, FULL_US);
}

static void plan_full_disk(void *arg, struct sim *sim)
{
    (void)arg;
    (void)sim_at(sim, BEGIN_US, fill_disk, sim);
}

static void a_machine_whose_startd_began_on_a_full_disk_is_woken_for_a_job(void **state)
{
    (void)state;
    static struct pool_result result;
    unsigned seconds = 5;
    const struct client_batch batch = {.count = 1,
                                       .seconds = &seconds,
                                       .cpus = 1,
                                       .machines = "TARGET.Disk >= RequestDisk"};
    const struct pool_options options = {.seed = 3,
                                         .nodes = 1,
                                         .jobs = 1,
                                         .batches = &batch,
                                         .batch_count = 1,
                                         .node_config = "NUM_SLOTS_TYPE_1 = 1\n"
                                                        "SLOT_TYPE_1 = \"100%\"\n"
                                                        "SLOT_TYPE_1_PARTITIONABLE = true\n",
                                         .node_cpus = 4,
                                         .begins = plan_full_disk};
    pool_run(&options, &result);
    assert_string_equal(result.verdict, "");
    assert_int_equal(result.completed, 1);
}

UNIT_TESTS(UNIT(a_machine_whose_startd_began_on_a_full_disk_is_woken_for_a_job))
