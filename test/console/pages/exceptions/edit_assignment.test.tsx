import { fireEvent, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';

import { EditAssignment } from '#console/pages/exceptions/triage/edit_assignment.tsx';
import { renderInConsole } from '#test/console/in_console.tsx';
import { PATIENTLY } from '#test/console/long_wait.ts';

const ASSIGNMENTS = {
  assignmentRules: [
    { path: 'src/*', tag: null, assigneeId: 'team_1' },
    { path: null, tag: null, assigneeId: 'user_2' },
  ],
  issueLink: null,
  trackerId: null,
  trackerProject: null,
  names: [],
};

/** Returns the text of the error beside a field. */
const errorOf = (field: HTMLElement): string =>
  (field.getAttribute('aria-describedby') ?? '')
    .split(' ')
    .map((id) => document.querySelector(`[id="${id}"]`)?.textContent)
    .join('');

test('what is wrong with a rule stands at the field of that rule, whoever finds it', async () => {
  const errors = [{ path: 'assignmentRules[1].assigneeId', message: 'no such member or team' }];
  const { rerender } = await renderInConsole(<div />);
  vi.stubGlobal('fetch', async (address: string, { body = '{}' }: { body?: string } = {}) => {
    const { reads } = JSON.parse(body) as { reads?: unknown[] };
    if (address.endsWith('/set_exception_assignment')) {
      return Response.json({ code: 'not_found', detail: 'no such member or team', errors }, { status: 404 });
    }
    const result = { trackers: [], people: [], members: [], teams: [], invitations: [], nextCursor: null };
    return Response.json({ result: reads === undefined ? result : { answers: reads.map(() => ({ result })) } });
  });
  rerender(<EditAssignment serviceId="service_1" assignments={ASSIGNMENTS} onClose={() => {}} />);
  fireEvent.change(await screen.findByLabelText('Address for new issues', {}, PATIENTLY), {
    target: { value: 'https://tracker.example/new' },
  });
  fireEvent.click(screen.getByRole('button', { name: 'Save' }));
  await screen.findByText('No such member or team', {}, PATIENTLY);
  expect(errorOf(screen.getByLabelText('Person'))).toContain('No such member or team');
  expect(errorOf(screen.getByLabelText(/^Team/))).not.toContain('No such member');
  const [tag] = screen.getAllByLabelText('and a tag is like');
  fireEvent.change(tag!, { target: { value: 'acme' } });
  fireEvent.click(screen.getByRole('button', { name: 'Save' }));
  await screen.findByText(/^Write it like/, {}, PATIENTLY);
  expect(errorOf(tag!)).toContain('Write it like customer:acme*');
  expect(errorOf(screen.getByLabelText('Address for new issues'))).not.toContain('Rule');
});
