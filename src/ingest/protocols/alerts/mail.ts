import type { Email } from 'postal-mime';

import type { AlertAnswer, AlertEndpoint, AlertReading } from '#ingest/protocols/alerts/alert_protocol.ts';
import { detailsOf, linksOf, timeOf, toolNamed } from '#ingest/protocols/alerts/json_reading.ts';
import { mappedAlert } from '#ingest/protocols/alerts/webhook.ts';
import { AppError, invalidInput } from '#kernel/errors.ts';
import { type AlertEvent, bareEvent } from '#modules/alerts/decide/alert_event.ts';
import { cutKey, cutNote, cutTitle } from '#modules/alerts/decide/alert_limits.ts';
import { type MailHeaders, readMailed, uselessMail } from '#modules/alerts/decide/mail_alert.ts';
import type { WebhookMapping } from '#modules/alerts/decide/mapping.ts';
import { SOURCE_NAME_LENGTH_MAX } from '#modules/alerts/decide/tools.ts';

/** Lines of a mail that are read: what it is about stands at its beginning, and each costs some 20 µs. */
const LINES_MAX = 2_000;
/** Bytes of a mail that are read: as many as that many lines have in a mail that keeps to RFC 5322. */
const BYTES_MAX = 160 * 1024;
/** Signs by which encodings of text pad and escape. The parser takes time by the square of their number. */
const SIGNS_MAX = 16_000;
/** Bytes of one field of the head; the parser takes time by the square of the length of a list of addresses. */
const FIELD_BYTES_MAX = 4 * 1024;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SIGN = '='.charCodeAt(0);
const BLANKS: ReadonlySet<number | undefined> = new Set([0x20, 0x09]);

/**
 * Returns as much of a mail as the parser takes some milliseconds for, whoever wrote it: its beginning, and of each
 * field of its head the beginning.
 */
export function boundedMail(mail: Buffer): Buffer {
  const bytes = mail.subarray(0, BYTES_MAX);
  const parts: Buffer[] = [];
  let isHead = true;
  let ofField = 0;
  let signs = 0;
  for (let [at, lines] = [0, 0]; at < bytes.length && lines < LINES_MAX;) {
    const feed = bytes.indexOf(LINE_FEED, at);
    const line = bytes.subarray(at, feed === -1 ? bytes.length : feed + 1);
    at += line.length;
    isHead &&= line[0] !== LINE_FEED && !(line[0] === CARRIAGE_RETURN && line[1] === LINE_FEED);
    if (isHead) {
      if (!BLANKS.has(line[0])) ofField = 0;
      const left = FIELD_BYTES_MAX - ofField;
      ofField += line.length;
      if (left <= 0) continue;
      lines += 1;
      if (left >= line.length) parts.push(line);
      else parts.push(line.subarray(0, left), Buffer.from('\r\n'));
      continue;
    }
    lines += 1;
    const end = endOfSigns(line, SIGNS_MAX - signs);
    parts.push(line.subarray(0, end.at));
    signs += end.signs;
    if (end.at < line.length) break;
  }
  return Buffer.concat(parts);
}

/** Returns where a line has more signs than are left; its end if it has not, and their number. */
function endOfSigns(line: Buffer, left: number): { readonly at: number; readonly signs: number } {
  let signs = 0;
  for (let at = line.indexOf(SIGN); at !== -1; at = line.indexOf(SIGN, at + 1)) {
    if (signs === left) return { at, signs };
    signs += 1;
  }
  return { at: line.length, signs };
}

/** Larger ones carry files, which say nothing about an alert. */
export const MAIL_BYTES_MAX = 1024 * 1024;
const TEXT_LENGTH_MAX = 20_000;
const HTML_LENGTH_MAX = 4 * TEXT_LENGTH_MAX;
const SUBJECT_LENGTH_MAX = 1_000;
const FIELDS_MAX = 60;
const HEADER_BYTES_MAX = 64 * 1024;
const PARTS_DEPTH_MAX = 12;
const LINKS_MAX = 5;

/** A mail as it was sent, by the pipe of a mail server; the listener for SMTP reads what arrives in the same way. */
export const MAIL_ENDPOINT: AlertEndpoint = {
  protocol: 'mail',
  methods: ['POST'],
  pattern: 'mail/:key',
  keyOf: ({ path }) => path['key'] ?? null,
  reads: 'bytes',
  read: async ({ body, path }) => {
    const name = (path['name'] ?? '').slice(0, SOURCE_NAME_LENGTH_MAX);
    const mail = await parseMail(body as Buffer);
    return { kind: 'mapped', name, toReading: (mapping) => read(mail, name, mapping) };
  },
  refuse,
};

export const MAIL_ENDPOINTS: readonly AlertEndpoint[] = [
  MAIL_ENDPOINT,
  { ...MAIL_ENDPOINT, pattern: 'mail/:key/:name' },
];

interface Mail {
  readonly email: Email;
  readonly subject: string;
  readonly headers: MailHeaders;
  readonly text: string;
}

async function parseMail(bytes: Buffer): Promise<Mail> {
  if (bytes.length > MAIL_BYTES_MAX) throw new AppError('payload_too_large', 'a mail may have 1 MiB');
  if (bytes.toString('latin1').trim() === '') throw invalidInput([{ path: '', message: 'the mail is empty' }]);
  const { default: PostalMime } = await import('postal-mime');
  // A mail within a mail is a file of it, and is not read.
  const limits = { maxNestingDepth: PARTS_DEPTH_MAX, maxHeadersSize: HEADER_BYTES_MAX, maxRfc822NestingDepth: 0 };
  const email = await PostalMime.parse(boundedMail(bytes), limits).catch((cause: unknown) => {
    const refusal = invalidInput([{ path: '', message: 'is no mail, or has too many headers or parts' }]);
    refusal.cause = cause;
    throw refusal;
  });
  const headers = new Map<string, string[]>();
  for (const { key, value } of email.headers) headers.set(key, [...(headers.get(key) ?? []), value]);
  const text = (email.text ?? textOfHtml(email.html ?? '')).slice(0, TEXT_LENGTH_MAX).replaceAll('\r\n', '\n');
  return { email, subject: (email.subject ?? '').slice(0, SUBJECT_LENGTH_MAX).toWellFormed(), headers, text };
}

const UNSEEN = /^<(style|script|head|title)\b/i;
const NEW_LINE = /^<(?:br|\/p|\/div|\/tr|\/li|\/h\d)\b/i;
const ENTITIES: Readonly<Record<string, string>> = {
  nbsp: ' ',
  '#160': ' ',
  lt: '<',
  gt: '>',
  quot: '"',
  amp: '&',
  '#39': "'",
};

/** The words of a page without its tags, for mails that are nothing else: no part of it is ever shown as HTML. */
function textOfHtml(page: string): string {
  const html = page.slice(0, HTML_LENGTH_MAX);
  const lowered = html.toLowerCase();
  const words: string[] = [];
  for (let at = 0; at < html.length;) {
    const open = html.indexOf('<', at);
    const close = open === -1 ? -1 : html.indexOf('>', open);
    words.push(html.slice(at, open === -1 ? html.length : open));
    if (close === -1) break;
    const tag = html.slice(open, Math.min(close, open + 20));
    if (NEW_LINE.test(tag)) words.push('\n');
    const unseen = UNSEEN.exec(tag)?.[1];
    const end = unseen === undefined ? close : lowered.indexOf(`</${unseen.toLowerCase()}`, close);
    if (end === -1) break;
    at = unseen === undefined ? end + 1 : end;
  }
  return words
    .join(' ')
    .replaceAll(/&(#?\w{1,6});/g, (whole, name: string) => ENTITIES[name] ?? whole)
    .replaceAll(/[ \t\r]+/g, ' ')
    .trim();
}

function read(mail: Mail, name: string, mapping: WebhookMapping | null): AlertReading {
  const { email, headers, text } = mail;
  const from = email.from?.address ?? '';
  const because = uselessMail(headers, from);
  if (because !== null) return ignored(because);
  const event = mapping === null ? mailedEvent(mail) : mappedMail(mail, mapping);
  if (event === null) return ignored('it tells of no alert');
  if (event.title === null || event.title === '') {
    throw invalidInput([{ path: '', message: 'the mail has neither a subject nor a text' }]);
  }
  const note = event.action === 'acknowledge' || event.action === 'update' ? cutNote(text) : null;
  return {
    kind: 'alerts',
    sent: [{ source: { protocol: 'mail', name }, event: { ...event, note: note === '' ? null : note } }],
    answer: ([outcome]) => ({
      status: 202,
      body: { status: 'success', dedup_key: event.key, incident_id: outcome?.incidentId ?? null },
    }),
  };
}

function ignored(because: string): AlertReading {
  return { kind: 'answer', answer: { status: 202, body: { status: 'ignored', message: because } } };
}

function mailedEvent({ email, subject, headers, text }: Mail): AlertEvent | null {
  const alert = readMailed({ subject, text });
  if (alert.action === null) return null;
  return {
    ...bareEvent(alert.action, cutKey(alert.key).value),
    title: cutTitle(alert.title).value,
    severity: alert.severity,
    details: alert.action === 'update' ? null : detailsOf({ subject, text, from: email.from?.address }),
    links: alert.action === 'update' ? null : linksOf(linksIn(text)),
    images: alert.action === 'update' ? null : [],
    at: sentAt(headers),
    tool: toolNamed(alert.tool ?? (email.from?.name || null) ?? email.from?.address ?? null),
  };
}

/** The mapping of the source finds subject, text, from and to, and under `fields` the lines of the text like `Host: db-1`. */
function mappedMail({ email, subject, headers, text }: Mail, mapping: WebhookMapping): AlertEvent | null {
  const body = {
    subject,
    text,
    from: email.from?.address ?? '',
    to: email.to?.[0]?.address ?? '',
    fields: fieldsIn(text),
  };
  const event = mappedAlert(body, mapping);
  return event === null ? null : { ...event, at: event.at ?? sentAt(headers) };
}

function fieldsIn(text: string): Record<string, string> {
  const fields = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, name, value] = /^\s{0,20}([\p{L}\p{N}][\p{L}\p{N} _/-]{0,60}):\s+(\S.{0,1000})$/u.exec(line) ?? [];
    if (name !== undefined && value !== undefined && !fields.has(name)) fields.set(name, value.trim());
    if (fields.size === FIELDS_MAX) break;
  }
  return Object.fromEntries(fields);
}

function linksIn(text: string): { href: string; text: string }[] {
  return [...text.matchAll(/https?:\/\/[^\s<>"]{1,1000}/g)].slice(0, LINKS_MAX).map(([href]) => ({ href, text: href }));
}

/** The time at which it was written, which decides when a recovery is faster than its problem. */
function sentAt(headers: MailHeaders): AlertEvent['at'] {
  const ms = Date.parse(headers.get('date')?.[0] ?? '');
  return Number.isFinite(ms) ? timeOf(ms) : null;
}

function refuse(error: AppError): AlertAnswer {
  return { status: error.status, body: { status: 'error', message: error.message } };
}
