import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { actionQuery } from '#console/api/queries.ts';
import { Choice } from '#console/components/forms/choice.tsx';
import { withChosen } from '#console/pages/exceptions/with_chosen.ts';
import { useOrganization } from '#console/shell/organization.tsx';

const DEBOUNCE_MS = 150;

interface ReleasePickerProps {
  readonly serviceId: string | undefined;
  readonly value: string | undefined;
  onChange(release: string | undefined): void;
}

/** Picker of one of any number of releases: the server searches for what is typed. */
export function ReleasePicker({ serviceId, value, onChange }: ReleasePickerProps) {
  const { orgId } = useOrganization().org;
  const [isNear, setIsNear] = useState(false);
  const [typed, setTyped] = useState('');
  const [text] = useDebouncedValue(typed, DEBOUNCE_MS);
  const release = text.slice(0, 200);
  const { data } = useQuery({
    ...actionQuery(orgId, 'exceptions', 'list_exception_origins', {
      ...(serviceId !== undefined && { serviceId }),
      ...(release !== '' && { release }),
    }),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
    enabled: isNear,
  });
  return (
    <Choice
      label="Release"
      isLabelHidden
      placeholder="Any release"
      options={withChosen(data?.releases ?? [], value).map((release) => ({ value: release, label: release }))}
      further={(data?.releasesTotal ?? 0) - (data?.releases.length ?? 0)}
      value={value ?? null}
      onChange={(chosen) => onChange(chosen ?? undefined)}
      onSearch={setTyped}
      onNear={() => setIsNear(true)}
      emptyText={data === undefined ? 'Loading …' : 'No release has this name'}
      clearLabel="Any release"
    />
  );
}
