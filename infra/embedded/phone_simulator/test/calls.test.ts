import { describe, expect, test } from 'vitest';

import { spokenText } from '#phone_simulator/call.ts';
import { ANNA, INCIDENT, OURS, refusal, ringing, start, twiml } from '#phone_simulator/test/product.ts';

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
