import {
  type PlaceContent,
  type PlaceIncident,
  PRESS_LABELS,
  pressesOf,
  stateText,
} from '#modules/places/decide/place_content.ts';
import { sendJson, withoutReference } from '#notify/places/chat_send.ts';
import { NOTE_BUTTON } from '#notify/places/discord/presses.ts';
import type { PlaceSender, PlaceSenderContext } from '#notify/places/place_sender.ts';
import { pressData } from '#notify/places/presses.ts';
import { markdownWithin, parseFields, textOf } from '#notify/places/text.ts';

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

/** Nothing in a message mentions anybody. */
const MENTIONS_NOBODY = { allowed_mentions: { parse: [] } };

const COLORS = { triggered: 0xd63939, acknowledged: 0xd98c0a, resolved: 0x2b8a3e } as const;
const STYLES = { acknowledge: 1, resolve: 3, escalate: 4 } as const;
const LINK_STYLE = 5;
/** Button that opens a form for a note: Discord tells nobody of replies who is not always connected. */
const NOTE = { type: 2, style: 2, label: 'Note', custom_id: NOTE_BUTTON };

/** Returns the body of a message. */
function discordMessage(content: PlaceContent): object {
  switch (content.kind) {
    case 'test':
      return { content: shown(`This is a test of Tocsin for ${content.organization}.`), ...MENTIONS_NOBODY };
    case 'note':
      return { content: shown(`${content.note.author}: ${content.note.text}`), ...MENTIONS_NOBODY };
    case 'incident':
      return { ...incidentMessage(content.incident), ...MENTIONS_NOBODY };
  }
}

const shown = (text: string): string => markdownWithin(text, CONTENT_LENGTH_MAX);

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
