import { Readable } from 'node:stream';

import { Type } from 'typebox';

import {
  AuditEntryView,
  AuditExportQuery,
  AuditQuery,
  eachAuditEntry,
  listAudit,
  parseFilter,
} from '#actions/audit/audit_log.ts';
import { nullable } from '#actions/fields.ts';
import { toCsv, toJsonLines } from '#entry/http/console/audit_export.ts';
import { consoleRoute } from '#entry/http/console/route.ts';
import { toTimestamp } from '#kernel/time.ts';
import { storesOf } from '#storage/postgres/stores.ts';

const FORMATS = {
  csv: { mediaType: 'text/csv', write: toCsv },
  jsonl: { mediaType: 'application/jsonl', write: toJsonLines },
} as const;

export const AUDIT_ROUTES = [
  consoleRoute({
    name: 'list_audit_log',
    method: 'GET',
    path: '/organizations/:org/audit',
    tag: 'Organizations',
    summary: 'List who changed what, newest first, a page at a time.',
    access: 'manager',
    query: AuditQuery,
    result: Type.Object({ entries: Type.Array(AuditEntryView), nextCursor: nullable(Type.String()) }),
    handle: ({ house, caller, query }) => listAudit(storesOf(house.db.session()), caller.orgId, query),
  }),
  consoleRoute({
    name: 'export_audit_log',
    method: 'GET',
    path: '/organizations/:org/audit/export',
    tag: 'Organizations',
    summary: 'Download who changed what, newest first, all that the filter lets through.',
    access: 'manager',
    query: AuditExportQuery,
    result: null,
    sends: Object.values(FORMATS).map(({ mediaType }) => mediaType),
    async handle({ house, caller, query: { format, ...filter }, now, reply }) {
      const { mediaType, write } = FORMATS[format];
      const entries = eachAuditEntry(storesOf(house.db.session()), caller.orgId, parseFilter(filter));
      const file = `audit-${toTimestamp(now).slice(0, 'YYYY-MM-DD'.length)}.${format}`;
      return reply
        .type(`${mediaType}; charset=utf-8`)
        .header('content-disposition', `attachment; filename="${file}"`)
        .send(Readable.from(write(entries)));
    },
  }),
];
