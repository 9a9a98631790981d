import { ActionIcon, Button, Group, NativeSelect } from '@mantine/core';

import { ActionMenu } from '#console/components/action_menu.tsx';
import { IconButton } from '#console/components/buttons.tsx';
import { lazyPart } from '#console/components/lazy_part.tsx';
import { RangePicker } from '#console/components/lists/range_picker.tsx';
import type { TimeRange } from '#console/components/text/time_range.ts';
import { IconCopy, IconDots, IconMaximize, IconPencil, IconRefresh, IconTrash } from '#console/icons.ts';
import { REFRESHES, USUAL_REFRESH } from '#console/pages/dashboards/dashboard_search.ts';
import type { DashboardVariablesProps } from '#console/pages/dashboards/dashboard_variables.tsx';
import classes from '#console/pages/dashboards/dashboards.module.css';
import { needsService, variablesOf } from '#modules/dashboards/decide/widget.ts';

interface DashboardToolbarProps {
  readonly range: TimeRange;
  readonly refresh: string | undefined;
  onRange(range: TimeRange): void;
  onRefresh(): void;
  /** Called with the interval; undefined is the usual one. */
  onRefreshEvery(refresh: string | undefined): void;
  onFullScreen(): void;
  /** Called to edit; null for somebody who may not. */
  readonly onEdit: (() => void) | null;
  onDuplicate(): void;
  onDelete(): void;
}

/** Toolbar with the period, the refresh interval, and the commands for the dashboard as a whole. */
export function DashboardToolbar(props: DashboardToolbarProps) {
  const { range, refresh, onRange, onRefresh, onRefreshEvery, onFullScreen, onEdit, onDuplicate, onDelete } = props;
  return (
    <Group gap="xs">
      <RangePicker range={range} onChange={onRange} />
      <IconButton label="Refresh now" variant="default" className={classes.icon} onClick={onRefresh}>
        <IconRefresh size={18} />
      </IconButton>
      <NativeSelect
        aria-label="Refresh"
        disabled={range.kind === 'between'}
        value={refresh ?? USUAL_REFRESH}
        data={REFRESHES.map(({ name, label }) => ({ value: name, label }))}
        onChange={(event) => {
          const { value } = event.currentTarget;
          onRefreshEvery(value === USUAL_REFRESH ? undefined : value);
        }}
      />
      <IconButton label="Full screen" variant="default" className={classes.icon} onClick={onFullScreen}>
        <IconMaximize size={18} />
      </IconButton>
      {onEdit !== null && (
        <>
          <Button leftSection={<IconPencil size={16} />} onClick={onEdit}>
            Edit
          </Button>
          <ActionMenu
            button={(props) => (
              <ActionIcon variant="default" className={classes.icon} aria-label="More about this dashboard" {...props}>
                <IconDots size={18} />
              </ActionIcon>
            )}
            entries={[
              { text: 'Duplicate', icon: <IconCopy size={16} />, onClick: onDuplicate },
              { text: 'Delete', icon: <IconTrash size={16} />, isDangerous: true, onClick: onDelete },
            ]}
          />
        </>
      )}
    </Group>
  );
}

const DashboardVariables = lazyPart(() =>
  import('#console/pages/dashboards/dashboard_variables.tsx').then((m) => m.DashboardVariables),
);

/** Pickers of what a dashboard leaves open; nothing for one that leaves nothing open. */
export function VariablesBar(props: DashboardVariablesProps) {
  const isOpen = needsService(props.widgets, props.ownServiceId) || variablesOf(props.widgets).length > 0;
  return isOpen ? <DashboardVariables {...props} /> : null;
}
