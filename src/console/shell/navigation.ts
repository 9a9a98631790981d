import {
  IconActivityHeartbeat,
  IconApps,
  IconBell,
  IconCalendarUser,
  IconBug,
  IconChartLine,
  IconHeartRateMonitor,
  IconHistory,
  IconHome,
  IconKey,
  IconLayoutDashboard,
  IconReceiptEuro,
  IconServer2,
  IconSettings,
  IconUserCircle,
  IconUsers,
} from '@tabler/icons-react';

/**
 * The rooms, in the order of the navigation. `group`: rooms that belong together stand together. `isInBar`: it has a place
 * in the bar at the bottom of a phone, which holds four; the others are behind More. `key` is the letter after `g`. A letter
 * that acts on a page (a, r, u, x, j, k) is never one of them: typed too slowly, it would act.
 *
 * Taken: h i o l s e, c (metrics: charts), d, t, m.
 */
export const NAVIGATION = [
  { to: '/', label: 'Home', icon: IconHome, key: 'h', group: 'respond', isInBar: true },
  { to: '/incidents', label: 'Incidents', icon: IconBell, key: 'i', group: 'respond', isInBar: true },
  { to: '/oncall', label: 'On-call', icon: IconCalendarUser, key: 'o', group: 'respond', isInBar: true },
  { to: '/rules', label: 'Rules', icon: IconActivityHeartbeat, key: 'l', group: 'watch', isInBar: false },
  { to: '/services', label: 'Services', icon: IconServer2, key: 's', group: 'watch', isInBar: true },
  { to: '/exceptions', label: 'Exceptions', icon: IconBug, key: 'e', group: 'watch', isInBar: false },
  { to: '/explore', label: 'Metrics', icon: IconChartLine, key: 'c', group: 'watch', isInBar: false },
  { to: '/dashboards', label: 'Dashboards', icon: IconLayoutDashboard, key: 'd', group: 'watch', isInBar: false },
  { to: '/settings', label: 'Settings', icon: IconSettings, key: 't', group: 'own', isInBar: false },
  { to: '/me', label: 'Me', icon: IconUserCircle, key: 'm', group: 'own', isInBar: false },
] as const;

export const SETTINGS_NAVIGATION = [
  { to: '/settings/members', label: 'Members', icon: IconUsers, isForAdmins: false },
  { to: '/settings/api-keys', label: 'API keys', icon: IconKey, isForAdmins: false },
  { to: '/settings/apps', label: 'Connected apps', icon: IconApps, isForAdmins: false },
  { to: '/settings/audit', label: 'Audit log', icon: IconHistory, isForAdmins: true },
  { to: '/settings/billing', label: 'Billing', icon: IconReceiptEuro, isForAdmins: true },
  { to: '/settings/delivery', label: 'Delivery', icon: IconHeartRateMonitor, isForAdmins: false },
] as const;
