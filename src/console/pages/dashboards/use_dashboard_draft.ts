import { useCallback, useEffect, useMemo, useState } from 'react';

import type { Dashboard } from '#console/api/dashboards.ts';
import { draftKey, readDraft, removeDraft, writeDraft } from '#console/components/forms/draft_store.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import { changesBetween, type DashboardDraft, hasChanges } from '#modules/dashboards/decide/layout_changes.ts';
import { compacted } from '#modules/dashboards/decide/grid.ts';
import { readWidgets, type StoredWidget, toLayout, type Widget } from '#modules/dashboards/decide/widget.ts';

/** Changes under way, and the dashboard as it was when they began. */
interface Editing {
  readonly base: DashboardDraft;
  /** `updatedAt` of the base. */
  readonly readAt: string;
  readonly draft: DashboardDraft;
  /** Widgets before each change, the last change at the end. */
  readonly past: readonly (readonly Widget[])[];
}

const PAST_MAX = 100;

export interface DashboardDrafts {
  /** State of the change; null while nothing is being changed. */
  readonly editing: Editing | null;
  readonly isChanged: boolean;
  begin(): void;
  change(draft: Partial<DashboardDraft>): void;
  changeWidgets(change: (widgets: readonly Widget[]) => readonly Widget[]): void;
  /** Undoes the last change of the widgets; null if there is none. */
  readonly undo: (() => void) | null;
  /** Replaces the base, as after a conflict. */
  rebase(base: Dashboard, draft: DashboardDraft): void;
  /** Ends the change; nothing of the draft is kept. */
  end(): void;
}

export function toDraft({ name, layout }: Pick<Dashboard, 'name' | 'layout'>): DashboardDraft {
  return { name, widgets: compacted(readWidgets(layout)) };
}

/**
 * Keeps the changes of one person to a dashboard until they are saved. They are stored in the browser: a reload, an
 * expired session or an unavailable server loses nothing.
 */
export function useDashboardDraft(dashboard: Dashboard): DashboardDrafts {
  const { org, session } = useOrganization();
  const key = draftKey(session.user.userId, org.orgId, `save_dashboard ${dashboard.dashboardId}`);
  const [editing, setEditing] = useState<Editing | null>(() => readStored(key));
  useEffect(() => {
    if (editing === null) return removeDraft(key);
    writeDraft(key, { at: Date.now(), base: write(editing, editing.base), values: write(editing, editing.draft) });
  }, [key, editing]);
  const change = useCallback((part: Partial<DashboardDraft>) => {
    setEditing((before) => before && { ...before, draft: { ...before.draft, ...part } });
  }, []);
  const undo = useCallback(() => setEditing((before) => before && withoutLastChange(before)), []);
  return {
    editing,
    isChanged: useMemo(() => editing !== null && hasChanges(changesBetween(editing.base, editing.draft)), [editing]),
    begin: () => {
      const base = toDraft(dashboard);
      setEditing({ base, readAt: dashboard.updatedAt, draft: base, past: [] });
    },
    change,
    changeWidgets: useCallback((make: (widgets: readonly Widget[]) => readonly Widget[]) => {
      setEditing((before) => before && withWidgets(before, make(before.draft.widgets)));
    }, []),
    undo: editing === null || editing.past.length === 0 ? null : undo,
    rebase: (base, draft) => setEditing({ base: toDraft(base), readAt: base.updatedAt, draft, past: [] }),
    end: () => setEditing(null),
  };
}

function withWidgets(editing: Editing, widgets: readonly Widget[]): Editing {
  const { draft, past } = editing;
  if (widgets === draft.widgets) return editing;
  return { ...editing, draft: { ...draft, widgets }, past: [...past, draft.widgets].slice(-PAST_MAX) };
}

function withoutLastChange(editing: Editing): Editing {
  const widgets = editing.past.at(-1);
  if (widgets === undefined) return editing;
  return { ...editing, draft: { ...editing.draft, widgets }, past: editing.past.slice(0, -1) };
}

/** Draft as the browser stores it: a layout whose widgets keep properties that are unknown here, too. */
interface WrittenDraft {
  readonly readAt: string;
  readonly name: string;
  readonly layout: readonly StoredWidget[];
}

function write({ readAt }: Editing, { name, widgets }: DashboardDraft): Record<string, unknown> {
  return { readAt, name, layout: toLayout(widgets) } satisfies WrittenDraft;
}

function readStored(key: string): Editing | null {
  const stored = readDraft(key);
  if (stored === null || !isWritten(stored.base) || !isWritten(stored.values)) return null;
  return { readAt: stored.base.readAt, base: toWidgets(stored.base), draft: toWidgets(stored.values), past: [] };
}

function isWritten(value: unknown): value is WrittenDraft {
  if (typeof value !== 'object' || value === null) return false;
  const { readAt, name, layout } = value as Record<string, unknown>;
  return typeof readAt === 'string' && typeof name === 'string' && Array.isArray(layout);
}

function toWidgets({ name, layout }: WrittenDraft): DashboardDraft {
  return { name, widgets: readWidgets(layout) };
}
