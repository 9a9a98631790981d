// @vitest-environment happy-dom
import { fireEvent, screen } from '@testing-library/react';
import { expect, test } from 'vitest';

import type { IncidentWithLog } from '#console/api/actions.ts';
import { HandOver } from '#console/pages/incidents/hand_over.tsx';
import { renderInConsole, serve } from '#test/console/in_console.tsx';
import { PATIENTLY } from '#test/console/long_wait.ts';

const personWith = (phone: unknown) => ({
  userId: 'user_2',
  name: 'Dana',
  memberId: 'member_1',
  isOnCall: false,
  channels: phone === null ? [] : ['sms'],
  refusal: phone === null ? 'Dana cannot be paged: no number' : null,
});

test('whom nothing reaches is given a number from the hand-over, which goes on with them', async () => {
  let phone: unknown = null;
  const asked = serve((action, input) => {
    if (action === 'update_team_member') phone = input['phone'];
    const team = { teamId: 'team_1', name: 'Payments' };
    return { people: [personWith(phone)], policies: [], furtherPeople: 0, furtherPolicies: 0, team };
  });
  const incident = {
    incidentId: 'incident_1',
    number: 5,
    status: 'triggered',
    escalation: { steps: [], stepCount: 0 },
  };
  await renderInConsole(<HandOver incident={incident as unknown as IncidentWithLog} onClose={() => {}} />);
  const field = await screen.findByLabelText('Person', {}, PATIENTLY);
  fireEvent.click(field);
  fireEvent.click(await screen.findByText('Dana, nothing reaches them', {}, PATIENTLY));
  await screen.findByText('Dana cannot be paged: no number.', {}, PATIENTLY);
  fireEvent.click(screen.getByRole('button', { name: 'Add a number for Dana' }));
  fireEvent.change(await screen.findByLabelText('Phone', {}, PATIENTLY), { target: { value: '+31 6 12345678' } });
  fireEvent.click(screen.getByRole('button', { name: 'Add the number' }));
  await screen.findByText(/^Dana is paged now, by SMS/, {}, PATIENTLY);
  const contact = { phone: '+31612345678', smsEnabled: true, callEnabled: true };
  expect(asked).toContainEqual({ action: 'update_team_member', input: { memberId: 'member_1', ...contact } });
});
