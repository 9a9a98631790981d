import { Alert, Button, TextInput } from '@mantine/core';
import { useFullscreenElement, useHotkeys } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';

import { invoke, topicKey } from '#console/api/actions.ts';
import { chartMarksQuery, markersOf } from '#console/api/charts.ts';
import { type Dashboard, dashboardQuery, newWidgetId } from '#console/api/dashboards.ts';
import { EmptyState } from '#console/components/lists/empty_state.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { lazyDialog } from '#console/components/lazy_dialog.tsx';
import { Name, named } from '#console/components/text/name.tsx';
import { showError, showSuccess, showUndoable } from '#console/components/notice.tsx';
import { Back, Page } from '#console/components/page.tsx';
import { timesOf } from '#console/components/lists/range_picker.tsx';
import { betweenOf, isDefault, rangeOf, searchOf, type TimeRange } from '#console/components/text/time_range.ts';
import classes from '#console/pages/dashboards/dashboards.module.css';
import { IconArrowBackUp, IconLayoutDashboard, IconMinimize, IconPlus } from '#console/icons.ts';
import { readRefresh } from '#console/pages/dashboards/dashboard_search.ts';
import { DashboardToolbar, VariablesBar } from '#console/pages/dashboards/dashboard_toolbar.tsx';
import {
  BareWidget,
  DashboardDataContext,
  DashboardWidget,
  FullWidget,
} from '#console/pages/dashboards/dashboard_widget.tsx';
import { chartQueriesOf, keyOfQuery, useChartBatch } from '#console/pages/dashboards/use_chart_batch.ts';
import { saveDashboard, useDuplicateDashboard } from '#console/pages/dashboards/save_dashboard.ts';
import { toDraft, useDashboardDraft } from '#console/pages/dashboards/use_dashboard_draft.ts';
import { type GridSize, widthOf, WidgetGrid } from '#console/pages/dashboards/widget_grid.tsx';
import { useOrganization } from '#console/shell/organization.tsx';
import { compacted, freePlace, moveInOrder, newWidget, nudge } from '#modules/dashboards/decide/grid.ts';
import { type DashboardDraft, titleOf } from '#modules/dashboards/decide/layout_changes.ts';
import {
  type VariableValues,
  placeWidget,
  readWidget,
  toLayout,
  type Widget,
  type WidgetFacts,
  writeWidget,
} from '#modules/dashboards/decide/widget.ts';

const DeleteDashboard = lazyDialog(() =>
  import('#console/pages/dashboards/dashboard_dialogs.tsx').then((m) => m.DeleteDashboard),
);

const ConflictDialog = lazyDialog(() =>
  import('#console/pages/dashboards/conflict_dialog.tsx').then((m) => m.ConflictDialog),
);
const WidgetEditor = lazyDialog(() =>
  import('#console/pages/dashboards/widget_editor.tsx').then((m) => m.WidgetEditor),
);

const route = getRouteApi('/inside/dashboards/$dashboardId');

interface View {
  readonly ids: readonly string[];
  readonly size: GridSize;
}

const NOTHING_IN_VIEW: View = { ids: [], size: { width: 0, isNarrow: false } };

function isSameSize(a: GridSize, b: GridSize): boolean {
  return a.width === b.width && a.isNarrow === b.isNarrow;
}

/** Most services whose markers the server returns in one request. */
const MARKED_SERVICES_MAX = 50;
const NO_VALUES: VariableValues = {};

type Editor = { readonly widget: Widget | null } | null;

/** Dashboard that can be viewed and edited. */
export function LoadedDashboard({ dashboard }: { readonly dashboard: Dashboard }) {
  const { org, may } = useOrganization();
  const { orgId } = org;
  const { dashboardId } = dashboard;
  const queryClient = useQueryClient();
  const search = route.useSearch();
  const serviceId = dashboard.serviceId ?? search.service ?? null;
  const { vars = NO_VALUES } = search;
  const navigate = route.useNavigate();
  const drafts = useDashboardDraft(dashboard);
  const { editing, changeWidgets } = drafts;
  const isEditing = editing !== null;
  const current = useMemo(() => editing?.draft ?? toDraft(dashboard), [editing, dashboard]);
  const [editor, setEditor] = useState<Editor>(null);
  const [conflict, setConflict] = useState<Dashboard | null>(null);
  const [isDeleting, setIsDeleting] = useState(false);
  const [fullId, setFullId] = useState<string | null>(null);
  const [view, setView] = useState<View>(NOTHING_IN_VIEW);
  const { ref: screen, toggle: toggleScreen, fullscreen } = useFullscreenElement<HTMLDivElement>();
  const duplicate = useDuplicateDashboard();
  const mayEdit = may('dashboards:edit');

  const range = rangeOf(search);
  const setRange = useCallback(
    (next: TimeRange): void => {
      const said = isDefault(next) ? { range: undefined, from: undefined, to: undefined } : searchOf(next);
      void navigate({ search: (before) => ({ ...before, ...said }) });
    },
    [navigate],
  );
  const zoom = useCallback((from: number, to: number) => setRange(betweenOf(from, to)), [setRange]);

  const queriesById = useMemo(() => {
    return new Map(
      current.widgets.map((widget) => [widget.id, chartQueriesOf(widget, serviceId, widthOf(widget, view.size), vars)]),
    );
  }, [current.widgets, serviceId, view.size, JSON.stringify(vars)]);
  const wanted = useMemo(() => {
    const inView = view.ids.flatMap((id) => queriesById.get(id) ?? []);
    return [...new Map(inView.map((query) => [keyOfQuery(query), query])).values()];
  }, [view.ids, queriesById]);
  const batch = useChartBatch(range, wanted, range.kind === 'last' ? readRefresh(search.refresh) : null);
  // The services of all widgets, so that scrolling fetches no others.
  const serviceIds = useMemo(() => {
    const all = [...queriesById.values()].flatMap((queries) => queries.map((query) => query.serviceId));
    return [...new Set(all)].sort().slice(0, MARKED_SERVICES_MAX);
  }, [queriesById]);
  const { from, to } = useMemo(() => timesOf(range), [JSON.stringify(range), batch.answers]);
  const { data: marks } = useQuery({
    ...chartMarksQuery(orgId, serviceIds, from, to),
    enabled: serviceIds.length > 0 && may('oncall:view'),
  });
  const markers = useMemo(() => markersOf(marks), [marks]);

  const saving = useMutation({
    mutationFn: (copy: { readonly readAt: string; readonly name: string; readonly widgets: readonly Widget[] }) =>
      saveDashboard(orgId, {
        dashboardId,
        readAt: copy.readAt,
        name: copy.name.trim(),
        layout: toLayout(copy.widgets),
      }),
    onSuccess({ isSaved, dashboard: saved }) {
      queryClient.setQueryData(dashboardQuery(orgId, dashboardId).queryKey, saved);
      if (!isSaved) return setConflict(saved);
      setConflict(null);
      drafts.end();
      showSuccess('The dashboard is saved');
    },
    onError: (error) => showError('The dashboard was not saved; your changes are kept here', error),
  });
  const save = (): void => {
    if (editing === null || editing.draft.name.trim() === '') return;
    if (!drafts.isChanged) return drafts.end();
    saving.mutate({ readAt: editing.readAt, ...editing.draft });
  };
  const discard = (): void => {
    if (editing === null) return;
    const kept = editing;
    drafts.end();
    if (drafts.isChanged) {
      showUndoable('Your changes were discarded', () =>
        drafts.rebase({ ...dashboard, updatedAt: kept.readAt }, kept.draft),
      );
    }
  };
  const copying = useMutation({
    mutationFn: () =>
      invoke(orgId, 'create_dashboard', {
        name: `${current.name} (mine)`.slice(0, 500),
        layout: toLayout(current.widgets),
        ...(dashboard.serviceId !== null && { serviceId: dashboard.serviceId }),
      }),
    async onSuccess({ dashboardId: copied }) {
      drafts.end();
      setConflict(null);
      await queryClient.invalidateQueries({ queryKey: topicKey(orgId, 'dashboards') });
      await navigate({ to: '/dashboards/$dashboardId', params: { dashboardId: copied } });
    },
    onError: (error) => showError('The copy was not created', error),
  });
  const onNudge = useCallback(
    (id: string, by: { readonly columns: number; readonly rows: number }, what: 'place' | 'size') =>
      changeWidgets((widgets) => nudge(widgets, id, by, what)),
    [changeWidgets],
  );
  const onStep = useCallback(
    (id: string, by: -1 | 1) => changeWidgets((widgets) => moveInOrder(widgets, id, by)),
    [changeWidgets],
  );
  const onDuplicate = useCallback(
    (id: string) =>
      changeWidgets((widgets) => {
        const original = widgets.find((widget) => widget.id === id);
        if (original === undefined) return widgets;
        const [stored = original.stored] = toLayout([{ ...original, id: newWidgetId() }]);
        const copy = readWidget(stored, newWidgetId());
        return [...widgets, placeWidget(copy, freePlace(widgets, original.grid))];
      }),
    [changeWidgets],
  );
  const { undo } = drafts;
  // Within a text field, the browser undoes typing.
  useHotkeys([
    [
      'mod+Z',
      () => {
        if (editor === null && conflict === null) undo?.();
      },
    ],
  ]);
  const widgetsNow = useRef(current.widgets);
  useEffect(() => {
    widgetsNow.current = current.widgets;
  });
  const onEdit = useCallback((id: string): void => {
    setEditor({ widget: widgetsNow.current.find((widget) => widget.id === id) ?? null });
  }, []);
  const onRemove = useCallback(
    (id: string): void => {
      const removed = widgetsNow.current.find((widget) => widget.id === id);
      if (removed === undefined) return;
      changeWidgets((widgets) => compacted(widgets.filter((widget) => widget.id !== id)));
      showUndoable(named`${titleOf(removed)} is removed`, () =>
        changeWidgets((widgets) =>
          widgets.some((widget) => widget.id === id) ? widgets : compacted([...widgets, removed], removed.id),
        ),
      );
    },
    [changeWidgets],
  );
  const applyEditor = (facts: WidgetFacts): void => {
    const edited = editor?.widget ?? null;
    setEditor(null);
    changeWidgets((widgets) =>
      edited === null
        ? compacted([...widgets, newWidget(newWidgetId(), facts, widgets)])
        : widgets.map((widget) =>
            widget.id === edited.id ? readWidget(writeWidget(widget.stored, widget.id, facts), widget.id) : widget,
          ),
    );
  };
  const isOutdated = editing !== null && editing.readAt !== dashboard.updatedAt && conflict === null;
  const full = current.widgets.find(({ id }) => id === fullId);
  const changes = useMemo(
    () => ({ onNudge, onMove: onStep, onEdit, onDuplicate, onRemove, onFullScreen: setFullId }),
    [onNudge, onStep, onEdit, onDuplicate, onRemove],
  );
  const render = useCallback(
    (widget: Widget) => <DashboardWidget widget={widget} isEditing={isEditing} changes={changes} />,
    [isEditing, changes],
  );
  const onMove = useCallback((moved: readonly Widget[]) => changeWidgets(() => moved), [changeWidgets]);
  const onView = useCallback((ids: readonly string[], size: GridSize): void => {
    setView((before) => ({ ids, size: isSameSize(before.size, size) ? before.size : size }));
  }, []);
  const data = useMemo(
    () => ({ dashboardId, serviceId, queriesById, answers: batch.answers, markers, onRange: zoom }),
    [dashboardId, serviceId, queriesById, batch.answers, markers, zoom],
  );
  const widgets = (
    <WidgetGrid widgets={current.widgets} isEditing={isEditing} onMove={onMove} onView={onView} render={render} />
  );
  return (
    <Page
      title={current.name}
      above={<Back to="/dashboards">Dashboards</Back>}
      actions={
        !isEditing && (
          <DashboardToolbar
            range={range}
            refresh={search.refresh}
            onRange={setRange}
            onRefresh={batch.refresh}
            onRefreshEvery={(refresh) => void navigate({ search: (before) => ({ ...before, refresh }), replace: true })}
            onFullScreen={() => void toggleScreen()}
            onEdit={mayEdit ? drafts.begin : null}
            onDuplicate={() => duplicate.mutate(dashboardId)}
            onDelete={() => setIsDeleting(true)}
          />
        )
      }
    >
      {editing !== null && (
        <div className={`${classes.editing} row wraps spaced`} role="group" aria-label="Changing the dashboard">
          <TextInput
            className={`${classes.grow} grow`}
            aria-label="Name of the dashboard"
            value={editing.draft.name}
            maxLength={500}
            error={editing.draft.name.trim() === '' ? 'Give the dashboard a name.' : null}
            onChange={(event) => drafts.change({ name: event.currentTarget.value })}
          />
          <Button variant="default" leftSection={<IconPlus size={16} />} onClick={() => setEditor({ widget: null })}>
            Add a widget
          </Button>
          <Button
            variant="default"
            leftSection={<IconArrowBackUp size={16} />}
            disabled={undo === null}
            onClick={() => undo?.()}
            title="Undo the last change (Ctrl+Z)"
          >
            Undo
          </Button>
          <Button variant="default" onClick={discard}>
            {drafts.isChanged ? 'Discard' : 'Cancel'}
          </Button>
          <Button onClick={save} loading={saving.isPending} disabled={editing.draft.name.trim() === ''}>
            Save
          </Button>
        </div>
      )}
      {isOutdated && (
        <Alert mb="md" color="orange" variant="light" title="Somebody else has saved this dashboard in the meantime">
          When you save, you see both versions and can keep both.
        </Alert>
      )}
      <VariablesBar
        widgets={current.widgets}
        ownServiceId={dashboard.serviceId}
        serviceId={serviceId}
        values={vars}
        onChange={(chosen) => void navigate({ search: (before) => ({ ...before, ...chosen }), replace: true })}
      />
      {batch.error !== null && <ErrorAlert error={batch.error} onRetry={batch.refresh} />}
      {current.widgets.length === 0 ? (
        <EmptyState
          icon={<IconLayoutDashboard size={24} />}
          title="No widgets yet"
          actions={
            mayEdit && (
              <Button
                leftSection={<IconPlus size={16} />}
                onClick={() => {
                  if (!isEditing) drafts.begin();
                  setEditor({ widget: null });
                }}
              >
                Add a widget
              </Button>
            )
          }
        >
          A widget shows metrics, incidents, exceptions, cron monitors, who is on call, or a text.
        </EmptyState>
      ) : (
        <div ref={screen} className={fullscreen ? classes.screen : undefined}>
          {fullscreen && (
            <div className={`${classes.controls} row wraps spaced`}>
              <strong className={`${classes.grow} grow`}>
                <Name>{current.name}</Name>
              </strong>
              <Button variant="default" leftSection={<IconMinimize size={16} />} onClick={() => void toggleScreen()}>
                Leave full screen
              </Button>
            </div>
          )}
          <DashboardDataContext value={data}>{widgets}</DashboardDataContext>
        </div>
      )}
      {editor !== null && (
        <WidgetEditor
          dashboardId={dashboardId}
          widget={editor.widget}
          ownServiceId={dashboard.serviceId}
          shownServiceId={serviceId}
          variables={vars}
          onSave={applyEditor}
          onClose={() => setEditor(null)}
        />
      )}
      {conflict !== null && editing !== null && (
        <ConflictDialog
          base={editing.base}
          mine={editing.draft}
          theirs={toDraft(conflict)}
          saved={conflict}
          onKeepBoth={(merged: DashboardDraft) => {
            drafts.rebase(conflict, merged);
            saving.mutate({ readAt: conflict.updatedAt, ...merged });
          }}
          onSaveAsCopy={() => copying.mutate()}
          onTakeTheirs={() => {
            setConflict(null);
            discard();
          }}
          onClose={() => setConflict(null)}
        />
      )}
      {full !== undefined && (
        <FullWidget title={titleOf(full)} onClose={() => setFullId(null)}>
          <DashboardDataContext value={data}>
            <BareWidget widget={full} />
          </DashboardDataContext>
        </FullWidget>
      )}
      {isDeleting && (
        <DeleteDashboard dashboardId={dashboardId} name={dashboard.name} onClose={() => setIsDeleting(false)} />
      )}
    </Page>
  );
}
