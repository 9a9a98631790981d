import { describe, expect, test } from 'vitest';

import { ANNA, BRAM, OURS, refusal, start, TOKEN } from '#phone_simulator/test/product.ts';

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
    ['an unknown event', { url: 'https://tocsin.example/voice', statusCallbackEvent: ['answred'] }, 21626],
    ['a sender that is not ours', { url: 'https://tocsin.example/voice', from: BRAM }, 21210],
    ['an unknown way of machine detection', { url: 'https://tocsin.example/voice', machineDetection: 'On' }, 20400],
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
    // Long enough to have arrived on a machine that does much else.
    expect(await send(clientOf(TOKEN, 500))).toMatchObject({ code: 'ECONNABORTED' });
    expect(phone.messages).toHaveLength(1);

    phone.addFault({ kind: 'drop', when: 'after', times: 1 });
    expect(await send()).toMatchObject({ code: 'ECONNRESET' });
    expect(phone.messages).toHaveLength(2);
    expect(phone.requests.map((request) => request.status)).toEqual([429, 503, null, null, null]);
  });
});
