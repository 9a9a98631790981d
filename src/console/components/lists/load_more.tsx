import { Button } from '@mantine/core';
import { useIntersection } from '@mantine/hooks';
import { useEffect, useEffectEvent } from 'react';

import classes from '#console/components/lists/load_more.module.css';

interface LoadMoreProps {
  onMore(): void;
  readonly isLoading: boolean;
  /** Whether the last attempt failed, so that the next one needs a click. */
  readonly hasFailed: boolean;
}

/** Loads more rows when the end of the list is near, or by its button. */
export function LoadMore({ onMore, isLoading, hasFailed }: LoadMoreProps) {
  const { ref, entry } = useIntersection({ rootMargin: '800px' });
  const isWanted = entry?.isIntersecting === true && !isLoading && !hasFailed;
  const loadMore = useEffectEvent(onMore);
  useEffect(() => {
    if (isWanted) loadMore();
  }, [isWanted]);
  return (
    <div className={classes.more} ref={ref}>
      <Button variant="default" onClick={onMore} loading={isLoading}>
        Show more
      </Button>
    </div>
  );
}
