import { Type } from 'typebox';

import { callerUser } from '#modules/accounts/caller_user.ts';
import { defineAction } from '#actions/action_context.ts';
import { STRICT } from '#actions/fields.ts';
import { issueProvisioningToken } from '#auth/provisioning_token.ts';
import { requireOwner } from '#modules/provisioning/require_owner.ts';

export const createProvisioningToken = defineAction({
  name: 'create_provisioning_token',
  consoleOnly: true,
  stepUp: true,
  summary:
    'Create the token with which the identity provider of the organization brings people in. It is shown this once. The token before it ends at once.',
  permission: 'organization:manage',
  effect: 'write',
  input: Type.Object({}, STRICT),
  result: Type.Object({ token: Type.String({ description: 'the secret, shown this once' }) }),
  example: {},
  async handle(_input, context) {
    const { caller, stores, now, record } = context;
    await requireOwner(context);
    const before = await stores.provisioning.findToken(caller.orgId);
    const { tokenId, token } = await issueProvisioningToken(stores, caller.orgId, callerUser(caller), now);
    record({ target: tokenId, before: before && { tokenId: before.apiKeyId }, after: { tokenId } });
    return { token };
  },
});
