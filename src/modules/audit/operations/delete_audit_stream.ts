import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS } from '#actions/example_ids.ts';
import { IdText, STRICT } from '#actions/fields.ts';
import { auditedStream } from '#modules/audit/stream_view.ts';
import { requireOwner } from '#modules/sign_in/require_owner.ts';

export const deleteAuditStream = defineAction({
  name: 'delete_audit_stream',
  consoleOnly: true,
  stepUp: true,
  summary: 'Delete a stream of the audit log. What was sent stays where it is. Only owners may.',
  permission: 'organization:manage',
  effect: 'delete',
  input: Type.Object({ auditStreamId: IdText }, STRICT),
  result: Type.Object({ auditStreamId: IdText, deleted: Type.Boolean() }),
  example: { auditStreamId: IDS.auditStreamId },
  async handle({ auditStreamId }, context) {
    const { caller, stores, record } = context;
    const stream = await stores.auditStreams.lock(caller.orgId, auditStreamId);
    await requireOwner(context);
    await stores.auditStreams.delete(stream.id);
    record({ target: stream.id, before: auditedStream(stream), after: null });
    return { auditStreamId: stream.id, deleted: true };
  },
});
