import { Button, Text } from '@mantine/core';
import type { ReactNode } from 'react';

import classes from '#console/components/lists/selection_bar.module.css';

interface SelectionBarProps {
  readonly label: string;
  readonly count: number;
  /** Number of rows that match the filter, loaded or not. */
  readonly total: number;
  readonly areAllSelected: boolean;
  readonly onSelectAll: () => void;
  readonly onClear: () => void;
  /** Buttons of the commands. */
  readonly children: ReactNode;
}

/** Bar above the end of a list with the commands for the selected rows: a few, or all that match. */
export function SelectionBar(props: SelectionBarProps) {
  const { label, count, total, areAllSelected, onSelectAll, onClear, children } = props;
  return (
    <div className={`${classes.selection} row`} data-bottom-bar="high" role="region" aria-label={label}>
      <Text size="sm" fw={560} className="numbers">
        {areAllSelected ? `All ${total.toLocaleString()} selected` : `${count.toLocaleString()} selected`}
      </Text>
      {!areAllSelected && total > count && (
        <Button size="sm" variant="subtle" onClick={onSelectAll}>
          Select all {total.toLocaleString()}
        </Button>
      )}
      {children}
      <Button size="sm" variant="subtle" color="gray" onClick={onClear}>
        Clear
      </Button>
    </div>
  );
}

interface ChangingBarProps {
  readonly label: string;
  /** Progress in words: `200 of 1,204 resolved`. */
  readonly progress: string;
  readonly onStop: () => void;
}

/** The bar while the change of all that match is under way. */
export function ChangingBar({ label, progress, onStop }: ChangingBarProps) {
  return (
    <div className={`${classes.selection} row`} data-bottom-bar="high" role="status" aria-label={label}>
      <Text size="sm" fw={560} className="numbers">
        {progress}
      </Text>
      <Button size="sm" variant="default" onClick={onStop}>
        Stop
      </Button>
    </div>
  );
}
