import { Type } from 'typebox';

import { EmailField } from '#modules/accounts/fields.ts';
import { RoleName } from '#modules/accounts/view.ts';
import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { IdText, STRICT } from '#actions/fields.ts';
import { callerUser } from '#modules/accounts/caller_user.ts';
import { INVITATION_FIELDS, toInvitationView } from '#modules/organizations/operations/invitation_view.ts';
import { findCallerRole } from '#modules/organizations/roles.ts';
import { linkUrl, newLinkToken } from '#auth/secret_text.ts';
import { sendInvitation } from '#storage/queue/jobs/send_invitation.ts';
import { AppError, notFound } from '#kernel/errors.ts';

const VALID_HOURS = 7 * 24;
const TEAMS_MAX = 20;

/** Creates an invitation; an earlier one of the same address is void. */
export const createInvitation = defineAction({
  name: 'create_invitation',
  consoleOnly: true,
  summary:
    'Invite somebody by a link that works once, within seven days. It is mailed where this server sends mail, and shown here once.',
  permission: 'organization:manage',
  effect: 'write',
  stepUp: true,
  input: Type.Object(
    {
      email: EmailField,
      role: RoleName,
      teamIds: Type.Optional(Type.Array(IdText, { maxItems: TEAMS_MAX, description: 'teams that they join' })),
    },
    STRICT,
  ),
  result: Type.Object({
    ...INVITATION_FIELDS,
    link: Type.String({ description: 'shown this once' }),
    isMailed: Type.Boolean({ description: 'another link is on its way by mail' }),
  }),
  conflict: 'the person is a member already',
  example: { email: 'nora@example.com', role: 'editor', teamIds: [EXAMPLE_IDS.teamId] },
  async handle({ email, role, teamIds = [] }, { caller, stores, now, record, enqueue, baseUrl, installation }) {
    const { orgId } = caller;
    if (role === 'owner' && (await findCallerRole(stores, caller)) !== 'owner') {
      throw new AppError('forbidden', 'only an owner can invite an owner');
    }
    const teams = new Map((await stores.teams.findAll(orgId, teamIds)).map((team) => [team.id as string, team.id]));
    const joined = [...new Set(teamIds)].map((teamId, place) => {
      const id = teams.get(teamId);
      if (id === undefined) throw notFound(`teamIds[${place}]`, 'team');
      return id;
    });
    const user = await stores.people.findUserByEmail(email);
    if (user !== null && (await stores.people.findRole(orgId, user.id)) !== null) {
      throw new AppError('conflict', `${email} is a member of the organization already`);
    }
    const { token, tokenHash } = newLinkToken('invitation');
    const link = linkUrl(baseUrl, 'invitation', token);
    const expiresAt = now.add({ hours: VALID_HOURS });
    const mailed = installation.hasMail ? newLinkToken('invitation') : null;
    const mailedTokenHash = mailed === null ? null : mailed.tokenHash;
    const wanted = {
      orgId,
      email,
      role,
      teamIds: joined,
      tokenHash,
      mailedTokenHash,
      invitedBy: callerUser(caller),
      expiresAt,
    };
    const invitationId = await stores.invitations.insert(wanted, now);
    record({
      target: invitationId,
      before: null,
      after: { email, role, ...(joined.length > 0 && { teamIds: joined }) },
    });
    if (mailed !== null) {
      // The author is shown another link: only reading the mail proves that somebody has the address.
      const mailedLink = linkUrl(baseUrl, 'invitation', mailed.token);
      const sealedLink = installation.ciphers.invitations.encrypt(mailedLink).toString('base64');
      enqueue(sendInvitation, { invitationId, orgId, sealedLink });
    }
    const made = await stores.invitations.find(orgId, invitationId, now);
    if (made === null) throw new Error('an invitation that was just made is there');
    return { ...toInvitationView(made), link, isMailed: mailed !== null };
  },
});
