import { type Static, Type } from 'typebox';

import { RoleName } from '#modules/accounts/view.ts';
import { IdText, nullable, Timestamp } from '#actions/fields.ts';
import { toTimestamp } from '#kernel/time.ts';
import type { InvitationRow } from '#modules/organizations/store.ts';

export const INVITATION_FIELDS = {
  invitationId: IdText,
  email: Type.String(),
  role: RoleName,
  invitedBy: nullable(Type.String({ description: 'the name of who asked' })),
  createdAt: Timestamp,
  expiresAt: Timestamp,
  status: Type.Enum(['pending', 'accepted', 'expired']),
};

export const InvitationView = Type.Object(INVITATION_FIELDS);

export function toInvitationView(row: InvitationRow): Static<typeof InvitationView> {
  const { invitationId, email, role, invitedBy, createdAt, expiresAt, acceptedAt, isOpen } = row;
  return {
    invitationId,
    email,
    role,
    invitedBy,
    createdAt: toTimestamp(createdAt),
    expiresAt: toTimestamp(expiresAt),
    status: acceptedAt === null ? (isOpen ? 'pending' : 'expired') : 'accepted',
  };
}
