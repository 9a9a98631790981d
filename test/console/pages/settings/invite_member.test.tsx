// @vitest-environment happy-dom
import { fireEvent, screen } from '@testing-library/react';
import { expect, test } from 'vitest';

import { InviteMember } from '#console/pages/settings/invite_member.tsx';
import { renderInConsole, serve } from '#test/console/in_console.tsx';
import { PATIENTLY } from '#test/console/long_wait.ts';

test('of several people who are invited at once, each may have a role of their own', async () => {
  const asked = serve((action, input) =>
    action === 'create_invitation'
      ? { ...input, link: 'https://x.test', isMailed: true }
      : { teams: [], nextCursor: null },
  );
  await renderInConsole(<InviteMember onClose={() => {}} />);
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
  const invited = asked.filter(({ action }) => action === 'create_invitation');
  expect(invited.map(({ input }) => input)).toEqual([
    { email: 'ada@x.test', role: 'viewer' },
    { email: 'bob@x.test', role: 'editor' },
  ]);
  fireEvent.click(screen.getByText('Invite others'));
  await screen.findByLabelText('Mail address', {}, PATIENTLY);
  expect(screen.getByLabelText<HTMLSelectElement>('Role').value).toBe('viewer');
});
