// @vitest-environment happy-dom
import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import type { IncidentWithLog } from '#console/api/actions.ts';
import { ExceptionDetails } from '#console/pages/incidents/incident_cause.tsx';
import { Answers } from '#console/pages/incidents/incident_page.tsx';
import { NewNote } from '#console/pages/incidents/notes.tsx';
import { renderInRouter } from '#test/console/in_router.tsx';
import { PATIENTLY } from '#test/console/long_wait.ts';

vi.mock('#console/pages/incidents/answer_incidents.ts', () => ({
  useAnswerIncidents: () => ({ mutate: () => {}, isPending: false }),
  useUndoAnswers: () => ({ mutate: () => {}, isPending: false }),
}));
const org = { orgId: 'org_1' };
vi.mock('#console/shell/organization.tsx', () => ({
  useOrganization: () => ({ org, session: { user: { userId: 'user_1' } }, may: () => true }),
  useRefresh: () => async () => {},
}));
vi.mock('#console/components/use_close_on_back.ts', () => ({ useCloseOnBack: () => {} }));
const group = vi.hoisted(() => ({ status: 'unresolved' }));
vi.mock('#console/api/actions.ts', async (original) => ({
  ...(await original<object>()),
  actionQuery: (...key: readonly unknown[]) => ({
    queryKey: key,
    queryFn: async () => ({
      ...group,
      firstSeenAt: '2026-11-30T10:00:00Z',
      lastSeenAt: '2026-11-30T10:00:00Z',
      type: 'CartError',
      title: 'CartError',
      recentEvents: [],
      eventCount: 1,
      userCount: 0,
    }),
  }),
}));
const setStatus = vi.hoisted(() => vi.fn<(change: object) => void>());
vi.mock('#console/pages/exceptions/triage/use_set_status.ts', () => ({
  useSetStatus: () => ({ mutate: setStatus, isPending: false }),
}));
vi.mock('#console/shell/keyboard.ts', () => ({ useShortcut: () => {} }));

beforeEach(() => {
  // The field of a note grows with its text, and measures it anew with another font.
  Object.defineProperty(document, 'fonts', { configurable: true, value: new EventTarget() });
});
afterEach(cleanup);

/** Returns an incident that was handed over to a person. */
function incidentWith(status: IncidentWithLog['status'], userId: string): IncidentWithLog {
  const escalation = { firstStep: 1, steps: [{ index: 1, targetUserIds: [userId], useSchedule: false }] };
  return { incidentId: 'incident_1', status, escalation } as unknown as IncidentWithLog;
}

/** Shows the bar in each of the states in turn, and returns the act at each of its places. */
function placesIn(states: readonly IncidentWithLog['status'][]) {
  const bar = (status: IncidentWithLog['status']) => (
    <MantineProvider env="test">
      <Answers incident={incidentWith(status, 'user_1')} onNote={() => {}} />
    </MantineProvider>
  );
  const view = render(bar('triggered'));
  return states.map((status) => {
    view.rerender(bar(status));
    const places = [...screen.getByRole('button', { name: /^(?:Resolve|Reopen)$/ }).parentElement!.children];
    return places.map((place) =>
      place.tagName === 'BUTTON' ? (place.getAttribute('aria-label') ?? place.textContent) : null,
    );
  });
}

test('each place of the bar of an incident holds one act or none, whatever happens meanwhile', () => {
  const states = placesIn(['triggered', 'acknowledged', 'triggered', 'acknowledged', 'resolved']);
  expect(states).toEqual([
    ['Acknowledge', 'Resolve', 'Hand over', 'Write a note'],
    [null, 'Resolve', 'Hand over', 'Write a note'],
    ['Acknowledge', 'Resolve', 'Hand over', 'Write a note'],
    [null, 'Resolve', 'Hand over', 'Write a note'],
    [null, null, 'Reopen', 'Write a note'],
  ]);
});

test('a note is written above the page as well as far down in it, and what was typed in one place is in the other', async () => {
  const onClose = vi.fn<() => void>();
  const form = (isInDialog: boolean) => (
    <QueryClientProvider client={new QueryClient()}>
      <MantineProvider env="test">
        <NewNote incidentId="incident_1" isInDialog={isInDialog} onClose={onClose} />
      </MantineProvider>
    </QueryClientProvider>
  );
  const view = render(form(false));
  fireEvent.change(screen.getByLabelText('Add a note'), { target: { value: 'The replica lags' } });
  view.rerender(form(true));
  await screen.findByRole('dialog', { name: 'Add a note' }, PATIENTLY);
  expect(screen.getByRole<HTMLTextAreaElement>('textbox').value).toBe('The replica lags');
  fireEvent.change(screen.getByRole('textbox'), { target: { value: 'The replica lags by 5 s' } });
  view.rerender(form(false));
  expect(screen.getByRole<HTMLTextAreaElement>('textbox').value).toBe('The replica lags by 5 s');
});

const OFFER = 'Resolve the exception, too';

async function showCause(status: IncidentWithLog['status'], ofGroup: string) {
  group.status = ofGroup;
  const incident = { status, exceptionGroupId: 'group_1', ruleId: null } as IncidentWithLog;
  await renderInRouter(() => (
    <QueryClientProvider client={new QueryClient()}>
      <MantineProvider env="test">
        <ExceptionDetails incident={incident} />
      </MantineProvider>
    </QueryClientProvider>
  ));
  await screen.findByText('Open the exception');
}

test('a resolved incident says that its exception is unresolved, and offers to resolve it, too', async () => {
  await showCause('resolved', 'unresolved');
  fireEvent.click(await screen.findByText(OFFER, {}, PATIENTLY));
  expect(setStatus.mock.calls).toEqual([[{ groupIds: ['group_1'], status: 'resolved' }]]);
  for (const [status, ofGroup] of [
    ['triggered', 'unresolved'],
    ['resolved', 'resolved'],
    ['resolved', 'ignored'],
  ] as const) {
    cleanup();
    await showCause(status, ofGroup);
    expect(screen.queryByText(OFFER)).toBeNull();
  }
});

test('who has handed an incident over to somebody is not asked to answer it, and still can', () => {
  const variantFor = (userId: string): string | undefined => {
    render(
      <MantineProvider env="test">
        <Answers incident={incidentWith('triggered', userId)} onNote={() => {}} />
      </MantineProvider>,
    );
    const { variant } = screen.getByRole('button', { name: 'Acknowledge' }).dataset;
    cleanup();
    return variant;
  };
  expect([variantFor('user_1'), variantFor('user_2')]).toEqual(['filled', 'default']);
});
