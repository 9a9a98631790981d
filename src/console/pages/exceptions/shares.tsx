import type { ReactNode } from 'react';

import { Name } from '#console/components/text/name.tsx';
import { countText, shareText } from '#console/pages/exceptions/count_text.ts';
import classes from '#console/pages/exceptions/shares.module.css';

interface Share {
  readonly value: string;
  readonly count: number;
  readonly sub?: ReactNode;
  /** Content shown in place of the value. */
  readonly shown?: ReactNode;
}

interface SharesProps {
  readonly label: string;
  readonly values: readonly Share[];
  readonly whole: number;
}

/** Bars of the share of all events that each value has. */
export function Shares({ label, values, whole }: SharesProps) {
  return (
    <ul className={classes.shares} aria-label={label}>
      {values.map(({ value, count, sub, shown }) => (
        <li key={value} title={countText(count, 'event')}>
          <span className={classes.bar} style={{ width: `${whole === 0 ? 0 : (100 * count) / whole}%` }} aria-hidden />
          <span className={classes.value}>
            {shown ?? <Name>{value}</Name>}
            {sub !== undefined && <span className={classes.sub}>{sub}</span>}
          </span>
          <span className={classes.share}>{shareText(count, whole)}</span>
        </li>
      ))}
    </ul>
  );
}
