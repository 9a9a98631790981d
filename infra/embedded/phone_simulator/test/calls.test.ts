import { describe, expect, test } from 'vitest';

import { spokenText } from '#phone_simulator/call.ts';
import { ANNA, INCIDENT, OURS, ringing, start, twiml } from '#phone_simulator/test/product.ts';

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
    expect(await client.calls.list({ to: ANNA })).toMatchObject([{ sid: created.sid, status: 'completed' }]);
  });

  test('only the end is reported when no events were asked for', async () => {
    const { phone, product, client, statusCallback } = await start();
    product.answers.set('/voice', { body: twiml('<Say>Hello</Say>') });
    await client.calls.create({ to: ANNA, from: OURS, url: `${product.url}/voice`, statusCallback });
    const call = await phone.answer(await ringing(phone));
    await phone.settled();
    expect(spokenText(call)).toBe('Hello');
    expect(product.statuses('CallStatus')).toEqual(['completed']);
  });

  test('silence lets the document go on', async () => {
    const { phone, product, client, advance } = await start();
    product.answers.set('/voice', { body: INCIDENT });
    await client.calls.create({ to: ANNA, from: OURS, url: `${product.url}/voice` });
    const first = await phone.answer(await ringing(phone));
    await advance(11_000);
    expect(first.status).toBe('in-progress');
    await advance(1_000);
    expect(first).toMatchObject({ status: 'completed' });
    expect(spokenText(first)).toContain('Goodbye.');

    await client.calls.create({ to: ANNA, from: OURS, url: `${product.url}/voice` });
    const second = await phone.answer(await ringing(phone));
    await phone.staySilent(second);
    expect(second).toMatchObject({ status: 'completed' });
  });

  test('several keys are taken until the finish key or the number of digits', async () => {
    const { phone, product, client } = await start();
    product.answers.set('/voice', { body: twiml('<Gather action="/digits" numDigits="4"/>') });
    product.answers.set('/digits', { body: twiml('<Say>Thanks</Say>') });
    for (const [keys, digits] of [
      ['12#', '12'],
      ['123456', '1234'],
    ] as const) {
      await client.calls.create({ to: ANNA, from: OURS, url: `${product.url}/voice` });
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
  });

  test('a call nobody answers ends when its time-out is over; a person may also reject it', async () => {
    const { phone, product, client, advance, statusCallback } = await start();
    const url = `${product.url}/voice`;
    const place = async () => {
      await client.calls.create({ to: ANNA, from: OURS, url, timeout: 25, statusCallback });
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
    await client.calls.create({ to: ANNA, from: OURS, url, statusCallback });
    await phone.settled();
    expect(product.statuses('CallStatus')).toEqual(['no-answer', 'busy', 'no-answer', 'failed']);
    await expect(phone.answer(unanswered)).rejects.toThrow('is no-answer, not ringing');
  });

  test.each([
    ['an error page', { body: 'oops', status: 500 }, '11200 HTTP 500'],
    ['no XML', { body: '<Response>' }, '12100'],
    ['another root', { body: '<Answer/>' }, '12102'],
    ['JSON', { body: '{}', type: 'application/json' }, '12300'],
  ])('a document that is %s ends the call with an apology', async (_what, answer, problem) => {
    const { phone, product, client } = await start();
    product.answers.set('/voice', answer);
    await client.calls.create({ to: ANNA, from: OURS, url: `${product.url}/voice` });
    const call = await phone.answer(await ringing(phone));
    expect(call.status).toBe('completed');
    expect(call.problem).toContain(problem);
    expect(spokenText(call)).toContain('application error');
  });
});
