// @vitest-environment happy-dom
import { MantineProvider } from '@mantine/core';
import { cleanup, screen } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';

import type { Member } from '#console/api/organization.ts';
import { PersonLine } from '#console/pages/oncall/person_line.tsx';
import type { ShownSchedule } from '#console/pages/oncall/use_timeline.ts';
import { renderInRouter } from '#test/console/in_router.tsx';

vi.mock('#console/shell/organization.tsx', () => ({ useOrganization: () => ({ may: () => true }) }));

afterEach(cleanup);

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
    shifts: [shift('user_1', -30, -20), shift('user_2', -20, 20), shift('user_1', 20, 40)],
  };
  const member = {
    userId: 'user_1',
    name: 'Dana',
    email: 'dana@x.test',
    role: 'responder',
    color: 1,
    teams: [{ teamId: 'team_1', name: 'Payments' }],
    warnings: [],
  };
  await renderInRouter(() => (
    <MantineProvider env="test">
      <PersonLine
        member={member as unknown as Member}
        schedules={[schedule as unknown as ShownSchedule]}
        onPut={() => {}}
        onClose={() => {}}
      />
    </MantineProvider>
  ));
  expect(screen.getAllByRole('link').map((link) => link.textContent)).toEqual([
    'Payments weekly',
    'Payments',
    'Role and membership',
  ]);
  expect(screen.getAllByRole('listitem')[0]?.textContent).not.toContain('Now');
});
