/* tests/unit/wire/test_wire_document.c - docs/protocol/wire.md says what the code does.
 *
 * The example's bytes are decoded from the page, and its table of verbs is that of wire/verbs.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>

#include <cmocka.h>

#include "base/strbuf.h"
#include "base/text.h"
#include "classad/ad.h"
#include "wire/frame.h"
#include "wire/wire.h"

#define FRAMES 6 /* on the page */

struct document {
    struct strbuf frames[FRAMES + 1]; /* the bytes of each ```hex block */
    size_t frame_count;
    size_t verb_rows, verb_rows_wrong;
};

/* A line of a block: pairs of hex digits up to two blanks. */
static void hex_line(struct strbuf *out, const char *line)
{
    while (line[0] != '\n' && line[0] != '\0' && line[0] != ' ') {
        char pair[3] = {line[0], line[1], '\0'};
        uint8_t byte = 0;
        assert_int_equal(text_unhex(pair, &byte, 1, NULL), 0);
        strbuf_append(out, &byte, 1);
        line += line[2] == ' ' ? 3 : 2;
    }
}

/* "| 13 | QUERY | READ, WRITE | 30000 |" */
static void verb_line(struct document *document, const char *line)
{
    unsigned number = 0, deadline_ms = 0;
    char name[64], needs[200], scopes[200];
    if (sscanf(line, "| %u | %63[A-Z_] | %199[A-Z, -] | %u |", &number, name, needs,
               &deadline_ms) != 4) {
        return;
    }
    const struct wire_verb_info *info = wire_verb_find((enum wire_verb)number);
    struct strbuf bare;
    strbuf_init(&bare, 0);
    for (const char *at = needs; *at != '\0'; at++) {
        if (*at != ' ' && *at != '-') {
            strbuf_putc(&bare, *at);
        }
    }
    document->verb_rows++;
    if (info == NULL || strcmp(info->name, name) != 0 || info->deadline_ms != deadline_ms ||
        strcmp(scope_names(info->scopes, scopes, sizeof scopes), strbuf_text(&bare)) != 0) {
        document->verb_rows_wrong++;
        (void)fprintf(stderr, "wire.md and verbs.c differ: %s", line);
    }
    strbuf_fini(&bare);
}

static int document_read(void **state)
{
    struct document *document = calloc(1, sizeof *document);
    const char *tree = getenv("ROOST_SRC");
    char path[4096], line[512];
    (void)snprintf(path, sizeof path, "%s/docs/protocol/wire.md", tree == NULL ? "." : tree);
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return -1;
    }
    bool inside = false;
    while (fgets(line, sizeof line, file) != NULL) {
        if (strcmp(line, "```hex\n") == 0) {
            assert_true(document->frame_count < FRAMES);
            strbuf_init(&document->frames[document->frame_count++], 0);
            inside = true;
        } else if (strncmp(line, "```", 3) == 0) {
            inside = false;
        } else if (inside) {
            hex_line(&document->frames[document->frame_count - 1], line);
        } else {
            verb_line(document, line);
        }
    }
    (void)fclose(file);
    *state = document;
    return 0;
}

static int document_free(void **state)
{
    struct document *document = *state;
    for (size_t i = 0; i < document->frame_count; i++) {
        strbuf_fini(&document->frames[i]);
    }
    free(document);
    return 0;
}

static void frame_get(const struct document *document, size_t index, struct frame *frame,
                      struct frame_message *message)
{
    const struct strbuf *bytes = &document->frames[index];
    size_t size = 0;
    assert_int_equal(frame_decode(bytes->data, bytes->length, FRAME_GREETING_MAX, frame, &size,
                                  NULL),
                     1);
    assert_int_equal(size, bytes->length);
    assert_int_equal(frame_message_decode(frame->body, frame->body_length, message, NULL), 0);
}

static void the_page_shows_six_frames(void **state)
{
    assert_int_equal(((struct document *)*state)->frame_count, FRAMES);
}

static void its_hello_and_welcome_are_greetings(void **state)
{
    struct frame frame;
    struct frame_message message;
    frame_get(*state, 0, &frame, &message);
    assert_int_equal(frame.type, FRAME_HELLO);
    assert_int_equal(frame.version, 1);
    assert_int_equal(frame.version_min, 1);
    assert_string_equal(ad_string_or(message.args, "Token", ""), "e.y");
    assert_string_equal(ad_string_or(message.args, "Software", ""), "example 1");
    frame_message_fini(&message);
    frame_get(*state, 1, &frame, &message);
    assert_int_equal(frame.type, FRAME_WELCOME);
    assert_string_equal(ad_string_or(message.args, "Identity", ""), "alice@pool");
    frame_message_fini(&message);
}

static void its_query_is_the_bytes_that_we_would_send(void **state)
{
    struct document *document = *state;
    struct frame frame;
    struct frame_message message;
    struct strbuf out;
    frame_get(document, 2, &frame, &message);
    assert_int_equal(frame.type, FRAME_REQUEST);
    assert_int_equal(frame.verb, VERB_QUERY);
    assert_int_equal(frame.request, 1);
    assert_int_equal(frame.deadline_ms, 30000);
    assert_string_equal(ad_string_or(message.args, "Constraint", ""), "Cpus>=8");
    assert_int_equal(ad_int_or(message.args, "Limit", 0), 1);
    strbuf_init(&out, 0);
    size_t begin = frame_begin(&out, FRAME_REQUEST, 0, VERB_QUERY, 1);
    frame_put_u32(&out, 30000);
    frame_put_body(&out, &(struct wire_body){.args = message.args});
    assert_int_equal(frame_end(&out, begin, 0, WIRE_FRAME_MAX), 0);
    assert_int_equal(out.length, document->frames[2].length);
    assert_memory_equal(out.data, document->frames[2].data, out.length);
    strbuf_fini(&out);
    frame_message_fini(&message);
}

static void its_replies_are_a_part_a_last_one_and_a_refusal(void **state)
{
    struct frame frame;
    struct frame_message message;
    frame_get(*state, 3, &frame, &message);
    assert_int_equal(frame.type, FRAME_REPLY);
    assert_int_equal(frame.flags, FRAME_FLAG_MORE);
    assert_int_equal(message.ad_count, 1);
    assert_string_equal(ad_string_or(message.ads[0], "Name", ""), "slot1@wn01");
    frame_message_fini(&message);
    frame_get(*state, 4, &frame, &message);
    assert_int_equal(frame.flags, 0);
    assert_int_equal(ad_int_or(message.args, "Count", 0), 1);
    frame_message_fini(&message);
    frame_get(*state, 5, &frame, &message);
    assert_int_equal(frame.status, -EACCES);
    assert_int_equal(frame.text_length, 17);
    assert_memory_equal(frame.text, "token is too weak", 17);
    frame_message_fini(&message);
}

static void its_table_of_verbs_is_that_of_the_code(void **state)
{
    const struct document *document = *state;
    unsigned known = 0;
    for (unsigned verb = 1; verb < 1000; verb++) {
        known += wire_verb_find((enum wire_verb)verb) != NULL;
    }
    assert_int_equal(document->verb_rows_wrong, 0);
    assert_int_equal(document->verb_rows, known);
}

static void scopes_have_names_both_ways(void **state)
{
    (void)state;
    char text[128];
    uint32_t scope = 0;
    assert_string_equal(scope_names(SCOPE_READ | SCOPE_ADMINISTRATOR, text, sizeof text),
                        "READ,ADMINISTRATOR");
    assert_string_equal(scope_names(SCOPE_READ | SCOPE_ADMINISTRATOR, text, 8), "READ");
    assert_string_equal(scope_names(0, text, sizeof text), "");
    assert_int_equal(scope_parse("negotiator", &scope), 0);
    assert_int_equal(scope, SCOPE_NEGOTIATOR);
    assert_int_equal(scope_parse("ROOT", &scope), -EINVAL);
    assert_string_equal(wire_verb_name((enum wire_verb)999), "?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_page_shows_six_frames),
        cmocka_unit_test(its_hello_and_welcome_are_greetings),
        cmocka_unit_test(its_query_is_the_bytes_that_we_would_send),
        cmocka_unit_test(its_replies_are_a_part_a_last_one_and_a_refusal),
        cmocka_unit_test(its_table_of_verbs_is_that_of_the_code),
        cmocka_unit_test(scopes_have_names_both_ways),
    };
    return cmocka_run_group_tests(tests, document_read, document_free);
}
