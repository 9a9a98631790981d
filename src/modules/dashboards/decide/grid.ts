import {
  GRID_COLUMNS,
  type GridPlace,
  placeWidget,
  readWidget,
  type Widget,
  WIDGET_SIZES,
  type WidgetFacts,
  writeWidget,
} from '#modules/dashboards/decide/widget.ts';

/** Whether two widgets would cover each other. */
function isOverlap(a: GridPlace, b: GridPlace): boolean {
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}

/** Compares widgets by row, then by column. */
function inReadingOrder(a: Widget, b: Widget): number {
  return a.grid.y - b.grid.y || a.grid.x - b.grid.x;
}

/**
 * Moves every widget up as far as it goes without an overlap; in a row, `firstId` is placed before the others. Returns
 * the widgets in reading order.
 */
export function compacted(widgets: readonly Widget[], firstId: string | null = null): Widget[] {
  const order = widgets.toSorted((a, b) => {
    const isFirst = Number(b.id === firstId) - Number(a.id === firstId);
    return a.grid.y === b.grid.y && isFirst !== 0 ? isFirst : inReadingOrder(a, b);
  });
  const placed: Widget[] = [];
  for (const widget of order) {
    const { x, w, h } = widget.grid;
    let y = 0;
    // Moves it below each widget that it would overlap, from the top down.
    for (;;) {
      const below = placed.find(({ grid }) => isOverlap(grid, { x, y, w, h }));
      if (below === undefined) break;
      y = below.grid.y + below.grid.h;
    }
    placed.push(placeWidget(widget, { x, y, w, h }));
  }
  return placed.sort(inReadingOrder);
}

/** Returns the position of a new widget of this size: the first free one beside the lowest widgets, else below all. */
export function freePlace(widgets: readonly Widget[], { w, h }: { readonly w: number; readonly h: number }): GridPlace {
  const bottom = Math.max(0, ...widgets.map(({ grid }) => grid.y + grid.h));
  // People look for a new widget there.
  const lowest = Math.max(0, ...widgets.filter(({ grid }) => grid.y + grid.h === bottom).map(({ grid }) => grid.y));
  for (let x = 0; x + w <= GRID_COLUMNS; x += 1) {
    const place = { x, y: lowest, w, h };
    if (widgets.every(({ grid }) => !isOverlap(grid, place))) return place;
  }
  return { x: 0, y: bottom, w, h };
}

/** Moves a widget by so many columns and rows, or makes it larger by them; others make room. */
export function nudge(
  widgets: readonly Widget[],
  id: string,
  by: { readonly columns: number; readonly rows: number },
  what: 'place' | 'size',
): Widget[] {
  const widget = widgets.find((widget) => widget.id === id);
  if (widget === undefined) return [...widgets];
  const { x, y, w, h } = widget.grid;
  const moved =
    what === 'size'
      ? { x, y, w: within(w + by.columns, 1, GRID_COLUMNS - x), h: within(h + by.rows, 2, 40) }
      : { x: within(x + by.columns, 0, GRID_COLUMNS - w), y: Math.max(0, by.rows === 0 ? y : rowOf(by.rows)), w, h };
  return compacted(
    widgets.map((widget) => (widget.id === id ? placeWidget(widget, moved) : widget)),
    id,
  );

  /** Returns the row above the widget above, or below the one below: one row alone would change nothing. */
  function rowOf(rows: number): number {
    const meeting = widgets.filter(({ grid, id: other }) => other !== id && grid.x < x + w && x < grid.x + grid.w);
    if (rows < 0) return Math.max(0, ...meeting.filter(({ grid }) => grid.y < y).map(({ grid }) => grid.y));
    const next = meeting.filter(({ grid }) => grid.y > y).map(({ grid }) => grid.y + grid.h);
    return next.length === 0 ? y : Math.min(...next);
  }
}

/** Moves a widget one place earlier or later in reading order: on a phone, one place up or down. */
export function moveInOrder(widgets: readonly Widget[], id: string, by: -1 | 1): Widget[] {
  const order = widgets.toSorted(inReadingOrder);
  const index = order.findIndex((widget) => widget.id === id);
  const neighbour = order[index + by];
  const moved = order[index];
  if (moved === undefined || neighbour === undefined) return [...widgets];
  const [first, second] = by < 0 ? [neighbour, moved] : [moved, neighbour];
  const { grid: a } = first;
  const { grid: b } = second;
  const swapped = { x: Math.min(a.x, GRID_COLUMNS - b.w), other: Math.min(b.x, GRID_COLUMNS - a.w) };
  /**
   * Candidate columns: widgets in one row swap sides; otherwise each keeps its columns, takes those of the other, or
   * goes to the left.
   */
  const columns: readonly (readonly [ofSecond: number, ofFirst: number])[] =
    a.y === b.y
      ? [[a.x, b.x + b.w - a.w]]
      : [
          [b.x, a.x],
          [swapped.x, swapped.other],
          [0, 0],
        ];
  const candidates = columns.map(([ofSecond, ofFirst]) => {
    const places = new Map<string, GridPlace>([
      [second.id, { ...b, x: ofSecond, y: a.y }],
      [first.id, { ...a, x: ofFirst, y: Math.max(b.y, a.y === b.y ? 0 : a.y + b.h) }],
    ]);
    return compacted(
      order.map((widget) => placeWidget(widget, places.get(widget.id) ?? widget.grid)),
      second.id,
    );
  });
  const placeIn = (result: readonly Widget[]): number => result.findIndex((widget) => widget.id === id);
  const fitting = candidates
    .filter((result) => (placeIn(result) - index) * by > 0)
    .toSorted((candidate, other) => Math.abs(placeIn(candidate) - index) - Math.abs(placeIn(other) - index));
  return (
    fitting[0] ?? inOneColumn(order.map((widget) => (widget === first ? second : widget === second ? first : widget)))
  );
}

/** Stacks the widgets in one column, which keeps any order. */
function inOneColumn(widgets: readonly Widget[]): Widget[] {
  let y = 0;
  return widgets.map((widget) => {
    const placed = placeWidget(widget, { ...widget.grid, x: 0, y });
    y += widget.grid.h;
    return placed;
  });
}

function within(value: number, min: number, max: number): number {
  return Math.min(Math.max(value, min), max);
}

/** Returns a new widget at a free position beside the others. */
export function newWidget(id: string, facts: WidgetFacts, others: readonly Widget[]): Widget {
  const grid = { ...freePlace(others, WIDGET_SIZES[facts.kind]) };
  return readWidget({ ...writeWidget({}, id, facts), grid }, id);
}
