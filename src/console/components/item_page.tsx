import type { ReactNode } from 'react';

import classes from '#console/components/item_page.module.css';
import { Page } from '#console/components/page.tsx';

interface ItemPageProps {
  readonly title: string;
  readonly back: ReactNode;
  /** Facts in a line below the title. The last one has `data-rest` if its length is not known at first. */
  readonly facts: ReactNode;
  readonly actions: ReactNode;
  /**
   * Two columns, below each other if there is not enough room. A third child stands below the first, or last, so that
   * content that arrives late or far down moves nothing there.
   */
  readonly children: ReactNode;
}

/** Page of one item of a list. On a phone its actions are at the bottom, within reach of a thumb. */
export function ItemPage({ title, back, facts, actions, children }: ItemPageProps) {
  return (
    <div className={classes.item}>
      <Page title={title} above={back} lead={<div className={classes.facts}>{facts}</div>} actions={actions}>
        <div className={classes.columns}>{children}</div>
      </Page>
    </div>
  );
}

interface ItemActionsProps {
  /** Whether the buttons are larger on a phone, where there are only two. */
  readonly isLarge?: boolean;
  readonly children: ReactNode;
}

export function ItemActions({ isLarge = false, children }: ItemActionsProps) {
  return (
    <div className={classes.actions} data-large={isLarge || undefined} data-bottom-bar="">
      {children}
    </div>
  );
}
