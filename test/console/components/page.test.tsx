// @vitest-environment happy-dom
import { MantineProvider } from '@mantine/core';
import { cleanup, screen } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';

import { Page } from '#console/components/page.tsx';
import { Settings } from '#console/pages/settings/settings.tsx';
import type { SettingsEntry } from '#console/shell/navigation.tsx';
import { renderInRouter } from '#test/console/in_router.tsx';
import { PATIENTLY } from '#test/console/long_wait.ts';

const held = vi.hoisted(() => new Set<string>());
vi.mock('#console/shell/organization.tsx', () => ({
  useOrganization: () => ({
    org: { role: 'viewer' },
    isAdmin: false,
    may: (permission: string) => held.has(permission),
  }),
}));
vi.mock('#console/shell/navigation.tsx', () => {
  const entry = (to: string, group: string, isForAdmins: boolean) => ({ to, label: to, group, isForAdmins });
  const settings = [entry('/', 'People', false), entry('/b', 'People', true), entry('/c', 'Keys', false)];
  return { useNavigation: () => ({ settings: settings as unknown as SettingsEntry[] }) };
});

afterEach(cleanup);

test('whoever may only look is told so on a page whose main acts are hidden, and nobody else is', async () => {
  const page = () => (
    <MantineProvider env="test">
      <Page title="Rules" permission="oncall:edit">
        content
      </Page>
    </MantineProvider>
  );
  await renderInRouter(page);
  await screen.findByText(/^Your role, viewer, may see incidents.*Responders and above may answer/, {}, PATIENTLY);
  cleanup();
  held.add('oncall:edit');
  await renderInRouter(page);
  expect(screen.queryByText(/Your role/)).toBeNull();
});

test('settings have a tab for each group, and below it the pages of the current one that the person may open', async () => {
  Element.prototype.scrollIntoView = () => {};
  await renderInRouter(Settings, ['/b', '/c']);
  const linksOf = (name: string) =>
    [...screen.getByRole('navigation', { name }).querySelectorAll('a')].map(({ textContent }) => textContent);
  expect(linksOf('Settings')).toEqual(['People', 'Keys']);
  expect(linksOf('Pages of Settings')).toEqual(['/']);
});
