/* bench/classad_speed.c - what a Requirements, a match, a parse and a decode of a slot's ad cost.
 *
 * LINK: classad base
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/check.h"
#include "base/strbuf.h"
#include "classad/ad.h"

#define SLOT_ATTRS 169

static double cpu_s(void)
{
    struct timespec now;
    CHECK(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) == 0);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static struct ad *make_slot(void)
{
    struct ad *slot = ad_create();
    ad_set_string(slot, "MyType", "Machine");
    ad_set_string(slot, "Name", "slot1@node1.example.org");
    ad_set_string(slot, "Arch", "X86_64");
    ad_set_string(slot, "OpSys", "LINUX");
    ad_set_int(slot, "Memory", 16384);
    ad_set_int(slot, "Cpus", 8);
    ad_set_int(slot, "Disk", 500000);
    CHECK(ad_set_expr(slot, "START", "KeyboardIdle > 900 && TARGET.ImageSize < 100000", NULL) == 0);
    CHECK(ad_set_expr(slot, "Requirements", "START", NULL) == 0);
    ad_set_int(slot, "KeyboardIdle", 1200);
    for (int i = (int)ad_count(slot); i < SLOT_ATTRS; i++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "DetectedThing%d", i);
        if (i % 3 == 0) {
            ad_set_string(slot, name, "some text of usual length");
        } else if (i % 3 == 1) {
            ad_set_int(slot, name, i * 1000);
        } else {
            ad_set_real(slot, name, i * 0.25);
        }
    }
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

static void report(const char *name, double seconds, int rounds, const char *peer)
{
    (void)printf("BENCH %s %.4f us%s\n", name, seconds / rounds * 1e6, peer);
}

int main(void)
{
    struct ad *slot = make_slot();
    struct ad *job = make_job();
    const struct ad_expr *requirements = ad_lookup(job, "Requirements");
    struct ad_context context = {.now_s = 1700000000};
    struct strbuf text;
    struct strbuf bytes;
    strbuf_init(&text, 0);
    strbuf_init(&bytes, 0);
    ad_print_long(slot, &text);
    ad_encode(slot, true, &bytes);

    double start = cpu_s();
    int rounds = 1000000;
    for (int i = 0; i < rounds; i++) {
        CHECK(ad_eval_bool(requirements, job, slot, &context) == AD_TRUE);
    }
    report("classad_requirements_of_five", cpu_s() - start, rounds, " ratio 0.3 vs target_us");

    start = cpu_s();
    for (int i = 0; i < rounds; i++) {
        CHECK(ad_match(job, slot, &context));
    }
    report("classad_match_both_ways", cpu_s() - start, rounds, "");

    rounds = 10000;
    start = cpu_s();
    for (int i = 0; i < rounds; i++) {
        struct ad *ad = NULL;
        CHECK(ad_parse_long(text.data, text.length, &ad, NULL) == 0);
        ad_destroy(ad);
    }
    report("classad_parse_long_169", cpu_s() - start, rounds, "");

    start = cpu_s();
    for (int i = 0; i < rounds; i++) {
        struct ad *ad = NULL;
        CHECK(ad_decode(bytes.data, bytes.length, NULL, &ad, NULL) == 0);
        ad_destroy(ad);
    }
    report("classad_decode_169", cpu_s() - start, rounds, "");

    start = cpu_s();
    for (int i = 0; i < rounds; i++) {
        strbuf_clear(&bytes);
        ad_encode(slot, true, &bytes);
    }
    report("classad_encode_169", cpu_s() - start, rounds, "");
    (void)printf("BENCH classad_bytes_169 %zu bytes\n", bytes.length);

    strbuf_fini(&text);
    strbuf_fini(&bytes);
    ad_destroy(slot);
    ad_destroy(job);
    return 0;
}
