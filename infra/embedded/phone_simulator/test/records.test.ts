import { describe, expect, test } from 'vitest';

import { startPhone } from '#phone_simulator/phone.ts';
import { ACCOUNT, ANNA, open, OURS, start, startReceiver, TOKEN } from '#phone_simulator/test/product.ts';

describe('records', () => {
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
    await expect(waiting).rejects.toThrow(/\/cpu\/.*disk is full/s);
  });

  test('with a real clock, late call-backs come by themselves', async () => {
    const product = await startReceiver();
    const phone = await startPhone({
      accountSid: ACCOUNT,
      authToken: TOKEN,
      numbers: [{ e164: OURS, smsUrl: `${product.url}/sms` }],
    });
    open.push(phone, product);
    phone.addFault({ kind: 'callback_late', byMs: 10 });
    const heard = product.heard();
    await phone.reply({ from: ANNA, body: 'ACK 1' });
    await heard;
    expect(product.received).toHaveLength(1);
  });
});
