import type { Role } from '#kernel/permissions.ts';
import { type MailText, render } from '#notify/mail/mail_pieces.ts';
import { withoutLinks } from '#notify/texts/without_links.ts';

/** Asks somebody to join an organization. */
export function invitationMail(invitation: {
  readonly organization: string;
  readonly invitedBy: string | null;
  readonly role: Role;
  readonly link: string;
}): MailText {
  const { organization, invitedBy, role, link } = invitation;
  // Strangers can choose both names, so no mail program may turn them into links.
  const heading = withoutLinks(`${invitedBy ?? 'Somebody'} invites you to ${organization}`);
  return render(heading, [
    { kind: 'heading', text: `${heading}.` },
    { kind: 'paragraph', text: `You would join the organization on Tocsin as ${role}.` },
    { kind: 'links', links: [{ label: 'Accept the invitation', url: link }] },
    {
      kind: 'paragraph',
      text: 'The link works once, within seven days. If you did not expect an invitation, ignore this mail.',
    },
  ]);
}

/** Lets somebody set a new password. `address` is where the request came from. */
export function passwordResetMail({
  link,
  address,
}: {
  readonly link: string;
  readonly address: string | null;
}): MailText {
  const from = address === null ? 'Somebody' : `Somebody at ${address}`;
  return render('Set a new password', [
    { kind: 'heading', text: 'Set a new password.' },
    {
      kind: 'paragraph',
      text: `${from} asked for a link to set a new password. When you set it, you are logged out everywhere and your connected apps are disconnected. Your personal API keys are revoked unless you choose to keep them.`,
    },
    { kind: 'links', links: [{ label: 'Set a new password', url: link }] },
    {
      kind: 'paragraph',
      text: 'The link works once, within an hour. If you did not ask for it, ignore this mail: your password stays the same.',
    },
  ]);
}

/**
 * Says which schedules name somebody whom the identity provider has deactivated, and what becomes of the shifts; or what
 * pages somebody to whom it has given a role that may not answer.
 */
export function deactivationMail({
  name,
  role,
  paging,
  link,
}: {
  readonly name: string;
  /** Role that may not answer; null for a person who is no member any more. */
  readonly role: Role | null;
  readonly paging: readonly string[];
  readonly link: string;
}): MailText {
  const what = role === null ? 'was deactivated' : `became ${role} and may not answer pages`;
  const heading = withoutLinks(
    `${name} ${what}, and ${role === null ? 'schedules' : 'schedules or policies'} still name them`,
  );
  return render(heading, [
    { kind: 'heading', text: `${heading}.` },
    {
      kind: 'paragraph',
      text:
        role === null
          ? 'The identity provider of your organization has deactivated this person. They are no longer paged. Nothing was changed in the schedules:'
          : 'Your identity provider has given this person the role. They are still paged, but can neither acknowledge nor resolve. Give them the role responder, or take them out of these schedules and policies:',
    },
    ...paging.map((text) => ({ kind: 'paragraph' as const, text: withoutLinks(text) })),
    { kind: 'links', links: [{ label: 'Open the schedules', url: link }] },
  ]);
}

export function placeOffMail(place: {
  readonly name: string;
  readonly kind: string;
  readonly isUnreadable: boolean;
  readonly lastFailure: string | null;
  readonly link: string;
}): MailText {
  const why = place.isUnreadable ? 'because its routes cannot be read' : 'after a day of failures';
  const heading = withoutLinks(`The place ${place.name} (${place.kind}) was switched off ${why}`);
  return render(heading, [
    { kind: 'heading', text: `${heading}.` },
    ...(place.lastFailure === null ? [] : [{ kind: 'paragraph', text: place.lastFailure } as const]),
    { kind: 'links', links: [{ label: 'Look at the places', url: place.link }] },
  ]);
}

/** Says that a stream of the audit log has failed for a day. */
export function auditStreamFailingMail(stream: {
  readonly target: string;
  readonly lastFailure: string | null;
  readonly link: string;
}): MailText {
  const heading = withoutLinks(`The audit log could not be streamed to ${stream.target} for a day`);
  return render(heading, [
    { kind: 'heading', text: `${heading}.` },
    ...(stream.lastFailure === null ? [] : [{ kind: 'paragraph', text: stream.lastFailure } as const]),
    { kind: 'paragraph', text: 'It is tried again every five minutes, and nothing of it is lost.' },
    { kind: 'links', links: [{ label: 'Look at the streams', url: stream.link }] },
  ]);
}

/** Says which stored settings of an organization cannot be read. */
export function unreadableRowsMail({
  rows,
  link,
}: {
  readonly rows: readonly string[];
  readonly link: string;
}): MailText {
  const heading = 'Settings of your organization cannot be read and were set aside';
  return render(heading, [
    { kind: 'heading', text: `${heading}.` },
    { kind: 'paragraph', text: 'Each is left out alone, and everything else goes on:' },
    ...rows.map((text) => ({ kind: 'paragraph' as const, text: withoutLinks(text) })),
    { kind: 'links', links: [{ label: 'Set the last one again', url: link }] },
  ]);
}

/** Asks a person to confirm their number and to receive a test. */
export function numberRequestMail({ link }: { readonly link: string }): MailText {
  const heading = 'Confirm your number, so that pages reach you';
  return render(heading, [
    { kind: 'heading', text: `${heading}.` },
    {
      kind: 'paragraph',
      text: 'Your organization pages people by Tocsin. Look whether your number is right, confirm it by the code that you receive, and send yourself a test.',
    },
    { kind: 'links', links: [{ label: 'Open the page Me', url: link }] },
    { kind: 'paragraph', text: 'If you have no password yet, set one by "Forgot password" with this address.' },
    { kind: 'paragraph', text: 'You are asked again every three days until both are done, five times at most.' },
  ]);
}
