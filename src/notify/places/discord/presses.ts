import { createPublicKey, verify } from 'node:crypto';

import { parsePressData, type VendorCommand, type VendorPress } from '#notify/places/presses.ts';
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

/** Reads a signed interaction; null for one that the product does not know. */
export function parseDiscord(body: string): VendorPress | VendorCommand | { readonly kind: 'ping' } | null {
  const root = parseFields(body);
  if (root['type'] === 1) return { kind: 'ping' };
  const user = fieldsOf(fieldsOf(root['member'])['user'] ?? root['user']);
  const account = textOf(user['id']);
  if (account === '') return null;
  const name = textOf(user['username']) || account;
  const data = fieldsOf(root['data']);
  if (root['type'] === 2) return { kind: 'command', text: optionOf(data), account, name };
  const pressed = parsePressData(textOf(data['custom_id']));
  if (root['type'] !== 3 || pressed === null) return null;
  const message = { channel: textOf(root['channel_id']), id: textOf(fieldsOf(root['message'])['id']) };
  return { kind: 'press', ...pressed, pressId: textOf(root['id']), account, name, message };
}

/** Returns the text behind the name of a command, which has one option. */
function optionOf(data: Readonly<Record<string, unknown>>): string {
  const options: unknown = data['options'];
  return Array.isArray(options) ? textOf(fieldsOf(options[0])['value']).trim() : '';
}
