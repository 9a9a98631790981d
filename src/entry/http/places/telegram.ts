import type { AppContext } from '#entry/compose.ts';
import { answerAsked } from '#entry/http/places/answer_asked.ts';
import type { VendorAnswer, VendorRequest } from '#entry/http/places/vendor_request.ts';
import { AppError } from '#kernel/errors.ts';
import { isFromTelegram, parseTelegram } from '#notify/places/telegram/presses.ts';

/** Characters of an answer to a press. */
const ALERT_LENGTH_MAX = 200;

/** Answers updates of a bot by a call in the answer itself. Throws `forbidden` for what lacks the secret token. */
export async function answerTelegram(context: AppContext, request: VendorRequest): Promise<VendorAnswer> {
  const { place, settings, headers, body, origin } = request;
  if (!isFromTelegram(settings.signingSecret ?? '', headers['x-telegram-bot-api-secret-token'])) {
    throw new AppError('forbidden', 'the secret token of this request is missing or wrong');
  }
  const asked = parseTelegram(body);
  if (asked === null) return { status: 200 };
  const text = await answerAsked(context, { place, kind: 'telegram', origin }, asked);
  if (asked.kind === 'command') return { status: 200, body: { method: 'sendMessage', chat_id: asked.chat, text } };
  const answer = { callback_query_id: asked.queryId, text: text.slice(0, ALERT_LENGTH_MAX), show_alert: true };
  return { status: 200, body: { method: 'answerCallbackQuery', ...answer } };
}
