import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { STRICT } from '#actions/fields.ts';
import { AppError } from '#kernel/errors.ts';
import { requireOwner } from '#modules/provisioning/require_owner.ts';

export const revokeProvisioningToken = defineAction({
  name: 'revoke_provisioning_token',
  consoleOnly: true,
  summary: 'Revoke the token of the identity provider. Its next request is refused. Members, teams and roles stay.',
  permission: 'organization:manage',
  effect: 'delete',
  input: Type.Object({}, STRICT),
  result: Type.Object({ deleted: Type.Literal(true) }),
  refusals: ['not_found'],
  example: {},
  async handle(_input, context) {
    const { caller, stores, now, record } = context;
    await requireOwner(context);
    const token = await stores.provisioning.findToken(caller.orgId);
    if (token === null) throw new AppError('not_found', 'the organization has no provisioning token');
    await stores.provisioning.revokeToken(caller.orgId, now);
    record({ target: token.apiKeyId, before: { tokenId: token.apiKeyId }, after: null });
    return { deleted: true as const };
  },
});
