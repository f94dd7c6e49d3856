/* Network addresses in the description of a domain.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>

#include "base/err.h"
#include "virt/domain_xml.h"

static void put(void *arg, const char *mac)
{
    char *all = arg;
    size_t length = strlen(all);
    (void)snprintf(all + length, 200 - length, "%s ", mac);
}

static void an_address_is_known_in_both_spellings(void **state)
{
    (void)state;
    char mac[DOMAIN_XML_MAC_SIZE];
    assert_true(domain_xml_is_mac("52:54:00:Ab:cD:09", mac));
    assert_string_equal(mac, "52:54:00:ab:cd:09");
    assert_true(domain_xml_is_mac("52-54-00-AB-CD-09", mac));
    assert_string_equal(mac, "52:54:00:ab:cd:09");
}

static void what_is_no_address_is_none(void **state)
{
    (void)state;
    static const char *const BAD[] = {"",
                                      "wn01",
                                      "52:54:00:ab:cd",
                                      "52:54:00:ab:cd:0",
                                      "52:54:00:ab:cd:0g",
                                      "52:54:00:ab:cd.09",
                                      "525:4:00:ab:cd:09",
                                      "52:54:00:ab:cd:09:"};
    for (unsigned i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        char mac[DOMAIN_XML_MAC_SIZE] = "untouched";
        assert_false(domain_xml_is_mac(BAD[i], mac));
        assert_string_equal(mac, "untouched");
    }
}

static void the_cards_of_a_domain_are_told_and_nothing_else(void **state)
{
    (void)state;
    char all[200] = "";
    const char *xml =
        "<?xml version='1.0'?><domain type='qemu'><name>n</name>"
        "<metadata><interface><mac address='52:54:00:00:00:99'/></interface></metadata><devices>"
        "<interface type='user'><mac address='52:54:00:00:00:01'/></interface>"
        "<interface type='bridge'><mac address='52:54:00:00:00:0F'/><source bridge='b'/>"
        "</interface><interface type='x'><mac address='nonsense'/></interface>"
        "<interface type='y'/></devices></domain>";
    assert_int_equal(domain_xml_macs(xml, put, all, NULL), 0);
    assert_string_equal(all, "52:54:00:00:00:01 52:54:00:00:00:0f ");
}

static void what_is_no_domain_is_an_error(void **state)
{
    (void)state;
    static const char *const BAD[] = {"", "domain", "<domain>", "<network/>"};
    for (unsigned i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        char all[200] = "";
        struct err err = {.text = ""};
        assert_int_equal(domain_xml_macs(BAD[i], put, all, &err), -EINVAL);
        assert_true(err.text[0] != '\0');
        assert_string_equal(all, "");
    }
}

static void a_domain_without_cards_is_fine(void **state)
{
    (void)state;
    char all[200] = "";
    assert_int_equal(domain_xml_macs("<domain/>", put, all, NULL), 0);
    assert_string_equal(all, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_is_known_in_both_spellings),
        cmocka_unit_test(what_is_no_address_is_none),
        cmocka_unit_test(the_cards_of_a_domain_are_told_and_nothing_else),
        cmocka_unit_test(what_is_no_domain_is_an_error),
        cmocka_unit_test(a_domain_without_cards_is_fine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
