// @vitest-environment happy-dom
import { MantineProvider } from '@mantine/core';
import { cleanup, render, screen } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';

import type { IncidentWithLog } from '#console/api/actions.ts';
import { Answers } from '#console/pages/incidents/incident_page.tsx';

vi.mock('#console/pages/incidents/answer_incidents.ts', () => ({
  useAnswerIncidents: () => ({ mutate: () => {}, isPending: false }),
  useUndoAnswers: () => ({ mutate: () => {}, isPending: false }),
}));
vi.mock('#console/shell/keyboard.ts', () => ({ useShortcut: () => {} }));

afterEach(cleanup);

/** Shows the bar in each of the states in turn, and returns the act at each of its places. */
function placesIn(states: readonly IncidentWithLog['status'][]) {
  const bar = (status: IncidentWithLog['status']) => (
    <MantineProvider env="test">
      <Answers incident={{ incidentId: 'incident_1', status } as IncidentWithLog} />
    </MantineProvider>
  );
  const view = render(bar('triggered'));
  return states.map((status) => {
    view.rerender(bar(status));
    const places = [...screen.getByRole('button', { name: /^(?:Resolve|Reopen)$/ }).parentElement!.children];
    return places.map((place) => (place.tagName === 'BUTTON' ? place.textContent : null));
  });
}

test('each place of the bar of an incident holds one act or none, whatever happens meanwhile', () => {
  const states = placesIn(['triggered', 'acknowledged', 'triggered', 'acknowledged', 'resolved']);
  expect(states).toEqual([
    ['Acknowledge', 'Resolve', 'Hand over'],
    [null, 'Resolve', 'Hand over'],
    ['Acknowledge', 'Resolve', 'Hand over'],
    [null, 'Resolve', 'Hand over'],
    [null, null, 'Reopen'],
  ]);
});
