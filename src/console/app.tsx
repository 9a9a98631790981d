import { MantineProvider } from '@mantine/core';
import { type QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { type AnyRouter, RouterProvider } from '@tanstack/react-router';
import { type ComponentType, type ReactNode, useEffect, useState } from 'react';
import { useNotifications } from '@mantine/notifications';

import { createQueryClient } from '#console/query_client.ts';
import { createConsoleRouter } from '#console/router.tsx';
import { cssVariables, theme } from '#console/theme.ts';
import { prefetchOnInteraction } from '#console/components/prefetch_on_interaction.ts';
import { dropDataOfPage } from '#console/api/initial_data.ts';
import { addressOf } from '#console/api/http.ts';
import { onChangeInOtherTab, sessionQuery } from '#console/api/session.ts';
import { PAGES } from '#modules/pages/decide/pages.ts';

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
