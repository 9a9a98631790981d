import { Type } from 'typebox';

import { defineOperation } from '#actions/action_context.ts';
import { StrictObject, type FileAnswer } from '#kernel/action.ts';
import { toCell } from '#kernel/csv.ts';
import type { Id } from '#kernel/ids.ts';
import { toTimestamp } from '#kernel/time.ts';
import {
  type AuditEntryView,
  FILTER_FIELDS,
  parseFilter,
  toAuditEntryView,
} from '#modules/audit/operations/list_audit_log.ts';
import type { AuditFilter, AuditLine, AuditPlace } from '#modules/audit/store/audit_store.ts';
import type { Stores } from '#modules/stores.ts';

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
