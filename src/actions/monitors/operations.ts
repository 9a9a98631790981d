import { deleteMonitor } from '#actions/monitors/delete_monitor.ts';
import { listMonitors } from '#actions/monitors/list_monitors.ts';
import { muteMonitor } from '#actions/monitors/mute_monitor.ts';
import { previewMonitor } from '#actions/monitors/preview_monitor.ts';
import { resetMonitor } from '#actions/monitors/reset_monitor.ts';
import { restrictMonitor } from '#actions/monitors/restrict_monitor.ts';
import { updateMonitor } from '#actions/monitors/update_monitor.ts';

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
