import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { AuditEntryView, FILTER_FIELDS, parseFilter, toAuditEntryView } from '#modules/audit/operations/view.ts';
import { nullable, STRICT } from '#actions/fields.ts';
import { pageOf, parseTimeCursor, timeCursorOf } from '#actions/list_page.ts';

const LIMIT = 50;

export const listAuditLog = defineAction({
  name: 'list_audit_log',
  consoleOnly: true,
  summary: 'List who changed what, newest first, a page at a time.',
  permission: 'organization:manage',
  effect: 'read',
  input: Type.Object(
    {
      ...FILTER_FIELDS,
      cursor: Type.Optional(Type.String()),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, description: `${LIMIT} when left out` })),
    },
    STRICT,
  ),
  result: Type.Object({
    entries: Type.Array(AuditEntryView),
    nextCursor: nullable(Type.String({ description: 'null on the last page' })),
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
    return {
      entries: shown.map(toAuditEntryView),
      nextCursor,
    };
  },
});
