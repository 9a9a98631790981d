import type { ReactNode } from 'react';

import classes from '#console/components/lists/selection_bar.module.css';

interface SelectionBarProps {
  readonly label: string;
  /** Whether the requested change is under way. */
  readonly isBusy?: boolean;
  readonly children: ReactNode;
}

/** Bar above the end of a list with the commands for the selected rows. */
export function SelectionBar({ label, isBusy = false, children }: SelectionBarProps) {
  return (
    <div className={classes.selection} data-bottom-bar="high" role={isBusy ? 'status' : 'region'} aria-label={label}>
      {children}
    </div>
  );
}
