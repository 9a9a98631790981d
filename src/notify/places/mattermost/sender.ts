import { sendJson, withoutReference } from '#notify/places/chat_send.ts';
import { mattermostPost } from '#notify/places/mattermost/message.ts';
import type { PlaceSender, PlaceSenderContext } from '#notify/places/place_sender.ts';
import { parseFields, textOf } from '#notify/places/text.ts';

/** Posts of a bot, kept up to date; notes go to the thread of the post. */
export function mattermostSender({ http }: PlaceSenderContext): PlaceSender {
  return {
    async send({ content, settings, reference, answersUrl, nowMs }) {
      const { address = '', token = '', channel } = settings;
      const api = `${address.replace(/\/+$/, '')}/api/v4/posts`;
      const post = mattermostPost(content, { url: answersUrl, secret: token });
      const shared = { http, headers: { authorization: `Bearer ${token}` }, nowMs, reasons: REASONS, referenceOf };
      const create = async (more: object) =>
        (await sendJson({ ...shared, url: api, payload: { channel_id: channel, ...more, ...post } })).outcome;
      if (content.kind !== 'incident') {
        return withoutReference(await create(reference === null ? {} : { root_id: reference['id'] }));
      }
      if (reference === null) return await create({});
      const { outcome, status } = await sendJson({
        ...shared,
        url: `${api}/${reference['id']}/patch`,
        method: 'PUT',
        payload: post,
      });
      return status === 404 || status === 403 ? await create({}) : outcome;
    },
  };
}

function referenceOf({ text }: { readonly text: string }): Readonly<Record<string, string>> | null {
  const id = textOf(parseFields(text)['id']);
  return id === '' ? null : { id };
}

const REASONS = {
  401: 'The token of the bot is not valid.',
  403: 'The bot is not in the channel, or may not post there.',
  404: 'There is no such channel or server.',
};
