import { Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';

import { teamsQuery } from '#console/api/queries.ts';
import { isolateBidi } from '#console/components/bidi.ts';
import { useOrganization } from '#console/shell/organization.tsx';

interface PolicyPickerProps {
  readonly value: string | null;
  onChange(policyId: string | null): void;
  readonly error: string | undefined;
}

/** Selects the escalation policy that a rule pages by. */
export function PolicyPicker({ value, onChange, error }: PolicyPickerProps) {
  const { data } = useQuery(teamsQuery(useOrganization().org.orgId));
  const groups = (data?.teams ?? [])
    .filter(({ escalationPolicies }) => escalationPolicies.length > 0)
    .map(({ name, escalationPolicies }) => ({
      group: isolateBidi(name),
      items: escalationPolicies.map((policy) => ({ value: policy.policyId, label: isolateBidi(policy.name) })),
    }));
  return (
    <Select
      label="Pages by"
      placeholder="Nobody is paged"
      data={groups}
      value={value}
      onChange={onChange}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': 'Page nobody' }}
      nothingFoundMessage={data === undefined ? 'Loading …' : 'No policy has this name'}
      description={value === null ? 'Without an escalation policy it opens incidents and pages nobody.' : undefined}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      error={error}
    />
  );
}
