import { fork } from 'node:child_process';
import { once } from 'node:events';
import { get as httpGet } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';

import { describe, expect, test } from 'vitest';

import type { Phone } from '#phone_simulator/phone.ts';
import { ACCOUNT, ANNA, INCIDENT, OURS, ringing, start, TOKEN } from '#phone_simulator/test/product.ts';

describe('for other processes', () => {
  async function read(phone: Phone, what: string) {
    const response = await fetch(`${phone.url}/phone/api/${what}`);
    return (await response.json()) as object;
  }

  async function post(phone: Phone, what: string, body: object) {
    const headers = { 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    const response = await fetch(`${phone.url}/phone/api/${what}`, init);
    return { status: response.status, answer: (await response.json()) as object };
  }

  const forkPhone = (variables: Readonly<Record<string, string>> = {}) =>
    fork(path.join(import.meta.dirname, '../main.ts'), {
      execArgv: [],
      env: {
        ...process.env,
        PHONE_ACCOUNT_SID: ACCOUNT,
        PHONE_AUTH_TOKEN: TOKEN,
        PHONE_TOKEN: 'known-to-its-user',
        PHONE_NUMBER: OURS,
        PHONE_SMS_URL: 'http://127.0.0.1:9/sms',
        ...variables,
      },
    });

  test('the control API shows and does what the methods do', async () => {
    const { phone, product, client } = await start();
    product.answers.set('/voice', { body: INCIDENT });
    await client.calls.create({ to: ANNA, from: OURS, url: `${product.url}/voice` });
    const { sid: callSid } = await ringing(phone);
    expect(await post(phone, 'answer', { callSid, by: 'machine' })).toMatchObject({
      status: 200,
      answer: { status: 'in-progress', pickedUpBy: 'machine' },
    });
    expect(await post(phone, 'press', { callSid, keys: '1' })).toMatchObject({ answer: { status: 'completed' } });
    expect(await post(phone, 'press', { callSid, keys: '1' })).toMatchObject({ status: 409 });
    expect(await post(phone, 'answer', { callSid, by: 'dog' })).toMatchObject({ status: 400 });
    expect(await post(phone, 'reply', { from: ANNA, body: 'ACK 1' })).toMatchObject({
      answer: { direction: 'inbound' },
    });
    expect(await post(phone, 'faults', { kind: 'hang', when: 'never' })).toMatchObject({ status: 400 });
    expect(await post(phone, 'faults', { kind: 'no_report', times: 2 })).toMatchObject({
      answer: { faults: [{ kind: 'no_report', times: 2 }] },
    });
    const number = encodeURIComponent(ANNA);
    expect(await read(phone, `messages?number=${number}`)).toMatchObject({ messages: [{ body: 'ACK 1' }] });
    expect(await read(phone, 'calls?after=100000')).toMatchObject({ calls: [] });
    expect(await read(phone, 'numbers')).toMatchObject({
      phones: [{ number: ANNA, messages: 1, calls: 1, hasLiveCall: false }],
    });
  });

  test('another site cannot use it through the browser', async () => {
    const { phone } = await start();
    const statusFor = (headers: Record<string, string>) =>
      new Promise<number | undefined>((resolve) => {
        httpGet(`${phone.url}/phone/api/numbers`, { headers }, (response) => {
          response.resume();
          resolve(response.statusCode);
        });
      });
    expect(await statusFor({ host: 'localhost:4040', origin: 'http://localhost:4040' })).toBe(200);
    expect(await statusFor({ origin: 'https://example.com' })).toBe(403);
    expect(await statusFor({ origin: 'null' })).toBe(403);
    expect(await statusFor({ host: 'phone.example.com' })).toBe(403);
  });

  test('the web page shows what was sent, escaped, under a policy without inline script', async () => {
    const { phone, client } = await start();
    await client.messages.create({
      to: ANNA,
      from: OURS,
      body: '<script>alert(1)</script> https://tocsin.example/i/1?a=1&b=2',
    });
    const response = await fetch(`${phone.url}/?number=${encodeURIComponent(ANNA)}`);
    const page = await response.text();
    expect(response.headers.get('content-security-policy')).toContain("script-src 'self'");
    expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(page).toContain('href="https://tocsin.example/i/1?a=1&amp;b=2"');
    expect(page).toContain(`href="./?number=${encodeURIComponent(ANNA)}"`);
  });

  test('as a process it tells its address and ends on SIGTERM or when its parent is gone', async () => {
    for (const stop of ['SIGTERM', 'disconnect'] as const) {
      const child = forkPhone();
      const ended = once(child, 'exit');
      const [ready] = (await once(child, 'message')) as [{ ready: boolean; url: string }];
      expect(ready).toMatchObject({ ready: true, url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) });
      expect((await fetch(ready.url)).status).toBe(404);
      expect((await fetch(`${ready.url}/phone/api/messages`)).status).toBe(404);
      expect((await fetch(`${ready.url}/known-to-its-user`)).status).toBe(200);
      expect((await fetch(`${ready.url}/known-to-its-user/phone/api/messages`)).status).toBe(200);
      if (stop === 'SIGTERM') child.kill(stop);
      else child.disconnect();
      expect(await ended).toEqual([0, null]);
    }
  });

  test('as a process without a port it answers the connections that its parent hands it', async () => {
    const child = forkPhone({ PHONE_PORT: 'none' });
    expect(await once(child, 'message')).toMatchObject({ 0: { ready: true } });
    const server = createServer({ pauseOnConnect: true }, (connection) => void child.send({}, connection));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const pages = await Promise.all([1, 2].map(async () => await fetch(`http://127.0.0.1:${port}/known-to-its-user`)));
    expect(pages.map(({ status }) => status)).toEqual([200, 200]);
    server.close();
    child.kill();
    expect(await once(child, 'exit')).toEqual([0, null]);
  });
});
