import { Type } from 'typebox';

import { changesSince, defineAction } from '#actions/action_context.ts';
import { IdText, Name, nullable, STRICT } from '#actions/fields.ts';
import { AppError } from '#kernel/errors.ts';
import { callerUser } from '#modules/accounts/view.ts';
import { unwrap } from '#modules/contacts/decide/parsed.ts';
import { parseTraceLink, TRACE_ID, TRACE_LINK_LENGTH_MAX } from '#modules/metrics/decide/trace_link.ts';

export const renameOrganization = defineAction({
  name: 'rename_organization',
  consoleOnly: true,
  summary: 'Rename the organization.',
  permission: 'organization:manage',
  effect: 'write',
  input: Type.Object(
    {
      name: Name,
      basedOn: Type.Optional(Type.String({ maxLength: 500, description: 'the name that was read' })),
    },
    STRICT,
  ),
  result: Type.Object({ orgId: IdText, name: Type.String() }),
  conflict: 'somebody has renamed it since it was read',
  example: { name: 'Northwind', basedOn: 'Acme' },
  async handle({ name, basedOn }, { caller, stores, record }) {
    const before = await stores.people.rename(caller.orgId, name.trim());
    if (basedOn !== undefined) {
      changesSince({ name: basedOn }, { name: before }, { name: name.trim() }, 'the name of the organization');
    }
    record({ target: caller.orgId, before: { name: before }, after: { name: name.trim() } });
    return { orgId: caller.orgId, name: name.trim() };
  },
});

export const setSecondFactorPolicy = defineAction({
  name: 'set_second_factor_policy',
  consoleOnly: true,
  summary: 'Require a second factor of owners and admins from their next request on, or require it no longer.',
  permission: 'organization:manage',
  effect: 'write',
  stepUp: true,
  input: Type.Object({ required: Type.Boolean() }, STRICT),
  result: Type.Object({ required: Type.Boolean() }),
  conflict: 'you have set up no second factor yourself: you would lock yourself out',
  example: { required: true },
  async handle({ required }, { caller, stores, record }) {
    const userId = callerUser(caller);
    const { passkeys, hasApp } = await stores.secondFactors.summaryOf(userId);
    if (required && passkeys === 0 && !hasApp) {
      throw new AppError('conflict', 'set up a second factor of your own first, or you would lock yourself out');
    }
    const before = await stores.people.findStanding(caller.orgId, userId);
    await stores.people.setSecondFactorRequired(caller.orgId, required);
    record({
      target: caller.orgId,
      before: { secondFactorRequired: before?.secondFactorRequired ?? false },
      after: { secondFactorRequired: required },
    });
    return { required };
  },
});

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

export const setShownPrices = defineAction({
  name: 'set_shown_prices',
  consoleOnly: true,
  summary: 'Say whether the console shows what capabilities cost, for organizations that bill their teams.',
  permission: 'organization:manage',
  effect: 'write',
  input: Type.Object({ shown: Type.Boolean() }, STRICT),
  result: Type.Object({ shown: Type.Boolean() }),
  example: { shown: true },
  async handle({ shown }, { caller, stores, record }) {
    const isChanged = await stores.capabilities.setShowsPrices(caller.orgId, shown);
    record({ target: caller.orgId, before: { shown: isChanged ? !shown : shown }, after: { shown } });
    return { shown };
  },
});
