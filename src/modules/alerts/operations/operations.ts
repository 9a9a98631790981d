import { listAlertBodies, listAlertSources, setAlertSource } from '#modules/alerts/operations/alert_sources.ts';
import { revokeAlertKey, rotateAlertKey, showAlertKey } from '#modules/alerts/operations/alert_keys.ts';
import { setAlertRoutes } from '#modules/alerts/operations/set_alert_routes.ts';

/** Operations of the console and the command line on alerts of other tools. */
export const ALERT_OPERATIONS = [
  showAlertKey,
  rotateAlertKey,
  revokeAlertKey,
  listAlertSources,
  listAlertBodies,
  setAlertRoutes,
  setAlertSource,
] as const;
