import { linkTokenHash } from '#auth/secret_text.ts';
import { AppError } from '#kernel/errors.ts';
import type { Temporal } from '#kernel/time.ts';
import type { InvitationRow } from '#modules/organizations/store.ts';
import type { Stores } from '#modules/stores.ts';

/** An open invitation. `isMailed`: by the link in the mail, which is shown only to its receiver. */
export type OpenInvitation = InvitationRow & { readonly isMailed: boolean };

/** Throws `not_found`, in the same words for an invitation that is unknown, used, revoked or expired. */
export async function getOpenInvitation(
  { invitations }: Pick<Stores, 'invitations'>,
  token: string,
  now: Temporal.Instant,
): Promise<OpenInvitation> {
  const hash = linkTokenHash('invitation', token);
  const invitation = hash === null ? null : await invitations.findOpen(hash, now);
  if (invitation === null) throw invitationNotValid();
  return invitation;
}

export function invitationNotValid(): AppError {
  return new AppError('not_found', 'this invitation is not valid, or was used or revoked, or has expired');
}
