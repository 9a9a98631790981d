import { Group, Radio, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

import { invoke } from '#console/api/actions.ts';
import { newWidgetId } from '#console/api/dashboards.ts';
import { faultsAtFields } from '#console/components/forms/form.tsx';
import { FormDialog } from '#console/components/forms/form_dialog.tsx';
import { useDraftState } from '#console/components/forms/use_draft.ts';
import { DashboardPicker } from '#console/pages/dashboards/dashboard_picker.tsx';
import { saveDashboard } from '#console/pages/dashboards/save_dashboard.ts';
import { isHeatmap, metricNameOf } from '#console/pages/explore/explore_queries.ts';
import type { ExploreSearch } from '#console/pages/explore/explore_search.ts';
import { useOrganization, useRefresh } from '#console/shell/organization.tsx';
import { newWidget } from '#modules/dashboards/decide/grid.ts';
import { usualTitle } from '#modules/dashboards/decide/template.ts';
import { readWidgets, toLayout } from '#modules/dashboards/decide/widget.ts';
import { askedOf, type ShownAggregation } from '#modules/metrics/decide/aggregation.ts';

interface AddToDashboardProps {
  readonly search: ExploreSearch;
  readonly shown: ShownAggregation | null;
  readonly onClose: () => void;
}

/** Attempts to add the widget while somebody else is saving at the same time. */
const TRIES = 5;

interface Entered {
  readonly title: string;
  readonly kind: 'series' | 'number';
  readonly dashboardId: string | null;
  readonly newName: string;
}

const LABELS = {
  title: 'Title of the widget',
  kind: 'Shown as',
  dashboardId: 'Dashboard',
  newName: 'Name of the dashboard',
};

/** Dialog that makes a widget of the shown chart: on an existing dashboard, or on a new one. */
export function AddToDashboard({ search, shown, onClose }: AddToDashboardProps) {
  const { orgId } = useOrganization().org;
  const navigate = useNavigate();
  const refresh = useRefresh();
  const hasCells = isHeatmap(search);
  const usual = usualTitle(hasCells ? (search.metric ?? '') : metricNameOf(search));
  const [values, setValues, draft] = useDraftState<Entered>({
    form: `add_to_dashboard ${JSON.stringify(search)}`,
    base: { title: usual, kind: 'series', dashboardId: null, newName: usual },
  });
  const { title, kind, dashboardId, newName } = values;
  const change = (part: Partial<Entered>): void => setValues({ ...values, ...part });
  const [isSent, setIsSent] = useState(false);
  const isNew = dashboardId === NEW;
  const adding = useMutation({
    mutationFn: async (): Promise<string> => {
      const { service = null, split } = search;
      const query = {
        serviceId: service,
        metricName: metricNameOf(search),
        ...(shown === null ? { aggregation: null, isRate: false } : askedOf(shown)),
        splitBy: split ?? null,
        top: search.top ?? 5,
      };
      const facts = {
        kind: hasCells ? 'heatmap' : kind,
        title: title.trim(),
        queries: [query],
        text: '',
        serviceId: null,
        teamId: null,
      } as const;
      if (isNew) {
        const layout = toLayout([newWidget(newWidgetId(), facts, [])]);
        return (await invoke(orgId, 'create_dashboard', { name: newName.trim(), layout })).dashboardId;
      }
      const wanted = dashboardId ?? '';
      let dashboard = await invoke(orgId, 'get_dashboard', { dashboardId: wanted });
      for (let tries = 0; tries < TRIES; tries += 1) {
        const widgets = readWidgets(dashboard.layout);
        const layout = toLayout([...widgets, newWidget(newWidgetId(), facts, widgets)]);
        const saved = await saveDashboard(orgId, { dashboardId: wanted, readAt: dashboard.updatedAt, layout });
        if (saved.isSaved) return wanted;
        dashboard = saved.dashboard;
      }
      throw new Error('this dashboard keeps changing; try again in a moment');
    },
    async onSuccess(added) {
      draft.done();
      await refresh('dashboards');
      await navigate({ to: '/dashboards/$dashboardId', params: { dashboardId: added } });
    },
  });
  const refused = faultsAtFields(adding.error, { name: newName, dashboardId });
  const titleFault = isSent && title.trim() === '' ? 'Give the widget a title.' : null;
  const choiceFault =
    isSent && dashboardId === null ? 'Choose a dashboard, or a new one.' : isNew ? null : refused['dashboardId'];

  const nameFault = isSent && isNew && newName.trim() === '' ? 'Give the dashboard a name.' : refused['name'];
  return (
    <FormDialog
      title="Add to a dashboard"
      onClose={onClose}
      saving={adding}
      failure="The widget was not added"
      atFields={isNew ? { name: newName } : { dashboardId }}
      draft={draft}
      labels={LABELS}
      submit="Add"
      onSubmit={() => {
        setIsSent(true);
        if (title.trim() === '' || dashboardId === null || (isNew && newName.trim() === '')) return;
        adding.mutate();
      }}
    >
      <DashboardPicker
        label="Dashboard"
        placeholder="Choose a dashboard"
        before={{ value: NEW, label: 'A new dashboard' }}
        value={dashboardId}
        onChange={(chosen) => change({ dashboardId: chosen })}
        error={choiceFault}
        isFocused
      />
      {isNew && (
        <TextInput
          ref={startTyping}
          label="Name of the dashboard"
          value={newName}
          maxLength={500}
          error={nameFault}
          onChange={(event) => change({ newName: event.currentTarget.value })}
        />
      )}
      <TextInput
        label="Title of the widget"
        value={title}
        maxLength={200}
        error={titleFault}
        onChange={(event) => change({ title: event.currentTarget.value })}
      />
      {!hasCells && (
        <Radio.Group
          label="Shown as"
          value={kind}
          onChange={(value) => change({ kind: value === 'number' ? 'number' : 'series' })}
        >
          <Group mt={6}>
            <Radio value="series" label="Chart" />
            <Radio value="number" label="Number" />
          </Group>
        </Radio.Group>
      )}
    </FormDialog>
  );
}

const NEW = 'new';

/** Focuses a field that was just added, with its text selected, so that typing replaces it. */
function startTyping(field: HTMLInputElement | null): void {
  field?.focus();
  field?.select();
}
