import type { AppContext } from '#entry/compose.ts';
import { answerCommand } from '#entry/http/places/command.ts';
import { answerPress } from '#entry/http/places/press.ts';
import { answerReply } from '#entry/http/places/reply.ts';
import type { VendorAnswer, VendorRequest } from '#entry/http/places/vendor_request.ts';
import { AppError } from '#kernel/errors.ts';
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
