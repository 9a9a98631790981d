import type { FastifyInstance } from 'fastify';

import type { AppContext } from '#entry/compose.ts';
import { ANONYMOUS_BODY_BYTES_MAX, SLACK_BODY_BYTES_MAX } from '#entry/http/connections/body_limits.ts';
import { answerAsked, answerDiscord } from '#entry/http/places/discord.ts';
import { callerOf } from '#entry/http/places/press.ts';
import { answerReply, answerSlack } from '#entry/http/places/slack.ts';
import type { VendorAnswer, VendorRequest } from '#entry/http/places/vendor_request.ts';
import { parseRawBodies, rawBodyOf } from '#entry/http/request_body.ts';
import { AppError } from '#kernel/errors.ts';
import { answersUrlOf, type ChatPlace, PLACES_PATH } from '#modules/places/decide/place_kinds.ts';
import { openSettings } from '#modules/places/settings.ts';
import { storesOf } from '#modules/stores.ts';
import { openMattermostForm } from '#notify/places/mattermost/sender.ts';
import { parseMattermost } from '#notify/places/mattermost/presses.ts';
import { isFromTelegram, parseTelegram } from '#notify/places/telegram/presses.ts';

/** Characters of an answer to a press. */
const ALERT_LENGTH_MAX = 200;

/** Answers updates of a bot by a call in the answer itself. Throws `forbidden` for what lacks the secret token. */
async function answerTelegram(context: AppContext, request: VendorRequest): Promise<VendorAnswer> {
  const { place, settings, headers, body, origin } = request;
  if (!isFromTelegram(settings.signingSecret ?? '', headers['x-telegram-bot-api-secret-token'])) {
    throw new AppError('forbidden', 'the secret token of this request is missing or wrong');
  }
  const asked = parseTelegram(body);
  if (asked === null) return { status: 200 };
  const person = { place, kind: 'telegram', origin } as const;
  if (asked.kind === 'reply') {
    // A chat is full of answers that are no notes, so that nobody is told.
    await answerReply(context, { ...asked, ...person, answered: asked.message });
    return { status: 200 };
  }
  const text = await answerAsked(context, person, asked);
  if (asked.kind === 'command') return { status: 200, body: { method: 'sendMessage', chat_id: asked.chat, text } };
  const answer = { callback_query_id: asked.queryId, text: text.slice(0, ALERT_LENGTH_MAX), show_alert: true };
  return { status: 200, body: { method: 'answerCallbackQuery', ...answer } };
}

/** Answers presses and the slash command of Mattermost. Throws `forbidden` for what has not the mark of its button. */
async function answerMattermost(context: AppContext, request: VendorRequest): Promise<VendorAnswer> {
  const { place, settings, body, origin } = request;
  const nowMs = context.clock.now().epochMilliseconds;
  const asked = parseMattermost(body, settings, nowMs);
  if (asked === null)
    throw new AppError('forbidden', 'this request does not come from a button, form or command of this place');
  const person = { place, kind: 'mattermost', origin } as const;
  if (asked.kind === 'form') {
    const speaking = await callerOf(context, { ...asked, ...person }, 'more');
    if ('refusal' in speaking) return { status: 200, body: { ephemeral_text: speaking.refusal } };
    const url = answersUrlOf(context.config.baseUrl, place);
    const fault = await openMattermostForm({ http: context.places.http, settings, url, nowMs }, asked);
    return { status: 200, body: fault === null ? {} : { ephemeral_text: `No form was opened: ${fault}` } };
  }
  if (asked.kind === 'reply') {
    const { isNote, text } = await answerReply(context, { ...asked, ...person, answered: asked.message });
    return { status: 200, body: isNote ? {} : { error: text } };
  }
  const text = await answerAsked(context, person, asked);
  return asked.kind === 'command'
    ? { status: 200, body: { response_type: 'ephemeral', text } }
    : { status: 200, body: { ephemeral_text: text } };
}

/** Answers each vendor that sends presses and commands; each checks the signature before it reads the rest. */
const ANSWERS: Readonly<Record<ChatPlace, (context: AppContext, request: VendorRequest) => Promise<VendorAnswer>>> = {
  slack: answerSlack,
  mattermost: answerMattermost,
  discord: answerDiscord,
  telegram: answerTelegram,
};

/** Mounts the addresses to which vendors send presses of buttons, commands and replies. */
export async function mountPlaces(app: FastifyInstance, context: AppContext): Promise<void> {
  await app.register(async (scope) => {
    parseRawBodies(scope);
    for (const [kind, answer] of Object.entries(ANSWERS)) {
      scope.post<{ Params: { placeId: string } }>(
        `${PLACES_PATH}/:placeId/${kind}`,
        { bodyLimit: kind === 'slack' ? SLACK_BODY_BYTES_MAX : ANONYMOUS_BODY_BYTES_MAX },
        async (request, reply) => {
          const { placeId } = request.params;
          // No store can be asked for U+0000.
          const place = placeId.includes('\0') ? null : await storesOf(context.db.session()).places.find(placeId);
          if (place === null || place.kind !== kind) throw new AppError('not_found', 'there is no such place');
          const answered = await answer(context, {
            place,
            settings: openSettings(context.places.cipher, place.sealed),
            headers: request.headers,
            body: rawBodyOf(request).toString('utf8'),
            origin: { requestId: request.id, address: request.ip },
          });
          void reply.code(answered.status).header('cache-control', 'no-store');
          return answered.body === undefined ? reply.send() : reply.type('application/json').send(answered.body);
        },
      );
    }
  });
}
