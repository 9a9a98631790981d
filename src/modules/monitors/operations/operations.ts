import { deleteMonitor } from '#modules/monitors/operations/delete_monitor.ts';
import { listMonitors } from '#modules/monitors/operations/list_monitors.ts';
import { muteMonitor } from '#modules/monitors/operations/mute_monitor.ts';
import { previewMonitor } from '#modules/monitors/operations/preview_monitor.ts';
import { resetMonitor } from '#modules/monitors/operations/reset_monitor.ts';
import { restrictMonitor } from '#modules/monitors/operations/restrict_monitor.ts';
import { updateMonitor } from '#modules/monitors/operations/update_monitor.ts';

/** Operations of the console for cron monitors. */
export const MONITOR_OPERATIONS = [
  listMonitors,
  muteMonitor,
  restrictMonitor,
  updateMonitor,
  resetMonitor,
  previewMonitor,
  deleteMonitor,
] as const;
