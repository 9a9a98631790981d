import { memo } from 'react';

import { lineStyle, type Scheme } from '#console/components/time_chart/chart_colors.ts';
import type { ChartSeries } from '#console/components/time_chart/chart_series.ts';
import classes from '#console/components/time_chart/time_chart.module.css';

interface ChartLegendProps {
  readonly series: readonly ChartSeries[];
  readonly hidden: ReadonlySet<string>;
  readonly scheme: Scheme;
  valueText(value: number): string;
  onToggle(name: string): void;
  /** Called with the focused line; null for none. */
  onFocus(name: string | null): void;
}

/** Legend of the lines with their last values; a press hides or shows one. */
export const ChartLegend = memo(function ChartLegend(props: ChartLegendProps) {
  const { series, hidden, scheme, valueText, onToggle, onFocus } = props;
  return (
    <ul className={classes.legend}>
      {series.map(({ name, values, look, isFaint = false }, index) => (
        <li key={name}>
          <button
            type="button"
            className={classes.entry}
            aria-pressed={!hidden.has(name)}
            title={`${hidden.has(name) ? 'Show' : 'Hide'} ${name}`}
            onClick={() => onToggle(name)}
            onPointerEnter={() => onFocus(name)}
            onPointerLeave={() => onFocus(null)}
          >
            <LineSwatch index={look ?? index} scheme={scheme} isFaint={isFaint} />
            <bdi className={classes.entryName}>{name}</bdi>
            {values.length > 0 && <span className={classes.last}>{valueText(values.at(-1) ?? 0)}</span>}
          </button>
        </li>
      ))}
    </ul>
  );
});

interface LineSwatchProps {
  readonly index: number;
  readonly scheme: Scheme;
  readonly isFaint?: boolean;
}

/** Sample of a line, in its colour and with its dashes. */
export function LineSwatch({ index, scheme, isFaint = false }: LineSwatchProps) {
  const { color, dash } = lineStyle(index, scheme);
  return (
    <svg className={classes.swatch} width={16} height={8} aria-hidden>
      <line
        x1={0}
        y1={4}
        x2={16}
        y2={4}
        stroke={color}
        strokeWidth={isFaint ? 1.5 : 2.5}
        strokeDasharray={isFaint ? '4 3' : dash.join(' ')}
      />
    </svg>
  );
}
