import type { PlaceOutcome } from '#modules/places/decide/delivery.ts';
import { type ChatSent, sendJson, withoutReference } from '#notify/places/chat_send.ts';
import type { PlaceSender, PlaceSenderContext } from '#notify/places/place_sender.ts';
import { escapedWithin, fieldsOf, parseFields, textOf } from '#notify/places/text.ts';
import {
  type PlaceContent,
  type PlaceIncident,
  PRESS_LABELS,
  pressesOf,
  stateText,
} from '#modules/places/decide/place_content.ts';
import { pressData } from '#notify/places/presses.ts';

/** Telegram takes 4,096 characters after its entities are parsed. */
const TITLE_LENGTH_MAX = 1_000;
const TEXT_LENGTH_MAX = 2_500;

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Escapes a text for Telegram's HTML, within a length. */
function telegramText(text: string, lengthMax: number): string {
  return escapedWithin(text, lengthMax, (letter) => ESCAPES[letter] ?? letter);
}

/** Returns the text and buttons of a message. */
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
        return await sendJson({ http, url, payload: { ...message, ...payload }, nowMs, reasons: REASONS, referenceOf });
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
      return isGone(edited) ? await create() : unlessUnchanged(edited);
    },
  };
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
