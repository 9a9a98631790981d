import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';

import { policyQuery, policySearchQuery } from '#console/api/teams.ts';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { Choice } from '#console/components/forms/choice.tsx';
import { useDebounced } from '#console/components/use_debounced.ts';
import { useOrganization } from '#console/shell/organization.tsx';

interface PolicyPickerProps {
  /** Id of a policy, or the value of one of the options before the policies. */
  readonly value: string | null;
  onChange(value: string | null): void;
  readonly label: string;
  readonly placeholder: string;
  readonly description?: string | undefined;
  /** Meaning of the cleared field; without it the field cannot be cleared. */
  readonly clearLabel?: string;
  readonly before?: readonly { readonly value: string; readonly label: string }[];
  readonly error: ReactNode;
}

/** Picker of one of any number of escalation policies. The server searches for what is typed. */
export function PolicyPicker(props: PolicyPickerProps) {
  const { value, onChange, label, placeholder, description, clearLabel, before = [], error } = props;
  const { orgId } = useOrganization().org;
  const [isNear, setIsNear] = useState(false);
  const [typed, setTyped] = useState('');
  const isPolicy = value !== null && !before.some((choice) => choice.value === value);
  const chosen = useQuery({ ...policyQuery(orgId, value ?? ''), enabled: isPolicy }).data;
  const text = useDebounced(typed.trim());
  const { data } = useInfiniteQuery({ ...policySearchQuery(orgId, text.slice(0, 200)), enabled: isNear });
  const matches = data?.pages.flatMap(({ policies }) => policies) ?? [];
  const isListed = !isPolicy || matches.some(({ policyId }) => policyId === value);
  const shown = isListed || chosen == null ? matches : [chosen, ...matches];
  const policies = [...Map.groupBy(shown, ({ teamId }) => teamId).values()]
    .flat()
    .map((policy) => ({ value: policy.policyId, label: labelOf(policy), group: isolateBidi(policy.teamName) }));
  const others = before.filter((choice) => choice.label.toLowerCase().includes(typed.toLowerCase()));
  return (
    <Choice
      label={label}
      placeholder={placeholder}
      options={[...others, ...policies]}
      further={(data?.pages[0]?.total ?? 0) - matches.length}
      value={value}
      onChange={onChange}
      onSearch={setTyped}
      onNear={() => setIsNear(true)}
      emptyText={data === undefined ? 'Loading …' : 'No policy has this name'}
      {...(clearLabel !== undefined && { clearLabel })}
      description={description}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      error={error}
    />
  );
}

/** Returns the id of the organization's only policy, which forms begin with; null if there is none or a choice. */
export function useOnlyPolicy(isWanted = true): string | null {
  const { orgId } = useOrganization().org;
  const { data } = useInfiniteQuery({ ...policySearchQuery(orgId, ''), enabled: isWanted });
  const [only, ...others] = data?.pages[0]?.policies ?? [];
  return others.length === 0 ? (only?.policyId ?? null) : null;
}

function labelOf({ name, steps }: { readonly name: string; readonly steps: readonly unknown[] }): string {
  return steps.length === 0 ? `${isolateBidi(name)}, no steps` : isolateBidi(name);
}
