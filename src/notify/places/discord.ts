import { createPublicKey, verify } from 'node:crypto';

import {
  PRESS_LABELS,
  type PlaceContent,
  type PlaceIncident,
  pressesOf,
  stateText,
} from '#modules/places/decide/place_content.ts';
import { sendJson, withoutReference } from '#notify/places/chat_send.ts';
import type { PlaceSender, PlaceSenderContext } from '#notify/places/place_sender.ts';
import {
  type VendorCommand,
  type VendorPress,
  type VendorReply,
  parsePressData,
  pressData,
} from '#notify/places/presses.ts';
import { fieldsOf, markdownWithin, parseFields, textOf } from '#notify/places/text.ts';

/** Messages of a bot, kept up to date; a note answers the message of its incident. */
export function discordSender({ http, bases }: PlaceSenderContext): PlaceSender {
  return {
    async send({ content, settings, reference, nowMs }) {
      const message = discordMessage(content);
      const api = (channel = ''): string => `${bases.discord}/channels/${encodeURIComponent(channel)}/messages`;
      const headers = { authorization: `Bot ${settings.token ?? ''}` };
      const shared = { http, headers, nowMs, reasons: REASONS, referenceOf };
      const create = async (more: object) =>
        (await sendJson({ ...shared, url: api(settings.channel), payload: { ...message, ...more } })).outcome;
      if (content.kind !== 'incident') {
        const answers = { message_id: reference?.['id'], fail_if_not_exists: false };
        return withoutReference(await create(reference === null ? {} : { message_reference: answers }));
      }
      if (reference === null) return await create({});
      const url = `${api(reference['channel'])}/${encodeURIComponent(reference['id'] ?? '')}`;
      const { outcome, status } = await sendJson({ ...shared, url, method: 'PATCH', payload: message });
      return status === 404 ? await create({}) : outcome;
    },
  };
}

function referenceOf({ text }: { readonly text: string }): Readonly<Record<string, string>> | null {
  const answer = parseFields(text);
  const [id, channel] = [textOf(answer['id']), textOf(answer['channel_id'])];
  return id === '' || channel === '' ? null : { id, channel };
}

const REASONS = {
  400: 'Discord does not take this message.',
  401: 'The token of the bot is not valid.',
  403: 'The bot may not post in the channel.',
  404: 'There is no such channel.',
};

/** Limits of Discord, in characters. */
const CONTENT_LENGTH_MAX = 2_000;
const TITLE_LENGTH_MAX = 256;
const FIELD_LENGTH_MAX = 1_024;

/** Option that keeps every message from mentioning anybody. */
const MENTIONS_NOBODY = { allowed_mentions: { parse: [] } };

const COLORS = { triggered: 0xd63939, acknowledged: 0xd98c0a, resolved: 0x2b8a3e } as const;
const STYLES = { acknowledge: 1, resolve: 3, escalate: 4 } as const;
const LINK_STYLE = 5;
/** Button by which somebody asks for a form to write a note in. */
export const NOTE_BUTTON = 'note';

/** Button that opens a form for a note: Discord tells nobody of replies who is not always connected. */
const NOTE = { type: 2, style: 2, label: 'Note', custom_id: NOTE_BUTTON };

function discordMessage(content: PlaceContent): object {
  switch (content.kind) {
    case 'test':
      return { content: discordText(`This is a test of Tocsin for ${content.organization}.`), ...MENTIONS_NOBODY };
    case 'note':
      return { content: discordText(`${content.note.author}: ${content.note.text}`), ...MENTIONS_NOBODY };
    case 'incident':
      return { ...incidentMessage(content.incident), ...MENTIONS_NOBODY };
  }
}

/** Escapes the text of a message, within its length. */
export const discordText = (text: string): string => markdownWithin(text, CONTENT_LENGTH_MAX);

function incidentMessage(incident: PlaceIncident): object {
  const { title, service, severity, number, status, url } = incident;
  const field = (name: string, value: string) => ({
    name,
    value: markdownWithin(value, FIELD_LENGTH_MAX),
    inline: true,
  });
  const buttons = pressesOf(incident).map((press) => ({
    type: 2,
    style: STYLES[press],
    label: PRESS_LABELS[press],
    custom_id: pressData(press, incident),
  }));
  return {
    content: '',
    embeds: [
      {
        title: markdownWithin(title, TITLE_LENGTH_MAX),
        url,
        color: COLORS[status],
        description: markdownWithin(stateText(incident), FIELD_LENGTH_MAX),
        fields: [field('Service', service.name), field('Severity', severity), field('Incident', String(number))],
      },
    ],
    components: [{ type: 1, components: [...buttons, NOTE, { type: 2, style: LINK_STYLE, label: 'Open', url }] }],
  };
}

/** Beginning of a public key of Ed25519 in DER (RFC 8410). */
const DER_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

/** Age of a request beyond which it counts as a replay. */
const AGE_SECONDS_MAX = 5 * 60;

/** Whether Discord signed this body with the key of the application, within the last five minutes. */
export function isFromDiscord(
  publicKey: string,
  { timestamp, signature }: { readonly timestamp: unknown; readonly signature: unknown },
  body: string,
  nowMs: number,
): boolean {
  if (typeof timestamp !== 'string' || typeof signature !== 'string') return false;
  if (!/^[0-9a-f]{64}$/i.test(publicKey) || !/^[0-9a-f]{128}$/i.test(signature) || !/^\d{1,12}$/.test(timestamp)) {
    return false;
  }
  if (Math.abs(nowMs / 1_000 - Number(timestamp)) > AGE_SECONDS_MAX) return false;
  const der = Buffer.concat([DER_PREFIX, Buffer.from(publicKey, 'hex')]);
  const key = createPublicKey({ key: der, format: 'der', type: 'spki' });
  return verify(null, Buffer.from(timestamp + body), key, Buffer.from(signature, 'hex'));
}

interface FormAsked {
  readonly kind: 'form';
  readonly account: string;
  readonly name: string;
}

/** Reads a signed interaction; null for one that the product does not know. */
export function parseDiscord(
  body: string,
): VendorPress | VendorCommand | VendorReply | FormAsked | { readonly kind: 'ping' } | null {
  const root = parseFields(body);
  if (root['type'] === 1) return { kind: 'ping' };
  const user = fieldsOf(fieldsOf(root['member'])['user'] ?? root['user']);
  const account = textOf(user['id']);
  if (account === '') return null;
  const name = textOf(user['username']) || account;
  const data = fieldsOf(root['data']);
  if (root['type'] === 2) return { kind: 'command', text: optionOf(data), account, name };
  const message = { channel: textOf(root['channel_id']), id: textOf(fieldsOf(root['message'])['id']) };
  const isNote = textOf(data['custom_id']) === NOTE_BUTTON;
  if (root['type'] === 5 && isNote) {
    const [id, text] = [textOf(root['id']), textOfForm(data)];
    if (text === '' || !/^\w{1,40}$/.test(id)) return null;
    return { kind: 'reply', replyId: `discord-${id}`, account, name, message, text };
  }
  if (root['type'] === 3 && isNote) return { kind: 'form', account, name };
  const pressed = parsePressData(textOf(data['custom_id']));
  if (root['type'] !== 3 || pressed === null) return null;
  return { kind: 'press', ...pressed, pressId: textOf(root['id']), account, name, message };
}

/** Returns the text of a form that was sent, which has one field. */
function textOfForm(data: Readonly<Record<string, unknown>>): string {
  const rows: unknown = data['components'];
  const fields: unknown = fieldsOf(Array.isArray(rows) ? rows[0] : null)['components'];
  return textOf(fieldsOf(Array.isArray(fields) ? fields[0] : null)['value']).trim();
}

/** Returns the text behind the name of a command, which has one option. */
function optionOf(data: Readonly<Record<string, unknown>>): string {
  const options: unknown = data['options'];
  return Array.isArray(options) ? textOf(fieldsOf(options[0])['value']).trim() : '';
}
