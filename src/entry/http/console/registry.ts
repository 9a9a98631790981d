import { ACCOUNT_ROUTES } from '#entry/http/console/account.ts';
import { API_KEY_ROUTES } from '#entry/http/console/api_keys.ts';
import { AUDIT_ROUTES } from '#entry/http/console/audit.ts';
import { CALENDAR_FEED_ROUTES } from '#entry/http/console/calendar_feed.ts';
import { CONNECT_ROUTES } from '#entry/http/console/connect.ts';
import { CONNECTION_ROUTES } from '#entry/http/console/connections.ts';
import { EVENT_ROUTES } from '#entry/http/console/events.ts';
import { INVITATION_ROUTES } from '#entry/http/console/invitations.ts';
import { ME_ROUTES } from '#entry/http/console/me.ts';
import { MEMBER_ROUTES } from '#entry/http/console/members.ts';
import { ORGANIZATION_ROUTES } from '#entry/http/console/organization.ts';
import type { ConsoleRoute } from '#entry/http/console/route.ts';
import { SECOND_FACTOR_ROUTES } from '#entry/http/console/second_factor.ts';
import { SESSION_ROUTES } from '#entry/http/console/session.ts';

/** Every route below `/api/console`, in the order in which they are published. */
export const CONSOLE_ROUTES: readonly ConsoleRoute[] = [
  ...SESSION_ROUTES,
  ...SECOND_FACTOR_ROUTES,
  ...ACCOUNT_ROUTES,
  ...INVITATION_ROUTES,
  ...ORGANIZATION_ROUTES,
  ...MEMBER_ROUTES,
  ...API_KEY_ROUTES,
  ...AUDIT_ROUTES,
  ...CALENDAR_FEED_ROUTES,
  ...ME_ROUTES,
  ...EVENT_ROUTES,
  ...CONNECT_ROUTES,
  ...CONNECTION_ROUTES,
];
