import { type KeyboardEvent, type PointerEvent, useRef } from 'react';

import type { PlotArea } from '#console/components/time_chart/plot.ts';
import classes from '#console/components/time_chart/time_chart.module.css';

interface ThresholdHandleProps {
  readonly area: PlotArea;
  readonly value: number;
  /** Value with its unit. */
  readonly text: string;
  onChange(value: number): void;
  /** Called with true before the first change of a drag, with false after the last. */
  onHold(isHeld: boolean): void;
}

/** Slider on the threshold's line. Escape during a drag resets it. */
export function ThresholdHandle({ area, value, text, onChange, onHold }: ThresholdHandleProps) {
  const drag = useRef<{ readonly startY: number; readonly startValue: number; readonly area: PlotArea } | null>(null);
  const share = (value - area.min) / (area.max - area.min || 1);
  const top = area.top + (1 - Math.min(Math.max(share, 0), 1)) * area.height;
  const begin = (event: PointerEvent<HTMLDivElement>): void => {
    if (event.button !== 0) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    drag.current = { startY: event.clientY, startValue: value, area };
    onHold(true);
  };
  const move = ({ clientY }: PointerEvent): void => {
    if (drag.current === null) return;
    const { startY, startValue, area: held } = drag.current;
    const perPixel = (held.max - held.min) / held.height;
    onChange(roundedTo(startValue - (clientY - startY) * perPixel, perPixel));
  };
  const end = (): void => {
    if (drag.current === null) return;
    drag.current = null;
    onHold(false);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = niceStep((area.max - area.min) / 100);
    const steps: Readonly<Record<string, number>> = {
      ArrowUp: 1,
      ArrowRight: 1,
      ArrowDown: -1,
      ArrowLeft: -1,
      PageUp: 10,
      PageDown: -10,
    };
    const by = steps[event.key];
    if (by !== undefined) {
      event.preventDefault();
      onChange(roundedTo(value + by * step, step));
    } else if (event.key === 'Escape' && drag.current !== null) {
      event.stopPropagation();
      onChange(drag.current.startValue);
      end();
    }
  };
  return (
    <div
      className={classes.threshold}
      style={{ top, left: area.left, width: area.width }}
      role="slider"
      tabIndex={0}
      aria-label="Threshold"
      aria-orientation="vertical"
      aria-valuemin={Math.min(area.min, value)}
      aria-valuemax={Math.max(area.max, value)}
      aria-valuenow={value}
      aria-valuetext={text}
      onPointerDown={begin}
      onPointerMove={move}
      onPointerUp={end}
      onPointerCancel={end}
      onKeyDown={onKeyDown}
    >
      <span className={classes.grip} />
    </div>
  );
}

/** Returns 1, 2 or 5 times a power of ten, at least as large as `size`. */
export function niceStep(size: number): number {
  if (!(size > 0) || !Number.isFinite(size)) return 1;
  const power = 10 ** Math.floor(Math.log10(size));
  const factor = [1, 2, 5, 10].find((candidate) => candidate * power >= size * (1 - 1e-9)) ?? 10;
  return Number((factor * power).toPrecision(1));
}

/** Returns the nearest multiple of a nice step: a dragged threshold reads as people would write it. */
export function roundedTo(value: number, resolution: number): number {
  const step = niceStep(resolution);
  return Number((Math.round(value / step) * step).toPrecision(12));
}
