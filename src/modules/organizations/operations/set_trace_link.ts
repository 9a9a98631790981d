import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { changesSince } from '#actions/changes_since.ts';
import { STRICT, nullable } from '#actions/fields.ts';
import { parseTraceLink, TRACE_ID, TRACE_LINK_LENGTH_MAX } from '#modules/metrics/decide/trace_link.ts';
import { unwrap } from '#modules/contacts/decide/parsed.ts';

const Link = nullable(Type.String({ maxLength: TRACE_LINK_LENGTH_MAX }));

export const setTraceLink = defineAction({
  name: 'set_trace_link',
  consoleOnly: true,
  summary: `Say where the organization looks at traces: an address with ${TRACE_ID} in it. Charts link to it from single observations; null takes the links away.`,
  permission: 'organization:manage',
  effect: 'write',
  input: Type.Object({ traceLink: Link, basedOn: Type.Optional(Link) }, STRICT),
  result: Type.Object({ traceLink: nullable(Type.String()) }),
  conflict: 'somebody has changed it since it was read',
  example: { traceLink: `https://traces.example.com/trace/${TRACE_ID}`, basedOn: null },
  async handle(input, { caller, stores, record }) {
    const traceLink = input.traceLink === null ? null : unwrap(parseTraceLink(input.traceLink));
    const before = await stores.people.setTraceLink(caller.orgId, traceLink);
    if (input.basedOn !== undefined) {
      changesSince({ traceLink: input.basedOn }, { traceLink: before }, { traceLink }, 'the address of a trace');
    }
    record({ target: caller.orgId, before: { traceLink: before }, after: { traceLink } });
    return { traceLink };
  },
});
