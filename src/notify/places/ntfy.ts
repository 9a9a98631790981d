import { type PlaceContent, type PlaceIncident, cutText, stateText } from '#modules/places/decide/place_content.ts';
import { sendJson } from '#notify/places/chat_send.ts';
import type { PlaceSender, PlaceSenderContext } from '#notify/places/place_sender.ts';
import { plainText } from '#notify/places/text.ts';

/** Characters of a title and a message: ntfy takes 4,096 bytes, and a letter has up to four. */
const TITLE_LENGTH_MAX = 200;
const MESSAGE_LENGTH_MAX = 1_000;

/** Returns the notification, without its topic. */
function ntfyMessage(content: PlaceContent): object {
  switch (content.kind) {
    case 'test':
      return {
        title: 'Test',
        message: shown(`This is a test of Tocsin for ${content.organization}.`, MESSAGE_LENGTH_MAX),
      };
    case 'note': {
      const { incident, note } = content;
      return {
        ...ofIncident(incident),
        priority: 2,
        message: shown(`${note.author}: ${note.text}`, MESSAGE_LENGTH_MAX),
      };
    }
    case 'incident': {
      const { incident } = content;
      const text = `${stateText(incident)}. ${incident.service.name}, severity ${incident.severity}.`;
      return { ...ofIncident(incident), priority: priorityOf(incident), message: shown(text, MESSAGE_LENGTH_MAX) };
    }
  }
}

function ofIncident({ title, url }: PlaceIncident): object {
  return { title: shown(title, TITLE_LENGTH_MAX), click: url, actions: [{ action: 'view', label: 'Open', url }] };
}

function shown(text: string, lengthMax: number): string {
  return cutText(plainText(text), lengthMax);
}

/** Priorities of ntfy: 5 is the highest, and 3 the usual one. */
function priorityOf({ status, severity }: PlaceIncident): number {
  if (status !== 'triggered') return 2;
  if (severity === 'fatal') return 5;
  return severity === 'error' ? 4 : 3;
}

/** Notifications on a topic of ntfy. Each state is one of its own. */
export function ntfySender({ http }: PlaceSenderContext): PlaceSender {
  return {
    async send({ content, settings, nowMs }) {
      const { address = '', channel: topic = '', token } = settings;
      const payload = { topic, ...ntfyMessage(content) };
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
      return (await sendJson({ http, url: address, headers, payload, hides: ['topic'], nowMs, reasons: REASONS }))
        .outcome;
    },
  };
}

const REASONS = { 401: 'The token is not valid.', 403: 'The token may not publish on this topic.' };
