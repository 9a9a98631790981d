import { type MailText, render } from '#notify/mail/mail_pieces.ts';
import { withoutLinks } from '#notify/texts/without_links.ts';

/** Asks somebody whether they want updates of a status page. */
export function confirmationMail({ title, link }: { readonly title: string; readonly link: string }): MailText {
  const subject = withoutLinks(`Updates of ${title}`);
  const text = render(subject, [
    { kind: 'heading', text: `${subject}.` },
    { kind: 'paragraph', text: 'Somebody, probably you, asked for updates of this status page at this address.' },
    { kind: 'links', links: [{ label: 'Confirm', url: link }] },
    { kind: 'paragraph', text: 'Nothing more is sent until you confirm. If you did not ask, ignore this mail.' },
  ]);
  return { ...text, subject: `Confirm: ${subject}` };
}

/** Tells a subscriber of an update. */
export function statusUpdateMail(update: {
  readonly page: string;
  readonly title: string;
  readonly stage: string;
  readonly body: string;
  readonly affected: readonly string[];
  readonly link: string;
  readonly unsubscribe: string;
}): MailText {
  const { page, title, stage, body, affected, link, unsubscribe } = update;
  const text = render(title, [
    { kind: 'heading', text: title },
    { kind: 'paragraph', text: `${stage}: ${body}` },
    ...(affected.length === 0 ? [] : [{ kind: 'paragraph', text: `Affects ${affected.join(', ')}.` } as const]),
    { kind: 'links', links: [{ label: page.replaceAll(/[<>&"']/g, ''), url: link }] },
    { kind: 'links', links: [{ label: 'Unsubscribe', url: unsubscribe }] },
  ]);
  return { ...text, subject: `${page}: ${title} (${stage.toLowerCase()})` };
}
