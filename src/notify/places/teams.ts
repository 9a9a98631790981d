import { type PlaceContent, cutText, stateText } from '#modules/places/decide/place_content.ts';
import { sendJson } from '#notify/places/chat_send.ts';
import type { PlaceSender, PlaceSenderContext } from '#notify/places/place_sender.ts';
import { plainText } from '#notify/places/text.ts';

/** Characters of a text: Teams takes 28 KB a message. */
const TEXT_LENGTH_MAX = 2_000;

/** Returns a message with an Adaptive Card. Texts of senders are runs of text, in which nothing is formatted. */
function teamsMessage(content: PlaceContent): object {
  const card = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    ...cardOf(content),
  };
  const attachment = { contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content: card };
  return { type: 'message', attachments: [attachment] };
}

function cardOf(content: PlaceContent): object {
  switch (content.kind) {
    case 'test':
      return { body: [line(`This is a test of Tocsin for ${content.organization}.`)] };
    case 'note': {
      const { incident, note } = content;
      return {
        body: [line(incident.title, true), line(`${note.author}: ${note.text}`)],
        actions: [open(incident.url)],
      };
    }
    case 'incident': {
      const { incident } = content;
      const { title, service, severity, number, url } = incident;
      return {
        body: [
          line(title, true),
          line(stateText(incident)),
          line(`Service ${service.name} · severity ${severity} · incident ${number}`),
        ],
        actions: [open(url)],
      };
    }
  }
}

function line(text: string, isStrong = false): object {
  const run = {
    type: 'TextRun',
    text: cutText(plainText(text), TEXT_LENGTH_MAX),
    ...(isStrong && { weight: 'Bolder' }),
  };
  return { type: 'RichTextBlock', inlines: [run] };
}

const open = (url: string): object => ({ type: 'Action.OpenUrl', title: 'Open', url });

/** Cards for a workflow of Microsoft Teams. A workflow returns no id, so each state is a message of its own. */
export function teamsSender({ http }: PlaceSenderContext): PlaceSender {
  return {
    async send({ content, settings, nowMs }) {
      const payload = teamsMessage(content);
      return (await sendJson({ http, url: settings.address ?? '', payload, nowMs, reasons: REASONS })).outcome;
    },
  };
}

const REASONS = {
  400: 'The workflow does not take this card.',
  401: 'The address of the workflow is not valid any more.',
  403: 'The address of the workflow is not valid any more.',
  404: 'There is no such workflow any more.',
};
