import { createHmac, timingSafeEqual } from 'node:crypto';

import { NOTE_LENGTH_MAX } from '#modules/pages/decide/limits.ts';
import type { PlaceOutcome } from '#modules/places/decide/delivery.ts';
import {
  PRESS_LABELS,
  type PlaceContent,
  type PlaceIncident,
  pressesOf,
  stateText,
} from '#modules/places/decide/place_content.ts';
import type { PlaceSettings } from '#modules/places/decide/place_kinds.ts';
import { type ChatSent, sendJson, withoutReference } from '#notify/places/chat_send.ts';
import type { PlaceSender, PlaceSenderContext } from '#notify/places/place_sender.ts';
import {
  type VendorCommand,
  type VendorPress,
  type VendorReply,
  parsePressData,
  pressData,
} from '#notify/places/presses.ts';
import { fieldsOf, markdownWithin, parseFields, textOf } from '#notify/places/text.ts';

/** Posts of a bot, kept up to date; notes go to the thread of the post. */
export function mattermostSender({ http }: PlaceSenderContext): PlaceSender {
  return {
    async send({ content, settings, reference, answersUrl, nowMs }) {
      const { address = '', token = '', channel } = settings;
      const api = `${address.replace(/\/+$/, '')}/api/v4/posts`;
      const post = mattermostPost(content, { url: answersUrl, secret: token });
      const headers = { authorization: `Bearer ${token}` };
      const shared = { http, headers, nowMs, reasons: REASONS, referenceOf, hides: ['token'] };
      const create = async (more: object) => {
        const payload = { channel_id: channel, ...more, ...post };
        return unlessArchived(await sendJson({ ...shared, url: api, payload }));
      };
      if (content.kind !== 'incident') {
        return withoutReference(await create(reference === null ? {} : { root_id: reference['id'] }));
      }
      if (reference === null) return await create({});
      const edited = await sendJson({
        ...shared,
        url: `${api}/${reference['id']}/patch`,
        method: 'PUT',
        payload: post,
      });
      // The post may be in a channel that is not the place's any more.
      const isGone = edited.status === 404 || edited.status === 403 || isOfArchived(edited);
      return isGone ? await create({}) : edited.outcome;
    },
  };
}

/** Mattermost answers 400 for a channel that is archived. */
function isOfArchived({ status, text }: ChatSent): boolean {
  return status === 400 && /can_not_(?:post_to|update_post_in)_deleted/.test(text);
}

/** An archived channel can be brought back, or replaced by another, so the message is tried again. */
function unlessArchived(sent: ChatSent): PlaceOutcome {
  if (!isOfArchived(sent)) return sent.outcome;
  return { ...sent.outcome, kind: 'retry', reason: 'The channel is archived: bring it back, or enter another.' };
}

/** Opens the form of a note for whoever has pressed its button; returns why Mattermost did not, or null. */
export async function openMattermostForm(
  {
    http,
    settings,
    url,
    nowMs,
  }: Pick<PlaceSenderContext, 'http'> & {
    readonly settings: PlaceSettings;
    readonly url: string;
    readonly nowMs: number;
  },
  asked: { readonly account: string; readonly post: string; readonly triggerId: string },
): Promise<string | null> {
  const { address = '', token = '' } = settings;
  const text = { display_name: 'Note', name: 'text', type: 'textarea', max_length: NOTE_LENGTH_MAX };
  const dialog = {
    callback_id: 'note',
    title: 'Note',
    elements: [text],
    submit_label: 'Write',
    state: formState(asked, token, nowMs),
  };
  const { outcome } = await sendJson({
    http,
    url: `${address.replace(/\/+$/, '')}/api/v4/actions/dialogs/open`,
    headers: { authorization: `Bearer ${token}` },
    payload: { trigger_id: asked.triggerId, url, dialog },
    nowMs,
  });
  return outcome.kind === 'sent' ? null : outcome.reason;
}

function referenceOf({ text }: { readonly text: string }): Readonly<Record<string, string>> | null {
  const id = textOf(parseFields(text)['id']);
  return id === '' ? null : { id };
}

const REASONS = {
  401: 'The token of the bot is not valid.',
  403: 'The bot is not in the channel, or may not post there.',
  404: 'There is no such channel or server.',
};

/** Characters of a title and of a message; Mattermost takes 16,383. */
const TITLE_LENGTH_MAX = 300;
const MESSAGE_LENGTH_MAX = 4_000;

/** Escapes the text of a message, within its length. */
export const mattermostText = (text: string): string => markdownWithin(text, MESSAGE_LENGTH_MAX);

interface Answers {
  /** Address that takes presses, and the secret that marks them. */
  readonly url: string;
  readonly secret: string;
}

function mattermostPost(content: PlaceContent, answers: Answers): { readonly message: string; readonly props: object } {
  switch (content.kind) {
    case 'test':
      return { message: mattermostText(`This is a test of Tocsin for ${content.organization}.`), props: {} };
    case 'note': {
      const { author, text } = content.note;
      return { message: mattermostText(`${author}: ${text}`), props: {} };
    }
    case 'incident':
      return { message: '', props: { attachments: [attachment(content.incident, answers)] } };
  }
}

const COLORS = { triggered: '#d63939', acknowledged: '#d98c0a', resolved: '#2b8a3e' } as const;

function attachment(incident: PlaceIncident, { url, secret }: Answers): object {
  const button = (id: string, name: string, data: string): object => {
    return { id, name, type: 'button', integration: { url, context: { data, token: pressToken(secret, data) } } };
  };
  const { title, service, severity, number, status } = incident;
  const shown = markdownWithin(title, TITLE_LENGTH_MAX);
  return {
    fallback: shown,
    color: COLORS[status],
    title: shown,
    title_link: incident.url,
    text: mattermostText(stateText(incident)),
    fields: [
      { short: true, title: 'Service', value: markdownWithin(service.name, TITLE_LENGTH_MAX) },
      { short: true, title: 'Severity', value: markdownWithin(severity, 100) },
      { short: true, title: 'Incident', value: String(number) },
    ],
    actions: [
      ...pressesOf(incident).map((press) => button(press, PRESS_LABELS[press], pressData(press, incident))),
      button('note', 'Note', NOTE_DATA),
    ],
  };
}

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
