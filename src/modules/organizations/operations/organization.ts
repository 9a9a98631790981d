import { Type } from 'typebox';

import { changesSince, defineOperation } from '#actions/action_context.ts';
import { IdText, Name, nullable, StrictObject } from '#actions/fields.ts';
import type { Cipher } from '#auth/cipher.ts';
import type { FileAnswer } from '#kernel/action.ts';
import { AppError } from '#kernel/errors.ts';
import { toTimestamp } from '#kernel/time.ts';
import { callerUser } from '#modules/accounts/view.ts';
import { findCallerRole } from '#modules/organizations/roles.ts';
import { unwrap } from '#modules/contacts/decide/parsed.ts';
import { parseTraceLink, TRACE_ID, TRACE_LINK_LENGTH_MAX } from '#modules/metrics/decide/trace_link.ts';

export const renameOrganization = defineOperation({
  name: 'rename_organization',
  summary: 'Rename the organization.',
  permission: 'organization:manage',
  effect: 'write',
  input: StrictObject({
    name: Name,
    basedOn: Type.Optional(Type.String({ maxLength: 500, description: 'the name that was read' })),
  }),
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

export const setSecondFactorPolicy = defineOperation({
  name: 'set_second_factor_policy',
  summary: 'Require a second factor of owners and admins from their next request on, or require it no longer.',
  permission: 'organization:manage',
  effect: 'write',
  stepUp: true,
  input: StrictObject({ required: Type.Boolean() }),
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

export const setTraceLink = defineOperation({
  name: 'set_trace_link',
  summary: `Say where the organization looks at traces: an address with ${TRACE_ID} in it. Charts link to it from single observations; null takes the links away.`,
  permission: 'organization:manage',
  effect: 'write',
  input: StrictObject({ traceLink: Link, basedOn: Type.Optional(Link) }),
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

export const setShownPrices = defineOperation({
  name: 'set_shown_prices',
  summary: 'Say whether the console shows what capabilities cost, for organizations that bill their teams.',
  permission: 'organization:manage',
  effect: 'write',
  input: StrictObject({ shown: Type.Boolean() }),
  result: Type.Object({ shown: Type.Boolean() }),
  example: { shown: true },
  async handle({ shown }, { caller, stores, record }) {
    const isChanged = await stores.capabilities.setShowsPrices(caller.orgId, shown);
    record({ target: caller.orgId, before: { shown: isChanged ? !shown : shown }, after: { shown } });
    return { shown };
  },
});

/** Time for which a begun export can be downloaded, so that a broken download is tried again without being asked. */
const EXPORT_MINUTES = 10;

interface Ticket {
  readonly orgId: string;
  readonly userId: string;
  readonly until: string;
}

export const beginOrganizationExport = defineOperation({
  name: 'begin_organization_export',
  summary: `Begin a download of all that the organization has, without secrets: a ticket for export_organization within ${EXPORT_MINUTES} minutes. Owners only.`,
  permission: 'organization:manage',
  effect: 'write',
  stepUp: true,
  result: Type.Object({ ticket: Type.String() }),
  async handle(_, { caller, stores, installation, now, record }) {
    if ((await findCallerRole(stores, caller)) !== 'owner') {
      throw new AppError('forbidden', 'only an owner can export the organization');
    }
    const until = toTimestamp(now.add({ minutes: EXPORT_MINUTES }));
    const ticket = { orgId: caller.orgId, userId: callerUser(caller), until };
    record({ target: caller.orgId, before: null, after: { export: 'begun' } });
    return { ticket: installation.ciphers.organizationExports.encrypt(JSON.stringify(ticket)).toString('base64url') };
  },
});

export const exportOrganization = defineOperation({
  name: 'export_organization',
  summary:
    'Download all that the organization has, without secrets, as a ZIP archive of open files; unpacked, `tocsin import` ' +
    'reads it. With the ticket of begin_organization_export.',
  permission: 'organization:manage',
  effect: 'read',
  input: StrictObject({ ticket: Type.String({ maxLength: 1_000 }) }),
  result: Type.Unsafe<FileAnswer>({ description: 'a file' }),
  sends: ['application/zip'],
  refusals: ['rate_limited'],
  conflict: 'an export of the organization is being made',
  example: { ticket: 'ZXhhbXBsZQ' },
  async handle({ ticket }, { caller, stores, installation, now }) {
    const begun = readTicket(ticket, installation.ciphers.organizationExports);
    const isOwn = begun?.orgId === caller.orgId && begun.userId === callerUser(caller);
    const isOwner = (await findCallerRole(stores, caller)) === 'owner';
    if (!isOwn || !isOwner || begun.until < toTimestamp(now)) {
      throw new AppError('forbidden', 'this download was not begun by you within ten minutes: begin it in Settings');
    }
    const name = `organization-${toTimestamp(now).slice(0, 'YYYY-MM-DD'.length)}.zip`;
    return { name, mediaType: 'application/zip', content: installation.exportOrganization(caller.orgId) };
  },
});

/** Reads a ticket; null for one that was not made here. */
function readTicket(text: string, cipher: Cipher): Ticket | null {
  try {
    return JSON.parse(cipher.decrypt(Buffer.from(text, 'base64url'))) as Ticket;
  } catch {
    return null;
  }
}
