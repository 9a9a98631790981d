import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { ruleQuery, ruleSearchQuery } from '#console/api/rules.ts';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { Choice } from '#console/components/forms/choice.tsx';
import { useDebounced } from '#console/components/use_debounced.ts';
import { useOrganization } from '#console/shell/organization.tsx';

const OPTIONS_MAX = 20;

interface RuleSelectProps {
  readonly value: string | undefined;
  onChange(ruleId: string | undefined): void;
  readonly error?: string | undefined;
}

/** Picker of one of any number of rules. The server searches for what is typed. */
export function RuleSelect({ value, onChange, error }: RuleSelectProps) {
  const { orgId } = useOrganization().org;
  const [isNear, setIsNear] = useState(false);
  const [typed, setTyped] = useState('');
  const text = useDebounced(typed);
  const { data: selected } = useQuery({ ...ruleQuery(orgId, value ?? ''), enabled: value !== undefined });
  const selectedRule = selected ?? undefined;
  const { data } = useInfiniteQuery({
    ...ruleSearchQuery(orgId, { limit: OPTIONS_MAX, ...(text !== '' && { text }) }),
    placeholderData: keepPreviousData,
    enabled: isNear,
  });
  const total = Object.values(data?.pages[0]?.counts ?? {}).reduce((sum, count) => sum + count, 0);
  const matches = data?.pages.flatMap(({ rules }) => rules).slice(0, OPTIONS_MAX) ?? [];
  const options =
    selectedRule === undefined
      ? matches
      : [selectedRule, ...matches.filter(({ ruleId }) => ruleId !== selectedRule.ruleId)];
  return (
    <Choice
      label="Rule"
      placeholder="Choose a rule"
      options={options.map((rule) => ({ value: rule.ruleId, label: labelOf(rule) }))}
      further={total - matches.length}
      value={selectedRule?.ruleId ?? null}
      onChange={(ruleId) => onChange(ruleId ?? undefined)}
      onSearch={setTyped}
      onNear={() => setIsNear(true)}
      emptyText={data === undefined ? 'Loading …' : 'No rule has this name'}
      error={error}
    />
  );
}

function labelOf({ name, serviceName }: { readonly name: string; readonly serviceName: string }): string {
  return isolateBidi(`${name} (${serviceName})`);
}
