import { createHmac, timingSafeEqual } from 'node:crypto';

import { parsePressData, type VendorCommand, type VendorPress } from '#notify/places/presses.ts';
import { fieldsOf, parseFields, textOf } from '#notify/places/text.ts';

/**
 * Marks a button. Mattermost signs nothing, but keeps the context of a button to itself, so only its server can send the
 * mark back.
 */
export function pressToken(secret: string, data: string): string {
  return createHmac('sha256', secret).update(`press ${data}`).digest('base64url');
}

/** Reads a press or a command; null for one without the mark of its button, or the token of the command. */
export function parseMattermost(
  body: string,
  { token, signingSecret }: { readonly token?: string; readonly signingSecret?: string },
): VendorPress | VendorCommand | null {
  return body.startsWith('{') ? parsePress(body, token ?? '') : parseCommand(body, signingSecret ?? '');
}

function parsePress(body: string, secret: string): VendorPress | null {
  const root = parseFields(body);
  const context = fieldsOf(root['context']);
  const data = textOf(context['data']);
  if (secret === '' || !isSame(textOf(context['token']), pressToken(secret, data))) return null;
  const pressed = parsePressData(data);
  const account = textOf(root['user_id']);
  if (pressed === null || account === '') return null;
  return {
    kind: 'press',
    ...pressed,
    pressId: textOf(root['trigger_id']),
    account,
    name: textOf(root['user_name']) || account,
    message: { id: textOf(root['post_id']) },
  };
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
