/* power/knobs.c - how a machine is described: the `node` sections of the configuration.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/check.h"
#include "base/knob.h"
#include "power/power.h"

static const struct knob NODE[] = {
    {.name = "method",
     .type = KNOB_STRING,
     .choices = "process|command|wol|libvirt",
     .help = "How the machine is switched."},
    {.name = "next_methods",
     .type = KNOB_LIST,
     .help = "Other methods that wake it, in this order, each when it did not come by the one "
             "before."},
    {.name = "config", .type = KNOB_PATH, .help = "Method process: the node's configuration file."},
    {.name = "lock_dir", .type = KNOB_PATH, .help = "Method process: the node's LOCK directory."},
    {.name = "program",
     .type = KNOB_PATH,
     .fallback = "$(SBIN)/roost-master",
     .help = "Method process: the program that is the node's master."},
    {.name = "wake_command",
     .type = KNOB_STRING,
     .help = "Method command: switches it on; gets its name."},
    {.name = "sleep_command",
     .type = KNOB_STRING,
     .help = "Method command: switches it off; gets its name."},
    {.name = "status_command",
     .type = KNOB_STRING,
     .help = "Method command: exit status 0 on, 1 off, else unknown; gets its name."},
    {.name = "hardware_address",
     .type = KNOB_STRING,
     .help = "Method wol: of the adapter that listens while the machine sleeps, as "
             "52:54:00:12:34:56; default HardwareAddress of its offline ads."},
    {.name = "subnet",
     .type = KNOB_STRING,
     .help = "Method wol: the machine's network, as 10.0.0.0/24; default Subnet of its offline "
             "ads, else those of all adapters here."},
    {.name = "relay",
     .type = KNOB_STRING,
     .choices = "auto|always|never",
     .fallback = "auto",
     .help = "Method wol: does an awake machine of the network send the packets? auto: if the "
             "rooster's host is not on it."},
    {.name = "password_file",
     .type = KNOB_PATH,
     .help = "Method wol: a file, for its owner alone, with the password that the adapter wants "
             "(SecureOn): 01:23:45:67:89:ab or 1.2.3.4."},
    {.name = "wake_port",
     .type = KNOB_INT,
     .fallback = "0",
     .min = 0,
     .max = 65535,
     .help = "Method wol: UDP port of the packets; 0: WakePort of its offline ads, else 9."},
    {.name = "wake_repeats",
     .type = KNOB_INT,
     .fallback = "3",
     .min = 1,
     .max = 20,
     .help = "Method wol: how often each packet is sent."},
    {.name = "uri",
     .type = KNOB_STRING,
     .fallback = "qemu:///system",
     .help = "Method libvirt: the connection to the hypervisor's daemon."},
    {.name = "domain",
     .type = KNOB_STRING,
     .help = "Method libvirt: the guest's name, UUID or network address; default the machine's "
             "name."},
    {.name = "domain_sleep",
     .type = KNOB_STRING,
     .fallback = "level",
     .choices = "level|shutdown|acpi|agent|save|suspend|disk|destroy",
     .help = "Method libvirt: how the guest is taken down; level: S5 shutdown, S4 save (managed "
             "save), S1 to S3 suspend (by its agent)."},
    {.name = "shutdown_timeout",
     .type = KNOB_DURATION_S,
     .fallback = "60s",
     .min = 1,
     .max = 3600,
     .help = "Method libvirt: how long the guest may take to shut down; then it is destroyed."},
    {.name = "helper",
     .type = KNOB_PATH,
     .fallback = "$(SBIN)/roost-libvirt",
     .help = "Method libvirt: the program that talks to the hypervisor's daemon."},
};

static const struct knob_section SECTIONS[] = {
    {.kind = "node",
     .options = NODE,
     .option_count = ARRAY_COUNT(NODE),
     .help = "One machine: how it is woken."},
};

const struct knob_table power_knobs = {.owner = "POWER",
                                       .sections = SECTIONS,
                                       .section_count = ARRAY_COUNT(SECTIONS)};
