import { ActionIcon } from '@mantine/core';
import { createContext, type KeyboardEvent, memo, type ReactNode, useContext, useEffect, useState } from 'react';

import type { ChartQuery } from '#console/api/charts.ts';
import { ActionMenu } from '#console/components/action_menu.tsx';
import { useHint } from '#console/components/buttons.tsx';
import { Dialog } from '#console/components/dialog.tsx';
import { Name } from '#console/components/text/name.tsx';
import type { ChartMarker } from '#console/components/time_chart/chart_series.ts';
import {
  IconArrowDown,
  IconArrowsMaximize,
  IconArrowUp,
  IconCopy,
  IconDots,
  IconGripVertical,
  IconPencil,
  IconTrash,
} from '#console/icons.ts';
import { DashboardLink } from '#console/pages/dashboards/dashboard_link.tsx';
import type { AnsweredChart } from '#console/pages/dashboards/use_chart_batch.ts';
import { WidgetContent } from '#console/pages/dashboards/widget_content.tsx';
import { titleOf } from '#modules/dashboards/decide/layout_changes.ts';
import type { Widget } from '#modules/dashboards/decide/widget.ts';
import classes from '#console/pages/dashboards/dashboards.module.css';

interface WidgetChanges {
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
  readonly leadsTo: string | null;
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

function WidgetFrame({ id, title, leadsTo, isEditing, changes, children }: WidgetFrameProps) {
  const { onNudge, onMove, onEdit, onDuplicate, onRemove, onFullScreen } = changes;
  const serviceId = useContext(DashboardDataContext)?.serviceId ?? null;
  const { target, hint } = useHint('Drag, or use the arrow keys; with Shift they change the size');
  const onKeyDown = (event: KeyboardEvent): void => {
    const by = KEYS[event.key];
    if (by === undefined) return;
    event.preventDefault();
    onNudge(id, by, event.shiftKey ? 'size' : 'place');
  };
  return (
    <section className={classes.widget} aria-label={title}>
      <div className={`${classes.head} row rigid`}>
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
        <h2 className={`${classes.title} grow small flush`}>
          {leadsTo === null || isEditing ? (
            <Name>{title}</Name>
          ) : (
            <DashboardLink dashboardId={leadsTo} serviceId={serviceId}>
              <Name>{title}</Name>
            </DashboardLink>
          )}
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

/** Data shared by all widgets of a dashboard. It changes with each answer, while frames and grid stay as they are. */
interface DashboardData {
  readonly dashboardId: string;
  readonly serviceId: string | null;
  readonly queriesById: ReadonlyMap<string, readonly ChartQuery[]>;
  readonly answers: ReadonlyMap<string, AnsweredChart>;
  readonly markers: readonly ChartMarker[];
  onRange(from: number, to: number): void;
}

export const DashboardDataContext = createContext<DashboardData | null>(null);

interface DashboardWidgetProps {
  readonly widget: Widget;
  readonly isEditing: boolean;
  readonly changes: WidgetChanges;
}

export const DashboardWidget = memo(function DashboardWidget({ widget, isEditing, changes }: DashboardWidgetProps) {
  return (
    <WidgetFrame
      id={widget.id}
      title={titleOf(widget)}
      leadsTo={widget.leadsTo}
      isEditing={isEditing}
      changes={changes}
    >
      <BareWidget widget={widget} />
    </WidgetFrame>
  );
});

const NO_QUERIES: readonly ChartQuery[] = [];

/** Content of a widget, without a frame. */
export function BareWidget({ widget }: { readonly widget: Widget }) {
  const data = useContext(DashboardDataContext);
  if (data === null) throw new Error('a widget is shown on a dashboard');
  const { dashboardId, serviceId, queriesById, answers, markers, onRange } = data;
  return (
    <WidgetContent
      widget={widget}
      dashboardServiceId={serviceId}
      queries={queriesById.get(widget.id) ?? NO_QUERIES}
      answers={answers}
      group={dashboardId}
      markers={markers}
      onRange={onRange}
    />
  );
}

interface FullWidgetProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** Widget as large as the screen allows. */
export function FullWidget({ title, onClose, children }: FullWidgetProps) {
  // Charts measure their parent, which has its size only once the dialog is open.
  const [isOpen, setIsOpen] = useState(false);
  useEffect(() => setIsOpen(true), []);
  return (
    <Dialog title={<Name>{title}</Name>} onClose={onClose} size="90vw">
      <div className={classes.full}>{isOpen && children}</div>
    </Dialog>
  );
}
