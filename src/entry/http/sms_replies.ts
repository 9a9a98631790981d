import type { FastifyRequest } from 'fastify';

import { parseSmsReply } from '#core/oncall/sms_reply.ts';
import type { House } from '#entry/compose.ts';
import { answerAsPerson, answeredSentence } from '#entry/http/answer_as_person.ts';
import { invalidInput } from '#kernel/errors.ts';
import { type Fields, type InboundSms, inboundSms } from '#notify/callbacks.ts';
import { replyBySms } from '#notify/twiml.ts';
import { storesOf } from '#storage/postgres/stores.ts';

/**
 * Does what somebody asks for by SMS, and answers. The same message sent again gets the same answer and does nothing.
 * A number that belongs to nobody learns nothing, not even that an incident exists.
 */
export async function answerSms(house: House, request: FastifyRequest, fields: Fields): Promise<string> {
  const sms = inboundSms(fields);
  if (sms === null) throw invalidInput([{ path: '', message: 'MessageSid and From are missing' }]);
  const { inboundMessages } = storesOf(house.db.session());
  if (!(await inboundMessages.take(sms.providerId, house.clock.now()))) {
    return replyBySms(await inboundMessages.findAnswer(sms.providerId));
  }
  try {
    const answer = await act(house, request, sms);
    await inboundMessages.setAnswer(sms.providerId, answer);
    return replyBySms(answer);
  } catch (error) {
    await inboundMessages.release(sms.providerId);
    throw error;
  }
}

/** The text of the answer; null for none. */
async function act(
  house: House,
  request: FastifyRequest,
  { from, text, isOptOut }: InboundSms,
): Promise<string | null> {
  const stores = storesOf(house.db.session());
  const people = isOptOut ? [] : await stores.teams.listByPhone(from);
  if (people.length === 0) return null;
  const reply = parseSmsReply(text);
  if (reply.kind === 'unknown' || reply.kind === 'which') {
    return 'Answer ACK or RES and the number of the incident, for example: ACK 1234. ACK ALL acknowledges all of yours.';
  }
  const origin = { requestId: request.id, address: null };
  for (const { orgId, userId } of people) {
    const incidentIds =
      reply.kind === 'acknowledge_all'
        ? await stores.digests.listUnanswered(orgId, userId)
        : await stores.incidents.findByNumber(orgId, reply.number).then((incident) => (incident ? [incident.id] : []));
    if (incidentIds.length === 0) continue;
    const answer = reply.kind === 'resolve' ? 'resolve' : 'acknowledge';
    const answerer = { orgId, userId, via: 'sms', origin } as const;
    return answeredSentence(await answerAsPerson(house, answerer, incidentIds, answer), answer);
  }
  return reply.kind === 'acknowledge_all'
    ? 'No incident of yours waits for an answer.'
    : `There is no incident ${reply.number}.`;
}
