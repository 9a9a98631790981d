import { type ChartMarker, type ChartSeries, valueNear } from '#console/components/time_chart/chart_series.ts';
import { type Scheme } from '#console/components/time_chart/chart_colors.ts';
import { pointTimeText } from '#console/components/time_chart/chart_texts.ts';
import { LineSwatch } from '#console/components/time_chart/chart_legend.tsx';
import classes from '#console/components/time_chart/time_chart.module.css';

interface SeriesValue {
  readonly name: string;
  readonly at: number;
  readonly value: number;
}

const SHOWN_MAX = 12;

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
): string {
  const said = values.slice(0, SHOWN_MAX).map(({ name, value }) => `${name} ${valueText(value)}`);
  return `${pointTimeText(values[0]?.at ?? at, stepMs)}: ${said.length === 0 ? 'no data' : said.join(', ')}`;
}

interface CursorValuesProps {
  readonly left: number;
  readonly width: number;
  readonly at: number;
  readonly stepMs: number;
  readonly values: readonly SeriesValue[];
  readonly markers: readonly ChartMarker[];
  /** Returns the style of a series' line. */
  styleOf(name: string): { readonly index: number; readonly isFaint: boolean };
  readonly scheme: Scheme;
  valueText(value: number): string;
}

/** Values at the cursor, on the side of it that has room. */
export function CursorValues(props: CursorValuesProps) {
  const { left, width, at, stepMs, values, markers, styleOf, scheme, valueText } = props;
  const isRight = left < width / 2;
  const place = isRight ? { left: left + 12 } : { right: width - left + 12 };
  return (
    <div className={classes.values} style={place} aria-hidden>
      <div className={classes.time}>{pointTimeText(at, stepMs)}</div>
      {values.length === 0 && <div className={classes.time}>no data</div>}
      {values.slice(0, SHOWN_MAX).map(({ name, value }) => (
        <div key={name} className={classes.value}>
          <LineSwatch {...styleOf(name)} scheme={scheme} />
          <bdi className={classes.valueName}>{name}</bdi>
          <b>{valueText(value)}</b>
        </div>
      ))}
      {values.length > SHOWN_MAX && <div className={classes.time}>{values.length - SHOWN_MAX} more</div>}
      {markers.slice(0, 3).map(({ at: markedAt, label, tone }) => (
        <div key={`${markedAt} ${label}`} className={classes.marked} data-tone={tone}>
          <bdi>{label}</bdi>
        </div>
      ))}
    </div>
  );
}
