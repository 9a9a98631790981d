import { describe, expect, test } from 'vitest';

import { getMe } from '#modules/accounts/operations/me.ts';
import type { Channel } from '#modules/contacts/decide/channel.ts';
import { spokenText } from '@tocsin/phone-simulator';
import type { Config } from '#entry/config.ts';
import { storesOf } from '#modules/stores.ts';
import { seeded } from '#infra/bench/seeded.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { startMailServer } from '#test/kit/programs/mail_server.ts';
import { startPushService } from '#test/kit/programs/push_service.ts';
import { staffedWorld } from '#test/kit/staffed_world.ts';
import { openMany } from '#test/kit/open_many.ts';
import type { RolesRuntime } from '#test/kit/roles.ts';
import { sweepDue } from '#workers/pager_role.ts';

/** Anna is paged at once by these channels; Bram by SMS after an hour. */
async function annaInAStorm(channels: readonly Channel[], options: { jobs?: 'lost'; settings?: Partial<Config> } = {}) {
  const w = await staffedWorld(options);
  const [teamId, anna, bram] = await w.staff.teamOf('Anna', 'Bram');
  const alert = await w.staff.alert(teamId, [
    { afterMinutes: 0, channels, targetUserIds: [anna.userId] },
    { afterMinutes: 60, channels: ['sms'], targetUserIds: [bram.userId] },
  ]);
  const storm = async (count: number) => {
    const incidentIds = await openMany(w, alert, count);
    await w.runUntilIdle();
    return incidentIds;
  };
  const entriesOf = async (incidentId: string) => (await w.expectOk('get_incident', { incidentId })).notifications;
  const entries = async (incidentIds: readonly string[]) =>
    (await Promise.all(incidentIds.map(entriesOf))).map(([{ status, reason }]) => `${status} ${reason}`);
  return { w, anna, bram, storm, entries, entriesOf, texts: () => textsTo(anna.phone) };

  function textsTo(phone: string): string[] {
    return w.phone.messages.filter(({ to }) => to === phone).map(({ body }) => body);
  }
}

const byText = (a: readonly string[], b: readonly string[]): number => String(a).localeCompare(String(b));

const times = (count: number, text: string): string[] => Array.from({ length: count }, () => text);

describe('a storm', () => {
  test('is three messages and, within the minute, a digest of the rest, and the log of each incident tells what became of it', async () => {
    const { w, storm, entries, entriesOf, texts } = await annaInAStorm(['sms']);
    const incidentIds = await storm(6);
    expect(texts()).toHaveLength(3);
    expect(await entries(incidentIds)).toEqual(
      expect.arrayContaining([...times(3, 'delivered null'), ...times(3, 'queued digest')]),
    );
    await w.advance({ seconds: 59 });
    expect(texts()).toHaveLength(3);
    await w.advance({ seconds: 1 });
    expect(texts()).toHaveLength(4);
    expect(texts()[3]).toMatch(
      /^Tocsin: 3 more incidents: checkout: trouble \d+\nReply ACK ALL http:\/\/tocsin\.test\/a\/\w{42}$/,
    );
    expect((await entries(incidentIds)).toSorted()).toEqual([
      ...times(3, 'delivered digest'),
      ...times(3, 'delivered null'),
    ]);
    const digest = w.phone.messages.at(-1);
    const folded = (await Promise.all(incidentIds.map(entriesOf))).flat().filter(({ reason }) => reason === 'digest');
    expect(new Set(folded.map(({ providerId }) => providerId))).toEqual(new Set([digest?.sid]));
    expect(folded.map(({ attempts }) => attempts)).toEqual([1, 1, 1]);
    const stories = await Promise.all(
      incidentIds.map(async (incidentId) => (await w.expectOk('get_incident', { incidentId })).timeline),
    );
    const sentences = stories.map((story) => story.map(({ text }: { text: string }) => text).slice(2)).sort(byText);
    expect(sentences).toEqual(
      [...times(3, 'SMS to Anna sent in a digest with others.'), ...times(3, 'SMS to Anna sent.')].map((sent) => [
        sent,
        'SMS to Anna arrived.',
      ]),
    );
    await w.advance({ minutes: 10 });
    expect(texts()).toHaveLength(4);
  });

  test('ends: a minute later messages come one by one again', async () => {
    const { w, storm, texts } = await annaInAStorm(['sms']);
    await storm(5);
    await w.advance({ minutes: 1 });
    await w.advance({ minutes: 1 });
    await storm(1);
    expect(texts()).toHaveLength(5);
    expect(texts()[4]).toMatch(/^checkout: trouble 1\nReply ACK/);
  });

  test('adds new messages to a waiting digest, so that none overtakes it', async () => {
    const { w, storm, texts } = await annaInAStorm(['sms']);
    await storm(4);
    await w.advance({ seconds: 30 });
    await storm(2);
    expect(texts()).toHaveLength(3);
    await w.advance({ seconds: 30 });
    expect(texts()[3]).toContain('3 more incidents');
  });

  test('is counted separately for each person and channel', async () => {
    const { w, anna, bram, storm } = await annaInAStorm(['sms', 'call']);
    await storm(3);
    await w.advance({ minutes: 60 });
    const count = (to: string) => w.phone.messages.filter((message) => message.to === to).length;
    expect([count(anna.phone), count(bram.phone), w.phone.calls.length]).toEqual([3, 3, 3]);
  });

  test('with a single message left sends that message', async () => {
    const { w, storm, entries, texts } = await annaInAStorm(['sms']);
    const incidentIds = await storm(4);
    await w.advance({ minutes: 1 });
    expect(texts()[3]).toMatch(/^checkout: trouble \d\nReply ACK \d+ http/);
    expect(await entries(incidentIds)).toEqual(times(4, 'delivered null'));
  });

  test('leaves out incidents that were answered before the digest left', async () => {
    const { w, storm, entries, texts } = await annaInAStorm(['sms']);
    const incidentIds = await storm(7);
    const queued = (await entries(incidentIds)).flatMap((entry, index) => (entry.startsWith('queued') ? [index] : []));
    for (const index of queued.slice(0, 2))
      await w.expectOk('acknowledge_incident', { incidentId: incidentIds[index] });
    await w.advance({ minutes: 1 });
    expect(texts()[3]).toContain('2 more incidents');
    expect((await entries(incidentIds)).toSorted()).toEqual([
      ...times(2, 'cancelled acknowledged'),
      ...times(2, 'delivered digest'),
      ...times(3, 'delivered null'),
    ]);
  });

  test('a digest is not sent when all its incidents are answered', async () => {
    const { w, storm, texts } = await annaInAStorm(['sms']);
    for (const incidentId of await storm(6)) {
      await w.expectOk('resolve_incident', { incidentId }, { key: (await w.given.user({ role: 'admin' })).key });
    }
    await w.advance({ minutes: 1 });
    expect(texts().filter((text) => text.includes('more incident'))).toEqual([]);
  });

  test('many notices become a digest as well', async () => {
    const { w, storm, texts } = await annaInAStorm(['sms']);
    const incidentIds = await storm(3);
    await w.advance({ minutes: 2 });
    await storm(2);
    for (const incidentId of incidentIds) await w.expectOk('resolve_incident', { incidentId });
    await w.runUntilIdle();
    await w.advance({ minutes: 1 });
    expect(texts().slice(3, 5)).toEqual([expect.stringContaining('trouble'), expect.stringContaining('trouble')]);
    expect(texts()[5]).toContain('is resolved');
    expect(texts()[6]).toMatch(/^Tocsin: 2 taken care of: checkout: trouble \d\nNo need to act\./);
  });
});

describe('news of incidents that were answered', () => {
  test('does not delay the page of a new incident', async () => {
    const { w, storm, texts } = await annaInAStorm(['sms']);
    const incidentIds = await storm(3);
    await w.advance({ minutes: 2 });
    await storm(1);
    for (const incidentId of incidentIds) await w.expectOk('resolve_incident', { incidentId });
    await w.runUntilIdle();
    const before = texts().length;
    await storm(1);
    expect(texts().slice(before)).toEqual([expect.stringMatching(/^checkout: trouble 1\nReply ACK/)]);
    await w.advance({ minutes: 1 });
    expect(texts().at(-1)).toContain('is resolved');
  });
});

describe('a digest', () => {
  test('a digest that was cancelled because one message was left does not delay the next page', async () => {
    const { w, storm, texts } = await annaInAStorm(['sms']);
    await storm(4);
    await w.advance({ minutes: 1 });
    expect(texts()).toHaveLength(4);
    await storm(2);
    expect(texts()).toHaveLength(6);
  });

  test('is tried again like any page, with all its messages', async () => {
    const { w, anna, storm, entries, texts } = await annaInAStorm(['sms']);
    const incidentIds = await storm(6);
    w.phone.addFault({ kind: 'http_error', status: 429, code: 20429, number: anna.phone, times: 2 });
    await w.advance({ minutes: 1 });
    expect(await entries(incidentIds)).toEqual(expect.arrayContaining(times(3, 'queued provider_busy')));
    await w.advance({ seconds: 5 });
    await w.advance({ seconds: 10 });
    expect(texts()).toHaveLength(4);
    expect(await entries(incidentIds)).toEqual(expect.arrayContaining(times(3, 'delivered digest')));
  });

  test('when it fails for good, each of its incidents fires its next step at once', async () => {
    const { w, anna, bram, storm, entries } = await annaInAStorm(['sms']);
    const incidentIds = await storm(6);
    await w.phone.reply({ from: anna.phone, body: 'STOP' });
    await w.advance({ minutes: 1 });
    expect(await entries(incidentIds)).toEqual(expect.arrayContaining(times(3, 'failed unsubscribed')));
    expect(w.phone.messages.filter(({ to }) => to === bram.phone)).toHaveLength(3);
    // Which three are in the digest depends on whose jobs ran first.
    const incidents = await Promise.all(incidentIds.map((incidentId) => w.expectOk('get_incident', { incidentId })));
    const texts = incidents.flatMap(({ timeline }) => timeline.map(({ text }: { text: string }) => text));
    expect(
      texts.filter((text) => text === 'Every channel of Anna has failed; the next step fires at once.'),
    ).toHaveLength(3);
  });

  test('when it is not delivered, it has failed for each of its incidents', async () => {
    const { w, anna, bram, storm } = await annaInAStorm(['sms']);
    await storm(5);
    w.phone.addFault({ kind: 'undelivered', errorCode: 30003, number: anna.phone, times: 1 });
    await w.advance({ minutes: 1 });
    expect(w.phone.messages.filter(({ to }) => to === bram.phone)).toHaveLength(2);
  });

  test('leaves even if no job ever runs', async () => {
    const { w, storm, texts } = await annaInAStorm(['sms'], { jobs: 'lost' });
    await storm(6);
    await w.advance({ seconds: 2 });
    await w.advance({ seconds: 2 });
    expect(texts()).toHaveLength(3);
    await w.advance({ minutes: 1 });
    expect(texts()[3]).toContain('3 more incidents');
  });

  test('a digest whose sender died after sending it is found at the provider and not sent twice', async () => {
    const { w, anna, storm, entries, texts } = await annaInAStorm(['sms']);
    const incidentIds = await storm(6);
    w.phone.addFault({ kind: 'callback_lost', number: anna.phone });
    w.phone.addFault({ kind: 'drop', when: 'after', number: anna.phone, times: 1 });
    await w.advance({ minutes: 1 });
    await w.advance({ seconds: 30 });
    expect(texts()).toHaveLength(4);
    expect(await entries(incidentIds)).toEqual(expect.arrayContaining(times(3, 'sent digest')));
  });

  test('a digest whose sender died before sending it is sent by the next sender', async () => {
    const { w, storm, entries, texts } = await annaInAStorm(['sms']);
    const incidentIds = await storm(6);
    await w.context.db.sql.run(
      `update notifications set status = 'sending', attempts = 1, released_at = $1, lease_until = due_at where kind = 'digest'`,
      [w.clock.now().toString()],
    );
    await w.context.db.sql.run(`update notifications set status = 'sending', attempts = 1 where digest_id is not null`);
    await w.advance({ minutes: 1 });
    expect(texts()[3]).toContain('3 more incidents');
    expect(await entries(incidentIds)).toEqual(expect.arrayContaining(times(3, 'delivered digest')));
  });
});

test.each([1, 2])('a storm loses nothing even if senders die repeatedly (seed %i)', async (seed) => {
  const { w, storm } = await annaInAStorm(['sms'], { jobs: 'lost' });
  const incidentIds = await storm(12);
  const { runtime, deaths } = crashingRuntime(w.runtime, seeded(seed));
  const isDone = async () =>
    (await w.context.db.sql.row(`select 1 from incident_steps where state = 'pending' and step_index = 0`)) === null &&
    (await w.context.db.sql.row(`select 1 from notifications where status in ('queued', 'sending')`)) === null;
  for (let round = 0; round < 200 && !(await isDone()); round += 1) {
    w.clock.advance({ seconds: 3 });
    await sweepDue(runtime, 0);
    await w.phone.settled();
  }
  const sids = new Set(w.phone.messages.map(({ sid }) => sid));
  const pages = await w.context.db.sql.rows<{ status: string; providerId: string }>(
    `select status, provider_id as "providerId" from notifications where kind = 'page'`,
  );
  expect(pages).toHaveLength(incidentIds.length);
  expect(pages.filter(({ status }) => status !== 'delivered')).toEqual([]);
  expect(pages.filter(({ providerId }) => !sids.has(providerId))).toEqual([]);
  const isDoubled = (body: string) => w.phone.messages.filter((other) => other.body === body).length > 1;
  const doubled = w.phone.messages.filter(({ body }) => isDoubled(body)).length;
  expect(doubled).toBeLessThanOrEqual(2 * deaths());
});

/** One transaction in four is the last thing that a worker does: it dies before the commit, or right after it. */
function crashingRuntime(runtime: RolesRuntime, random: () => number): { runtime: RolesRuntime; deaths: () => number } {
  let deaths = 0;
  const die = (): never => {
    deaths += 1;
    throw new Error('the worker died');
  };
  const transaction: RolesRuntime['db']['transaction'] = async (work) => {
    const fate = random();
    const result = await runtime.db.transaction(async (session) => {
      const done = await work(session);
      return fate < 0.125 ? die() : done;
    });
    return fate < 0.25 ? die() : result;
  };
  return { runtime: { ...runtime, db: { ...runtime.db, transaction } }, deaths: () => deaths };
}

describe('a clock that is set back by an hour', () => {
  test('delays no digest', async () => {
    const { w, storm, texts } = await annaInAStorm(['sms']);
    await storm(6);
    w.clock.advance({ hours: -1 });
    await w.advance({ seconds: 2 });
    expect(texts()[3]).toContain('3 more incidents');
  });

  test('delays neither a message that waits for a retry nor later messages', async () => {
    const { w, anna, storm, texts } = await annaInAStorm(['sms']);
    w.phone.addFault({ kind: 'http_error', status: 503, number: anna.phone, times: 3 });
    await storm(3);
    w.clock.advance({ hours: -1 });
    await w.advance({ seconds: 2 });
    expect(texts()).toHaveLength(3);
    await storm(1);
    expect(texts()).toHaveLength(4);
  });
});

describe('one answer for all', () => {
  test('ACK ALL by SMS acknowledges everything that the person was paged about', async () => {
    const { w, anna, storm } = await annaInAStorm(['sms']);
    await storm(6);
    await w.advance({ minutes: 1 });
    await w.phone.reply({ from: anna.phone, body: 'Ack all' });
    expect(w.phone.messages.at(-1)?.body).toBe('Acknowledged 6 incidents. Thank you.');
    const { incidents } = await w.expectOk('list_incidents', { status: 'acknowledged' });
    expect(incidents).toHaveLength(6);
    expect(incidents[0].acknowledgedBy).toEqual({ userId: anna.userId, via: 'sms' });
    await w.phone.reply({ from: anna.phone, body: 'ACK ALL' });
    expect(w.phone.messages.at(-1)?.body).toBe(
      'No incident of yours waits for an answer. Answer RES 1, RES 2, RES 3, RES 4, RES 5, ...',
    );
  });

  test('one call says how many there are, and pressing 1 acknowledges them all', async () => {
    const { w, anna, storm } = await annaInAStorm(['call']);
    await storm(6);
    await w.advance({ minutes: 1 });
    expect(w.phone.calls).toHaveLength(4);
    const call = w.phone.calls[3]!;
    await w.phone.answer(call, 'human');
    expect(spokenText(call)).toMatch(/3 more incidents\. The first: Incident \d+ on checkout/);
    await w.phone.press(call, '2');
    expect((await w.expectOk('list_incidents', { status: 'resolved' })).total).toBe(0);
    await w.phone.press(call, '1');
    expect(call.transcript.at(-1)?.text).toBe('Acknowledged 3 incidents. Thank you.');
    await w.runUntilIdle();
    const { incidents } = await w.expectOk('list_incidents', { status: 'acknowledged' });
    expect(incidents).toHaveLength(3);
    expect(incidents[0].acknowledgedBy).toEqual({ userId: anna.userId, via: 'call' });
    // A key pressed in the call of a digest shows that calls reach her, as in that of a page.
    const me = await runOperation(w, getMe, memberCaller(w.orgId, anna.userId, 'responder'), {});
    expect(me.teams[0].readiness.answer).toBe('yes');
  });

  test('a digest by mail has links for each incident, and one for all', async () => {
    const post = await startMailServer();
    const settings = { smtpUrl: post.url, mailFrom: 'tocsin@example.com' };
    const { w, storm } = await annaInAStorm(['email'], { settings });
    await storm(6);
    await w.advance({ minutes: 1 });
    const mail = post.mails[3]!;
    expect(mail.subject).toBe('[Tocsin] 3 more incidents');
    expect(mail.text?.match(/^Acknowledge: /gm)).toHaveLength(3);
    const path = /^Resolve: http:\/\/tocsin\.test(\S+)$/m.exec(mail.text ?? '')?.[1] ?? '';
    expect((await w.app.inject({ method: 'POST', url: path })).body).toContain('Resolved. Thank you.');
    const all = post.linksOf(mail)['Acknowledge all of them']!.replace('http://tocsin.test', '');
    const page = (await w.app.inject({ method: 'GET', url: all })).body;
    expect(page).toContain('Acknowledge 2 incidents?');
    expect((await w.app.inject({ method: 'POST', url: all })).body).toContain('Acknowledged 2 incidents. Thank you.');
    expect((await w.app.inject({ method: 'GET', url: all })).body).toContain('nothing left to do');
    expect((await w.expectOk('list_incidents', { status: 'acknowledged' })).total).toBe(2);
  });

  test('a digest by push has one button for all', async () => {
    const service = await startPushService();
    const { w, anna, storm } = await annaInAStorm(['push']);
    const { endpoint, keys } = service.browser('phone', w.context.vapidKeys.publicKey).subscription;
    const { pushSubscriptions } = storesOf(w.context.db.session());
    await pushSubscriptions.put(anna.userId, { endpoint, ...keys, label: 'phone' }, w.clock.now());
    await storm(6);
    await w.advance({ minutes: 1 });
    const { payload } = service.pushed[3]!;
    expect(payload).toMatchObject({ title: '3 more incidents', actions: [{ title: 'Acknowledge all' }] });
    await w.app.inject({ method: 'POST', url: payload.actions[0].url.replace('http://tocsin.test', '') });
    expect((await w.expectOk('list_incidents', { status: 'acknowledged' })).total).toBe(3);
  });
});
