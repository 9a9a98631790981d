import type { QueryClient } from '@tanstack/react-query';
import { createRootRouteWithContext, createRoute, lazyRouteComponent, Outlet, redirect } from '@tanstack/react-router';

import { sessionQuery } from '#console/api/session.ts';
import { PAGES } from '#modules/pages/decide/pages.ts';

interface Context {
  readonly queryClient: QueryClient;
}

export const root = createRootRouteWithContext<Context>()({ component: Outlet });

/** Redirects to the sign-in page unless somebody is signed in. */
export const requireSession = async (queryClient: QueryClient, href: string): Promise<void> => {
  const session = await queryClient.ensureQueryData(sessionQuery);
  if (session === null) throw redirect({ to: PAGES.signIn, search: href === '/' ? {} : { next: href } });
};

/**
 * Reads the address to go to after signing in, of which only a path within the application is accepted, and the
 * organization whose link was followed.
 */
const readLogin = ({ next, organization }: Record<string, unknown>): { next?: string; organization?: string } => ({
  ...(typeof next === 'string' && /^\/(?![/\\])/.test(next) ? { next } : {}),
  ...(typeof organization === 'string' && /^org_\w{1,40}$/.test(organization) ? { organization } : {}),
});

/** Routes of the pages without sign-in, and of the one that connects an app. */
export const outside = [
  createRoute({
    getParentRoute: () => root,
    path: PAGES.signIn,
    validateSearch: readLogin,
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
