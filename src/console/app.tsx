import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import type { ReactNode } from 'react';

import { Notices } from '#console/components/notices.tsx';
import { followOtherTabs } from '#console/follow_other_tabs.ts';
import { createQueryClient } from '#console/query_client.ts';
import { createConsoleRouter } from '#console/router.tsx';
import { cssVariables, theme } from '#console/theme.ts';

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
