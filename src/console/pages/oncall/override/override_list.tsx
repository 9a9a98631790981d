import { Button, Group } from '@mantine/core';
import { useState } from 'react';

import { Name } from '#console/components/text/name.tsx';
import { useRemoveOverride } from '#console/pages/home/remove_override.tsx';
import classes from '#console/pages/oncall/gaps.module.css';
import type { Selection } from '#console/pages/oncall/selection.ts';
import { spanText } from '#console/pages/oncall/span_text.ts';
import type { ShownSchedule } from '#console/pages/oncall/use_timeline.ts';

interface OverrideListProps {
  readonly selection: Selection;
  readonly schedule: ShownSchedule;
  readonly nameOf: (userId: string | null) => string;
  readonly mayChange: boolean;
}

/** List of the overrides that reach into this time, also those that a later one covers. */
export function OverrideList({ selection: { since, until }, schedule, nameOf, mayChange }: OverrideListProps) {
  const removing = useRemoveOverride(schedule.name);
  const [asked, setAsked] = useState<string | null>(null);
  const overrides = schedule.overrides.filter(
    ({ startAt, endAt }) => Date.parse(endAt) > since && (until === null || Date.parse(startAt) < until),
  );
  const isSameTime = (startAt: string, endAt: string) => Date.parse(startAt) === since && Date.parse(endAt) === until;
  if (overrides.length === 0) return null;
  return (
    <ul className={classes.gaps} aria-label="Overrides">
      {overrides.map(({ overrideId, userId, startAt, endAt }) => (
        <li key={overrideId} className={classes.gap}>
          <span className={classes.text}>
            Override: <Name>{nameOf(userId)}</Name>
            {isSameTime(startAt, endAt) ? '' : `, ${spanText(Date.parse(startAt), Date.parse(endAt))}`}
            {asked === overrideId && <div>Without it, pages go to the people on call then. This cannot be undone.</div>}
          </span>
          {mayChange && asked !== overrideId && (
            <Button
              size="xs"
              variant="default"
              onClick={() => setAsked(overrideId)}
              aria-label={`Remove the override of ${nameOf(userId)}`}
            >
              Remove
            </Button>
          )}
          {asked === overrideId && (
            <Group gap="xs">
              <Button size="xs" variant="default" autoFocus onClick={() => setAsked(null)}>
                Keep it
              </Button>
              <Button size="xs" color="red" loading={removing.isPending} onClick={() => removing.mutate(overrideId)}>
                Remove it
              </Button>
            </Group>
          )}
        </li>
      ))}
    </ul>
  );
}
