import twilio from 'twilio';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { inboundSmsUrl } from '#notify/twilio/client.ts';
import { storesOf } from '#modules/stores.ts';
import { hashCheaply } from '#test/kit/programs/browser.ts';
import { SERVICE_NUMBER, type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';

const BASE_URL = 'http://tocsin.test';

async function annaIsPaged({ keepOpen = false } = {}) {
  const w = await staffedWorld({ keepOpen });
  const [teamId, anna] = await w.staff.teamOf('Anna');
  await w.staff.confirm(anna);
  const alert = await w.staff.alert(teamId, [{ afterMinutes: 0, channels: ['sms'], targetUserIds: [anna.userId] }]);
  const incidentId = await alert.trigger();
  await w.runUntilIdle();
  const { number, notifications } = await w.expectOk('get_incident', { incidentId });
  const statusOf = async () => (await w.expectOk('get_incident', { incidentId })).status;
  return {
    w,
    anna,
    teamId,
    alert,
    incidentId,
    number,
    notificationId: notifications[0].notificationId as string,
    statusOf,
  };
}

/** Posts as Twilio does: signed for this address and these fields, unless another signature is given. */
async function post(w: StaffedWorld, path: string, fields: Record<string, string>, signature?: string | null) {
  const token = w.context.config.twilioAuthToken ?? '';
  const expectedTwilioSignature = twilio.getExpectedTwilioSignature(token, BASE_URL + path, fields);
  const { statusCode, body } = await w.app.inject({
    method: 'POST',
    url: path,
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      ...(signature === null ? {} : { 'x-twilio-signature': signature ?? expectedTwilioSignature }),
    },
    payload: new URLSearchParams(fields).toString(),
  });
  return { status: statusCode, body };
}

const SMS_PATH = new URL(inboundSmsUrl(BASE_URL)).pathname;

const sms = (from: string, body: string, sid = 'SM1') => ({
  MessageSid: sid,
  From: from,
  To: SERVICE_NUMBER,
  Body: body,
});

const refusals = (w: StaffedWorld) =>
  w.context.db.sql.rows<{ action: string; via: string; target: string; actor: object; after: object }>(
    `select action, via, target, actor, after from audit_log where result = 'forbidden' order by id`,
  );

describe('a reply by SMS', () => {
  test('a reply that is sent twice gets the same answer and changes nothing more', async () => {
    const { w, anna, alert, number, statusOf } = await annaIsPaged();
    const fields = sms(anna.phone, 'ack all');
    const first = await post(w, SMS_PATH, fields);
    expect(first).toMatchObject({ status: 200, body: expect.stringContaining('Acknowledged. Thank you.') });
    await post(w, SMS_PATH, sms(anna.phone, `res ${number}`, 'SM2'));
    expect(await statusOf()).toBe('resolved');
    w.clock.advance({ minutes: 5 });
    const incidentId = await alert.trigger();
    await w.runUntilIdle();
    expect(await post(w, SMS_PATH, fields)).toEqual(first);
    expect((await w.expectOk('get_incident', { incidentId })).status).toBe('triggered');
  });

  test('a reply that names several incidents answers each, and says which there is not', async () => {
    const { w, anna, teamId, incidentId } = await annaIsPaged();
    const steps = [{ afterMinutes: 0, channels: ['sms' as const], targetUserIds: [anna.userId] }];
    const another = await (await w.staff.alert(teamId, steps)).trigger();
    await w.runUntilIdle();
    await w.context.db.sql.rows('update incidents set number = 1234 where id = $1', [incidentId]);
    await w.context.db.sql.rows('update incidents set number = 1235 where id = $1', [another]);
    await w.context.db.sql.rows('delete from reply_numbers');
    const statuses = async () =>
      (await w.context.db.sql.rows<{ status: string }>('select status from incidents order by number')).map(
        ({ status }) => status,
      );
    await post(w, SMS_PATH, sms(anna.phone, 'ACK 1234 0815'));
    expect(await statuses()).toEqual(['acknowledged', 'triggered']);
    const both = await post(w, SMS_PATH, sms(anna.phone, 'ACK 1234, 1235 and 77', 'SM2'));
    expect(both.body).toContain('Acknowledged 2 incidents. Thank you. There is no incident 77.');
    expect(await statuses()).toEqual(['acknowledged', 'acknowledged']);
    expect((await post(w, SMS_PATH, sms(anna.phone, 'res 1235', 'SM3'))).body).toContain('Resolved.');
    const rest = await post(w, SMS_PATH, sms(anna.phone, '1234 1235 ack', 'SM4'));
    expect(rest.body).toContain('Acknowledged. Thank you.');
    expect(rest.body).toContain('Not changed: 1235.');
    const none = await post(w, SMS_PATH, sms(anna.phone, 'ack 77 and 78', 'SM5'));
    expect(none.body).toContain('There is no incident 77 and no incident 78.');
  });

  test('the PIN of who has set one stands behind all numbers', async () => {
    const { w, anna, number, incidentId, statusOf } = await annaIsPaged();
    await storesOf(w.context.db.session()).phoneNumbers.setPin(anna.userId, hashCheaply('1235'));
    const wrong = await post(w, SMS_PATH, sms(anna.phone, `ack ${number} and 7`));
    expect(wrong.body).toContain('Add your PIN at the end');
    expect(await statusOf()).toBe('triggered');
    await post(w, SMS_PATH, sms(anna.phone, `ack ${number} and 7 1235`, 'SM2'));
    expect((await w.expectOk('get_incident', { incidentId })).status).toBe('acknowledged');
  });

  test('a reply that arrives several times at once takes effect once', async () => {
    const { w, anna, number } = await annaIsPaged();
    const answers = await Promise.all([1, 2, 3].map(() => post(w, SMS_PATH, sms(anna.phone, `ACK ${number}`))));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await w.context.db.sql.rows(`select 1 from audit_log where action = 'acknowledge_incident'`)).toHaveLength(
      1,
    );
  });

  test('from somebody of another organization gets the same answer as for an unknown incident', async () => {
    const { w, number, statusOf } = await annaIsPaged();
    const other = await w.given.organization('Other');
    const stranger = await w.given.user({ orgId: other.orgId, role: 'admin' });
    const { teamId } = await w.expectOk('create_team', { name: 'Theirs' }, { key: other.orgKey });
    const phone = '+31687654321';
    await w.expectOk('add_team_member', { teamId, userId: stranger.userId, phone }, { key: other.orgKey });
    const real = await post(w, SMS_PATH, sms(phone, `RES ${number}`));
    const imagined = await post(w, SMS_PATH, sms(phone, 'RES 999999', 'SM2'));
    expect(real.body.replace(`incident ${number}.`, '')).toBe(imagined.body.replace('incident 999999.', ''));
    expect(await statusOf()).toBe('triggered');
  });

  test('to a phone each number means one incident, whichever organizations page it', async () => {
    const { w, anna, alert, incidentId, number } = await annaIsPaged();
    const other = await w.given.organization('Other');
    const key = other.orgKey;
    await storesOf(w.context.db.session()).people.setMembership(other.orgId, anna.userId, 'responder', w.clock.now());
    const { teamId } = await w.expectOk('create_team', { name: 'Theirs' }, { key });
    await w.expectOk('add_team_member', { teamId, userId: anna.userId, phone: anna.phone }, { key });
    const theirs = await w.staff.alert(
      teamId,
      [{ afterMinutes: 60, channels: ['sms'], targetUserIds: [anna.userId] }],
      { key },
    );
    const statuses = async (theirId: string) => [
      (await w.expectOk('get_incident', { incidentId })).status,
      (await w.expectOk('get_incident', { incidentId: theirId }, { key })).status,
    ];
    w.clock.advance({ minutes: 1 });
    const theirId = await theirs.trigger();
    // Each organization counts its own, whatever the others have.
    expect([number, (await w.expectOk('get_incident', { incidentId: theirId }, { key })).number]).toEqual([1, 1]);
    await post(w, SMS_PATH, sms(anna.phone, 'ACK 1'));
    expect(await statuses(theirId)).toEqual(['acknowledged', 'triggered']);

    await w.advance({ minutes: 61 });
    expect(w.phone.messages.at(-1)?.body).toContain('Reply ACK 2 or RES 2');
    const resolved = await post(w, SMS_PATH, sms(anna.phone, 'RES 2', 'SM2'));
    expect(resolved.body).toContain('Resolved. Thank you. (checkout, Other)');
    expect(await statuses(theirId)).toEqual(['acknowledged', 'resolved']);
    const answer = await post(w, SMS_PATH, sms(anna.phone, 'RES 1', 'SM3'));
    expect(answer.body).toContain('Resolved. Thank you. (checkout, Acme)');
    expect(await statuses(theirId)).toEqual(['resolved', 'resolved']);

    w.clock.advance({ minutes: 5 });
    const again = [await alert.trigger(), await theirs.trigger()];
    await w.advance({ minutes: 61 });
    const numbers = await w.context.db.sql.rows('select org_id, number from incidents where id = any($1)', [again]);
    expect(numbers).toMatchObject([{ number: 2 }, { number: 2 }]);
    await post(w, SMS_PATH, sms(anna.phone, 'ack all', 'SM4'));
    const open = await w.context.db.sql.rows(`select 1 from incidents where status = 'triggered'`);
    expect(open).toEqual([]);
  });

  test.each(['ACK', 'RES'])(
    'a %s of who has confirmed the number is theirs, whoever else enters the number and opens incidents of the same number',
    async (verb) => {
      const { w, anna, number, statusOf } = await annaIsPaged();
      const other = await w.given.organization('Other');
      const key = other.orgKey;
      const mallory = await w.given.user({ orgId: other.orgId, role: 'responder', name: 'Mallory' });
      const { teamId } = await w.expectOk('create_team', { name: 'Theirs' }, { key });
      await w.expectOk('add_team_member', { teamId, userId: mallory.userId, phone: anna.phone }, { key });
      const theirs = await w.staff.alert(
        teamId,
        [{ afterMinutes: 0, channels: ['sms'], targetUserIds: [mallory.userId] }],
        { key },
      );
      w.clock.advance({ minutes: 5 });
      const theirId = await theirs.trigger();
      await w.runUntilIdle();
      const their = async () => await w.expectOk('get_incident', { incidentId: theirId }, { key });
      expect((await their()).number).toBe(number);
      const answer = await post(w, SMS_PATH, sms(anna.phone, `${verb} ${number}`));
      expect(answer.body).toContain('(checkout, Acme)');
      expect(await statusOf()).toBe(verb === 'ACK' ? 'acknowledged' : 'resolved');
      await post(w, SMS_PATH, sms(anna.phone, 'ACK ALL', 'SM2'));
      await post(w, SMS_PATH, sms(anna.phone, `RES ${number + 1}`, 'SM3'));
      expect((await their()).status, 'it counts for nothing').toBe('triggered');
    },
  );

  test('an unreadable reply, and a wrong number, are answered with the numbers that wait', async () => {
    const { w, anna, number } = await annaIsPaged();
    const order = `Answer ACK ${number} or RES ${number}.`;
    expect((await post(w, SMS_PATH, sms(anna.phone, 'what?'))).body).toContain(order);
    const wrong = await post(w, SMS_PATH, sms(anna.phone, 'ACK 999', 'SM2'));
    expect(wrong.body).toContain(`There is no incident 999. ${order}`);
    await post(w, SMS_PATH, sms(anna.phone, `${number} ack`, 'SM3'));
    expect((await post(w, SMS_PATH, sms(anna.phone, 'ack', 'SM4'))).body).toContain(`Answer RES ${number}.`);
    await post(w, SMS_PATH, sms(anna.phone, `RES${number}`, 'SM5'));
    expect((await post(w, SMS_PATH, sms(anna.phone, 'what?', 'SM6'))).body).toContain('ACK 1234');
    expect((await post(w, SMS_PATH, sms(anna.phone, 'Stop, please', 'SM7'))).body).toContain('send STOP and nothing');
  });

  test('ACK alone acknowledges the one incident that waits, and of several says which', async () => {
    const { w, anna, alert, incidentId, number, statusOf } = await annaIsPaged();
    await post(w, SMS_PATH, sms(anna.phone, 'Ack, thanks'));
    expect(await statusOf()).toBe('acknowledged');
    await post(w, SMS_PATH, sms(anna.phone, `RES ${number}`, 'SM2'));
    const others = [await alert.trigger()];
    await w.runUntilIdle();
    const second = await w.staff.alert((await w.expectOk('list_teams')).teams[0].teamId, [
      { afterMinutes: 0, channels: ['sms'], targetUserIds: [anna.userId] },
    ]);
    others.push(await second.trigger());
    await w.runUntilIdle();
    const { body } = await post(w, SMS_PATH, sms(anna.phone, 'Ack', 'SM3'));
    for (const other of others) {
      const { number: waiting, status } = await w.expectOk('get_incident', { incidentId: other });
      expect(status).toBe('triggered');
      expect(body).toContain(`ACK ${waiting} or RES ${waiting}`);
    }
    expect(incidentId).not.toBe(others[0]);
  });
});

describe('a call-back', () => {
  const path = (id: string) => `/api/callbacks/twilio/sms-status/${id}`;
  const undelivered = { MessageSid: 'SM1', MessageStatus: 'undelivered', ErrorCode: '30003' };
  let paged: Awaited<ReturnType<typeof annaIsPaged>>;
  beforeAll(async () => {
    paged = await annaIsPaged({ keepOpen: true });
  });
  afterAll(() => paged.w.close());

  test.each([
    ['without a signature', null],
    ['with a forged signature', 'Zm9yZ2Vk'],
  ])('%s is refused, audited where it names a message, and changes nothing', async (_how, signature) => {
    const { w, incidentId, notificationId } = paged;
    const before = (await refusals(w)).length;
    expect(await post(w, path(notificationId), undelivered, signature)).toMatchObject({ status: 403 });
    expect((await refusals(w)).slice(before)).toMatchObject([
      {
        action: 'report_sms_status',
        via: 'sms',
        target: incidentId,
        actor: { kind: 'unknown' },
        after: { notificationId, why: 'unsigned call-back' },
      },
    ]);
    const { notifications } = await w.expectOk('get_incident', { incidentId });
    expect(notifications[0].status).toBe('delivered');
  });

  test('that names no message is rejected in the same way and not audited', async () => {
    const before = await refusals(paged.w);
    expect(await post(paged.w, path('notification_nobody'), undelivered, null)).toMatchObject({ status: 403 });
    expect(await refusals(paged.w)).toEqual(before);
  });

  test('signed for another address, or with the same field twice, is rejected', async () => {
    const { w, notificationId } = paged;
    const elsewhere = twilio.getExpectedTwilioSignature(
      w.context.config.twilioAuthToken ?? '',
      `https://elsewhere.test${path(notificationId)}`,
      undelivered,
    );
    expect(await post(w, path(notificationId), undelivered, elsewhere)).toMatchObject({ status: 403 });
    const response = await w.app.inject({
      method: 'POST',
      url: path(notificationId),
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-twilio-signature': 'x' },
      payload: 'MessageStatus=delivered&MessageStatus=failed',
    });
    expect(response.statusCode).toBe(400);
    expect(await post(w, SMS_PATH, { Body: 'RES 1' })).toMatchObject({ status: 400 });
  });

  test('about a message of yesterday is rejected and audited, even if it is signed', async () => {
    const { w, notificationId } = paged;
    const before = (await refusals(w)).length;
    w.clock.advance({ hours: 24 });
    expect(await post(w, path(notificationId), undelivered)).toMatchObject({ status: 200 });
    w.clock.advance({ seconds: 1 });
    expect(await post(w, path(notificationId), undelivered)).toMatchObject({ status: 403 });
    expect((await refusals(w)).slice(before)).toMatchObject([{ after: { why: 'stale call-back' } }]);
  });
});
