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

/** Time in which a person is on call now and was not before, or the other way round. */
interface ToldChange {
  readonly isOnCall: boolean;
  readonly since: string;
  readonly until: string;
  readonly schedule: string;
  readonly team: string;
  readonly timezone: string;
  readonly url: string;
}

/** Texts of a notice, for mail and for push. */
interface DutyText {
  readonly subject: string;
  readonly sentences: readonly string[];
  readonly url: string;
}

/**
 * Tells a person which shifts somebody has given them, and which they have taken; `by` is null for a program. A reminder tells of
 * those that begin soon.
 */
export function dutyText(by: string | null, changes: readonly ToldChange[], isReminder: boolean): DutyText {
  const who = by === null ? 'An API key' : withoutLinks(by);
  const [first] = changes;
  const gained = changes.some(({ isOnCall }) => isOnCall);
  const lost = changes.some(({ isOnCall }) => !isOnCall);
  const what = isReminder
    ? 'You are on call soon'
    : gained && lost
      ? 'Your shifts were swapped'
      : gained
        ? 'You were put on call'
        : 'A shift was taken over';
  return {
    subject: `${what}: ${withoutLinks(first?.schedule ?? '')}`,
    sentences: changes.map((change) => (isReminder ? reminderOf(change) : dutySentenceOf(who, change))),
    url: first?.url ?? '',
  };
}

export function dutyNoticeMail({ subject, sentences, url }: DutyText): MailText {
  return render(subject, [
    { kind: 'heading', text: subject.slice(0, subject.indexOf(':')) },
    ...sentences.map((text) => ({ kind: 'paragraph', text }) as const),
    { kind: 'links', links: [{ label: 'Open the schedule', url }] },
  ]);
}

function reminderOf({ since, until, schedule, team, timezone }: ToldChange): string {
  const end = until > FAR_AHEAD ? '' : ` until ${timeText(until, timezone)}`;
  return `You are on call in ${withoutLinks(schedule)} of ${withoutLinks(team)} from ${timeText(since, timezone)}${end} (${timezone}).`;
}

/** Time from which on an end is none. */
const FAR_AHEAD = '2200';

function dutySentenceOf(who: string, { isOnCall, since, until, schedule, team, timezone }: ToldChange): string {
  const where = `${withoutLinks(schedule)} of ${withoutLinks(team)}`;
  const span = `from ${timeText(since, timezone)} until ${timeText(until, timezone)} (${timezone})`;
  return isOnCall
    ? `${who} put you on call in ${where}, ${span}.`
    : `You are no longer on call in ${where}, ${span}: ${who} gave that time to somebody else.`;
}

function timeText(at: string, timeZone: string): string {
  const format = new Intl.DateTimeFormat('en-GB', {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZone,
  });
  return format.format(new Date(at));
}

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
