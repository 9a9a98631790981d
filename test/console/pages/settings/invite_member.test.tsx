// @vitest-environment happy-dom
import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { InviteMember } from '#console/pages/settings/invite_member.tsx';
import { PATIENTLY } from '#test/console/long_wait.ts';

const org = { orgId: 'org_1', name: 'Acme', role: 'owner' };
vi.mock('#console/shell/organization.tsx', () => ({
  useOrganization: () => ({ org, session: { user: { userId: 'user_1' } }, may: () => true }),
  useRefresh: () => async () => {},
}));
vi.mock('#console/components/use_close_on_back.ts', () => ({ useCloseOnBack: () => {} }));
vi.mock('#console/components/leave_question.tsx', () => ({ LeaveBlocker: () => null }));
vi.mock('#console/components/forms/team_picker.tsx', () => ({ TeamPicker: () => null, useTeamName: () => undefined }));

const invoke = vi.hoisted(() => vi.fn<(orgId: string, action: string, input: object) => Promise<object>>());
vi.mock('#console/api/actions.ts', () => ({ invoke }));

beforeEach(() => {
  // The field for addresses grows with its text, and measures it anew with another font.
  Object.defineProperty(document, 'fonts', { configurable: true, value: new EventTarget() });
});
afterEach(cleanup);

test('of several people who are invited at once, each may have a role of their own', async () => {
  invoke.mockImplementation(async (_orgId, _action, input) => ({ ...input, link: 'https://x.test', isMailed: true }));
  render(
    <QueryClientProvider client={new QueryClient()}>
      <MantineProvider env="test">
        <InviteMember onClose={() => {}} />
      </MantineProvider>
    </QueryClientProvider>,
  );
  const addresses = await screen.findByLabelText('Mail address', {}, PATIENTLY);
  const choose = (label: string, value: string) =>
    fireEvent.change(screen.getByLabelText(label), { target: { value } });
  expect(screen.queryByLabelText(/^Role of /)).toBeNull();
  fireEvent.change(addresses, { target: { value: 'ada@x.test, bob@x.test' } });
  choose('Role of all', 'viewer');
  choose('Role of bob@x.test', 'editor');
  fireEvent.submit(addresses.closest('form')!);
  await screen.findByText('2 of 2 are invited', {}, PATIENTLY);
  // Whoever presses Enter once more does not lose the links, which are shown this once.
  expect(screen.queryByLabelText('Close')).toBeNull();
  expect(invoke.mock.calls.map(([, , input]) => input)).toEqual([
    { email: 'ada@x.test', role: 'viewer' },
    { email: 'bob@x.test', role: 'editor' },
  ]);
  fireEvent.click(screen.getByText('Invite others'));
  await screen.findByLabelText('Mail address', {}, PATIENTLY);
  expect(screen.getByLabelText<HTMLSelectElement>('Role').value).toBe('viewer');
});
