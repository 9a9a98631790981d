import { Type } from 'typebox';

import { defineAction, defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS, FreeText, IdText, Name, StrictObject } from '#actions/fields.ts';
import { unwrap } from '#modules/contacts/decide/parsed.ts';
import { parseScheduleTimes, timeFaults } from '#modules/schedules/decide/schedule_times.ts';
import { RotationConfigInput, toRotationConfig } from './layer_fields.ts';
import { RotationTypeName, SCHEDULE_EXAMPLE, ScheduleView, toScheduleView } from '#modules/schedules/view.ts';
import { createTeam } from '#modules/teams/operations/create_team.ts';
import { TEAM_EXAMPLE } from '#modules/teams/view.ts';
import { OnCallWarnings, readOnCallWarnings } from '#modules/teams/warnings.ts';

export const createSchedule = defineAction({
  name: 'create_schedule',
  summary:
    'Create an on-call schedule for a team. Turns change hands at the local time of startAt (default now) in timezone (IANA, default UTC), every day or every week (default weekly); rotationConfig.shiftHours of 1 or more replaces the length of a turn. Without rotationConfig nobody is on call yet.',
  permission: 'oncall:edit',
  effect: 'write',
  input: StrictObject({
    teamId: IdText,
    name: Name,
    timezone: Type.Optional(FreeText),
    rotationType: Type.Optional(RotationTypeName),
    rotationConfig: Type.Optional(RotationConfigInput),
    startAt: Type.Optional(
      Type.Unknown({ description: 'RFC 3339, a local date-time in timezone, or epoch milliseconds' }),
    ),
  }),
  result: Type.Object({ ...ScheduleView.properties, warnings: OnCallWarnings }),
  validate: ({ timezone, startAt }) => timeFaults({ timezone, startAt: startAt ?? undefined }),
  example: {
    teamId: IDS.teamId,
    name: SCHEDULE_EXAMPLE.name,
    timezone: SCHEDULE_EXAMPLE.timezone,
    rotationType: 'weekly',
    rotationConfig: SCHEDULE_EXAMPLE.rotationConfig,
    startAt: '2027-01-04T09:00',
  },
  exampleResult: { ...SCHEDULE_EXAMPLE, warnings: [] },
  async handle(input, context) {
    const { stores, caller, now, record } = context;
    const times = unwrap(parseScheduleTimes(input, now));
    const team = await stores.teams.lock(caller.orgId, input.teamId);
    const schedule = await stores.schedules.insert(
      team,
      {
        name: input.name,
        ...times,
        rotationType: input.rotationType ?? 'weekly',
        rotationConfig: await toRotationConfig(input.rotationConfig ?? { userIds: [] }, context),
      },
      now,
    );
    const after = toScheduleView(schedule);
    record({ target: schedule.id, before: null, after });
    return { ...after, warnings: await readOnCallWarnings(schedule.rotationConfig.userIds, team.id, context) };
  },
});

/** Creates both or neither: a schedule that is refused leaves no team behind. */
export const createTeamSchedule = defineOperation({
  name: 'create_team_schedule',
  summary: 'Create a team together with its first schedule.',
  permission: 'oncall:edit',
  effect: 'write',
  input: StrictObject({
    teamName: Name,
    name: Name,
    timezone: FreeText,
    rotationType: RotationTypeName,
    rotationConfig: RotationConfigInput,
    startAt: Type.String({ maxLength: 40, description: 'RFC 3339, or a local date-time in timezone' }),
  }),
  result: Type.Object({ ...ScheduleView.properties, warnings: OnCallWarnings }),
  validate: ({ timezone, startAt }) => timeFaults({ timezone, startAt }),
  example: {
    teamName: TEAM_EXAMPLE.name,
    name: SCHEDULE_EXAMPLE.name,
    timezone: SCHEDULE_EXAMPLE.timezone,
    rotationType: 'weekly',
    rotationConfig: SCHEDULE_EXAMPLE.rotationConfig,
    startAt: '2027-01-04T09:00',
  },
  async handle({ teamName, ...schedule }, context) {
    const { teamId } = await createTeam.handle({ name: teamName }, context, undefined);
    return await createSchedule.handle({ teamId, ...schedule }, context, undefined);
  },
});
