import { memo } from 'react';

import { type ChartMarker, type ChartSeries, valueNear } from '#console/components/time_chart/chart_series.ts';
import { lineStyle, pointTimeText, type Scheme } from '#console/components/time_chart/chart_texts.ts';
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
    <ul className={`${classes.legend} wraps rigid`}>
      {series.map(({ name, values, look, isFaint = false }, index) => (
        <li key={name}>
          <button
            type="button"
            className={`${classes.entry} row tiny`}
            aria-pressed={!hidden.has(name)}
            title={`${hidden.has(name) ? 'Show' : 'Hide'} ${name}`}
            onClick={() => onToggle(name)}
            onPointerEnter={() => onFocus(name)}
            onPointerLeave={() => onFocus(null)}
          >
            <LineSwatch index={look ?? index} scheme={scheme} isFaint={isFaint} />
            <bdi className={`${classes.entryName} ellipsis`}>{name}</bdi>
            {values.length > 0 && <span className="dimmed rigid numbers">{valueText(values.at(-1) ?? 0)}</span>}
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
function LineSwatch({ index, scheme, isFaint = false }: LineSwatchProps) {
  const { color, dash } = lineStyle(index, scheme);
  return (
    <svg className="rigid" width={16} height={8} aria-hidden>
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

interface SeriesValue {
  readonly name: string;
  readonly at: number;
  readonly value: number;
}

const SHOWN_MAX = 12;
const MARKERS_MAX = 6;

/** Returns the value of each series at a time, the greatest first. */
export function valuesAt(series: readonly ChartSeries[], at: number, withinMs: number): readonly SeriesValue[] {
  return series
    .flatMap((line) => {
      const near = valueNear(line, at, withinMs);
      return near === null ? [] : [{ name: line.name, ...near }];
    })
    .toSorted((a, b) => b.value - a.value);
}

/** Returns the values in one sentence, for people who hear them. */
export function valuesText(
  values: readonly SeriesValue[],
  at: number,
  stepMs: number,
  valueText: (value: number) => string,
  markers: readonly ChartMarker[] = [],
): string {
  const said = values.slice(0, SHOWN_MAX).map(({ name, value }) => `${name} ${valueText(value)}`);
  const marked = markers.slice(0, MARKERS_MAX).map(({ label }) => `; ${label}`);
  return `${pointTimeText(values[0]?.at ?? at, stepMs)}: ${said.length === 0 ? 'no data' : said.join(', ')}${marked.join('')}`;
}

interface CursorValuesProps {
  readonly left: number;
  readonly width: number;
  readonly at: number;
  readonly stepMs: number;
  readonly values: readonly SeriesValue[];
  readonly markers: readonly ChartMarker[];
  styleOf(name: string): { readonly index: number; readonly isFaint: boolean };
  readonly scheme: Scheme;
  valueText(value: number): string;
  /** Returns the colour of a value, where values have colours and lines have none. */
  readonly colorOf?: ((value: number) => string) | undefined;
}

/** Values at the cursor, on the side of it that has room. */
export function CursorValues(props: CursorValuesProps) {
  const { left, width, at, stepMs, values, markers, styleOf, scheme, valueText, colorOf } = props;
  const isRight = left < width / 2;
  const place = isRight ? { left: left + 12 } : { right: width - left + 12 };
  return (
    <div className={`${classes.values} tiny numbers`} style={place} aria-hidden>
      <div className="dimmed">{pointTimeText(at, stepMs)}</div>
      {values.length === 0 && <div className="dimmed">no data</div>}
      {values.slice(0, SHOWN_MAX).map(({ name, value }) => (
        <div key={name} className={`${classes.value} row`}>
          {colorOf === undefined ? (
            <LineSwatch {...styleOf(name)} scheme={scheme} />
          ) : (
            <span className={classes.cell} style={{ background: colorOf(value) }} />
          )}
          <bdi className="ellipsis grow">{name}</bdi>
          <b>{valueText(value)}</b>
        </div>
      ))}
      {values.length > SHOWN_MAX && <div className="dimmed">{values.length - SHOWN_MAX} more</div>}
      {markers.slice(0, MARKERS_MAX).map(({ at: markedAt, label, tone }) => (
        <div
          key={`${markedAt} ${label}`}
          className={`${classes.marked} ${markers.length > 1 ? 'ellipsis' : ''}`}
          data-tone={tone}
        >
          <bdi>{label}</bdi>
        </div>
      ))}
      {markers.length > MARKERS_MAX && <div className="dimmed">{markers.length - MARKERS_MAX} more marks here</div>}
    </div>
  );
}
