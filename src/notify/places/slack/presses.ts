import { createHmac, timingSafeEqual } from 'node:crypto';

import { type Press, PRESSES } from '#modules/places/decide/place_content.ts';
import { plainSlackText } from '#notify/places/slack/text.ts';

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

/** A button pressed in Slack. */
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

/** A slash command typed in Slack. */
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

/** A message that somebody wrote in a thread. */
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
