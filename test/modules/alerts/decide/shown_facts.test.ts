import { expect, test } from 'vitest';

import { readMapped, WEBHOOK_TEMPLATES, type WebhookTemplate } from '#modules/alerts/decide/mapping.ts';
import { shownFacts } from '#modules/alerts/decide/shown_facts.ts';
import fc from '#test/kit/properties.ts';

test('an incident shows what the tool said, one value a line, and links to the web only', () => {
  const details = {
    source: { tool: 'Alertmanager', protocol: 'alertmanager', name: 'am.example:9093' },
    alertKey: 'f-1',
    said: { labels: { instance: 'a:9100', job: '' }, values: [1, { deep: true }] },
    links: [
      { href: 'javascript:alert(1)', text: 'x' },
      { href: 'https://example.com/', text: 'Runbook' },
    ],
    images: [{ href: 'https://example.com/cpu.png', text: 'CPU' }, { href: 'data:image/png;base64,x' }],
  };
  expect(shownFacts(details)).toEqual({
    tool: 'Alertmanager',
    source: 'Alertmanager am.example:9093',
    key: 'f-1',
    facts: [
      { name: 'labels.instance', value: 'a:9100' },
      { name: 'values.0', value: '1' },
      { name: 'values.1.deep', value: 'true' },
    ],
    links: [{ href: 'https://example.com/', text: 'Runbook' }],
    images: [{ href: 'https://example.com/cpu.png', text: 'CPU' }],
  });
});

test('neither what is shown nor a mapping fails for any JSON', () => {
  const body = fc.dictionary(fc.string(), fc.jsonValue());
  const template = fc.constantFrom(...(Object.keys(WEBHOOK_TEMPLATES) as WebhookTemplate[]));
  fc.assert(
    fc.property(body, template, (sent, name) => {
      expect(shownFacts({ said: sent, links: sent, source: sent }).facts.length).toBeLessThanOrEqual(60);
      const { action } = readMapped(sent, WEBHOOK_TEMPLATES[name]);
      expect(['trigger', 'acknowledge', 'resolve', null]).toContain(action);
    }),
  );
});

test.each<[WebhookTemplate, object, object]>([
  ['github', { workflow_run: { conclusion: 'failure', name: 'CI', workflow_id: 9 } }, { action: 'trigger', key: '9' }],
  ['github', { workflow_run: { conclusion: null }, action: 'requested' }, { action: null }],
  ['github-alerts', { action: 'reopened', alert: { number: 3 } }, { action: 'trigger', key: '3' }],
  ['cloudwatch', { AlarmName: 'CPU', NewStateValue: 'OK' }, { action: 'resolve', title: 'CPU', key: 'CPU' }],
  ['cloudwatch', { AlarmName: 'CPU', NewStateValue: 'INSUFFICIENT_DATA' }, { action: null }],
  ['zabbix', { Subject: 'CPU', Event_ID: '4711', 'X-S4-Status': 'new' }, { action: 'trigger', key: '4711' }],
  ['sentry', { action: 'resolved', data: { issue: { id: '1', title: 'E' } } }, { action: 'resolve', title: 'E' }],
  ['any', { summary: 's', status: 'Resolved', id: 3 }, { action: 'resolve', title: 's', key: '3' }],
])('the template %s reads %j', (name, sent, facts) => {
  expect(readMapped({ ...sent }, WEBHOOK_TEMPLATES[name])).toMatchObject(facts);
});
