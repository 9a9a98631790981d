import { deleteMonitor } from '#actions/monitors/delete_monitor.ts';
import { listMonitors } from '#actions/monitors/list_monitors.ts';
import { muteMonitor } from '#actions/monitors/mute_monitor.ts';

/** What the console shows and does of cron monitors. */
export const MONITOR_OPERATIONS = [listMonitors, muteMonitor, deleteMonitor] as const;
