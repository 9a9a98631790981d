import { compacted } from '#modules/dashboards/decide/grid.ts';
import { type DashboardDraft, isSameContent, isSamePlace, titleOf } from '#modules/dashboards/decide/layout_changes.ts';
import { readWidget, toLayout, type Widget } from '#modules/dashboards/decide/widget.ts';

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
