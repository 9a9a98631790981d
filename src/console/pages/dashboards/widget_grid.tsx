import 'react-grid-layout/css/styles.css';

import { useElementSize, useMediaQuery } from '@mantine/hooks';
import { memo, type ReactNode, useCallback, useEffect, useMemo, useRef } from 'react';
import { GridLayout, type Layout } from 'react-grid-layout';

import classes from '#console/pages/dashboards/dashboards.module.css';
import { compacted } from '#modules/dashboards/decide/grid.ts';
import { GRID_COLUMNS, placeWidget, type Widget } from '#modules/dashboards/decide/widget.ts';

const ROW_HEIGHT = 44;
const GRID_GAP = 12;

/** Width of the grid, and whether it is narrow: on a phone every widget is as wide as the grid. */
export interface GridSize {
  readonly width: number;
  readonly isNarrow: boolean;
}

export function widthOf({ grid: { w } }: Widget, { width, isNarrow }: GridSize): number {
  if (isNarrow) return width;
  return ((width + GRID_GAP) / GRID_COLUMNS) * w - GRID_GAP;
}

interface WidgetGridProps {
  readonly widgets: readonly Widget[];
  readonly isEditing: boolean;
  onMove(widgets: readonly Widget[]): void;
  /** Called with the widgets in view or about to be, and the size of the grid, which gives the width of each. */
  onView(ids: readonly string[], size: GridSize): void;
  render(widget: Widget): ReactNode;
}

/** Grid of widgets in twelve columns; on a phone one below the other. During edits they can be dragged. */
export const WidgetGrid = memo(function WidgetGrid({ widgets, isEditing, onMove, onView, render }: WidgetGridProps) {
  const { ref, width } = useElementSize();
  const isNarrow = useMediaQuery('(max-width: 48em)') ?? false;
  const observed = useInView(
    widgets,
    width,
    useCallback((ids: readonly string[]) => onView(ids, { width, isNarrow }), [onView, width, isNarrow]),
  );
  const layout = useMemo(
    (): Layout => widgets.map(({ id, grid }) => ({ i: id, ...grid, minH: 2, minW: 1 })),
    [widgets],
  );
  const move = (next: Layout): void => {
    const places = new Map(next.map(({ i, x, y, w, h }) => [i, { x, y, w, h }]));
    const moved = widgets.map((widget) => placeWidget(widget, places.get(widget.id) ?? widget.grid));
    if (moved.some((widget, index) => widget !== widgets[index])) onMove(compacted(moved));
  };
  const items = useMemo(
    () =>
      widgets.map((widget) => (
        // The grid has a ref of its own on the outer one.
        <div key={widget.id}>
          <div ref={observed(widget.id)} className={classes.place}>
            {render(widget)}
          </div>
        </div>
      )),
    [widgets, observed, render],
  );
  return (
    <div ref={ref} className={classes.grid} data-editing={isEditing || undefined}>
      {width > 0 && isNarrow && (
        <div className={`${classes.stack} stack`}>
          {widgets.map((widget) => (
            <div key={widget.id} ref={observed(widget.id)} style={{ height: heightOf(widget) }}>
              {render(widget)}
            </div>
          ))}
        </div>
      )}
      {width > 0 && !isNarrow && (
        <GridLayout
          width={width}
          layout={layout}
          gridConfig={GRID}
          dragConfig={{ enabled: isEditing, handle: `.${classes.grip}`, bounded: false, threshold: 3 }}
          resizeConfig={{ enabled: isEditing, handles: ['se'] }}
          onDragStop={move}
          onResizeStop={move}
        >
          {items}
        </GridLayout>
      )}
    </div>
  );
});

const GRID = {
  cols: GRID_COLUMNS,
  rowHeight: ROW_HEIGHT,
  margin: [GRID_GAP, GRID_GAP],
  containerPadding: [0, 0],
  maxRows: Number.POSITIVE_INFINITY,
} as const;

function heightOf({ grid: { h } }: Widget): number {
  return h * ROW_HEIGHT + (h - 1) * GRID_GAP;
}

/** Margin around the screen within which a widget counts as in view. */
const MARGIN = '300px';

/**
 * Reports which widgets are in view, without rendering the grid again; returns a function that makes a ref by which a
 * widget is observed.
 */
function useInView(widgets: readonly Widget[], width: number, onView: (ids: readonly string[]) => void) {
  const elements = useRef(new Map<string, HTMLElement>());
  const refs = useRef(new Map<string, (element: HTMLElement | null) => void>());
  const observer = useRef<IntersectionObserver | null>(null);
  const inView = useRef<ReadonlySet<string>>(new Set());
  const ids = widgets.map(({ id }) => id).join(' ');
  const latest = useRef({ ids, width, onView });
  useEffect(() => {
    latest.current = { ids, width, onView };
  });
  const report = useCallback((): void => {
    const now = latest.current;
    if (now.width === 0) return;
    const shownIds = new Set(now.ids.split(' '));
    now.onView([...inView.current].filter((id) => shownIds.has(id)));
  }, []);
  useEffect(() => {
    observer.current = new IntersectionObserver(
      (entries) => {
        const next = new Set(inView.current);
        for (const { target, isIntersecting } of entries) {
          const id = target.getAttribute('data-widget') ?? '';
          if (isIntersecting) next.add(id);
          else next.delete(id);
        }
        const isSame = next.size === inView.current.size && next.isSubsetOf(inView.current);
        inView.current = next;
        if (!isSame) report();
      },
      { rootMargin: MARGIN },
    );
    for (const element of elements.current.values()) observer.current.observe(element);
    return () => {
      observer.current?.disconnect();
      observer.current = null;
    };
  }, [report]);
  useEffect(report, [ids, width, report]);
  return useCallback((id: string) => {
    const node = refs.current.get(id);
    if (node !== undefined) return node;
    const set = (element: HTMLElement | null): void => {
      const before = elements.current.get(id);
      if (before !== undefined) observer.current?.unobserve(before);
      if (element === null) {
        elements.current.delete(id);
        return;
      }
      element.dataset['widget'] = id;
      elements.current.set(id, element);
      observer.current?.observe(element);
    };
    refs.current.set(id, set);
    return set;
  }, []);
}
