import { describe, expect, test } from 'vitest';

import { ACCOUNT, ANNA, BRAM, OURS, refusal, start, twiml } from '#phone_simulator/test/product.ts';

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
    expect(created.sid).toMatch(new RegExp(`^SM${ACCOUNT.slice(2, 14)}[0-9a-f]{20}$`));
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
    expect(await client.messages.list()).toMatchObject([{ status: 'delivered', body: 'CPU is high' }]);
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
    const bodies = (messages: { body: string }[]) => messages.map((message) => message.body);
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
    const answer = await phone.waitForMessage({ to: ANNA, matching: /acknowledged/i });
    expect(answer).toMatchObject({ body: 'Acknowledged <CPU>', direction: 'outbound-reply' });
  });

  test('after STOP a message is refused with 21610 until START', async () => {
    const { phone, product, client } = await start();
    const send = (to: string) => client.messages.create({ to, from: OURS, body: 'x' });
    await phone.reply({ from: ANNA, body: ' stop ' });
    await phone.waitForMessage({ to: ANNA, matching: /successfully been unsubscribed/ });
    expect(product.received).toHaveLength(1);
    expect(await refusal(send(ANNA))).toMatchObject({ status: 400, code: 21610 });
    await send(BRAM);
    await phone.reply({ from: ANNA, body: 'START' });
    expect(await send(ANNA)).toMatchObject({ status: 'queued' });
  });
});
