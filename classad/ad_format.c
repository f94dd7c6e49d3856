/* classad/ad_format.c - directives of printf() applied to values: see ad_format.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "classad/ad_format.h"

#include <string.h>

#include "base/strbuf.h"
#include "classad/ad_value.h"

static size_t read_number(const char *text, size_t at, int *ret)
{
    int number = 0;
    for (; text[at] >= '0' && text[at] <= '9'; at++) {
        number = number < AD_FORMAT_WIDTH_MAX ? number * 10 + (text[at] - '0') : number;
    }
    *ret = number < AD_FORMAT_WIDTH_MAX ? number : AD_FORMAT_WIDTH_MAX;
    return at;
}

bool ad_format_find(const char *format, struct ad_format *ret)
{
    *ret = (struct ad_format){.precision = -1};
    for (size_t i = 0; format[i] != '\0'; i++) {
        if (format[i] != '%') {
            continue;
        }
        if (format[i + 1] == '%') {
            i++;
            continue;
        }
        ret->begin = i++;
        for (; format[i] != '\0' && strchr("-+ 0#", format[i]) != NULL; i++) {
            ret->left = ret->left || format[i] == '-';
            ret->zero = ret->zero || format[i] == '0';
            ret->plus = ret->plus || format[i] == '+';
        }
        i = read_number(format, i, &ret->width);
        if (format[i] == '.') {
            i = read_number(format, i + 1, &ret->precision);
        }
        while (format[i] == 'l' || format[i] == 'h') {
            i++;
        }
        ret->conversion = format[i];
        ret->end = format[i] != '\0' ? i + 1 : i;
        return ret->conversion != '\0';
    }
    return false;
}

static double number_of(const struct ad_value *value)
{
    switch (value->type) {
    case AD_TYPE_BOOL:
        return value->boolean ? 1 : 0;
    case AD_TYPE_INT:
        return (double)value->integer;
    case AD_TYPE_REAL:
    case AD_TYPE_RELTIME:
        return value->real;
    case AD_TYPE_ABSTIME:
        return (double)value->time.seconds;
    default:
        return 0;
    }
}

void ad_format_print(const struct ad_format *how, const struct ad_value *value, struct strbuf *out)
{
    struct strbuf text;
    double number = number_of(value);
    strbuf_init(&text, 0);
    if (strchr("diu", how->conversion) != NULL) {
        long long whole = value->type == AD_TYPE_INT        ? (long long)value->integer
                          : number > -9e18 && number < 9e18 ? (long long)number
                                                            : 0;
        strbuf_printf(&text, how->plus ? "%+lld" : "%lld", whole);
    } else if (how->conversion == 'x' || how->conversion == 'X') {
        strbuf_printf(&text, how->conversion == 'x' ? "%llx" : "%llX",
                      (unsigned long long)(value->type == AD_TYPE_INT ? value->integer : 0));
    } else if (strchr("fegFEG", how->conversion) != NULL) {
        int precision = how->precision >= 0 ? how->precision : 6;
        strbuf_printf(&text,
                      how->conversion == 'f' || how->conversion == 'F' ? "%.*f"
                      : how->conversion == 'e'                         ? "%.*e"
                      : how->conversion == 'E'                         ? "%.*E"
                      : how->conversion == 'g'                         ? "%.*g"
                                                                       : "%.*G",
                      precision, number);
    } else if (how->conversion == 'V') {
        ad_value_print(value, &text);
    } else { /* %s, %v, and what printf does not know */
        ad_value_print_bare(value, &text);
        if (how->precision >= 0 && text.length > (size_t)how->precision) {
            text.length = (size_t)how->precision;
        }
    }
    size_t width = (size_t)how->width;
    if (!how->left) {
        for (size_t i = text.length; i < width; i++) {
            strbuf_putc(out, how->zero ? '0' : ' ');
        }
    }
    strbuf_append(out, strbuf_text(&text), text.length);
    if (how->left) {
        for (size_t i = text.length; i < width; i++) {
            strbuf_putc(out, ' ');
        }
    }
    strbuf_fini(&text);
}
