import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { STRICT } from '#actions/fields.ts';
import { AppError } from '#kernel/errors.ts';
import { requireOwner } from '#modules/sign_in/require_owner.ts';
import { auditedConnection } from '#modules/sign_in/sign_in_view.ts';

export const removeOpenidConnection = defineAction({
  name: 'remove_openid_connection',
  consoleOnly: true,
  stepUp: true,
  summary:
    'Disconnect the provider of the organization. Sessions that were begun through it act no more from the next request on. Only owners may.',
  permission: 'organization:manage',
  effect: 'delete',
  input: Type.Object({}, STRICT),
  result: Type.Object({ deleted: Type.Literal(true) }),
  example: {},
  async handle(_input, context) {
    const { caller, stores, record } = context;
    await requireOwner(context);
    const before = await stores.openId.findConnection(caller.orgId);
    if (before === null) throw new AppError('not_found', 'no provider is connected');
    await stores.openId.removeConnection(caller.orgId);
    record({ target: caller.orgId, before: { openIdConnection: auditedConnection(before) }, after: null });
    return { deleted: true as const };
  },
});
