// @vitest-environment happy-dom
import { QueryClient } from '@tanstack/react-query';
import { act, fireEvent, screen } from '@testing-library/react';
import { beforeEach, expect, test, vi } from 'vitest';

import { useOnlyPolicy } from '#console/components/forms/policy_picker.tsx';
import { PersonPicker } from '#console/components/forms/person_picker.tsx';
import { renderInConsole, serve } from '#test/console/in_console.tsx';
import type { Role } from '#kernel/permissions.ts';
import { PATIENTLY } from '#test/console/long_wait.ts';

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

let asked: ReturnType<typeof serve>;
beforeEach(() => {
  asked = serve((action) => RESULTS[action]);
});

async function open(role: Role, onChange: (userId: string | null) => void): Promise<void> {
  await renderInConsole(<PersonPicker value={null} onChange={onChange} label="Person" placeholder="Type a name" />, {
    role,
  });
  act(() => void fireEvent.focus(screen.getByRole('combobox', { name: 'Person' })));
  act(() => void fireEvent.click(screen.getByRole('combobox', { name: 'Person' })));
  await screen.findByRole('option', { name: 'Owner' }, PATIENTLY);
}

test('whoever was invited is listed with the reason why they cannot be chosen yet', async () => {
  const onChange = vi.fn<(userId: string | null) => void>();
  await open('admin', onChange);
  const invited = await screen.findByRole('option', { name: /^ann@example.com/ }, PATIENTLY);
  expect(invited.textContent).toBe('ann@example.com: invited, can be chosen after accepting');
  expect(screen.queryByRole('option', { name: /^old@example.com/ })).toBeNull();
  act(() => void fireEvent.click(invited));
  expect(onChange).not.toHaveBeenCalled();
});

test('who may not see invitations is not shown them', async () => {
  await open('responder', () => {});
  expect(asked.map(({ action }) => action)).toEqual(['list_members']);
});

test('the only policy is what forms begin with; of two, a person chooses', async () => {
  function Only() {
    return <output>{useOnlyPolicy() ?? 'none'}</output>;
  }
  const client = new QueryClient();
  await renderInConsole(<Only />, { client });
  await screen.findByText('policy_1', {}, PATIENTLY);
  const two = [{ policyId: 'policy_1' }, { policyId: 'policy_2' }];
  act(
    () =>
      void client.setQueriesData({ queryKey: ['org', 'org_1'] }, { pageParams: [null], pages: [{ policies: two }] }),
  );
  expect((await screen.findByText('none', {}, PATIENTLY)).tagName).toBe('OUTPUT');
});
