import { Type } from 'typebox';

import { defineAction, LIST_LIMIT } from '#actions/action_context.ts';
import { CLOSED } from '#actions/fields.ts';
import { InvitationView, toInvitationView } from '#actions/people/invitation_view.ts';

export const listInvitations = defineAction({
  name: 'list_invitations',
  consoleOnly: true,
  summary: 'List who was invited, newest first; invitations that were revoked are left out.',
  permission: 'organization:manage',
  effect: 'read',
  input: Type.Object({}, CLOSED),
  result: Type.Object({ invitations: Type.Array(InvitationView) }),
  example: {},
  async handle(_input, { caller, stores, now }) {
    return { invitations: (await stores.invitations.list(caller.orgId, LIST_LIMIT, now)).map(toInvitationView) };
  },
});
