import { fireEvent, screen } from '@testing-library/react';
import { expect, test } from 'vitest';

import { ActivityCard } from '#console/pages/exceptions/triage/activity_card.tsx';
import { NewNote } from '#console/pages/incidents/notes.tsx';
import { renderInConsole, serve } from '#test/console/in_console.tsx';
import { PATIENTLY } from '#test/console/long_wait.ts';

test.each([
  ['Add a comment', 'Comment', <ActivityCard key="card" groupId="group_1" />],
  ['Add a note', 'Add note', <NewNote key="note" incidentId="incident_1" isInDialog={false} onClose={() => {}} />],
])('nothing can be typed into “%s” while it is sent, as it is emptied then', async (label, button, form) => {
  const { promise, resolve } = Promise.withResolvers<object>();
  serve((action) => (action.startsWith('add_') ? promise : { entries: [], nextCursor: null }));
  await renderInConsole(form);
  const field = await screen.findByLabelText<HTMLTextAreaElement>(label, {}, PATIENTLY);
  fireEvent.change(field, { target: { value: 'It is the cache.' } });
  fireEvent.click(screen.getByRole('button', { name: button }));
  await screen.findByLabelText(label, { selector: '[readonly]' }, PATIENTLY);
  resolve({});
  await screen.findByLabelText(label, { selector: ':not([readonly])' }, PATIENTLY);
  expect(field.value).toBe('');
});
