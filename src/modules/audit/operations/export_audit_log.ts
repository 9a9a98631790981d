import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { toCsv, toJsonLines } from '#modules/audit/operations/audit_file.ts';
import { type AuditEntryView, FILTER_FIELDS, parseFilter, toAuditEntryView } from '#modules/audit/operations/view.ts';
import { STRICT } from '#actions/fields.ts';
import type { FileAnswer } from '#kernel/action.ts';
import type { Id } from '#kernel/ids.ts';
import { toTimestamp } from '#kernel/time.ts';
import type { AuditFilter, AuditLine, AuditPlace } from '#modules/audit/store/audit_reader.ts';
import type { Stores } from '#modules/stores.ts';

const FORMATS = {
  csv: { mediaType: 'text/csv', write: toCsv },
  jsonl: { mediaType: 'application/jsonl', write: toJsonLines },
} as const;

export const exportAuditLog = defineAction({
  name: 'export_audit_log',
  consoleOnly: true,
  summary: 'Download who changed what, newest first: every entry that matches the filter.',
  permission: 'organization:manage',
  effect: 'read',
  input: Type.Object({ format: Type.Enum(['csv', 'jsonl']), ...FILTER_FIELDS }, STRICT),
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
