/* cli/classad/classad_output_plan.c - see classad_output_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/classad/classad_output_plan.h"

#include <stdbool.h>

#include "base/strbuf.h"
#include "classad/ad.h"
#include "cli/classad/classad_batch_plan.h"

void classad_output_ad(struct classad_output *output, const struct ad *ad, struct strbuf *out)
{
    bool first = output->count++ == 0;
    switch (output->form) {
    case CLASSAD_NEW:
        ad_print(ad, out);
        strbuf_putc(out, '\n');
        break;
    case CLASSAD_JSON:
        strbuf_puts(out, first ? "[\n" : ",\n");
        (void)ad_print_json_lines(ad, true, out); /* out keeps the failure */
        strbuf_putc(out, '\n');
        break;
    case CLASSAD_XML:
        strbuf_puts(out, first ? ad_xml_header : "");
        (void)ad_print_xml(ad, true, out); /* out keeps the failure */
        break;
    default:
        strbuf_puts(out, first ? "" : "\n");
        ad_print_long(ad, out);
        break;
    }
}

void classad_output_refused(struct classad_output *output, struct strbuf *out)
{
    if (output->form == CLASSAD_LONG || output->form == CLASSAD_NEW) {
        strbuf_puts(out, output->form == CLASSAD_LONG && output->count > 0 ? "\n" : "");
        strbuf_puts(out, CLASSAD_REFUSED "\n");
        output->count++;
    }
}

void classad_output_end(struct classad_output *output, struct strbuf *out)
{
    if (output->form == CLASSAD_JSON) {
        strbuf_puts(out, output->count == 0 ? "[\n]\n" : "]\n");
    } else if (output->form == CLASSAD_XML) {
        strbuf_puts(out, output->count == 0 ? ad_xml_header : "");
        strbuf_puts(out, ad_xml_footer);
    }
}
