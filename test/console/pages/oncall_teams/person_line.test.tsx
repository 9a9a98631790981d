// @vitest-environment happy-dom
import { screen } from '@testing-library/react';
import { expect, test } from 'vitest';

import type { Member } from '#console/api/organization.ts';
import { PersonLine } from '#console/pages/oncall_teams/person_line.tsx';
import type { ShownSchedule } from '#console/pages/oncall/use_timeline.ts';
import { renderInConsole, serve } from '#test/console/in_console.tsx';

const state = (channel: string, state: string) => ({ channel, state, provedAt: null });
const PLACE = {
  teamId: 'team_1',
  teamName: 'Payments',
  phone: null,
  steps: [
    { policyId: 'policy_1', policyName: 'Wake', afterMinutes: 0, channels: ['push'] },
    { policyId: 'policy_1', policyName: 'Wake', afterMinutes: 5, channels: ['call', 'sms'] },
  ],
  readiness: {
    answer: 'no',
    reasons: ['no_waking_channel'],
    deviceCount: 0,
    channels: [
      state('sms', 'no_address'),
      state('call', 'no_address'),
      state('push', 'no_address'),
      state('email', 'ready'),
    ],
  },
};

test('the card of a person says when they are on call, and leads to their schedules, teams and membership', async () => {
  const at = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
  const shift = (userId: string, since: number, until: number) => ({
    userIds: [userId],
    since: at(since),
    until: at(until),
    source: 'rotation',
  });
  const schedule = {
    scheduleId: 'schedule_1',
    name: 'Payments weekly',
    shifts: [shift('user_3', -30, -20), shift('user_2', -20, 20), shift('user_3', 20, 40)],
  };
  const member = {
    userId: 'user_3',
    name: 'Dana',
    email: 'dana@x.test',
    role: 'responder',
    color: 1,
    teams: [{ teamId: 'team_1', name: 'Payments' }],
    warnings: [],
  };
  serve(() => ({ places: [PLACE] }));
  await renderInConsole(
    <PersonLine
      member={member as unknown as Member}
      schedules={[schedule as unknown as ShownSchedule]}
      onPut={() => {}}
      onClose={() => {}}
    />,
  );
  await screen.findByText('Paged at once by push, after 5 min by phone call and SMS.');
  expect(screen.getAllByRole('link').map((link) => link.textContent)).toEqual([
    'Payments weekly',
    'Payments',
    'Add it in the team',
    'Role and membership',
  ]);
  expect(screen.getAllByRole('listitem')[2]?.textContent).toContain('no number yet');
  expect(screen.getByText(/^Push/).parentElement?.textContent).toBe(
    'Push: no devicePhone call: no numberSMS: no numberMail',
  );
  expect(screen.getAllByRole('listitem')[0]?.textContent).not.toContain('Now');
});
