import { request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';

import { expect, test } from 'vitest';

import { givenPerson, signedIn } from '#test/kit/programs/browser.ts';
import { fileWorld } from '#test/kit/world.ts';

const ACTIONS = '/api/rest/actions';

const w = await fileWorld();
for (let index = 0; index < 12; index += 1) await w.expectOk('create_service', { name: `service ${index}` });
const port = Number(new URL(await w.app.listen({ port: 0, host: '127.0.0.1' })).port);

interface Received {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Buffer;
}

/** Asks over the wire, and takes the answer as it comes. */
async function receive(path: string, headers: Record<string, string>, body?: unknown): Promise<Received> {
  return await new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path, method: body === undefined ? 'GET' : 'POST', agent: false };
    const json = body === undefined ? {} : { 'content-type': 'application/json' };
    const asked = request({ ...options, headers: { ...json, ...headers } }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve({ headers: response.headers, bytes: Buffer.concat(chunks) }));
    });
    asked.on('error', reject);
    asked.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

const withKey = (encoding?: string): Record<string, string> => ({
  authorization: `Bearer ${w.orgKey}`,
  ...(encoding === undefined ? {} : { 'accept-encoding': encoding }),
});

test('a long answer is compressed for clients that accept it, and only for them', async () => {
  const plain = await receive(`${ACTIONS}/list_services`, withKey(), {});
  expect(plain.headers).not.toHaveProperty('content-encoding');
  const brotli = await receive(`${ACTIONS}/list_services`, withKey('gzip, deflate, br'), {});
  expect(brotli.headers).toMatchObject({ 'content-encoding': 'br', vary: 'accept-encoding' });
  expect(brotliDecompressSync(brotli.bytes)).toEqual(plain.bytes);
  const gzip = await receive(`${ACTIONS}/list_services`, withKey('gzip'), {});
  expect(gzip.headers['content-encoding']).toBe('gzip');
  expect(gunzipSync(gzip.bytes)).toEqual(plain.bytes);
  expect(plain.bytes.length).toBeGreaterThan(4 * Math.max(brotli.bytes.length, gzip.bytes.length));
  expect((await receive(`${ACTIONS}/list_teams`, withKey('br'), {})).headers).not.toHaveProperty('content-encoding');
  const document = await receive('/api/openapi.json', { 'accept-encoding': 'br' });
  expect(JSON.parse(brotliDecompressSync(document.bytes).toString())).toHaveProperty('openapi');
});

test('an answer that holds a secret is sent as it is, so that its length tells nothing of the secret', async () => {
  const environment = 'x'.repeat(4_000);
  const { serviceId } = await w.expectOk('create_service', { name: 'checkout', environment });
  const answer = await receive(`${ACTIONS}/get_service`, withKey('br'), { serviceId });
  expect(answer.headers).not.toHaveProperty('content-encoding');
  expect(answer.bytes.toString()).toContain('tocsin_ing_');
});

test('the console gets packed answers, and its stream of changes as they happen', async () => {
  const { email } = await givenPerson(w);
  const cookie = (await signedIn(w, email)).cookie ?? '';
  const origin = new URL(w.context.config.baseUrl).origin;
  const headers = { cookie, origin, 'accept-encoding': 'br, gzip' };
  const org = `/api/console/organizations/${w.orgId}`;
  expect((await receive(`${org}/actions/list_services`, headers, {})).headers['content-encoding']).toBe('br');
  const gone = new AbortController();
  const stream = await fetch(`http://127.0.0.1:${port}${org}/events`, { headers, signal: gone.signal });
  expect(stream.headers.get('content-encoding')).toBeNull();
  const first = await stream.body!.getReader().read();
  expect(new TextDecoder().decode(first.value)).toBe(': listening\n\n');
  gone.abort();
});
