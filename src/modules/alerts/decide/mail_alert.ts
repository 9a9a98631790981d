import { MAIL_TEMPLATES, type MailedAlert, type MailParts } from '#modules/alerts/decide/mail_templates.ts';
import { severityOf } from '#modules/alerts/decide/severity.ts';

/** Headers of a mail, by their names in lower case; several of one name in their order. */
export type MailHeaders = ReadonlyMap<string, readonly string[]>;

/** Header of the mails that this product sends, in lower case: none of them may open an incident. */
export const OWN_MAIL_HEADER = 'x-tocsin-notification';

const HOPS_MAX = 30;

/** Returns why a mail is about no alert: nobody wrote it, or it goes in circles; null for any other. */
export function uselessMail(headers: MailHeaders, from: string): string | null {
  const first = (name: string): string => headers.get(name)?.[0]?.trim().toLowerCase() ?? '';
  if ((headers.get('received')?.length ?? 0) > HOPS_MAX) return 'it goes in circles';
  if (headers.has(OWN_MAIL_HEADER)) return 'it is a notification of this product';
  if (/^auto-replied\b/.test(first('auto-submitted'))) return 'it is an automatic reply';
  const replies = ['x-autoreply', 'x-autorespond', 'x-auto-reply-from', 'x-mail-autoreply'];
  if (replies.some((name) => headers.has(name))) return 'it is an automatic reply';
  if (/^auto[_-]reply$/.test(first('precedence'))) return 'it is an automatic reply';
  // Devices send alerts without a return path, too: it says nothing by itself.
  const isReport = /^multipart\/report\b/.test(first('content-type'));
  if (isReport || /^(?:mailer-daemon|postmaster)@/i.test(from)) return 'it is a report of a mail server';
  const isBulk = /^(?:bulk|junk)$/.test(first('precedence'));
  if (isBulk && /^(?:out of (?:the )?office|auto(?:matic )?[- ]?reply|abwesenheit)/i.test(first('subject'))) {
    return 'it is an automatic reply';
  }
  return null;
}

/** Reads what a mail tells of an alert: by the templates of tools, else by the words of its subject. */
export function readMailed(mail: MailParts): MailedAlert {
  const subject = withoutReply(mail.subject);
  for (const template of MAIL_TEMPLATES) {
    const alert = template({ ...mail, subject });
    if (alert !== null) return alert;
  }
  return readSubject(subject, mail.text);
}

/** Replies and copies of a mail are about the same. */
function withoutReply(subject: string): string {
  return subject
    .replaceAll(/\s+/g, ' ')
    .trim()
    .replace(/^(?:(?:re|fwd?|aw|wg|sv|vs|antw|tr)(?:\[\d{1,3}\])?\s?:\s?)+/i, '');
}

const OVER = 'recovery|recovered|resolved|cleared|closed|restored|solved|fixed|ok|up|normal|success|succeeded|healthy';
const SEEN = 'acknowledgement|acknowledged|ack';
const WRONG =
  'problem|alert|alarm|firing|triggered|down|critical|crit|fatal|emergency|error|failed|failure|major|warning|warn|minor|unknown|open|new|info|p[1-5]';

const MARK = new RegExp(`^[^\\p{L}\\p{N}]*(${OVER}|${SEEN}|${WRONG})(?=[\\]:!*|)>\\s]|-\\s|$)`, 'iu');
const END = new RegExp(
  `(?:\\b(?:is|are|now)|[:\\-–—>|]|\\[|\\()\\s*(?:now |back |back to |back online)?(${OVER}|${SEEN}|${WRONG})[^\\p{L}\\p{N}]*$`,
  'iu',
);
const STATES = new RegExp(`(?<![\\p{L}\\p{N}_.-])(?:${OVER}|${SEEN}|${WRONG})(?![\\p{L}\\p{N}_.-])`, 'giu');

/**
 * A word for a state counts where tools write it: at the beginning, or at the end. A recovery is believed only there, as an
 * alert that is resolved wrongly pages nobody. The key is the subject without such words, percentages and times, so that
 * "[DOWN] web-1" and "[UP] web-1" are about the same.
 */
function readSubject(subject: string, text: string): MailedAlert {
  const said = subject === '' ? (text.split('\n').find((line) => line.trim() !== '') ?? '').trim() : subject;
  const word = (MARK.exec(said)?.[1] ?? END.exec(said)?.[1] ?? '').toLowerCase();
  const isAmong = (words: string): boolean => word !== '' && words.split('|').includes(word);
  const action = isAmong(OVER) ? 'resolve' : isAmong(SEEN) ? 'acknowledge' : 'trigger';
  const words = [word, ...said.toLowerCase().split(/[^\p{L}\p{N}]+/u)];
  return {
    action,
    tool: null,
    title: said === '' ? 'Mail without a subject' : said,
    key: keyOf(said),
    severity: action === 'trigger' ? (words.map(severityOf).find((level) => level !== null) ?? null) : null,
  };
}

function keyOf(subject: string): string {
  const key = subject
    .toLowerCase()
    .replaceAll(/\b\d{4}-\d\d-\d\d(?:[t ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:z|[+-]\d\d:?\d\d)?)?/g, ' ')
    .replaceAll(/\b\d{1,2}:\d\d(?::\d\d)?\b/g, ' ')
    .replaceAll(/\b\d{1,3}(?:[.,]\d+)?\s?%/g, ' ')
    .replaceAll(STATES, ' ')
    .replaceAll(/\b(?:is|are|was|now|back to|back)\b/g, ' ')
    .replaceAll(/[^\p{L}\p{N}/:._@-]+/gu, ' ')
    .replaceAll(/(?:^|\s)[/:._@-]+(?=\s|$)/g, ' ')
    .replaceAll(/[:.](?=\s|$)/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return key === '' ? subject.toLowerCase() : key;
}
