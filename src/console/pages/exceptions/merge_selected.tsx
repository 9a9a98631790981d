import { Radio, Stack, Text } from '@mantine/core';
import { useState } from 'react';

import type { ExceptionGroup } from '#console/api/exceptions.ts';
import { FormDialog } from '#console/components/forms/form_dialog.tsx';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { countText } from '#console/pages/exceptions/count_text.ts';
import { STATUS_NAMES } from '#console/pages/exceptions/group_status.tsx';
import { MergeConsequences, useMerge } from '#console/pages/exceptions/use_merge.tsx';

interface MergeSelectedProps {
  readonly groups: readonly ExceptionGroup[];
  /** Called when it is merged, or the dialog is closed. */
  readonly onClose: (isMerged: boolean) => void;
}

/** Most groups in one merge, as on the server. */
const MERGE_MAX = 51;

/** Returns why these groups cannot be merged; null if they can. */
function refusalOf(groups: readonly ExceptionGroup[]): string | null {
  const services = [...new Set(groups.map(({ serviceName }) => serviceName))];
  if (new Set(groups.map(({ serviceId }) => serviceId)).size > 1) {
    return `These are of ${services.map(isolateBidi).join(', ')}. Only exceptions of one service can be merged: select those of one.`;
  }
  return groups.length > MERGE_MAX ? `Select at most ${MERGE_MAX} exceptions.` : null;
}

export function MergeSelected({ groups, onClose }: MergeSelectedProps) {
  const oldest = groups.toSorted((a, b) => (a.firstSeenAt < b.firstSeenAt ? -1 : 1))[0];
  const [intoGroupId, setIntoGroupId] = useState(oldest?.groupId ?? '');
  const merging = useMerge(() => onClose(true));
  const refusal = refusalOf(groups);
  const into = groups.find(({ groupId }) => groupId === intoGroupId);
  return (
    <FormDialog
      onClose={() => onClose(false)}
      title={`Merge ${groups.length} exceptions`}
      isWide
      saving={merging}
      failure="Nothing was merged"
      submit="Merge"
      isDisabled={refusal !== null}
      onSubmit={() => {
        const groupIds = groups.map(({ groupId }) => groupId).filter((groupId) => groupId !== intoGroupId);
        if (refusal === null) merging.mutate({ intoGroupId, groupIds });
      }}
    >
      {refusal !== null && (
        <Text size="sm" role="alert">
          {refusal}
        </Text>
      )}
      {refusal === null && (
        <Radio.Group
          label="Which exception should they become part of?"
          description="Its title, status and history stay. The others are listed on its page."
          value={intoGroupId}
          onChange={setIntoGroupId}
        >
          <Stack gap="xs" mt="sm">
            {groups.map(({ groupId, title, culprit, status, eventCount }) => (
              <Radio
                key={groupId}
                value={groupId}
                label={isolateBidi(title)}
                description={[countText(eventCount, 'event'), STATUS_NAMES[status].toLowerCase(), culprit ?? '']
                  .filter((part) => part !== '')
                  .join(', ')}
              />
            ))}
          </Stack>
        </Radio.Group>
      )}
      {refusal === null && into !== undefined && <MergeConsequences status={into.status} />}
    </FormDialog>
  );
}
