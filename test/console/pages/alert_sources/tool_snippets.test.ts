import { expect, test } from 'vitest';

import { toolOfSource, TOOLS } from '#console/pages/alert_sources/tool_snippets.ts';
import { ALERT_TOOLS } from '#modules/alerts/decide/tools.ts';

const FACTS = { address: 'https://tocsin.example.com/api/alerts', alertKey: 'k'.repeat(32), mailDomain: null };

test.each(TOOLS.map((tool) => [tool.value, tool] as const))(
  'the lines for %s have the address and the key',
  (_, tool) => {
    const text = tool.text(FACTS);
    expect(text).toContain('tocsin.example.com');
    expect(text).toContain('/api/alerts/');
    expect(text).toContain(FACTS.alertKey);
    expect(Object.keys(ALERT_TOOLS)).toContain(tool.protocol);
  },
);

test('each tool is offered once', () => {
  expect(new Set(TOOLS.map(({ value }) => value)).size).toBe(TOOLS.length);
});

test.each([
  ['alertmanager', 'am.example:9093', 'alertmanager'],
  ['webhook', 'gatus', 'gatus'],
  ['webhook', 'backup', 'webhook backup'],
  ['webhook', '', 'any'],
  ['mail', 'nagios', 'mail nagios'],
  ['mail', 'ops', 'mail icinga'],
])('a source of %s, named %s, has lines', (protocol, name, value) => {
  expect(toolOfSource({ protocol, name })).toMatchObject({ tool: { value }, name });
});

test('the address for mail has the domain at which mail is taken, and there is none where no mail is taken', () => {
  const { tool } = toolOfSource({ protocol: 'mail', name: 'nagios' });
  expect(tool.text({ ...FACTS, mailDomain: 'alerts.example' })).toContain(`${FACTS.alertKey}+nagios@alerts.example`);
  expect(tool.text(FACTS)).not.toContain('+nagios@');
});

test('a source of any JSON has the address of its own name', () => {
  const { tool } = toolOfSource({ protocol: 'webhook', name: 'backup' });
  expect(tool.text(FACTS)).toBe(`${FACTS.address}/webhook/${FACTS.alertKey}/backup`);
});
