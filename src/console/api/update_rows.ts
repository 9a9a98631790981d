import type { Query, QueryClient } from '@tanstack/react-query';

import { isApiError } from '#console/api/http.ts';

/**
 * Fetches the changed rows of a list, and puts them in. A list that is not shown, or that is being read or is out of
 * date anyway, is invalidated as a whole. So is one that was written meanwhile, because it is unknown which of the
 * answers is the newer one.
 */
export async function updateRows<List, Rows>(
  queryClient: QueryClient,
  list: Query,
  fetchRows: () => Promise<Rows>,
  /** Returns the list with these rows; null if it has to be reloaded as a whole. */
  put: (shown: List, rows: Rows) => List | null,
): Promise<void> {
  const { queryKey } = list;
  const isReady = ({ state }: Query) =>
    state.data !== undefined && state.fetchStatus === 'idle' && !state.isInvalidated && state.error === null;
  const updates = list.state.dataUpdateCount;
  if (list.isActive() && isReady(list)) {
    const rows = await fetchRows().catch((error: unknown) => {
      if (isApiError(error)) return null;
      throw error;
    });
    if (rows !== null && isReady(list) && list.state.dataUpdateCount === updates) {
      const updated = put(list.state.data as List, rows);
      if (updated !== null) {
        queryClient.setQueryData<List>(queryKey, () => updated);
        return;
      }
    }
  }
  await queryClient.invalidateQueries({ queryKey, exact: true });
}
