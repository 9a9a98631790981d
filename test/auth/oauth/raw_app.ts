import { createHash, randomBytes } from 'node:crypto';

import type { Person, ListeningWorld } from '#test/auth/oauth/listening_world.ts';
import type { Answer } from '#test/kit/world.ts';

export const REDIRECT = 'http://127.0.0.1:4711/callback';

export interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly scope: string;
  readonly expires_in: number;
  readonly token_type: string;
}

/** An app that speaks OAuth by hand, so that it can also speak it badly. */
export interface RawApp {
  readonly clientId: string;
  readonly verifier: string;
  authorizationUrl(changed?: Readonly<Record<string, string | null>>): URL;
  token(parameters: Readonly<Record<string, string>>): Promise<Answer>;
  redeem(code: string, changed?: Readonly<Record<string, string>>): Promise<Answer>;
  refresh(refreshToken: string, changed?: Readonly<Record<string, string>>): Promise<Answer>;
  revoke(token: string): Promise<Answer>;
}

export async function register(s: ListeningWorld, metadata: object = {}): Promise<Answer> {
  return await post(
    `${s.baseUrl}/oauth/register`,
    'application/json',
    JSON.stringify({ client_name: 'Ada', redirect_uris: [REDIRECT], ...metadata }),
  );
}

export async function rawApp(s: ListeningWorld, metadata: object = {}): Promise<RawApp> {
  const registered = await register(s, metadata);
  if (registered.status !== 201) throw new Error(JSON.stringify(registered.body));
  return appOf(s, registered.body.client_id);
}

export function appOf(s: ListeningWorld, clientId: string): RawApp {
  const verifier = randomBytes(32).toString('base64url');
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  const send = (path: string, parameters: Readonly<Record<string, string>>) =>
    post(
      s.baseUrl + path,
      'application/x-www-form-urlencoded',
      new URLSearchParams({ client_id: clientId, ...parameters }).toString(),
    );
  return {
    clientId,
    verifier,
    authorizationUrl(changed = {}) {
      const url = new URL(`${s.baseUrl}/oauth/authorize`);
      const parameters = {
        response_type: 'code',
        client_id: clientId,
        redirect_uri: REDIRECT,
        code_challenge: challenge,
        code_challenge_method: 'S256',
        scope: 'mcp:read mcp:write',
        state: 'a state',
        resource: s.endpoint.href,
        ...changed,
      };
      for (const [name, value] of Object.entries(parameters)) if (value !== null) url.searchParams.set(name, value);
      return url;
    },
    token: (parameters) => send('/oauth/token', parameters),
    redeem: (code, changed) =>
      send('/oauth/token', {
        grant_type: 'authorization_code',
        code,
        redirect_uri: REDIRECT,
        code_verifier: verifier,
        ...changed,
      }),
    refresh: (refreshToken, changed) =>
      send('/oauth/token', { grant_type: 'refresh_token', refresh_token: refreshToken, ...changed }),
    revoke: (token) => send('/oauth/revoke', { token }),
  };
}

async function post(url: string, contentType: string, body: string): Promise<Answer> {
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': contentType }, body });
  const text = await response.text();
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: text === '' ? null : JSON.parse(text),
  };
}

/** The code that an approval leads to. */
export async function codeFor(
  app: RawApp,
  person: Person,
  answer: { access?: string; orgId?: string } = {},
  changed: Readonly<Record<string, string | null>> = {},
): Promise<string> {
  const called = await person.approve(app.authorizationUrl(changed), answer);
  const code = called.searchParams.get('code');
  if (code === null) throw new Error(called.href);
  return code;
}

export async function connected(
  s: ListeningWorld,
  person: Person,
  answer: { access?: string; orgId?: string } = {},
): Promise<{ app: RawApp; tokens: Tokens; connectionId: string }> {
  const app = await rawApp(s);
  const { status, body } = await app.redeem(await codeFor(app, person, answer));
  if (status !== 200) throw new Error(JSON.stringify(body));
  const newest = await s.context.db.sql.row<{ id: string }>(
    'select id from connections where client_id = $1 order by id desc limit 1',
    [app.clientId],
  );
  return { app, tokens: body, connectionId: newest!.id };
}
