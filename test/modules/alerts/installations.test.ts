import { expect, test } from 'vitest';

import { takeAlerts } from '#modules/alerts/take_alerts.ts';
import { bareEvent } from '#modules/alerts/decide/alert_event.ts';
import { type AlertedService, alertedService } from '#test/kit/alert_senders.ts';

const KEY = '075ffdc73ad1b00d0b2474023574a2ec567e45b41b70d072907eb8b1e913067a';
const [BERLIN, TOKYO] = ['http://berlin.example:9093', 'https://tokyo.example/alertmanager'];

const linkOf = (url: string, receiver: string) => `${url}/#/alerts?receiver=${receiver}`;

/** Alertmanager's receiver for PagerDuty; without an address a script that knows the key. */
function pagerDuty({ key, send }: AlertedService) {
  return async (action: string, url: string | null) => {
    const body = {
      routing_key: key,
      dedup_key: KEY,
      event_action: action,
      payload: { summary: url ?? 'script', source: 'Alertmanager', severity: 'critical' },
      ...(url !== null && { client: 'Alertmanager', client_url: linkOf(url, 'pd2') }),
    };
    expect((await send('/pagerduty/v2/enqueue', body, { authorization: null })).status).toBe(202);
  };
}

/** The same for Opsgenie. */
function opsgenie({ key, send }: AlertedService) {
  const by = { authorization: `GenieKey ${key}` };
  const source = (url: string | null) => (url === null ? {} : { source: linkOf(url, 'og') });
  return {
    by,
    create: (url: string | null) =>
      send('/opsgenie/v2/alerts', { alias: KEY, message: url ?? 'script', ...source(url) }, by),
    close: (url: string | null) => send(`/opsgenie/v2/alerts/${KEY}/close?identifierType=alias`, source(url), by),
    put: (word: string, body: object) =>
      send(`/opsgenie/v2/alerts/${KEY}/${word}?identifierType=alias`, body, { ...by, method: 'PUT' }),
  };
}

async function statuses({ incidents }: AlertedService): Promise<string[]> {
  return (await incidents()).map(({ title, status }) => `${title} ${status}`).toSorted();
}

test('two Alertmanagers that send by their receivers for PagerDuty do not resolve each other', async () => {
  const alerted = await alertedService();
  const send = pagerDuty(alerted);
  await send('trigger', BERLIN);
  await send('trigger', TOKYO);
  await send('resolve', BERLIN);
  await send('resolve', BERLIN);
  expect(await statuses(alerted)).toEqual([`${BERLIN} resolved`, `${TOKYO} triggered`]);
  await send('resolve', TOKYO);
  expect(await statuses(alerted)).toEqual([`${BERLIN} resolved`, `${TOKYO} resolved`]);
});

test('an event that does not say which Alertmanager it is about is about the open alert with its key', async () => {
  const alerted = await alertedService();
  const { w, serviceId } = alerted;
  const send = pagerDuty(alerted);
  await send('trigger', BERLIN);
  await send('acknowledge', null);
  expect(await statuses(alerted)).toEqual([`${BERLIN} acknowledged`]);
  await send('resolve', null);
  expect(await statuses(alerted)).toEqual([`${BERLIN} resolved`]);
  // It is another alert where nothing is open, and the Alertmanager's later word is about that one.
  await send('trigger', null);
  await send('trigger', TOKYO);
  await send('resolve', TOKYO);
  expect(await statuses(alerted)).toEqual([`${BERLIN} resolved`, 'script resolved']);
  // In one transaction as well.
  const { db, clock } = w.context;
  const runtime = { db, clock, onOutbox: () => {}, incidentLimit: { incidents: 20, minutes: 5 } };
  const owned = (action: 'trigger' | 'resolve', scope: string | null) => ({
    owner: { orgId: w.orgId, serviceId },
    source: { protocol: 'pagerduty', name: '' } as const,
    event: { ...bareEvent(action, 'batch'), scope },
  });
  const outcomes = await takeAlerts(runtime, [owned('trigger', BERLIN), owned('resolve', null)]);
  expect(outcomes.map(({ effect }) => effect)).toEqual(['open', 'resolve']);
});

test('two Alertmanagers that send by their receivers for Opsgenie do not close each other', async () => {
  const alerted = await alertedService();
  const { w, send } = alerted;
  const { by, create, close, put } = opsgenie(alerted);
  const berlin = await create(BERLIN);
  w.clock.advance({ seconds: 1 });
  await create(TOKYO);
  await close(BERLIN);
  expect(await statuses(alerted)).toEqual([`${BERLIN} resolved`, `${TOKYO} triggered`]);
  // With update_alerts a message follows its alert, without an address.
  await put('message', { message: 'Tokyo again' });
  const get = { ...by, method: 'GET' } as const;
  const { data } = (await send(`/opsgenie/v2/alerts/${KEY}?identifierType=alias`, undefined, get)).body;
  expect(data).toMatchObject({ message: 'Tokyo again', status: 'open' });
  await send(`/opsgenie/v2/alerts/${berlin.body.requestId}/close`, {}, by);
  expect(await statuses(alerted)).toEqual([`${BERLIN} resolved`, `${TOKYO} triggered`]);
  await send(`/opsgenie/v2/alerts/${data.id}/acknowledge`, {}, by);
  expect(await statuses(alerted)).toEqual([`${BERLIN} resolved`, `${TOKYO} acknowledged`]);
  await close(null);
  expect(await statuses(alerted)).toEqual([`${BERLIN} resolved`, `${TOKYO} resolved`]);
});
