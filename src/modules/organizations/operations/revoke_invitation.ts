import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { AppError } from '#kernel/errors.ts';

export const revokeInvitation = defineAction({
  name: 'revoke_invitation',
  consoleOnly: true,
  summary: 'Revoke an invitation: its link stops working from the next request on.',
  permission: 'organization:manage',
  effect: 'delete',
  input: Type.Object({ invitationId: IdText }, STRICT),
  result: Type.Object({ deleted: Type.Literal(true), invitationId: IdText }),
  example: { invitationId: EXAMPLE_IDS.invitationId },
  async handle({ invitationId }, { caller, stores, now, record }) {
    const invitation = await stores.invitations.find(caller.orgId, invitationId, now);
    if (invitation === null || !(await stores.invitations.revoke(caller.orgId, invitationId, now))) {
      throw new AppError('not_found', 'the organization has no open invitation with this id');
    }
    const { email, role } = invitation;
    record({ target: invitationId, before: { email, role }, after: null });
    return { deleted: true as const, invitationId };
  },
});
