import { Button } from '@mantine/core';
import { useIntersection } from '@mantine/hooks';
import { useEffect, useEffectEvent } from 'react';

import { ErrorAlert } from '#console/components/error_alert.tsx';
import classes from '#console/components/lists/load_more.module.css';

interface MorePages {
  readonly hasNextPage: boolean;
  readonly isFetchingNextPage: boolean;
  /** Whether the last attempt failed, so that the next one needs a click. */
  readonly isFetchNextPageError: boolean;
  readonly error: unknown;
  fetchNextPage(): Promise<unknown>;
}

interface ShowMoreProps {
  readonly list: MorePages;
  readonly children?: string;
}

/** Button that loads the next page, with why it could not be loaded; nothing below the last one. */
export function ShowMore({ list, children = 'Show more' }: ShowMoreProps) {
  if (!list.hasNextPage) return null;
  return (
    <div className={classes.more}>
      {list.isFetchNextPageError && <ErrorAlert title="No more could be loaded" error={list.error} />}
      <Button variant="default" onClick={() => void list.fetchNextPage()} loading={list.isFetchingNextPage}>
        {children}
      </Button>
    </div>
  );
}

interface Pages extends MorePages {
  readonly isPlaceholderData: boolean;
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
    <div ref={ref}>
      <ShowMore list={list} />
    </div>
  );
}
