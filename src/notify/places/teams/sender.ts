import { sendJson } from '#notify/places/chat_send.ts';
import type { PlaceSender, PlaceSenderContext } from '#notify/places/place_sender.ts';
import { teamsMessage } from '#notify/places/teams/card.ts';

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
