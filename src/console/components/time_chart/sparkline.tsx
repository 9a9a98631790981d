import classes from '#console/components/time_chart/sparkline.module.css';

interface SparklineProps {
  /** Positions of the values along the line, out of `length`. */
  readonly steps: readonly number[];
  readonly values: readonly number[];
  readonly length: number;
  /** Description of the values, in words. */
  readonly label: string;
  /** Whether it fills the width and height of its parent. */
  readonly isWide?: boolean;
}

const WIDTH = 96;
const HEIGHT = 24;
const ROOM = 2;
/** Share of the line from which two values have a gap between them. */
const GAP_SHARE = 1 / 12;

/** Line of some values, as small as a word. */
export function Sparkline({ steps, values, length, label, isWide = false }: SparklineProps) {
  const low = values.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const high = values.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const x = (step: number) => (step / Math.max(length, 1)) * WIDTH;
  const y = (value: number) =>
    high === low ? HEIGHT / 2 : HEIGHT - ROOM - ((value - low) / (high - low)) * (HEIGHT - 2 * ROOM);
  const path = steps.map((step, index) => {
    const before = steps[index - 1];
    const isStart = before === undefined || step - before > Math.max(length * GAP_SHARE, 2);
    return `${isStart ? 'M' : 'L'}${x(step).toFixed(1)} ${y(values[index] ?? 0).toFixed(1)}`;
  });
  return (
    <svg
      className={`${classes.line} ${isWide ? classes.isWide : ''}`}
      width={WIDTH}
      height={HEIGHT}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <path d={path.length === 1 ? `${path[0]}h2` : path.join('')} />
    </svg>
  );
}
