import { type AlertEvent, severityOf } from './alert_event.ts';
import type { Level } from '#modules/exceptions/decide/level.ts';

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

interface MailParts {
  readonly subject: string;
  /** Its text, with `\n` between lines. */
  readonly text: string;
}

interface MailedAlert {
  /** Null for a mail that says nothing of an alert. */
  readonly action: AlertEvent['action'] | null;
  readonly tool: string | null;
  readonly title: string;
  readonly key: string;
  readonly severity: Level | null;
}

type Template = (mail: MailParts) => MailedAlert | null;

const TEMPLATE_STATES: Readonly<Record<string, Level>> = {
  DOWN: 'fatal',
  CRITICAL: 'fatal',
  UNREACHABLE: 'fatal',
  UNKNOWN: 'error',
  WARNING: 'warning',
};

/** Meaning of the notifications of Nagios and its descendants; any other is about a downtime, or about flapping. */
const NOTIFICATIONS: Readonly<Record<string, AlertEvent['action']>> = {
  PROBLEM: 'trigger',
  RECOVERY: 'resolve',
  ACKNOWLEDGEMENT: 'acknowledge',
  CUSTOM: 'update',
};

/** Returns the rest of the first line that begins with the name and a colon; null without one. */
function lineOf({ text }: Pick<MailParts, 'text'>, name: string): string | null {
  const line = text
    .split('\n', 200)
    .find((candidate) => candidate.trimStart().toLowerCase().startsWith(`${name.toLowerCase()}:`));
  const value = line?.slice(line.indexOf(':') + 1).trim() ?? '';
  return value === '' ? null : value;
}

function ofNotification(
  tool: string,
  type: string,
  {
    host,
    service,
    state,
    output,
  }: Readonly<Record<'host' | 'state', string>> & { readonly service: string | null; readonly output: string | null },
): MailedAlert {
  const subject = service === null ? host : `${service} on ${host}`;
  const says = output === null ? '' : `: ${output}`;
  return {
    action: Object.hasOwn(NOTIFICATIONS, type) ? (NOTIFICATIONS[type] ?? null) : null,
    tool,
    title: `${subject} is ${state}${says}`,
    key: service === null ? host : `${host}/${service}`,
    severity: Object.hasOwn(TEMPLATE_STATES, state) ? (TEMPLATE_STATES[state] ?? null) : null,
  };
}

/** `mail-host-notification.sh` and `mail-service-notification.sh` of Icinga 2. */
const icinga: Template = (mail) => {
  const match = /^\[([A-Z]{4,20})\] (Host )?(.{1,400}?) is (\S{1,40})!$/i.exec(mail.subject);
  if (match === null) return null;
  const [, type = '', hostWord, about = '', state = ''] = match;
  const on = about.lastIndexOf(' on ');
  if (hostWord === undefined && on === -1) return null;
  const isHost = hostWord !== undefined && lineOf(mail, 'Service') === null;
  const host = lineOf(mail, 'Host') ?? (isHost ? about : about.slice(on + 4));
  const service = isHost ? null : (lineOf(mail, 'Service') ?? about.slice(0, on));
  const said = { host, service, state: state.toUpperCase(), output: lineOf(mail, 'Info') };
  return ofNotification('Icinga', type.toUpperCase(), said);
};

/** `notify-host-by-email` and `notify-service-by-email` of Nagios. */
const nagios: Template = (mail) => {
  const match = /^\*\* (?:RE: )?([A-Z]{4,20}) (Host|Service) Alert: (.{1,400}) is (\S{1,40}) \*\*$/i.exec(mail.subject);
  if (match === null) return null;
  const [, type = '', kind = '', about = '', state = ''] = match;
  const slash = about.indexOf('/');
  const isHost = kind.toLowerCase() === 'host';
  const host = lineOf(mail, 'Host') ?? (isHost || slash === -1 ? about : about.slice(0, slash));
  const service = isHost ? null : (lineOf(mail, 'Service') ?? about.slice(slash + 1));
  const additional = /Additional Info:\s{1,20}([^\n]{1,1000})/i.exec(mail.text)?.[1]?.trim();
  const output = lineOf(mail, 'Info') ?? additional ?? null;
  return ofNotification('Nagios', type.toUpperCase(), { host, service, state: state.toUpperCase(), output });
};

const MONIT_OVER = /^(?:exists|type succeeded|link up|.*\b(?:succeeded|recovery|ok|not changed|doesn't match))$/i;
const MONIT_NOTICES = /^(?:action done|monit instance .*)$/i;

/** The format of Monit's mails as it is without a setting. */
const monit: Template = ({ subject, text }) => {
  const match = /^monit alert -- {1,2}(.{1,400})$/i.exec(subject);
  if (match === null) return null;
  const said = match[1] ?? '';
  const space = said.lastIndexOf(' ');
  const [, event = said.slice(0, space), service = said.slice(space + 1)] =
    /^[ \t]{0,20}(\S[^\n]{0,100}?) Service (\S{1,200})[ \t]{0,20}$/m.exec(text) ?? [];
  const host = lineOf({ text }, 'Host') ?? '';
  const description = lineOf({ text }, 'Description');
  const isOver = MONIT_OVER.test(event);
  return {
    action: MONIT_NOTICES.test(event) ? null : isOver ? 'resolve' : 'trigger',
    tool: 'Monit',
    title: `${service}${host === '' ? '' : ` on ${host}`}: ${event}${description === null ? '' : `, ${description}`}`,
    key: `${host}/${service}/${monitKind(event)}`,
    severity: null,
  };
};

/** Returns the part that an event of Monit and its end have in common. */
function monitKind(event: string): string {
  if (/^(?:does not exist|exists)/i.test(event)) return 'existence';
  if (/\btype\b/i.test(event)) return 'type';
  return event
    .toLowerCase()
    .replace(
      /\b(?:not changed|doesn't match|failed|succeeded|matched|match|exceeded|recovery|error|changed|ok|down|up)$/,
      '',
    )
    .trim();
}

/** Xymon's mails, and those of Hobbit, its former name. */
const xymon: Template = ({ subject, text }) => {
  const match = /^(?:Xymon|Hobbit) (?:\[\d{1,20}\] )?([^\s:]{1,200}):(\S{1,100}) (.{1,200}?)(?: \[cfid:\d+\])?$/i.exec(
    subject,
  );
  if (match === null) return null;
  const [, host = '', test = '', state = ''] = match;
  const line = text
    .split('\n', 20)
    .find((candidate) => candidate.includes(`${host}:${test}`) || /^(?:red|yellow) /.test(candidate));
  const isOver = /^(?:recovered|disabled)$/i.test(state);
  return {
    action: /^NOTICE$/i.test(state) ? null : isOver ? 'resolve' : 'trigger',
    tool: 'Xymon',
    title: `${test} on ${host} ${state}${line === undefined || isOver ? '' : `: ${line.trim().slice(0, 300)}`}`,
    key: `${host}:${test}`,
    severity: /red/i.test(state) ? 'fatal' : /yellow/i.test(state) ? 'warning' : null,
  };
};

/** SmokePing's mails without a template of one's own; `is active` is said each time without `edgetrigger`. */
const smokeping: Template = ({ subject }) => {
  const match = /^\[SmokeAlert\] (\S{1,200}) (was raised|was cleared|is active) on (.{1,400})$/i.exec(subject);
  if (match === null) return null;
  const [, alert = '', what = '', line = ''] = match;
  return {
    action: what.toLowerCase() === 'was cleared' ? 'resolve' : 'trigger',
    tool: 'SmokePing',
    title: `${alert} ${what} on ${line}`,
    // The line may say more of the target than its place in the tree.
    key: `${alert}@${line.replace(/\s*\[[^\]]*\]\s*$/, '')}`,
    severity: null,
  };
};

const MAIL_TEMPLATES: readonly Template[] = [icinga, nagios, monit, xymon, smokeping];
