import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer, get as httpGet, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import twilio from 'twilio';
import { afterEach, describe, expect, test, vi } from 'vitest';

import { spokenText } from '#infra/embedded/phone/call.ts';
import { startPhone, type Phone, type PhoneOptions } from '#infra/embedded/phone/phone.ts';

const ACCOUNT = 'AC00000000000000000000000000000001';
const TOKEN = 'a-token-of-the-test';
const OURS = '+15005550006';
const ANNA = '+31612345678';
const BRAM = '+31687654321';

interface Received {
  readonly path: string;
  readonly method: string;
  readonly params: Readonly<Record<string, string>>;
  readonly isSigned: boolean;
}

/** The product's side: keeps what arrives, checks each signature with Twilio's library, answers from a table. */
async function startReceiver() {
  const received: Received[] = [];
  const answers = new Map<string, { body: string; status?: number; type?: string }>();
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const params = Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString()));
      const signature = String(request.headers['x-twilio-signature']);
      const address = url + String(request.url);
      received.push({
        path: String(request.url),
        method: String(request.method),
        params,
        isSigned: twilio.validateRequest(TOKEN, signature, address, params),
      });
      const path = String(request.url).split('?', 1)[0]!;
      const answer = answers.get(`${path} ${params['Digits'] ?? ''}`.trim()) ?? answers.get(path);
      response.writeHead(answer?.status ?? 200, { 'content-type': answer?.type ?? 'text/xml' });
      response.end(answer?.body ?? '');
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const statuses = (key = 'MessageStatus') =>
    received.filter((request) => request.path === '/status').map((request) => request.params[key]);
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url, received, answers, statuses, close };
}

const open: { close(): Promise<void> }[] = [];

async function start(options: Partial<PhoneOptions> = {}) {
  const product = await startReceiver();
  const clock = { ms: Date.parse('2026-11-21T12:00:00Z') };
  const phone = await startPhone({
    accountSid: ACCOUNT,
    authToken: TOKEN,
    numbers: [{ e164: OURS, smsUrl: `${product.url}/sms`, voiceUrl: `${product.url}/inbound` }],
    now: () => clock.ms,
    ...options,
  });
  open.push(phone, product);
  const clientOf = (token = TOKEN, timeout = 5_000) => {
    const client = twilio(ACCOUNT, token, { timeout });
    client.api.baseUrl = phone.url;
    return client;
  };
  const advance = (ms: number) => {
    clock.ms += ms;
    return phone.elapse();
  };
  return { phone, product, client: clientOf(), clientOf, advance, statusCallback: `${product.url}/status` };
}

afterEach(async () => {
  for (const { close } of open.splice(0)) await close();
});

/** What the promise was rejected with. */
async function refusal(work: Promise<unknown>): Promise<Record<string, unknown>> {
  return work.then(
    () => expect.fail('expected a refusal'),
    (error: unknown) => error as Record<string, unknown>,
  );
}

const twiml = (inner: string) => `<?xml version="1.0" encoding="UTF-8"?><Response>${inner}</Response>`;

const INCIDENT = twiml(
  '<Gather action="/digits?incident=1" numDigits="1" timeout="10"><Say>CPU is above 90 &amp; rising.</Say></Gather>' +
    '<Say>Goodbye.</Say>',
);

async function ringing(phone: Phone) {
  return phone.waitForCall({ status: 'ringing' });
}

describe('messages', () => {
  test('a message is reported sending, sent, delivered, each report validly signed', async () => {
    const { phone, product, client, statusCallback } = await start();
    const created = await client.messages.create({
      to: ANNA,
      from: OURS,
      body: 'CPU is high',
      statusCallback: `${statusCallback}?page=page_1`,
      validityPeriod: 900,
    });
    expect(created).toMatchObject({ status: 'queued', direction: 'outbound-api', numSegments: '1', errorCode: null });
    expect(created.sid).toMatch(/^SM[0-9a-f]{32}$/);
    await phone.settled();
    expect(
      product.received.map((request) => [request.path, request.params['MessageStatus'], request.isSigned]),
    ).toEqual([
      ['/status?page=page_1', 'sending', true],
      ['/status?page=page_1', 'sent', true],
      ['/status?page=page_1', 'delivered', true],
    ]);
    expect(product.received[0]?.params).toMatchObject({
      MessageSid: created.sid,
      AccountSid: ACCOUNT,
      To: ANNA,
      From: OURS,
    });
    expect(await client.messages(created.sid).fetch()).toMatchObject({ status: 'delivered', body: 'CPU is high' });
    expect(phone.requests[0]).toMatchObject({ method: 'POST', status: 201, form: { ValidityPeriod: '900' } });
  });

  test('segments are counted in GSM characters, or in UCS-2 as soon as one is outside', async () => {
    const { client } = await start();
    const send = async (body: string) => (await client.messages.create({ to: ANNA, from: OURS, body })).numSegments;
    expect(await send('a'.repeat(160))).toBe('1');
    expect(await send(`${'a'.repeat(159)}€`)).toBe('2');
    expect(await send('é'.repeat(161))).toBe('2');
    expect(await send(`${'a'.repeat(69)}“`)).toBe('1');
    expect(await send(`${'a'.repeat(70)}“`)).toBe('2');
  });

  test('a list is filtered by number and time and read page by page', async () => {
    const { phone, client, advance } = await start();
    for (const body of ['one', 'two', 'three']) {
      await client.messages.create({ to: ANNA, from: OURS, body });
      await phone.settled();
      await advance(60_000);
    }
    await client.messages.create({ to: BRAM, from: OURS, body: 'four' });
    const bodies = (found: { body: string }[]) => found.map((message) => message.body);
    expect(bodies(await client.messages.list({ to: ANNA, pageSize: 2 }))).toEqual(['three', 'two', 'one']);
    expect(bodies(await client.messages.list({ limit: 1 }))).toEqual(['four']);
    const since = new Date('2026-11-21T12:01:00.900Z');
    expect(bodies(await client.messages.list({ to: ANNA, from: OURS, dateSentAfter: since }))).toEqual([
      'three',
      'two',
    ]);
    expect(bodies(await client.messages.list({ dateSentBefore: new Date('2026-11-21T12:00:00Z') }))).toEqual(['one']);
    expect(await client.messages.list({ from: BRAM })).toEqual([]);
  });
});

describe('refusals', () => {
  test.each([
    ['a number that is none', { to: '0612345678' }, 21211],
    ['a sender that is not ours', { from: '+15005550001' }, 21606],
    ['no sender', { from: undefined }, 21603],
    ['no text', { body: '' }, 21602],
    ['a text that is too long', { body: 'x'.repeat(1_601) }, 21617],
    ['a call-back that is no address', { statusCallback: 'tocsin/status' }, 21609],
    ['a field of the wrong type', { validityPeriod: 1.5 }, 20400],
    ['a field out of its range', { validityPeriod: 36_001 }, 20400],
    ['a value that is not in the list', { riskCheck: 'perhaps' }, 20400],
    ['a field that Twilio does not describe', { messageIntent: 'alert' }, 20001],
  ] as const)('a message with %s is refused as Twilio refuses', async (_what, wrong, code) => {
    const { phone, client } = await start();
    const parameters = { to: ANNA, from: OURS, body: 'x', ...wrong } as Parameters<typeof client.messages.create>[0];
    expect(await refusal(client.messages.create(parameters))).toMatchObject({
      status: 400,
      code,
      moreInfo: `https://www.twilio.com/docs/errors/${code}`,
    });
    expect(phone.messages).toEqual([]);
  });

  test.each([
    ['no document', {}, 21205],
    ['an unknown event', { twiml: INCIDENT, statusCallbackEvent: ['answred'] }, 21626],
    ['a sender that is not ours', { twiml: INCIDENT, from: BRAM }, 21210],
    ['an unknown way of machine detection', { twiml: INCIDENT, machineDetection: 'On' }, 20400],
  ])('a call with %s is refused as Twilio refuses', async (_what, wrong, code) => {
    const { client } = await start();
    const parameters = { to: ANNA, from: OURS, ...wrong } as Parameters<typeof client.calls.create>[0];
    expect(await refusal(client.calls.create(parameters))).toMatchObject({ status: 400, code });
  });

  test('a wrong token is 401, an unknown message 404', async () => {
    const { client, clientOf } = await start();
    const stranger = clientOf('wrong').messages.create({ to: ANNA, from: OURS, body: 'x' });
    expect(await refusal(stranger)).toMatchObject({ status: 401, code: 20003 });
    expect(await refusal(client.messages('SM00').fetch())).toMatchObject({ status: 404, code: 20404 });
    expect(await refusal(client.messages('SM00').remove())).toMatchObject({ status: 404, code: 20404 });
    expect(await client.api.v2010.accounts(ACCOUNT).fetch()).toMatchObject({ status: 'active' });
  });

  test('the library throws three shapes of errors', async () => {
    const { phone, client, clientOf } = await start();
    const send = (by = client) => refusal(by.messages.create({ to: ANNA, from: OURS, body: 'x' }));

    phone.addFault({ kind: 'http_error', status: 429, code: 20429, retryAfterSeconds: 2, times: 1 });
    expect(await send()).toMatchObject({ status: 429, code: 20429, message: 'Too Many Requests' });

    phone.addFault({ kind: 'http_error', status: 503, times: 1 });
    const withoutCode = await send();
    expect(withoutCode['status']).toBe(503);
    expect(withoutCode['code']).toBeUndefined();

    phone.addFault({ kind: 'hang', when: 'before', times: 1 });
    expect(await send(clientOf(TOKEN, 50))).toMatchObject({ code: 'ECONNABORTED' });
    expect(phone.messages).toEqual([]);

    phone.addFault({ kind: 'hang', when: 'after', times: 1 });
    expect(await send(clientOf(TOKEN, 50))).toMatchObject({ code: 'ECONNABORTED' });
    expect(phone.messages).toHaveLength(1);

    phone.addFault({ kind: 'drop', when: 'after', times: 1 });
    expect(await send()).toMatchObject({ code: 'ECONNRESET' });
    expect(phone.messages).toHaveLength(2);
    expect(phone.requests.map((request) => request.status)).toEqual([429, 503, null, null, null]);
  });
});

describe('calls', () => {
  test('a call rings, speaks, gathers a digit and follows the answer', async () => {
    const { phone, product, client, statusCallback } = await start();
    product.answers.set('/voice', { body: INCIDENT });
    product.answers.set('/digits 1', { body: twiml('<Say>Acknowledged.</Say><Hangup/>') });
    const created = await client.calls.create({
      to: ANNA,
      from: OURS,
      url: `${product.url}/voice?call=1`,
      timeout: 25,
      statusCallback,
      statusCallbackEvent: ['initiated', 'ringing', 'answered', 'completed'],
    });
    expect(created).toMatchObject({ status: 'queued', duration: null });
    const call = await ringing(phone);
    await phone.answer(call);
    expect(call).toMatchObject({ status: 'in-progress', isListening: true, answeredBy: null });
    expect(spokenText(call)).toBe('CPU is above 90 & rising.');
    await phone.press(call, '1');
    await phone.settled();
    expect(call).toMatchObject({ status: 'completed', isListening: false, problem: null });
    expect(call.transcript.map((line) => [line.by, line.text])).toEqual([
      ['caller', 'CPU is above 90 & rising.'],
      ['person', '1'],
      ['caller', 'Acknowledged.'],
    ]);
    expect(product.statuses('CallStatus')).toEqual(['initiated', 'ringing', 'in-progress', 'completed']);
    expect(product.statuses('SequenceNumber')).toEqual(['0', '1', '2', '3']);
    expect(product.received.find((request) => request.path === '/digits?incident=1')).toMatchObject({
      isSigned: true,
      params: { Digits: '1', CallSid: created.sid, To: ANNA },
    });
    expect(product.received.every((request) => request.isSigned)).toBe(true);
    expect(await client.calls(created.sid).fetch()).toMatchObject({ status: 'completed', to: ANNA });
    expect(await client.calls.list({ to: ANNA, status: 'completed' })).toHaveLength(1);
  });

  test('only the end is reported when no events were asked for, and a document may come inline', async () => {
    const { phone, product, client, statusCallback } = await start();
    await client.calls.create({ to: ANNA, from: OURS, twiml: twiml('<Say>Hello</Say>'), statusCallback });
    const call = await phone.answer(await ringing(phone));
    await phone.settled();
    expect(spokenText(call)).toBe('Hello');
    expect(product.statuses('CallStatus')).toEqual(['completed']);
  });

  test('silence lets the document go on, or asks its action when it wants to know', async () => {
    const { phone, product, client, advance } = await start();
    product.answers.set('/voice', { body: INCIDENT });
    await client.calls.create({ to: ANNA, from: OURS, url: `${product.url}/voice` });
    const first = await phone.answer(await ringing(phone));
    await advance(11_000);
    expect(first.status).toBe('in-progress');
    await advance(1_000);
    expect(first).toMatchObject({ status: 'completed' });
    expect(spokenText(first)).toContain('Goodbye.');

    product.answers.set('/voice', { body: INCIDENT.replace('numDigits', 'actionOnEmptyResult="true" numDigits') });
    product.answers.set('/digits', { body: twiml('<Redirect>/voice</Redirect>') });
    await client.calls.create({ to: ANNA, from: OURS, url: `${product.url}/voice` });
    const second = await phone.answer(await ringing(phone));
    await phone.staySilent(second);
    expect(second).toMatchObject({ status: 'in-progress', isListening: true });
    expect(product.received.at(-2)?.params).toMatchObject({ Digits: '' });
    await phone.hangUp(second);
    expect(second.status).toBe('completed');
  });

  test('several keys are taken until the finish key or the number of digits', async () => {
    const { phone, product, client } = await start();
    const document = twiml('<Gather action="/digits" numDigits="4"/>');
    product.answers.set('/digits', { body: twiml('<Say>Thanks</Say>') });
    for (const [keys, digits] of [
      ['12#', '12'],
      ['123456', '1234'],
    ] as const) {
      await client.calls.create({ to: ANNA, from: OURS, twiml: document.replace('/digits', `${product.url}/digits`) });
      await phone.press(await phone.answer(await ringing(phone)), keys);
      expect(product.received.at(-1)?.params['Digits']).toBe(digits);
    }
  });

  test('an answering machine is told apart only when the call asks for it', async () => {
    const { phone, product, client, statusCallback } = await start();
    product.answers.set('/voice', { body: INCIDENT });
    const common = { to: ANNA, from: OURS, url: `${product.url}/voice`, statusCallback };
    const picksUp = async (options: object) => {
      await client.calls.create({ ...common, ...options });
      const call = await phone.answer(await ringing(phone), 'machine');
      await phone.hangUp(call);
      await phone.settled();
      return product.received.slice(-2).map((request) => request.params['AnsweredBy']);
    };
    expect(await picksUp({})).toEqual([undefined, undefined]);
    expect(await picksUp({ machineDetection: 'Enable' })).toEqual(['machine_start', 'machine_start']);
    expect(await picksUp({ machineDetection: 'DetectMessageEnd' })).toEqual(['machine_end_beep', 'machine_end_beep']);

    await client.calls.create({
      ...common,
      machineDetection: 'Enable',
      asyncAmd: 'true',
      asyncAmdStatusCallback: `${product.url}/machine`,
    });
    await phone.answer(await ringing(phone), 'machine');
    await phone.settled();
    expect(product.received.find((request) => request.path === '/machine')).toMatchObject({
      isSigned: true,
      params: { AnsweredBy: 'machine_start' },
    });
  });

  test('a call nobody answers ends when its time-out is over; a person may also reject it', async () => {
    const { phone, product, client, advance, statusCallback } = await start();
    const place = async () => {
      await client.calls.create({ to: ANNA, from: OURS, twiml: INCIDENT, timeout: 25, statusCallback });
      return ringing(phone);
    };
    const unanswered = await place();
    await advance(24_999);
    expect(unanswered.status).toBe('ringing');
    await advance(1);
    expect(unanswered.status).toBe('no-answer');
    await phone.reject(await place());
    await phone.letRing(await place());
    phone.addFault({ kind: 'call_ends', as: 'failed', number: ANNA, times: 1 });
    await client.calls.create({ to: ANNA, from: OURS, twiml: INCIDENT, statusCallback });
    await phone.settled();
    expect(product.statuses('CallStatus')).toEqual(['no-answer', 'busy', 'no-answer', 'failed']);
    await expect(phone.answer(unanswered)).rejects.toThrow('is no-answer, not ringing');
  });

  test('the product may cancel, redirect and complete a call', async () => {
    const { phone, product, client } = await start();
    const place = async () => {
      const { sid } = await client.calls.create({ to: ANNA, from: OURS, twiml: INCIDENT });
      return { call: await ringing(phone), context: client.calls(sid) };
    };
    const cancelled = await place();
    expect(await refusal(cancelled.context.update({ twiml: INCIDENT }))).toMatchObject({ status: 400, code: 21220 });
    expect(await cancelled.context.update({ status: 'canceled' })).toMatchObject({ status: 'canceled' });
    expect(await refusal(cancelled.context.update({ status: 'completed' }))).toMatchObject({ code: 21220 });

    const running = await place();
    await phone.answer(running.call);
    product.answers.set('/other', { body: twiml('<Say>Bram took it.</Say><Pause length="60"/><Gather/>') });
    await running.context.update({ url: `${product.url}/other` });
    await phone.settled();
    expect(spokenText(running.call)).toContain('Bram took it.');
    await running.context.update({ status: 'completed' });
    expect(running.call.status).toBe('completed');
  });

  test.each([
    ['an error page', { body: 'oops', status: 500 }, '11200 HTTP 500'],
    ['no XML', { body: '<Response>' }, '12100'],
    ['another root', { body: '<Answer/>' }, '12102'],
    ['JSON', { body: '{}', type: 'application/json' }, '12300'],
    ['a redirect to itself without end', { body: twiml('<Redirect>/voice</Redirect>') }, 'more than 100 documents'],
  ])('a document that is %s ends the call with an apology', async (_what, answer, problem) => {
    const { phone, product, client } = await start();
    product.answers.set('/voice', answer);
    await client.calls.create({ to: ANNA, from: OURS, url: `${product.url}/voice` });
    const call = await phone.answer(await ringing(phone));
    expect(call.status).toBe('completed');
    expect(call.problem).toContain(problem);
    expect(spokenText(call)).toContain('application error');
  });

  test('a person can call the product', async () => {
    const { phone, product } = await start();
    product.answers.set('/inbound', { body: twiml('<Say>No open incidents.</Say>') });
    const call = await phone.dial(ANNA);
    expect(call).toMatchObject({ direction: 'inbound', from: ANNA, to: OURS, status: 'completed' });
    expect(product.received[0]).toMatchObject({ isSigned: true, params: { From: ANNA, Direction: 'inbound' } });
  });
});

describe('replies', () => {
  test('a reply reaches the product signed, and its answer comes back as a message', async () => {
    const { phone, product, client } = await start();
    await client.messages.create({ to: ANNA, from: OURS, body: 'CPU is high, reply ACK 1234' });
    product.answers.set('/sms', { body: twiml('<Message>Acknowledged &lt;CPU&gt;</Message>') });
    const sent = await phone.reply({ from: ANNA, body: 'ACK 1234 ✓' });
    expect(product.received[0]).toMatchObject({
      isSigned: true,
      path: '/sms',
      params: { Body: 'ACK 1234 ✓', From: ANNA, To: OURS, MessageSid: sent.sid, SmsStatus: 'received' },
    });
    const answer = await phone.waitForMessage({ to: ANNA, after: sent, matching: /acknowledged/i });
    expect(answer).toMatchObject({ body: 'Acknowledged <CPU>', direction: 'outbound-reply' });
  });

  test('after STOP a message is refused with 21610 until START', async () => {
    const { phone, product, client } = await start();
    const send = (to: string) => client.messages.create({ to, from: OURS, body: 'x' });
    await phone.reply({ from: ANNA, body: ' stop ' });
    await phone.waitForMessage({ to: ANNA, matching: 'successfully been unsubscribed' });
    expect(product.received).toHaveLength(1);
    expect(phone.isOptedOut(ANNA)).toBe(true);
    expect(await refusal(send(ANNA))).toMatchObject({ status: 400, code: 21610 });
    await send(BRAM);
    await phone.reply({ from: ANNA, body: 'START' });
    expect(await send(ANNA)).toMatchObject({ status: 'queued' });
  });
});

describe('faults', () => {
  test('a message may fail, stay undelivered, or never be reported', async () => {
    const { phone, product, client, statusCallback } = await start();
    const travel = async () => {
      const { sid } = await client.messages.create({ to: ANNA, from: OURS, body: 'x', statusCallback });
      await phone.settled();
      const seen = product.received.splice(0).map((request) => request.params['MessageStatus']);
      return { seen, message: await client.messages(sid).fetch() };
    };
    phone.addFault({ kind: 'undelivered', errorCode: 30003, number: ANNA, times: 1 });
    phone.addFault({ kind: 'no_report', times: 1 });
    phone.addFault({ kind: 'failed', errorCode: 30007, times: 1 });
    const undelivered = await travel();
    expect(undelivered.seen).toEqual(['sending', 'sent', 'undelivered']);
    expect(undelivered.message).toMatchObject({
      status: 'undelivered',
      errorCode: 30003,
      errorMessage: 'Unreachable destination handset',
    });
    expect((await travel()).seen).toEqual(['sending', 'sent']);
    expect(await travel()).toMatchObject({ seen: ['failed'], message: { errorCode: 30007, dateSent: null } });
    expect((await travel()).seen).toEqual(['sending', 'sent', 'delivered']);
  });

  test('call-backs may be lost, doubled, swapped, late or held', async () => {
    const { phone, product, client, advance, statusCallback } = await start();
    const travel = async () => {
      await client.messages.create({ to: ANNA, from: OURS, body: 'x', statusCallback });
      await phone.settled();
      return product.statuses();
    };
    const forget = () => product.received.splice(0);

    phone.addFault({ kind: 'callback_lost', times: 2 });
    expect(await travel()).toEqual(['delivered']);
    expect(phone.callbacks.map((callback) => callback.outcome)).toEqual(['lost', 'lost', 'answered']);
    forget();
    phone.addFault({ kind: 'callback_doubled', times: 1 });
    expect(await travel()).toEqual(['sending', 'sending', 'sent', 'delivered']);
    forget();
    const undo = phone.addFault({ kind: 'callback_reordered' });
    expect(await travel()).toEqual(['sent', 'sending', 'delivered']);
    undo();
    forget();
    phone.addFault({ kind: 'callback_late', byMs: 60_000, times: 1 });
    expect(await travel()).toEqual(['sent', 'delivered']);
    await advance(60_000);
    expect(product.statuses()).toEqual(['sent', 'delivered', 'sending']);
    forget();
    phone.addFault({ kind: 'callback_held', on: 'message' });
    expect(await travel()).toEqual([]);
    phone.clearFaults();
    expect(await phone.releaseCallbacks()).toBe(3);
    expect(product.statuses()).toEqual(['sending', 'sent', 'delivered']);
  });

  test('a fault strikes its number only, and as often as it says', async () => {
    const { phone, client } = await start();
    const send = (to: string) => client.messages.create({ to, from: OURS, body: 'x' });
    phone.addFault({ kind: 'http_error', status: 500, code: 20500, number: ANNA, on: 'message', times: 2 });
    await send(BRAM);
    expect(await refusal(send(ANNA))).toMatchObject({ status: 500, code: 20500 });
    await client.calls.create({ to: ANNA, from: OURS, twiml: INCIDENT });
    expect(await refusal(send(ANNA))).toMatchObject({ status: 500 });
    expect(await send(ANNA)).toMatchObject({ status: 'queued' });
  });

  test('an unreachable product is recorded, not thrown', async () => {
    const { phone, client } = await start({ publicUrlRewrite: () => 'http://127.0.0.1:9/' });
    await client.messages.create({ to: ANNA, from: OURS, body: 'x', statusCallback: 'https://tocsin.example/status' });
    await phone.settled();
    expect(phone.callbacks[0]).toMatchObject({
      outcome: 'unreachable',
      status: null,
      url: 'https://tocsin.example/status',
    });
  });
});

describe('for other processes', () => {
  async function read(phone: Phone, path: string) {
    const response = await fetch(`${phone.url}/phone/api/${path}`);
    return (await response.json()) as object;
  }

  async function post(phone: Phone, path: string, body: object) {
    const headers = { 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    const response = await fetch(`${phone.url}/phone/api/${path}`, init);
    return { status: response.status, answer: (await response.json()) as object };
  }

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

  test('only the newest records are kept', async () => {
    const { phone, client } = await start({ keep: 2 });
    for (const body of ['one', 'two', 'three']) await client.messages.create({ to: ANNA, from: OURS, body });
    expect(phone.messages.map((message) => message.body)).toEqual(['two', 'three']);
    expect(phone.requests).toHaveLength(2);
  });

  test('waiting in vain tells what was seen instead', async () => {
    const { phone, client } = await start();
    await client.messages.create({ to: ANNA, from: OURS, body: 'disk is full' });
    const waiting = phone.waitForMessage({ to: ANNA, matching: /cpu/, timeoutMs: 1 });
    await expect(waiting).rejects.toThrow(/"matching":"\/cpu\/".*disk is full/s);
  });

  test('with a clock of its own, what is late comes by itself', async () => {
    const product = await startReceiver();
    const phone = await startPhone({
      accountSid: ACCOUNT,
      authToken: TOKEN,
      numbers: [{ e164: OURS, smsUrl: `${product.url}/sms` }],
    });
    open.push(phone, product);
    phone.addFault({ kind: 'callback_late', byMs: 10 });
    await phone.reply({ from: ANNA, body: 'ACK 1' });
    await vi.waitFor(() => expect(product.received).toHaveLength(1));
  });

  test('as a process it tells its address and ends on SIGTERM or when its parent is gone', async () => {
    for (const stop of ['SIGTERM', 'disconnect'] as const) {
      const child = fork('infra/embedded/phone/main.ts', {
        execArgv: [],
        env: {
          ...process.env,
          PHONE_ACCOUNT_SID: ACCOUNT,
          PHONE_AUTH_TOKEN: TOKEN,
          PHONE_TOKEN: 'known-to-its-user',
          PHONE_NUMBER: OURS,
          PHONE_SMS_URL: 'http://127.0.0.1:9/sms',
        },
      });
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
});
