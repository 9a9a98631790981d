import { createDecipheriv, createECDH, createPublicKey, hkdfSync, randomBytes, verify } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

import { onTestFinished } from 'vitest';

/** A message as the service worker of a browser gets it, once decrypted. */
export interface Pushed {
  readonly browser: string;
  // eslint-disable-next-line typescript/no-explicit-any -- tests look into payloads of any shape
  readonly payload: any;
  readonly ttl: number;
  readonly urgency: string | undefined;
  readonly topic: string | undefined;
}

export interface TestBrowser {
  readonly name: string;
  /** Subscription as `PushSubscription.toJSON()` writes it. */
  readonly subscription: {
    readonly endpoint: string;
    readonly keys: { readonly p256dh: string; readonly auth: string };
  };
}

/** A push service on this machine, and browsers that really decrypt (RFC 8030, 8188, 8291, 8292). */
export interface PushService {
  readonly pushed: readonly Pushed[];
  readonly requests: number;
  /** Subscribes a browser with this public key. */
  browser(name: string, vapidPublicKey: string): TestBrowser;
  /** The user withdraws the permission: from now on the service answers 410. */
  expire(browser: TestBrowser): void;
  /** Answers the next requests with this status. */
  answer(status: number, options?: { times?: number; retryAfterSeconds?: number }): void;
}

interface SubscribedBrowser {
  readonly name: string;
  readonly vapidPublicKey: string;
  readonly keys: ReturnType<typeof createECDH>;
  readonly auth: Buffer;
}

export async function startPushService(): Promise<PushService> {
  const subscribed = new Map<string, SubscribedBrowser>();
  const pushed: Pushed[] = [];
  const answers: { status: number; retryAfterSeconds: number | undefined }[] = [];
  let requests = 0;

  const take = async (request: IncomingMessage, origin: string): Promise<number> => {
    const browser = subscribed.get(request.url ?? '');
    const body = await buffer(request);
    if (browser === undefined) return 410;
    if (!isSignedFor(origin, request.headers.authorization ?? '', browser.vapidPublicKey)) return 403;
    if (request.headers['content-encoding'] !== 'aes128gcm' || body.length > 4096) return 400;
    pushed.push({
      browser: browser.name,
      payload: JSON.parse(decrypt(body, browser).toString('utf8')),
      ttl: Number(request.headers['ttl']),
      urgency: request.headers['urgency'] as string | undefined,
      topic: request.headers['topic'] as string | undefined,
    });
    return 201;
  };
  const server = createServer((request, response) => {
    requests += 1;
    const forced = answers.shift();
    if (forced === undefined) {
      void take(request, origin).then((status) => response.writeHead(status).end());
      return;
    }
    const { status, retryAfterSeconds } = forced;
    if (retryAfterSeconds !== undefined) response.setHeader('retry-after', retryAfterSeconds);
    response.writeHead(status).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });

  return {
    pushed,
    get requests() {
      return requests;
    },
    browser(name, vapidPublicKey) {
      const keys = createECDH('prime256v1');
      keys.generateKeys();
      const auth = randomBytes(16);
      const path = `/push/${randomBytes(16).toString('hex')}`;
      subscribed.set(path, { name, vapidPublicKey, keys, auth });
      return {
        name,
        subscription: {
          endpoint: origin + path,
          keys: { p256dh: keys.getPublicKey('base64url'), auth: auth.toString('base64url') },
        },
      };
    },
    expire({ subscription }) {
      subscribed.delete(new URL(subscription.endpoint).pathname);
    },
    answer(status, { times = 1, retryAfterSeconds } = {}) {
      for (let time = 0; time < times; time += 1) answers.push({ status, retryAfterSeconds });
    },
  };
}

const derive = (secret: Buffer, salt: Buffer, info: Buffer | string, length: number): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, salt, info, length));

/** RFC 8291 §3.4 over one record of RFC 8188 §2. */
function decrypt(body: Buffer, { keys, auth }: SubscribedBrowser): Buffer {
  const salt = body.subarray(0, 16);
  const idLength = body.readUInt8(20);
  const senderKey = body.subarray(21, 21 + idLength);
  const record = body.subarray(21 + idLength);
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), keys.getPublicKey(), senderKey]);
  const secret = derive(keys.computeSecret(senderKey), auth, info, 32);
  const key = derive(secret, salt, 'Content-Encoding: aes128gcm\0', 16);
  const nonce = derive(secret, salt, 'Content-Encoding: nonce\0', 12);
  const decipher = createDecipheriv('aes-128-gcm', key, nonce);
  decipher.setAuthTag(record.subarray(-16));
  const padded = Buffer.concat([decipher.update(record.subarray(0, -16)), decipher.final()]);
  return padded.subarray(0, padded.lastIndexOf(2));
}

/** RFC 8292: a token for this service, signed with the key that the browser subscribed to. */
function isSignedFor(origin: string, authorization: string, vapidPublicKey: string): boolean {
  const [, token = '', key = ''] = /^vapid t=([^,]+), ?k=(.+)$/.exec(authorization) ?? [];
  const [head = '', claims = '', signature = ''] = token.split('.');
  const point = Buffer.from(key, 'base64url');
  const coordinate = (from: number): string => point.subarray(from, from + 32).toString('base64url');
  if (key !== vapidPublicKey) return false;
  const publicKey = createPublicKey({
    key: { kty: 'EC', crv: 'P-256', x: coordinate(1), y: coordinate(33) },
    format: 'jwk',
  });
  const { aud, exp, sub } = JSON.parse(Buffer.from(claims, 'base64url').toString('utf8'));
  return (
    verify(
      'sha256',
      Buffer.from(`${head}.${claims}`),
      { key: publicKey, dsaEncoding: 'ieee-p1363' },
      Buffer.from(signature, 'base64url'),
    ) &&
    aud === origin &&
    exp * 1000 > Date.now() &&
    exp * 1000 <= Date.now() + 24 * 60 * 60 * 1000 &&
    /^(mailto:.+@|https:)/.test(sub)
  );
}
