import { describe, expect, test } from 'vitest';

import { ANNA, BRAM, OURS, refusal, start } from '#phone_simulator/test/product.ts';

describe('faults', () => {
  test('a message may fail, stay undelivered, or never be reported', async () => {
    const { phone, product, client, statusCallback } = await start();
    const travel = async () => {
      await client.messages.create({ to: ANNA, from: OURS, body: 'x', statusCallback });
      await phone.settled();
      const seen = product.received.splice(0).map((request) => request.params['MessageStatus']);
      return { seen, message: (await client.messages.list({ limit: 1 }))[0] };
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
    const free = phone.addFault({ kind: 'callback_held', on: 'message' });
    expect(await travel()).toEqual([]);
    free();
    expect(await phone.releaseCallbacks()).toBe(3);
    expect(product.statuses()).toEqual(['sending', 'sent', 'delivered']);
  });

  test('a fault applies to its number only, and as often as it says', async () => {
    const { phone, client } = await start();
    const send = (to: string) => client.messages.create({ to, from: OURS, body: 'x' });
    phone.addFault({ kind: 'http_error', status: 500, code: 20500, number: ANNA, on: 'message', times: 2 });
    await send(BRAM);
    expect(await refusal(send(ANNA))).toMatchObject({ status: 500, code: 20500 });
    await client.calls.create({ to: ANNA, from: OURS, url: 'https://tocsin.example/voice' });
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
