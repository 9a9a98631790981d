import { Button, Group, NativeSelect, NumberInput, Skeleton, Stack, Textarea, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { actionQuery } from '#console/api/actions.ts';
import { Dialog } from '#console/components/dialog.tsx';
import { DraftNotice } from '#console/components/forms/draft_notice.tsx';
import { Form, SubmitButtons } from '#console/components/forms/form.tsx';
import { ServicePicker } from '#console/components/forms/service_picker.tsx';
import { TeamPicker } from '#console/components/forms/team_picker.tsx';
import { useDraftState } from '#console/components/forms/use_draft.ts';
import { lazyPart } from '#console/components/lazy_part.tsx';
import { IconPlus } from '#console/icons.ts';
import { DashboardPicker } from '#console/pages/dashboards/dashboard_picker.tsx';
import { LineFields } from '#console/pages/dashboards/line_fields.tsx';
import { useOrganization } from '#console/shell/organization.tsx';
import { usualTitle } from '#modules/dashboards/decide/template.ts';
import {
  CHART_LOOKS,
  type ChartLook,
  isOfMetrics,
  QUERIES_MAX,
  type VariableValues,
  type Widget,
  WIDGET_KINDS,
  type WidgetFacts,
  type WidgetKind,
  type WidgetQuery,
} from '#modules/dashboards/decide/widget.ts';
import { type Unit, UNITS } from '#modules/metrics/decide/quantity.ts';
import layout from '#console/pages/rules/rule_editor.module.css';

const KIND_TITLES: Readonly<Record<WidgetKind, string>> = {
  series: 'Chart',
  number: 'Number',
  table: 'Table',
  heatmap: 'Heatmap of a histogram',
  text: 'Text',
  incidents: 'Incidents',
  exceptions: 'Exceptions',
  monitors: 'Cron monitors',
  oncall: 'On call',
};

const LOOK_NAMES: Readonly<Record<ChartLook, string>> = {
  lines: 'Lines',
  bars: 'Bars',
  stacked: 'Areas that stand on each other',
};

const WidgetPreview = lazyPart(() =>
  import('#console/pages/dashboards/widget_preview.tsx').then((m) => m.WidgetPreview),
);

interface WidgetEditorProps {
  readonly dashboardId: string;
  /** Widget to edit; null for a new one. */
  readonly widget: Widget | null;
  /** Service of the dashboard itself; null: people choose one. */
  readonly ownServiceId: string | null;
  readonly shownServiceId: string | null;
  readonly variables: VariableValues;
  onSave(facts: WidgetFacts): void;
  readonly onClose: () => void;
}

const UNIT_NAMES: Readonly<Record<Unit, string>> = {
  none: 'None',
  seconds: 'Seconds',
  bytes: 'Bytes',
  bits: 'Bits',
  ratio: 'Share of one, as %',
  percent: 'Percent',
  celsius: 'Degrees Celsius',
  hertz: 'Hertz',
  volts: 'Volts',
  watts: 'Watts',
};

const EMPTY_QUERY: WidgetQuery = {
  serviceId: null,
  metricName: '',
  aggregation: null,
  isRate: false,
  splitBy: null,
  top: 5,
};
const LABELS = {
  kind: 'Kind',
  title: 'Title',
  queries: 'Lines',
  text: 'Text',
  serviceId: 'Service',
  teamId: 'Team',
  look: 'Drawn as',
  threshold: 'Threshold',
  unit: 'Unit',
  leadsTo: 'Leads to',
};

function factsOf(widget: Widget | null): WidgetFacts {
  const { kind, title = '', queries = [], text = '', serviceId = null, teamId = null } = widget ?? {};
  return {
    kind: kind ?? 'series',
    title,
    queries: queries.length === 0 ? [EMPTY_QUERY] : queries,
    text,
    serviceId,
    teamId,
    look: widget?.look ?? 'lines',
    threshold: widget?.threshold ?? null,
    unit: widget?.unit ?? null,
    leadsTo: widget?.leadsTo ?? null,
  };
}

/** Dialog of all properties of a widget. */
export function WidgetEditor(props: WidgetEditorProps) {
  const { dashboardId, widget, ownServiceId, shownServiceId, variables, onSave, onClose } = props;
  const { orgId } = useOrganization().org;
  const [values, setValues, draft] = useDraftState<WidgetFacts>({
    form: `widget ${dashboardId} ${widget?.id ?? 'new'}`,
    base: factsOf(widget),
  });
  const { kind, title, queries, text, serviceId, teamId, look = 'lines', threshold = null, unit = null } = values;
  const { leadsTo = null } = values;
  const isOfService = kind === 'incidents' || kind === 'exceptions' || kind === 'monitors';
  const change = (part: Partial<WidgetFacts>): void => setValues({ ...values, ...part });
  const [isSent, setIsSent] = useState(false);
  const isMetric = isOfMetrics(kind);
  const isSingle = kind === 'number' || kind === 'heatmap';
  const shown = isSingle ? queries.slice(0, 1) : queries;
  // Where people choose the service, the one that is shown, or the first that sends metrics, is the example.
  const { data: example } = useQuery({
    ...actionQuery(orgId, 'services', 'find_service_with_metrics', {}),
    enabled: shownServiceId === null,
  });
  const usualServiceId = shownServiceId ?? example?.service?.serviceId ?? null;
  const isComplete =
    (!isMetric || shown.every((query) => query.metricName.trim() !== '')) && (kind !== 'text' || text.trim() !== '');
  const setQuery = (index: number, part: Partial<WidgetQuery>): void =>
    change({ queries: queries.map((query, place) => (place === index ? { ...query, ...part } : query)) });
  const save = (): void => {
    setIsSent(true);
    if (!isComplete) return;
    const [first] = shown;
    const usual = isMetric ? titleOfLine(first, kind) : kind === 'text' ? 'Text' : KIND_TITLES[kind];
    draft.done();
    onSave({
      kind,
      title: title.trim() === '' ? usual : title.trim(),
      queries: isMetric ? shown.map((query) => ({ ...query, metricName: query.metricName.trim() })) : [],
      text: kind === 'text' ? text : '',
      serviceId: isOfService ? serviceId : null,
      teamId: kind === 'oncall' ? teamId : null,
      ...(kind === 'series' && { look }),
      ...((kind === 'series' || kind === 'number') && { threshold }),
      ...(isMetric && { unit }),
      leadsTo,
    });
  };
  return (
    <Dialog title={widget === null ? 'Add a widget' : 'Edit the widget'} onClose={onClose} size="64rem">
      <Form error={null} draft={draft} onSubmit={() => save()}>
        <DraftNotice draft={draft} labels={LABELS} />
        <div className={layout.layout}>
          <Stack>
            <NativeSelect
              label="Kind"
              value={kind}
              data={WIDGET_KINDS.map((value) => ({ value, label: KIND_TITLES[value] }))}
              onChange={(event) =>
                change({ kind: WIDGET_KINDS.find((kind) => kind === event.currentTarget.value) ?? 'series' })
              }
              data-autofocus
            />
            <TextInput
              label="Title"
              placeholder="Named after what it shows"
              value={title}
              maxLength={200}
              onChange={(event) => change({ title: event.currentTarget.value })}
            />
            {isMetric &&
              shown.map((query, index) => (
                <LineFields
                  // Queries have no name but their place.
                  key={`query-${String(index)}`}
                  legend={shown.length > 1 ? `Line ${index + 1}` : null}
                  kind={kind}
                  query={query}
                  usualServiceId={usualServiceId}
                  serviceChoice={ownServiceId === null ? 'Chosen on the dashboard' : 'The service of the dashboard'}
                  error={isSent && query.metricName.trim() === '' ? 'Choose a metric.' : undefined}
                  onChange={(part) => setQuery(index, part)}
                  onRemove={
                    shown.length > 1 ? () => change({ queries: queries.filter((_, place) => place !== index) }) : null
                  }
                />
              ))}
            {(kind === 'series' || kind === 'table') && queries.length < QUERIES_MAX && (
              <Button
                variant="subtle"
                style={{ alignSelf: 'start' }}
                leftSection={<IconPlus size={16} />}
                onClick={() =>
                  change({ queries: [...queries, { ...EMPTY_QUERY, serviceId: queries.at(-1)?.serviceId ?? null }] })
                }
              >
                Add a line
              </Button>
            )}
            {kind === 'text' && (
              <Textarea
                label="Text"
                description="A line that begins with # is a heading, one that begins with - is an item."
                autosize
                minRows={4}
                maxRows={14}
                maxLength={4_000}
                value={text}
                error={isSent && text.trim() === '' ? 'Write something.' : null}
                onChange={(event) => change({ text: event.currentTarget.value })}
              />
            )}
            {kind === 'series' && (
              <Group grow align="start">
                <NativeSelect
                  label="Drawn as"
                  value={look}
                  data={CHART_LOOKS.map((value) => ({ value, label: LOOK_NAMES[value] }))}
                  onChange={(event) =>
                    change({
                      look: CHART_LOOKS.find((candidate) => candidate === event.currentTarget.value) ?? 'lines',
                    })
                  }
                />
              </Group>
            )}
            {isMetric && (
              <Group grow align="start">
                {kind !== 'table' && kind !== 'heatmap' && (
                  <NumberInput
                    label={kind === 'series' ? 'Line at' : 'Threshold'}
                    placeholder={kind === 'series' ? 'No line' : 'No gauge'}
                    value={threshold ?? ''}
                    onChange={(value) => change({ threshold: typeof value === 'number' ? value : null })}
                  />
                )}
                <NativeSelect
                  label="Unit"
                  value={unit ?? ''}
                  data={[
                    { value: '', label: 'As the name tells' },
                    ...UNITS.map((value) => ({ value, label: UNIT_NAMES[value] })),
                  ]}
                  onChange={(event) =>
                    change({ unit: UNITS.find((candidate) => candidate === event.currentTarget.value) ?? null })
                  }
                />
              </Group>
            )}
            {isOfService && (
              <ServicePicker
                label="Service"
                before={SERVICE_LEFT_OPEN[ownServiceId === null ? (kind === 'monitors' ? 'one' : 'any') : 'own']}
                value={serviceId ?? undefined}
                onChange={(next) => change({ serviceId: next ?? null })}
              />
            )}
            {kind === 'oncall' && (
              <TeamPicker
                label="Team"
                placeholder="All teams"
                value={teamId}
                onChange={(chosen) => change({ teamId: chosen })}
              />
            )}
          </Stack>
          {(kind !== 'text' || text !== '') && (
            <WidgetPreview
              facts={{ ...values, queries: shown }}
              serviceId={isMetric || kind === 'monitors' ? usualServiceId : shownServiceId}
              variables={variables}
              whileLoading={<Skeleton height="16rem" />}
            />
          )}
          <Stack style={{ gridColumn: '1 / -1' }}>
            <DashboardPicker
              label="Leads to"
              description="Its title becomes a link there, with the same period, service and variables."
              placeholder="No other dashboard"
              clearLabel="No other dashboard"
              value={leadsTo}
              onChange={(chosen) => change({ leadsTo: chosen })}
            />
            <SubmitButtons label={widget === null ? 'Add' : 'Apply'} isPending={false} onCancel={onClose} />
          </Stack>
        </div>
      </Form>
    </Dialog>
  );
}

/** Returns the title of a widget that nobody has named; a heatmap is of no quantile. */
function titleOfLine(query: WidgetQuery | undefined, kind: WidgetKind): string {
  const title = usualTitle(query?.metricName.trim() ?? '');
  return kind === 'heatmap' ? title.replace(/, [\d.]+%$/, '') : title;
}

/** Meanings of a widget that names no service. */
const SERVICE_LEFT_OPEN = {
  own: 'The service of the dashboard',
  one: 'Chosen on the dashboard',
  any: 'All, or the one chosen above',
} as const;
