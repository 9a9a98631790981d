import { timingSafeEqual } from 'node:crypto';

import { parsePressData, type VendorCommand, type VendorPress, type VendorReply } from '#notify/places/presses.ts';
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
