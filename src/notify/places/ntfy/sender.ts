import { sendJson } from '#notify/places/chat_send.ts';
import { ntfyMessage } from '#notify/places/ntfy/message.ts';
import type { PlaceSender, PlaceSenderContext } from '#notify/places/place_sender.ts';

/** Notifications on a topic of ntfy. Each state is one of its own. */
export function ntfySender({ http }: PlaceSenderContext): PlaceSender {
  return {
    async send({ content, settings, nowMs }) {
      const { address = '', channel: topic = '', token } = settings;
      const payload = { topic, ...ntfyMessage(content) };
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
      return (await sendJson({ http, url: address, headers, payload, nowMs, reasons: REASONS })).outcome;
    },
  };
}

const REASONS = { 401: 'The token is not valid.', 403: 'The token may not publish on this topic.' };
