// @vitest-environment happy-dom
import { QueryClient } from '@tanstack/react-query';
import { screen } from '@testing-library/react';
import { expect, test } from 'vitest';

import { latenessQuery, pagingProblemsQuery } from '#console/api/home.ts';
import { SetupChecklist } from '#console/pages/home/setup_checklist.tsx';
import { Banners } from '#console/shell/banners.tsx';
import type { Role } from '#kernel/permissions.ts';
import { renderInConsole } from '#test/console/in_console.tsx';

async function show(role: Role, content: React.ReactNode) {
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity } } });
  client.setQueryData(latenessQuery('org_1').queryKey, { late: ['rules by two minutes'] });
  client.setQueryData(pagingProblemsQuery('org_1').queryKey, {
    failing: [],
    missing: ['email'],
    simulated: ['sms'],
    warnings: [],
    warningCount: 0,
    unreadable: [],
  });
  await renderInConsole(content, { role, client });
}

test.each<[Role, readonly RegExp[]]>([
  ['viewer', []],
  ['responder', [/^Incidents may open/, /^Some escalation policies/]],
  ['editor', [/^Incidents may open/, /^Some escalation policies/]],
  ['admin', [/^Incidents may open/, /^Some escalation policies/]],
  ['owner', [/^Incidents may open/, /^Some escalation policies/, /^SMS and calls are simulated/]],
])('the banners that a %s sees are those on which they can act', async (role, banners) => {
  await show(role, <Banners />);
  const all = [/^Incidents may open/, /^Some escalation policies/, /^SMS and calls are simulated/];
  expect(all.filter((text) => screen.queryByText(text) !== null)).toEqual(banners);
});

const PROGRESS = {
  firstServiceId: null,
  paging: null,
  hasTeam: false,
  hasService: false,
  hasTeamWithPolicy: false,
  hasPagingRule: true,
  canBeReached: false,
  hasSentMessage: true,
  simulatesPhones: false,
  hasData: true,
};

test('the checklist of a server that only simulates phones says what counts as a page, and where phones are set up', async () => {
  await show('owner', <SetupChecklist progress={{ ...PROGRESS, hasSentMessage: false, simulatesPhones: true }} />);
  expect(screen.getByText(/only simulates SMS and calls/)).not.toBeNull();
  expect(screen.getByRole('link', { name: 'Set up SMS and calls' }).getAttribute('href')).toBe('/settings/delivery');
});

test.each<[Role, readonly string[]]>([
  ['viewer', []],
  ['responder', ['Create a team with an escalation policy', 'Set up how you are reached']],
  ['owner', ['Create a service', 'Create a team with an escalation policy', 'Set up how you are reached']],
])('the checklist that a %s sees has the steps that they may take', async (role, titles) => {
  await show(role, <SetupChecklist progress={PROGRESS} />);
  const open = screen.queryAllByRole('listitem').filter(({ textContent }) => !textContent?.includes('(done)'));
  expect(open.map(({ textContent }) => titles.find((title) => textContent?.startsWith(title)))).toEqual(titles);
});
