import { Group } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useEffectEvent, useState } from 'react';

import { actionQuery } from '#console/api/actions.ts';
import { Choice } from '#console/components/forms/choice.tsx';
import { ServicePicker } from '#console/components/forms/service_picker.tsx';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { useDebounced } from '#console/components/use_debounced.ts';
import { readDashboardSearch } from '#console/pages/dashboards/dashboard_search.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import {
  type DashboardVariable,
  needsService,
  type VariableValues,
  variablesOf,
  type Widget,
  withVariables,
} from '#modules/dashboards/decide/widget.ts';

const route = getRouteApi('/inside/dashboards/$dashboardId');

export interface DashboardVariablesProps {
  readonly widgets: readonly Widget[];
  /** Service of the dashboard itself; null: people choose one. */
  readonly ownServiceId: string | null;
  readonly serviceId: string | null;
  readonly values: VariableValues;
  onChange(chosen: Chosen): void;
}

/** Choice on a dashboard; an absent part stays as it was. */
interface Chosen {
  readonly service?: string | undefined;
  readonly vars?: VariableValues;
}

/** Key in the browser's store of what was last chosen on a dashboard, before its id. */
const LAST_CHOSEN = 'tocsin.dashboard.last.';

/** Reads what somebody last chose on the dashboard. */
function readLastChosen(key: string): Chosen {
  try {
    const { service, vars } = readDashboardSearch(
      JSON.parse(localStorage.getItem(key) ?? '{}') as Record<string, unknown>,
    );
    return { service, ...(vars !== undefined && { vars }) };
  } catch {
    localStorage.removeItem(key);
    return {};
  }
}

interface StartOfDashboard {
  readonly asksForService: boolean;
  readonly chosen: Chosen;
  onChange(chosen: Chosen): void;
}

/**
 * Begins where its address says nothing with what somebody last chose on the dashboard, or else with a service that sends
 * metrics, and remembers what they choose.
 */
function useStart({ asksForService, chosen, onChange }: StartOfDashboard): void {
  const { orgId } = useOrganization().org;
  const key = `${LAST_CHOSEN}${route.useParams().dashboardId}`;
  const isEmpty = chosen.service === undefined && Object.keys(chosen.vars ?? {}).length === 0;
  const [last] = useState(() => (isEmpty ? readLastChosen(key) : {}));
  const { data } = useQuery({
    ...actionQuery(orgId, 'services', 'find_service_with_metrics', {}),
    enabled: asksForService && chosen.service === undefined && last.service === undefined,
  });
  const first = data?.service?.serviceId;
  const begin = useEffectEvent(onChange);
  useEffect(() => {
    if (last.service !== undefined || last.vars !== undefined) begin(last);
  }, [last]);
  const isOpen = asksForService && chosen.service === undefined;
  useEffect(() => {
    if (isOpen && first !== undefined) begin({ service: first });
  }, [isOpen, first]);
  const text = JSON.stringify(chosen);
  useEffect(() => {
    if (!isEmpty) localStorage.setItem(key, text);
  }, [key, isEmpty, text]);
}

/** Pickers of what a dashboard leaves open: its service, and the values of variables in its selectors. */
export function DashboardVariables(props: DashboardVariablesProps) {
  const { widgets, ownServiceId, serviceId, values, onChange } = props;
  const service = ownServiceId === null ? (serviceId ?? undefined) : undefined;
  const asksForService = needsService(widgets, ownServiceId);
  useStart({ asksForService, chosen: { service, vars: values }, onChange });
  const variables = variablesOf(widgets);
  return (
    <Group mb="md" gap="sm" align="end" role="group" aria-label="Variables">
      {asksForService && (
        <ServicePicker
          label="Service"
          isRequired
          value={serviceId ?? undefined}
          onChange={(chosen) => onChange({ service: chosen })}
        />
      )}
      {variables.map((variable) => (
        <VariablePicker
          key={variable.name}
          variable={variable}
          serviceId={variable.query.serviceId ?? serviceId}
          value={values[variable.name]}
          onChange={(value) => {
            const { [variable.name]: _, ...others } = values;
            onChange({ vars: value === undefined ? others : { ...others, [variable.name]: value } });
          }}
        />
      ))}
    </Group>
  );
}

interface VariablePickerProps {
  readonly variable: DashboardVariable;
  readonly serviceId: string | null;
  readonly value: string | undefined;
  onChange(value: string | undefined): void;
}

const OPTIONS_MAX = 20;

/** Picker of one value of a label, or of all. The server searches for what is typed. */
function VariablePicker({ variable: { name, label, query }, serviceId, value, onChange }: VariablePickerProps) {
  const { orgId } = useOrganization().org;
  const [isNear, setIsNear] = useState(false);
  const [typed, setTyped] = useState('');
  const text = useDebounced(typed.trim());
  const asked = { metricName: withVariables(query.metricName, {}), label, valuesMax: OPTIONS_MAX };
  const { data } = useQuery({
    ...actionQuery(orgId, 'metrics', 'describe_labels', {
      serviceId: serviceId ?? '',
      ...asked,
      ...(text !== '' && { text }),
    }),
    enabled: serviceId !== null && isNear,
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });
  const entry = data?.labels[0];
  const listed = entry?.values.map((option) => option.value).toSorted() ?? [];
  const values = value === undefined || listed.includes(value) ? listed : [value, ...listed];
  return (
    <Choice
      label={name}
      placeholder="All"
      clearLabel="All"
      emptyText={data === undefined ? 'Loading …' : 'No value has this name'}
      disabled={serviceId === null}
      value={value ?? null}
      options={values.map((option) => ({ value: option, label: isolateBidi(option) }))}
      further={(entry?.valueCount ?? 0) - listed.length}
      onNear={() => setIsNear(true)}
      onSearch={setTyped}
      onChange={(chosen) => onChange(chosen ?? undefined)}
    />
  );
}
