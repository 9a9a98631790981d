// @vitest-environment happy-dom
import { cleanup, fireEvent, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';

import type { IncidentWithLog } from '#console/api/actions.ts';
import { ExceptionDetails } from '#console/pages/incidents/incident_cause.tsx';
import { Answers } from '#console/pages/incidents/incident_page.tsx';
import { NewNote } from '#console/pages/incidents/notes.tsx';
import { renderInConsole, serve } from '#test/console/in_console.tsx';
import { PATIENTLY } from '#test/console/long_wait.ts';

/** Returns an incident that was handed over to a person. */
function incidentWith(status: IncidentWithLog['status'], userId: string): IncidentWithLog {
  const escalation = { firstStep: 1, steps: [{ index: 1, targetUserIds: [userId], useSchedule: false }] };
  return { incidentId: 'incident_1', status, escalation } as unknown as IncidentWithLog;
}

/** Shows the bar in each of the states in turn, and returns the act at each of its places. */
async function placesIn(states: readonly IncidentWithLog['status'][]) {
  const bar = (status: IncidentWithLog['status']) => (
    <Answers incident={incidentWith(status, 'user_1')} onNote={() => {}} />
  );
  const view = await renderInConsole(bar('triggered'));
  return states.map((status) => {
    view.rerender(bar(status));
    const places = [...screen.getByRole('button', { name: /^(?:Resolve|Reopen)$/ }).parentElement!.children];
    return places.map((place) =>
      place.tagName === 'BUTTON' ? (place.getAttribute('aria-label') ?? place.textContent) : null,
    );
  });
}

test('each place of the bar of an incident holds one act or none, whatever happens meanwhile', async () => {
  const states = await placesIn(['triggered', 'acknowledged', 'triggered', 'acknowledged', 'resolved']);
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
  const form = (isInDialog: boolean) => <NewNote incidentId="incident_1" isInDialog={isInDialog} onClose={onClose} />;
  const view = await renderInConsole(form(false));
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
  const asked = serve(() => ({
    changed: [{ groupId: 'group_1' }],
    resolvedIncidentIds: [],
    status: ofGroup,
    firstSeenAt: '2026-11-30T10:00:00Z',
    lastSeenAt: '2026-11-30T10:00:00Z',
    type: 'CartError',
    title: 'CartError',
    recentEvents: [],
    eventCount: 1,
    userCount: 0,
  }));
  const incident = { status, exceptionGroupId: 'group_1', ruleId: null } as IncidentWithLog;
  await renderInConsole(<ExceptionDetails incident={incident} />);
  await screen.findByText('Open the exception', {}, PATIENTLY);
  return asked;
}

test('a resolved incident says that its exception is unresolved, and offers to resolve it, too', async () => {
  const asked = await showCause('resolved', 'unresolved');
  fireEvent.click(await screen.findByText(OFFER, {}, PATIENTLY));
  const change = { groupId: 'group_1', status: 'resolved' };
  await screen.findByText('Exception resolved.', {}, PATIENTLY);
  expect(asked).toContainEqual({ action: 'set_exception_statuses', input: { changes: [change] } });
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

test('who has handed an incident over to somebody is not asked to answer it, and still can', async () => {
  const variantFor = async (userId: string): Promise<string | undefined> => {
    await renderInConsole(<Answers incident={incidentWith('triggered', userId)} onNote={() => {}} />);
    const { variant } = screen.getByRole('button', { name: 'Acknowledge' }).dataset;
    cleanup();
    return variant;
  };
  expect([await variantFor('user_1'), await variantFor('user_2')]).toEqual(['filled', 'default']);
});
