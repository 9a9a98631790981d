import { createHolidayCalendar } from '#modules/schedules/operations/create_holiday_calendar.ts';
import { createLayerOverride } from '#modules/schedules/operations/create_layer_override.ts';
import { deleteHolidayCalendar } from '#modules/schedules/operations/delete_holiday_calendar.ts';
import { listHolidayCalendars } from '#modules/schedules/operations/list_holiday_calendars.ts';
import { previewScheduleLayers } from '#modules/schedules/operations/preview_schedule_layers.ts';
import { refreshHolidayCalendar } from '#modules/schedules/operations/refresh_holiday_calendar.ts';
import { setScheduleLayers } from '#modules/schedules/operations/set_schedule_layers.ts';
import { updateHolidayCalendar } from '#modules/schedules/operations/update_holiday_calendar.ts';

/** Operations of the console on layers of schedules and on calendars of holidays. */
export const LAYER_OPERATIONS = [
  setScheduleLayers,
  previewScheduleLayers,
  createLayerOverride,
  listHolidayCalendars,
  createHolidayCalendar,
  updateHolidayCalendar,
  refreshHolidayCalendar,
  deleteHolidayCalendar,
] as const;
