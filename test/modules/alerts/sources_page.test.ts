import { expect, test } from 'vitest';

import { listAlertSources } from '#modules/alerts/operations/list_alert_sources.ts';
import { testAlert } from '#console/pages/alert_sources/test_alert.ts';
import { TOOLS } from '#console/pages/alert_sources/tool_snippets.ts';
import { findFreePort } from '#infra/embedded/free_port.ts';
import { alertedService } from '#test/kit/alert_senders.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';

test.each([...new Set(TOOLS.map(({ protocol }) => protocol))])(
  'the test alert of %s pages, and is resolved when it is taken back',
  async (protocol) => {
    const { w, key, send, incidents } = await alertedService();
    const now = new Date(w.clock.now().epochMilliseconds);
    const alert = testAlert({ protocol, name: 'am.example:9093', alertKey: key, id: 'k3x', now });
    for (const { path, headers, body } of [alert.trigger, alert.resolve]) {
      expect((await send(path, body, { authorization: null, headers })).status).toBeLessThan(300);
      await w.runUntilIdle();
      w.clock.advance({ seconds: 2 });
    }
    expect(await incidents()).toMatchObject([{ status: 'resolved', severity: 'fatal' }]);
    expect((await incidents())[0].title).toContain(alert.title);
    expect(w.phone.messages[0]?.body).toContain(alert.title);
  },
);

test('the sources page says how much each source sends', async () => {
  const { w, send, serviceId } = await alertedService();
  const owner = memberCaller(w.orgId, w.owner.userId, 'owner');
  const seen = async () => {
    const { sources } = await runOperation(w, listAlertSources, owner, { serviceId });
    return sources.map((source: Readonly<Record<string, unknown>>) => [
      source['accepted'],
      source['alertsLastHour'],
      source['alertsLastDay'],
    ]);
  };
  const trigger = (dedupKey: string) => send('/events', { dedupKey, title: dedupKey });
  await trigger('a');
  w.clock.advance({ hours: 2 });
  await trigger('b');
  await trigger('b');
  await trigger('c');
  expect(await seen()).toEqual([[4, 2, 3]]);
  w.clock.advance({ hours: 23 });
  expect(await seen()).toEqual([[4, 0, 2]]);
});

test('the sources page names the domain of mail addresses where mail is taken, and none elsewhere', async () => {
  const domainOf = async (settings: object) => {
    const { w, serviceId } = await alertedService({ settings });
    const owner = memberCaller(w.orgId, w.owner.userId, 'owner');
    const { mailDomain } = await runOperation(w, listAlertSources, owner, { serviceId });
    return [mailDomain, new URL(w.context.config.baseUrl).hostname];
  };
  const [none] = await domainOf({ mailInDomain: 'alerts.example' });
  expect(none).toBe(null);
  const port = { mailInPort: await findFreePort(0), mailInHost: '127.0.0.1' };
  const [byDefault, host] = await domainOf(port);
  expect(byDefault).toBe(host);
  const [asked] = await domainOf({ ...port, mailInPort: await findFreePort(0), mailInDomain: 'alerts.example' });
  expect(asked).toBe('alerts.example');
});
