import { MantineProvider } from '@mantine/core';
import { notifications, useNotifications } from '@mantine/notifications';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  Outlet,
  RouterProvider,
} from '@tanstack/react-router';
import { act, cleanup, render } from '@testing-library/react';
import { createContext, type ReactNode, useContext } from 'react';
import { onTestFinished, vi } from 'vitest';

import { type Session, sessionQuery } from '#console/api/session.ts';
import { LeaveQuestion } from '#console/components/leave_question.tsx';
import { OrganizationProvider } from '#console/shell/organization.tsx';
import { type Role, ROLE_PERMISSIONS } from '#kernel/permissions.ts';

interface Surroundings {
  /** Paths that the router knows beside `/`; a page shows its path. */
  readonly paths?: readonly string[];
  /** Role of the person who is signed in, `user_1`, in the organization `org_1`. */
  readonly role?: Role;
  readonly client?: QueryClient;
}

const Content = createContext<ReactNode>(null);
const Home = (): ReactNode => useContext(Content);

/**
 * Renders the content at `/` as the console does: within a router, a query client and the organization of the person who
 * is signed in. What a component needs of the server comes from `serve`.
 */
export async function renderInConsole(content: ReactNode, { paths = [], role = 'owner', client }: Surroundings = {}) {
  startPage();
  const queries = client ?? new QueryClient();
  queries.setQueryData(sessionQuery.queryKey, sessionOf(role));
  const root = createRootRoute({
    component: () => (
      <OrganizationProvider fallback={null}>
        <Outlet />
        <LeaveQuestion />
      </OrganizationProvider>
    ),
  });
  const home = createRoute({ getParentRoute: () => root, path: '/', component: Home });
  const others = paths.map((path) => createRoute({ getParentRoute: () => root, path, component: () => path }));
  const history = createMemoryHistory({ initialEntries: ['/'] });
  const router = createRouter({ routeTree: root.addChildren([home, ...others]), history });
  const around = (shown: ReactNode) => (
    <MantineProvider env="test">
      <QueryClientProvider client={queries}>
        <Content value={shown}>
          <RouterProvider router={router as never} />
        </Content>
        <Notices />
      </QueryClientProvider>
    </MantineProvider>
  );
  const view = render(around(content));
  await act(() => router.load());
  return { ...view, router, rerender: (shown: ReactNode) => view.rerender(around(shown)) };
}

/** Shows the notices without the animations of Mantine's component. */
function Notices(): ReactNode {
  return useNotifications().notifications.map(({ id, title, message }) => (
    <div key={id} data-notice>
      {title}
      {message}
    </div>
  ));
}

/** Gives the document what browsers have and happy-dom lacks; nothing of the test stays in it. */
function startPage(): void {
  if (!('fonts' in document)) Object.defineProperty(document, 'fonts', { value: new EventTarget() });
  Element.prototype.scrollIntoView ??= () => {};
  vi.stubGlobal('matchMedia', () => ({ matches: false, addEventListener: () => {}, removeEventListener: () => {} }));
  onTestFinished(() => {
    cleanup();
    notifications.clean();
    localStorage.clear();
    sessionStorage.clear();
    vi.unstubAllGlobals();
  });
}

function sessionOf(role: Role): Session {
  const organization = { orgId: 'org_1', name: 'Acme', role, permissions: ROLE_PERMISSIONS[role] };
  const user = { userId: 'user_1', name: 'Olga', email: 'olga@example.com' };
  return { user, organizations: [organization] } as unknown as Session;
}

/** Input of an action as the server reads it. */
type Input = Readonly<Record<string, unknown>>;

/** Answers in place of the server until the test ends. Returns the actions that were asked for. */
export function serve(answer: (action: string, input: Input) => unknown) {
  const asked: { readonly action: string; readonly input: Input }[] = [];
  const resultOf = (action: string, input: Input): unknown => {
    asked.push({ action, input });
    return answer(action, input);
  };
  vi.stubGlobal('fetch', async (address: string, { body = '{}' }: { body?: string } = {}) => {
    const { reads, ...input } = JSON.parse(body) as Input & { reads?: { action: string; input: Input }[] };
    if (reads === undefined) return Response.json({ result: await resultOf(address.split('/').at(-1) ?? '', input) });
    const answers = reads.map(async (read) => ({ result: await resultOf(read.action, read.input) }));
    return Response.json({ result: { answers: await Promise.all(answers) } });
  });
  onTestFinished(() => void vi.unstubAllGlobals());
  return asked;
}
