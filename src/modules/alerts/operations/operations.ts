import { listAlertBodies } from '#modules/alerts/operations/list_alert_bodies.ts';
import { listAlertSources } from '#modules/alerts/operations/list_alert_sources.ts';
import { revokeAlertKey } from '#modules/alerts/operations/revoke_alert_key.ts';
import { rotateAlertKey } from '#modules/alerts/operations/rotate_alert_key.ts';
import { setAlertRoutes } from '#modules/alerts/operations/set_alert_routes.ts';
import { setAlertSource } from '#modules/alerts/operations/set_alert_source.ts';
import { showAlertKey } from '#modules/alerts/operations/show_alert_key.ts';

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
