import { createHmac, createPublicKey, createSign, generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Agent, request as requestOverTls } from 'node:https';

import { type JWK, Provider } from 'oidc-provider';

import { serveOverTls } from '#test/auth/oauth/document_host.ts';
import { atEndOfFile } from '#test/kit/at_end_of_file.ts';

/** Claims of an account at the provider; `sub` names it. */
export type Account = Readonly<Record<string, unknown>> & { readonly sub: string };

/** Header and claims of an ID token. */
export interface Token {
  header: Record<string, unknown>;
  claims: Record<string, unknown>;
}

type Answering = (request: IncomingMessage, response: ServerResponse) => void;

/** A real provider over https, in this process, whose answers a test may change on their way. */
export interface TestProvider {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The private key that signs, and its public part as PEM. */
  readonly key: KeyObject;
  readonly publicPem: string;
  /** Paths that were asked for, oldest first. */
  readonly asked: string[];
  /** Account of the person at the provider's pages. */
  account: Account;
  /** Forgets what a test has changed. */
  reset(): void;
  replace(path: string, answering: Answering): void;
  change(path: string, change: (body: Record<string, unknown>) => Record<string, unknown>): void;
  /** Changes the ID tokens, which are signed anew; what is returned as a text is sent as it is. */
  changeToken(change: (token: Token) => Token | string): void;
  sign(token: Token, options?: SignOptions): string;
  /** Goes where the product sends the browser, signs in, and returns where the provider sends it back to. */
  visit(authorizationUrl: string, cookies?: Map<string, string>): Promise<URL>;
  /** Goes there, confirms that the person signs out, and returns where the provider sends it back to. */
  signOut(address: string, cookies: Map<string, string>): Promise<URL>;
}

interface SignOptions {
  readonly key?: KeyObject;
  readonly secret?: string;
}

const ANNA: Account = { sub: 'anna', email: 'anna@acme.example', email_verified: true, name: 'Anna Acme' };
const CLIENT_SECRET = 'a secret of the client that is long enough for every algorithm';

const base64url = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

export const newKey = (): KeyObject => generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey;

let ownKey: KeyObject | null = null;

const jwkOf = (key: KeyObject, kid: string): JWK => {
  return { ...(key.export({ format: 'jwk' }) as JWK), kid, use: 'sig', alg: 'RS256' };
};

/** Returns the public part of a key, as providers publish it. */
export const publicJwkOf = (key: KeyObject, kid: string): JWK => jwkOf(createPublicKey(key), kid);

interface ProviderOptions {
  readonly claimsIn?: 'id_token' | 'userinfo';
  readonly clientId?: string;
  /** Address of the client to which logouts are reported, and what takes the reports. */
  readonly logoutUri?: string;
  readonly report?: (address: string, body: string) => Promise<number>;
  /** Addresses that its client registered for people who signed out. */
  readonly signOutUris?: readonly string[];
  /** Whether the file closes it, and not the test. */
  readonly keepOpen?: boolean;
}

/** `redirectUris` are those that its client registered. */
export async function openTestProvider(
  redirectUris: readonly string[],
  {
    claimsIn = 'id_token',
    clientId = 'tocsin',
    signOutUris = [],
    logoutUri,
    report,
    keepOpen = false,
  }: ProviderOptions = {},
): Promise<TestProvider> {
  const key = (ownKey ??= newKey());
  const replaced = new Map<string, Answering>();
  const changed = new Map<string, (body: Record<string, unknown>) => Record<string, unknown>>();
  const asked: string[] = [];
  let handle: Answering = (_request, response) => void response.writeHead(503).end();
  const issuer = await serveOverTls(
    (request, response) => {
      const path = (request.url ?? '').split('?')[0] ?? '';
      asked.push(path);
      const answering = replaced.get(path);
      if (answering !== undefined) return answering(request, response);
      const change = changed.get(path);
      if (change !== undefined) changeJson(response, change);
      handle(request, response);
    },
    keepOpen ? atEndOfFile : undefined,
  );

  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: clientId,
        client_secret: CLIENT_SECRET,
        redirect_uris: [...redirectUris],
        post_logout_redirect_uris: [...signOutUris],
        ...(logoutUri !== undefined && { backchannel_logout_uri: logoutUri }),
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
    ],
    jwks: { keys: [jwkOf(key, 'first')] },
    scopes: ['openid', 'email', 'profile'],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups', 'amr', 'azp'] },
    conformIdTokenClaims: claimsIn === 'userinfo',
    pkce: { required: () => true },
    cookies: { keys: ['a key of a provider in tests'] },
    features: { devInteractions: { enabled: false }, backchannelLogout: { enabled: logoutUri !== undefined } },
    fetch: async (url, init) => {
      const status = await (report?.(new Request(url).url, await new Response(init?.body).text()) ??
        Promise.resolve(503));
      return new Response(null, { status });
    },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    findAccount: (_context, id) => ({ accountId: id, claims: () => ({ ...test.account, sub: id }) }),
  });
  const callback = provider.callback();
  handle = (request, response) => {
    if (request.url?.startsWith('/interaction/') === true) void finish(provider, request, response);
    else void callback(request, response);
  };
  const finish = async (of: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { params } = await of.interactionDetails(request, response);
    const grant = new of.Grant({ accountId: test.account.sub, clientId: String(params['client_id']) });
    grant.addOIDCScope('openid email profile');
    const consent = { grantId: await grant.save() };
    await of.interactionFinished(request, response, { login: { accountId: test.account.sub }, consent });
  };

  const test: TestProvider = {
    issuer,
    clientId,
    clientSecret: CLIENT_SECRET,
    key,
    publicPem: createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString(),
    asked,
    account: ANNA,
    reset() {
      replaced.clear();
      changed.clear();
      asked.length = 0;
      test.account = ANNA;
    },
    replace: (path, answering) => void replaced.set(path, answering),
    change: (path, change) => void changed.set(path, change),
    changeToken(change) {
      test.change('/token', (body) => {
        if (typeof body['id_token'] !== 'string') return body;
        const [header = '', claims = ''] = body['id_token'].split('.');
        const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>;
        const token = change({ header: read(header), claims: read(claims) });
        return { ...body, id_token: typeof token === 'string' ? token : test.sign(token) };
      });
    },
    sign({ header, claims }, { key: other = key, secret } = {}) {
      const input = `${base64url(header)}.${base64url(claims)}`;
      if (secret !== undefined) return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
      return `${input}.${createSign('RSA-SHA256').update(input).sign(other, 'base64url')}`;
    },
    async visit(authorizationUrl, cookies = new Map()) {
      let next = new URL(authorizationUrl);
      for (let hops = 0; hops < 10 && next.origin === issuer; hops += 1) {
        const { status, location, body } = await ask(next, cookies);
        if (location === undefined) throw new Error(`the provider answered ${status}: ${body.slice(0, 500)}`);
        next = new URL(location, next);
      }
      return next;
    },
    async signOut(address, cookies) {
      const { status, body } = await ask(new URL(address), cookies);
      const [, action, xsrf] = /action="([^"]+)".*name="xsrf" value="(\w+)"/s.exec(body) ?? [];
      if (action === undefined) throw new Error(`the provider answered ${status}: ${body.slice(0, 500)}`);
      const { location } = await ask(new URL(action), cookies, `xsrf=${xsrf}&logout=yes`);
      return new URL(location ?? '', issuer);
    },
  };
  return test;
}

/** Changes a JSON answer before it leaves. */
function changeJson(
  response: ServerResponse,
  change: (body: Record<string, unknown>) => Record<string, unknown>,
): void {
  const end = response.end.bind(response);
  response.end = ((body: unknown) => {
    const text = String(body);
    const isJson = String(response.getHeader('content-type')).includes('json') && response.statusCode === 200;
    const sent = isJson ? JSON.stringify(change(JSON.parse(text) as Record<string, unknown>)) : text;
    response.setHeader('content-length', Buffer.byteLength(sent));
    return end(sent);
  }) as typeof response.end;
}

interface Got {
  readonly status: number;
  readonly location: string | undefined;
  readonly body: string;
}

const agent = new Agent({ keepAlive: false });

/** Asks as a browser with these cookies does, and keeps those of the answer; with a form, it is posted. */
async function ask(url: URL, cookies: Map<string, string>, form?: string): Promise<Got> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const headers = { cookie, ...(form !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }) };
  const method = form === undefined ? 'GET' : 'POST';
  requestOverTls(url, { agent, method, headers }, resolve).on('error', reject).end(form);
  const answer = await promise;
  let body = '';
  for await (const chunk of answer as AsyncIterable<Buffer>) body += chunk.toString();
  for (const text of answer.headers['set-cookie'] ?? []) {
    const [pair = ''] = text.split(';');
    const at = pair.indexOf('=');
    cookies.set(pair.slice(0, at), pair.slice(at + 1));
  }
  return { status: answer.statusCode ?? 500, location: answer.headers.location, body };
}
