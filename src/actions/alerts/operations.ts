import { listAlertBodies } from '#actions/alerts/list_alert_bodies.ts';
import { listAlertSources } from '#actions/alerts/list_alert_sources.ts';
import { revokeAlertKey } from '#actions/alerts/revoke_alert_key.ts';
import { rotateAlertKey } from '#actions/alerts/rotate_alert_key.ts';
import { setAlertRoutes } from '#actions/alerts/set_alert_routes.ts';
import { setAlertSource } from '#actions/alerts/set_alert_source.ts';
import { showAlertKey } from '#actions/alerts/show_alert_key.ts';

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
