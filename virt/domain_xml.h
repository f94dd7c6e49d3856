/* virt/domain_xml.h - reads the network cards from libvirt's XML description of a domain (virtual
 * machine).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef VIRT_DOMAIN_XML_H
#define VIRT_DOMAIN_XML_H

#include <stdbool.h>

struct err;

/* bytes of a hardware address as text, with the terminating zero */
#define DOMAIN_XML_MAC_SIZE 18

/* Returns whether text is a hardware address like "52:54:00:00:00:01", in upper or lower case, with
 * ':' or '-'.  If so, writes it in lower case with ':' to ret. */
bool domain_xml_is_mac(const char *text, char ret[DOMAIN_XML_MAC_SIZE]);

/* Calls each(arg, mac) for every network card in xml. mac: the card's hardware address, as
 * domain_xml_is_mac() writes it.  Returns 0; -EINVAL if xml does not describe a domain. */
int domain_xml_macs(const char *xml, void (*each)(void *arg, const char *mac), void *arg,
                    struct err *err);

#endif
