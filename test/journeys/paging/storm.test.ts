import { describe, expect, test } from 'vitest';

import { getMe } from '#modules/accounts/operations/me.ts';
import type { Channel } from '#modules/contacts/decide/channel.ts';
import { spokenText } from '@tocsin/phone-simulator';
import { newId } from '#kernel/ids.ts';
import { MESSAGES_PER_MINUTE_MAX } from '#modules/notifications/decide/message_limit.ts';
import { storesOf } from '#modules/stores.ts';
import { seeded } from '#infra/bench/seeded.ts';
import { sweep } from '#test/kit/properties.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { startPushService } from '#test/kit/programs/push_service.ts';
import { type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';
import { givenIncidents, openMany } from '#test/kit/many_incidents.ts';
import type { RolesRuntime } from '#test/kit/roles.ts';
import { sweepDue } from '#workers/pager_role.ts';

/** Anna is paged at once by these channels; Bram by SMS after an hour. */
async function annaInAStorm(channels: readonly Channel[], options: { jobs?: 'lost' } = {}) {
  return await stormOf(await staffedWorld(options), channels);
}

/** People of their own in a world; those of others do not see their storm. */
async function stormOf(w: StaffedWorld, channels: readonly Channel[] = ['sms'], minutesToBram = 60) {
  const [teamId, anna, bram] = await w.staff.teamOf('Anna', 'Bram');
  const alert = await w.staff.alert(teamId, [
    { afterMinutes: 0, channels, targetUserIds: [anna.userId] },
    { afterMinutes: minutesToBram, channels: ['sms'], targetUserIds: [bram.userId] },
  ]);
  const open = async (count: number) => await openMany(w, alert, count);
  const storm = async (count: number) => {
    const incidentIds = await open(count);
    await w.runUntilIdle();
    return incidentIds;
  };
  /** Leaves as many pages to Anna as a person gets a minute. */
  const fill = async (count = MESSAGES_PER_MINUTE_MAX) => {
    const [incidentId] = await givenIncidents(w, alert.serviceId, { count: 1 });
    const [channel] = channels;
    await w.context.db.sql.run(
      `insert into notifications (id, org_id, incident_id, step_index, kind, user_id, channel, address, status,
         released_at, created_at, updated_at)
       select id, $2, $3, nth, 'page', $4, $5, $6, 'delivered', $1, $1, $1
       from unnest($7::text[]) with ordinality as earlier(id, nth)`,
      [
        w.clock.now().toString(),
        w.orgId,
        incidentId,
        anna.userId,
        channel,
        channel === 'push' ? null : anna.phone,
        Array.from({ length: count }, () => newId('notification')),
      ],
    );
  };
  const entryOf = async (incidentId: string) => (await w.expectOk('get_incident', { incidentId })).notifications[0];
  const entries = async (incidentIds: readonly string[]) =>
    (await Promise.all(incidentIds.map(entryOf))).map(({ status, reason }) => `${status} ${reason}`);
  return {
    w,
    anna,
    bram,
    fill,
    open,
    storm,
    entries,
    texts: () => textsTo(anna.phone),
    textsToBram: () => textsTo(bram.phone),
  };

  function textsTo(phone: string): string[] {
    return w.phone.messages.filter(({ to }) => to === phone).map(({ body }) => body);
  }
}

const byText = (a: readonly string[], b: readonly string[]): number => String(a).localeCompare(String(b));

const times = (count: number, text: string): string[] => Array.from({ length: count }, () => text);

describe('a storm', () => {
  test('is three messages and, within the minute, a digest of the rest, and the log of each incident tells what became of it', async () => {
    const { w, storm, entries, texts } = await annaInAStorm(['sms']);
    const incidentIds = await storm(5);
    expect(texts()).toHaveLength(3);
    expect(await entries(incidentIds)).toEqual(
      expect.arrayContaining([...times(3, 'delivered null'), ...times(2, 'queued digest')]),
    );
    await w.advance({ seconds: 59 });
    expect(texts()).toHaveLength(3);
    await w.advance({ seconds: 1 });
    expect(texts()).toHaveLength(4);
    expect(texts()[3]).toMatch(
      /^Tocsin: 2 more incidents: checkout: trouble \d+\nReply ACK ALL http:\/\/tocsin\.test\/a\/\w{42}$/,
    );
    const incidents = await Promise.all(incidentIds.map((incidentId) => w.expectOk('get_incident', { incidentId })));
    const pages = incidents.map(({ notifications: [page] }) => page);
    expect(pages.map(({ status, reason }) => `${status} ${reason}`).toSorted()).toEqual([
      ...times(2, 'delivered digest'),
      ...times(3, 'delivered null'),
    ]);
    const digest = w.phone.messages.at(-1);
    const folded = pages.filter(({ reason }) => reason === 'digest');
    expect(new Set(folded.map(({ providerId }) => providerId))).toEqual(new Set([digest?.sid]));
    expect(folded.map(({ attempts }) => attempts)).toEqual([1, 1]);
    const stories = incidents.map(({ timeline }) => timeline);
    const sentences = stories.map((story) => story.map(({ text }: { text: string }) => text).slice(2)).sort(byText);
    expect(sentences).toEqual(
      [...times(2, 'SMS to Anna sent in a digest with others.'), ...times(3, 'SMS to Anna sent.')].map((sent) => [
        sent,
        'SMS to Anna arrived.',
      ]),
    );
    await w.advance({ minutes: 10 });
    expect(texts()).toHaveLength(4);
  });
});

test('storms of several people are counted apart, and each waits its own minute', async () => {
  const w = await staffedWorld();
  const [both, growing] = [await stormOf(w, ['sms', 'call'], 1), await stormOf(w)];
  await growing.fill();
  await both.open(3);
  await growing.storm(1);
  await w.advance({ seconds: 30 });
  await growing.storm(1);
  expect(growing.texts()).toEqual([]);
  await w.advance({ seconds: 30 });
  // No new message overtakes a digest that waits.
  expect(growing.texts()).toEqual([expect.stringContaining('2 more incidents')]);
  await growing.storm(1);
  expect(growing.texts()[1]).toMatch(/^checkout: trouble 1\nReply ACK/);
  expect([both.texts().length, both.textsToBram().length]).toEqual([3, 3]);
  expect(w.phone.calls.filter(({ to }) => to === both.anna.phone)).toHaveLength(3);
});

test('what is answered before its digest leaves is not in it; one message that is left leaves by itself', async () => {
  const w = await staffedWorld();
  const [single, answered, allAnswered] = [await stormOf(w), await stormOf(w), await stormOf(w)];
  for (const { fill } of [single, answered, allAnswered]) await fill();
  const singles = await single.open(1);
  const ended = await allAnswered.open(2);
  const partly = await answered.storm(3);
  await w.expectOk('acknowledge_incident', { incidentId: partly[0] });
  const { key } = await w.given.user({ role: 'admin' });
  for (const incidentId of ended) await w.expectOk('resolve_incident', { incidentId }, { key });
  await w.advance({ minutes: 1 });
  expect(single.texts()).toEqual([expect.stringMatching(/^checkout: trouble \d\nReply ACK \d+ http/)]);
  expect(await single.entries(singles)).toEqual(['delivered null']);
  expect(answered.texts()).toEqual([expect.stringContaining('2 more incidents')]);
  expect(await answered.entries(partly)).toEqual(['cancelled acknowledged', ...times(2, 'delivered digest')]);
  expect(allAnswered.texts()).toEqual([]);

  // A digest that was cancelled because one message was left does not delay the next page.
  await single.storm(2);
  expect(single.texts()).toHaveLength(3);
});

test('many notices become a digest as well, and delay no page of a new incident', async () => {
  const w = await staffedWorld();
  const [notified, paged] = [await stormOf(w), await stormOf(w)];
  const resolve = async (incidentIds: readonly string[]) => {
    for (const incidentId of incidentIds) await w.expectOk('resolve_incident', { incidentId });
    await w.runUntilIdle();
  };
  const [many, few] = [await notified.storm(3), await paged.storm(3)];
  await w.advance({ minutes: 2 });
  await notified.fill(2);
  await paged.fill(1);
  await resolve(many);
  await resolve(few);
  const before = paged.texts().length;
  await paged.storm(1);
  expect(paged.texts().slice(before)).toEqual([expect.stringMatching(/^checkout: trouble 1\nReply ACK/)]);
  await w.advance({ minutes: 1 });
  expect(paged.texts().at(-1)).toContain('is resolved');
  const texts = notified.texts();
  expect(texts[3]).toContain('is resolved');
  expect(texts[4]).toMatch(/^Tocsin: 2 taken care of: checkout: trouble \d\nNo need to act\./);
});

test('a digest that fails is tried again, or found at the provider', async () => {
  const w = await staffedWorld();
  const [busy, after, before] = [await stormOf(w), await stormOf(w), await stormOf(w)];
  const storms = [];
  for (const { fill, open } of [busy, after, before]) {
    await fill();
    storms.push(await open(2));
  }
  await w.runUntilIdle();
  const [ofBusy, ofAfter, ofBefore] = storms;
  w.phone.addFault({ kind: 'http_error', status: 429, code: 20429, number: busy.anna.phone, times: 2 });
  w.phone.addFault({ kind: 'callback_lost', number: after.anna.phone });
  w.phone.addFault({ kind: 'drop', when: 'after', number: after.anna.phone, times: 1 });
  // The sender of one died as it began to send.
  await w.context.db.sql.run(
    `update notifications set status = 'sending', attempts = 1, released_at = $1, lease_until = due_at
      where kind = 'digest' and user_id = $2`,
    [w.clock.now().toString(), before.anna.userId],
  );
  await w.context.db.sql.run(
    `update notifications set status = 'sending', attempts = 1 where digest_id is not null and user_id = $1`,
    [before.anna.userId],
  );
  await w.advance({ minutes: 1 });
  expect(await busy.entries(ofBusy!)).toEqual(times(2, 'queued provider_busy'));
  expect(before.texts()).toEqual([expect.stringContaining('2 more incidents')]);
  expect(await before.entries(ofBefore!)).toEqual(times(2, 'delivered digest'));

  await w.advance({ seconds: 5 });
  await w.advance({ seconds: 10 });
  expect(busy.texts()).toHaveLength(1);
  expect(await busy.entries(ofBusy!)).toEqual(times(2, 'delivered digest'));
  await w.advance({ seconds: 15 });
  expect(after.texts()).toHaveLength(1);
  expect(await after.entries(ofAfter!)).toEqual(times(2, 'sent digest'));
});

test('a digest that fails for good has failed for each of its incidents, whose next steps fire at once', async () => {
  const w = await staffedWorld();
  const [stopped, undelivered] = [await stormOf(w), await stormOf(w)];
  for (const { fill } of [stopped, undelivered]) await fill();
  const ofStopped = await stopped.open(2);
  await undelivered.storm(2);
  await w.phone.reply({ from: stopped.anna.phone, body: 'STOP' });
  w.phone.addFault({ kind: 'undelivered', errorCode: 30003, number: undelivered.anna.phone, times: 1 });
  await w.advance({ minutes: 1 });
  expect(await stopped.entries(ofStopped)).toEqual(times(2, 'failed unsubscribed'));
  expect(stopped.textsToBram()).toHaveLength(2);
  for (const incidentId of ofStopped) {
    const { timeline } = await w.expectOk('get_incident', { incidentId });
    const sentences = timeline.map(({ text }: { text: string }) => text);
    expect(sentences).toContain('Every channel of Anna has failed; the next step fires at once.');
  }
  expect(undelivered.textsToBram()).toHaveLength(2);
});

test('a digest leaves even if no job ever runs', async () => {
  const { w, fill, storm, texts } = await annaInAStorm(['sms'], { jobs: 'lost' });
  await fill();
  await storm(2);
  await w.advance({ seconds: 2 });
  await w.advance({ seconds: 2 });
  expect(texts()).toEqual([]);
  await w.advance({ minutes: 1 });
  expect(texts()).toEqual([expect.stringContaining('2 more incidents')]);
});

test.each(sweep([1, 2], 2))('a storm loses nothing even if senders die repeatedly (seed %i)', async (seed) => {
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

test('a clock that is set back by an hour delays no digest, no message that waits for a retry, and no later message', async () => {
  const w = await staffedWorld();
  const [digested, retried] = [await stormOf(w), await stormOf(w)];
  w.phone.addFault({ kind: 'http_error', status: 503, number: retried.anna.phone, times: 3 });
  await digested.fill();
  await digested.storm(2);
  await retried.storm(3);
  w.clock.advance({ hours: -1 });
  await w.advance({ seconds: 2 });
  expect(digested.texts()).toEqual([expect.stringContaining('2 more incidents')]);
  expect(retried.texts()).toHaveLength(3);
  await retried.storm(1);
  expect(retried.texts()).toHaveLength(4);
});

describe('one answer for all', () => {
  test('ACK ALL by SMS acknowledges everything that the person was paged about', async () => {
    const { w, anna, fill, storm } = await annaInAStorm(['sms']);
    await fill(2);
    await storm(6);
    await w.advance({ minutes: 1 });
    await w.phone.reply({ from: anna.phone, body: 'Ack all' });
    expect(w.phone.messages.at(-1)?.body).toBe('Acknowledged 6 incidents. Thank you.');
    const { incidents } = await w.expectOk('list_incidents', { status: 'acknowledged' });
    expect(incidents).toHaveLength(6);
    expect(incidents[0].acknowledgedBy).toEqual({ userId: anna.userId, via: 'sms' });
    await w.phone.reply({ from: anna.phone, body: 'ACK ALL' });
    expect(w.phone.messages.at(-1)?.body).toBe(
      'No incident of yours waits for an answer. Answer RES 2, RES 3, RES 4, RES 5, RES 6, ...',
    );
  });

  test('one call says how many there are, and pressing 1 acknowledges them all', async () => {
    const { w, anna, fill, storm } = await annaInAStorm(['call']);
    await fill();
    await storm(2);
    await w.advance({ minutes: 1 });
    expect(w.phone.calls).toHaveLength(1);
    const call = w.phone.calls[0]!;
    await w.phone.answer(call, 'human');
    expect(spokenText(call)).toMatch(/2 more incidents\. The first: Incident \d+ on checkout/);
    await w.phone.press(call, '2');
    expect((await w.expectOk('list_incidents', { status: 'triggered' })).total).toBe(2);
    await w.phone.press(call, '1');
    expect(call.transcript.at(-1)?.text).toBe('Acknowledged 2 incidents. Thank you.');
    await w.runUntilIdle();
    const { incidents } = await w.expectOk('list_incidents', { status: 'acknowledged' });
    expect(incidents).toHaveLength(2);
    expect(incidents[0].acknowledgedBy).toEqual({ userId: anna.userId, via: 'call' });
    // A key pressed in the call of a digest shows that calls reach her, as in that of a page.
    const me = await runOperation(w, getMe, memberCaller(w.orgId, anna.userId, 'responder'), {});
    expect(me.teams[0].readiness.answer).toBe('yes');
  });

  test('a digest by push has one button for all', async () => {
    const service = await startPushService();
    const { w, anna, fill, storm } = await annaInAStorm(['push']);
    const { endpoint, keys } = service.browser('phone', w.context.vapidKeys.publicKey).subscription;
    const { pushSubscriptions } = storesOf(w.context.db.session());
    await pushSubscriptions.put(anna.userId, { endpoint, ...keys, label: 'phone' }, w.clock.now());
    await fill();
    await storm(2);
    await w.advance({ minutes: 1 });
    const { payload } = service.pushed[0]!;
    expect(payload).toMatchObject({ title: '2 more incidents', actions: [{ title: 'Acknowledge all' }] });
    await w.app.inject({ method: 'POST', url: payload.actions[0].url.replace('http://tocsin.test', '') });
    expect((await w.expectOk('list_incidents', { status: 'acknowledged' })).total).toBe(2);
  });
});
