import { Type } from 'typebox';

import { LinkToken } from '#modules/accounts/fields.ts';
import { RoleName } from '#modules/accounts/view.ts';
import { defineAction } from '#actions/action_context.ts';
import { STRICT, nullable } from '#actions/fields.ts';
import { getOpenInvitation } from '#modules/organizations/operations/open_invitation.ts';

export const getInvitation = defineAction({
  name: 'get_invitation',
  consoleOnly: true,
  scope: 'anyone',
  route: 'GET /invitations/:token',
  summary: 'Show who invites whom to which organization. The link is the credential.',
  effect: 'read',
  input: Type.Object({ token: LinkToken }, STRICT),
  result: Type.Object({
    organization: Type.Object({ name: Type.String() }),
    email: Type.String(),
    role: RoleName,
    invitedBy: nullable(Type.String()),
    hasAccount: Type.Boolean({ description: 'whether to ask for the password of the account, or to make one' }),
  }),
  refusals: ['not_found'],
  example: { token: 'tocsin_inv_0' },
  async handle({ token }, { stores, now }) {
    const { organizationName, email, role, invitedBy } = await getOpenInvitation(stores, token, now);
    const hasAccount = (await stores.people.findUserByEmail(email)) !== null;
    return { organization: { name: organizationName }, email, role, invitedBy, hasAccount };
  },
});
