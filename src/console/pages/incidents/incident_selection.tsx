import { Button } from '@mantine/core';
import { useState } from 'react';

import { Confirm } from '#console/components/forms/confirm.tsx';
import { ChangingBar, SelectionBar } from '#console/components/lists/selection_bar.tsx';
import type { Answer } from './answer_incidents.ts';
import { type Matching, PAST, useAnswerMatching } from '#console/pages/incidents/answer_matching.ts';

interface IncidentSelectionProps {
  readonly count: number;
  /** Number of open incidents that match the filter, loaded or not. */
  readonly total: number;
  readonly areAllSelected: boolean;
  readonly matching: Matching;
  readonly onSelectAll: () => void;
  readonly onClear: () => void;
  readonly onAnswer: (answer: Answer) => void;
}

/** Bar with the commands for the selected incidents: a few rows, or all that match. */
export function IncidentSelection(props: IncidentSelectionProps) {
  const { count, total, areAllSelected, matching, onSelectAll, onClear, onAnswer } = props;
  const { answering, done, stop } = useAnswerMatching();
  const [isAsking, setIsAsking] = useState(false);
  const answerAll = (answer: Answer) => answering.mutate({ answer, matching }, { onSuccess: onClear });
  const number = (areAllSelected ? total : count).toLocaleString();
  if (answering.isPending) {
    const progress = `${done.toLocaleString()} of ${number} ${PAST[answering.variables.answer]}`;
    return <ChangingBar label="Answering incidents" progress={progress} onStop={stop} />;
  }
  return (
    <SelectionBar label="Selected incidents" {...{ count, total, areAllSelected, onSelectAll, onClear }}>
      <Button size="sm" onClick={() => (areAllSelected ? answerAll('acknowledge') : onAnswer('acknowledge'))}>
        Acknowledge
      </Button>
      <Button size="sm" variant="default" onClick={() => (areAllSelected ? setIsAsking(true) : onAnswer('resolve'))}>
        Resolve
      </Button>
      {isAsking && (
        <Confirm
          title={`Resolve ${number} incidents?`}
          button={`Resolve ${number}`}
          saving={{ isPending: false, error: null }}
          onClose={() => setIsAsking(false)}
          onConfirm={() => {
            setIsAsking(false);
            answerAll('resolve');
          }}
        >
          All incidents that match the filter are resolved, also those not shown, and nobody else is paged about them.
          You can undo this only for one incident at a time, by reopening it.
        </Confirm>
      )}
    </SelectionBar>
  );
}
