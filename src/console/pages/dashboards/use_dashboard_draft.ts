import { useCallback, useEffect, useMemo, useState } from 'react';

import type { Dashboard } from '#console/api/dashboards.ts';
import { draftKey, readDraft, removeDraft, writeDraft } from '#console/components/draft_store.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import { changesBetween, type DashboardDraft, hasChanges } from '#core/dashboards/merge_layouts.ts';
import { compacted } from '#core/dashboards/grid.ts';
import { readWidgets, type StoredWidget, toLayout, type Widget } from '#core/dashboards/widget.ts';

/** What somebody is changing, and the dashboard as it was when they began. */
interface Editing {
  readonly base: DashboardDraft;
  /** `updatedAt` of the base. */
  readonly readAt: string;
  readonly draft: DashboardDraft;
}

export interface DashboardDrafts {
  /** Null while nothing is being changed. */
  readonly editing: Editing | null;
  readonly isChanged: boolean;
  begin(): void;
  change(draft: Partial<DashboardDraft>): void;
  changeWidgets(change: (widgets: readonly Widget[]) => readonly Widget[]): void;
  /** Takes another base, as after a conflict. */
  rebase(base: Dashboard, draft: DashboardDraft): void;
  /** Ends the change; nothing of the draft stays. */
  end(): void;
}

export function toDraft({ name, layout }: Pick<Dashboard, 'name' | 'layout'>): DashboardDraft {
  return { name, widgets: compacted(readWidgets(layout)) };
}

/**
 * The changes of one person to a dashboard until they are saved. They are kept in the browser: a reload, an expired
 * session or a server that is away loses nothing.
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
  return {
    editing,
    isChanged: useMemo(() => editing !== null && hasChanges(changesBetween(editing.base, editing.draft)), [editing]),
    begin: () => {
      const base = toDraft(dashboard);
      setEditing({ base, readAt: dashboard.updatedAt, draft: base });
    },
    change,
    changeWidgets: useCallback((make: (widgets: readonly Widget[]) => readonly Widget[]) => {
      setEditing((before) => before && { ...before, draft: { ...before.draft, widgets: make(before.draft.widgets) } });
    }, []),
    rebase: (base, draft) => setEditing({ base: toDraft(base), readAt: base.updatedAt, draft }),
    end: () => setEditing(null),
  };
}

/** As the browser keeps it: layouts, whose widgets carry what is not known here, too. */
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
  return { readAt: stored.base.readAt, base: toWidgets(stored.base), draft: toWidgets(stored.values) };
}

function isWritten(value: unknown): value is WrittenDraft {
  if (typeof value !== 'object' || value === null) return false;
  const { readAt, name, layout } = value as Record<string, unknown>;
  return typeof readAt === 'string' && typeof name === 'string' && Array.isArray(layout);
}

function toWidgets({ name, layout }: WrittenDraft): DashboardDraft {
  return { name, widgets: readWidgets(layout) };
}
