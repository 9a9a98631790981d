import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { STRICT } from '#actions/fields.ts';
import { AuditStreamView, toAuditStreamView } from '#modules/audit/stream_view.ts';

export const listAuditStreams = defineAction({
  name: 'list_audit_streams',
  consoleOnly: true,
  summary: 'List where the audit log is streamed to, and how each stream fares.',
  permission: 'organization:manage',
  effect: 'read',
  input: Type.Object({}, STRICT),
  result: Type.Object({
    streams: Type.Array(AuditStreamView),
    hasFolder: Type.Boolean({ description: 'whether the operator has configured a folder for files' }),
  }),
  example: {},
  async handle(_input, { caller, stores, installation }) {
    const head = await stores.auditChain.findHead(caller.orgId);
    const streams = await stores.auditStreams.list(caller.orgId);
    return {
      streams: streams.map((stream) => toAuditStreamView(stream, head?.number ?? 0)),
      hasFolder: installation.hasAuditFolder,
    };
  },
});
