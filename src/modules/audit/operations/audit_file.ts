import { toCell } from '#kernel/csv.ts';
import type { AuditEntryView } from '#modules/audit/operations/view.ts';

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
export async function* toCsv(entries: AsyncIterable<AuditEntryView>): AsyncGenerator<string> {
  yield `${COLUMNS.join(',')}\r\n`;
  for await (const entry of entries) {
    const cells = cellsOf(entry);
    yield `${COLUMNS.map((column) => toCell(cells[column])).join(',')}\r\n`;
  }
}

/** Yields entries as in the list, one JSON object a line. */
export async function* toJsonLines(entries: AsyncIterable<AuditEntryView>): AsyncGenerator<string> {
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
