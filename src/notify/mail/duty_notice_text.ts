import { type MailText, render } from '#notify/mail/mail_pieces.ts';
import { withoutLinks } from '#notify/texts/without_links.ts';

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

/** Tells a person which shifts somebody has given them, and which they have taken; `by` is null for a program. */
export function dutyNoticeMail(by: string | null, changes: readonly ToldChange[]): MailText {
  const who = by === null ? 'An API key' : withoutLinks(by);
  const [first] = changes;
  const gained = changes.some(({ isOnCall }) => isOnCall);
  const lost = changes.some(({ isOnCall }) => !isOnCall);
  const subject =
    gained && lost ? 'Your shifts were swapped' : gained ? 'You were put on call' : 'A shift was taken over';
  return render(`${subject}: ${withoutLinks(first?.schedule ?? '')}`, [
    { kind: 'heading', text: subject },
    ...changes.map((change) => ({ kind: 'paragraph', text: sentenceOf(who, change) }) as const),
    { kind: 'links', links: [{ label: 'Open the schedule', url: first?.url ?? '' }] },
  ]);
}

function sentenceOf(who: string, { isOnCall, since, until, schedule, team, timezone }: ToldChange): string {
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
