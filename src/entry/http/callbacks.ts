import formbody from '@fastify/formbody';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import type { AppContext } from '#entry/compose.ts';
import { ANONYMOUS_BODY_BYTES_MAX } from '#entry/http/body_limits.ts';
import { recordRefusal } from '#entry/http/record_refusal.ts';
import { answerSms } from '#entry/http/sms_replies.ts';
import { answerDigit, answerPin, answerVoice } from '#entry/http/voice.ts';
import { recordOutcome } from '#incidents/record_outcome.ts';
import type { Via } from '#kernel/caller.ts';
import { AppError, invalidInput } from '#kernel/errors.ts';
import type { CallbackName } from '#notify/twilio/callback_url.ts';
import { callOf, isEndOfCall, reportOfCall } from '#notify/channels/call/reports.ts';
import { reportOfSms } from '#notify/channels/sms/reports.ts';
import type { DeliveryReport } from '#notify/delivery_report.ts';
import { type Fields, parseFields } from '#notify/twilio/form.ts';
import { isSignedByTwilio } from '#notify/twilio/signature.ts';
import type { NotificationRow } from '#storage/postgres/notification_row.ts';
import { storesOf } from '#storage/postgres/stores.ts';
import { inUnitOfWork } from '#storage/postgres/unit_of_work.ts';

/** A message's life is short: what is reported about an older one is a replay. */
const STALE_HOURS = 24;

/** Call-backs may overtake one another, but not for long: what a call says or asks after its end is a replay. */
const OVERTAKING_MINUTES = 5;

const VIA: Record<CallbackName, Via> = {
  'sms-status': 'sms',
  voice: 'call',
  'voice-digit': 'call',
  'voice-pin-acknowledge': 'call',
  'voice-pin-resolve': 'call',
  'call-status': 'call',
};

/**
 * What Twilio calls: delivery reports, what to say in a call, which digit was pressed, and replies by SMS. Everything
 * unsigned, stale or of a call that is over is 403 and audited where it names a message. Whoever acts this way acts
 * through the same actions, as the person paged.
 */
export async function mountCallbacks(root: FastifyInstance, context: AppContext): Promise<void> {
  await root.register(async (app) => {
    await app.register(formbody, { bodyLimit: ANONYMOUS_BODY_BYTES_MAX });

    const take = async (notification: NotificationRow, report: DeliveryReport | null): Promise<string> => {
      if (report !== null) await inUnitOfWork(context.actions, (unit) => recordOutcome(unit, notification, report));
      return '<Response/>';
    };
    onMessage(app, context, 'sms-status', (notification, fields) => take(notification, reportOfSms(fields)));
    onMessage(app, context, 'call-status', async (notification, fields) => {
      await noteEndOfCall(context, notification, fields);
      return await take(notification, reportOfCall(fields));
    });
    onMessage(app, context, 'voice', (notification, fields) => answerVoice(context, notification, fields));
    onMessage(app, context, 'voice-digit', (notification, fields) => answerDigit(context, notification, fields));
    onMessage(app, context, 'voice-pin-acknowledge', (notification, fields) =>
      answerPin(context, notification, fields, 'acknowledge'),
    );
    onMessage(app, context, 'voice-pin-resolve', (notification, fields) =>
      answerPin(context, notification, fields, 'resolve'),
    );

    app.post('/api/callbacks/twilio/sms', async (request, reply) => {
      const fields = await signedFields(context, request, { action: 'reply_by_sms', via: 'sms' });
      return sendTwiml(reply, await answerSms(context, request, fields));
    });
  });
}

/** A call-back about one message. */
function onMessage(
  app: FastifyInstance,
  context: AppContext,
  name: CallbackName,
  answer: (notification: NotificationRow, fields: Fields) => Promise<string>,
): void {
  app.post<{ Params: { id: string } }>(`/api/callbacks/twilio/${name}/:id`, async (request, reply) => {
    const what = { action: `report_${name.replaceAll('-', '_')}`, via: VIA[name], notificationId: request.params.id };
    const fields = await signedFields(context, request, what);
    const notification = await storesOf(context.db.session()).notifications.find(request.params.id);
    if (notification === null) throw new AppError('not_found', 'no such message');
    const oldest = context.clock.now().subtract({ hours: STALE_HOURS });
    if (notification.createdAt.epochMilliseconds < oldest.epochMilliseconds) {
      await recordRefusal(context, request, { ...what, notification, why: 'stale call-back' });
      throw new AppError('forbidden', 'this message is too old for a delivery report');
    }
    if (name.startsWith('voice') && (await isCallLongOver(context, fields))) {
      await recordRefusal(context, request, { ...what, notification, why: 'replayed call-back' });
      throw new AppError('forbidden', 'this call has ended');
    }
    return sendTwiml(reply, await answer(notification, fields));
  });
}

async function noteEndOfCall(context: AppContext, { id }: NotificationRow, fields: Fields): Promise<void> {
  const call = callOf(fields);
  if (call === null || !isEndOfCall(fields)) return;
  await storesOf(context.db.session()).endedCalls.note(call, id, context.clock.now());
}

async function isCallLongOver(context: AppContext, fields: Fields): Promise<boolean> {
  const call = callOf(fields);
  const endedAt = call === null ? null : await storesOf(context.db.session()).endedCalls.findEnd(call);
  if (endedAt === null) return false;
  return endedAt.add({ minutes: OVERTAKING_MINUTES }).epochMilliseconds < context.clock.now().epochMilliseconds;
}

function sendTwiml(reply: FastifyReply, twiml: string): FastifyReply {
  return reply.type('text/xml; charset=utf-8').send(twiml);
}

async function signedFields(
  context: AppContext,
  request: FastifyRequest,
  what: { action: string; via: Via; notificationId?: string },
): Promise<Fields> {
  const fields = parseFields(request.body ?? {});
  if (fields === null) throw invalidInput([{ path: '', message: 'send each field of the form once' }]);
  const signature = request.headers['x-twilio-signature'];
  const publicUrl = context.config.baseUrl + request.url;
  const isSigned =
    context.twilio !== null &&
    typeof signature === 'string' &&
    isSignedByTwilio(context.twilio.authToken, signature, publicUrl, fields);
  if (!isSigned) {
    const { notifications } = storesOf(context.db.session());
    const notification = what.notificationId === undefined ? null : await notifications.find(what.notificationId);
    await recordRefusal(context, request, { ...what, notification, why: 'unsigned call-back' });
    throw new AppError('forbidden', 'the signature of this callback is missing or wrong');
  }
  return fields;
}
