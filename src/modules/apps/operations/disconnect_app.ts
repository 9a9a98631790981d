import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { visibleOwner } from '#modules/organizations/visible_owner.ts';
import { auditedConnection } from '#auth/oauth/connections.ts';
import { notFound } from '#kernel/errors.ts';
import { asId } from '#kernel/ids.ts';

export const disconnectApp = defineAction({
  name: 'disconnect_app',
  consoleOnly: true,
  summary: 'Disconnect an app: its very next request is refused, and it can obtain no new token.',
  permission: 'organization:view',
  effect: 'delete',
  input: Type.Object({ connectionId: IdText }, STRICT),
  result: Type.Object({ deleted: Type.Literal(true), connectionId: IdText }),
  example: { connectionId: EXAMPLE_IDS.connectionId },
  async handle({ connectionId }, { caller, stores, record }) {
    const id = asId('connection', connectionId);
    const removed = await stores.connections.removeOf(caller.orgId, visibleOwner(caller), id);
    if (removed === null) throw notFound('connectionId', 'connection');
    record({ target: id, before: auditedConnection(removed), after: null });
    return { deleted: true as const, connectionId };
  },
});
