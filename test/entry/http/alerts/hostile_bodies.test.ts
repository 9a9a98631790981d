import { gzipSync } from 'node:zlib';

import { describe, expect, test } from 'vitest';

import { type AlertDoor, ALERT_DOORS } from '#test/entry/http/alerts/alert_doors.ts';
import { rotateAlertKey } from '#modules/alerts/operations/alert_keys.ts';
import {
  type AlertedService,
  alertedServiceIn,
  alertKeyOf,
  anotherService,
  sendAlert,
} from '#test/kit/alert_senders.ts';
import { sweep } from '#test/kit/properties.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { staffedWorld } from '#test/kit/staffed_world.ts';
import { closedByFile } from '#test/kit/used_in_turn.ts';
import type { Answer } from '#test/kit/world.ts';

const SAID = { title: 'Disk full', alias: 'disk/1', link: 'https://runbooks.example/disk', details: {} };
const NOBODY = 'a'.repeat(32);
const DEEP = 200_000;

/** Values that no protocol expects where it expects a text, a record or a list. */
const WRONG = [null, 1e308, ' ', '\0', '\u{D800}', [[null]], {}];

/** Bodies that are no alert, for a door whose body this is. */
function hostileBodies(body: Readonly<Record<string, unknown>>): (string | Buffer)[] {
  const text = JSON.stringify(body);
  const names = Object.keys(body);
  const replaced = names.flatMap((name) => WRONG.map((value) => JSON.stringify({ ...body, [name]: value })));
  const without = names.map((name) => JSON.stringify({ ...body, [name]: undefined }));
  return [
    '',
    'no JSON',
    'null',
    'true',
    '42',
    '"text"',
    '[]',
    '[null]',
    `[${text}]`,
    '{}',
    '{"__proto__":{"title":"x"}}',
    text.slice(0, -1),
    `${text}${text}`,
    `${'['.repeat(DEEP)}${']'.repeat(DEEP)}`,
    `${text.slice(0, -1)},"deep":${'{"a":'.repeat(DEEP)}1${'}'.repeat(DEEP)}}`,
    gzipSync(text),
    Buffer.from([0xff, 0xfe, 0x00]),
    ...sweep(replaced, WRONG.length - 2),
    ...without,
  ];
}

/** Every answer, also a refusal, is JSON, is no redirect, and is no fault of ours. */
function expectUnderstood(answer: Answer, because: string): void {
  expect(answer.status, because).toBeGreaterThanOrEqual(200);
  expect(answer.status, because).toBeLessThan(500);
  expect(Math.floor(answer.status / 100), because).not.toBe(3);
  expect(answer.headers['content-type'], because).toMatch(/^application\/(problem\+)?json/);
  expect(typeof answer.body, because).toBe('object');
}

async function opened({ w, serviceId }: AlertedService): Promise<{ title: string; status: string }[]> {
  return await w.context.db.sql.rows('select title, status from incidents where service_id = $1', [serviceId]);
}

const [home, slow] = [
  await alertedServiceIn(await closedByFile(staffedWorld({ keepOpen: true }))),
  await alertedServiceIn(await closedByFile(staffedWorld({ keepOpen: true, settings: { ingestAlertsPerSecond: 1 } }))),
];
const stranger = await home.w.forOrganization('Other');
const theirs = await alertKeyOf(stranger, (await stranger.given.service({ name: 'theirs' })).serviceId);

/** A service of the test alone, at a time when nobody has sent too much; its alerts page only with a policy. */
async function serviceOf(alerted: AlertedService, policyId?: string): Promise<AlertedService> {
  alerted.w.clock.advance({ minutes: 2 });
  return await anotherService(alerted, policyId);
}

/** Incidents that an alert opens at this door: none for a change. */
const opensAt = (door: AlertDoor): number => (door.resolve === null ? 0 : 1);

// The gate tries each door by two of the four tests.
describe.each(sweep(ALERT_DOORS, 2))('$name', (door: AlertDoor) => {
  const opens = opensAt(door);
  const turn = ALERT_DOORS.indexOf(door);

  test('answers every body, encoding and type in words that its clients understand, and takes alerts afterwards', async () => {
    const alerted = await serviceOf(home);
    const { path, body, options } = door.trigger(alerted.key, SAID);
    for (const hostile of sweep(hostileBodies(body), 3, turn % 3)) {
      expectUnderstood(await alerted.send(path, hostile, options), hostile.toString().slice(0, 200));
    }
    for (const encoding of sweep(['gzip', 'br', 'deflate', 'none such'], 4, turn % 4)) {
      const headers = { ...options.headers, 'content-encoding': encoding };
      expectUnderstood(await alerted.send(path, 'no such thing', { ...options, headers }), encoding);
    }
    const types = ['text/plain', 'multipart/form-data; boundary=', 'application/x-www-form-urlencoded', 'x'];
    for (const type of sweep(types, 4, turn % 4)) {
      const headers = { ...options.headers, 'content-type': type };
      expectUnderstood(await alerted.send(path, JSON.stringify(body), { ...options, headers }), type);
    }
    // Bodies with another title have opened incidents under the same alias.
    const last = door.trigger(alerted.key, { ...SAID, alias: 'disk/2' });
    expect((await alerted.send(last.path, last.body, last.options)).status).toBeLessThan(300);
    const { length } = (await opened(alerted)).filter(({ title }) => title.includes(SAID.title));
    expect(length).toBeGreaterThanOrEqual(opens);
  });

  test('tells who sends thirty alerts at once beyond the rate to try again', async () => {
    const alerted = await serviceOf(slow);
    const { path, body, options } = door.trigger(alerted.key, SAID);
    const answers = await Promise.all(Array.from({ length: 30 }, () => alerted.send(path, body, options)));
    for (const { status } of answers) expect(status < 300 || status === door.tooFast, String(status)).toBe(true);
    // A change is no alert, and counts for no rate.
    expect(answers.some(({ status }) => status === door.tooFast)).toBe(opens > 0);
    expect(await opened(alerted)).toHaveLength(opens);
  });
});

describe.each(sweep(ALERT_DOORS, 2, 1))('$name', (door: AlertDoor) => {
  const opens = opensAt(door);

  test('opens one incident for what comes five times at once, and nothing by a wrong key or an end without a beginning', async () => {
    const alerted = await serviceOf(home, home.policyId);
    await alerted.w.runUntilIdle();
    alerted.w.phone.clear();
    const post = async (make: AlertDoor['trigger'], key: string) => {
      const { path, body, options } = make(key, SAID);
      return await sendAlert(alerted.w, key, path, body, options);
    };
    const refused = await post(door.trigger, NOBODY);
    expect(refused.status).toBe(door.unknownKey);
    expectUnderstood(refused, 'unknown key');
    expect((await post(door.resolve ?? door.trigger, alerted.key)).status).toBeLessThan(300);
    expect(await opened(alerted)).toEqual([]);
    const answers = await Promise.all(Array.from({ length: 5 }, () => post(door.trigger, alerted.key)));
    for (const answer of answers) expect(answer.status).toBeLessThan(300);
    expect((await post(door.resolve ?? door.trigger, theirs)).status).toBeLessThan(300);
    expect((await post(door.trigger, theirs)).status).toBeLessThan(300);
    const open = await opened(alerted);
    expect(open.map(({ status }) => status)).toEqual(opens === 0 ? [] : ['triggered']);
    await alerted.w.runUntilIdle();
    expect(alerted.w.phone.messages).toHaveLength(opens);
  });

  test('keeps texts of any script, drops bad links, cuts what is too long, and refuses rotated keys for good', async () => {
    const alerted = await serviceOf(home);
    const { w, serviceId, key, send } = alerted;
    const title = 'Διακοπή: 停止 🚨 \u{202E}gnol\0\n<b>ok</b>';
    const said = { title, alias: 'ключ\0/🔥 %2F', link: 'javascript:alert(1)', details: { note: 'x'.repeat(600_000) } };
    const { path, body, options } = door.trigger(key, said);
    const taken = await send(path, body, options);
    expectUnderstood(taken, 'texts');
    expect(taken.status).toBeLessThan(300);
    const open = await opened(alerted);
    expect(open).toHaveLength(opens);
    for (const incident of open) expect(incident.title).toMatch(/Διακοπή: 停止 🚨/);
    for (const { incidentId } of await alerted.incidents()) {
      const shown = JSON.stringify(await w.expectOk('get_incident', { incidentId }));
      expect(shown).not.toMatch(/"href":"javascript/);
      expect(shown).not.toContain(String.raw`\u0000`);
      expect(shown.length).toBeLessThan(200_000);
    }
    const resolve = door.resolve?.(key, said) ?? door.trigger(key, said);
    expect((await send(resolve.path, resolve.body, resolve.options)).status).toBeLessThan(300);
    const resolved = opens === 0 ? [] : ['resolved'];
    expect((await opened(alerted)).map(({ status }) => status)).toEqual(resolved);

    const post = async (at: string, said = SAID) => {
      const again = door.trigger(at, said);
      return await send(again.path, again.body, again.options);
    };
    const large = await post(key, { ...SAID, details: { note: 'x'.repeat(17 * 1024 * 1024) } });
    expect(large.status).toBe(413);
    expectUnderstood(large, 'too large');
    const owner = memberCaller(w.orgId, w.owner.userId, 'owner');
    const { alertKey } = await runOperation(w, rotateAlertKey, owner, { serviceId });
    w.clock.advance({ minutes: 2 });
    expect((await post(key)).status).toBe(door.unknownKey);
    await w.expectOk('disable_capability', { serviceId, capability: 'oncall' });
    w.clock.advance({ seconds: 2 });
    const disabled = await post(alertKey);
    expect(disabled.status).toBe(403);
    expectUnderstood(disabled, 'without on-call');
    expect(JSON.stringify(disabled.body)).toContain('oncall');
    expect((await opened(alerted)).map(({ status }) => status)).toEqual(resolved);
  });
});

test('names in addresses may be anything', async () => {
  const { send, key, incidents } = await serviceOf(home);
  const names = ['%00', '%2F', '%zz', '%F0%9F%94%A5', '..', '%2e%2e', 'x'.repeat(4_000), '%ED%A0%80', '__proto__'];
  for (const name of names) {
    const said = { title: 'X', message_type: 'CRITICAL' };
    for (const path of [
      `/webhook/${key}/${name}`,
      `/victorops/${key}/${name}`,
      `/victorops/${name}/${key}`,
      `/opsgenie/v2/heartbeats/${name}/ping`,
      `/opsgenie/v2/alerts/${name}/close`,
      `/opsgenie/v2/alerts/${name}/notes?identifierType=alias`,
      `/sns/${name}`,
      `/alertmanager/${name}`,
    ]) {
      expectUnderstood(await send(path, said), path);
    }
    for (const path of [`/opsgenie/v2/alerts/${name}`, `/opsgenie/v2/alerts/requests/${name}`]) {
      expectUnderstood(await send(path, undefined, { method: 'GET' }), path);
      expectUnderstood(await send(`${path}?identifierType=alias`, undefined, { method: 'GET' }), path);
    }
  }
  expect((await incidents()).length).toBeGreaterThan(0);
});

test('a list for Prometheus and a message for SNS are refused or taken in words, too', async () => {
  const { send, key, incidents } = await serviceOf(home);
  const labels = { alertname: 'X', severity: 'critical' };
  for (const [turn, path] of ['/prometheus/api/v2/alerts', `/sns/${key}`].entries()) {
    for (const hostile of sweep(hostileBodies({ labels, annotations: {}, startsAt: 'x', endsAt: {} }), 2, turn)) {
      expectUnderstood(await send(path, hostile), hostile.toString().slice(0, 200));
    }
  }
  for (const value of WRONG) {
    expectUnderstood(
      await send('/prometheus/api/v2/alerts', [{ labels: value, annotations: value, endsAt: value }]),
      '',
    );
  }
  expect((await incidents()).length).toBeGreaterThan(0);
});
