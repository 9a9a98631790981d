import { Type } from 'typebox';

import { type ActionContext, defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { callerUser } from '#modules/accounts/caller_user.ts';
import { endMembership } from '#modules/organizations/end_membership.ts';
import {
  forManagers,
  forOwners,
  lockRoles,
  managesOrganization,
  requireAnotherOwner,
} from '#modules/organizations/roles.ts';
import { AppError, notFound } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { Role } from '#kernel/permissions.ts';

const KEYS_MAX = 100;

export const removeMember = defineAction({
  name: 'remove_member',
  consoleOnly: true,
  stepUp: true,
  summary:
    'Remove a member, which owners and admins may, or leave, which everybody may but the last owner. From the next request on the person is no longer a member and is not paged. Keys of the organization, such as those that the person made, can be revoked in the same step.',
  permission: 'organization:view',
  effect: 'delete',
  input: Type.Object(
    {
      userId: IdText,
      revokeApiKeyIds: Type.Optional(
        Type.Array(IdText, { maxItems: KEYS_MAX, description: 'keys of the organization; for owners and admins' }),
      ),
    },
    STRICT,
  ),
  result: Type.Object({ deleted: Type.Literal(true), userId: IdText }),
  conflict: 'the last owner can neither leave nor be removed',
  example: { userId: EXAMPLE_IDS.userId, revokeApiKeyIds: [] },
  async handle({ userId, revokeApiKeyIds = [] }, context) {
    const { caller, stores, now, record } = context;
    if (revokeApiKeyIds.length > 0 && !caller.permissions.has('organization:manage')) {
      throw new AppError('forbidden', 'only owners and admins can revoke keys of the organization');
    }
    const { orgId } = caller;
    const { id, role, revokedKeys } = await removeFrom(context, userId);
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

/** Ends the membership if the caller may; returns the role that the person had and the keys of theirs that ended. */
async function removeFrom(
  { stores, now, caller }: ActionContext,
  userId: string,
): Promise<{ id: Id<'user'>; role: Role; revokedKeys: Id<'apikey'>[] }> {
  const isOwn = userId === callerUser(caller);
  const { id, before } = await lockRoles(stores, caller, userId);
  if (!isOwn && !managesOrganization(before.caller)) throw forManagers(before.caller);
  if (!isOwn && before.caller !== 'owner' && before.target === 'owner') throw forOwners();
  await requireAnotherOwner(stores, caller.orgId, before.target);
  const revokedKeys = await endMembership(stores, caller.orgId, id, now);
  return { id, role: before.target, revokedKeys };
}
