import { Button } from '@mantine/core';
import { useIntersection } from '@mantine/hooks';
import { useEffect, useEffectEvent } from 'react';

import classes from '#console/components/lists/load_more.module.css';

interface Pages {
  readonly hasNextPage: boolean;
  readonly isPlaceholderData: boolean;
  readonly isFetchingNextPage: boolean;
  /** Whether the last attempt failed, so that the next one needs a click. */
  readonly isFetchNextPageError: boolean;
  fetchNextPage(): Promise<unknown>;
}

/** Loads the next page when the end of the list is near, or by its button; shows nothing below the last one. */
export function LoadMore({ list }: { readonly list: Pages }) {
  const { ref, entry } = useIntersection({ rootMargin: '800px' });
  const hasMore = list.hasNextPage && !list.isPlaceholderData;
  const isWanted = hasMore && entry?.isIntersecting === true && !list.isFetchingNextPage && !list.isFetchNextPageError;
  const loadMore = useEffectEvent(() => void list.fetchNextPage());
  useEffect(() => {
    if (isWanted) loadMore();
  }, [isWanted]);
  if (!hasMore) return null;
  return (
    <div className={classes.more} ref={ref}>
      <Button variant="default" onClick={() => void list.fetchNextPage()} loading={list.isFetchingNextPage}>
        Show more
      </Button>
    </div>
  );
}
