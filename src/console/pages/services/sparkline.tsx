import classes from '#console/pages/services/sparkline.module.css';

interface SparklineProps {
  readonly values: readonly number[];
  /** Description of the values for people who cannot see them: `1,204 events in 24 hours`. */
  readonly label: string;
  readonly tone?: 'blue' | 'red';
  readonly height?: number;
}

const BAR = 3;
const GAP = 1;

/** Small bars without axes, one for each value. A value above zero is always visible. */
export function Sparkline({ values, label, tone = 'blue', height = 24 }: SparklineProps) {
  const max = Math.max(...values, 1);
  const width = values.length * (BAR + GAP) - GAP;
  return (
    <svg
      className={`${classes.bars} ${classes[tone]}`}
      viewBox={`0 0 ${width} ${height}`}
      height={height}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <title>{label}</title>
      {values.map((value, index) => {
        const tall = value === 0 ? 1 : Math.max(2, (value / max) * height);
        return (
          <rect
            // The bars never change places.
            // eslint-disable-next-line react/no-array-index-key
            key={index}
            className={value === 0 ? classes.none : undefined}
            x={index * (BAR + GAP)}
            y={height - tall}
            width={BAR}
            height={tall}
          />
        );
      })}
    </svg>
  );
}
