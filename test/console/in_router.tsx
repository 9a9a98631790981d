import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  Outlet,
  RouterProvider,
} from '@tanstack/react-router';
import { act, render } from '@testing-library/react';
import type { ReactNode } from 'react';

/** Renders the component at `/` of a router that knows these other paths. */
export async function renderInRouter(component: () => ReactNode, paths: readonly string[] = []) {
  const root = createRootRoute({ component: Outlet });
  const home = createRoute({ getParentRoute: () => root, path: '/', component });
  const others = paths.map((path) => createRoute({ getParentRoute: () => root, path, component: () => path }));
  const history = createMemoryHistory({ initialEntries: ['/'] });
  const router = createRouter({ routeTree: root.addChildren([home, ...others]), history });
  const view = render(<RouterProvider router={router as never} />);
  await act(() => router.load());
  return { router, ...view };
}
