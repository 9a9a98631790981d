import type { Query, QueryClient } from '@tanstack/react-query';

import { isApiError } from '#console/api/http.ts';

/**
 * Fetches the rows of a list that have changed, and puts them in. A list that is not shown, or that is being read or is
 * out of date anyway, is invalidated as a whole. So is one that was written meanwhile: which of the answers is the newer
 * one is not known.
 */
export async function updateRows<List, Rows>(
  queryClient: QueryClient,
  list: Query,
  fetchRows: () => Promise<Rows>,
  /** The list with these rows; null when it has to be loaded as a whole. */
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
