/* classad/ad_number.c - prints numbers as printf("%lld"), ("%.15E") and ("%.16G") do in the C
 * locale.
 *
 * Long listings are mostly numbers, and printf() uses slow wide arithmetic and the locale.  A real
 * of usual size is m * 2^e with e <= 0.  Its 16 digits are the integer nearest to m * 10^k / 2^-e,
 * which fits into 128 bits and is rounded exactly, halves to even, as in glibc.  Other reals are
 * printed by printf().
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "classad/ad_number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define DIGITS 16

size_t ad_number_print_int(int64_t value, char *out)
{
    char digits[20];
    size_t count = 0;
    size_t length = 0;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do {
        digits[count++] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (value < 0) {
        out[length++] = '-';
    }
    while (count > 0) {
        out[length++] = digits[--count];
    }
    return length;
}

#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 wide;

#define SMALLEST  1e-5               /* smallest real whose digits fit into 128 bits */
#define SCALE_MAX 20                 /* power of ten for SMALLEST */
#define LARGEST   9007199254740992.0 /* 2^53 */
#define TEN_15    1000000000000000u

/* Returns the 16 digits of a positive real of usual size as an integer; *power is its power of
 * ten. */
static uint64_t digits_of(double real, int *power)
{
    static const uint64_t TENS[] = {1u,         10u,         100u,        1000u,
                                    10000u,     100000u,     1000000u,    10000000u,
                                    100000000u, 1000000000u, 10000000000u};
    uint64_t bits;
    memcpy(&bits, &real, sizeof(bits));
    int exponent = (int)(bits >> 52) - 1023; /* no sign; real is not subnormal */
    uint64_t mantissa = (bits & (((uint64_t)1 << 52) - 1)) | (uint64_t)1 << 52;
    unsigned shift = (unsigned)(52 - exponent); /* 0 to 69 */
    /* From the power of two, times the logarithm of 2: may be one too large. */
    int scale = 15 - (exponent * 1233 - (exponent < 0 ? 4095 : 0)) / 4096;
    scale = scale > SCALE_MAX ? SCALE_MAX : scale;
    for (;;) {
        wide product = mantissa;
        product *= TENS[scale > 10 ? 10 : scale];
        product *= TENS[scale > 10 ? scale - 10 : 0];
        wide quotient = product >> shift;
        if (quotient < TEN_15) {
            scale++;
        } else if (quotient >= (wide)10 * TEN_15) {
            scale--;
        } else {
            wide rest = product - (quotient << shift);
            wide half =
                shift > 0 ? (wide)1 << (shift - 1) : 1; /* without a shift there is no rest */
            bool up = rest > half || (rest == half && (quotient & 1) != 0);
            uint64_t digits = (uint64_t)quotient + (up ? 1 : 0);
            bool carried = digits == 10 * (uint64_t)TEN_15;
            *power = 15 - scale + (carried ? 1 : 0);
            return carried ? (uint64_t)TEN_15 : digits;
        }
    }
}

static void write_eight(uint32_t digits, char *out)
{
    for (int i = 7; i >= 0; i--) {
        out[i] = (char)('0' + digits % 10);
        digits /= 10;
    }
}

static void write_digits(uint64_t digits, char *out)
{
    write_eight((uint32_t)(digits / 100000000), out);
    if (digits % 100000000 == 0) {
        memset(out + 8, '0', 8);
    } else {
        write_eight((uint32_t)(digits % 100000000), out + 8);
    }
}

/* Writes d.ddddddddddddddde+dd. */
static size_t write_exponent(const char *digits, int power, char *out)
{
    size_t length = 0;
    unsigned size = (unsigned)(power < 0 ? -power : power);
    out[length++] = digits[0];
    out[length++] = '.';
    memcpy(out + length, digits + 1, DIGITS - 1);
    length += DIGITS - 1;
    out[length++] = 'E';
    out[length++] = power < 0 ? '-' : '+';
    out[length++] = (char)('0' + size / 10);
    out[length++] = (char)('0' + size % 10);
    return length;
}

/* Writes a number with a power from -4 to 15 without exponent, and without zeros at the end. */
static size_t write_plain(const char *digits, int power, char *out)
{
    size_t length = 0;
    int count = DIGITS;
    while (count > 1 && digits[count - 1] == '0') {
        count--;
    }
    if (power < 0) {
        out[length++] = '0';
        out[length++] = '.';
        for (int i = power + 1; i < 0; i++) {
            out[length++] = '0';
        }
    }
    for (int i = 0; i < count || i <= power; i++) {
        if (power >= 0 && i == power + 1) {
            out[length++] = '.';
        }
        out[length++] = i < count ? digits[i] : '0';
    }
    return length;
}

/* Prints a real of usual size; returns its length, or 0 for another size. */
static size_t print_usual(double real, bool exponent, char *out)
{
    double size = fabs(real);
    if (!(size >= SMALLEST && size < LARGEST)) {
        return 0;
    }
    int power;
    char digits[DIGITS];
    write_digits(digits_of(size, &power), digits);
    if (!exponent && power < -4) {
        return 0;
    }
    size_t sign = real < 0 ? 1 : 0;
    out[0] = '-';
    return sign + (exponent ? write_exponent : write_plain)(digits, power, out + sign);
}
#else
static size_t print_usual(double real, bool exponent, char *out)
{
    (void)real;
    (void)exponent;
    (void)out;
    return 0;
}
#endif

size_t ad_number_print_real(double real, bool exponent, char *out)
{
    size_t length = print_usual(real, exponent, out);
    if (length > 0) {
        return length;
    }
    length = (size_t)snprintf(out, AD_NUMBER_MAX, exponent ? "%.15E" : "%.16G", real);
    for (size_t i = 0; i < length; i++) {
        if (out[i] == ',') {
            out[i] = '.'; /* whatever the locale of the process */
        }
    }
    return length;
}
