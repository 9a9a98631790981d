import { sendJson, withoutReference } from '#notify/places/chat_send.ts';
import { discordMessage } from '#notify/places/discord/message.ts';
import type { PlaceSender, PlaceSenderContext } from '#notify/places/place_sender.ts';
import { parseFields, textOf } from '#notify/places/text.ts';

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
