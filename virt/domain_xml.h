/* virt/domain_xml.h - what libvirt's description of a domain says of its network cards.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef VIRT_DOMAIN_XML_H
#define VIRT_DOMAIN_XML_H

#include <stdbool.h>

struct err;

#define DOMAIN_XML_MAC_SIZE 18

/* "52:54:00:00:00:01" in any case, with ':' or '-' between; ret: in small letters with ':'. */
bool domain_xml_is_mac(const char *text, char ret[DOMAIN_XML_MAC_SIZE]);

/* Calls each(arg, mac) for every network card, mac as above.  -EINVAL: not a domain's XML. */
int domain_xml_macs(const char *xml, void (*each)(void *arg, const char *mac), void *arg,
                    struct err *err);

#endif
