import { toLayout, type Widget } from '#modules/dashboards/decide/widget.ts';

/** The part of a dashboard that people can edit. */
export interface DashboardDraft {
  readonly name: string;
  readonly widgets: readonly Widget[];
}

/** Changes that somebody made: titles of widgets, and the new name; null if it is unchanged. */
export interface DashboardChanges {
  readonly name: string | null;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
  /** Titles of widgets of which only the position changed. */
  readonly moved: readonly string[];
}

export function changesBetween(before: DashboardDraft, after: DashboardDraft): DashboardChanges {
  const old = new Map(before.widgets.map((widget) => [widget.id, widget]));
  const kept = after.widgets.filter(({ id }) => old.has(id));
  const ids = new Set(after.widgets.map(({ id }) => id));
  const isSame = (widget: Widget): boolean => isSameContent(old.get(widget.id) ?? widget, widget);
  return {
    name: before.name === after.name ? null : after.name,
    added: after.widgets.filter(({ id }) => !old.has(id)).map(titleOf),
    removed: before.widgets.filter(({ id }) => !ids.has(id)).map(titleOf),
    changed: kept.filter((widget) => !isSame(widget)).map(titleOf),
    moved: kept.filter((widget) => isSame(widget) && !isSamePlace(old.get(widget.id) ?? widget, widget)).map(titleOf),
  };
}

export function hasChanges({ name, added, removed, changed, moved }: DashboardChanges): boolean {
  return name !== null || [added, removed, changed, moved].some((titles) => titles.length > 0);
}

export function titleOf({ title, kind, queries }: Widget): string {
  return title !== '' ? title : (queries[0]?.metricName ?? kind ?? 'a widget');
}

/** Whether two widgets differ in nothing but where they stand. */
export function isSameContent(a: Widget, b: Widget): boolean {
  return contentOf(a) === contentOf(b);
}

function contentOf(widget: Widget): string {
  const [stored] = toLayout([widget]);
  return JSON.stringify({ ...stored, grid: null });
}

export function isSamePlace({ grid: a }: Widget, { grid: b }: Widget): boolean {
  return a.x === b.x && a.y === b.y && a.w === b.w && a.h === b.h;
}
