import type { ActivityFacts } from '#modules/exceptions/decide/activity.ts';
import { type MailText, render } from '#notify/mail/mail_pieces.ts';
import { withoutLinks } from '#notify/texts/without_links.ts';

/** Tells a person what has happened to an exception; null for what nobody is told about. */
export function exceptionNoticeMail(
  facts: ActivityFacts,
  { title, url }: { readonly title: string; readonly url: string },
): MailText | null {
  const happened = sentenceOf(facts);
  if (happened === null) return null;
  // Senders of events write the title, so no mail program may turn it into a link.
  const name = withoutLinks(title);
  return render(`${happened.subject}: ${name}`, [
    { kind: 'heading', text: name },
    { kind: 'paragraph', text: happened.text },
    { kind: 'links', links: [{ label: 'Open the exception', url }] },
  ]);
}

function sentenceOf(facts: ActivityFacts): { readonly subject: string; readonly text: string } | null {
  switch (facts.kind) {
    case 'snooze_ended':
      return { subject: 'No longer snoozed', text: `You snoozed it. It is unresolved again: ${endOf(facts)}.` };
    case 'regressed': {
      const where = facts.release === null ? '' : ` in release ${withoutLinks(facts.release)}`;
      return {
        subject: 'Back again',
        text: `It was resolved and has come back${where}. You asked to be told; this is the only mail about it.`,
      };
    }
    case 'comment':
    case 'status':
    case 'snoozed':
    case 'assigned':
    case 'merged':
    case 'merged_into':
    case 'split_off':
    case 'issue':
      return null;
  }
}

function endOf({ because, events, users }: Extract<ActivityFacts, { kind: 'snooze_ended' }>): string {
  switch (because) {
    case 'time':
      return 'the time that you chose has come';
    case 'events':
      return `it has had ${events ?? 0} more events`;
    case 'users':
      return `more events have concerned ${users ?? 0} users`;
  }
}
