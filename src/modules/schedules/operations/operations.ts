import {
  createCalendarFeed,
  getCalendarFeed,
  revokeCalendarFeed,
} from '#modules/schedules/operations/calendar_feeds.ts';
import { createLayerOverride, deleteScheduleOverride } from './create_schedule_override.ts';
import { createTeamSchedule } from '#modules/schedules/operations/create_schedule.ts';
import { getOnCallTimeline } from './get_on_call_timeline.ts';
import {
  createHolidayCalendar,
  deleteHolidayCalendar,
  getOwnCalendar,
  listHolidayCalendars,
  refreshHolidayCalendar,
  renewOwnCalendar,
  revokeOwnCalendar,
  updateHolidayCalendar,
} from './holiday_calendars.ts';
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
