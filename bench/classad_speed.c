/* bench/classad_speed.c - what ads cost: evaluating, matching, taking in, changing, keeping.
 *
 * The slot has 169 attributes, one in eight of them an expression, as HTCondor's have.  Alike: what
 * tells one slot from another differs (names, ids, load, times), ten attributes.  Unlike: every
 * value of every ad is another one.
 *
 * SHORT: BENCH_PART=100
 * LINK: classad base
 * SPDX-License-Identifier: Apache-2.0
 */
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "bench/bench_env.h"
#include "classad/ad.h"

#define SLOT_ATTRS 169
#define SLOTS      10000

static double cpu_s(void)
{
    struct timespec now;
    CHECK(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) == 0);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void set_text(struct ad *slot, const char *name, const char *head, int number,
                     const char *tail)
{
    char text[128];
    (void)snprintf(text, sizeof(text), "%s%d%s", head, number, tail);
    ad_set_string(slot, name, text);
}

/* What changes with each update, and what tells slots apart. */
static void set_own(struct ad *slot, int number, int round)
{
    set_text(slot, "Name", "slot1@node", number, ".example.org");
    set_text(slot, "Machine", "node", number, ".example.org");
    set_text(slot, "MyAddress", "<10.1.0.", number, ":9618?addrs=10.1.0.7-9618&alias=node>");
    set_text(slot, "StarterUserLog", "/var/lib/roost/execute/dir_", number, "");
    ad_set_int(slot, "DaemonStartTime", 1700000000 + number);
    ad_set_int(slot, "KeyboardIdle", 1200 + number + round);
    ad_set_real(slot, "LoadAvg", 0.01 * ((number + round) % 400));
    ad_set_int(slot, "MyCurrentTime", 1700000000 + number + round * 300);
    ad_set_int(slot, "UpdateSequenceNumber", round);
    ad_set_int(slot, "ConsoleIdle", 7000 + number + round);
}

static struct ad *make_slot(int number)
{
    struct ad *slot = ad_create();
    ad_set_string(slot, "MyType", "Machine");
    ad_set_string(slot, "Arch", "X86_64");
    ad_set_string(slot, "OpSys", "LINUX");
    ad_set_int(slot, "Memory", 16384);
    ad_set_int(slot, "Cpus", 8);
    ad_set_int(slot, "Disk", 500000);
    CHECK(ad_set_expr(slot, "START", "KeyboardIdle > 900 && TARGET.ImageSize < 100000", NULL) == 0);
    CHECK(ad_set_expr(slot, "Requirements", "START", NULL) == 0);
    set_own(slot, number, 0);
    for (int i = (int)ad_count(slot); i < SLOT_ATTRS; i++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "DetectedThing%d", i);
        if (i % 8 == 0) {
            CHECK(ad_set_expr(slot, name, "ifThenElse(LoadAvg > 0.3, MY.Cpus - 1, Cpus)", NULL) ==
                  0);
        } else if (i % 3 == 0) {
            ad_set_string(slot, name, "some text of usual length");
        } else if (i % 3 == 1) {
            ad_set_int(slot, name, i * 1000);
        } else {
            ad_set_real(slot, name, i * 0.25);
        }
    }
    return slot;
}

/* Every value another one. */
static struct ad *make_unlike(int number)
{
    struct ad *slot = make_slot(number);
    for (int i = 18; i < SLOT_ATTRS; i++) {
        char name[32];
        char text[64];
        (void)snprintf(name, sizeof(name), "DetectedThing%d", i);
        if (i % 8 == 0) {
            (void)snprintf(text, sizeof(text), "ifThenElse(LoadAvg > 0.3, MY.Cpus - %d, %d)",
                           number, i);
            CHECK(ad_set_expr(slot, name, text, NULL) == 0);
        } else if (i % 3 == 0) {
            (void)snprintf(text, sizeof(text), "text %d of usual %d", i, number);
            ad_set_string(slot, name, text);
        } else if (i % 3 == 1) {
            ad_set_int(slot, name, i * 1000 + number);
        } else {
            ad_set_real(slot, name, i * 0.25 + number);
        }
    }
    set_text(slot, "Arch", "X86_", number, "");
    set_text(slot, "OpSys", "LINUX", number, "");
    ad_set_int(slot, "Memory", 16384 + number);
    ad_set_int(slot, "Cpus", 8 + number);
    ad_set_int(slot, "Disk", 500000 + number);
    return slot;
}

static struct ad *make_job(void)
{
    struct ad *job = ad_create();
    CHECK(ad_set_expr(job, "Requirements",
                      "(TARGET.Arch == \"X86_64\") && (TARGET.OpSys == \"LINUX\") && "
                      "(TARGET.Disk >= RequestDisk) && (TARGET.Memory >= RequestMemory) && "
                      "(TARGET.Cpus >= RequestCpus)",
                      NULL) == 0);
    ad_set_int(job, "RequestDisk", 1000);
    ad_set_int(job, "RequestMemory", 2048);
    ad_set_int(job, "RequestCpus", 2);
    ad_set_int(job, "ImageSize", 40000);
    return job;
}

static void report(const char *name, double seconds, int rounds, double target_us,
                   const char *target)
{
    double us = seconds / rounds * 1e6;
    if (target_us > 0) {
        (void)printf("BENCH %s %.4f us ratio %.2f vs %s\n", name, us, us / target_us, target);
    } else {
        (void)printf("BENCH %s %.4f us\n", name, us);
    }
}

static struct strbuf bytes_of(const struct ad *ad)
{
    struct strbuf bytes;
    strbuf_init(&bytes, 0);
    ad_encode(ad, true, &bytes);
    return bytes;
}

static struct ad *take(struct ad_pool *pool, const struct ad *previous, const struct strbuf *bytes)
{
    struct ad *ad = NULL;
    CHECK(ad_decode_in(pool, previous, bytes->data, bytes->length, NULL, &ad, NULL) == 0);
    return ad;
}

/* The ad in the pool, and what was made to get it there is gone. */
static struct ad *packed(struct ad_pool *pool, struct ad *ad)
{
    ad_pack(pool, NULL, ad);
    return ad;
}

static void bench_evaluation(void)
{
    struct ad_pool *pool = ad_pool_create();
    struct ad *first = packed(pool, make_slot(1));
    struct ad *slot = packed(pool, make_slot(2)); /* differences from the first */
    struct ad *job = packed(pool, make_job());
    struct ad *made = make_slot(3);
    const struct ad_expr *requirements = ad_lookup(job, "Requirements");
    struct ad_context context = {.now_s = 1700000000};
    int rounds = part_of(1000000);

    double start = cpu_s();
    for (int i = 0; i < rounds; i++) {
        CHECK(ad_eval_bool(requirements, job, slot, &context) == AD_TRUE);
    }
    report("classad_requirements_of_five", cpu_s() - start, rounds, 0.3, "target_0.3_us");

    start = cpu_s();
    for (int i = 0; i < rounds; i++) {
        CHECK(ad_eval_bool(requirements, job, made, &context) == AD_TRUE);
    }
    report("classad_requirements_of_five_not_packed", cpu_s() - start, rounds, 0.3,
           "target_0.3_us");

    start = cpu_s();
    for (int i = 0; i < rounds; i++) {
        CHECK(ad_match(job, slot, &context));
    }
    report("classad_match_both_ways", cpu_s() - start, rounds, 8.4, "htcondor_8.4_us");

    ad_destroy(first);
    ad_destroy(slot);
    ad_destroy(job);
    ad_destroy(made);
    ad_pool_destroy(pool);
}

static void bench_text(void)
{
    struct ad *slot = make_slot(1);
    struct strbuf text;
    int rounds = part_of(10000);
    strbuf_init(&text, 0);
    ad_print_long(slot, &text);
    double start = cpu_s();
    for (int i = 0; i < rounds; i++) {
        struct ad *ad = NULL;
        CHECK(ad_parse_long(text.data, text.length, &ad, NULL) == 0);
        ad_destroy(ad);
    }
    report("classad_parse_long_169", cpu_s() - start, rounds, 39, "htcondor_update_39_us");

    struct ad_pool *pool = ad_pool_create();
    ad_pack(pool, NULL, slot);
    start = cpu_s();
    for (int i = 0; i < rounds; i++) {
        strbuf_clear(&text);
        ad_print_long(slot, &text);
    }
    report("classad_print_long_169", cpu_s() - start, rounds, 0, "");
    strbuf_fini(&text);
    ad_destroy(slot);
    ad_pool_destroy(pool);
}

/* Slot 2 sends itself again and again, with its own values changed each time or not. */
static void bench_updates(struct ad *(*make)(int number), const char *kind)
{
    enum { VERSIONS = 16 };
    struct ad_pool *pool = ad_pool_create();
    struct ad *first = packed(pool, make(1));
    struct ad *sent = make(2);
    struct strbuf versions[VERSIONS];
    char name[64];
    for (int i = 0; i < VERSIONS; i++) {
        set_own(sent, 2, i);
        versions[i] = bytes_of(sent);
    }
    struct ad *ad = take(pool, NULL, &versions[0]);
    int rounds = part_of(200000);
    double start = cpu_s();
    for (int i = 0; i < rounds; i++) {
        struct ad *next = take(pool, ad, &versions[i % VERSIONS]);
        ad_destroy(ad);
        ad = next;
    }
    (void)snprintf(name, sizeof(name), "classad_update_169_%s", kind);
    report(name, cpu_s() - start, rounds, 3.5, "target_3.5_us");

    start = cpu_s();
    for (int i = 0; i < rounds; i++) {
        const char *text;
        size_t length;
        const struct strbuf *bytes = &versions[i % VERSIONS];
        CHECK(ad_peek_string(pool, bytes->data, bytes->length, "Name", &text, &length, NULL) == 0);
    }
    (void)snprintf(name, sizeof(name), "classad_peek_name_%s", kind);
    report(name, cpu_s() - start, rounds, 0, "");

    start = cpu_s();
    for (int i = 0; i < rounds; i++) {
        ad_destroy(take(pool, NULL, &versions[i % VERSIONS]));
    }
    (void)snprintf(name, sizeof(name), "classad_decode_169_%s_first_time", kind);
    report(name, cpu_s() - start, rounds, 3.5, "target_3.5_us");

    struct ad *changes = ad_create();
    ad_set_int(changes, "KeyboardIdle", 5);
    ad_set_real(changes, "LoadAvg", 0.5);
    ad_set_int(changes, "MyCurrentTime", 1800000000);
    ad_set_int(changes, "UpdateSequenceNumber", 77);
    ad_set_int(changes, "ConsoleIdle", 6);
    struct strbuf delta = bytes_of(changes);
    ad_destroy(take(pool, NULL, &delta)); /* its shape is in the table while one is there */
    struct ad *kept = take(pool, NULL, &delta);
    ad_set_int(ad, "LastHeardFrom", 1700000000);
    start = cpu_s();
    for (int i = 0; i < rounds; i++) {
        struct ad *some = take(pool, NULL, &delta);
        struct ad *next = ad_change(pool, ad, some);
        ad_set_int(next, "LastHeardFrom", 1700000000 + i);
        ad_destroy(some);
        ad_destroy(ad);
        ad = next;
    }
    (void)snprintf(name, sizeof(name), "classad_delta_of_five_%s", kind);
    report(name, cpu_s() - start, rounds, 1.0, "target_1_us");

    struct strbuf out;
    strbuf_init(&out, 0);
    start = cpu_s();
    for (int i = 0; i < rounds; i++) {
        strbuf_clear(&out);
        ad_encode(ad, true, &out);
    }
    (void)snprintf(name, sizeof(name), "classad_encode_169_%s", kind);
    report(name, cpu_s() - start, rounds, 0, "");
    strbuf_fini(&out);
    strbuf_fini(&delta);
    for (int i = 0; i < VERSIONS; i++) {
        strbuf_fini(&versions[i]);
    }
    ad_destroy(changes);
    ad_destroy(kept);
    ad_destroy(first);
    ad_destroy(sent);
    ad_destroy(ad);
    ad_pool_destroy(pool);
}

static void bench_alone(void)
{
    struct ad *sent = make_slot(1);
    struct strbuf bytes = bytes_of(sent);
    int rounds = part_of(50000);
    double start = cpu_s();
    for (int i = 0; i < rounds; i++) {
        ad_destroy(take(NULL, NULL, &bytes));
    }
    report("classad_decode_169_without_pool", cpu_s() - start, rounds, 0, "");
    (void)printf("BENCH classad_bytes_169 %zu bytes\n", bytes.length);
    start = cpu_s();
    for (int i = 0; i < rounds; i++) {
        strbuf_clear(&bytes);
        ad_encode(sent, true, &bytes);
    }
    report("classad_encode_169_made_by_setters", cpu_s() - start, rounds, 0, "");
    strbuf_fini(&bytes);
    ad_destroy(sent);
}

/* Heap of a pool of ads that arrived, were updated three times, stamped, and evaluated once. */
static void bench_memory(struct ad *(*make)(int number), const char *kind, double target)
{
    struct ad_pool *pool = ad_pool_create();
    int slots = part_of(SLOTS);
    struct ad **ads = mem_zalloc((size_t)slots * sizeof(struct ad *));
    (void)malloc_trim(0);
    size_t before = mallinfo2().uordblks;
    for (int i = 0; i < slots; i++) {
        struct ad *sent = make(i);
        for (int round = 0; round < 4; round++) {
            set_own(sent, i, round);
            struct strbuf bytes = bytes_of(sent);
            struct ad *next = take(pool, ads[i], &bytes);
            ad_set_int(next, "LastHeardFrom", 1700000000 + i);
            ad_set_string(next, "MyAddress", "<10.1.2.3:9618>");
            ad_destroy(ads[i]);
            ads[i] = next;
            strbuf_fini(&bytes);
        }
        ad_destroy(sent);
        CHECK(ad_bool_or(ads[i], "Requirements", true));
    }
    size_t after = mallinfo2().uordblks;
    double each = (double)(after - before) / slots;
    (void)printf("BENCH classad_memory_%s %.0f bytes ratio %.2f vs target_%.0f_bytes\n", kind, each,
                 each / target, target);
    for (int i = 0; i < slots; i++) {
        ad_destroy(ads[i]);
    }
    mem_free(ads);
    ad_pool_destroy(pool);
}

int main(void)
{
    bench_evaluation();
    bench_text();
    bench_updates(make_slot, "alike");
    bench_updates(make_unlike, "unlike");
    bench_alone();
    bench_memory(make_slot, "alike", 2048);
    bench_memory(make_unlike, "unlike", 6144);
    return 0;
}
