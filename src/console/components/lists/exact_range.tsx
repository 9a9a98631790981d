import { Button, Group, Stack } from '@mantine/core';
import { useState } from 'react';

import { Dialog } from '#console/components/dialog.tsx';
import { Form } from '#console/components/forms/form.tsx';
import type { TimeRange } from '#console/components/text/time_range.ts';
import { TimeField } from '#console/components/forms/time_field.tsx';

interface ExactRangeProps {
  readonly from: number;
  readonly to: number;
  onChoose(range: TimeRange): void;
  readonly onClose: () => void;
}

/** Form for any period, to the minute. */
export function ExactRange({ from, to, onChoose, onClose }: ExactRangeProps) {
  const [start, setStart] = useState(localText(from));
  const [end, setEnd] = useState(localText(to));
  const times = { from: Date.parse(start), to: Date.parse(end) };
  const startFault = Number.isNaN(times.from) ? 'Choose a day and a time.' : null;
  const endFault = Number.isNaN(times.to)
    ? 'Choose a day and a time.'
    : times.to - times.from < 60_000
      ? 'The end is at least a minute after the start.'
      : times.to - times.from > 400 * 86_400_000
        ? 'At most 400 days can be shown.'
        : null;
  return (
    <Dialog title="Custom time range" onClose={onClose}>
      <Form
        error={null}
        onSubmit={() => {
          if (startFault === null && endFault === null) onChoose({ kind: 'between', ...times });
        }}
      >
        <Stack>
          <TimeField label="From" value={start} error={startFault} onChange={setStart} data-autofocus />
          <TimeField label="To" description="In your own time zone." value={end} error={endFault} onChange={setEnd} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit">Show</Button>
          </Group>
        </Stack>
      </Form>
    </Dialog>
  );
}

/** Converts to the value of a field for date and time, in the viewer's zone. */
function localText(at: number): string {
  const local = new Date(at - new Date(at).getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}
