import formbody from '@fastify/formbody';
import type { FastifyInstance, FastifyRequest } from 'fastify';

import type { Channel } from '#modules/contacts/decide/channel.ts';
import { ANONYMOUS_BODY_BYTES_MAX } from '#entry/http/connections/body_budget.ts';
import type { AnswerContext } from '#entry/http/answers/refused_answers.ts';
import { recordOutcome } from '#modules/incidents/paging/record_outcome.ts';
import { AppError, invalidInput } from '#kernel/errors.ts';
import { callOf } from '#notify/channels/call/reports.ts';
import { VOICE } from '#notify/channels/call/text.ts';
import type { CallbackProvider, Fields, ReportCallback } from '#notify/channel.ts';
import { reportCallbacks } from '#notify/registry.ts';
import { twilioCallbacks } from '#notify/twilio/client.ts';
import type { NotificationRow } from '#modules/notifications/store/notification_row.ts';
import { inUnitOfWork, storesOf } from '#modules/stores.ts';

/** Age at which a report on a message counts as a replay: messages are short-lived. */
const STALE_HOURS = 24;

/** Time for which callbacks may overtake one another: later, a question of a call that has ended is a replay. */
const OVERTAKING_MINUTES = 5;

interface MessageCallback {
  readonly provider: CallbackProvider;
  readonly channel: Channel;
  readonly name: string;
  /** Whether it is sent only during a call, and so never after its end. */
  readonly isDuringCall: boolean;
  answer(notification: NotificationRow, fields: Fields): Promise<string>;
}

/**
 * Mounts the callbacks of providers: delivery reports, which channels declare; the text of a call and the digit
 * pressed; replies by SMS. A request that is unsigned, too old, or of a call that is over gets 403, and an audit row if
 * it names a message. People who answer this way act through the same actions as everybody, as the person who was
 * paged.
 */
export async function mountCallbacks(root: FastifyInstance, context: AnswerContext): Promise<void> {
  const twilio = twilioCallbacks(context.twilio);
  await root.register(async (app) => {
    await app.register(formbody, { bodyLimit: ANONYMOUS_BODY_BYTES_MAX });

    for (const callback of reportCallbacks(context)) {
      const answer = (notification: NotificationRow, fields: Fields) =>
        takeReport(context, callback, notification, fields);
      mount(app, context, { ...callback, isDuringCall: false, answer });
    }

    const onVoice = (name: string, ask: (notification: NotificationRow, fields: Fields) => Promise<string>): void =>
      mount(app, context, { provider: twilio, channel: 'call', name, isDuringCall: true, answer: ask });
    onVoice(VOICE.say, async (notification, fields) => (await voice()).answerVoice(context, notification, fields));
    onVoice(VOICE.digit, async (notification, fields) => (await voice()).answerDigit(context, notification, fields));
    for (const answer of ['acknowledge', 'resolve'] as const) {
      onVoice(VOICE.pin(answer), async (notification, fields) =>
        (await voice()).answerPin(context, notification, fields, answer),
      );
    }

    app.post('/api/callbacks/twilio/sms', async (request, reply) => {
      const fields = await authenticFields(context, request, twilio, { action: 'reply_by_sms', channel: 'sms' });
      const { answerSms } = await import('#entry/http/answers/sms_replies.ts');
      return reply.type(twilio.contentType).send(await answerSms(context, request, fields));
    });
  });
}

/** Loads the voice module on the first call. */
const voice = async () => await import('#entry/http/answers/voice.ts');

function mount(app: FastifyInstance, context: AnswerContext, callback: MessageCallback): void {
  const { provider, channel, name, isDuringCall, answer } = callback;
  app.post<{ Params: { id: string } }>(`/api/callbacks/${provider.name}/${name}/:id`, async (request, reply) => {
    const { id } = request.params;
    const action = `report_${name.replaceAll('-', '_')}`;
    const fields = await authenticFields(context, request, provider, { action, channel, notificationId: id });
    const notification = await storesOf(context.db.session()).notifications.find(id);
    if (notification === null) throw new AppError('not_found', 'no such message');
    const refuse = (why: string) => context.refusedAnswers.record(request, { action, via: channel, notification, why });
    const oldest = context.clock.now().subtract({ hours: STALE_HOURS });
    if (notification.createdAt.epochMilliseconds < oldest.epochMilliseconds) {
      await refuse('stale call-back');
      throw new AppError('forbidden', 'this message is too old for a delivery report');
    }
    if (isDuringCall && (await isCallLongOver(context, fields))) {
      await refuse('replayed call-back');
      throw new AppError('forbidden', 'this call has ended');
    }
    return reply.type(provider.contentType).send(await answer(notification, fields));
  });
}

async function takeReport(
  context: AnswerContext,
  { provider, reportOf, endedCallOf }: ReportCallback,
  notification: NotificationRow,
  fields: Fields,
): Promise<string> {
  const call = endedCallOf?.(fields) ?? null;
  if (call !== null) await storesOf(context.db.session()).endedCalls.note(call, notification.id, context.clock.now());
  const report = reportOf(fields);
  if (report !== null) await inUnitOfWork(context.actions, (unit) => recordOutcome(unit, notification, report));
  return provider.received;
}

async function isCallLongOver(context: AnswerContext, fields: Fields): Promise<boolean> {
  const call = callOf(fields);
  const endedAt = call === null ? null : await storesOf(context.db.session()).endedCalls.findEnd(call);
  if (endedAt === null) return false;
  return endedAt.add({ minutes: OVERTAKING_MINUTES }).epochMilliseconds < context.clock.now().epochMilliseconds;
}

async function authenticFields(
  context: AnswerContext,
  request: FastifyRequest,
  provider: CallbackProvider,
  { action, channel, notificationId }: { action: string; channel: Channel; notificationId?: string },
): Promise<Fields> {
  const fields = parseFields(request.body ?? {});
  if (fields === null) throw invalidInput([{ path: '', message: 'send each field of the form once' }]);
  const url = context.config.baseUrl + request.url;
  if (!(await provider.isAuthentic({ url, headers: request.headers, fields }))) {
    const { notifications } = storesOf(context.db.session());
    const notification = notificationId === undefined ? null : await notifications.find(notificationId);
    await context.refusedAnswers.record(request, { action, via: channel, notification, why: 'unsigned call-back' });
    throw new AppError('forbidden', 'the signature of this callback is missing or wrong');
  }
  return fields;
}

/** Parses the form; null if there is none, or if a field occurs twice. */
function parseFields(body: unknown): Fields | null {
  if (typeof body !== 'object' || body === null) return null;
  const entries = Object.entries(body);
  return entries.every((entry): entry is [string, string] => typeof entry[1] === 'string')
    ? Object.fromEntries(entries)
    : null;
}
