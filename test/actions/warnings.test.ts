import { beforeEach, describe, expect, test } from 'vitest';

import { addEscalationPolicy } from '#modules/policies/operations/create_escalation_policy.ts';
import { previewEscalation } from '#modules/policies/operations/simulate_escalation.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { type World, world } from '#test/kit/world.ts';

const NOW = '2026-03-02T12:00:00Z';

let w: World;
let teamId: string;

/** SMS and calls are set up, mail is not. */
beforeEach(async () => {
  const twilio = { twilioAccountSid: `AC${'0'.repeat(32)}`, twilioAuthToken: 'token', twilioFrom: '+15005550006' };
  w = await world({ settings: twilio });
  w.clock.set(NOW);
  ({ teamId } = await w.expectOk('create_team', { name: 'Platform' }));
});

async function member(name: string, contact: object = { phone: '+31612345678' }) {
  const { userId } = await w.given.user({ name });
  const { memberId } = await w.expectOk('add_team_member', { teamId, userId, ...contact });
  return { userId, memberId };
}

/** The same in both answers. */
async function warnings(): Promise<{ kind: string; message: string }[]> {
  const { teams } = await w.expectOk('list_teams');
  const onCall = await w.expectOk('who_is_on_call', { teamId });
  expect(onCall.warnings).toEqual(teams[0].warnings);
  return onCall.warnings;
}

const policy = (...steps: object[]) => w.expectOk('create_escalation_policy', { teamId, name: 'Wake somebody', steps });

test('a policy whose secondary is on call as the primary at the same time is told, with the time', async () => {
  const { userId } = await member('Dana');
  const { userId: other } = await member('Anna');
  const startAt = '2026-03-02T09:00:00Z';
  const make = async (name: string, userIds: string[]): Promise<string> => {
    const rotationConfig = { userIds };
    return (await w.expectOk('create_schedule', { teamId, name, rotationType: 'daily', rotationConfig, startAt }))
      .scheduleId;
  };
  const primary = await make('Primary', [userId, other]);
  const secondary = await make('Secondary', [userId]);
  const steps = [primary, secondary].map((scheduleId, place) => ({
    afterMinutes: place * 10,
    channels: ['sms'],
    targetUserIds: [],
    useSchedule: true,
    scheduleIds: [scheduleId],
  }));
  const owner = memberCaller(w.orgId, userId, 'owner');
  const created = await runOperation(w, addEscalationPolicy, owner, { teamId, name: 'Wake somebody', steps });
  const at = 'from 2026-03-02T12:00:00.000Z to 2026-03-03T09:00:00.000Z, and 14 more times within 28 days';
  const message = `Dana is on call in "Primary" and "Secondary" at once ${at}.`;
  const warning = {
    kind: 'on_call_twice',
    message: `${message} The policy "Wake somebody" asks one after the other.`,
    policyId: created.policyId,
    step: 1,
    scheduleIds: [primary, secondary],
    userId,
  };
  expect(created.warnings).toEqual([warning]);
  expect(await warnings()).toEqual([warning]);
  const preview = await runOperation(w, previewEscalation, owner, { teamId, steps });
  expect(preview.warnings).toEqual([message]);
  await w.expectOk('update_schedule', { scheduleId: secondary, rotationConfig: { userIds: [other, userId] } });
  expect(await warnings()).toEqual([]);
});

describe('a policy step that today reaches nobody', () => {
  test('because nobody is on call', async () => {
    const { policyId } = await policy({ afterMinutes: 0, channels: ['sms'], useSchedule: true });
    expect(await warnings()).toEqual([
      {
        kind: 'step_reaches_nobody',
        message: 'Step 1 of the policy "Wake somebody" would reach nobody now: nobody is on call.',
        policyId,
        step: 0,
      },
    ]);
  });

  test('because it names nobody, its channel is not set up, or nobody it names has that channel', async () => {
    const { userId } = await member('Anna');
    await policy(
      { afterMinutes: 0, channels: ['sms'] },
      { afterMinutes: 5, channels: ['email'], targetUserIds: [userId] },
      { afterMinutes: 10, channels: ['push'], targetUserIds: [userId] },
      { afterMinutes: 15, channels: ['push', 'call'], targetUserIds: [userId] },
    );
    expect((await warnings()).map(({ message }) => message)).toEqual([
      'Step 1 of the policy "Wake somebody" would reach nobody now: it names nobody.',
      'Step 2 of the policy "Wake somebody" would reach nobody now: the channel is not set up on this server.',
      'Step 3 of the policy "Wake somebody" would reach nobody now: every channel is off or has no address.',
    ]);
  });

  test('is no longer told once somebody is on call', async () => {
    const { userId } = await member('Anna');
    await policy({ afterMinutes: 0, channels: ['sms'], useSchedule: true });
    const schedule = { teamId, name: 'Primary', rotationConfig: { userIds: [userId] }, startAt: NOW };
    await w.expectOk('create_schedule', schedule);
    expect(await warnings()).toEqual([]);
  });
});

describe('a schedule with gaps in the next 30 days', () => {
  test('a gap that has not begun, and the shifts that cover a part of it', async () => {
    const { userId } = await member('Anna');
    const { scheduleId } = await w.expectOk('create_schedule', {
      teamId,
      name: 'Primary',
      rotationConfig: { userIds: [userId] },
      startAt: '2026-03-05T09:00:00Z',
    });
    const [startAt, endAt] = ['2026-03-03T00:00:00Z', '2026-03-04T00:00:00Z'];
    await w.expectOk('create_schedule_override', { scheduleId, userId, startAt, endAt });
    expect(await warnings()).toEqual([
      {
        kind: 'schedule_gap',
        message:
          'Nobody is on call in the schedule "Primary" from 2026-03-02T12:00:00.000Z to 2026-03-03T00:00:00.000Z, and 1 more time within 30 days.',
        scheduleId,
        gaps: [
          { since: '2026-03-02T12:00:00.000Z', until: '2026-03-03T00:00:00.000Z' },
          { since: '2026-03-04T00:00:00.000Z', until: '2026-03-05T09:00:00.000Z' },
        ],
      },
      expect.objectContaining({ kind: 'schedule_pages_nobody' }),
    ]);
  });

  test('gaps that lie further away are not reported yet', async () => {
    const { userId } = await member('Anna');
    await w.expectOk('create_schedule', {
      teamId,
      name: 'Primary',
      rotationConfig: { userIds: [userId] },
      startAt: NOW,
    });
    expect(await warnings()).toMatchObject([{ kind: 'schedule_pages_nobody' }]);
  });

  test('because everybody in it has left', async () => {
    const { userId } = await member('Anna');
    await w.expectOk('create_schedule', { teamId, name: 'Primary', rotationConfig: { userIds: [userId] } });
    await w.context.db.sql.run('delete from memberships where user_id = $1', [userId]);
    expect(await warnings()).toMatchObject([{ kind: 'schedule_gap', gaps: [{ until: '2026-04-01T12:00:00.000Z' }] }]);
  });
});

test('a schedule that no policy of its team asks is told, until one does', async () => {
  const { userId } = await member('Anna');
  const rotation = { rotationConfig: { userIds: [userId] }, startAt: NOW };
  const { scheduleId } = await w.expectOk('create_schedule', { teamId, name: 'Primary', ...rotation });
  const other = await w.expectOk('create_schedule', { teamId, name: 'Secondary', ...rotation });
  const why = (name: string, reason: string) => `Nobody is paged by the schedule "${name}" yet: ${reason}.`;
  expect(await warnings()).toEqual([
    { kind: 'schedule_pages_nobody', scheduleId, message: why('Primary', 'the team has no escalation policy') },
    expect.objectContaining({ scheduleId: other.scheduleId }),
  ]);
  const step = { afterMinutes: 0, channels: ['sms'], targetUserIds: [], useSchedule: true };
  const owner = memberCaller(w.orgId, userId, 'owner');
  const add = (name: string, scheduleIds: string[]) =>
    runOperation(w, addEscalationPolicy, owner, { teamId, name, steps: [{ ...step, scheduleIds }] });
  await add('Wake', [scheduleId]);
  expect(await warnings()).toMatchObject([{ message: why('Secondary', 'no escalation policy asks it') }]);
  await add('Second', [other.scheduleId]);
  expect(await warnings()).toEqual([]);
});

test('a member whom no channel reaches is told, with why', async () => {
  await member('Anna');
  const { userId, memberId } = await member('Bram', {});
  await member('Cleo', { phone: '+31612345679', smsEnabled: false });
  await member('Dirk', { phone: '+31612345670', smsEnabled: false, callEnabled: false });
  const shown = await warnings();
  expect(shown).toHaveLength(2);
  expect(shown[0]).toEqual({
    kind: 'member_unreachable',
    message: 'Nothing reaches Bram: each channel is off, lacks an address, or is not set up on this server.',
    memberId,
    userId,
  });
});

test('warnings of one team are not told of another', async () => {
  await policy({ afterMinutes: 0, channels: ['sms'], useSchedule: true });
  await w.expectOk('create_team', { name: 'Idle' });
  const { teams } = await w.expectOk('list_teams');
  expect(teams.map((team: { warnings: unknown[] }) => team.warnings.length)).toEqual([1, 0]);
});
