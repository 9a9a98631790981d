import type { PlaceOutcome } from '#modules/places/decide/delivery.ts';
import {
  cutText,
  type PlaceContent,
  type PlaceIncident,
  type Press,
  PRESS_LABELS,
  pressesOf,
  stateText,
} from '#modules/places/decide/place_content.ts';
import type { PlaceSettings } from '#modules/places/decide/place_kinds.ts';
import { withoutReference } from '#notify/places/chat_send.ts';
import { exchange, outcomeOfStatus, type PlaceHttp } from '#notify/places/exchange.ts';
import type { PlaceBases, PlaceSender, PlaceSenderContext } from '#notify/places/place_sender.ts';
import { slackTextWithin } from '#notify/places/slack/text.ts';
import { withoutLinks } from '#notify/texts/without_links.ts';

/** Faults of a message; all others can be mended by a person, so that the message is tried again. */
const FAULTS_OF_MESSAGE: ReadonlySet<string> = new Set([
  'invalid_blocks',
  'invalid_blocks_format',
  'msg_too_long',
  'msg_blocks_too_long',
  'no_text',
  'thread_not_found',
]);

/** Faults of an update for which a new message is sent instead. */
const FAULTS_OF_UPDATE: ReadonlySet<string> = new Set([
  'message_not_found',
  'cant_update_message',
  'edit_window_closed',
  'channel_not_found',
]);

const REASONS: Readonly<Record<string, string>> = {
  not_in_channel: 'The app is not in the channel: invite it there.',
  channel_not_found: 'There is no such channel, or the app may not see it.',
  is_archived: 'The channel is archived.',
  invalid_auth: 'The bot token is not valid.',
  not_authed: 'The bot token is not valid.',
  account_inactive: 'The bot token was revoked.',
  token_revoked: 'The bot token was revoked.',
  missing_scope: 'The app lacks the scope chat:write.',
  restricted_action: 'The workspace does not let the app post there.',
};

/** Messages of a Slack app (`chat.postMessage`), kept up to date (`chat.update`); notes go to the message's thread. */
export function slackSender({ http, bases }: PlaceSenderContext): PlaceSender {
  return {
    async send({ content, settings, reference, nowMs }) {
      const message = { ...slackMessage(content), ...QUIET };
      const slack = { http, bases, settings, nowMs };
      const post = async (target: object) => (await call(slack, 'chat.postMessage', { ...target, ...message })).outcome;
      if (reference === null || content.kind === 'test') {
        const posted = await post({ channel: settings.channel });
        return content.kind === 'incident' ? posted : withoutReference(posted);
      }
      if (content.kind === 'note') {
        return withoutReference(await post({ channel: reference['channel'], thread_ts: reference['ts'] }));
      }
      const target = { channel: reference['channel'], ts: reference['ts'] };
      const { outcome, fault } = await call(slack, 'chat.update', { ...target, ...message });
      return FAULTS_OF_UPDATE.has(fault) ? await post({ channel: settings.channel }) : outcome;
    },
  };
}

/** Nothing in a message is made a link or a mention, or shown as a preview. */
const QUIET = { unfurl_links: false, unfurl_media: false, link_names: false };

interface SlackCall {
  readonly http: PlaceHttp;
  readonly bases: PlaceBases;
  readonly settings: PlaceSettings;
  readonly nowMs: number;
  readonly timeoutMs?: number;
}

async function call(
  { http, bases, settings, nowMs, timeoutMs }: SlackCall,
  method: string,
  payload: object,
): Promise<{ readonly outcome: PlaceOutcome; readonly fault: string }> {
  const body = JSON.stringify(payload);
  const answer = await exchange(http, {
    url: `${bases.slack}/${method}`,
    headers: { 'content-type': 'application/json; charset=utf-8', authorization: `Bearer ${settings.token ?? ''}` },
    body,
    nowMs,
    ...(timeoutMs !== undefined && { timeoutMs }),
  });
  if (answer.kind === 'failed') return { outcome: answer.outcome, fault: '' };
  const { ok, error, channel, ts } = parseAnswer(answer.text);
  const fault = typeof error === 'string' ? error : '';
  return { outcome: outcomeOfStatus(answer) ?? outcomeOf(answer.exchange, ok === true, fault, { channel, ts }), fault };
}

function outcomeOf(
  sent: Pick<PlaceOutcome, 'body' | 'status' | 'answer'>,
  isOk: boolean,
  fault: string,
  { channel, ts }: { readonly channel: unknown; readonly ts: unknown },
): PlaceOutcome {
  if (isOk) {
    const reference = typeof channel === 'string' && typeof ts === 'string' ? { channel, ts } : null;
    return { kind: 'sent', reference, ...sent };
  }
  if (FAULTS_OF_MESSAGE.has(fault)) return { kind: 'refused', reason: 'Slack does not take this message.', ...sent };
  return { kind: 'retry', reason: REASONS[fault] ?? 'Slack refuses the message.', ...sent };
}

function parseAnswer(text: string): Readonly<Record<string, unknown>> {
  try {
    const answer: unknown = JSON.parse(text);
    return typeof answer === 'object' && answer !== null ? { ...answer } : {};
  } catch {
    return {};
  }
}

/** Time for a word to somebody who pressed a button: Slack waits three seconds for the answer to a press. */
const WORD_TIMEOUT_MS = 2_000;

/** Tells one person in a channel something that nobody else sees. A failure is ignored. */
export async function tellOnSlack(
  slack: Omit<SlackCall, 'timeoutMs'>,
  { channel, user, text }: { readonly channel: string; readonly user: string; readonly text: string },
): Promise<void> {
  await call({ ...slack, timeoutMs: WORD_TIMEOUT_MS }, 'chat.postEphemeral', { channel, user, text });
}

/** Limits of Slack: characters of a header, of a text in a section, and of the text of a notification. */
const HEADER_LENGTH_MAX = 150;
const SECTION_LENGTH_MAX = 1_900;
const TEXT_LENGTH_MAX = 3_900;

/** Returns the text and blocks of a message. */
function slackMessage(content: PlaceContent): { readonly text: string; readonly blocks?: readonly object[] } {
  switch (content.kind) {
    case 'test':
      return { text: slackTextWithin(`This is a test of Tocsin for ${content.organization}.`, TEXT_LENGTH_MAX) };
    case 'note':
      return { text: slackTextWithin(`${content.note.author}: ${content.note.text}`, TEXT_LENGTH_MAX) };
    case 'incident':
      return incidentMessage(content.incident);
  }
}

function incidentMessage(incident: PlaceIncident) {
  const { title, service, severity, number, url, occurrences } = incident;
  const state = stateText(incident);
  const facts = [
    `*Service*\n${slackTextWithin(service.name, SECTION_LENGTH_MAX)}`,
    `*Severity*\n${slackTextWithin(severity, 100)}`,
    `*State*\n${slackTextWithin(state, SECTION_LENGTH_MAX)}`,
    ...(occurrences > 1 ? [`*Occurrences*\n${occurrences}`] : []),
  ];
  return {
    text: slackTextWithin(`[${severity}] ${service.name}: ${title}. ${state}.`, TEXT_LENGTH_MAX),
    blocks: [
      { type: 'header', text: plain(withoutLinks(title), HEADER_LENGTH_MAX) },
      { type: 'section', fields: facts.map((text) => ({ type: 'mrkdwn', text, verbatim: true })) },
      { type: 'context', elements: [plain(`Incident ${number}`, 150)] },
      {
        type: 'actions',
        block_id: incident.id,
        elements: [
          ...pressesOf(incident).map((press) => button(press, incident)),
          { type: 'button', action_id: 'open', text: plain('Open', 75), url },
        ],
      },
    ],
  };
}

function button(press: Press, { id, nextStep }: PlaceIncident): object {
  const value = press === 'escalate' ? `${id} ${nextStep ?? 0}` : id;
  return {
    type: 'button',
    action_id: press,
    text: plain(PRESS_LABELS[press], 75),
    value,
    ...(press === 'acknowledge' && { style: 'primary' }),
  };
}

function plain(text: string, lengthMax: number): object {
  return { type: 'plain_text', text: cutText(text.toWellFormed(), lengthMax) || ' ', emoji: false };
}
