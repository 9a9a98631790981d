import { Group, NativeSelect } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';

import { actionQuery } from '#console/api/queries.ts';
import { ServicePicker } from '#console/components/forms/service_picker.tsx';
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

export interface DashboardVariablesProps {
  readonly widgets: readonly Widget[];
  /** Service of the dashboard itself; null: people choose one. */
  readonly ownServiceId: string | null;
  readonly serviceId: string | null;
  readonly values: VariableValues;
  onService(serviceId: string | undefined): void;
  onValues(values: VariableValues): void;
}

/** Pickers of what a dashboard leaves open: its service, and the values of variables in its selectors. */
export function DashboardVariables(props: DashboardVariablesProps) {
  const { widgets, ownServiceId, serviceId, values, onService, onValues } = props;
  const asksForService = needsService(widgets, ownServiceId);
  const variables = variablesOf(widgets);
  return (
    <Group mb="md" gap="sm" align="end" role="group" aria-label="Variables">
      {asksForService && (
        <ServicePicker
          label="Service"
          placeholder="Choose a service"
          value={serviceId ?? undefined}
          onChange={(chosen) => onService(chosen ?? undefined)}
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
            onValues(value === undefined ? others : { ...others, [variable.name]: value });
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
