import { onTestFinished } from 'vitest';

import { findFreePort } from '#infra/embedded/free_port.ts';
import type { Config } from '#entry/config.ts';
import type { Id } from '#kernel/ids.ts';
import type { Role } from '#kernel/permissions.ts';
import { givenPerson, PASSWORD } from '#test/kit/programs/browser.ts';
import { type World, world } from '#test/kit/world.ts';
import { type CookieJar, openJar } from '#test/auth/oauth/cookie_jar.ts';
import { closedByFile } from '#test/kit/used_in_turn.ts';

export interface ListeningWorld extends World {
  readonly baseUrl: string;
  readonly endpoint: URL;
  /** Somebody with a password, in a browser of their own in which they are signed in. */
  person(options?: { role?: Role; name?: string; orgId?: Id<'org'> }): Promise<Person>;
}

export interface Person {
  readonly userId: Id<'user'>;
  readonly email: string;
  readonly orgId: Id<'org'>;
  readonly jar: CookieJar;
  signIn(): Promise<void>;
  /** Asks the console, as its pages do. */
  ask(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; body: { result: any; detail?: string } }>; // eslint-disable-line typescript/no-explicit-any -- tests look into bodies of any shape
  /** Goes where an app sends them, as far as the page that asks; the id of the request. */
  open(authorizationUrl: URL | string): Promise<string>;
  /** Opens the page, approves, and returns where the app is called back. */
  approve(authorizationUrl: URL | string, answer?: { access?: string; orgId?: string }): Promise<URL>;
  /** Goes where the console says after an answer; where the app is called back. */
  follow(redirectTo: string): Promise<URL>;
}

/** `path` is where the product lives below its host. */
export async function listeningWorld(
  options: { keepOpen?: boolean; path?: string; settings?: Partial<Config> } = {},
): Promise<ListeningWorld> {
  const { path = '', settings, ...others } = options;
  const port = await findFreePort(0);
  const baseUrl = `http://127.0.0.1:${port}${path}`;
  const w = await world({ ...others, settings: { baseUrl, ...settings } });
  await w.app.listen({ port, host: '127.0.0.1' });
  return {
    ...w,
    baseUrl,
    endpoint: new URL(`${baseUrl}/api/mcp`),
    async person({ role = 'editor', orgId = w.orgId, name = 'Anna' } = {}) {
      const { userId, email } = await givenPerson(w, { role, name, orgId });
      const person = personOf(baseUrl, { userId, email, orgId });
      await person.signIn();
      return person;
    },
  };
}

/** Returns the world of all tests of a file, which awaits it at its top level. */
export const fileListeningWorld = (options: { settings?: Partial<Config> } = {}): Promise<ListeningWorld> =>
  closedByFile(listeningWorld({ ...options, keepOpen: true }));

/** A browser of somebody; of its own, unless one is given. */
export function personOf(
  baseUrl: string,
  who: Pick<Person, 'userId' | 'email' | 'orgId'>,
  jar: CookieJar = openJar(),
): Person {
  const origin = new URL(baseUrl).origin;
  const person: Person = {
    ...who,
    jar,
    async signIn() {
      const { status } = await person.ask('POST', '/session', { email: who.email, password: PASSWORD });
      if (status !== 200) throw new Error(`${who.email} could not sign in: ${status}`);
    },
    async ask(method, path, body) {
      const response = await jar.fetch(`${baseUrl}/api/console${path}`, {
        method,
        headers: { origin, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, body: (await response.json()) as never };
    },
    async open(authorizationUrl) {
      const response = await jar.fetch(authorizationUrl);
      const page = /\/connect\/([\w-]+)$/.exec(response.headers.get('location') ?? '');
      if (page === null) throw new Error(`no page asks: ${response.status} ${await response.text()}`);
      return page[1]!;
    },
    async approve(authorizationUrl, { access = 'changes', orgId = who.orgId } = {}) {
      const uid = await person.open(authorizationUrl);
      const { status, body } = await person.ask('POST', `/connect/${uid}`, { orgId, access });
      if (status !== 200) throw new Error(`the approval was answered ${status}: ${JSON.stringify(body)}`);
      return await person.follow(body.result.redirectTo);
    },
    async follow(redirectTo) {
      const response = await jar.fetch(redirectTo);
      const location = response.headers.get('location');
      if (location === null) throw new Error(`nobody is called back: ${response.status} ${await response.text()}`);
      return new URL(location);
    },
  };
  return person;
}

/** Closed with the test. */
export async function listeningWorldOfTest(
  options: { path?: string; settings?: Partial<Config> } = {},
): Promise<ListeningWorld> {
  const opened = await listeningWorld({ ...options, keepOpen: true });
  onTestFinished(opened.close);
  return opened;
}
