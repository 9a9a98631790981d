import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { CLOSED, IdText } from '#actions/fields.ts';
import { callerUser } from '#actions/me/caller_user.ts';
import { endMembership } from '#actions/people/members.ts';
import { AppError, notFound } from '#kernel/errors.ts';

const KEYS_MAX = 100;

export const removeMember = defineAction({
  name: 'remove_member',
  consoleOnly: true,
  stepUp: true,
  summary:
    'Remove a member, which owners and admins may, or leave, which everybody may but the last owner. From the next request on the person is no member and is paged no more. Keys of the organization, such as those that the person made, can be revoked in the same step.',
  permission: 'organization:view',
  effect: 'delete',
  input: Type.Object(
    {
      userId: IdText,
      revokeApiKeyIds: Type.Optional(
        Type.Array(IdText, { maxItems: KEYS_MAX, description: 'keys of the organization; for owners and admins' }),
      ),
    },
    CLOSED,
  ),
  result: Type.Object({ deleted: Type.Literal(true), userId: IdText }),
  conflict: 'the last owner can neither leave nor be removed',
  example: { userId: EXAMPLE_IDS.userId, revokeApiKeyIds: [] },
  async handle({ userId, revokeApiKeyIds = [] }, context) {
    const { caller, stores, now, record } = context;
    if (revokeApiKeyIds.length > 0 && !caller.permissions.has('organization:manage')) {
      throw new AppError('forbidden', 'only owners and admins revoke keys of the organization');
    }
    const { orgId } = caller;
    const actor = { kind: 'user', userId: callerUser(caller) } as const;
    const { id, role, revokedKeys } = await endMembership(context, { orgId, actor }, userId);
    for (const [index, apiKeyId] of revokeApiKeyIds.entries()) {
      const key = await stores.apiKeys.find(orgId, apiKeyId);
      if (key === null || key.userId !== null) throw notFound(`revokeApiKeyIds[${index}]`, 'key of the organization');
      await stores.apiKeys.revoke(apiKeyId, now);
      record({ target: apiKeyId, before: { name: key.name, createdBy: key.createdBy }, after: null });
    }
    record({ target: id, before: { role }, after: revokedKeys.length === 0 ? null : { revokedKeys } });
    return { deleted: true as const, userId };
  },
});
