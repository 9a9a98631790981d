import { runAction } from '#actions/run_action.ts';
import type { AppContext } from '#entry/compose.ts';
import { answerCommand } from '#entry/http/places/command.ts';
import {
  answerPress,
  callerOf,
  type ChatPerson,
  countPress,
  refusedSentence,
  unlinkedSentence,
} from '#entry/http/places/press.ts';
import type { VendorAnswer, VendorRequest } from '#entry/http/places/vendor_request.ts';
import { AppError } from '#kernel/errors.ts';
import { addIncidentNote } from '#modules/incidents/operations/notes.ts';
import { NOTE_LENGTH_MAX } from '#modules/pages/decide/limits.ts';
import { cutText, type MessageReference } from '#modules/places/decide/place_content.ts';
import { storesOf } from '#modules/stores.ts';
import { parseSlackRequest, slackFault } from '#notify/places/slack/presses.ts';
import { tellOnSlack } from '#notify/places/slack/sender.ts';
import { slackText } from '#notify/places/slack/text.ts';

const REFUSALS = {
  unsigned: 'the signature of this request is missing',
  forged: 'the signature of this request is wrong',
  stale: 'this request is older than five minutes',
} as const;

/** Answers presses, commands and events of a Slack app. Throws `forbidden` for what Slack did not sign within five minutes. */
export async function answerSlack(context: AppContext, request: VendorRequest): Promise<VendorAnswer> {
  const { place, settings, headers, body, origin } = request;
  const nowMs = context.clock.now().epochMilliseconds;
  const sent = { timestamp: headers['x-slack-request-timestamp'], signature: headers['x-slack-signature'] };
  const fault = slackFault(settings.signingSecret ?? '', sent, body, nowMs);
  if (fault !== null) throw new AppError('forbidden', REFUSALS[fault]);
  const asked = parseSlackRequest(body);
  if (asked === null) return { status: 200 };
  if (asked.kind === 'challenge') return { status: 200, body: { challenge: asked.challenge } };
  if (asked.kind === 'reply') {
    const { account, channel, threadTs, ts: replyTs, text } = asked;
    const replyId = `slack-${channel}-${replyTs.replace('.', '-')}`;
    await answerReply(context, {
      place,
      kind: 'slack',
      account,
      answered: { channel, ts: threadTs },
      replyId,
      text,
      origin,
    });
    return { status: 200 };
  }
  if (asked.kind === 'command') {
    const text = await answerCommand(context, { place, ...asked, kind: 'slack', origin });
    return { status: 200, body: { response_type: 'ephemeral', text: slackText(text) } };
  }
  const { channel, ts, user } = asked;
  const text = await answerPress(context, {
    place,
    ...asked,
    kind: 'slack',
    origin,
    isOf: (reference) => reference['channel'] === channel && reference['ts'] === ts,
  });
  const { http, bases } = context.places;
  await tellOnSlack({ http, bases, settings, nowMs }, { channel, user, text: slackText(text) });
  return { status: 200 };
}

/** Somebody's answer to the message of an incident; the vendor has signed who wrote it. */
interface WrittenReply extends Omit<ChatPerson, 'name'> {
  /** Message that is answered. */
  readonly answered: MessageReference;
  /** Letters, digits, `-` and `_` that differ for each reply, and are the same whenever the vendor tells of it. */
  readonly replyId: string;
  /** Text that is not blank. */
  readonly text: string;
}

/** Sentence for whoever wrote, and whether it is a note now. */
interface ReplyAnswer {
  readonly isNote: boolean;
  readonly text: string;
}

const refusedBy = (text: string): ReplyAnswer => ({ isNote: false, text });

/**
 * Makes a note of the incident out of a reply, by the operation that everybody uses. Chats are full of what is no note,
 * so nothing is done or recorded about a reply of somebody whose account is not linked or whose role writes no notes,
 * about an answer to a message of somebody else, and about a reply that the vendor tells of again. Returns a sentence
 * for chats in which a reply is written for Tocsin alone.
 */
export async function answerReply(context: AppContext, reply: WrittenReply): Promise<ReplyAnswer> {
  const { kind, account, answered, replyId, text, origin } = reply;
  const { orgId } = reply.place;
  const stores = storesOf(context.db.session());
  const linked = await stores.chatAccounts.find({ orgId, kind, account });
  if (linked === null) return refusedBy(unlinkedSentence(kind));
  const message = await stores.places.findIncidentOf(orgId, kind, answered);
  if (message === null) return refusedBy('This message is none of Tocsin. Nothing was changed.');
  // The secret of the place that told of the reply says who wrote it.
  const { settingsRole } = reply.place;
  const place = { ...(await stores.places.get(orgId, message.placeId)), settingsRole };
  const person = { place, kind, account, name: linked.name ?? '', origin };
  const speaking = await callerOf(context, person, 'more');
  if ('refusal' in speaking) return refusedBy(speaking.refusal);
  if (!speaking.caller.permissions.has(addIncidentNote.permission))
    return refusedBy('Your role does not allow this. Nothing was changed.');
  const note = { incidentId: message.incidentId, text: cutText(text, NOTE_LENGTH_MAX), requestKey: replyId };
  try {
    await runAction(context.actions, addIncidentNote, speaking.caller, note, origin, async (unit) => {
      await countPress(unit, person, replyId);
    });
    return { isNote: true, text: 'It is a note of the incident now. Thank you.' };
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500) throw error;
    context.log.info({ placeId: place.id, err: error.message }, 'a reply in a chat became no note');
    return refusedBy(refusedSentence(error));
  }
}
