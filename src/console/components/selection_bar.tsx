import type { ReactNode } from 'react';

import classes from '#console/components/selection_bar.module.css';

interface SelectionBarProps {
  readonly label: string;
  /** While what was asked for is being done. */
  readonly isBusy?: boolean;
  readonly children: ReactNode;
}

/** Above the end of a list: what can be done with the selected rows. */
export function SelectionBar({ label, isBusy = false, children }: SelectionBarProps) {
  return (
    <div className={classes.selection} data-bottom-bar="high" role={isBusy ? 'status' : 'region'} aria-label={label}>
      {children}
    </div>
  );
}
