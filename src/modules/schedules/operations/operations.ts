import {
  createCalendarFeed,
  getCalendarFeed,
  revokeCalendarFeed,
} from '#modules/schedules/operations/calendar_feeds.ts';
import { createLayerOverride } from '#modules/schedules/operations/create_layer_override.ts';
import { createTeamSchedule } from '#modules/schedules/operations/create_schedule.ts';
import { deleteScheduleOverride } from '#modules/schedules/operations/create_schedule_override.ts';
import { getOnCallTimeline } from '#modules/schedules/operations/get_on_call_timeline.ts';
import {
  createHolidayCalendar,
  deleteHolidayCalendar,
  listHolidayCalendars,
  refreshHolidayCalendar,
  updateHolidayCalendar,
} from '#modules/schedules/operations/holiday_calendars.ts';
import { getOwnCalendar, renewOwnCalendar, revokeOwnCalendar } from '#modules/schedules/operations/own_calendar.ts';
import { previewRotation } from '#modules/schedules/operations/preview_rotation.ts';
import {
  duplicateSchedule,
  previewScheduleLayers,
  setScheduleLayers,
} from '#modules/schedules/operations/schedule_layers.ts';
import { swapShifts, undoShiftSwap } from '#modules/schedules/operations/swaps.ts';

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

export const LAYER_OPERATIONS = [
  setScheduleLayers,
  previewScheduleLayers,
  duplicateSchedule,
  createLayerOverride,
  listHolidayCalendars,
  createHolidayCalendar,
  updateHolidayCalendar,
  refreshHolidayCalendar,
  deleteHolidayCalendar,
] as const;
