import { MantineProvider } from '@mantine/core';
import { useNotifications } from '@mantine/notifications';
import {
  type InvalidateOptions,
  type InvalidateQueryFilters,
  MutationCache,
  type Query,
  QueryCache,
  QueryClient,
  QueryClientProvider,
  type QueryKey,
} from '@tanstack/react-query';
import { type AnyRouter, RouterProvider } from '@tanstack/react-router';
import { type ComponentType, type ReactNode, useEffect, useState } from 'react';

import { addressOf, isApiError } from '#console/api/http.ts';
import { dropDataOfPage } from '#console/api/initial_data.ts';
import { onChangeInOtherTab, sessionQuery } from '#console/api/session.ts';
import { prefetchOnInteraction } from '#console/components/prefetch_on_interaction.ts';
import { PAGES } from '#modules/pages/decide/pages.ts';
import { createConsoleRouter } from './router.tsx';
import { cssVariables, theme } from './theme.ts';

/** Follows sign-outs in other tabs: all tabs of a browser share one session, so none may go on showing its data. */
function followOtherTabs(queryClient: QueryClient, router: AnyRouter): void {
  onChangeInOtherTab(({ userId }) => {
    const shown = queryClient.getQueryData(sessionQuery.queryKey)?.user.userId ?? null;
    const { pathname, search } = router.state.location;
    if (shown === null && userId !== null && pathname === PAGES.signIn) {
      location.assign(addressOf(typeof search.next === 'string' ? search.next : ''));
      return;
    }
    if (shown === null || shown === userId) {
      void queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
      return;
    }
    queryClient.clear();
    dropDataOfPage();
    queryClient.setQueryData(sessionQuery.queryKey, null);
    if (userId === null) void router.invalidate();
    else location.reload();
  });
}

/** Area where notices and the question before something is lost appear. Their code is loaded on the first interaction; an earlier notice waits for it. */
export function Notices() {
  const [List, setList] = useState<ComponentType | null>(null);
  const { length } = useNotifications().notifications;
  useEffect(() => {
    if (List !== null) return;
    const load = (): void => {
      import('#console/components/notice_list.tsx')
        .then(({ NoticeList }) => setList(() => NoticeList))
        // Without the server the next notice tries again.
        .catch(() => {});
    };
    if (length === 0 || !navigator.onLine) prefetchOnInteraction(load);
    else load();
  }, [List, length]);
  return List !== null && <List />;
}

/** Nonce of this page. Styles that are added at run time need it, or the browser rejects them. */
const nonce = document.querySelector<HTMLScriptElement>('script[nonce]')?.nonce ?? '';
/** Passes the nonce to the package that locks scrolling behind a dialog (get-nonce). */
Object.assign(globalThis, { __webpack_nonce__: nonce });

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createConsoleRouter>;
  }
}

export interface App {
  /**
   * Loads the file of the page at this address. The first page is rendered afterwards, since React would hold it back
   * for 300 ms if it had first rendered a placeholder.
   */
  readonly loadFirstPage: () => Promise<void>;
  readonly page: ReactNode;
}

export function createApp(): App {
  const queryClient = createQueryClient(() => void router.invalidate());
  const router = createConsoleRouter(queryClient);
  followOtherTabs(queryClient, router);
  return {
    loadFirstPage: () => router.load(),
    page: (
      <MantineProvider
        theme={theme}
        cssVariablesResolver={cssVariables}
        defaultColorScheme="auto"
        getStyleNonce={() => nonce}
      >
        <QueryClientProvider client={queryClient}>
          <RouterProvider router={router} />
          <Notices />
        </QueryClientProvider>
      </MantineProvider>
    ),
  };
}

const RETRIES_MAX = 2;
/** Interval at which queries that failed because the server was unavailable are retried, in milliseconds. */
const RETRY_MS = 5_000;

const isOutage = (error: unknown): boolean => isApiError(error) && error.isOutage;

/** Query client that loses no change that becomes known while data is being read. */
class ConsoleQueryClient extends QueryClient {
  /**
   * Invalidates queries. A read that is under way may have been answered before the change, so it is followed by
   * another one. It is not cancelled: with a change every moment, none would ever end.
   */
  override async invalidateQueries<Key extends QueryKey = QueryKey>(
    filters?: InvalidateQueryFilters<Key>,
    options?: InvalidateOptions,
  ): Promise<void> {
    const matching = this.getQueryCache().findAll(filters);
    const underWay = new Set(matching.filter(({ state }) => state.fetchStatus === 'fetching'));
    const whole = { ...options, cancelRefetch: false };
    const ended = [...underWay].map(async (query) => await query.promise?.catch(() => {}));
    await Promise.all([super.invalidateQueries<Key>(filters, whole), ...ended]);
    const again = matching.filter((query) => underWay.has(query) || (query.isActive() && wasDisplaced(query)));
    const refetchType = filters?.refetchType;
    await Promise.all(
      again.map(async ({ queryKey }) => {
        await super.invalidateQueries({ queryKey, exact: true, ...(refetchType && { refetchType }) }, whole);
      }),
    );
  }
}

/** Whether the next page of a list was loaded in place of the list itself. */
function wasDisplaced({ state }: Query): boolean {
  return state.fetchMeta?.fetchMore !== undefined;
}

/** Creates the query client. `onSignedOut` is called when the server answers 401 because the session has ended. */
export function createQueryClient(onSignedOut: () => void): QueryClient {
  const watch = (error: unknown): void => {
    if (!isApiError(error, 401)) return;
    if (!client.getQueryData(sessionQuery.queryKey)) return;
    client.setQueryData(sessionQuery.queryKey, null);
    onSignedOut();
  };
  const client = new ConsoleQueryClient({
    queryCache: new QueryCache({ onError: watch }),
    mutationCache: new MutationCache({ onError: watch }),
    defaultOptions: {
      queries: {
        staleTime: 10_000,
        gcTime: 10 * 60_000,
        // Only an outage can pass by itself; a refusal would be repeated.
        retry: (failures, error) => isOutage(error) && failures < RETRIES_MAX,
        refetchInterval: ({ state }) => (isOutage(state.error) ? RETRY_MS : false),
        networkMode: 'always',
      },
      mutations: { networkMode: 'always' },
    },
  });
  return client;
}
