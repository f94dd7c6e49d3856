/* What a machine's system is called, from /etc/os-release as it is on real systems.
 *
 * LINK: startd
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include "classad/ad.h"
#include "startd/machine/opsys_plan.h"

static void gives(const char *text, const char *name, const char *long_name, int64_t version,
                  const char *and_version)
{
    struct ad *ad = ad_create();
    opsys_plan_name(text, ad);
    assert_string_equal(ad_string_or(ad, "OpSysName", ""), name);
    assert_string_equal(ad_string_or(ad, "OpSysShortName", ""), name);
    assert_string_equal(ad_string_or(ad, "OpSysLongName", ""), long_name);
    assert_int_equal(ad_int_or(ad, "OpSysVer", -1), version);
    assert_int_equal(ad_int_or(ad, "OpSysMajorVer", -1), version < 0 ? -1 : version / 100);
    assert_string_equal(ad_string_or(ad, "OpSysAndVer", "none"), and_version);
    ad_destroy(ad);
}

static void systems_have_the_names_that_requirements_of_jobs_say(void **state)
{
    (void)state;
    gives("PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nNAME=\"Debian GNU/Linux\"\n"
          "VERSION_ID=\"12\"\n",
          "Debian", "Debian GNU/Linux 12 (bookworm)", 1200, "Debian12");
    gives("NAME=\"Ubuntu\"\nPRETTY_NAME=\"Ubuntu 22.04.3 LTS\"\n", "Ubuntu", "Ubuntu 22.04.3 LTS",
          2204, "Ubuntu22");
    gives("PRETTY_NAME=\"AlmaLinux 9.3 (Shamrock Pampas Cat)\"", "AlmaLinux",
          "AlmaLinux 9.3 (Shamrock Pampas Cat)", 903, "AlmaLinux9");
    gives("PRETTY_NAME='Red Hat Enterprise Linux 8.8 (Ootpa)'\n", "RedHat",
          "Red Hat Enterprise Linux 8.8 (Ootpa)", 808, "RedHat8");
    gives("PRETTY_NAME=\"openSUSE Leap 15.5\"", "openSUSE", "openSUSE Leap 15.5", 1505,
          "openSUSE15");
    gives("PRETTY_NAME=\"SUSE Linux Enterprise Server 15\"", "SUSE",
          "SUSE Linux Enterprise Server 15", 1500, "SUSE15");
}

static void a_system_without_a_version_or_without_a_file_has_a_name_all_the_same(void **state)
{
    (void)state;
    gives("PRETTY_NAME=\"Debian GNU/Linux trixie/sid\"\n", "Debian", "Debian GNU/Linux trixie/sid",
          -1, "none");
    gives("PRETTY_NAME=\"Arch Linux\"\nVERSION_ID=20240101.1\n", "LINUX", "Arch Linux", -1, "none");
    gives("VERSION_ID=7.1\nNAME=Fedora\n", "Fedora", "Fedora", 701, "Fedora7");
    gives("", "LINUX", "LINUX", -1, "none");
    gives("PRETTY_NAME=\n", "LINUX", "LINUX", -1, "none");
}

static void any_text_is_survived(void **state)
{
    (void)state;
    char text[1000];
    memset(text, '9', sizeof text);
    memcpy(text, "PRETTY_NAME=", 12);
    text[sizeof text - 1] = '\0';
    struct ad *ad = ad_create();
    opsys_plan_name(text, ad);
    assert_int_equal(strlen(ad_string_or(ad, "OpSysLongName", "")), 199);
    assert_false(ad_has(ad, "OpSysVer"));
    ad_destroy(ad);
    gives("PRETTY_NAME=\"a \\\"b\\\" \\", "LINUX", "a \"b\" \\", -1, "none");
    gives("XPRETTY_NAME=x\nPRETTY_NAMEX=y\nPRETTY_NAME=z\nPRETTY_NAME=u", "LINUX", "z", -1, "none");
}

UNIT_TESTS(UNIT(systems_have_the_names_that_requirements_of_jobs_say),
           UNIT(a_system_without_a_version_or_without_a_file_has_a_name_all_the_same),
           UNIT(any_text_is_survived))
