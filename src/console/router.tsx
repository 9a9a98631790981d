import type { QueryClient } from '@tanstack/react-query';
import { createRoute, createRouter, lazyRouteComponent, redirect } from '@tanstack/react-router';

import { BASE } from '#console/api/http.ts';
import {
  IconActivityHeartbeat,
  IconBell,
  IconBug,
  IconCalendarUser,
  IconChartLine,
  IconHome,
  IconLayoutDashboard,
  IconServer2,
  IconSettings,
  IconUserCircle,
} from '#console/icons.ts';
import { outside, requireSession, root } from '#console/outside_routes.ts';
import { readTextSearch } from '#console/components/lists/search_field.tsx';
import { readEventPlace, readExceptionFilter } from '#console/pages/exceptions/exception_filter.ts';
import { readMemberSearch } from '#console/pages/settings/member_search.ts';
import { readAuditFilter } from '#console/pages/settings/audit_filter.ts';
import { readDashboardListSearch, readDashboardSearch } from '#console/pages/dashboards/dashboard_search.ts';
import { readExploreSearch } from '#console/pages/explore/explore_search.ts';
import { readIncidentFilter } from '#console/pages/incidents/incident_filter.ts';
import { OnCall } from '#console/pages/oncall/on_call.tsx';
import { readTimelineFilter } from '#console/pages/oncall/timeline_filter.ts';
import { readReleaseSearch, readServiceFilter } from '#console/pages/services/service_filter.ts';
import { readRuleFilter, readRuleStart } from '#console/pages/rules/rule_filter.ts';
import { readLoadSearch } from '#console/pages/load/load_search.ts';
import { readSimulatorSearch } from '#console/pages/simulator/simulator_search.ts';
import { ErrorPage, NotFound, NotFoundPage } from '#console/shell/error_page.tsx';
import { NavigationContext, type NavigationEntry, type SettingsEntry } from '#console/shell/navigation.tsx';
import { Shell } from '#console/shell/shell.tsx';
import { PAGES, SETTINGS_PAGES } from '#modules/pages/decide/pages.ts';

/** Pages that every page links to, in this order. Letters in use: h i o l s e, c (metrics: charts), d, t, m. */
export const MAIN_NAVIGATION: readonly NavigationEntry[] = [
  { to: PAGES.home, label: 'Home', icon: IconHome, key: 'h', group: 'respond', isInBar: true },
  { to: PAGES.incidents, label: 'Incidents', icon: IconBell, key: 'i', group: 'respond', isInBar: true },
  { to: PAGES.onCall, label: 'On-call', icon: IconCalendarUser, key: 'o', group: 'respond', isInBar: true },
  { to: PAGES.rules, label: 'Rules', icon: IconActivityHeartbeat, key: 'l', group: 'watch', isInBar: false },
  { to: PAGES.services, label: 'Services', icon: IconServer2, key: 's', group: 'watch', isInBar: true },
  { to: PAGES.exceptions, label: 'Exceptions', icon: IconBug, key: 'e', group: 'watch', isInBar: false },
  { to: PAGES.explore, label: 'Metrics', icon: IconChartLine, key: 'c', group: 'watch', isInBar: false },
  { to: PAGES.dashboards, label: 'Dashboards', icon: IconLayoutDashboard, key: 'd', group: 'watch', isInBar: false },
  { to: PAGES.settings, label: 'Settings', icon: IconSettings, key: 't', group: 'own', isInBar: false },
  { to: PAGES.me, label: 'Me', icon: IconUserCircle, key: 'm', group: 'own', isInBar: false },
];

const at = <P extends keyof typeof SETTINGS_PAGES>(page: P) => `${PAGES.settings}${SETTINGS_PAGES[page]}` as const;

const SETTINGS_NAVIGATION: readonly SettingsEntry[] = [
  { to: at('members'), label: 'Members', group: 'People', isForAdmins: false },
  { to: at('signIn'), label: 'Sign-in', group: 'People', isForAdmins: true },
  { to: at('provisioning'), label: 'Provisioning', group: 'People', isForAdmins: true },
  { to: at('apiKeys'), label: 'API keys', group: 'Keys and apps', isForAdmins: false },
  { to: at('apps'), label: 'Connected apps', group: 'Keys and apps', isForAdmins: false },
  { to: at('agents'), label: 'AI agents', group: 'Keys and apps', isForAdmins: false },
  { to: at('integrations'), label: 'Integrations', group: 'Connections', isForAdmins: false },
  { to: at('places'), label: 'Chat and webhooks', group: 'Connections', isForAdmins: false },
  { to: at('delivery'), label: 'Delivery', group: 'Connections', isForAdmins: false },
  { to: at('statusPages'), label: 'Status pages', group: 'Connections', isForAdmins: false },
  { to: at('general'), label: 'General', group: 'Organization', isForAdmins: true },
  { to: at('audit'), label: 'Audit log', group: 'Organization', isForAdmins: true },
  { to: at('billing'), label: 'Billing', group: 'Organization', isForAdmins: true },
  { to: at('moveIn'), label: 'Import', group: 'Organization', isForAdmins: true },
];

const NAVIGATION = { main: MAIN_NAVIGATION, settings: SETTINGS_NAVIGATION };

const inside = createRoute({
  getParentRoute: () => root,
  id: 'inside',
  beforeLoad: async ({ context, location }) => await requireSession(context.queryClient, location.href),
  component: () => (
    <NavigationContext value={NAVIGATION}>
      <Shell />
    </NavigationContext>
  ),
  notFoundComponent: NotFound,
});

const settings = createRoute({
  getParentRoute: () => inside,
  path: PAGES.settings,
  component: lazyRouteComponent(() => import('#console/pages/settings/settings.tsx'), 'Settings'),
});

/** Reads the service whose keys are shown; without one, the first service. */
function readIntegrationSearch({ service }: Record<string, unknown>): { readonly service?: string } {
  return typeof service === 'string' && service !== '' ? { service } : {};
}

const settingsRoutes = [
  createRoute({
    getParentRoute: () => settings,
    path: '/',
    beforeLoad: () => {
      throw redirect({ to: `${PAGES.settings}${SETTINGS_PAGES.members}`, replace: true });
    },
  }),
  createRoute({
    getParentRoute: () => settings,
    path: SETTINGS_PAGES.members,
    validateSearch: readMemberSearch,
    component: lazyRouteComponent(() => import('#console/pages/settings/members.tsx'), 'Members'),
  }),
  createRoute({
    getParentRoute: () => settings,
    path: SETTINGS_PAGES.signIn,
    component: lazyRouteComponent(
      () => import('#console/pages/settings/sign_in/sign_in_settings.tsx'),
      'SignInSettings',
    ),
  }),
  createRoute({
    getParentRoute: () => settings,
    path: SETTINGS_PAGES.apiKeys,
    validateSearch: readTextSearch,
    component: lazyRouteComponent(() => import('#console/pages/settings/api_keys.tsx'), 'ApiKeys'),
  }),
  createRoute({
    getParentRoute: () => settings,
    path: SETTINGS_PAGES.apps,
    validateSearch: readTextSearch,
    component: lazyRouteComponent(() => import('#console/pages/settings/apps.tsx'), 'Apps'),
  }),
  createRoute({
    getParentRoute: () => settings,
    path: SETTINGS_PAGES.agents,
    validateSearch: readTextSearch,
    component: lazyRouteComponent(() => import('#console/pages/settings/agents.tsx'), 'Agents'),
  }),
  createRoute({
    getParentRoute: () => settings,
    path: SETTINGS_PAGES.provisioning,
    component: lazyRouteComponent(() => import('#console/pages/settings/provisioning.tsx'), 'Provisioning'),
  }),
  createRoute({
    getParentRoute: () => settings,
    path: SETTINGS_PAGES.general,
    component: lazyRouteComponent(() => import('#console/pages/settings/general.tsx'), 'General'),
  }),
  createRoute({
    getParentRoute: () => settings,
    path: SETTINGS_PAGES.audit,
    validateSearch: readAuditFilter,
    component: lazyRouteComponent(() => import('#console/pages/settings/audit.tsx'), 'Audit'),
  }),
  createRoute({
    getParentRoute: () => settings,
    path: SETTINGS_PAGES.billing,
    component: lazyRouteComponent(() => import('#console/pages/settings/billing.tsx'), 'Billing'),
  }),
  createRoute({
    getParentRoute: () => settings,
    path: SETTINGS_PAGES.delivery,
    component: lazyRouteComponent(() => import('#console/pages/settings/delivery.tsx'), 'Delivery'),
  }),
  createRoute({
    getParentRoute: () => settings,
    path: SETTINGS_PAGES.integrations,
    validateSearch: readIntegrationSearch,
    component: lazyRouteComponent(() => import('#console/pages/settings/integrations.tsx'), 'Integrations'),
  }),
  createRoute({
    getParentRoute: () => settings,
    path: SETTINGS_PAGES.moveIn,
    component: lazyRouteComponent(() => import('#console/pages/move_in/move_in.tsx'), 'MoveInPage'),
  }),
  createRoute({
    getParentRoute: () => settings,
    path: SETTINGS_PAGES.places,
    component: lazyRouteComponent(() => import('#console/pages/places/places.tsx'), 'Places'),
  }),
  createRoute({
    getParentRoute: () => settings,
    path: SETTINGS_PAGES.statusPages,
    component: lazyRouteComponent(() => import('#console/pages/status_pages/status_pages.tsx'), 'StatusPages'),
  }),
] as const;

/** Frame of the pages of on-call that have a tab. */
const onCall = createRoute({ getParentRoute: () => inside, id: 'on-call', component: OnCall });

const onCallRoutes = [
  createRoute({
    getParentRoute: () => onCall,
    path: PAGES.onCall,
    validateSearch: readTimelineFilter,
    component: lazyRouteComponent(() => import('#console/pages/oncall/on_call_now.tsx'), 'OnCallNow'),
  }),
  createRoute({
    getParentRoute: () => onCall,
    path: PAGES.teams,
    validateSearch: readTextSearch,
    component: lazyRouteComponent(() => import('#console/pages/oncall_teams/team_list.tsx'), 'TeamList'),
  }),
  createRoute({
    getParentRoute: () => onCall,
    path: PAGES.policies,
    validateSearch: readTextSearch,
    component: lazyRouteComponent(() => import('#console/pages/policies/policy_list.tsx'), 'PolicyList'),
  }),
  createRoute({
    getParentRoute: () => onCall,
    path: PAGES.simulator,
    validateSearch: readSimulatorSearch,
    component: lazyRouteComponent(() => import('#console/pages/simulator/simulator.tsx'), 'Simulator'),
  }),
  createRoute({
    getParentRoute: () => onCall,
    path: PAGES.load,
    validateSearch: readLoadSearch,
    component: lazyRouteComponent(() => import('#console/pages/load/load.tsx'), 'LoadOnPeople'),
  }),
] as const;

/** Reads the initial values of a new policy: its team, and the index of a template. */
const readNewPolicy = ({ team, template }: Record<string, unknown>): { team?: string; template?: number } => ({
  ...(typeof team === 'string' && { team }),
  ...(typeof template === 'number' && { template }),
});

const teamRoutes = [
  createRoute({
    getParentRoute: () => inside,
    path: PAGES.newSchedule,
    validateSearch: ({ team }: Record<string, unknown>): { team?: string } =>
      typeof team === 'string' ? { team } : {},
    component: lazyRouteComponent(() => import('#console/pages/oncall/new_schedule.tsx'), 'NewSchedule'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: PAGES.schedule,
    component: lazyRouteComponent(() => import('#console/pages/oncall/schedule_page.tsx'), 'SchedulePage'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: PAGES.editSchedule,
    component: lazyRouteComponent(() => import('#console/pages/oncall/layers/edit_schedule.tsx'), 'EditSchedule'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: PAGES.team,
    component: lazyRouteComponent(() => import('#console/pages/oncall_teams/team_page.tsx'), 'TeamPage'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: PAGES.newPolicy,
    validateSearch: readNewPolicy,
    component: lazyRouteComponent(() => import('#console/pages/policies/new_policy.tsx'), 'NewPolicy'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: PAGES.policy,
    component: lazyRouteComponent(() => import('#console/pages/policies/policy_page.tsx'), 'PolicyPage'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: PAGES.editPolicy,
    component: lazyRouteComponent(() => import('#console/pages/policies/edit_policy.tsx'), 'EditPolicy'),
  }),
] as const;

const pageRoutes = [
  createRoute({
    getParentRoute: () => inside,
    path: PAGES.home,
    component: lazyRouteComponent(() => import('#console/pages/home/home.tsx'), 'Home'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: PAGES.incidents,
    validateSearch: readIncidentFilter,
    component: lazyRouteComponent(() => import('#console/pages/incidents/incident_list.tsx'), 'IncidentList'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: PAGES.incident,
    component: lazyRouteComponent(() => import('#console/pages/incidents/incident_page.tsx'), 'IncidentPage'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: PAGES.exceptions,
    validateSearch: readExceptionFilter,
    component: lazyRouteComponent(() => import('#console/pages/exceptions/exception_list.tsx'), 'ExceptionList'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: PAGES.exceptionGroup,
    validateSearch: readEventPlace,
    component: lazyRouteComponent(() => import('#console/pages/exceptions/exception_page.tsx'), 'ExceptionPage'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: PAGES.rules,
    validateSearch: readRuleFilter,
    component: lazyRouteComponent(() => import('#console/pages/rules/rule_list.tsx'), 'RuleList'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: PAGES.newRule,
    validateSearch: readRuleStart,
    component: lazyRouteComponent(() => import('#console/pages/rules/new_rule.tsx'), 'NewRule'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: PAGES.rule,
    component: lazyRouteComponent(() => import('#console/pages/rules/rule_page.tsx'), 'RulePage'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: PAGES.editRule,
    component: lazyRouteComponent(() => import('#console/pages/rules/edit_rule.tsx'), 'EditRule'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: PAGES.services,
    validateSearch: readServiceFilter,
    component: lazyRouteComponent(() => import('#console/pages/services/service_list.tsx'), 'ServiceList'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: PAGES.service,
    validateSearch: readReleaseSearch,
    component: lazyRouteComponent(() => import('#console/pages/services/service_page.tsx'), 'ServicePage'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: PAGES.serviceSettings,
    component: lazyRouteComponent(() => import('#console/pages/services/service_settings.tsx'), 'ServiceSettings'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: PAGES.alertSources,
    component: lazyRouteComponent(
      () => import('#console/pages/alert_sources/alert_sources_page.tsx'),
      'AlertSourcesPage',
    ),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: PAGES.explore,
    validateSearch: readExploreSearch,
    beforeLoad: async ({ search }) => {
      if (search.service === undefined) (await import('#console/pages/explore/explore.tsx')).redirectFirstVisit(search);
    },
    component: lazyRouteComponent(() => import('#console/pages/explore/explore.tsx'), 'Explore'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: PAGES.dashboards,
    validateSearch: readDashboardListSearch,
    component: lazyRouteComponent(() => import('#console/pages/dashboards/dashboard_list.tsx'), 'DashboardList'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: PAGES.dashboard,
    validateSearch: readDashboardSearch,
    component: lazyRouteComponent(() => import('#console/pages/dashboards/dashboard_page.tsx'), 'DashboardPage'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: PAGES.me,
    component: lazyRouteComponent(() => import('#console/pages/me/me.tsx'), 'MePage'),
  }),
  ...teamRoutes,
  settings.addChildren(settingsRoutes),
  onCall.addChildren(onCallRoutes),
] as const;

const routeTree = root.addChildren([...outside, inside.addChildren(pageRoutes)]);

export function createConsoleRouter(queryClient: QueryClient) {
  return createRouter({
    routeTree,
    basepath: BASE.pathname,
    context: { queryClient },
    defaultPreload: 'intent',
    defaultErrorComponent: ErrorPage,
    defaultNotFoundComponent: NotFoundPage,
    scrollRestoration: true,
  });
}
