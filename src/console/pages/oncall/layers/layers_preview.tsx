import { Group, SegmentedControl, Skeleton, Text } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type PointerEvent, type ReactNode, useRef, useState } from 'react';

import { actionQuery, type ResultOf } from '#console/api/actions.ts';
import { serverNow } from '#console/api/http.ts';
import { Card } from '#console/components/card.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Name } from '#console/components/text/name.tsx';
import { useNamesOf } from '#console/components/text/use_names_of.ts';
import { useDebounced } from '#console/components/use_debounced.ts';
import { BarHandles } from '#console/pages/oncall/layers/bar_handles.tsx';
import { type LayerDraft, type LayersDraft, layersInput } from '#console/pages/oncall/layers/layers_draft.ts';
import { type BarEdge, edgesOf } from '#console/pages/oncall/layers/week_hours.ts';
import handleClasses from '#console/pages/oncall/layers/bar_handles.module.css';
import classes from '#console/pages/oncall/rotation_preview.module.css';
import { momentText, spanText, viewerZone } from '#console/pages/oncall/span_text.ts';
import { TimelineDays } from '#console/pages/oncall/timeline_days.tsx';
import { placeOf, rangeFrom, type TimelineRange } from '#console/pages/oncall/timeline_range.ts';
import { TimelineTrack } from '#console/pages/oncall/timeline_track.tsx';
import { namesOf, type Selection, selectionsOf, type ShownSchedule } from '#console/pages/oncall/use_timeline.ts';
import { useOrganization } from '#console/shell/organization.tsx';

interface LayersPreviewProps {
  readonly draft: LayersDraft;
  readonly schedule: ShownSchedule;
  readonly isValid: boolean;
  readonly nameOf: (userId: string) => string;
  /** Called with a time that was marked by dragging over the bar of a layer. */
  readonly onMark: (index: number, since: number, until: number) => void;
  /** Called with what changes in a layer when an edge of its bar is moved. */
  readonly onEdge: (index: number, changes: Partial<LayerDraft>, edge: BarEdge) => void;
}

type Preview = ResultOf<'preview_schedule_layers'>;

const CHANGES_SHOWN_MAX = 12;
const GAPS_SHOWN_MAX = 5;
/** Days that are drawn, and weeks that are compared. Eight days hold the next hand-over of a week. */
const VIEWS = { week: { days: 8, weeks: 2 }, month: { days: 35, weeks: 5 } } as const;

/** Bars of each layer with the result below, and whose shifts change; computed by the server. */
export function LayersPreview({ draft, schedule, isValid, nameOf, onMark, onEdge }: LayersPreviewProps) {
  const { orgId } = useOrganization().org;
  const [view, setView] = useState<keyof typeof VIEWS>('week');
  // What is past cannot be changed, so the bars begin today.
  const range = rangeFrom(new Date(serverNow()), VIEWS[view].days);
  const input = JSON.stringify({
    scheduleId: schedule.scheduleId,
    from: new Date(range.from).toISOString(),
    weeks: VIEWS[view].weeks,
    ...layersInput(draft, schedule),
  });
  const asked = useDebounced(input);
  const { data, error, isPlaceholderData } = useQuery({
    ...actionQuery(orgId, 'teams', 'preview_schedule_layers', JSON.parse(asked)),
    enabled: isValid,
    placeholderData: keepPreviousData,
  });
  return (
    <Card
      title="Who is on call then"
      about={`Changes count once you save. Times are those of ${viewerZone()}. The highest layer that names somebody decides.`}
    >
      <Group mb="sm">
        <SegmentedControl
          aria-label="Shown time"
          size="xs"
          value={view}
          onChange={(value) => setView(value === 'month' ? 'month' : 'week')}
          data={[
            { value: 'week', label: 'Week' },
            { value: 'month', label: 'Month' },
          ]}
        />
      </Group>
      {!isValid && <Text size="sm">Fill in the fields to see who is on call when.</Text>}
      {isValid && error !== null && <ErrorAlert title="There is no preview" error={error} />}
      {isValid && error === null && data === undefined && <Skeleton height={220} />}
      {isValid && error === null && data !== undefined && (
        <div aria-busy={isPlaceholderData || asked !== input} aria-live="polite">
          <Bars
            preview={data}
            range={range}
            nameOf={nameOf}
            editing={view === 'week' ? { draft, onMark, onEdge } : undefined}
          />
          <GapList gaps={aheadOf(data.gaps, serverNow())} />
          <Changes preview={data} />
        </div>
      )}
    </Card>
  );
}

interface BarsProps {
  readonly preview: Preview;
  readonly range: TimelineRange;
  readonly nameOf: (userId: string) => string;
  readonly editing: Pick<LayersPreviewProps, 'draft' | 'onMark' | 'onEdge'> | undefined;
}

function Bars({ preview, range, nameOf, editing }: BarsProps) {
  const rows = [...preview.layers.entries()].reverse();
  return (
    <div className={`${classes.tracks} bordered`}>
      <div className={classes.labelled} aria-hidden>
        <span className={`${classes.label} dimmed tiny`} />
        <TimelineDays range={range} now={serverNow()} />
      </div>
      {rows.map(([index, { layerId, name, shifts }]) => (
        <Bar
          // A new layer has no id of its own yet.
          key={`${layerId} ${index}`}
          label={name}
          shifts={shifts}
          range={range}
          nameOf={nameOf}
          onMark={editing && ((since, until) => editing.onMark(index, since, until))}
        >
          {editing?.draft.layers[index] && (
            <BarHandles
              layer={editing.draft.layers[index]}
              edges={edgesOf(editing.draft.layers[index], range, {
                timeZone: editing.draft.timezone,
                now: serverNow(),
              })}
              range={range}
              onChange={(changes, edge) => editing.onEdge(index, changes, edge)}
            />
          )}
        </Bar>
      ))}
      <Bar
        label="Result"
        shifts={preview.shifts}
        holidays={preview.holidays}
        range={range}
        nameOf={nameOf}
        onMark={undefined}
        isResult
      />
    </div>
  );
}

interface BarProps {
  readonly label: string;
  readonly shifts: Preview['shifts'];
  readonly holidays?: Preview['holidays'];
  readonly range: TimelineRange;
  readonly nameOf: (userId: string) => string;
  readonly onMark: ((since: number, until: number) => void) | undefined;
  readonly isResult?: boolean;
  /** Handles on its edges. */
  readonly children?: ReactNode;
}

/** Bar of one layer. Dragging over it with a mouse or a pen marks a time of the week. */
function Bar({ label, shifts, holidays = [], range, nameOf, onMark, isResult = false, children }: BarProps) {
  const { userId } = useOrganization().session.user;
  const row = { scheduleId: '', shifts, holidays, shownUntil: null };
  const all = selectionsOf(row, range.from, range.to).map((part) => ({
    ...part,
    since: Math.max(part.since, range.from),
  }));
  const selections = isResult ? all : all.filter(({ source }) => source !== 'gap');
  const { marked, ...marking } = useDragging(range, onMark);
  const names = (part: Selection) => namesOf(part, (id) => (id === null ? 'Nobody' : nameOf(id)), userId);
  const said = selections.map((part) => `${names(part)}, ${spanText(part.since, part.until)}`).join('; ');
  return (
    <div className={classes.labelled} {...marking}>
      <span className={`${classes.label} dimmed tiny`}>{isResult ? <b>{label}</b> : <Name>{label}</Name>}</span>
      <div className={handleClasses.bar}>
        <div role="img" aria-label={`${label}: ${said === '' ? 'nobody' : said}`}>
          <TimelineTrack
            range={range}
            selections={marked === null ? selections : [...selections, marked]}
            userId={userId}
            now={serverNow()}
          >
            {selections.map((part) => {
              const left = placeOf(part.since, range);
              const width = placeOf(part.until ?? range.to, range) - left;
              return (
                <span
                  key={part.since}
                  className={`${classes.name} row tiny`}
                  style={{ left: `${left}%`, width: `${width}%` }}
                >
                  <span>
                    <Name>{names(part)}</Name>
                  </span>
                </span>
              );
            })}
          </TimelineTrack>
        </div>
        {children}
      </div>
    </div>
  );
}

/** Distance from which a movement of the mouse is a drag. */
const DRAG_PX = 8;

function useDragging(range: TimelineRange, onMark: BarProps['onMark']) {
  const [marked, setMarked] = useState<Selection | null>(null);
  const start = useRef<{ readonly x: number; readonly left: number; readonly width: number } | null>(null);
  const read = ({ clientX }: PointerEvent): Selection | null => {
    if (start.current === null || Math.abs(clientX - start.current.x) < DRAG_PX) return null;
    const { x, left, width } = start.current;
    const timeAt = (place: number): number =>
      range.from + Math.min(1, Math.max(0, (place - left) / width)) * (range.to - range.from);
    const [since, until] = [timeAt(Math.min(x, clientX)), timeAt(Math.max(x, clientX))];
    return { scheduleId: '', userId: null, source: 'marked', since, until };
  };
  const stop = (): void => {
    start.current = null;
    setMarked(null);
  };
  return {
    marked,
    onPointerDown(event: PointerEvent<HTMLElement>): void {
      if (onMark === undefined || event.button !== 0 || event.pointerType === 'touch') return;
      const track = event.currentTarget.lastElementChild ?? event.currentTarget;
      const { left, width } = track.getBoundingClientRect();
      start.current = { x: event.clientX, left, width };
      event.currentTarget.setPointerCapture(event.pointerId);
    },
    onPointerMove(event: PointerEvent<HTMLElement>): void {
      if (start.current !== null) setMarked(read(event));
    },
    onPointerUp(event: PointerEvent<HTMLElement>): void {
      const done = read(event);
      stop();
      if (done?.until !== null && done !== null) onMark?.(done.since, done.until);
    },
    onPointerCancel: stop,
  };
}

/** Returns what is left of gaps from now on: nobody can be put on call for the past. */
function aheadOf(gaps: Preview['gaps'], now: number): Preview['gaps'] {
  return gaps
    .filter(({ until }) => Date.parse(until) > now)
    .map(({ since, until }) => ({ since: Date.parse(since) < now ? new Date(now).toISOString() : since, until }));
}

function GapList({ gaps }: { readonly gaps: Preview['gaps'] }) {
  if (gaps.length === 0) return null;
  return (
    <>
      <Text size="sm" fw={560} className={classes.nobody}>
        {gaps.length === 1 ? 'At 1 time nobody is on call:' : `At ${gaps.length} times nobody is on call:`}
      </Text>
      <ul className={`${classes.changes} plain-list small`} aria-label="Times with nobody on call">
        {gaps.slice(0, GAPS_SHOWN_MAX).map(({ since, until }) => (
          <li key={since}>{spanText(Date.parse(since), Date.parse(until))}</li>
        ))}
        {gaps.length > GAPS_SHOWN_MAX && <li>and {gaps.length - GAPS_SHOWN_MAX} more</li>}
      </ul>
    </>
  );
}

/** List of whose shifts change, oldest first. */
function Changes({ preview: { changes, changeCount, to, layers } }: { readonly preview: Preview }) {
  const people = useNamesOf(changes.flatMap(({ before, after }) => [...before, ...after]));
  const name = (userIds: readonly string[]) =>
    userIds.length === 0 ? 'Nobody' : userIds.map((userId) => people.nameOf(userId) ?? '…').join(', ');
  const changed = layers.filter(({ turnChanges }) => turnChanges);
  if (changeCount === 0) return <Text size="sm">Nobody’s shifts change in this time.</Text>;
  return (
    <>
      <Text size="sm" fw={560}>
        {changeCount === 1 ? '1 time has somebody else on call:' : `${changeCount} times have somebody else on call:`}
      </Text>
      {changed.length > 0 && (
        <Text size="sm" className={classes.nobody}>
          The present turn changes in {changed.map((layer) => layer.name).join(', ')}.
        </Text>
      )}
      <ul className={`${classes.changes} plain-list small`} aria-label="Times with somebody else on call">
        {changes.slice(0, CHANGES_SHOWN_MAX).map(({ since, until, before, after }) => (
          <li key={since}>
            <span>
              <s>
                <Name>{name(before)}</Name>
              </s>{' '}
              → <b className={after.length === 0 ? classes.nobody : undefined}>{<Name>{name(after)}</Name>}</b>
            </span>
            <span className="dimmed numbers">
              {until === to
                ? `from ${momentText(Date.parse(since))} on`
                : spanText(Date.parse(since), Date.parse(until))}
            </span>
          </li>
        ))}
        {changeCount > CHANGES_SHOWN_MAX && <li>and {changeCount - CHANGES_SHOWN_MAX} more</li>}
      </ul>
    </>
  );
}
