import { createCalendarFeed } from '#modules/schedules/operations/create_calendar_feed.ts';
import { createTeamSchedule } from '#modules/schedules/operations/create_team_schedule.ts';
import { deleteScheduleOverride } from '#modules/schedules/operations/delete_schedule_override.ts';
import { getCalendarFeed } from '#modules/schedules/operations/get_calendar_feed.ts';
import { getOnCallTimeline } from '#modules/schedules/operations/get_on_call_timeline.ts';
import { getOwnCalendar } from '#modules/schedules/operations/get_own_calendar.ts';
import { previewRotation } from '#modules/schedules/operations/preview_rotation.ts';
import { renewOwnCalendar } from '#modules/schedules/operations/renew_own_calendar.ts';
import { revokeCalendarFeed } from '#modules/schedules/operations/revoke_calendar_feed.ts';
import { revokeOwnCalendar } from '#modules/schedules/operations/revoke_own_calendar.ts';
import { swapShifts } from '#modules/schedules/operations/swap_shifts.ts';
import { undoShiftSwap } from '#modules/schedules/operations/undo_shift_swap.ts';

/** Operations of the console on schedules and shifts. */
export const SCHEDULE_OPERATIONS = [
  deleteScheduleOverride,
  getOnCallTimeline,
  previewRotation,
  createTeamSchedule,
  swapShifts,
  undoShiftSwap,
  getCalendarFeed,
  createCalendarFeed,
  revokeCalendarFeed,
  getOwnCalendar,
  renewOwnCalendar,
  revokeOwnCalendar,
] as const;
