/** Whether people may change in the console what a configuration file manages. */
export const MANAGED_CHANGES = ['allowed', 'refused'] as const;

export type ManagedChanges = (typeof MANAGED_CHANGES)[number];

/** Operations that change what a file says about a resource. */
export const OPERATIONS_ON_MANAGED: ReadonlySet<string> = new Set([
  'update_team',
  'rename_team',
  'delete_team',
  'update_schedule',
  'set_schedule_layers',
  'delete_schedule',
  'update_holiday_calendar',
  'delete_holiday_calendar',
  'update_escalation_policy',
  'replace_escalation_policy',
  'delete_escalation_policy',
  'update_service',
  'edit_service',
  'set_service_team',
  'delete_service',
  'enable_capability',
  'disable_capability',
  'set_retention',
  'edit_retention',
  'update_alert_rule',
  'replace_alert_rule',
  'delete_alert_rule',
  'set_alert_routes',
  'update_maintenance',
  'delete_maintenance',
  'update_dashboard',
  'save_dashboard',
  'delete_dashboard',
]);
