import { type Static, Type } from 'typebox';

import { LIST_LIMIT } from '#actions/action_context.ts';
import { RoleName } from '#actions/account/view.ts';
import { IdText, nullable, Timestamp } from '#actions/fields.ts';
import type { UnitOfWork } from '#storage/postgres/unit_of_work.ts';
import type { Cipher } from '#auth/cipher.ts';
import { linkUrl, newLinkToken } from '#auth/link_tokens.ts';
import type { MemberCaller } from '#auth/sessions.ts';
import { sendInvitation } from '#jobs/send_invitation.ts';
import type { RequestOrigin } from '#kernel/caller.ts';
import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { Role } from '#kernel/permissions.ts';
import { type Temporal, toTimestamp } from '#kernel/time.ts';
import type { InvitationRow } from '#storage/postgres/invitation_store.ts';
import type { Stores } from '#storage/postgres/stores.ts';

const VALID_HOURS = 7 * 24;

const INVITATION_FIELDS = {
  invitationId: IdText,
  email: Type.String(),
  role: RoleName,
  invitedBy: nullable(Type.String({ description: 'the name of who asked' })),
  createdAt: Timestamp,
  expiresAt: Timestamp,
  status: Type.Enum(['pending', 'accepted', 'expired']),
};

export const InvitationView = Type.Object(INVITATION_FIELDS);

export const NewInvitationView = Type.Object({
  ...INVITATION_FIELDS,
  link: Type.String({ description: 'shown this once' }),
});

/** Those that were not revoked, newest first. */
export async function listInvitations(
  stores: Stores,
  orgId: Id<'org'>,
  now: Temporal.Instant,
): Promise<{ invitations: Static<typeof InvitationView>[] }> {
  return { invitations: (await stores.invitations.list(orgId, LIST_LIMIT, now)).map(toView) };
}

/** What links are made of, and whether they are mailed. */
export interface InvitationSettings {
  readonly baseUrl: string;
  readonly cipher: Cipher;
  readonly hasMail: boolean;
}

/**
 * Invites somebody by a link that works once, within seven days. It is mailed when this server sends mail, and shown to
 * the inviter once. An earlier invitation of the same address is void. Throws `conflict` when they are a member.
 */
export async function createInvitation(
  unit: UnitOfWork,
  caller: MemberCaller,
  { email, role }: { readonly email: string; readonly role: Role },
  { baseUrl, cipher, hasMail }: InvitationSettings,
  origin: RequestOrigin,
): Promise<Static<typeof NewInvitationView>> {
  const { stores, now } = unit;
  const { orgId, actor, via } = caller;
  if (role === 'owner' && caller.role !== 'owner') throw new AppError('forbidden', 'only an owner invites an owner');
  const user = await stores.people.findUserByEmail(email);
  if (user !== null && (await stores.people.findRole(orgId, user.id)) !== null) {
    throw new AppError('conflict', `${email} is a member of the organization already`);
  }
  const { token, tokenHash } = newLinkToken('invitation');
  const link = linkUrl(baseUrl, 'invitation', token);
  const expiresAt = now.add({ hours: VALID_HOURS });
  const wanted = { orgId, email, role, tokenHash, invitedBy: actor.userId, expiresAt };
  const invitationId = await stores.invitations.insert(wanted, now);
  const change = { action: 'create_invitation', target: invitationId, before: null, after: { email, role } };
  await stores.audit.append({ orgId, actor, via, ...change, result: 'done', origin }, now);
  if (hasMail)
    unit.enqueue(sendInvitation, { invitationId, orgId, sealedLink: cipher.encrypt(link).toString('base64') });
  const made = await stores.invitations.find(orgId, invitationId, now);
  if (made === null) throw new Error('an invitation that was just made is there');
  return { ...toView(made), link };
}

/** The link is worthless from the next request on. Throws `not_found` without one that waits. */
export async function revokeInvitation(
  { stores, now }: UnitOfWork,
  { orgId, actor, via }: MemberCaller,
  invitationId: string,
  origin: RequestOrigin,
): Promise<{ deleted: true; invitationId: string }> {
  const found = await stores.invitations.find(orgId, invitationId, now);
  if (found === null || !(await stores.invitations.revoke(orgId, invitationId, now))) {
    throw new AppError('not_found', 'the organization has no such invitation that waits for an answer');
  }
  const { email, role } = found;
  const change = { action: 'revoke_invitation', target: invitationId, before: { email, role }, after: null };
  await stores.audit.append({ orgId, actor, via, ...change, result: 'done', origin }, now);
  return { deleted: true, invitationId };
}

function toView(row: InvitationRow): Static<typeof InvitationView> {
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
