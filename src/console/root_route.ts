import type { QueryClient } from '@tanstack/react-query';
import { createRootRouteWithContext, Outlet, redirect } from '@tanstack/react-router';

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
