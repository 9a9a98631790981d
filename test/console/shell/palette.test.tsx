// @vitest-environment happy-dom
import { act, cleanup, fireEvent, screen } from '@testing-library/react';
import { beforeEach, expect, test } from 'vitest';

import { Palette } from '#console/shell/palette/palette.tsx';
import { renderInConsole, serve } from '#test/console/in_console.tsx';
import { PATIENTLY } from '#test/console/long_wait.ts';

/** Incident 5 is resolved, and none is open. */
const RESOLVED = { incidentId: 'incident_5', number: 5, status: 'resolved', title: 'Slow', serviceName: 'checkout' };
const PEOPLE = [
  { id: 'user_2', name: 'Dana', detail: null },
  { id: 'user_1', name: 'Olga', detail: null },
];

beforeEach(() => {
  serve((action, { status }) => ({
    incidents: action === 'search_incidents' && status === undefined ? [RESOLVED] : [],
    found: action === 'search_everything' ? [{ kind: 'person', items: PEOPLE, total: 2 }] : [],
    total: 0,
    nextCursor: null,
  }));
});

async function type(text: string): Promise<void> {
  await renderInConsole(<Palette isOpen onClose={() => {}} />);
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
