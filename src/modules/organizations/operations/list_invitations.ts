import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { nullable, STRICT } from '#actions/fields.ts';
import { pageInput, pageOf, parseTimeCursor, timeCursorOf } from '#actions/list_page.ts';
import { InvitationView, toInvitationView } from '#modules/organizations/operations/invitation_view.ts';

const LIMIT = 50;
const LIMIT_MAX = 200;

export const listInvitations = defineAction({
  name: 'list_invitations',
  consoleOnly: true,
  summary: 'List who was invited page by page, newest first; invitations that were revoked are left out.',
  permission: 'organization:manage',
  effect: 'read',
  input: Type.Object(
    {
      isAccepted: Type.Optional(Type.Boolean({ description: 'only those that were accepted, or only those not yet' })),
      ...pageInput(LIMIT, LIMIT_MAX),
    },
    STRICT,
  ),
  result: Type.Object({
    invitations: Type.Array(InvitationView),
    total: Type.Integer({ description: 'how many match' }),
    nextCursor: nullable(Type.String()),
  }),
  example: { isAccepted: false, cursor: '1767225600000.invitation_01k9z8kb2c3d4e5f6g7h8j9kmp', limit: 20 },
  async handle({ isAccepted, cursor, limit = LIMIT }, { caller, stores, now }) {
    const wanted = { isAccepted };
    const after = cursor === undefined ? null : parseTimeCursor('invitation', cursor);
    const invitations = await stores.invitations.list(caller.orgId, wanted, { after, limit: limit + 1 }, now);
    const { shown, nextCursor } = pageOf(invitations, limit, (last) =>
      timeCursorOf({ at: last.createdAt, id: last.invitationId }),
    );
    return {
      invitations: shown.map(toInvitationView),
      total: await stores.invitations.count(caller.orgId, wanted, now),
      nextCursor,
    };
  },
});
