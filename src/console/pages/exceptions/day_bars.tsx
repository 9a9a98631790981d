import classes from '#console/pages/exceptions/day_bars.module.css';

interface DayBarsProps {
  /** One number a day, oldest first, today last. */
  readonly counts: readonly number[];
}

const HEIGHT = 24;
const STEP = 8;
/** A day with events is never mistaken for one without. */
const HEIGHT_MIN = 2;

/** How many events each of the last days had. */
export function DayBars({ counts }: DayBarsProps) {
  const most = Math.max(1, ...counts);
  const today = counts.at(-1) ?? 0;
  const all = counts.reduce((sum, count) => sum + count, 0);
  const label = `${all.toLocaleString()} events in ${counts.length} days, ${today.toLocaleString()} today`;
  return (
    <svg
      className={classes.bars}
      viewBox={`0 0 ${counts.length * STEP} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <title>{label}</title>
      {counts.map((count, index) => {
        const height = count === 0 ? 1 : Math.max(HEIGHT_MIN, (count / most) * HEIGHT);
        return (
          <rect
            // Days never change places.
            // eslint-disable-next-line react/no-array-index-key
            key={index}
            x={index * STEP}
            y={HEIGHT - height}
            width={STEP - 2}
            height={height}
            className={count === 0 ? classes.none : classes.some}
          />
        );
      })}
    </svg>
  );
}
