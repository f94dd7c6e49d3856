/* tests/unit/ckpt/test_image.c - tables of an image, written and read; and what is refused.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ckpt/image/image.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/err.h"
#include "ckpt/sum.h"
#include "ckpt/image/tables.h"
#include "ckpt/xstate.h"
#include "tests/support/unit.h"

struct made { /* an image of a process with a thread, a region, and a file */
    struct tables tables;
    struct ckpt_head head;
    struct strbuf bytes;
};

#define REGION_START UINT64_C(0x400000)

static void make(struct made *made)
{
    static const unsigned char XSTATE[XSTATE_MIN];
    struct ckpt_process process = {.pid = 7, .parent = CKPT_NOBODY};
    struct ckpt_thread thread = {.tid = 7};
    struct ckpt_extent extent = {.start = REGION_START + CKPT_PAGE,
                                 .bytes = CKPT_PAGE,
                                 .offset = 2 * (uint64_t)CKPT_PAGE};
    struct ckpt_region region = {.start = REGION_START,
                                 .end = REGION_START + 4 * (uint64_t)CKPT_PAGE,
                                 .kind = CKPT_MEMORY,
                                 .extents = {0, 1}};
    struct ckpt_file file = {.kind = CKPT_EPOLL};
    struct ckpt_fd fd = {.fd = 3};
    struct ckpt_watch watch = {.number = 4, .process = CKPT_NOBODY};
    struct ckpt_lock lock = {.kind = CKPT_FLOCK, .process = CKPT_NOBODY};
    *made = (struct made){.head = {.window = 0x1000000000,
                                   .window_bytes = 16 * (uint64_t)CKPT_PAGE,
                                   .image_bytes = 8 * (uint64_t)CKPT_PAGE,
                                   .xstate_bytes = sizeof XSTATE}};
    tables_init(&made->tables);
    strbuf_init(&made->bytes, 0);
    thread.xstate = tables_add_xstate(&made->tables, XSTATE, sizeof XSTATE);
    process.exe = tables_text(&made->tables, "/bin/job");
    process.threads = (struct ckpt_span){tables_add(&made->tables, CKPT_THREADS, &thread), 1};
    (void)tables_add(&made->tables, CKPT_EXTENTS, &extent);
    process.regions = (struct ckpt_span){tables_add(&made->tables, CKPT_REGIONS, &region), 1};
    file.path = tables_text(&made->tables, "/tmp/notes");
    fd.file = tables_add(&made->tables, CKPT_FILES, &file);
    process.fds = (struct ckpt_span){tables_add(&made->tables, CKPT_FDS, &fd), 1};
    file.kind = CKPT_FILE;
    watch.file = lock.file = tables_add(&made->tables, CKPT_FILES, &file);
    (void)tables_add(&made->tables, CKPT_WATCHES, &watch);
    (void)tables_add(&made->tables, CKPT_LOCKS, &lock);
    (void)tables_add(&made->tables, CKPT_PROCESSES, &process);
}

static void write_out(struct made *made)
{
    assert_int_equal(tables_write(&made->tables, &made->head, &made->bytes), 0);
}

static void fini(struct made *made)
{
    strbuf_fini(&made->bytes);
    tables_fini(&made->tables);
}

/* What is read of it now: an error, with this in its text. */
static void is_refused(struct made *made, int code, const char *text)
{
    struct image *image = NULL;
    struct err err = {.text = ""};
    write_out(made);
    assert_int_equal(image_parse(made->bytes.data, made->bytes.length, &image, &err), code);
    assert_null(image);
    assert_non_null(strstr(err.text, text));
    fini(made);
}

static void what_was_written_is_read(void **state)
{
    (void)state;
    struct made made;
    struct image *image = NULL;
    make(&made);
    write_out(&made);
    assert_int_equal(image_parse(made.bytes.data, made.bytes.length, &image, NULL), 0);
    assert_int_equal(image_process(image, 0)->pid, 7);
    assert_string_equal(image_text(image, image_process(image, 0)->exe), "/bin/job");
    assert_string_equal(image_text(image, image_process(image, 0)->cwd), "");
    assert_int_equal(image_region(image, 0)->start, REGION_START);
    assert_int_equal(image_extent(image, 0)->bytes, CKPT_PAGE);
    assert_int_equal(image_fd(image, 0)->fd, 3);
    assert_string_equal(image_text(image, image_file(image, 0)->path), "/tmp/notes");
    assert_int_equal(image_thread(image, 0)->tid, 7);
    assert_int_equal(image_count(image, CKPT_THREADS), 1);
    assert_int_equal(image_head(image)->version, CKPT_VERSION);
    image_destroy(image);
    fini(&made);
}

static void one_wrong_byte_anywhere_is_found(void **state)
{
    (void)state;
    struct made made;
    make(&made);
    write_out(&made);
    for (size_t i = 0; i < made.bytes.length; i++) {
        struct image *image = NULL;
        made.bytes.data[i] ^= 0x10;
        assert_int_not_equal(image_parse(made.bytes.data, made.bytes.length, &image, NULL), 0);
        assert_null(image);
        made.bytes.data[i] ^= 0x10;
    }
    fini(&made);
}

static void one_that_is_cut_off_is_found(void **state)
{
    (void)state;
    struct made made;
    make(&made);
    write_out(&made);
    for (size_t length = 0; length < made.bytes.length; length++) {
        struct image *image = NULL;
        assert_int_equal(image_parse(made.bytes.data, length, &image, NULL), -EBADMSG);
    }
    fini(&made);
}

static void another_version_is_named(void **state)
{
    (void)state;
    struct made made;
    struct image *image = NULL;
    struct err err;
    make(&made);
    write_out(&made);
    made.head.version = 9;
    memcpy(made.bytes.data, &made.head, sizeof made.head);
    assert_int_equal(image_parse(made.bytes.data, made.bytes.length, &image, &err),
                     -EPROTONOSUPPORT);
    assert_string_equal(err.text,
                        "the image has format version 9; this program supports version 1");
    fini(&made);
}

/* Each with a right sum: as somebody would make them who means harm. */
static void what_points_outside_is_refused(void **state)
{
    (void)state;
    struct made made;
#define SPOILT(table, type, change, text)                             \
    do {                                                              \
        make(&made);                                                  \
        ((struct type *)tables_at(&made.tables, (table), 0))->change; \
        is_refused(&made, -EBADMSG, (text));                          \
    } while (0)
    SPOILT(CKPT_PROCESSES, ckpt_process, regions.count = 2, "process 0");
    SPOILT(CKPT_PROCESSES, ckpt_process, regions.first = UINT32_MAX, "process 0");
    SPOILT(CKPT_PROCESSES, ckpt_process, threads.count = 0, "process 0");
    SPOILT(CKPT_PROCESSES, ckpt_process, exe = 10000, "process 0");
    SPOILT(CKPT_PROCESSES, ckpt_process, pid = 0, "process 0");
    SPOILT(CKPT_PROCESSES, ckpt_process, auxv.count = 1, "process 0");
    SPOILT(CKPT_PROCESSES, ckpt_process, parent = 0, "process 0");
    SPOILT(CKPT_PROCESSES, ckpt_process, flags = CKPT_ZOMBIE, "process 0");
    SPOILT(CKPT_REGIONS, ckpt_region, end = REGION_START, "region 0");
    SPOILT(CKPT_REGIONS, ckpt_region, start = REGION_START + 1, "region 0");
    SPOILT(CKPT_REGIONS, ckpt_region, end = REGION_START + CKPT_PAGE, "region 0");
    SPOILT(CKPT_REGIONS, ckpt_region, kind = 0, "region 0");
    SPOILT(CKPT_REGIONS, ckpt_region, kind = CKPT_VVAR + 1, "region 0");
    SPOILT(CKPT_REGIONS, ckpt_region, extents.count = 2, "region 0");
    SPOILT(CKPT_REGIONS, ckpt_region, end = UINT64_C(0x1000001000), "region 0");
    SPOILT(CKPT_EXTENTS, ckpt_extent, start = REGION_START - CKPT_PAGE, "region 0");
    SPOILT(CKPT_EXTENTS, ckpt_extent, start = REGION_START + 8, "region 0");
    SPOILT(CKPT_EXTENTS, ckpt_extent, offset = 17, "extent 0");
    SPOILT(CKPT_EXTENTS, ckpt_extent, bytes = UINT64_MAX, "extent 0");
    SPOILT(CKPT_EXTENTS, ckpt_extent, flags = 2, "extent 0");
    SPOILT(CKPT_THREADS, ckpt_thread, tid = 0, "thread 0");
    SPOILT(CKPT_THREADS, ckpt_thread, xstate = 1, "thread 0");
    SPOILT(CKPT_THREADS, ckpt_thread, signals.count = 1, "thread 0");
    SPOILT(CKPT_FILES, ckpt_file, kind = 0, "file 0");
    SPOILT(CKPT_FILES, ckpt_file, path = 10000, "file 0");
    SPOILT(CKPT_FILES, ckpt_file, kind = CKPT_FD_KINDS, "file 0");
    SPOILT(CKPT_FILES, ckpt_file, kind = CKPT_NAMELESS, "file 0");
    SPOILT(CKPT_FILES, ckpt_file, kind = CKPT_STDIO, "file 0");
    SPOILT(CKPT_FILES, ckpt_file, stdio = 4, "file 0");
    SPOILT(CKPT_FILES, ckpt_file, kind = CKPT_EVENT, "watch 0");
    SPOILT(CKPT_WATCHES, ckpt_watch, in = 2, "watch 0");
    SPOILT(CKPT_WATCHES, ckpt_watch, file = 2, "watch 0");
    SPOILT(CKPT_WATCHES, ckpt_watch, file = CKPT_NOBODY, "watch 0");
    SPOILT(CKPT_WATCHES, ckpt_watch, process = 1, "watch 0");
    SPOILT(CKPT_WATCHES, ckpt_watch, number = -1, "watch 0");
    SPOILT(CKPT_WATCHES, ckpt_watch, path = 10000, "watch 0");
    SPOILT(CKPT_LOCKS, ckpt_lock, kind = 0, "lock 0");
    SPOILT(CKPT_LOCKS, ckpt_lock, kind = CKPT_POSIX_LOCK + 1, "lock 0");
    SPOILT(CKPT_LOCKS, ckpt_lock, file = 2, "lock 0");
    SPOILT(CKPT_LOCKS, ckpt_lock, process = 1, "lock 0");
    SPOILT(CKPT_LOCKS, ckpt_lock, number = -1, "lock 0");
    SPOILT(CKPT_FDS, ckpt_fd, fd = -1, "descriptor 0");
    SPOILT(CKPT_FDS, ckpt_fd, file = 2, "descriptor 0");
#undef SPOILT
    make(&made);
    ((struct ckpt_file *)tables_at(&made.tables, CKPT_FILES, 1))->id = 3;
    is_refused(&made, -EBADMSG, "file 1");
    make(&made);
    made.head.xstate_bytes = CKPT_XSTATE_MAX + 1;
    is_refused(&made, -EBADMSG, "head");
    make(&made);
    made.head.xstate_bytes = XSTATE_MIN - 1;
    is_refused(&made, -EBADMSG, "head");
    make(&made);
    made.head.xstate.components[2] = (struct ckpt_component){.offset = XSTATE_MIN, .bytes = 1};
    is_refused(&made, -EBADMSG, "component 2");
    make(&made);
    made.head.xstate.components[3] = (struct ckpt_component){.offset = 8, .bytes = 8};
    is_refused(&made, -EBADMSG, "component 3");
    make(&made);
    made.head.window = 12;
    is_refused(&made, -EBADMSG, "head");
    make(&made);
    made.head.base = 10000;
    is_refused(&made, -EBADMSG, "head");
    make(&made);
    made.head.flags = 2;
    is_refused(&made, -EBADMSG, "head");
}

/* The one extent says that its bytes are in the base. */
static void make_based(struct made *made)
{
    make(made);
    made->head.flags = CKPT_DELTA;
    struct ckpt_extent *extent = tables_at(&made->tables, CKPT_EXTENTS, 0);
    *extent =
        (struct ckpt_extent){.start = extent->start, .bytes = extent->bytes, .flags = CKPT_IN_BASE};
}

static void only_memory_of_a_delta_is_in_a_base(void **state)
{
    (void)state;
    struct made made;
    struct image *image = NULL;
    make_based(&made);
    write_out(&made);
    assert_int_equal(image_parse(made.bytes.data, made.bytes.length, &image, NULL), 0);
    assert_true(image_is_delta(image));
    image_destroy(image);
    fini(&made);
    make_based(&made);
    made.head.flags = 0;
    is_refused(&made, -EBADMSG, "extent 0");
    make_based(&made);
    ((struct ckpt_extent *)tables_at(&made.tables, CKPT_EXTENTS, 0))->offset = CKPT_PAGE;
    is_refused(&made, -EBADMSG, "extent 0");
    make_based(&made);
    ((struct ckpt_extent *)tables_at(&made.tables, CKPT_EXTENTS, 0))->bytes = 100;
    is_refused(&made, -EBADMSG, "extent 0");
    make_based(&made);
    ((struct ckpt_file *)tables_at(&made.tables, CKPT_FILES, 0))->extents.count = 1;
    is_refused(&made, -EBADMSG, "file 0");
}

static void sums_are_those_that_are_published(void **state)
{
    (void)state;
    static const unsigned char ZEROES[32]; /* RFC 3720, B.4 */
    assert_int_equal(ckpt_sum(0, ZEROES, sizeof ZEROES), 0x8a9136aa);
    assert_int_equal(ckpt_sum(0, "123456789", 9), 0xe3069283);
    assert_int_equal(ckpt_sum(ckpt_sum(0, "1234", 4), "56789", 5), 0xe3069283);
}

static void no_part_of_an_image_is_there_twice(void **state)
{
    (void)state;
    struct made made;
    struct image *image = NULL;
    struct ckpt_file file = {.kind = CKPT_MEMORY_FILE, .extents = {0, 1}};
    struct ckpt_extent extent = {.bytes = 7 * (uint64_t)CKPT_PAGE, .offset = CKPT_PAGE};
    make(&made);
    (void)tables_add(&made.tables, CKPT_FILES, &file); /* what the region has */
    is_refused(&made, -EBADMSG, "damaged image: bad file 2");
    make(&made);
    file.extents.first = tables_add(&made.tables, CKPT_EXTENTS, &extent);
    (void)tables_add(&made.tables, CKPT_FILES, &file); /* with the region's all that it has */
    write_out(&made);
    assert_int_equal(image_parse(made.bytes.data, made.bytes.length, &image, NULL), 0);
    image_destroy(image);
    fini(&made);
    make(&made);
    extent.bytes++;
    extent.offset = 0;
    file.extents.first = tables_add(&made.tables, CKPT_EXTENTS, &extent);
    (void)tables_add(&made.tables, CKPT_FILES, &file);
    is_refused(&made, -EBADMSG, "damaged image: bad file 2");
}

UNIT_TESTS(cmocka_unit_test(what_was_written_is_read),
           cmocka_unit_test(no_part_of_an_image_is_there_twice),
           cmocka_unit_test(one_wrong_byte_anywhere_is_found),
           cmocka_unit_test(one_that_is_cut_off_is_found),
           cmocka_unit_test(another_version_is_named),
           cmocka_unit_test(what_points_outside_is_refused),
           cmocka_unit_test(only_memory_of_a_delta_is_in_a_base),
           cmocka_unit_test(sums_are_those_that_are_published))
