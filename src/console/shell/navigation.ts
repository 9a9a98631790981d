import {
  IconApps,
  IconBell,
  IconCalendarUser,
  IconBug,
  IconHeartRateMonitor,
  IconHistory,
  IconHome,
  IconKey,
  IconReceiptEuro,
  IconServer2,
  IconSettings,
  IconUserCircle,
  IconUsers,
} from '@tabler/icons-react';

/** The main pages, reachable from every page. `key` is the letter after `g`. */
export const NAVIGATION = [
  { to: '/', label: 'Home', icon: IconHome, key: 'h' },
  { to: '/incidents', label: 'Incidents', icon: IconBell, key: 'i' },
  { to: '/oncall', label: 'On-call', icon: IconCalendarUser, key: 'o' },
  { to: '/exceptions', label: 'Exceptions', icon: IconBug, key: 'e' },
  { to: '/services', label: 'Services', icon: IconServer2, key: 's' },
  { to: '/settings', label: 'Settings', icon: IconSettings, key: 't' },
  { to: '/me', label: 'Me', icon: IconUserCircle, key: 'm' },
] as const;

export const SETTINGS_NAVIGATION = [
  { to: '/settings/members', label: 'Members', icon: IconUsers, isForAdmins: false },
  { to: '/settings/api-keys', label: 'API keys', icon: IconKey, isForAdmins: false },
  { to: '/settings/apps', label: 'Connected apps', icon: IconApps, isForAdmins: false },
  { to: '/settings/audit', label: 'Audit log', icon: IconHistory, isForAdmins: true },
  { to: '/settings/billing', label: 'Billing', icon: IconReceiptEuro, isForAdmins: true },
  { to: '/settings/delivery', label: 'Delivery', icon: IconHeartRateMonitor, isForAdmins: false },
] as const;
