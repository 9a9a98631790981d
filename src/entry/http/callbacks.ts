import formbody from '@fastify/formbody';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { recordDeliveryReport } from '#actions/incidents/record_delivery_report.ts';
import { type SmsReply, parseSmsReply } from '#core/oncall/sms_reply.ts';
import type { House } from '#entry/compose.ts';
import { answerAsPerson, outcomeSentence } from '#entry/http/answer_as_person.ts';
import { AppError } from '#kernel/errors.ts';
import { callbackUrl } from '#notify/callback_url.ts';
import { isMachine, type Progress, progressOfCall, progressOfSms } from '#notify/callbacks.ts';
import { isSignedByTwilio } from '#notify/signature.ts';
import { askForDigit, replyBySms, sayAndHangUp } from '#notify/twiml.ts';
import type { IncidentRow } from '#storage/postgres/incident_store.ts';
import type { NotificationRow } from '#storage/postgres/notification_store.ts';
import { type Stores, storesOf } from '#storage/postgres/stores.ts';

/** A message's life is short: what is reported about an older one is a replay. */
const STALE_HOURS = 24;

type Fields = Readonly<Record<string, string>>;

interface Callback {
  readonly fields: Fields;
  readonly stores: Stores;
  readonly notification: NotificationRow;
  readonly incident: IncidentRow;
}

/**
 * What Twilio calls: delivery reports, what to say in a call, which digit was pressed, and replies by SMS. Everything
 * unsigned or stale is 403. Whoever acts this way acts through the same actions, as the person paged.
 */
export async function mountCallbacks(root: FastifyInstance, house: House): Promise<void> {
  await root.register(async (app) => {
    await app.register(formbody);

    const report = (path: string, progressOf: (fields: Fields) => Progress | null) =>
      onNotification(app, house, path, async ({ notification, fields }) => {
        const progress = progressOf(fields);
        const providerId = fields['MessageSid'] ?? fields['CallSid'] ?? null;
        if (progress !== null) await recordDeliveryReport(house.actions, notification, { ...progress, providerId });
        return '<Response/>';
      });
    report('sms-status', progressOfSms);
    report('call-status', progressOfCall);

    onNotification(app, house, 'voice', async ({ notification, incident, fields }) => {
      if (isMachine(fields['AnsweredBy'])) {
        const providerId = fields['CallSid'] ?? null;
        const report = { status: 'failed', reason: 'answering_machine', providerId } as const;
        await recordDeliveryReport(house.actions, notification, report);
        return sayAndHangUp('This is Tocsin. An incident needs attention.');
      }
      return askForDigit(incident, callbackUrl(house.config.baseUrl, 'voice-digit', notification.id));
    });
    onNotification(app, house, 'voice-digit', (callback) => onDigit(house, callback));

    app.post('/api/callbacks/twilio/sms', async (request, reply) => {
      const fields = await signedFields(house, request);
      return sendTwiml(reply, replyBySms(await onReply(house, request, fields)));
    });
  });
}

/** A call-back about one entry of the notification log. */
function onNotification(
  app: FastifyInstance,
  house: House,
  path: string,
  answer: (callback: Callback) => Promise<string>,
): void {
  app.post<{ Params: { id: string } }>(`/api/callbacks/twilio/${path}/:id`, async (request, reply) => {
    const fields = await signedFields(house, request);
    const stores = storesOf(house.db.session());
    const notification = await stores.notifications.find(request.params.id);
    const incident = notification && (await stores.incidents.find(notification.orgId, notification.incidentId));
    if (notification === null || incident === null) throw new AppError('not_found', 'no such message');
    const oldest = house.clock.now().subtract({ hours: STALE_HOURS });
    if (notification.createdAt.epochMilliseconds < oldest.epochMilliseconds) {
      throw new AppError('forbidden', 'this message is too old for a report about it');
    }
    return sendTwiml(reply, await answer({ fields, stores, notification, incident }));
  });
}

function sendTwiml(reply: FastifyReply, twiml: string): FastifyReply {
  return reply.type('text/xml; charset=utf-8').send(twiml);
}

async function signedFields(house: House, request: FastifyRequest): Promise<Fields> {
  const fields = (request.body ?? {}) as Fields;
  const signature = request.headers['x-twilio-signature'];
  const publicUrl = house.config.baseUrl + request.url;
  const isSigned =
    house.twilio !== null &&
    typeof signature === 'string' &&
    isSignedByTwilio(house.twilio.authToken, signature, publicUrl, fields);
  if (!isSigned) {
    house.log.warn({ requestId: request.id, path: request.url, address: request.ip }, 'unsigned call-back refused');
    throw new AppError('forbidden', 'the signature of this call-back is missing or wrong');
  }
  return fields;
}

async function onDigit(house: House, { fields, notification, incident }: Callback): Promise<string> {
  const digit = fields['Digits'] ?? '';
  if (digit !== '1' && digit !== '2') {
    return askForDigit(incident, callbackUrl(house.config.baseUrl, 'voice-digit', notification.id));
  }
  const answer = digit === '1' ? 'acknowledge' : 'resolve';
  const { orgId, userId } = notification;
  const answerer = { orgId, userId, via: 'call', origin: { requestId: notification.id, address: null } } as const;
  return sayAndHangUp(outcomeSentence(await answerAsPerson(house, answerer, incident.id, answer), answer));
}

/** The text of the answer. A number that belongs to nobody learns nothing, not even that an incident exists. */
async function onReply(house: House, request: FastifyRequest, fields: Fields): Promise<string | null> {
  if (fields['OptOutType'] !== undefined) return null;
  const stores = storesOf(house.db.session());
  const people = await stores.teams.listByPhone(fields['From'] ?? '');
  if (people.length === 0) return null;
  const reply: SmsReply = parseSmsReply(fields['Body'] ?? '');
  if (reply.kind === 'unknown' || reply.kind === 'which') {
    return 'Answer ACK or RES and the number of the incident, for example: ACK 1234';
  }
  for (const { orgId, userId } of people) {
    const incident = await stores.incidents.findByNumber(orgId, reply.number);
    if (incident === null) continue;
    const answerer = { orgId, userId, via: 'sms', origin: { requestId: request.id, address: null } } as const;
    return outcomeSentence(await answerAsPerson(house, answerer, incident.id, reply.kind), reply.kind);
  }
  return `There is no incident ${reply.number}.`;
}
