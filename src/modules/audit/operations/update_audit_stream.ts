import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS } from '#actions/example_ids.ts';
import { IdText, STRICT } from '#actions/fields.ts';
import { auditedStream, AuditStreamView, toAuditStreamView } from '#modules/audit/stream_view.ts';
import { requireOwner } from '#modules/sign_in/require_owner.ts';

const HEALTHY = { failures: 0, failingSince: null, lastFailure: null, toldAt: null, heldUntil: null };

export const updateAuditStream = defineAction({
  name: 'update_audit_stream',
  consoleOnly: true,
  stepUp: true,
  summary: 'Switch a stream of the audit log on or off. It goes on where it was. Only owners may.',
  permission: 'organization:manage',
  effect: 'write',
  input: Type.Object({ auditStreamId: IdText, isOn: Type.Boolean() }, STRICT),
  result: AuditStreamView,
  example: { auditStreamId: IDS.auditStreamId, isOn: false },
  async handle({ auditStreamId, isOn }, context) {
    const { caller, stores, record } = context;
    const before = await stores.auditStreams.lock(caller.orgId, auditStreamId);
    await requireOwner(context);
    await stores.auditStreams.save(before.id, { isOn, ...(isOn && HEALTHY) });
    const after = await stores.auditStreams.lock(caller.orgId, auditStreamId);
    record({ target: before.id, before: auditedStream(before), after: auditedStream(after) });
    const head = await stores.auditChain.findHead(caller.orgId);
    return toAuditStreamView(after, head?.number ?? 0);
  },
});
