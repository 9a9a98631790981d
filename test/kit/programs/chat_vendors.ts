import { createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A message at a vendor, as it is now. */
interface VendorMessage {
  readonly id: string;
  // eslint-disable-next-line typescript/no-explicit-any -- tests look into bodies of any shape
  readonly body: any;
  readonly edits: number;
}

/**
 * Doubles of Microsoft Teams, Mattermost, Discord, Telegram and ntfy on one port, written from the references of their
 * APIs: each refuses what its vendor would refuse of a message.
 */
export interface ChatVendors {
  readonly url: string;
  readonly messages: readonly VendorMessage[];
  /** Forms that were opened in Mattermost. */
  // eslint-disable-next-line typescript/no-explicit-any -- tests look into bodies of any shape
  readonly forms: readonly any[];
  removeMessages(): void;
  /** Refuses every request from now on, as each vendor does that limits, for so many seconds; null takes them again. */
  limit(seconds: number | null): void;
  /** Requests that were refused so. */
  limited(): number;
  /** Public key of the Discord application, and its signature of a request. */
  readonly publicKey: string;
  signed(timestamp: string, body: string): string;
  close(): Promise<void>;
}

export const VENDOR_TOKEN = 'token-of-the-bot';
/** Id of a chat that Telegram does not know. */
export const MISSING_CHAT = '-1009999999999';
/** Id of a channel of Mattermost that is archived. */
export const ARCHIVED_CHANNEL = 'a'.repeat(26);

/** Settings of a place of each vendor. */
export function placeSettings({ url, publicKey }: Pick<ChatVendors, 'url' | 'publicKey'>, kind: string): object {
  const [token, signingSecret] = [VENDOR_TOKEN, kind === 'mattermost' ? 'command-token' : 'secret-token'];
  switch (kind) {
    case 'mattermost':
      return { address: `${url}/mattermost`, channel: 'c'.repeat(26), token, signingSecret };
    case 'discord':
      return { channel: '77', token, publicKey };
    case 'telegram':
      return { channel: '-1001234567890', token, signingSecret };
    case 'ntfy':
      return { address: `${url}/ntfy`, channel: 'ops', token };
    default:
      return { address: `${url}/teams/workflow?sig=secret` };
  }
}

interface Reply {
  readonly status: number;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Answer of each vendor to a request beyond its limit, with the seconds to wait. */
const LIMITS: Readonly<Record<string, (seconds: number) => Omit<Reply, 'status'>>> = {
  teams: (seconds) => ({ headers: { 'retry-after': String(seconds) }, body: { error: { code: 'TooManyRequests' } } }),
  mattermost: (seconds) => ({ headers: { 'retry-after': String(seconds), 'x-ratelimit-remaining': '0' }, body: {} }),
  discord: (seconds) => {
    const body = { message: 'You are being rate limited.', retry_after: seconds, global: false };
    return { headers: { 'retry-after': String(seconds), 'x-ratelimit-scope': 'user' }, body };
  },
  telegram: (seconds) => {
    const description = `Too Many Requests: retry after ${seconds}`;
    return { body: { ok: false, error_code: 429, description, parameters: { retry_after: seconds } } };
  },
  ntfy: (seconds) => ({ headers: { 'retry-after': String(seconds) }, body: { code: 42_901, http: 429 } }),
};

export async function startChatVendors(): Promise<ChatVendors> {
  const messages: VendorMessage[] = [];
  // eslint-disable-next-line typescript/no-explicit-any -- as above
  const forms: any[] = [];
  let count = 0;
  let limited = 0;
  let limitSeconds: number | null = null;
  const add = (body: object): string => {
    const id = String(1_000 + (count += 1));
    messages.push({ id, body, edits: 0 });
    return id;
  };
  const edit = (id: string, body: object): boolean => {
    const index = messages.findIndex((message) => message.id === id);
    const message = messages[index];
    if (message === undefined) return false;
    messages[index] = { id, body, edits: message.edits + 1 };
    return true;
  };

  // eslint-disable-next-line typescript/no-explicit-any -- bodies of any shape arrive
  const mattermost = (method: string, path: string, authorization: string, body: any): Reply => {
    if (authorization !== `Bearer ${VENDOR_TOKEN}`) return { status: 401, body: { id: 'api.context.session_expired' } };
    if (path === '/api/v4/actions/dialogs/open') {
      const isWhole = body.trigger_id !== '' && body.url !== '' && body.dialog.elements.length > 0;
      if (isWhole) forms.push(body);
      return { status: isWhole ? 200 : 400, body: { status: 'OK' } };
    }
    if (body.message.length > 16_383) return { status: 400, body: { id: 'api.post.create_post.too_long' } };
    if (body.channel_id === ARCHIVED_CHANNEL) {
      return { status: 400, body: { id: 'api.post.create_post.can_not_post_to_deleted.error' } };
    }
    if (method === 'POST') return { status: 201, body: { id: add(body), channel_id: body.channel_id } };
    const [, id = ''] = /^\/api\/v4\/posts\/(\w+)\/patch$/.exec(path) ?? [];
    return edit(id, body) ? { status: 200, body: { id } } : { status: 404, body: { id: 'store.sql_post.get' } };
  };

  // eslint-disable-next-line typescript/no-explicit-any -- bodies of any shape arrive
  const discord = (method: string, path: string, authorization: string, body: any): Reply => {
    if (authorization !== `Bot ${VENDOR_TOKEN}`) return { status: 401, body: { code: 0 } };
    const [embed] = body.embeds ?? [];
    const isTooLong =
      body.content.length > 2_000 ||
      (embed !== undefined &&
        // eslint-disable-next-line typescript/no-explicit-any -- as above
        (embed.title.length > 256 || embed.fields.some(({ value }: any) => value.length > 1_024 || value === '')));
    // eslint-disable-next-line typescript/no-explicit-any -- as above
    const isWrong = (body.components ?? []).some((row: any) =>
      row.components.some(({ custom_id: data = '' }) => data.length > 100),
    );
    if (isTooLong || isWrong) return { status: 400, body: { code: 50_035 } };
    const [, channel = '', id] = /^\/channels\/(\w+)\/messages(?:\/(\w+))?$/.exec(path) ?? [];
    if (method === 'POST') return { status: 200, body: { id: add(body), channel_id: channel } };
    return edit(id ?? '', body)
      ? { status: 200, body: { id, channel_id: channel } }
      : { status: 404, body: { code: 10_008, message: 'Unknown Message' } };
  };

  // eslint-disable-next-line typescript/no-explicit-any -- bodies of any shape arrive
  const telegram = (path: string, body: any): Reply => {
    const [, token, method] = /^\/bot([^/]+)\/(\w+)$/.exec(path) ?? [];
    const refuse = (code: number, description: string) => {
      return { status: code, body: { ok: false, error_code: code, description } };
    };
    if (token !== VENDOR_TOKEN) return refuse(401, 'Unauthorized');
    if (body.chat_id === MISSING_CHAT) return refuse(400, 'Bad Request: chat not found');
    if (body.text.length > 4_096) return refuse(400, 'Bad Request: message is too long');
    for (const row of body.reply_markup?.inline_keyboard ?? []) {
      for (const { callback_data: data = '' } of row) {
        if (Buffer.byteLength(data) > 64) return refuse(400, 'Bad Request: BUTTON_DATA_INVALID');
      }
    }
    if (method === 'sendMessage') {
      const result = { message_id: Number(add(body)), chat: { id: Number(body.chat_id) } };
      return { status: 200, body: { ok: true, result } };
    }
    return edit(String(body.message_id), body)
      ? { status: 200, body: { ok: true, result: { message_id: body.message_id, chat: { id: Number(body.chat_id) } } } }
      : refuse(400, 'Bad Request: message to edit not found');
  };

  const answer = async (request: IncomingMessage): Promise<Reply> => {
    const body = JSON.parse(await text(request));
    const authorization = request.headers.authorization ?? '';
    const [, vendor, path = ''] = /^\/(\w+)(\/.*)?$/.exec(request.url ?? '') ?? [];
    const method = request.method ?? '';
    const refusal = limitSeconds === null ? undefined : LIMITS[vendor ?? '']?.(limitSeconds);
    if (refusal !== undefined) {
      limited += 1;
      return { status: 429, ...refusal };
    }
    switch (vendor) {
      case 'mattermost':
        return mattermost(method, path, authorization, body);
      case 'discord':
        return discord(method, path, authorization, body);
      case 'telegram':
        return telegram(path, body);
      case 'teams':
        if (JSON.stringify(body).length > 28 * 1_024) return { status: 413, body: {} };
        add(body);
        return { status: 202, body: {} };
      case 'ntfy':
        if (authorization !== `Bearer ${VENDOR_TOKEN}`) return { status: 403, body: { code: 40_301 } };
        if (Buffer.byteLength(body.message) > 4_096) return { status: 400, body: {} };
        return { status: 200, body: { id: add(body), event: 'message' } };
      default:
        return { status: 404, body: {} };
    }
  };

  const server = createServer((request, response) => {
    void answer(request).then(({ status, body, headers = {} }) =>
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body)),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const keys = generateKeyPairSync('ed25519', {
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  const der = createPublicKey(keys.publicKey).export({ type: 'spki', format: 'der' });

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    messages,
    forms,
    removeMessages() {
      messages.splice(0);
      limited = 0;
      limitSeconds = null;
    },
    limit: (seconds) => void (limitSeconds = seconds),
    limited: () => limited,
    publicKey: der.subarray(-32).toString('hex'),
    signed: (timestamp, body) =>
      sign(null, Buffer.from(timestamp + body), createPrivateKey(keys.privateKey)).toString('hex'),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
