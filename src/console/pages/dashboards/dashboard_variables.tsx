import { Group, NativeSelect } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useEffectEvent } from 'react';

import { actionQuery } from '#console/api/actions.ts';
import { ServicePicker } from '#console/components/forms/service_picker.tsx';
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
import { LABEL_VALUES_MAX } from '#modules/metrics/decide/limits.ts';

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

/** Restores what somebody last chose on the dashboard, where its address says nothing, and remembers what they choose. */
function useLastChosen(isEmpty: boolean, chosen: Chosen, onChange: (chosen: Chosen) => void): void {
  const key = `${LAST_CHOSEN}${route.useParams().dashboardId}`;
  const restore = useEffectEvent(() => {
    if (!isEmpty) return;
    try {
      const { service, vars } = readDashboardSearch(
        JSON.parse(localStorage.getItem(key) ?? '{}') as Record<string, unknown>,
      );
      if (service !== undefined || vars !== undefined) onChange({ service, ...(vars !== undefined && { vars }) });
    } catch {
      localStorage.removeItem(key);
    }
  });
  useEffect(() => restore(), [key]);
  const text = JSON.stringify(chosen);
  useEffect(() => {
    if (!isEmpty) localStorage.setItem(key, text);
  }, [key, isEmpty, text]);
}

/** Pickers of what a dashboard leaves open: its service, and the values of variables in its selectors. */
export function DashboardVariables(props: DashboardVariablesProps) {
  const { widgets, ownServiceId, serviceId, values, onChange } = props;
  const service = ownServiceId === null ? (serviceId ?? undefined) : undefined;
  useLastChosen(service === undefined && Object.keys(values).length === 0, { service, vars: values }, onChange);
  const asksForService = needsService(widgets, ownServiceId);
  const variables = variablesOf(widgets);
  return (
    <Group mb="md" gap="sm" align="end" role="group" aria-label="Variables">
      {asksForService && (
        <ServicePicker
          label="Service"
          placeholder="Choose a service"
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

/** Picker of one value of a label, or of all. */
function VariablePicker({ variable: { name, label, query }, serviceId, value, onChange }: VariablePickerProps) {
  const { orgId } = useOrganization().org;
  const asked = { metricName: withVariables(query.metricName, {}), label, valuesMax: LABEL_VALUES_MAX };
  const { data } = useQuery({
    ...actionQuery(orgId, 'metrics', 'describe_labels', { serviceId: serviceId ?? '', ...asked }),
    enabled: serviceId !== null,
    staleTime: 60_000,
  });
  const entry = data?.labels[0];
  const options = entry?.values.map((listed) => listed.value).toSorted() ?? [];
  const further = (entry?.valueCount ?? 0) - options.length;
  return (
    <NativeSelect
      label={name}
      disabled={serviceId === null}
      value={value ?? ''}
      data={[
        { value: '', label: further > 0 ? `All (${further} more than are listed)` : 'All' },
        ...(value !== undefined && !options.includes(value) ? [value, ...options] : options),
      ]}
      onChange={(event) => onChange(event.currentTarget.value === '' ? undefined : event.currentTarget.value)}
    />
  );
}
