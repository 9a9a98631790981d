import { createHmac, timingSafeEqual } from 'node:crypto';

import type { PlaceOutcome } from '#modules/places/decide/delivery.ts';
import {
  PRESSES,
  PRESS_LABELS,
  type PlaceContent,
  type PlaceIncident,
  type Press,
  cutText,
  pressesOf,
  stateText,
} from '#modules/places/decide/place_content.ts';
import type { PlaceSettings } from '#modules/places/decide/place_kinds.ts';
import { withoutReference } from '#notify/places/chat_send.ts';
import { type PlaceHttp, exchange, outcomeOfStatus } from '#notify/places/exchange.ts';
import type { PlaceBases, PlaceSender, PlaceSenderContext } from '#notify/places/place_sender.ts';
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

/** Options that make nothing in a message a link, a mention or a preview. */
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

/** Sends one person in a channel a message that nobody else sees. A failure is ignored. */
export async function sendEphemeral(
  slack: Omit<SlackCall, 'timeoutMs'>,
  { channel, user, text }: { readonly channel: string; readonly user: string; readonly text: string },
): Promise<void> {
  await call({ ...slack, timeoutMs: WORD_TIMEOUT_MS }, 'chat.postEphemeral', { channel, user, text });
}

/** Limits of Slack: characters of a header, of a text in a section, and of the text of a notification. */
const HEADER_LENGTH_MAX = 150;
const SECTION_LENGTH_MAX = 1_900;
const TEXT_LENGTH_MAX = 3_900;

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

/** Age of a request beyond which it counts as a replay. */
const AGE_SECONDS_MAX = 5 * 60;

/** Checks a request of Slack by version 0 of its signature; anything older than five minutes is refused. */
export function slackFault(
  signingSecret: string,
  headers: { readonly timestamp: unknown; readonly signature: unknown },
  body: string,
  nowMs: number,
): 'unsigned' | 'forged' | 'stale' | null {
  const { timestamp, signature } = headers;
  if (typeof timestamp !== 'string' || typeof signature !== 'string') return 'unsigned';
  const expected = `v0=${createHmac('sha256', signingSecret).update(`v0:${timestamp}:${body}`).digest('hex')}`;
  const [sent, right] = [Buffer.from(signature), Buffer.from(expected)];
  if (sent.length !== right.length || !timingSafeEqual(sent, right)) return 'forged';
  const seconds = /^\d{1,12}$/.test(timestamp) ? Number(timestamp) : 0;
  return Math.abs(nowMs / 1_000 - seconds) > AGE_SECONDS_MAX ? 'stale' : null;
}

interface SlackPress {
  readonly kind: 'press';
  /** Differs for each press. */
  readonly pressId: string;
  readonly press: Press;
  readonly incidentId: string;
  readonly stepIndex: number | null;
  readonly account: string;
  readonly name: string;
  readonly user: string;
  readonly channel: string;
  readonly ts: string;
}

interface SlackCommand {
  readonly kind: 'command';
  readonly text: string;
  readonly account: string;
  readonly name: string;
}

/** The question by which Slack proves that an address for events is ours. */
interface SlackChallenge {
  readonly kind: 'challenge';
  readonly challenge: string;
}

interface SlackReply {
  readonly kind: 'reply';
  readonly account: string;
  readonly channel: string;
  /** Id of the message that began the thread. */
  readonly threadTs: string;
  /** Id of the reply, which is the same whenever Slack tells of it. */
  readonly ts: string;
  /** Plain text; never blank. */
  readonly text: string;
}

/** Reads a signed request; null for what the product does not know, such as a press on a link. */
export function parseSlackRequest(body: string): SlackPress | SlackCommand | SlackChallenge | SlackReply | null {
  if (body.startsWith('{')) return parseEvent(fieldsOf(parseJson(body)));
  const form = new URLSearchParams(body);
  const payload = form.get('payload');
  if (payload !== null) return parsePress(payload);
  const [team, user] = [form.get('team_id'), form.get('user_id')];
  if (form.get('command') === null || team === null || user === null) return null;
  const text = form.get('text') ?? '';
  return { kind: 'command', text: text.trim(), account: `${team} ${user}`, name: form.get('user_name') ?? user };
}

/** Kinds of messages that people write in threads; every other kind is a change, or written by a program. */
const REPLY_KINDS: ReadonlySet<unknown> = new Set([undefined, 'file_share', 'thread_broadcast']);

function parseEvent(root: Fields): SlackChallenge | SlackReply | null {
  const challenge = textOf(root['challenge']);
  if (root['type'] === 'url_verification' && challenge !== '') return { kind: 'challenge', challenge };
  const event = fieldsOf(root['event']);
  if (root['type'] !== 'event_callback' || event['type'] !== 'message' || !isByPerson(event)) return null;
  const [user, channel] = [textOf(event['user']), textOf(event['channel'])];
  // In a channel that two workspaces share, the team of the event is the one of whoever wrote.
  const team = textOf(event['user_team']) || textOf(event['team']) || textOf(root['team_id']);
  const [threadTs, ts] = [textOf(event['thread_ts']), textOf(event['ts'])];
  const text = plainSlackText(textOf(event['text'])).trim();
  if (user === '' || channel === '' || team === '' || text === '') return null;
  if (threadTs === '' || threadTs === ts || !MESSAGE_ID.test(ts)) return null;
  return { kind: 'reply', account: `${team} ${user}`, channel, threadTs, ts, text };
}

/** Ids of messages are times. */
const MESSAGE_ID = /^\d{1,12}\.\d{1,12}$/;

function isByPerson({ subtype, bot_id: botId, hidden, edited }: Fields): boolean {
  return REPLY_KINDS.has(subtype) && botId === undefined && hidden !== true && edited === undefined;
}

type Fields = Readonly<Record<string, unknown>>;

function parsePress(payload: string): SlackPress | null {
  const root = fieldsOf(parseJson(payload));
  if (root['type'] !== 'block_actions') return null;
  const actions: unknown = root['actions'];
  const action = fieldsOf(Array.isArray(actions) ? actions[0] : null);
  const press = PRESSES.find((name) => name === action['action_id']);
  const container = fieldsOf(root['container']);
  const [user, team] = [fieldsOf(root['user']), fieldsOf(root['team'])];
  const [userId, teamId] = [textOf(user['id']), textOf(team['id']) || textOf(user['team_id'])];
  if (press === undefined || userId === '' || teamId === '') return null;
  const [incidentId = '', step] = textOf(action['value']).split(' ');
  const stepIndex = step !== undefined && /^\d{1,9}$/.test(step) ? Number(step) : null;
  return {
    kind: 'press',
    pressId: `${textOf(root['trigger_id'])} ${textOf(action['action_ts'])}`,
    press,
    incidentId,
    stepIndex,
    account: `${teamId} ${userId}`,
    name: textOf(user['username']) || textOf(user['name']) || userId,
    user: userId,
    channel: textOf(container['channel_id']),
    ts: textOf(container['message_ts']),
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/**
 * Escapes a text that a sender wrote for Slack: nothing in it is a mention, a link or a command. Slack reads these out
 * of `<…>` alone; a bare address would become a link, so it is spelled otherwise.
 */
export function slackText(text: string): string {
  return withoutLinks(text.toWellFormed()).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Escapes a text within a limit; it is never cut in the middle of an escape. */
export function slackTextWithin(text: string, lengthMax: number): string {
  let escaped = '';
  for (const letter of withoutLinks(text.toWellFormed())) {
    const next = slackText(letter);
    if (escaped.length + next.length > lengthMax - 1) return `${escaped}…`;
    escaped += next;
  }
  return escaped;
}

/** Part of a text of Slack in angle brackets: an address, a mention or a command, with its label if it has one. */
const BRACKETS = /<([^<>|]*)(?:\|([^<>]*))?>/g;

/** Reads a text that somebody wrote in Slack: mentions and links become what people see, and escapes are undone. */
export function plainSlackText(text: string): string {
  return text
    .replaceAll(BRACKETS, (_all, target: string, label?: string) => bracketText(target, label ?? ''))
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
    .replaceAll('\0', '')
    .toWellFormed();
}

/** Beginnings of addresses; Slack puts them before an address that somebody wrote without. */
const SCHEMES = ['', 'http://', 'https://', 'mailto:'];

function bracketText(target: string, label: string): string {
  const name = target.slice(1);
  switch (target.charAt(0)) {
    case '@':
      return `@${label || name}`;
    case '#':
      return `#${label || name}`;
    case '!':
      return label || `@${name}`;
    default:
      if (label === '') return target;
      return SCHEMES.some((scheme) => `${scheme}${label}` === target) ? label : `${label} (${target})`;
  }
}
