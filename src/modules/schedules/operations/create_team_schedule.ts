import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { FreeText, Name, STRICT } from '#actions/fields.ts';
import { createSchedule } from '#modules/schedules/operations/create_schedule.ts';
import { RotationConfigInput } from '#modules/schedules/operations/rotation_config.ts';
import { RotationTypeName, SCHEDULE_EXAMPLE, ScheduleView } from '#modules/schedules/view.ts';
import { createTeam } from '#modules/teams/operations/create_team.ts';
import { TEAM_EXAMPLE } from '#modules/teams/view.ts';
import { DutyWarnings } from '#modules/teams/warnings.ts';
import { timeFaults } from '#modules/schedules/decide/schedule_times.ts';

/** Creates both or neither: a schedule that is refused leaves no team behind. */
export const createTeamSchedule = defineAction({
  name: 'create_team_schedule',
  consoleOnly: true,
  summary: 'Create a team together with its first schedule.',
  permission: 'oncall:edit',
  effect: 'write',
  input: Type.Object(
    {
      teamName: Name,
      name: Name,
      timezone: FreeText,
      rotationType: RotationTypeName,
      rotationConfig: RotationConfigInput,
      startAt: Type.String({ maxLength: 40, description: 'RFC 3339, or a local date-time in timezone' }),
    },
    STRICT,
  ),
  result: Type.Object({ ...ScheduleView.properties, warnings: DutyWarnings }),
  meaning: ({ timezone, startAt }) => timeFaults({ timezone, startAt }),
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
