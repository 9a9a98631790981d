import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

import type { FastifyInstance, LightMyRequestResponse } from 'fastify';

export const SLACK_TOKEN = 'xoxb-test';
export const SLACK_SECRET = '8f742231b10e8888abcd99yyyzzz85a5';
export const SLACK_CHANNEL = 'C0123456789';
const TEAM = 'T0001';

/** A message in a channel, as it is now. */
interface SlackMessage {
  readonly ts: string;
  readonly threadTs: string | undefined;
  readonly text: string;
  // eslint-disable-next-line typescript/no-explicit-any -- tests look into blocks of any shape
  readonly blocks: readonly any[];
  readonly edits: number;
}

/** Written from Slack's reference of its Web API and of requests that it signs. */
export interface Slack {
  readonly url: string;
  readonly messages: readonly SlackMessage[];
  /** Words to one person, newest last. */
  readonly whispers: readonly { readonly user: string; readonly text: string }[];
  /** Calls by their method, in order. */
  readonly calls: readonly string[];
  /** Answers the next call in this way. */
  answerNext(answer: { status?: number; retryAfter?: string; error?: string }): void;
  /** Answers every call so until it is called with null. */
  answerAlways(answer: { status?: number; error?: string } | null): void;
  /** Lets calls hang. Returns what answers those that hang, and a promise of the first of them. */
  hang(): { readonly arrived: Promise<void>; release(): void };
  removeMessages(): void;
  /** Presses a button of a message as this user, and returns the status of the answer. */
  press(app: FastifyInstance, pressed: Pressed): Promise<number>;
  /** Types a slash command, and returns what is shown to the user. */
  command(app: FastifyInstance, placeId: string, typed: { user: string; text: string }): Promise<string>;
  /** Writes a message in a channel and tells the application of it; returns the status of the answer. */
  write(app: FastifyInstance, written: Written): Promise<number>;
  /** Sends a body of the Events API, signed. */
  sendEvent(app: FastifyInstance, placeId: string, event: object): Promise<LightMyRequestResponse>;
  close(): Promise<void>;
}

interface Pressed {
  readonly placeId: string;
  readonly user: string;
  readonly button: string;
  readonly ts?: string;
  /** The same for a press that is replayed. */
  readonly triggerId?: string;
  readonly nowMs: number;
  readonly secret?: string;
  readonly value?: string;
}

interface Written {
  readonly placeId: string;
  readonly user: string;
  readonly text: string;
  readonly team?: string;
  readonly channel?: string;
  /** Thread that the message answers in; the one of the first message unless said otherwise, null for none. */
  readonly threadTs?: string | null;
  /** The same for a message that Slack tells of again. */
  readonly ts?: string;
  /** Number of the repetition; absent when Slack tells of the message for the first time. */
  readonly repeat?: number;
  readonly nowMs?: number;
  readonly secret?: string;
  /** More fields of the message, such as its subtype. */
  readonly fields?: object;
}

interface Sent {
  readonly placeId: string;
  readonly body: URLSearchParams | string;
  readonly at: number;
  readonly secret?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A double of Slack: it refuses what Slack would refuse of a message. */
export async function startSlack(nowMs: () => number): Promise<Slack> {
  const messages: SlackMessage[] = [];
  const whispers: { user: string; text: string }[] = [];
  const calls: string[] = [];
  const answers: { status?: number; retryAfter?: string; error?: string }[] = [];
  let always: { status?: number; retryAfter?: string; error?: string } | null = null;
  let hanging: { arrived: () => void; released: Promise<void> } | null = null;
  let count = 0;

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = JSON.parse(await text(request));
    const method = (request.url ?? '').slice(1);
    calls.push(method);
    hanging?.arrived();
    await hanging?.released;
    const wanted = answers.shift() ?? always;
    if (wanted?.status !== undefined) {
      const retry = wanted.retryAfter === undefined ? {} : { 'retry-after': wanted.retryAfter };
      response.writeHead(wanted.status, retry).end('no');
      return;
    }
    const result =
      wanted?.error === undefined
        ? take(method, request.headers.authorization, body)
        : { ok: false, error: wanted.error };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(result));
  };

  // eslint-disable-next-line typescript/no-explicit-any -- bodies of any shape arrive
  const take = (method: string, authorization: string | undefined, body: any): object => {
    if (authorization !== `Bearer ${SLACK_TOKEN}`) return { ok: false, error: 'invalid_auth' };
    if (body.channel !== SLACK_CHANNEL) return { ok: false, error: 'channel_not_found' };
    const fault = faultOf(body);
    if (fault !== null) return { ok: false, error: fault };
    switch (method) {
      case 'chat.postMessage': {
        const ts = `${1_700_000_000 + (count += 1)}.000100`;
        messages.push({ ts, threadTs: body.thread_ts, text: body.text, blocks: body.blocks ?? [], edits: 0 });
        return { ok: true, channel: SLACK_CHANNEL, ts };
      }
      case 'chat.update': {
        const index = messages.findIndex(({ ts }) => ts === body.ts);
        const message = messages[index];
        if (message === undefined) return { ok: false, error: 'message_not_found' };
        messages[index] = { ...message, text: body.text, blocks: body.blocks ?? [], edits: message.edits + 1 };
        return { ok: true, channel: SLACK_CHANNEL, ts: body.ts, text: body.text };
      }
      case 'chat.postEphemeral':
        whispers.push({ user: body.user, text: body.text });
        return { ok: true, message_ts: '1' };
      default:
        return { ok: false, error: 'unknown_method' };
    }
  };

  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const send = async (
    app: FastifyInstance,
    { placeId, body, at, secret = SLACK_SECRET, headers = {} }: Sent,
  ): Promise<LightMyRequestResponse> => {
    const payload = body.toString();
    const timestamp = String(Math.floor(at / 1_000));
    const signature = createHmac('sha256', secret).update(`v0:${timestamp}:${payload}`).digest('hex');
    return await app.inject({
      method: 'POST',
      url: `/api/places/${placeId}/slack`,
      headers: {
        'content-type': typeof body === 'string' ? 'application/json' : 'application/x-www-form-urlencoded',
        'x-slack-request-timestamp': timestamp,
        'x-slack-signature': `v0=${signature}`,
        ...headers,
      },
      payload,
    });
  };

  return {
    url,
    messages,
    whispers,
    calls,
    answerNext: (next) => void answers.push(next),
    answerAlways: (next) => void (always = next),
    hang() {
      const arrived = Promise.withResolvers<void>();
      const released = Promise.withResolvers<void>();
      hanging = { arrived: arrived.resolve, released: released.promise };
      return {
        arrived: arrived.promise,
        release: () => {
          hanging = null;
          released.resolve();
        },
      };
    },
    removeMessages: () => void messages.splice(0),
    async press(app, { placeId, user, button, ts, triggerId = `${(count += 1)}`, nowMs: at, secret, value }) {
      const message = messages.find((candidate) => candidate.ts === (ts ?? messages[0]?.ts));
      const element = message?.blocks
        .find(({ type }) => type === 'actions')
        ?.elements.find(({ action_id: id }: { action_id: string }) => id === button);
      const payload = {
        type: 'block_actions',
        user: { id: user, username: user.toLowerCase(), team_id: TEAM },
        team: { id: TEAM, domain: 'acme' },
        trigger_id: triggerId,
        container: { type: 'message', message_ts: ts ?? message?.ts, channel_id: SLACK_CHANNEL },
        channel: { id: SLACK_CHANNEL, name: 'ops' },
        actions: [{ type: 'button', action_id: button, value: value ?? element?.value, action_ts: triggerId }],
      };
      const body = new URLSearchParams({ payload: JSON.stringify(payload) });
      return (await send(app, { placeId, body, at, ...(secret !== undefined && { secret }) })).statusCode;
    },
    async command(app, placeId, { user, text: typed }) {
      const body = new URLSearchParams({
        command: '/oncall',
        text: typed,
        team_id: TEAM,
        user_id: user,
        user_name: user.toLowerCase(),
        channel_id: SLACK_CHANNEL,
      });
      return (await send(app, { placeId, body, at: nowMs() })).json().text;
    },
    async write(app, { placeId, user, text: said, team = TEAM, channel = SLACK_CHANNEL, ...written }) {
      const ts = written.ts ?? `${1_700_000_500 + (count += 1)}.000200`;
      const thread = written.threadTs === undefined ? messages[0]?.ts : written.threadTs;
      const event = {
        type: 'message',
        user,
        ts,
        client_msg_id: `client-${ts}`,
        text: said,
        team,
        blocks: [{ type: 'rich_text', block_id: 'b1', elements: [] }],
        ...(typeof thread === 'string' && { thread_ts: thread, parent_user_id: 'U0BOT' }),
        channel,
        channel_type: 'channel',
        event_ts: ts,
        ...written.fields,
      };
      const { statusCode } = await send(app, {
        placeId,
        body: JSON.stringify(callbackOf(event, team)),
        at: written.nowMs ?? nowMs(),
        ...(written.secret !== undefined && { secret: written.secret }),
        ...(written.repeat !== undefined && {
          headers: { 'x-slack-retry-num': String(written.repeat), 'x-slack-retry-reason': 'http_timeout' },
        }),
      });
      return statusCode;
    },
    sendEvent: async (app, placeId, event) => await send(app, { placeId, body: JSON.stringify(event), at: nowMs() }),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** The envelope of an event. */
function callbackOf(event: { readonly ts: string }, team: string): object {
  return {
    token: 'verification-token',
    team_id: team,
    api_app_id: 'A0001',
    event,
    type: 'event_callback',
    event_id: `Ev${event.ts.replace('.', '')}`,
    event_time: Number(event.ts.split('.')[0]),
    authorizations: [{ enterprise_id: null, team_id: team, user_id: 'U0BOT', is_bot: true }],
    event_context: 'context-of-event',
  };
}

/** The limits that Slack documents. */
// eslint-disable-next-line typescript/no-explicit-any -- blocks of any shape arrive
function faultOf({ text: plain, blocks = [] }: any): string | null {
  if (typeof plain !== 'string' || plain === '') return 'no_text';
  if (plain.length > 40_000) return 'msg_too_long';
  if (blocks.length > 50) return 'invalid_blocks';
  for (const block of blocks) {
    if (block.type === 'header' && (block.text.type !== 'plain_text' || block.text.text.length > 150))
      return 'invalid_blocks';
    if (block.type === 'section' && block.fields.length > 10) return 'invalid_blocks';
    for (const field of block.fields ?? [])
      if (field.text.length === 0 || field.text.length > 2_000) return 'invalid_blocks';
    for (const element of block.elements ?? []) {
      if (element.type !== 'button') continue;
      if (element.text.text.length > 75 || (element.value ?? '').length > 2_000) return 'invalid_blocks';
    }
  }
  return null;
}
