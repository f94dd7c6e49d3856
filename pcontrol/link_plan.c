/* pcontrol/link_plan.c - see link_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pcontrol/link_plan.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/text.h"
#include "pclient/protocol.h"

#define WORDS_MAX 8
#define SHOWN_MAX 60 /* bytes of a bad line that an error shows */

/* Copies a word, cut to the room that there is. */
static void copy_word(char *to, size_t size, const char *word, size_t length)
{
    size_t count = length < size - 1 ? length : size - 1;
    memcpy(to, word, count);
    to[count] = '\0';
}

void link_reader_init(struct link_reader *reader, const char *nonce)
{
    *reader = (struct link_reader){0};
    CHECK(strlen(nonce) < sizeof(reader->nonce));
    copy_word(reader->nonce, sizeof(reader->nonce), nonce, strlen(nonce));
}

/* The words of a line, separated by single blanks; each is cut to LINK_TOKEN_MAX - 1 bytes, which
 * is more than any has. */
struct line_words {
    char word[WORDS_MAX][LINK_TOKEN_MAX];
    size_t count;
};

static void split_line(const char *line, size_t length, struct line_words *ret)
{
    size_t at = 0;
    ret->count = 0;
    while (at < length && ret->count < WORDS_MAX) {
        const char *blank = memchr(line + at, ' ', length - at);
        size_t end = blank != NULL ? (size_t)(blank - line) : length;
        copy_word(ret->word[ret->count++], LINK_TOKEN_MAX, line + at, end - at);
        at = end + 1;
    }
}

static bool is_word(const struct line_words *words, size_t at, const char *word)
{
    return at < words->count && strcmp(words->word[at], word) == 0;
}

static bool read_number(const struct line_words *words, size_t at, int64_t min, int64_t max,
                        int64_t *ret)
{
    return at < words->count && text_parse_int64(words->word[at], ret, NULL) == 0 && *ret >= min &&
           *ret <= max;
}

/* "FOLLOW NONCE 1 namespace 60 TOKEN" */
static bool read_follows(const struct link_reader *reader, const struct line_words *words,
                         struct link_message *ret)
{
    int64_t version;
    if (!is_word(words, 0, PCLIENT_FOLLOWS) || !is_word(words, 1, reader->nonce) ||
        words->count != 6 || !read_number(words, 2, 1, INT_MAX, &version) ||
        !read_number(words, 4, 1, PCLIENT_LEASE_MAX_S, &ret->lease_s)) {
        return false;
    }
    ret->kind = LINK_FOLLOWS;
    ret->namespaces = is_word(words, 3, PCLIENT_NAMESPACE);
    memcpy(ret->token, words->word[5], sizeof(ret->token));
    return true;
}

/* "END EXIT 0 0.01 0.02 1234" or "END CRASH 9 timeout 0.01 0.02 1234" */
static bool read_end(const struct line_words *words, struct link_message *ret)
{
    int64_t code;
    size_t figures = words->count == 7 ? 4 : 3;
    struct link_end *end = &ret->end;
    *end = (struct link_end){.crashed = is_word(words, 1, PCLIENT_CRASHED)};
    if ((words->count != 6 && words->count != 7) ||
        (!end->crashed && !is_word(words, 1, PCLIENT_EXITED)) ||
        !read_number(words, 2, 0, 255, &code) ||
        text_parse_double(words->word[figures], &end->user_cpu_s, NULL) != 0 ||
        text_parse_double(words->word[figures + 1], &end->system_cpu_s, NULL) != 0 ||
        !read_number(words, figures + 2, 0, INT64_MAX, &end->max_rss_kib)) {
        return false;
    }
    end->code = (int)code;
    if (figures == 4) {
        copy_word(end->why, sizeof(end->why), words->word[3], strlen(words->word[3]));
    }
    ret->kind = LINK_ENDED;
    return true;
}

static bool read_line(struct link_reader *reader, const char *line, size_t length,
                      struct link_message *ret)
{
    struct line_words words;
    int64_t number;
    split_line(line, length, &words);
    if (is_word(&words, 0, PCLIENT_OUT) || is_word(&words, 0, PCLIENT_ERR)) {
        if (words.count != 2 || !read_number(&words, 1, 1, (int64_t)PCLIENT_PUSH_MAX, &number)) {
            return false;
        }
        reader->stream = is_word(&words, 0, PCLIENT_OUT) ? 1 : 2;
        reader->left = (size_t)number;
        ret->kind = LINK_OUTPUT;
        return true;
    }
    if (is_word(&words, 0, PCLIENT_END)) {
        return read_end(&words, ret);
    }
    if (is_word(&words, 0, PCLIENT_PONG) && words.count == 2) {
        ret->kind = LINK_PONG;
        memcpy(ret->token, words.word[1], sizeof(ret->token));
        return true;
    }
    if (is_word(&words, 0, PCLIENT_REFUSED)) {
        ret->kind = LINK_REFUSED;
        size_t skip = strlen(PCLIENT_REFUSED) + (words.count > 1 ? 1 : 0);
        ret->data = line + skip;
        ret->length = length - skip;
        return true;
    }
    if (words.count != 1) {
        return false;
    }
    if (is_word(&words, 0, PCLIENT_DONE) || is_word(&words, 0, PCLIENT_OK)) {
        ret->kind = is_word(&words, 0, PCLIENT_OK) ? LINK_OK : LINK_DONE;
        return true;
    }
    ret->kind = LINK_STARTED;
    return read_number(&words, 0, 1, INT_MAX, &ret->pid);
}

/* Gives what is there of a block of output. */
static enum link_read read_output(struct link_reader *reader, const char *data, size_t length,
                                  size_t *used, struct link_message *ret)
{
    *ret = (struct link_message){.kind = LINK_OUTPUT,
                                 .stream = reader->stream,
                                 .data = data,
                                 .length = length < reader->left ? length : reader->left};
    reader->left -= ret->length;
    *used += ret->length;
    return ret->length > 0 ? LINK_MESSAGE : LINK_MORE;
}

/* Before the answer to "follow": drops lines that are something else, such as a greeting. */
static enum link_read drop_noise(struct link_reader *reader, const char *line, size_t length,
                                 struct err *err)
{
    reader->noise_bytes += length;
    if (reader->noise_bytes <= LINK_NOISE_MAX) {
        return LINK_MORE;
    }
    (void)err_set(err, -EPROTO, "%zu bytes came, but no answer of a pclient; the last line: %.*s",
                  reader->noise_bytes, (int)(length < SHOWN_MAX ? length : SHOWN_MAX), line);
    return LINK_BAD;
}

enum link_read link_plan_read(struct link_reader *reader, const char *data, size_t length,
                              size_t *used, struct link_message *ret, struct err *err)
{
    *used = 0;
    if (reader->left > 0) {
        return read_output(reader, data, length, used, ret);
    }
    for (;;) {
        const char *line = data + *used;
        size_t rest = length - *used;
        const char *newline = rest > 0 ? memchr(line, '\n', rest) : NULL;
        size_t line_length = newline != NULL ? (size_t)(newline - line) : rest;
        if (line_length > LINK_LINE_MAX) {
            (void)err_set(err, -EPROTO, "a line has more than %zu bytes", LINK_LINE_MAX);
            return LINK_BAD;
        }
        if (newline == NULL) {
            return LINK_MORE;
        }
        *used += line_length + 1;
        *ret = (struct link_message){0};
        if (!reader->follows) {
            struct line_words words;
            split_line(line, line_length, &words);
            reader->follows = read_follows(reader, &words, ret);
            if (reader->follows) {
                return LINK_MESSAGE;
            }
            if (drop_noise(reader, line, line_length + 1, err) == LINK_BAD) {
                return LINK_BAD;
            }
            continue;
        }
        if (!read_line(reader, line, line_length, ret)) {
            (void)err_set(err, -EPROTO, "unknown message '%.*s'",
                          (int)(line_length < SHOWN_MAX ? line_length : SHOWN_MAX), line);
            return LINK_BAD;
        }
        if (ret->kind != LINK_OUTPUT) {
            return LINK_MESSAGE;
        }
        size_t header = *used;
        enum link_read read = read_output(reader, data + header, length - header, used, ret);
        return read;
    }
}
