import { Button, Group, Stack, Text } from '@mantine/core';

import type { Dashboard } from '#console/api/dashboards.ts';
import { Dialog } from '#console/components/dialog.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import classes from '#console/pages/dashboards/dashboards.module.css';
import {
  changesBetween,
  type DashboardChanges,
  type DashboardDraft,
  mergeDrafts,
} from '#modules/dashboards/decide/layout_changes.ts';

interface ConflictDialogProps {
  readonly base: DashboardDraft;
  readonly mine: DashboardDraft;
  readonly theirs: DashboardDraft;
  readonly saved: Dashboard;
  /** Called with the dashboard that has the changes of both. */
  onKeepBoth(merged: DashboardDraft): void;
  onSaveAsCopy(): void;
  onTakeTheirs(): void;
  readonly onClose: () => void;
}

/** Dialog for a dashboard that somebody else has saved meanwhile: shows what each of the two changed, and choices. */
export function ConflictDialog(props: ConflictDialogProps) {
  const { base, mine, theirs, saved, onKeepBoth, onSaveAsCopy, onTakeTheirs, onClose } = props;
  return (
    <Dialog title="Somebody else has changed this dashboard" onClose={onClose} isWide>
      <Stack>
        <Text size="sm">
          It was saved <Timestamp at={saved.updatedAt} />, after you began. Nothing of yours is lost: it stays here
          until you decide.
        </Text>
        <div className={classes.both}>
          <Changes title="Your changes" changes={changesBetween(base, mine)} />
          <Changes title="Their changes" changes={changesBetween(base, theirs)} />
        </div>
        <Text size="sm" c="dimmed">
          “Keep both” merges the two. Where both changed the same widget, the dashboard then has both versions of it.
        </Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={onTakeTheirs}>
            Drop mine
          </Button>
          <Button variant="default" onClick={onSaveAsCopy}>
            Save mine as a copy
          </Button>
          <Button onClick={() => onKeepBoth(mergeDrafts(base, mine, theirs))} data-autofocus>
            Keep both
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}

function Changes({ title, changes }: { readonly title: string; readonly changes: DashboardChanges }) {
  const lines = [
    ...(changes.name === null ? [] : [`Renamed to ${changes.name}`]),
    ...changes.added.map((widget) => `Added ${widget}`),
    ...changes.removed.map((widget) => `Removed ${widget}`),
    ...changes.changed.map((widget) => `Changed ${widget}`),
    ...(changes.moved.length === 0
      ? []
      : [changes.moved.length === 1 ? `Moved ${changes.moved[0] ?? ''}` : `Moved ${changes.moved.length} widgets`]),
  ];
  return (
    <section>
      <h3>{title}</h3>
      {lines.length === 0 ? (
        <p className={`${classes.empty} dimmed small`}>No visible changes.</p>
      ) : (
        <ul>
          {lines.map((line) => (
            <li key={line}>
              <bdi>{line}</bdi>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
