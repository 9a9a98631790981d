import { createPublicKey, verify } from 'node:crypto';

import { parsePressData, type VendorCommand, type VendorPress, type VendorReply } from '#notify/places/presses.ts';
import { fieldsOf, parseFields, textOf } from '#notify/places/text.ts';

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

/** Button by which somebody asks for a form to write a note in. */
export const NOTE_BUTTON = 'note';

/** Somebody who asks for the form of a note. */
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
