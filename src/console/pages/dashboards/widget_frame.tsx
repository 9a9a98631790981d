import { ActionIcon } from '@mantine/core';
import {
  IconArrowDown,
  IconArrowsMaximize,
  IconArrowUp,
  IconCopy,
  IconDots,
  IconGripVertical,
  IconPencil,
  IconTrash,
} from '@tabler/icons-react';
import type { KeyboardEvent, ReactNode } from 'react';

import { ActionMenu } from '#console/components/action_menu.tsx';
import { Name } from '#console/components/text/name.tsx';
import { useHint } from '#console/components/use_hint.tsx';
import classes from '#console/pages/dashboards/dashboards.module.css';

/** Changes that can be made to a widget. */
export interface WidgetChanges {
  onNudge(id: string, by: { readonly columns: number; readonly rows: number }, what: 'place' | 'size'): void;
  /** Moves the widget by one place up or down, in reading order. */
  onMove(id: string, by: -1 | 1): void;
  onEdit(id: string): void;
  onDuplicate(id: string): void;
  onRemove(id: string): void;
  onFullScreen(id: string): void;
}

interface WidgetFrameProps {
  readonly id: string;
  readonly title: string;
  readonly isEditing: boolean;
  readonly changes: WidgetChanges;
  readonly children: ReactNode;
}

const KEYS: Readonly<Record<string, { readonly columns: number; readonly rows: number }>> = {
  ArrowLeft: { columns: -1, rows: 0 },
  ArrowRight: { columns: 1, rows: 0 },
  ArrowUp: { columns: 0, rows: -1 },
  ArrowDown: { columns: 0, rows: 1 },
};

/** Widget with its title and commands. */
export function WidgetFrame({ id, title, isEditing, changes, children }: WidgetFrameProps) {
  const { onNudge, onMove, onEdit, onDuplicate, onRemove, onFullScreen } = changes;
  const { target, hint } = useHint('Drag, or use the arrow keys; with Shift they change the size');
  const onKeyDown = (event: KeyboardEvent): void => {
    const by = KEYS[event.key];
    if (by === undefined) return;
    event.preventDefault();
    onNudge(id, by, event.shiftKey ? 'size' : 'place');
  };
  return (
    <section className={classes.widget} aria-label={title}>
      <div className={classes.head}>
        {isEditing && (
          <button
            type="button"
            className={classes.grip}
            aria-label={`Move or resize ${title}: arrow keys move, with Shift they resize`}
            onKeyDown={onKeyDown}
            {...target}
          >
            <IconGripVertical size={16} aria-hidden />
          </button>
        )}
        {isEditing && hint}
        <h2 className={classes.title}>
          <Name>{title}</Name>
        </h2>
        {isEditing ? (
          <ActionMenu
            withinPortal
            button={(props) => (
              <ActionIcon variant="subtle" color="gray" size={32} aria-label={`Change ${title}`} {...props}>
                <IconDots size={18} />
              </ActionIcon>
            )}
            entries={[
              { text: 'Edit', icon: <IconPencil size={16} />, onClick: () => onEdit(id) },
              { text: 'Move up', icon: <IconArrowUp size={16} />, onClick: () => onMove(id, -1) },
              { text: 'Move down', icon: <IconArrowDown size={16} />, onClick: () => onMove(id, 1) },
              { text: 'Duplicate', icon: <IconCopy size={16} />, onClick: () => onDuplicate(id) },
              { text: 'Remove', icon: <IconTrash size={16} />, isDangerous: true, onClick: () => onRemove(id) },
            ]}
          />
        ) : (
          <ActionIcon
            variant="subtle"
            color="gray"
            size={32}
            aria-label={`Show ${title} in full`}
            onClick={() => onFullScreen(id)}
          >
            <IconArrowsMaximize size={16} />
          </ActionIcon>
        )}
      </div>
      <div className={classes.content}>{children}</div>
    </section>
  );
}
