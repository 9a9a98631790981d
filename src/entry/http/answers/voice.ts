import { checkReplyPin } from '#auth/passwords.ts';
import type { AppContext } from '#entry/compose.ts';
import { answerAsPerson, answeredSentence, receiverOf } from '#entry/http/answers/answer_as_person.ts';
import { listIncidentsOf, type Outcome, recordOutcome } from '#modules/incidents/paging/record_outcome.ts';
import { writeMessage } from '#modules/incidents/paging/write_message.ts';
import type { Answer } from '#notify/answer_link.ts';
import { speechText, speechTextForMachine, VOICE } from '#notify/channels/call/text.ts';
import { answeredCall } from '#notify/channels/call/reports.ts';
import type { Fields } from '#notify/channel.ts';
import { callbackUrl } from '#notify/twilio/client.ts';
import { askForDigit, askForPin, sayAndHangUp } from '#notify/twilio/twiml.ts';
import type { NotificationRow } from '#modules/notifications/store/notification_row.ts';
import { inUnitOfWork, storesOf } from '#modules/stores.ts';

/**
 * Returns what a call says once it is answered. If a person has answered, the log records that before it records their
 * key. A machine may be a phone that screens calls, whose owner reads along and may take the call: it hears who calls
 * and why, but nothing that voicemail should keep, and may press the same keys.
 */
export async function answerVoice(context: AppContext, notification: NotificationRow, fields: Fields): Promise<string> {
  const { by, providerId } = answeredCall(fields);
  if (by === 'person') await recordAnswered(context, notification, providerId);
  return await ask(context, notification, { toMachine: by === 'machine' });
}

async function recordAnswered(
  context: AppContext,
  notification: NotificationRow,
  providerId: string | null,
): Promise<void> {
  const outcome: Outcome = { status: 'delivered', reason: null, providerId };
  await inUnitOfWork(context.actions, (unit) => recordOutcome(unit, notification, outcome));
}

/**
 * Returns what a call says after a key. Any key shows that a person has the call. 1 acknowledges, 2 resolves a single
 * incident, any other digit repeats the message. People who have set a PIN are asked for it.
 */
export async function answerDigit(context: AppContext, notification: NotificationRow, fields: Fields): Promise<string> {
  const { userId, kind } = notification;
  const digit = fields['Digits'] ?? '';
  if (digit !== '') {
    await recordAnswered(context, notification, answeredCall(fields).providerId);
    await storesOf(context.db.session()).notifications.markAnswered(notification.id, context.clock.now());
  }
  if (kind === 'test' && digit !== '') return sayAndHangUp('Thank you. Calls reach you. Goodbye.');
  const answer = digit === '1' ? 'acknowledge' : digit === '2' && kind !== 'digest' ? 'resolve' : null;
  if (answer === null) return await ask(context, notification);
  const stores = storesOf(context.db.session());
  if ((await stores.phoneNumbers.findPin(userId)) === null) return await applyAnswer(context, notification, answer);
  return askForPin(callbackUrl(context.config.baseUrl, VOICE.pin(answer), notification.id));
}

/** Answers a call after the PIN that was typed after 1 or 2. */
export async function answerPin(
  context: AppContext,
  notification: NotificationRow,
  fields: Fields,
  answer: Answer,
): Promise<string> {
  const stores = storesOf(context.db.session());
  const pin = await checkReplyPin(stores, notification.userId, fields['Digits'] ?? '', context.clock.now());
  switch (pin) {
    case 'none_set':
    case 'right':
      return await applyAnswer(context, notification, answer);
    case 'missing':
    case 'wrong':
      return askForPin(callbackUrl(context.config.baseUrl, VOICE.pin(answer), notification.id));
    case 'locked':
      return sayAndHangUp('Too many wrong PINs. Try again in 15 minutes, or use the console.');
  }
}

async function applyAnswer(context: AppContext, notification: NotificationRow, answer: Answer): Promise<string> {
  const incidents = await listIncidentsOf(storesOf(context.db.session()), notification);
  const answerer = receiverOf(notification, { requestId: notification.id, address: null });
  const ids = incidents.map(({ id }) => id);
  return sayAndHangUp(answeredSentence(await answerAsPerson(context, answerer, ids, answer), answer));
}

async function ask(context: AppContext, notification: NotificationRow, { toMachine = false } = {}): Promise<string> {
  const outgoing = await writeMessage(storesOf(context.db.session()), notification);
  if (outgoing === null) return sayAndHangUp('This is Tocsin. The incident is gone. No need to act.');
  const { message } = outgoing;
  return askForDigit(
    toMachine ? speechTextForMachine(message) : speechText(message),
    callbackUrl(context.config.baseUrl, VOICE.digit, notification.id),
  );
}
