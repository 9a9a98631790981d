import { timingSafeEqual } from 'node:crypto';

import { parsePressData, type VendorCommand, type VendorPress } from '#notify/places/presses.ts';
import { fieldsOf, parseFields, textOf } from '#notify/places/text.ts';

/** Whether a request has the secret that the webhook was set up with. */
export function isFromTelegram(secret: string, sent: unknown): boolean {
  if (typeof sent !== 'string' || secret === '') return false;
  const [a, b] = [Buffer.from(sent), Buffer.from(secret)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Reads an update with what an answer to it needs; null for one that the product does not know. */
export function parseTelegram(
  body: string,
): ((VendorPress & { readonly queryId: string }) | (VendorCommand & { readonly chat: string })) | null {
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
    const command = /^\/oncall(?:@\w+)?(?:\s+(.*))?$/s.exec(textOf(message['text']).trim());
    return command === null ? null : { kind: 'command', text: (command[1] ?? '').trim(), account, name, chat };
  }
  const pressed = parsePressData(textOf(query['data']));
  if (pressed === null) return null;
  const reference = { chat, id: textOf(message['message_id']) };
  return { kind: 'press', ...pressed, pressId: queryId, queryId, account, name, message: reference };
}
