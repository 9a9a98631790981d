import { createRoute, lazyRouteComponent } from '@tanstack/react-router';

import { requireSession, root } from '#console/root_route.ts';
import { PAGES } from '#modules/pages/decide/pages.ts';

/** Reads the address to go to after signing in. Only a path within the application is accepted. */
const readNext = (search: Record<string, unknown>): { next?: string } => {
  const { next } = search;
  return typeof next === 'string' && /^\/(?![/\\])/.test(next) ? { next } : {};
};

/** Routes of the pages without sign-in, and of the one that connects an app. */
export const outside = [
  createRoute({
    getParentRoute: () => root,
    path: PAGES.signIn,
    validateSearch: readNext,
    component: lazyRouteComponent(() => import('#console/pages/sign_in/login.tsx'), 'Login'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: PAGES.askForReset,
    component: lazyRouteComponent(
      () => import('#console/pages/sign_in/request_password_reset.tsx'),
      'RequestPasswordReset',
    ),
  }),
  createRoute({
    getParentRoute: () => root,
    path: PAGES.resetPassword,
    component: lazyRouteComponent(() => import('#console/pages/sign_in/reset_password.tsx'), 'ResetPassword'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: PAGES.invitation,
    component: lazyRouteComponent(() => import('#console/pages/sign_in/accept_invitation.tsx'), 'AcceptInvitation'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: PAGES.connect,
    beforeLoad: async ({ context, location }) => await requireSession(context.queryClient, location.href),
    component: lazyRouteComponent(() => import('#console/pages/sign_in/connect.tsx'), 'Connect'),
  }),
] as const;
