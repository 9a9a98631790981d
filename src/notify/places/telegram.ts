import { timingSafeEqual } from 'node:crypto';

import type { PlaceOutcome } from '#modules/places/decide/delivery.ts';
import {
  PRESS_LABELS,
  type PlaceContent,
  type PlaceIncident,
  cutText,
  pressesOf,
  stateText,
} from '#modules/places/decide/place_content.ts';
import { type ChatSent, sendJson, withoutReference } from '#notify/places/chat_send.ts';
import type { PlaceSender, PlaceSenderContext } from '#notify/places/place_sender.ts';
import {
  type VendorCommand,
  type VendorPress,
  type VendorReply,
  parsePressData,
  pressData,
} from '#notify/places/presses.ts';
import { escapedWithin, fieldsOf, parseFields, plainText, textOf } from '#notify/places/text.ts';

/** Telegram takes 4,096 characters after its entities are parsed. */
const TITLE_LENGTH_MAX = 1_000;
const TEXT_LENGTH_MAX = 2_500;

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Escapes a text for Telegram's HTML, within a length. */
function telegramText(text: string, lengthMax: number): string {
  return escapedWithin(text, lengthMax, (letter) => ESCAPES[letter] ?? letter);
}

/** Returns the text of an answer, which Telegram shows as it is. */
export const telegramAnswer = (text: string): string => cutText(plainText(text), TEXT_LENGTH_MAX);

function telegramMessage(content: PlaceContent): object {
  switch (content.kind) {
    case 'test':
      return message(telegramText(`This is a test of Tocsin for ${content.organization}.`, TEXT_LENGTH_MAX));
    case 'note':
      return message(telegramText(`${content.note.author}: ${content.note.text}`, TEXT_LENGTH_MAX));
    case 'incident':
      return {
        ...message(incidentText(content.incident)),
        reply_markup: { inline_keyboard: keyboard(content.incident) },
      };
  }
}

function message(text: string): object {
  return { text, parse_mode: 'HTML', link_preview_options: { is_disabled: true } };
}

function incidentText(incident: PlaceIncident): string {
  const { title, service, severity, number } = incident;
  const facts = `${service.name} · ${severity} · incident ${number}`;
  return `<b>${telegramText(title, TITLE_LENGTH_MAX)}</b>\n${telegramText(`${stateText(incident)}\n${facts}`, TEXT_LENGTH_MAX)}`;
}

/** A button of Telegram brings back 64 bytes, which hold the press, the incident and the step. */
function keyboard(incident: PlaceIncident): readonly (readonly object[])[] {
  const presses = pressesOf(incident).map((press) => {
    return { text: PRESS_LABELS[press], callback_data: pressData(press, incident) };
  });
  return [...(presses.length === 0 ? [] : [presses]), [{ text: 'Open', url: incident.url }]];
}

/** Messages of a bot, kept up to date; a note answers the message of its incident. */
export function telegramSender({ http, bases }: PlaceSenderContext): PlaceSender {
  return {
    async send({ content, settings, reference, nowMs }) {
      const message = telegramMessage(content);
      const call = async (method: string, payload: object): Promise<ChatSent> => {
        const url = `${bases.telegram}/bot${settings.token ?? ''}/${method}`;
        const sent = { http, url, payload: { ...message, ...payload }, nowMs, reasons: REASONS, referenceOf };
        return unlessOfChat(await sendJson(sent));
      };
      const create = async (more: object = {}) =>
        (await call('sendMessage', { chat_id: settings.channel, ...more })).outcome;
      if (content.kind !== 'incident') {
        const answers = { message_id: Number(reference?.['id']), allow_sending_without_reply: true };
        return withoutReference(await create(reference === null ? {} : { reply_parameters: answers }));
      }
      if (reference === null) return await create();
      const target = { chat_id: reference['chat'], message_id: Number(reference['id']) };
      const edited = await call('editMessageText', target);
      const hasMoved = isOfChat(edited) && target.chat_id !== settings.channel;
      return isGone(edited) || hasMoved ? await create() : unlessUnchanged(edited);
    },
  };
}

/** Telegram answers 400 for a chat that there is no more, that became a supergroup, or in which the bot may not write. */
function isOfChat({ status, text }: ChatSent): boolean {
  const ofChat =
    /chat not found|upgraded to a supergroup|not enough rights|have no rights|CHAT_WRITE_FORBIDDEN|TOPIC_/i;
  return status === 400 && ofChat.test(text);
}

/** A fault of the chat can be mended by a person, so the message is tried again. */
function unlessOfChat(sent: ChatSent): ChatSent {
  if (!isOfChat(sent)) return sent;
  const reason = 'There is no such chat any more, or the bot may not write in it: enter its id again.';
  return { ...sent, outcome: { ...sent.outcome, kind: 'retry', reason } };
}

/** Telegram answers 400 for a message that was deleted, or is too old to be edited. */
function isGone({ status, text }: ChatSent): boolean {
  return status === 400 && /message to edit not found|message can't be edited|MESSAGE_ID_INVALID/i.test(text);
}

/** Telegram answers 400 for an edit that changes nothing. */
function unlessUnchanged({ outcome, status, text }: ChatSent): PlaceOutcome {
  if (status !== 400 || !text.includes('message is not modified')) return outcome;
  return { kind: 'sent', reference: null, body: outcome.body, status, answer: outcome.answer };
}

function referenceOf({ text }: { readonly text: string }): Readonly<Record<string, string>> | null {
  const result = fieldsOf(parseFields(text)['result']);
  const [id, chat] = [textOf(result['message_id']), textOf(fieldsOf(result['chat'])['id'])];
  return id === '' || chat === '' ? null : { id, chat };
}

const REASONS = {
  400: 'Telegram does not take this message.',
  401: 'The token of the bot is not valid.',
  403: 'The bot is not in the chat any more.',
  404: 'The token of the bot is not valid.',
};

/** Whether a request has the secret that the webhook was set up with. */
export function isFromTelegram(secret: string, sent: unknown): boolean {
  if (typeof sent !== 'string' || secret === '') return false;
  const [a, b] = [Buffer.from(sent), Buffer.from(secret)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Reads an update with what an answer to it needs; null for one that the product does not know. */
export function parseTelegram(
  body: string,
): (VendorPress & { readonly queryId: string }) | (VendorCommand & { readonly chat: string }) | VendorReply | null {
  const root = parseFields(body);
  const query = fieldsOf(root['callback_query']);
  const message = fieldsOf(query['message'] ?? root['message']);
  const from = fieldsOf(query['from'] ?? message['from']);
  const account = textOf(from['id']);
  const chat = textOf(fieldsOf(message['chat'])['id']);
  if (account === '' || chat === '') return null;
  const name = textOf(from['username']) || textOf(from['first_name']) || account;
  const queryId = textOf(query['id']);
  if (queryId === '') {
    const text = (textOf(message['text']) || textOf(message['caption'])).trim();
    const command = /^\/oncall(?:@\w+)?(?:\s+(.*))?$/s.exec(text);
    if (command !== null) return { kind: 'command', text: (command[1] ?? '').trim(), account, name, chat };
    return replyOf(message, { account, name, chat, text });
  }
  const pressed = parsePressData(textOf(query['data']));
  if (pressed === null) return null;
  const reference = { chat, id: textOf(message['message_id']) };
  return { kind: 'press', ...pressed, pressId: queryId, queryId, account, name, message: reference };
}

/** Reads an answer of a person to a message; null for what programs wrote, what is passed on, and other commands. */
function replyOf(
  message: Readonly<Record<string, unknown>>,
  {
    account,
    name,
    chat,
    text,
  }: { readonly account: string; readonly name: string; readonly chat: string; readonly text: string },
): VendorReply | null {
  const answered = textOf(fieldsOf(message['reply_to_message'])['message_id']);
  const id = textOf(message['message_id']);
  const isByPerson =
    fieldsOf(message['from'])['is_bot'] !== true &&
    message['via_bot'] === undefined &&
    message['forward_origin'] === undefined &&
    message['sender_chat'] === undefined;
  if (answered === '' || !/^\d{1,19}$/.test(id) || !isByPerson || text === '' || text.startsWith('/')) return null;
  return { kind: 'reply', replyId: `telegram-${chat}-${id}`, account, name, message: { chat, id: answered }, text };
}
