/* tests/unit/classad_formats/test_xml_library.c - see xml_library.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "classad_formats/xml_library.h"
#include "tests/support/unit.h"

static void the_library_that_roost_was_built_with_is_found(void **state)
{
    (void)state;
    struct xml_library library = {0};
    struct err err = {{0}};
    assert_int_equal(xml_library_open(ROOST_SONAME_LIBXML_2_0, &library, &err), 0);
#define IS_THERE(member, function) assert_true(library.member != NULL);
    XML_LIBRARY_FUNCTIONS(IS_THERE)
    xml_library_close(&library);
    assert_true(library.handle == NULL);
    xml_library_close(&library); /* once more does nothing */
}

static void a_library_that_is_not_there_is_named(void **state)
{
    (void)state;
    struct xml_library library = {0};
    struct err err = {{0}};
    assert_int_equal(xml_library_open("libroost-has-no-such.so.9", &library, &err), -ENOENT);
    assert_non_null(strstr(err.text, "libroost-has-no-such.so.9"));
    assert_true(library.handle == NULL);
}

static void a_library_without_the_functions_is_refused(void **state)
{
    (void)state;
    struct xml_library library = {0};
    struct err err = {{0}};
    assert_int_equal(xml_library_open("libm.so.6", &library, &err), -ENOSYS);
    assert_non_null(strstr(err.text, "xmlCreatePushParserCtxt, which libm.so.6 does not have"));
    assert_true(library.handle == NULL);
}

UNIT_TESTS(UNIT(the_library_that_roost_was_built_with_is_found),
           UNIT(a_library_that_is_not_there_is_named),
           UNIT(a_library_without_the_functions_is_refused))
