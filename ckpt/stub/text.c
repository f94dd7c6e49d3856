/* ckpt/stub/text.c - texts without a C library: see text.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ckpt/stub/text.h"

#include <errno.h>

#include "ckpt/stub/sys.h"

void text_put(struct stub_text *text, const char *more)
{
    while (*more != '\0' && text->length + 1 < sizeof text->bytes) {
        text->bytes[text->length++] = *more++;
    }
    text->bytes[text->length] = '\0';
}

static void put_unsigned(struct stub_text *text, uint64_t number, unsigned base)
{
    char digits[24];
    size_t at = sizeof digits - 1;
    digits[at] = '\0';
    do {
        unsigned digit = (unsigned)(number % base);
        digits[--at] = (char)(digit < 10 ? '0' + digit : 'a' + (digit - 10));
        number /= base;
    } while (number > 0);
    text_put(text, digits + at);
}

void text_put_number(struct stub_text *text, int64_t number)
{
    if (number < 0) {
        text_put(text, "-");
    }
    put_unsigned(text, number < 0 ? 0 - (uint64_t)number : (uint64_t)number, 10);
}

void text_put_hex(struct stub_text *text, uint64_t number)
{
    text_put(text, "0x");
    put_unsigned(text, number, 16);
}

/* A switch, not a table of pointers: those would need relocations. */
static bool put_name(struct stub_text *text, long error)
{
#define NAME(code)             \
    case -(code):              \
        text_put(text, #code); \
        return true
    switch (error) {
        NAME(EPERM);
        NAME(ENOENT);
        NAME(ESRCH);
        NAME(EINTR);
        NAME(EIO);
        NAME(EBADF);
        NAME(EAGAIN);
        NAME(ENOMEM);
        NAME(ENOEXEC);
        NAME(EACCES);
        NAME(EFAULT);
        NAME(EBUSY);
        NAME(EEXIST);
        NAME(ENODEV);
        NAME(ENOTDIR);
        NAME(EISDIR);
        NAME(EINVAL);
        NAME(ENFILE);
        NAME(EMFILE);
        NAME(ENOSPC);
        NAME(EROFS);
        NAME(ENOSYS);
        NAME(EOPNOTSUPP);
        NAME(EUSERS);
        NAME(ENAMETOOLONG);
        NAME(ENXIO);
        NAME(EFBIG);
        NAME(EDQUOT);
        NAME(ECHILD);
        NAME(ETXTBSY);
    default:
        return false;
    }
#undef NAME
}

void text_put_error(struct stub_text *text, long error)
{
    if (!put_name(text, error)) {
        text_put(text, "error ");
        text_put_number(text, -error);
    }
}

bool text_is(const char *a, const char *b)
{
    while (*a != '\0' && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

size_t text_length(const char *text)
{
    size_t length = 0;
    while (text[length] != '\0') {
        length++;
    }
    return length;
}

uint64_t text_number(const char **at, unsigned base)
{
    uint64_t number = 0;
    for (;; (*at)++) {
        unsigned c = (unsigned char)**at, digit;
        if (c >= '0' && c <= '9') {
            digit = c - '0';
        } else if (base == 16 && c >= 'a' && c <= 'f') {
            digit = c - 'a' + 10;
        } else {
            return number;
        }
        number = number * base + digit;
    }
}

void text_say(int fd, struct stub_text *text)
{
    struct stub_text line = {.length = 0};
    text_put(&line, "roost-ckpt: ");
    text_put(&line, text->bytes);
    text_put(&line, "\n");
    (void)SYS3(write, fd, line.bytes, line.length); /* there is nobody else to tell */
}

/* What the compiler calls by itself. */
void *memcpy(void *to, const void *from, size_t size);
void *memset(void *to, int byte, size_t size);
int memcmp(const void *a, const void *b, size_t size);

/* Functions that the compiler calls by itself. */
__attribute__((weak)) void *memcpy(void *to, const void *from, size_t size)
{
    void *ret = to;
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
    return ret;
}

__attribute__((weak)) void *memset(void *to, int byte, size_t size)
{
    void *ret = to;
    __asm__ volatile("rep stosb" : "+D"(to), "+c"(size) : "a"(byte) : "memory");
    return ret;
}

__attribute__((weak)) int memcmp(const void *a, const void *b, size_t size)
{
    const unsigned char *x = a, *y = b;
    for (size_t i = 0; i < size; i++) {
        if (x[i] != y[i]) {
            return x[i] < y[i] ? -1 : 1;
        }
    }
    return 0;
}
