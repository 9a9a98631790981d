import type { QueryClient } from '@tanstack/react-query';
import type { AnyRouter } from '@tanstack/react-router';

import { dropDataOfPage } from '#console/api/initial_data.ts';
import { addressOf } from '#console/api/http.ts';
import { onChangeInOtherTab } from '#console/api/other_tabs.ts';
import { sessionQuery } from '#console/api/session.ts';
import { PAGES } from '#modules/pages/decide/pages.ts';

/** Follows sign-outs in other tabs: all tabs of a browser share one session, so none may go on showing its data. */
export function followOtherTabs(queryClient: QueryClient, router: AnyRouter): void {
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
