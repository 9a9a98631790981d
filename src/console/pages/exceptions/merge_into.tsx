import { Button, Text } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

import { type ExceptionOverview, overviewQuery } from '#console/api/exceptions.ts';
import { actionQuery } from '#console/api/actions.ts';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { Choice } from '#console/components/forms/choice.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { faultsAtFields } from '#console/components/forms/form.tsx';
import { FormDialog } from '#console/components/forms/form_dialog.tsx';
import { Name } from '#console/components/text/name.tsx';
import { useDebounced } from '#console/components/use_debounced.ts';
import { MergeConsequences, useMerge } from '#console/pages/exceptions/use_merge.tsx';
import { useOrganization } from '#console/shell/organization.tsx';

interface MergeIntoProps {
  readonly overview: ExceptionOverview;
  readonly onClose: () => void;
}

type Candidate = Pick<ExceptionOverview['similar'][number], 'groupId' | 'title' | 'culprit' | 'status'>;

const SHOWN_MAX = 50;

/** Dialog that merges this exception into another one of its service: similar ones first, any other by search. */
export function MergeInto({ overview, onClose }: MergeIntoProps) {
  const { orgId } = useOrganization().org;
  const { groupId, serviceId, title } = overview;
  const navigate = useNavigate();
  const [chosen, setChosen] = useState<Candidate | null>(null);
  const [isMissing, setIsMissing] = useState(false);
  const [typed, setTyped] = useState('');
  // The field holds the title of the chosen group, which is not a search.
  const text = useDebounced(chosen !== null && typed === labelOf(chosen) ? '' : typed);
  const { data, error } = useQuery({
    ...actionQuery(orgId, 'exceptions', 'browse_exception_groups', { serviceId, text, limit: SHOWN_MAX }),
    placeholderData: keepPreviousData,
  });
  const merging = useMerge((intoGroupId) => {
    onClose();
    void navigate({ to: '/exceptions/$groupId', params: { groupId: intoGroupId } });
  });
  const isWanted = (candidate: Candidate): boolean => labelOf(candidate).toLowerCase().includes(text.toLowerCase());
  const similar = overview.similar.filter(isWanted);
  const listed = new Set([groupId, ...similar.map((group) => group.groupId)]);
  const others = (data?.groups ?? []).filter((group) => !listed.has(group.groupId));
  const isListed = chosen === null || [...similar, ...others].some((group) => group.groupId === chosen.groupId);
  const sections: readonly (readonly [string, readonly Candidate[]])[] = [
    ['Chosen', isListed ? [] : [chosen]],
    ['Similar', similar],
    ['Others of this service', others],
  ];
  const fault = faultsAtFields(merging.error, { intoGroupId: chosen })['intoGroupId'];
  // Somebody was faster: finds where the chosen group is now.
  const { data: current } = useQuery({
    ...overviewQuery(orgId, chosen?.groupId ?? ''),
    enabled: chosen !== null && fault !== undefined,
  });
  const taker = fault === undefined ? null : (current?.mergedInto ?? null);
  return (
    <FormDialog
      onClose={onClose}
      title="Merge into another exception"
      saving={merging}
      failure="Nothing was merged"
      atFields={{ intoGroupId: chosen }}
      submit="Merge"
      onSubmit={() => {
        setIsMissing(chosen === null);
        if (chosen !== null) merging.mutate({ intoGroupId: chosen.groupId, groupIds: [groupId] });
      }}
    >
      {error !== null && <ErrorAlert error={error} />}
      <Choice
        label="Merge into"
        description={`${isolateBidi(title)} becomes part of it.`}
        placeholder={data === undefined ? 'Loading …' : 'Type part of the title or the place in the code'}
        options={sections.flatMap(([group, items]) =>
          items.map((item) => ({ value: item.groupId, label: labelOf(item), group })),
        )}
        further={
          data === undefined
            ? 0
            : Object.values(data.counts).reduce((sum, count) => sum + count, 0) - data.groups.length
        }
        value={chosen?.groupId ?? null}
        onChange={(value) => {
          setChosen([...similar, ...others].find((group) => group.groupId === value) ?? null);
          setIsMissing(false);
          merging.reset();
        }}
        onSearch={(value) => setTyped(value.slice(0, 200))}
        emptyText="No other exception of this service matches"
        error={isMissing ? 'Choose the exception that it becomes part of' : (fault ?? null)}
        data-autofocus
      />
      {taker !== null && (
        <Text size="sm" component="div" role="status">
          It is part of <Name>{taker.title}</Name> now.{' '}
          <Button
            size="compact-sm"
            variant="light"
            onClick={() => merging.mutate({ intoGroupId: taker.groupId, groupIds: [groupId] })}
          >
            Merge into that one
          </Button>
        </Text>
      )}
      {chosen !== null && <MergeConsequences status={chosen.status} />}
    </FormDialog>
  );
}

function labelOf({ title, culprit }: Candidate): string {
  return isolateBidi(culprit === null ? title : `${title} (${culprit})`);
}
