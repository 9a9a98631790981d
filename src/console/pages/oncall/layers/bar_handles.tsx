import { type KeyboardEvent, type PointerEvent, useRef, useState } from 'react';

import classes from '#console/pages/oncall/layers/bar_handles.module.css';
import type { LayerDraft } from '#console/pages/oncall/layers/layers_draft.ts';
import { type BarEdge, withEdgeMoved } from '#console/pages/oncall/layers/week_hours.ts';
import { placeOf, type TimelineRange } from '#console/pages/oncall/timeline_range.ts';

interface BarHandlesProps {
  readonly layer: LayerDraft;
  readonly edges: readonly BarEdge[];
  readonly range: TimelineRange;
  /** Called with the changed fields, also while the edge is dragged. */
  readonly onChange: (changes: Partial<LayerDraft>, edge: BarEdge) => void;
}

const STEP_MINUTES = 30;
const KEYS: Readonly<Record<string, number>> = {
  ArrowLeft: -STEP_MINUTES,
  ArrowDown: -STEP_MINUTES,
  ArrowRight: STEP_MINUTES,
  ArrowUp: STEP_MINUTES,
  PageDown: -24 * 60,
  PageUp: 24 * 60,
};
const WHAT = { begin: 'begins', end: 'ends', hand_over: 'hands over' } as const;

/**
 * Sliders on the edges of a layer's bar, for the mouse, a finger or the keyboard: arrow keys move by half an hour, Page Up and
 * Page Down by a day. Escape during a drag undoes it.
 */
export function BarHandles({ layer, edges, range, onChange }: BarHandlesProps) {
  const drag = useRef<{ readonly x: number; readonly width: number; readonly layer: LayerDraft; by: number } | null>(
    null,
  );
  const [held, setHeld] = useState<string | null>(null);
  const end = (): void => {
    drag.current = null;
    setHeld(null);
  };
  const begin = (event: PointerEvent<HTMLElement>, key: string): void => {
    // The bar below would mark a new time.
    event.stopPropagation();
    if (event.button !== 0) return;
    const { width } = (event.currentTarget.parentElement ?? event.currentTarget).getBoundingClientRect();
    event.currentTarget.setPointerCapture(event.pointerId);
    drag.current = { x: event.clientX, width, layer, by: 0 };
    setHeld(key);
  };
  const move = (event: PointerEvent, edge: BarEdge): void => {
    if (drag.current === null) return;
    event.stopPropagation();
    const { x, width, layer: before } = drag.current;
    const minutes = (((event.clientX - x) / width) * (range.to - range.from)) / 60_000;
    const by = Math.round(minutes / STEP_MINUTES) * STEP_MINUTES;
    if (by === drag.current.by) return;
    drag.current.by = by;
    onChange(withEdgeMoved(before, edge, by), edge);
  };
  const onKeyDown = (event: KeyboardEvent, edge: BarEdge): void => {
    const by = KEYS[event.key];
    if (by !== undefined) {
      event.preventDefault();
      onChange(withEdgeMoved(layer, edge, by), edge);
    } else if (event.key === 'Escape' && drag.current !== null) {
      event.stopPropagation();
      const { hours, startsAt } = drag.current.layer;
      end();
      onChange({ hours, startsAt }, edge);
    }
  };
  return edges.map((edge) => {
    const { kind, count, at, text } = edge;
    const key = `${kind} ${count}`;
    const days = (at - range.from) / 86_400_000;
    return (
      <div
        key={key}
        className={classes.edge}
        data-kind={kind}
        data-held={held === key ? '' : undefined}
        data-late={placeOf(at, range) > 50 ? '' : undefined}
        style={{ left: `${placeOf(at, range)}%` }}
        role="slider"
        tabIndex={0}
        aria-label={
          kind === 'hand_over' ? `${layer.name} ${WHAT[kind]}` : `${layer.name}, time ${count + 1} ${WHAT[kind]}`
        }
        aria-valuemin={0}
        aria-valuemax={7}
        aria-valuenow={Number(days.toFixed(2))}
        aria-valuetext={text}
        onPointerDown={(event) => begin(event, key)}
        onPointerMove={(event) => move(event, edge)}
        onPointerUp={end}
        onPointerCancel={end}
        onKeyDown={(event) => onKeyDown(event, edge)}
      >
        {held === key && <span className={`${classes.edgeText} tiny nowrap`}>{text}</span>}
      </div>
    );
  });
}
