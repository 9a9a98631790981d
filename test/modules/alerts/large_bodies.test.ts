import { expect, test } from 'vitest';

import { alertedService } from '#test/kit/alert_senders.ts';

const LONG = 'x'.repeat(4_000);
const ALERTS = 150;

test('a body of an Alertmanager with hundreds of alerts is taken in parts, and its alerts stay whole', async () => {
  const { w, send, incidents } = await alertedService();
  const alerts = Array.from({ length: ALERTS }, (_, n) => ({
    status: 'firing',
    labels: { alertname: 'HostDown', instance: `host-${n}`, severity: 'critical' },
    annotations: { summary: `Host ${n} is down`, description: LONG },
    startsAt: '2027-02-06T02:00:00Z',
    fingerprint: `f${n}`,
  }));
  const body = {
    version: '4',
    groupKey: '{}:{}',
    truncatedAlerts: 0,
    status: 'firing',
    externalURL: 'http://am.example:9093',
    alerts,
  };
  const sent = await send('/alertmanager', body);
  expect(sent).toMatchObject({ status: 200, body: { status: 'ok', accepted: ALERTS } });
  const [incident] = await incidents();
  const kept = await w.context.db.sql.rows<{ key: string; details: { annotations: { description: string } } }>(
    'select key, details from alerts where incident_id = $1',
    [incident.incidentId],
  );
  expect(new Set(kept.map(({ key }) => key)).size).toBe(ALERTS);
  expect(kept.every(({ details }) => details.annotations.description === LONG)).toBe(true);
  const resolved = {
    ...body,
    status: 'resolved',
    alerts: alerts.map((alert) => ({ ...alert, status: 'resolved', endsAt: '2027-02-06T02:05:00Z' })),
  };
  expect((await send('/alertmanager', resolved)).status).toBe(200);
  expect((await incidents())[0].status).toBe('resolved');
});

test('large bodies of every other protocol are read, or refused in its words', async () => {
  const { key, send } = await alertedService();
  const dump = Array.from({ length: 400 }, () => LONG);
  const events = Array.from({ length: 300 }, (_, n) => ({ dedupKey: `k${n}`, title: `T${n}`, details: { LONG } }));
  const many = await send('/events', events);
  expect(many.status).toBe(202);
  expect(many.body.events.map(({ dedupKey }: { dedupKey: string }) => dedupKey)).toEqual(
    events.map(({ dedupKey }) => dedupKey),
  );
  const wrong = await send('/events', [...events, { title: 'x', colour: 'red' }]);
  expect(wrong).toMatchObject({ status: 400, body: { errors: [{ path: '[300].colour' }] } });
  expect(
    (
      await send(
        '/events',
        Array.from({ length: 1_001 }, () => ({ title: LONG })),
      )
    ).status,
  ).toBe(400);
  const pagerduty = {
    routing_key: key,
    event_action: 'trigger',
    dedup_key: 'pd',
    payload: { custom_details: { dump }, summary: 'Down', severity: 'critical' },
  };
  expect(await send('/pagerduty/v2/enqueue', pagerduty, { authorization: null })).toMatchObject({
    status: 202,
    body: { dedup_key: 'pd' },
  });
  expect(
    (
      await send(
        '/prometheus/api/v2/alerts',
        events.map(({ title, details }) => ({ labels: { alertname: title }, annotations: details })),
      )
    ).body,
  ).toEqual({ status: 'success' });
  const opsgenie = { message: 'Down', alias: 'og', details: { dump: dump.join('') } };
  expect((await send('/opsgenie/v2/alerts', opsgenie, { authorization: `GenieKey ${key}` })).status).toBe(202);
  expect((await send(`/webhook/${key}`, { title: 'Down', dump })).status).toBe(202);
  expect((await send('/events', `[${'"no event",'.repeat(50_000)}`)).body).toMatchObject({
    status: 400,
    code: 'invalid_input',
  });
  expect((await send('/events', '['.repeat(300_000))).status).toBe(400);
  expect((await send('/events', `${'['.repeat(150_000)}${']'.repeat(150_000)}`)).status).toBe(400);
});

test('an alert whose details are nested more deeply than a program can recurse pages, with its details cut', async () => {
  const { w, key, send, incidents } = await alertedService();
  const deep = `${'['.repeat(60_000)}1${']'.repeat(60_000)}`;
  const event = JSON.stringify({ dedupKey: 'a', title: 'By our own JSON', details: { deep: 0 } });
  const payload = { summary: 'By PagerDuty', source: 'db-1', severity: 'error', custom_details: { deep: 0 } };
  const trigger = JSON.stringify({ routing_key: key, event_action: 'trigger', payload });
  const form = JSON.stringify({ title: 'By a webhook', details: { deep: 0 } });
  const bodies = { '/events': event, '/pagerduty/v2/enqueue': trigger, [`/webhook/${key}`]: form };
  for (const [path, body] of Object.entries(bodies)) {
    expect((await send(path, body.replace('"deep":0', `"deep":${deep}`))).status, path).toBe(202);
  }
  const titles = (await incidents()).map(({ title }): string => title);
  expect(titles.toSorted()).toEqual(['By PagerDuty', 'By a webhook', 'By our own JSON']);
  await w.runUntilIdle();
  expect(w.phone.messages.length).toBeGreaterThan(0);
});
