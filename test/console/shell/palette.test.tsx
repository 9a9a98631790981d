// @vitest-environment happy-dom
import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { act, cleanup, fireEvent, screen } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { Palette } from '#console/shell/palette/palette.tsx';
import { renderInRouter } from '#test/console/in_router.tsx';
import { PATIENTLY } from '#test/console/long_wait.ts';

const organization = vi.hoisted(() => ({
  org: { orgId: 'org_1', name: 'Acme', role: 'owner' },
  session: { user: { userId: 'user_1', name: 'Olga' }, organizations: [] },
  may: () => true,
  isAdmin: true,
  switchTo: () => {},
}));
vi.mock('#console/shell/organization.tsx', () => ({
  useOrganization: () => organization,
  useRefresh: () => async () => {},
}));
vi.mock('#console/shell/navigation.tsx', () => ({ useNavigation: () => ({ main: [], settings: [] }) }));
vi.mock('#console/pages/incidents/answer_incidents.ts', () => ({ useAnswerIncidents: () => ({ mutate: () => {} }) }));

/** Incident 5 is resolved, and none is open. */
const RESOLVED = { incidentId: 'incident_5', number: 5, status: 'resolved', title: 'Slow', serviceName: 'checkout' };
const PEOPLE = [
  { id: 'user_2', name: 'Dana', detail: null },
  { id: 'user_1', name: 'Olga', detail: null },
];

beforeEach(() => {
  vi.stubGlobal('matchMedia', () => ({ matches: false, addEventListener: () => {}, removeEventListener: () => {} }));
  const answerTo = (action: string, { status }: { status?: string }) => ({
    incidents: action === 'search_incidents' && status === undefined ? [RESOLVED] : [],
    found: action === 'search_everything' ? [{ kind: 'person', items: PEOPLE, total: 2 }] : [],
    total: 0,
    nextCursor: null,
  });
  vi.stubGlobal('fetch', async (url: string, { body = '{}' }: { body?: string } = {}) => {
    const { reads, ...input } = JSON.parse(body) as { reads?: { action: string; input: object }[]; status?: string };
    if (reads === undefined) return Response.json({ result: answerTo(url.split('/').at(-1) ?? '', input) });
    const answers = reads.map((read) => ({ result: answerTo(read.action, read.input) }));
    return Response.json({ result: { answers } });
  });
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

async function type(text: string): Promise<void> {
  const client = new QueryClient();
  await renderInRouter(() => (
    <MantineProvider env="test">
      <QueryClientProvider client={client}>
        <Palette isOpen onClose={() => {}} />
      </QueryClientProvider>
    </MantineProvider>
  ));
  const field = await screen.findByRole('textbox', {}, PATIENTLY);
  act(() => void fireEvent.change(field, { target: { value: text } }));
}

const labels = () => [...document.querySelectorAll('[data-action]')].map(({ textContent }) => textContent);

test.each([
  ['acknowledge', /^No incident waits to be acknowledged/],
  ['ack 7', /^No incident #7 waits to be acknowledged/],
  ['ack 5', /^#5 is resolved: .*Slow/],
  ['resolve', /^No incident is open to be resolved/],
])('%j with nothing to answer says so in one line', async (typed, line) => {
  await type(typed);
  await screen.findByText(line, {}, PATIENTLY);
  expect(labels()).toEqual([expect.stringMatching(line)]);
});

test('whoever may put somebody on call may put themselves', async () => {
  await type('put me on call');
  await screen.findByText(/^Put .*yourself.* on call/, {}, PATIENTLY);
  expect(labels()[0]).toMatch(/yourself/);
  cleanup();
  await type('put da on call');
  await screen.findByText(/^Put .*Dana.* on call/, {}, PATIENTLY);
  expect(labels().slice(0, 2).join(' ')).toMatch(/yourself.*Dana|Dana.*yourself/);
});
