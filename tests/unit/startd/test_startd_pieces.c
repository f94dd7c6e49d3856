/* Partitionable slots over real wires: pieces are carved, claimed, found again, given back.
 *
 * LINK: startd collector
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>
#include <signal.h>

#include "base/strbuf.h"
#include "startd/sleep/going_down.h"
#include "startd/sleep/hibernate.h"
#include "startd/slot/slot_facts.h"
#include "tests/unit/startd/startd_rig.h"

#define FOUR                                                                            \
    "NUM_CPUS = 4\nMEMORY = 4096\nNUM_SLOTS_TYPE_1 = 1\n"                               \
    "SLOT_TYPE_1 = \"cpus=4, memory=100%, GPUs=2\"\nSLOT_TYPE_1_PARTITIONABLE = true\n" \
    "MACHINE_RESOURCE_GPUs = \"CUDA0, CUDA1\"\n"
#define ASKS(what) "[Owner = \"ann\"; User = \"ann@pool\"; Requirements = true; " what "]"

static void begin(struct rig *rig, const char *more)
{
    char text[1200];
    (void)snprintf(text, sizeof text, "%s%s", FOUR, more);
    stop(rig);
    load(rig, text);
    start(rig);
    until(rig, is_connected);
}

static const struct slot *whole(const struct rig *rig)
{
    return rig->startd->slots[0];
}

static const struct slot *piece(const struct rig *rig, size_t at)
{
    assert_true(1 + at < rig->startd->slot_count);
    return rig->startd->slots[1 + at];
}

static int64_t shows(const struct slot *slot, const char *name)
{
    return ad_int_or(slot->ad, name, -1);
}

static void take_id(struct rig *rig)
{
    assert_true(whole(rig)->piece_ids.count > 0);
    (void)snprintf(rig->claim_id, sizeof rig->claim_id, "%s",
                   (const char *)whole(rig)->piece_ids.items[0]);
}

static int dial_piece(struct rig *rig, const char *job)
{
    take_id(rig);
    return dial_me(rig, job);
}

static bool first_is_claimed(struct rig *rig)
{
    return rig->startd->slot_count == 2 && piece(rig, 0)->state == SLOT_CLAIMED;
}

static bool both_are_claimed(struct rig *rig)
{
    return rig->startd->slot_count == 3 && piece(rig, 0)->state == SLOT_CLAIMED &&
           piece(rig, 1)->state == SLOT_CLAIMED;
}

static bool is_whole(struct rig *rig)
{
    return rig->startd->slot_count == 1;
}

/* Names of this machine's ads that the collector has. */
static size_t in_collector(struct rig *rig, const char *name)
{
    char text[200];
    struct answer answer;
    (void)snprintf(text, sizeof text, "[ Type = \"Machine\"; Constraint = \"Name == \\\"%s\\\"\" ]",
                   name);
    assert_int_equal(client_call(rig->caller, VERB_QUERY, text, NULL, &answer), 0);
    size_t count = answer.ads.count;
    answer_fini(&answer);
    return count;
}

static bool collector_has_piece(struct rig *rig)
{
    return in_collector(rig, "slot1_1@wn01") == 1;
}

static bool collector_has_no_piece(struct rig *rig)
{
    return in_collector(rig, "slot1_1@wn01") == 0;
}

static bool collector_has_offline(struct rig *rig)
{
    struct answer answer;
    assert_int_equal(client_call(rig->caller, VERB_QUERY,
                                 "[ Type = \"Machine\"; Constraint = \"Offline =?= true\" ]", NULL,
                                 &answer),
                     0);
    size_t count = answer.ads.count;
    answer_fini(&answer);
    return count == 1;
}

/* What waits for an answer of the collector runs the loop itself: not from a timer. */
static void until_collector(struct rig *rig, bool (*holds)(struct rig *rig))
{
    for (int i = 0; i < 2000 && !holds(rig); i++) {
    }
    assert_true(holds(rig));
}

static void a_whole_slot_says_what_it_is_and_offers_a_claim_id_for_each_cpu(void **state)
{
    struct rig *rig = *state;
    begin(rig, "RESERVED_MEMORY = 96\n");
    const struct ad *ad = whole(rig)->ad;
    assert_true(ad_bool_or(ad, "PartitionableSlot", false));
    assert_string_equal(ad_string_or(ad, "SlotType", ""), "Partitionable");
    assert_int_equal(shows(whole(rig), "SlotTypeID"), 1);
    assert_int_equal(shows(whole(rig), "Cpus"), 4);
    assert_int_equal(shows(whole(rig), "TotalSlotCpus"), 4);
    assert_int_equal(shows(whole(rig), "Memory"), 4000);
    assert_int_equal(shows(whole(rig), "TotalSlotMemory"), 4000);
    assert_int_equal(shows(whole(rig), "GPUs"), 2);
    assert_string_equal(ad_string_or(ad, "AssignedGPUs", ""), "CUDA0,CUDA1");
    assert_int_equal(shows(whole(rig), "NumDynamicSlots"), 0);
    const struct secret_list *offered = whole(rig)->offered;
    assert_int_equal(secret_list_count(offered), 4);
    take_id(rig);
    assert_string_equal(secret_list_find(offered, SECRET_CLAIM_ID), rig->claim_id);
    assert_false(ad_has(ad, "ClaimId"));
    assert_false(ad_has(ad, "ClaimIdList"));
}

static void a_job_gets_a_piece_as_large_as_it_asks_for(void **state)
{
    struct rig *rig = *state;
    begin(rig, "RANK = \"TARGET.RequestCpus * 10\"\n");
    assert_int_equal(dial_piece(rig,
                                ASKS("RequestCpus = 2; RequestMemory = 1000; RequestGPUs = 1; "
                                     "ConcurrencyLimits = \"tape\"; "
                                     "Requirements = TARGET.Cpus == 2 && TARGET.Memory == 1024")),
                     0);
    until(rig, first_is_claimed);
    const struct slot *slot = piece(rig, 0);
    assert_string_equal(slot->name, "slot1_1@wn01");
    assert_string_equal(ad_string_or(rig->schedd.claim, "SlotName", ""), "slot1_1@wn01");
    assert_true(ad_bool_or(slot->ad, "DynamicSlot", false));
    assert_string_equal(ad_string_or(slot->ad, "ParentSlotName", ""), "slot1@wn01");
    assert_int_equal(shows(slot, "Cpus"), 2);
    assert_int_equal(shows(slot, "Memory"), 1024);
    assert_string_equal(ad_string_or(slot->ad, "AssignedGPUs", ""), "CUDA0");
    assert_int_equal(shows(slot, "CurrentRank"), 20);
    assert_string_equal(ad_string_or(slot->ad, "RemoteUser", ""), "ann@pool");
    assert_string_equal(ad_string_or(slot->ad, "ConcurrencyLimits", ""), "tape");
    assert_int_equal(shows(whole(rig), "Cpus"), 2);
    assert_int_equal(shows(whole(rig), "Memory"), 4096 - 1024);
    assert_string_equal(ad_string_or(whole(rig)->ad, "AssignedGPUs", ""), "CUDA1");
    assert_int_equal(shows(whole(rig), "NumDynamicSlots"), 1);
    assert_int_equal(whole(rig)->piece_ids.count, 2);
    assert_string_equal(slot_state_name(whole(rig)->state), "Unclaimed");
    struct ad_expr *children = NULL;
    static const char ALL[] = "ChildCpus[0] == 2 && ChildState[0] == \"Claimed\" && "
                              "ChildRemoteUser[0] == \"ann@pool\" && ChildMemory[0] == 1024 && "
                              "ChildName[0] == \"slot1_1@wn01\" && size(ChildGPUs) == 1";
    assert_int_equal(ad_expr_parse(ALL, strlen(ALL), AD_NEW, &children, NULL), 0);
    assert_int_equal(ad_eval_bool(children, whole(rig)->ad, NULL, NULL), AD_TRUE);
    ad_expr_destroy(children);
}

static void pieces_are_given_out_until_nothing_is_left(void **state)
{
    struct rig *rig = *state;
    begin(rig, "");
    assert_int_equal(dial_piece(rig, ASKS("RequestCpus = 3")), 0);
    assert_int_equal(dial_piece(rig, ASKS("RequestCpus = 2")), -ENOSPC);
    assert_non_null(strstr(last_text, "slot1@wn01: the job: requests 2 Cpus, but only 1 are free"));
    assert_int_equal(rig->startd->slot_count, 2);
    assert_int_equal(dial_piece(rig, ASKS("RequestCpus = 1; RequestGPUs = 3")), -ENOSPC);
    assert_int_equal(dial_me(rig, ASKS("RequestCpus = 1; RequestGPUs = 2")), 0); /* same id */
    assert_int_equal(whole(rig)->piece_ids.count, 0);
    assert_int_equal(shows(whole(rig), "Cpus"), 0);
    assert_string_equal(piece(rig, 1)->name, "slot1_2@wn01");
    assert_int_equal(dial_me(rig, ASKS("RequestCpus = 1")), -ENOKEY); /* used up */
}

static void a_piece_that_is_not_wanted_is_whole_again_at_once(void **state)
{
    struct rig *rig = *state;
    begin(rig, "START = \"TARGET.RequestCpus < 3\"\n");
    take_id(rig);
    assert_int_equal(dial_me(rig, ASKS("RequestCpus = 4")), -ENOTSUP);
    take_id(rig); /* that of the refused piece was replaced */
    assert_int_equal(dial_me(rig, ASKS("RequestCpus = 2; Requirements = TARGET.Cpus > 2")),
                     -ENOTSUP);
    assert_non_null(strstr(last_text, "of the job"));
    assert_int_equal(dial_me(rig, ASKS("RequestCpus = -1")), -EINVAL);
    assert_true(is_whole(rig));
    assert_int_equal(shows(whole(rig), "Cpus"), 4);
    assert_int_equal(dial_me(rig, ASKS("RequestCpus = 2")), 0); /* START of the piece; same id */
}

static void a_released_piece_is_gone_here_and_in_the_collector(void **state)
{
    struct rig *rig = *state;
    begin(rig, "");
    rig->startd->slots[0]->entered_state_ms = 1;
    assert_int_equal(dial_piece(rig, ASKS("RequestCpus = 2")), 0);
    assert_true(shows(whole(rig), "EnteredCurrentState") >
                loop_wall_of_s(rig->startd->env.loop, 1)); /* HIBERNATE counts from here ... */
    until(rig, first_is_claimed);
    until_collector(rig, collector_has_piece);
    rig->startd->slots[0]->entered_state_ms = 1;
    assert_int_equal(call(rig, VERB_RELEASE_CLAIM, 1, JOB), 0);
    until(rig, is_whole);
    assert_true(shows(whole(rig), "EnteredCurrentState") >
                loop_wall_of_s(rig->startd->env.loop, 1)); /* ... and from here */
    assert_int_equal(shows(whole(rig), "Cpus"), 4);
    assert_int_equal(whole(rig)->piece_ids.count, 4);
    until_collector(rig, collector_has_no_piece);
    assert_int_equal(in_collector(rig, "slot1@wn01"), 1);
    assert_true(is_forgotten(rig));
}

static void a_match_of_a_piece_that_is_not_confirmed_gives_it_back(void **state)
{
    struct rig *rig = *state;
    begin(rig, "");
    rig->schedd.claim_status = -ENOKEY;
    assert_int_equal(dial_piece(rig, ASKS("RequestCpus = 2")), 0);
    until(rig, is_whole);
    assert_true(is_forgotten(rig));
    rig->schedd.claim_status = 0;
    rig->schedd.silent = true;
    assert_int_equal(dial_piece(rig, ASKS("RequestCpus = 2")), 0);
    restart(rig); /* it was not in the store: nothing was promised */
    assert_true(is_whole(rig));
    assert_int_equal(shows(whole(rig), "Cpus"), 4);
}

static void a_startd_that_is_started_anew_has_its_pieces_and_their_jobs(void **state)
{
    struct rig *rig = *state;
    begin(rig, "");
    assert_int_equal(dial_piece(rig, ASKS("RequestCpus = 1; RequestGPUs = 1")), 0);
    until(rig, first_is_claimed);
    char first[CLAIM_ID_MAX];
    (void)snprintf(first, sizeof first, "%s", rig->claim_id);
    assert_int_equal(dial_piece(rig, ASKS("RequestCpus = 2; RequestGPUs = 1")), 0);
    assert_int_equal(rig->startd->slot_count, 3);
    (void)snprintf(rig->claim_id, sizeof rig->claim_id, "%s", first);
    until(rig, both_are_claimed);
    restart(rig);
    assert_int_equal(rig->startd->slot_count, 3);
    const struct slot *slot = slot_by_name(rig->startd, "slot1_1@wn01");
    assert_non_null(slot);
    assert_int_equal(slot->state, SLOT_CLAIMED);
    assert_int_equal(shows(slot, "Cpus"), 1);
    assert_string_equal(ad_string_or(slot->ad, "AssignedGPUs", ""), "CUDA0");
    slot = slot_by_name(rig->startd, "slot1_2@wn01");
    assert_non_null(slot);
    assert_int_equal(shows(slot, "Cpus"), 2);
    assert_string_equal(ad_string_or(slot->ad, "AssignedGPUs", ""), "CUDA1");
    assert_int_equal(shows(whole(rig), "Cpus"), 1);
    assert_int_equal(shows(whole(rig), "GPUs"), 0);
    assert_int_equal(whole(rig)->piece_ids.count, 1);
}

static void a_running_piece_survives_and_its_end_gives_the_resources_back(void **state)
{
    struct rig *rig = *state;
    int starter, child;
    char directory[256];
    begin(rig, "");
    assert_int_equal(dial_piece(rig, ASKS("RequestCpus = 3")), 0);
    until(rig, first_is_claimed);
    assert_int_equal(call(rig, VERB_ACTIVATE, 1, ASKS("RequestCpus = 3")), 0);
    until(rig, has_pids);
    assert_true(read_pids(rig, &starter, &child, directory));
    assert_non_null(strstr(directory, "/dir_slot1_1_1.0_1"));
    restart(rig);
    assert_int_equal(piece(rig, 0)->activity, SLOT_BUSY);
    assert_int_equal(shows(whole(rig), "Cpus"), 1);
    assert_int_equal(os_kill(rig->bed->os, starter, SIGKILL), 0);
    until(rig, has_gone);
    until(rig, is_cleaned);
    until(rig, is_whole);
    assert_int_equal(shows(whole(rig), "Cpus"), 4);
    until_collector(rig, collector_has_no_piece);
}

static void what_the_collector_still_has_of_another_life_is_taken_away(void **state)
{
    struct rig *rig = *state;
    begin(rig, "");
    assert_int_equal(dial_piece(rig, ASKS("RequestCpus = 2")), 0);
    until(rig, first_is_claimed);
    until_collector(rig, collector_has_piece);
    stop(rig);
    char path[300];
    bed_path(rig->bed, "startd.db", path);
    MUST(os_remove(rig->bed->os, path, err));
    bed_path(rig->bed, "startd.db.witness", path);
    MUST(os_remove(rig->bed->os, path, err));
    bed_path(rig->bed, "startd.db.reserve", path);
    MUST(os_remove(rig->bed->os, path, err));
    start(rig);
    assert_true(is_whole(rig));
    until_collector(rig, collector_has_no_piece);
}

static bool collector_has_the_new_rank(struct rig *rig)
{
    struct answer answer;
    assert_int_equal(client_call(rig->caller, VERB_QUERY,
                                 "[ Type = \"Machine\"; Constraint = \"Rank =?= 77\" ]", NULL,
                                 &answer),
                     0);
    size_t count = answer.ads.count;
    answer_fini(&answer);
    return count == 1;
}

static void start_asks_the_maps_that_are_configured_now(void **state)
{
    struct rig *rig = *state;
    static const char *const MAP =
        "START = \"userMap(\\\"groups\\\", TARGET.Owner, \\\"physics\\\")"
        " == \\\"physics\\\"\"\n"
        "CLASSAD_USER_MAP_NAMES = \"groups\"\n"
        "CLASSAD_USER_MAPDATA_groups = \"* ann %s\"\n";
    char text[1000];
    (void)snprintf(text, sizeof text, MAP, "biology");
    stop(rig);
    load(rig, text);
    start(rig);
    until(rig, is_connected);
    remember_id(rig);
    assert_int_equal(dial_me(rig, JOB), -ENOTSUP);
    (void)snprintf(text, sizeof text, MAP, "physics");
    reload(rig, text);
    remember_id(rig);
    assert_int_equal(dial_me(rig, JOB), 0);
}

static void a_reload_changes_expressions_and_not_the_division(void **state)
{
    struct rig *rig = *state;
    char text[1000];
    begin(rig, "");
    (void)snprintf(text, sizeof text, "%s%s", FOUR,
                   "NUM_SLOTS_TYPE_1 = 2\nRANK = 77\n"
                   "MODIFY_REQUEST_EXPR_REQUESTMEMORY = \"quantize(RequestMemory,{512})\"\n"
                   "MODIFY_REQUEST_EXPR_REQUESTGPUs = 2\n");
    reload(rig, text);
    assert_true(is_whole(rig));
    until_collector(rig, collector_has_the_new_rank);
    assert_int_equal(dial_piece(rig, ASKS("RequestMemory = 1; RequestGPUs = 1")), 0);
    assert_int_equal(shows(piece(rig, 0), "Memory"), 512);
    assert_int_equal(shows(piece(rig, 0), "GPUs"), 2);
    const struct ad_expr *shown =
        ad_lookup(whole(rig)->ad,
                  "MODIFY_REQUEST_EXPR_REQUESTMEMORY"); /* the negotiator counts so */
    struct strbuf printed;
    strbuf_init(&printed, 0);
    assert_non_null(shown);
    ad_expr_print(shown, AD_OLD, &printed);
    assert_non_null(strstr(strbuf_text(&printed), "512"));
    strbuf_fini(&printed);
}

static void slots_of_a_type_may_have_a_policy_of_their_own(void **state)
{
    struct rig *rig = *state;
    stop(rig);
    load(rig, "NUM_CPUS = 4\nNUM_SLOTS_TYPE_1 = 1\nSLOT_TYPE_1 = \"cpus=1\"\nNUM_SLOTS_TYPE_2 = 1\n"
              "SLOT_TYPE_2 = \"cpus=2\"\nSLOT_TYPE_2_PARTITIONABLE = true\nRANK = 3\n"
              "SLOT_TYPE_2_RANK = 8\nSLOT_TYPE_2_START = \"TARGET.Owner == \\\"ann\\\"\"\n");
    start(rig);
    assert_int_equal(rig->startd->slot_count, 2);
    assert_int_equal(shows(rig->startd->slots[0], "Rank"), 3);
    assert_int_equal(shows(rig->startd->slots[1], "Rank"), 8);
    assert_int_equal(rig->startd->slots[1]->kind, SLOT_PARTITIONABLE);
    until(rig, is_connected);
    (void)snprintf(rig->claim_id, sizeof rig->claim_id, "%s",
                   (const char *)rig->startd->slots[1]->piece_ids.items[0]);
    assert_int_equal(dial_me(rig, "[Owner = \"bob\"; Requirements = true]"), -ENOTSUP);
    (void)snprintf(rig->claim_id, sizeof rig->claim_id, "%s",
                   (const char *)rig->startd->slots[1]->piece_ids.items[0]);
    assert_int_equal(dial_me(rig, JOB), 0);
    assert_string_equal(rig->startd->slots[2]->name, "slot2_1@wn01");
    assert_int_equal(shows(rig->startd->slots[2], "Rank"), 8); /* a piece is of its type */
}

static void a_division_that_cannot_be_is_refused_at_the_start(void **state)
{
    static const char *const BAD[][2] = {{"NUM_SLOTS_TYPE_1 = 2000", "NUM_SLOTS_TYPE_1"},
                                         {"NUM_SLOTS_TYPE_2 = 1\nSLOT_TYPE_2 = \"frogs=2\"",
                                          "SLOT_TYPE_2"},
                                         {"MACHINE_RESOURCE_Cpus = 4", "MACHINE_RESOURCE_Cpus"}};
    struct rig *rig = *state;
    stop(rig);
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        struct err err = {{0}};
        void *startd = NULL;
        load(rig, BAD[i][0]);
        rig->daemon.env.config = rig->daemon.config;
        assert_true(startd_daemon.start(&rig->daemon.env, &startd, &err) != 0);
        if (strstr(err.text, BAD[i][1]) == NULL) {
            fail_msg("%s: %s", BAD[i][0], err.text);
        }
    }
    load(rig, "MACHINE_RESOURCE_Tapes = 2\nMACHINE_RESOURCE_GPUs = 1\nMACHINE_RESOURCE_NAMES = "
              "{GPUs}");
    start(rig);
    assert_int_equal(shows(whole(rig), "GPUs"), 1);
    assert_int_equal(shows(whole(rig), "Tapes"), -1); /* not among the names that count */
}

static void a_claim_of_a_piece_takes_no_larger_job(void **state)
{
    struct rig *rig = *state;
    begin(rig, "");
    assert_int_equal(dial_piece(rig, ASKS("RequestCpus = 2")), 0);
    until(rig, first_is_claimed);
    assert_int_equal(call(rig, VERB_ACTIVATE, 1, ASKS("RequestCpus = 3")), -ENOSPC);
    assert_non_null(strstr(last_text, "requests 3 Cpus, but only 2 are free"));
    assert_int_equal(call(rig, VERB_ACTIVATE, 2, ASKS("RequestCpus = 1")), 0);
}

static void the_machine_sleeps_as_one_whole_slot(void **state)
{
    struct rig *rig = *state;
    begin(rig, "POWER_METHOD = command\nPOWER_SLEEP_CMD = \"/bin/true\"\n");
    assert_int_equal(dial_piece(rig, ASKS("RequestCpus = 2")), 0);
    until(rig, first_is_claimed);
    struct answer answer = {0};
    assert_int_equal(call(rig, VERB_RELEASE_CLAIM, 1, JOB), 0);
    until(rig, is_whole);
    hibernate_leave(rig->startd); /* as if HIBERNATE were true */
    until_collector(rig, collector_has_offline);
    assert_int_equal(client_call(rig->caller, VERB_QUERY,
                                 "[ Type = \"Machine\"; Constraint = \"Offline =?= true\" ]", NULL,
                                 &answer),
                     0);
    assert_int_equal(answer.ads.count, 1);
    const struct ad *offline = answer.ads.items[0];
    assert_int_equal(ad_int_or(offline, "Cpus", -1), 4);
    assert_int_equal(ad_int_or(offline, "NumDynamicSlots", -1), 0);
    assert_true(ad_bool_or(offline, "PartitionableSlot", false));
    assert_true(collector_has_no_piece(rig));
    answer_fini(&answer);
}

/* What its offline ad says of the machine: "" without one. */
static const char *offline_state(struct rig *rig)
{
    static _Thread_local char text[32];
    struct answer answer;
    assert_int_equal(client_call(rig->caller, VERB_QUERY,
                                 "[ Type = \"Machine\"; Constraint = \"Offline =?= true\" ]", NULL,
                                 &answer),
                     0);
    (void)snprintf(text, sizeof text, "%s",
                   answer.ads.count > 0 ? ad_string_or(answer.ads.items[0], "PowerState", "?")
                                        : "");
    answer_fini(&answer);
    return text;
}
static bool collector_has_live(struct rig *rig)
{
    return offline_state(rig)[0] == '\0';
}
static bool is_advertised(struct rig *rig)
{
    return rig->startd->sent.first_done;
}
static bool is_awake(struct rig *rig)
{
    return !going_down_has_begun(rig->startd);
}
static bool is_timed(struct rig *rig)
{
    hibernate_ask(rig->startd);
    return rig->startd->down.until_ms != 0;
}
static bool is_to_be_taken_down(struct rig *rig)
{
    return loop_timer_is_set(rig->startd->down.ask_timer);
}

static void a_machine_that_the_rooster_takes_down_says_so_and_goes_on_when_it_is_told(void **state)
{
    static const char *const CHANGE[] = {"[ PowerState = \"Waking\" ]", NULL};
    static const char *const LONG[] = {"[ PowerDownSeconds = 3600 ]", NULL};
    struct rig *rig = *state;
    struct client *rooster;
    struct answer answer;
    char args[200];
    begin(rig, "POWER_METHOD = rooster\n");
    rooster = client_dial(rig->bed, SCOPE_ROOSTER, "", NULL, NULL);
    until(rig, is_advertised);
    rig->startd->look.awake_since_ms = 1;
    hibernate_leave(rig->startd); /* as if HIBERNATE were true */
    until_collector(rig, collector_has_offline);
    assert_string_equal(offline_state(rig), "GoingDown");
    until(rig, is_to_be_taken_down);
    loop_timer_stop(rig->startd->down.ask_timer);
    hibernate_ask(rig->startd); /* the answer is that it is to wait */
    until(rig, is_to_be_taken_down);
    assert_string_equal(offline_state(rig), "GoingDown");
    assert_true(going_down_has_begun(rig->startd));
    assert_true(rig->startd->down.until_ms == 0);
    /* The order has begun, and may take an hour. */
    (void)snprintf(args, sizeof args, "[ Type = \"Machine\"; Name = \"%s\" ]",
                   ad_string_or(rig->startd->slots[0]->ad, "Name", ""));
    assert_int_equal(client_call(rooster, VERB_MERGE, args, LONG, &answer), 0);
    answer_fini(&answer);
    loop_timer_set(rig->startd->down.guard_timer,
                   20000); /* the time that it knew of is nearly over */
    until(rig, is_timed);
    assert_true(rig->startd->down.until_ms >= loop_now_ms(rig->bed->loop) + 3600000);
    assert_true(loop_timer_is_set(rig->startd->down.guard_timer));
    assert_true(going_down_has_begun(rig->startd));
    /* It was saved and is restored: it cannot know, but the rooster does. */
    assert_int_equal(client_call(rooster, VERB_MERGE, args, CHANGE, &answer), 0);
    answer_fini(&answer);
    until(rig, is_awake);
    until_collector(rig, collector_has_live);
    assert_true(rig->startd->look.awake_since_ms > 1); /* HIBERNATE_MIN_UPTIME counts anew */
}

static bool is_sent(struct rig *rig)
{
    return !rig->startd->slots[0]->changed;
}
static bool all_are_sent(struct rig *rig)
{
    return loop_now_ms(rig->bed->loop) - rig->startd->due.all_sent_ms < 60000;
}

static void what_does_not_change_is_renewed_although_other_slots_change_all_the_time(void **state)
{
    struct rig *rig = *state;
    begin(rig, "NUM_SLOTS = 2\nNUM_SLOTS_TYPE_1 = 0\n");
    struct startd *startd = rig->startd;
    assert_int_equal(startd->slot_count, 2);
    until(rig, is_advertised);
    /* A minute before UPDATE_INTERVAL is over one of the slots changes: the other is still due. */
    uint64_t now_ms = loop_now_ms(rig->bed->loop), all_ms = now_ms - 240000;
    startd->due.all_sent_ms = all_ms;
    slot_refresh(startd->slots[0]);
    until(rig, is_sent);
    assert_true(startd->due.all_sent_ms == all_ms);
    assert_in_range(startd->due.send_due_ms, now_ms, now_ms + 60000);
    startd->due.all_sent_ms = now_ms - 300000;
    slot_refresh(startd->slots[0]); /* at the same moment it is due */
    until(rig, all_are_sent);
    assert_true(loop_timer_is_set(startd->due.send_timer));
}

UNIT_TESTS(RIG(what_does_not_change_is_renewed_although_other_slots_change_all_the_time),
           RIG(a_machine_that_the_rooster_takes_down_says_so_and_goes_on_when_it_is_told),
           RIG(a_whole_slot_says_what_it_is_and_offers_a_claim_id_for_each_cpu),
           RIG(a_job_gets_a_piece_as_large_as_it_asks_for),
           RIG(pieces_are_given_out_until_nothing_is_left),
           RIG(a_piece_that_is_not_wanted_is_whole_again_at_once),
           RIG(a_released_piece_is_gone_here_and_in_the_collector),
           RIG(a_match_of_a_piece_that_is_not_confirmed_gives_it_back),
           RIG(a_startd_that_is_started_anew_has_its_pieces_and_their_jobs),
           RIG(a_running_piece_survives_and_its_end_gives_the_resources_back),
           RIG(what_the_collector_still_has_of_another_life_is_taken_away),
           RIG(start_asks_the_maps_that_are_configured_now),
           RIG(a_reload_changes_expressions_and_not_the_division),
           RIG(slots_of_a_type_may_have_a_policy_of_their_own),
           RIG(a_division_that_cannot_be_is_refused_at_the_start),
           RIG(a_claim_of_a_piece_takes_no_larger_job), RIG(the_machine_sleeps_as_one_whole_slot))
