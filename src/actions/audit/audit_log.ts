import { type Static, Type } from 'typebox';

import { CLOSED, IdText, nullable, Timestamp } from '#actions/fields.ts';
import { parseInstant } from '#core/oncall/parse_instant.ts';
import { orThrow } from '#core/oncall/parsed.ts';
import { VIAS } from '#kernel/caller.ts';
import { invalidInput } from '#kernel/errors.ts';
import { asId, type Id } from '#kernel/ids.ts';
import { fromEpochMilliseconds, type Temporal, toTimestamp } from '#kernel/time.ts';
import type { AuditFilter, AuditLine, AuditPlace } from '#storage/postgres/audit_reader.ts';
import type { Stores } from '#storage/postgres/stores.ts';

const RESULTS = ['done', 'forbidden', 'refused'] as const;
const LimitField = Type.Integer({ minimum: 1, maximum: 500, description: '50 when left out' });
const LIMIT = 50;

const FILTER_FIELDS = {
  from: Type.Optional(Type.String({ description: 'RFC 3339; at or after' })),
  to: Type.Optional(Type.String({ description: 'RFC 3339; before' })),
  actor: Type.Optional(Type.String({ description: 'the id of a user, key or connection; or system, or unknown' })),
  via: Type.Optional(Type.Enum([...VIAS, 'system'])),
  action: Type.Optional(Type.String()),
  target: Type.Optional(Type.String({ description: 'the id of what was changed' })),
  result: Type.Optional(Type.Enum([...RESULTS])),
};

export const AuditQuery = Type.Object(
  { ...FILTER_FIELDS, cursor: Type.Optional(Type.String()), limit: Type.Optional(LimitField) },
  CLOSED,
);

export const AuditExportQuery = Type.Object({ format: Type.Enum(['csv', 'jsonl']), ...FILTER_FIELDS }, CLOSED);

const Fields = nullable(Type.Object({}, { additionalProperties: true }));

export const AuditEntryView = Type.Object({
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
  action: Type.String(),
  target: nullable(Type.String()),
  before: Fields,
  after: Fields,
  result: Type.Enum([...RESULTS]),
  address: nullable(Type.String()),
  requestId: Type.String(),
});

export type AuditEntryView = Static<typeof AuditEntryView>;

/** Newest first. `nextCursor` is null on the last page. Throws `invalid_input` for a time or cursor that is none. */
export async function listAudit(
  stores: Pick<Stores, 'auditLog'>,
  orgId: Id<'org'>,
  { cursor, limit = LIMIT, ...filter }: Static<typeof AuditQuery>,
): Promise<{ entries: AuditEntryView[]; nextCursor: string | null }> {
  const place = cursor === undefined ? null : parseCursor(cursor);
  const lines = await stores.auditLog.list(orgId, parseFilter(filter), place, limit + 1);
  const shown = lines.slice(0, limit);
  const last = lines.length > limit ? shown.at(-1) : undefined;
  return { entries: shown.map(toView), nextCursor: last === undefined ? null : cursorOf(last) };
}

const PAGE = 1_000;

/** All entries that the filter lets through, newest first, a page at a time: however many there are. */
export async function* eachAuditEntry(
  stores: Pick<Stores, 'auditLog'>,
  orgId: Id<'org'>,
  filter: AuditFilter,
): AsyncGenerator<AuditEntryView> {
  let place: AuditPlace | null = null;
  for (;;) {
    const lines: AuditLine[] = await stores.auditLog.list(orgId, filter, place, PAGE);
    for (const line of lines) yield toView(line);
    place = lines.at(-1) ?? null;
    if (place === null || lines.length < PAGE) return;
  }
}

/** Throws `invalid_input` for times that are none. */
export function parseFilter({ from, to, ...others }: Omit<Static<typeof AuditQuery>, 'cursor' | 'limit'>): AuditFilter {
  return { ...others, ...(from && { from: parseTime(from, 'from') }), ...(to && { to: parseTime(to, 'to') }) };
}

function parseTime(text: string, path: string): Temporal.Instant {
  return orThrow(parseInstant(text, 'UTC', path));
}

function cursorOf({ at, auditId }: AuditPlace): string {
  return `${at.epochMilliseconds}.${auditId}`;
}

function parseCursor(cursor: string): AuditPlace {
  const [, at, auditId] = /^(\d{1,13})\.(audit_\w{26})$/.exec(cursor) ?? [];
  if (at === undefined || auditId === undefined) {
    throw invalidInput([{ path: 'cursor', message: 'must be the nextCursor of the page before' }]);
  }
  return { at: fromEpochMilliseconds(Number(at)), auditId: asId('audit', auditId) };
}

function toView({ actor, actorName, apiKeyName, at, ...line }: AuditLine): AuditEntryView {
  return {
    auditId: line.auditId,
    at: toTimestamp(at),
    actor: { kind: actor.kind, id: idOf(actor), name: actorName },
    apiKey: apiKeyOf(actor, apiKeyName),
    via: line.via,
    connection: (actor.kind === 'user' && actor.connection) || null,
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
