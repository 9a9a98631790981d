// @vitest-environment happy-dom
import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { act, cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { useOnlyPolicy } from '#console/components/forms/policy_picker.tsx';
import { PersonPicker } from '#console/components/forms/person_picker.tsx';
import { renderInRouter } from '#test/console/in_router.tsx';
import { PATIENTLY } from '#test/console/long_wait.ts';

const viewer = vi.hoisted(() => ({ isAdmin: true }));
vi.mock('#console/shell/organization.tsx', () => ({
  useOrganization: () => ({ org: { orgId: 'org_1' }, session: { user: { userId: 'user_1' } }, ...viewer }),
}));

const RESULTS: Readonly<Record<string, object>> = {
  list_members: {
    members: [{ userId: 'user_1', name: 'Owner', email: 'owner@example.com' }],
    total: 1,
    nextCursor: null,
  },
  search_escalation_policies: { policies: [{ policyId: 'policy_1' }], total: 1, nextCursor: null },
  list_invitations: {
    invitations: [
      { invitationId: 'invitation_1', email: 'ann@example.com', status: 'pending', teamIds: [] },
      { invitationId: 'invitation_2', email: 'old@example.com', status: 'expired', teamIds: [] },
    ],
    nextCursor: null,
  },
};
const asked: string[] = [];

beforeEach(() => {
  asked.length = 0;
  vi.stubGlobal('fetch', async (address: string) => {
    const action = address.split('/').at(-1) ?? '';
    if (action === 'reads') return Response.json({}, { status: 404 });
    asked.push(action);
    return Response.json({ result: RESULTS[action] });
  });
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

async function open(onChange: (userId: string | null) => void): Promise<void> {
  await renderInRouter(() => (
    <MantineProvider env="test">
      <QueryClientProvider client={new QueryClient()}>
        <PersonPicker value={null} onChange={onChange} label="Person" placeholder="Type a name" />
      </QueryClientProvider>
    </MantineProvider>
  ));
  act(() => void fireEvent.focus(screen.getByRole('combobox', { name: 'Person' })));
  act(() => void fireEvent.click(screen.getByRole('combobox', { name: 'Person' })));
  await screen.findByRole('option', { name: 'Owner' }, PATIENTLY);
}

test('whoever was invited is listed with the reason why they cannot be chosen yet', async () => {
  viewer.isAdmin = true;
  const onChange = vi.fn<(userId: string | null) => void>();
  await open(onChange);
  const invited = await screen.findByRole('option', { name: /^ann@example.com/ }, PATIENTLY);
  expect(invited.textContent).toBe('ann@example.com: invited, can be chosen after accepting');
  expect(screen.queryByRole('option', { name: /^old@example.com/ })).toBeNull();
  act(() => void fireEvent.click(invited));
  expect(onChange).not.toHaveBeenCalled();
});

test('who may not see invitations is not shown them', async () => {
  viewer.isAdmin = false;
  await open(() => {});
  expect(asked).toEqual(['list_members']);
});

test('the only policy is what forms begin with; of two, a person chooses', async () => {
  function Only() {
    return <output>{useOnlyPolicy() ?? 'none'}</output>;
  }
  const show = async (client: QueryClient): Promise<HTMLElement> => {
    render(
      <QueryClientProvider client={client}>
        <Only />
      </QueryClientProvider>,
    );
    return await screen.findByText(/^(?:policy_1|none)$/, {}, PATIENTLY);
  };
  const client = new QueryClient();
  await show(client);
  await screen.findByText('policy_1', {}, PATIENTLY);
  const two = [{ policyId: 'policy_1' }, { policyId: 'policy_2' }];
  act(() => void client.setQueriesData({}, { pageParams: [null], pages: [{ policies: two }] }));
  expect((await screen.findByText('none', {}, PATIENTLY)).tagName).toBe('OUTPUT');
});
