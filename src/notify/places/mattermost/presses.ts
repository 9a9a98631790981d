import { createHmac, timingSafeEqual } from 'node:crypto';

import { parsePressData, type VendorCommand, type VendorPress, type VendorReply } from '#notify/places/presses.ts';
import { fieldsOf, parseFields, textOf } from '#notify/places/text.ts';

/**
 * Marks a button. Mattermost signs nothing, but keeps the context of a button to itself, so only its server can send the
 * mark back.
 */
export function pressToken(secret: string, data: string): string {
  return createHmac('sha256', secret).update(`press ${data}`).digest('base64url');
}

/** Data of the button that opens a form for a note: Mattermost tells nobody which post a reply answers. */
export const NOTE_DATA = 'note';

/** Time within which a form has to be sent. */
const FORM_MS = 30 * 60_000;

/** Somebody who asks for the form of a note. */
interface FormAsked {
  readonly kind: 'form';
  readonly account: string;
  readonly name: string;
  /** Permit of Mattermost to open a form for this person, good for some seconds. */
  readonly triggerId: string;
  readonly post: string;
}

/**
 * Reads a press, a form or a command; null for one without the mark of its button or form, or the token of the command,
 * and for a form that was sent too late.
 */
export function parseMattermost(
  body: string,
  { token, signingSecret }: { readonly token?: string; readonly signingSecret?: string },
  nowMs: number,
): VendorPress | VendorCommand | VendorReply | FormAsked | null {
  if (!body.startsWith('{')) return parseCommand(body, signingSecret ?? '');
  const root = parseFields(body);
  return root['type'] === 'dialog_submission' ? parseForm(root, token ?? '', nowMs) : parsePress(root, token ?? '');
}

/** Returns what a form brings back: when it ends, its post, and a mark that is good for this person alone. */
export function formState(
  { account, post }: Pick<FormAsked, 'account' | 'post'>,
  secret: string,
  nowMs: number,
): string {
  const data = `${nowMs + FORM_MS} ${post}`;
  return `${data} ${formMark(secret, account, data)}`;
}

function formMark(secret: string, account: string, data: string): string {
  return createHmac('sha256', secret).update(`form ${account} ${data}`).digest('base64url');
}

function parseForm(root: Readonly<Record<string, unknown>>, secret: string, nowMs: number): VendorReply | null {
  const account = textOf(root['user_id']);
  const [end = '', post = '', mark = ''] = textOf(root['state']).split(' ');
  if (secret === '' || account === '' || !isSame(mark, formMark(secret, account, `${end} ${post}`))) return null;
  const text = textOf(fieldsOf(root['submission'])['text']).trim();
  if (Number(end) < nowMs || text === '') return null;
  return { kind: 'reply', replyId: `mattermost-${post}-${end}`, account, name: account, message: { id: post }, text };
}

function parsePress(root: Readonly<Record<string, unknown>>, secret: string): VendorPress | FormAsked | null {
  const context = fieldsOf(root['context']);
  const data = textOf(context['data']);
  if (secret === '' || !isSame(textOf(context['token']), pressToken(secret, data))) return null;
  const pressed = parsePressData(data);
  const account = textOf(root['user_id']);
  if (account === '') return null;
  const [name, triggerId, post] = [
    textOf(root['user_name']) || account,
    textOf(root['trigger_id']),
    textOf(root['post_id']),
  ];
  if (data === NOTE_DATA) return { kind: 'form', account, name, triggerId, post };
  if (pressed === null) return null;
  return { kind: 'press', ...pressed, pressId: triggerId, account, name, message: { id: post } };
}

function parseCommand(body: string, commandToken: string): VendorCommand | null {
  const form = new URLSearchParams(body);
  const account = form.get('user_id') ?? '';
  if (commandToken === '' || account === '' || !isSame(form.get('token') ?? '', commandToken)) return null;
  return { kind: 'command', text: (form.get('text') ?? '').trim(), account, name: form.get('user_name') ?? account };
}

function isSame(sent: string, right: string): boolean {
  const [a, b] = [Buffer.from(sent), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}
