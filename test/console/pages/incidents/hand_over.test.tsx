// @vitest-environment happy-dom
import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { cleanup, fireEvent, screen } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';

import type { IncidentWithLog } from '#console/api/actions.ts';
import { HandOver } from '#console/pages/incidents/hand_over.tsx';
import { renderInRouter } from '#test/console/in_router.tsx';
import { PATIENTLY } from '#test/console/long_wait.ts';

vi.mock('#console/shell/organization.tsx', () => ({
  useOrganization: () => ({ org: { orgId: 'org_1' }, session: { user: { userId: 'user_9' } }, may: () => true }),
  useRefresh: () => () => client.invalidateQueries(),
}));
vi.mock('#console/components/use_close_on_back.ts', () => ({ useCloseOnBack: () => {} }));
vi.mock('#console/components/leave_question.tsx', () => ({ LeaveBlocker: () => null }));
const phones = vi.hoisted(() => new Map<string, string>());
const invoke = vi.hoisted(() => vi.fn<(orgId: string, action: string, input: { phone?: string }) => Promise<object>>());
vi.mock('#console/api/actions.ts', () => ({
  invoke,
  actionQuery: (...key: readonly unknown[]) => ({
    queryKey: key,
    queryFn: () => invoke('org_1', 'list_assignees', {}),
  }),
}));

const client = new QueryClient();
afterEach(cleanup);

const dana = () => ({
  userId: 'user_1',
  name: 'Dana',
  memberId: 'member_1',
  isOnCall: false,
  channels: phones.has('member_1') ? ['sms'] : [],
  refusal: phones.has('member_1') ? null : 'Dana cannot be paged: no number',
});

test('whom nothing reaches is given a number from the hand-over, which goes on with them', async () => {
  invoke.mockImplementation(async (_orgId, action, input) => {
    if (action === 'update_team_member') phones.set('member_1', input.phone ?? '');
    const team = { teamId: 'team_1', name: 'Payments' };
    return { people: [dana()], policies: [], furtherPeople: 0, furtherPolicies: 0, team };
  });
  const incident = {
    incidentId: 'incident_1',
    number: 5,
    status: 'triggered',
    escalation: { steps: [], stepCount: 0 },
  };
  await renderInRouter(() => (
    <QueryClientProvider client={client}>
      <MantineProvider env="test">
        <HandOver incident={incident as unknown as IncidentWithLog} onClose={() => {}} />
      </MantineProvider>
    </QueryClientProvider>
  ));
  const field = await screen.findByLabelText('Person', {}, PATIENTLY);
  fireEvent.click(field);
  fireEvent.click(await screen.findByText('Dana, nothing reaches them', {}, PATIENTLY));
  await screen.findByText('Dana cannot be paged: no number.', {}, PATIENTLY);
  fireEvent.click(screen.getByRole('button', { name: 'Add a number for Dana' }));
  fireEvent.change(await screen.findByLabelText('Phone', {}, PATIENTLY), { target: { value: '+31 6 12345678' } });
  fireEvent.click(screen.getByRole('button', { name: 'Add the number' }));
  await screen.findByText(/^Dana is paged now, by SMS/, {}, PATIENTLY);
  const contact = { phone: '+31612345678', smsEnabled: true, callEnabled: true };
  expect(invoke).toHaveBeenCalledWith('org_1', 'update_team_member', { memberId: 'member_1', ...contact });
});
