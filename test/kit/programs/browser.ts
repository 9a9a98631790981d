import { argon2Sync } from 'node:crypto';

import type { Id } from '#kernel/ids.ts';
import type { Role } from '#kernel/permissions.ts';
import { storesOf } from '#modules/stores.ts';
import type { Answer, World } from '#test/kit/world.ts';

interface Asking {
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is, in place of `body`. */
  readonly text?: string;
  /** `null` sends none. */
  readonly origin?: string | null;
  readonly address?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** A browser of its own, which keeps the cookie that it is given. */
export interface Browser {
  /** Asks for a path below `/api/console`. */
  ask(method: Method, path: string, asking?: Asking): Promise<Answer & { readonly text: string }>;
  get(path: string): Promise<Answer>;
  post(path: string, body?: unknown): Promise<Answer>;
  patch(path: string, body?: unknown): Promise<Answer>;
  delete(path: string): Promise<Answer>;
  /** Invokes an action or an operation of the console. */
  invoke(orgId: string, name: string, input?: object): Promise<Answer>;
  /** The `Cookie` header that it sends; what a test puts here is sent instead. */
  cookie: string | null;
  /** The cookie by which it is known after it has signed in. */
  device: string | null;
  /** The cookie that ties a provider's answer to it. */
  attempt: string | null;
}

export const PASSWORD = 'amber kettle 41 orbit';

const PASSWORD_HASH = hashCheaply(PASSWORD);

/** Returns a hash that is cheap to check: what a real one costs is a test of its own. */
export function hashCheaply(password: string): string {
  const [memory, passes, parallelism] = [8, 1, 1];
  const nonce = Buffer.alloc(16, 'nonce');
  const tag = argon2Sync('argon2id', { memory, passes, parallelism, tagLength: 32, message: password, nonce });
  const [nonceText, tagText] = [nonce, tag].map((bytes) => bytes.toString('base64').replaceAll('=', ''));
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${nonceText}$${tagText}`;
}

export function openBrowser(w: World, address = '192.0.2.1'): Browser {
  const own = new URL(w.context.config.baseUrl).origin;
  const browser: Browser = {
    cookie: null,
    device: null,
    attempt: null,
    async ask(method, path, { body, text, origin = own, headers = {}, ...asking } = {}) {
      const response = await w.app.inject({
        method,
        url: `/api/console${path}`,
        remoteAddress: asking.address ?? address,
        headers: {
          ...cookiesOf(browser),
          ...(origin === null || method === 'GET' ? {} : { origin }),
          ...(body === undefined && text === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined && text === undefined ? {} : { payload: text ?? JSON.stringify(body) }),
      });
      for (const cookie of [response.headers['set-cookie'] ?? []].flat()) {
        const value = cookie.includes('Max-Age=0') ? null : cookie.split(';')[0]!;
        if (cookie.includes('tocsin_device=')) browser.device = value;
        else if (cookie.includes('tocsin_provider=')) browser.attempt = value;
        else browser.cookie = value;
      }
      const isJson = String(response.headers['content-type']).includes('json;');
      return {
        status: response.statusCode,
        headers: response.headers,
        text: response.body,
        body: isJson ? response.json() : null,
      };
    },
    get: (path) => browser.ask('GET', path),
    post: (path, body) => browser.ask('POST', path, body === undefined ? {} : { body }),
    patch: (path, body) => browser.ask('PATCH', path, { body }),
    delete: (path) => browser.ask('DELETE', path),
    invoke: (orgId, name, body = {}) => browser.ask('POST', `/organizations/${orgId}/actions/${name}`, { body }),
  };
  return browser;
}

function cookiesOf({ cookie, device, attempt }: Browser): { cookie?: string } {
  const sent = [cookie, device, attempt].filter((value) => value !== null).join('; ');
  return sent === '' ? {} : { cookie: sent };
}

/** Somebody with a password. */
export async function givenPerson(
  w: World,
  options: { role?: Role; name?: string; orgId?: Id<'org'> } = {},
): Promise<{ userId: Id<'user'>; email: string; name: string }> {
  const { key: _key, ...person } = await w.given.user(options);
  await givePassword(w, person.userId);
  return person;
}

export async function givePassword(w: World, userId: Id<'user'>): Promise<void> {
  await storesOf(w.context.db.session()).people.savePasswordHash(userId, PASSWORD_HASH, w.clock.now());
}

/** A browser in which somebody is signed in. */
export async function signedIn(w: World, email: string, address?: string): Promise<Browser> {
  const browser = openBrowser(w, address);
  const answer = await browser.post('/session', { email, password: PASSWORD });
  if (answer.status !== 200) throw new Error(`${email} could not sign in: ${JSON.stringify(answer.body)}`);
  return browser;
}
