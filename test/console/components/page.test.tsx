// @vitest-environment happy-dom
import { cleanup, screen } from '@testing-library/react';
import { expect, test } from 'vitest';

import { Page } from '#console/components/page.tsx';
import { Settings } from '#console/pages/settings/settings.tsx';
import { NavigationContext, type SettingsEntry } from '#console/shell/navigation.tsx';
import { renderInConsole } from '#test/console/in_console.tsx';
import { PATIENTLY } from '#test/console/long_wait.ts';

test('whoever may only look is told so on a page whose main acts are hidden, and nobody else is', async () => {
  const page = (
    <Page title="Rules" permission="oncall:edit">
      content
    </Page>
  );
  await renderInConsole(page, { role: 'viewer' });
  await screen.findByText(/^Your role, viewer, may see incidents.*Responders and above may answer/, {}, PATIENTLY);
  cleanup();
  await renderInConsole(page, { role: 'editor' });
  expect(screen.queryByText(/Your role/)).toBeNull();
});

test('settings have a tab for each group, and below it the pages of the current one that the person may open', async () => {
  const entry = (to: string, group: string, isForAdmins: boolean) => ({ to, label: to, group, isForAdmins });
  const settings = [entry('/', 'People', false), entry('/b', 'People', true), entry('/c', 'Keys', false)];
  await renderInConsole(
    <NavigationContext value={{ main: [], settings: settings as unknown as SettingsEntry[] }}>
      <Settings />
    </NavigationContext>,
    { role: 'viewer', paths: ['/b', '/c'] },
  );
  const linksOf = (name: string) =>
    [...screen.getByRole('navigation', { name }).querySelectorAll('a')].map(({ textContent }) => textContent);
  expect(linksOf('Settings')).toEqual(['People', 'Keys']);
  expect(linksOf('Pages of Settings')).toEqual(['/']);
});
