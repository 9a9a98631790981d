/** Addresses of all pages of the web application. `$name` is a path parameter. */
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
  rules: '/rules',
  newRule: '/rules/new',
  rule: '/rules/$ruleId',
  editRule: '/rules/$ruleId/edit',
  teams: '/oncall/teams',
  team: '/oncall/teams/$teamId',
  policies: '/oncall/policies',
  newPolicy: '/oncall/policies/new',
  policy: '/oncall/policies/$policyId',
  editPolicy: '/oncall/policies/$policyId/edit',
  simulator: '/oncall/simulator',
  load: '/oncall/load',
  services: '/services',
  service: '/services/$serviceId',
  serviceSettings: '/services/$serviceId/settings',
  alertSources: '/services/$serviceId/alerts',
  explore: '/explore',
  dashboards: '/dashboards',
  dashboard: '/dashboards/$dashboardId',
  settings: '/settings',
} as const;

/** The pages below `PAGES.settings`. */
export const SETTINGS_PAGES = {
  members: '/members',
  apiKeys: '/api-keys',
  signIn: '/sign-in',
  apps: '/apps',
  agents: '/agents',
  provisioning: '/provisioning',
  general: '/general',
  audit: '/audit',
  billing: '/billing',
  delivery: '/delivery',
  integrations: '/integrations',
  places: '/places',
  statusPages: '/status-pages',
  moveIn: '/move-in',
} as const;

/** Query parameter for the organization of a page: the console shows that one, whichever was shown last. */
export const LINKED_ORGANIZATION = 'org';

/** Returns the address of a page of the console, for a message: its receiver may belong to several organizations. */
export function linkTo(baseUrl: string, path: string, orgId: string): string {
  return `${baseUrl}${path}?${LINKED_ORGANIZATION}=${orgId}`;
}
