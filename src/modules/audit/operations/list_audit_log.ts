import { type Static, type TObject, Type } from 'typebox';

import { defineOperation } from '#actions/action_context.ts';
import { IdText, nullable, Timestamp } from '#actions/fields.ts';
import { pageOf, parseTimeCursor, timeCursorOf } from '#actions/list_page.ts';
import { type FileAnswer, StrictObject } from '#kernel/action.ts';
import { toCell } from '#kernel/csv.ts';
import type { Id } from '#kernel/ids.ts';
import { type Temporal, toTimestamp } from '#kernel/time.ts';
import { VIAS } from '#modules/accounts/decide/caller.ts';
import type { ObjectName } from '#modules/agents/store/object_name_reader.ts';
import type { AuditFilter, AuditLine, AuditPlace } from '#modules/audit/store/audit_store.ts';
import { unwrap } from '#modules/contacts/decide/parsed.ts';
import { parseInstant } from '#modules/schedules/decide/parse_instant.ts';
import type { Stores } from '#modules/stores.ts';

const RESULTS = ['done', 'forbidden', 'refused'] as const;
const FILTER_FIELDS = {
  from: Type.Optional(Type.String({ description: 'RFC 3339; at or after' })),
  to: Type.Optional(Type.String({ description: 'RFC 3339; before' })),
  actor: Type.Optional(Type.String({ description: 'the id of a user, key or connection; or system, or unknown' })),
  via: Type.Optional(Type.Enum([...VIAS, 'system'])),
  action: Type.Optional(Type.String()),
  target: Type.Optional(Type.String({ description: 'the id of what was changed' })),
  result: Type.Optional(Type.Enum([...RESULTS])),
};

const Fields = nullable(Type.Object({}, { additionalProperties: true }));

const AuditEntryView = Type.Object({
  auditId: IdText,
  at: Timestamp,
  actor: Type.Object({
    kind: Type.Enum(['user', 'api_key', 'system', 'unknown']),
    id: nullable(Type.String()),
    name: nullable(Type.String()),
  }),
  apiKey: nullable(
    Type.Object({ apiKeyId: IdText, name: nullable(Type.String()) }, { description: 'the key that was used' }),
  ),
  via: Type.String(),
  connection: nullable(Type.Object({ connectionId: IdText, clientName: Type.String() })),
  proposal: nullable(
    Type.Object(
      { proposalId: IdText, agentId: Type.String(), agentName: Type.String() },
      { description: 'what an agent proposed and this person approved' },
    ),
  ),
  chatAccount: nullable(
    Type.Object({ account: Type.String(), name: Type.String() }, { description: 'whose button was pressed in a chat' }),
  ),
  action: Type.String(),
  target: nullable(Type.String()),
  before: Fields,
  after: Fields,
  result: Type.Enum([...RESULTS]),
  address: nullable(Type.String()),
  requestId: Type.String(),
});

type AuditEntryView = Static<typeof AuditEntryView>;

/** Throws `invalid_input` for texts that are not times. */
function parseFilter({ from, to, ...others }: Static<TObject<typeof FILTER_FIELDS>>): AuditFilter {
  return { ...others, ...(from && { from: parseTime(from, 'from') }), ...(to && { to: parseTime(to, 'to') }) };
}

function parseTime(text: string, path: string): Temporal.Instant {
  return unwrap(parseInstant(text, 'UTC', path));
}

function toAuditEntryView({ actor, actorName, apiKeyName, at, ...line }: AuditLine): AuditEntryView {
  return {
    auditId: line.auditId,
    at: toTimestamp(at),
    actor: { kind: actor.kind, id: idOf(actor), name: actorName },
    apiKey: apiKeyOf(actor, apiKeyName),
    via: line.via,
    connection: (actor.kind === 'user' && actor.connection) || null,
    proposal: (actor.kind === 'user' && actor.proposal) || null,
    chatAccount: chatAccountOf(actor),
    action: line.action,
    target: line.target,
    before: line.before,
    after: line.after,
    result: line.result,
    address: line.address,
    requestId: line.requestId,
  };
}

function apiKeyOf(actor: AuditLine['actor'], name: string | null): AuditEntryView['apiKey'] {
  if (actor.kind !== 'user' && actor.kind !== 'api_key') return null;
  return actor.apiKeyId === null ? null : { apiKeyId: actor.apiKeyId, name };
}

function chatAccountOf(actor: AuditLine['actor']): AuditEntryView['chatAccount'] {
  if (actor.kind !== 'user' || actor.chatAccount === undefined) return null;
  const { account, name } = actor.chatAccount;
  return { account, name };
}

function idOf(actor: AuditLine['actor']): string | null {
  switch (actor.kind) {
    case 'user':
      return actor.userId;
    case 'api_key':
      return actor.apiKeyId;
    case 'system':
    case 'unknown':
      return null;
  }
}

function nameText({ name, number, title }: ObjectName): string {
  return number === undefined ? name : `#${number} ${title ?? name}`;
}

/** Returns the ids that lines hold, in their targets and fields, without memberships, which have no name of their own. */
function idsIn(lines: readonly AuditLine[]): string[] {
  const text = JSON.stringify(lines.map(({ target, before, after }) => [target, before, after]));
  return [...new Set(text.match(/\b(?!member_)[a-z]+_[0-9a-hjkmnp-tv-z]{26}\b/g))];
}

const LIMIT = 50;

export const listAuditLog = defineOperation({
  name: 'list_audit_log',
  summary: 'List who changed what, newest first, a page at a time.',
  permission: 'organization:manage',
  effect: 'read',
  input: StrictObject({
    ...FILTER_FIELDS,
    cursor: Type.Optional(Type.String()),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, description: `${LIMIT} when left out` })),
  }),
  result: Type.Object({
    entries: Type.Array(AuditEntryView),
    nextCursor: nullable(Type.String({ description: 'null on the last page' })),
    names: Type.Record(Type.String(), Type.String(), {
      description: 'names of today of the things whose ids the entries hold, as far as they exist',
    }),
    actions: nullable(
      Type.Array(Type.String(), {
        description: 'actions in the newest entries, whatever the filter; null on later pages',
      }),
    ),
  }),
  example: {
    from: '2026-11-01T00:00:00Z',
    to: '2026-12-01T00:00:00Z',
    actor: 'system',
    via: 'console',
    action: 'change_role',
    target: 'user_01k9z7c9d0e1f2g3h4j5k6m7np',
    result: 'done',
    cursor: '1767225600000.audit_01k9z8ke5f6g7h8j9kamnpqrst',
    limit: 50,
  },
  async handle({ cursor, limit = LIMIT, ...filter }, { caller, stores }) {
    const place = cursor === undefined ? null : parseTimeCursor('audit', cursor);
    const after = place === null ? null : { at: place.at, auditId: place.id };
    const lines = await stores.auditLog.list(caller.orgId, parseFilter(filter), after, limit + 1);
    const { shown, nextCursor } = pageOf(lines, limit, (last) => timeCursorOf({ at: last.at, id: last.auditId }));
    const objects = [...(await stores.objectNames.find(caller.orgId, idsIn(shown))).values()];
    return {
      entries: shown.map(toAuditEntryView),
      nextCursor,
      names: Object.fromEntries(objects.map((object) => [object.id, nameText(object)])),
      actions: place === null ? await stores.auditLog.listActions(caller.orgId) : null,
    };
  },
});

const COLUMNS = [
  'at',
  'actorKind',
  'actorId',
  'actorName',
  'via',
  'connectionId',
  'clientName',
  'apiKeyName',
  'action',
  'target',
  'result',
  'before',
  'after',
  'address',
  'requestId',
  'auditId',
] as const;

/** Yields RFC 4180, with a line of names at the top. */
async function* toCsv(entries: AsyncIterable<AuditEntryView>): AsyncGenerator<string> {
  yield `${COLUMNS.join(',')}\r\n`;
  for await (const entry of entries) {
    const cells = cellsOf(entry);
    yield `${COLUMNS.map((column) => toCell(cells[column])).join(',')}\r\n`;
  }
}

/** Yields entries as in the list, one JSON object a line. */
async function* toJsonLines(entries: AsyncIterable<AuditEntryView>): AsyncGenerator<string> {
  for await (const entry of entries) yield `${JSON.stringify(entry)}\n`;
}

function cellsOf(entry: AuditEntryView): Record<(typeof COLUMNS)[number], string | null> {
  const { actor, apiKey, connection, before, after } = entry;
  return {
    ...entry,
    actorKind: actor.kind,
    actorId: actor.id,
    actorName: actor.name,
    connectionId: connection?.connectionId ?? null,
    clientName: connection?.clientName ?? null,
    apiKeyName: apiKey?.name ?? null,
    before: before && JSON.stringify(before),
    after: after && JSON.stringify(after),
  };
}

const FORMATS = {
  csv: { mediaType: 'text/csv', write: toCsv },
  jsonl: { mediaType: 'application/jsonl', write: toJsonLines },
} as const;

export const exportAuditLog = defineOperation({
  name: 'export_audit_log',
  summary: 'Download who changed what, newest first: every entry that matches the filter.',
  permission: 'organization:manage',
  effect: 'read',
  input: StrictObject({ format: Type.Enum(['csv', 'jsonl']), ...FILTER_FIELDS }),
  result: Type.Unsafe<FileAnswer>({ description: 'a file' }),
  sends: Object.values(FORMATS).map(({ mediaType }) => mediaType),
  example: {
    format: 'csv',
    from: '2026-11-01T00:00:00Z',
    to: '2026-12-01T00:00:00Z',
    actor: 'system',
    via: 'console',
    action: 'change_role',
    target: 'user_01k9z7c9d0e1f2g3h4j5k6m7np',
    result: 'done',
  },
  async handle({ format, ...filter }, { caller, stores, now }) {
    const { mediaType, write } = FORMATS[format];
    const entries = eachAuditEntry(stores, caller.orgId, parseFilter(filter));
    const day = toTimestamp(now).slice(0, 'YYYY-MM-DD'.length);
    return { name: `audit-${day}.${format}`, mediaType, content: write(entries) };
  },
});

const PAGE = 1_000;

/** Yields all entries that match the filter, newest first, reading one page at a time. */
async function* eachAuditEntry(
  { auditLog }: Pick<Stores, 'auditLog'>,
  orgId: Id<'org'>,
  filter: AuditFilter,
): AsyncGenerator<AuditEntryView> {
  let place: AuditPlace | null = null;
  for (;;) {
    const lines: AuditLine[] = await auditLog.list(orgId, filter, place, PAGE);
    for (const line of lines) yield toAuditEntryView(line);
    place = lines.at(-1) ?? null;
    if (place === null || lines.length < PAGE) return;
  }
}
