import { compacted } from './grid.ts';
import { readWidget, toLayout, type Widget } from './widget.ts';

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
function isSameContent(a: Widget, b: Widget): boolean {
  return contentOf(a) === contentOf(b);
}

function contentOf(widget: Widget): string {
  const [stored] = toLayout([widget]);
  return JSON.stringify({ ...stored, grid: null });
}

function isSamePlace({ grid: a }: Widget, { grid: b }: Widget): boolean {
  return a.x === b.x && a.y === b.y && a.w === b.w && a.h === b.h;
}

/**
 * Merges two edits of the same dashboard: every change, addition and removal of either; both versions of a widget that
 * both changed; a widget that one changed and the other removed stays. No edit is lost.
 */
export function mergeDrafts(base: DashboardDraft, mine: DashboardDraft, theirs: DashboardDraft): DashboardDraft {
  const [before, ownWidgets, others] = [base, mine, theirs].map(
    ({ widgets }) => new Map(widgets.map((widget) => [widget.id, widget])),
  );
  const ids = [...new Set([...theirs.widgets, ...mine.widgets].map(({ id }) => id))];
  const merged = ids.flatMap((id) => mergeWidget(before?.get(id), ownWidgets?.get(id), others?.get(id)));
  return { name: mine.name === base.name ? theirs.name : mine.name, widgets: compacted(merged) };
}

function mergeWidget(base: Widget | undefined, mine: Widget | undefined, theirs: Widget | undefined): Widget[] {
  if (mine === undefined || theirs === undefined) {
    const left = mine ?? theirs;
    if (left === undefined) return [];
    // The widget is new, or one of them removed it; it stays if the other one changed it.
    return base === undefined || !isSameContent(base, left) ? [left] : [];
  }
  if (base === undefined || isSameContent(mine, theirs)) return [isSamePlace(base ?? mine, mine) ? theirs : mine];
  if (isSameContent(base, mine)) return [theirs];
  if (isSameContent(base, theirs)) return [mine];
  return [mine, copyOf(theirs, `${mine.id}-theirs`)];
}

function copyOf(widget: Widget, id: string): Widget {
  const title = `${titleOf(widget)} (saved by somebody else)`;
  const [stored = widget.stored] = toLayout([{ ...widget, id, stored: { ...widget.stored, title } }]);
  return readWidget(stored, id);
}
