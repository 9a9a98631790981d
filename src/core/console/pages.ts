/** Every address of the web application. `$name` stands for one part of a path. */
export const PAGES = {
  home: '/',
  signIn: '/login',
  askForReset: '/reset',
  resetPassword: '/reset/$token',
  invitation: '/invitation/$token',
  connect: '/connect/$uid',
  me: '/me',
  incidents: '/incidents',
  incident: '/incidents/$incidentId',
  onCall: '/oncall',
  newSchedule: '/oncall/schedules/new',
  schedule: '/oncall/schedules/$scheduleId',
  editSchedule: '/oncall/schedules/$scheduleId/edit',
  exceptions: '/exceptions',
  exceptionGroup: '/exceptions/$groupId',
  teams: '/oncall/teams',
  team: '/oncall/teams/$teamId',
  policies: '/oncall/policies',
  newPolicy: '/oncall/policies/new',
  policy: '/oncall/policies/$policyId',
  editPolicy: '/oncall/policies/$policyId/edit',
  simulator: '/oncall/simulator',
  services: '/services',
  service: '/services/$serviceId',
  settings: '/settings',
} as const;

/** The pages below `PAGES.settings`. */
export const SETTINGS_PAGES = {
  members: '/members',
  apiKeys: '/api-keys',
  apps: '/apps',
  audit: '/audit',
  billing: '/billing',
  delivery: '/delivery',
} as const;
