import { Checkbox, UnstyledButton } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { Link } from '@tanstack/react-router';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { memo, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';

import type { DeployDay, ExceptionGroup } from '#console/api/exceptions.ts';
import { Status, type Tone } from '#console/components/status.tsx';
import { withoutBidiControls } from '#console/components/text/bidi.ts';
import { Name } from '#console/components/text/name.tsx';
import { Person } from '#console/components/text/person_dot.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { IconArrowDown } from '#console/icons.ts';
import { countText, shortCount } from '#console/pages/exceptions/count_text.ts';
import { deployText } from '#console/pages/exceptions/deploy_text.ts';
import { GroupStatusBadge } from '#console/pages/exceptions/group_status.tsx';
import type { GroupSort } from '#modules/exceptions/decide/group_status.ts';
import exceptionRowClasses from '#console/pages/exceptions/exception_row.module.css';
import classes from '#console/pages/exceptions/exception_rows.module.css';

interface ExceptionRowsProps {
  readonly label: string;
  readonly groups: readonly ExceptionGroup[];
  /** Total, including rows not loaded yet. */
  readonly total: number;
  readonly sort: GroupSort;
  onSort(sort: GroupSort): void;
  readonly selected: ReadonlySet<string>;
  /** Called on a selection; without it, no row can be selected. */
  readonly onSelect?: ((groupIds: readonly string[], isSelected: boolean) => void) | undefined;
  /** Whether rows show boxes on a phone, where they have no room for them otherwise. */
  readonly isSelecting: boolean;
  /** Days of the bars, and the deploys on them. */
  readonly days: readonly string[];
  readonly deploys: readonly DeployDay[];
  readonly showsStatus: boolean;
  /** Whether the rows belong to the previous filter: they are shown until the new ones have arrived. */
  readonly isOld: boolean;
}

/** Height of a row, as in the style sheet. */
const ROW_HEIGHT = 52;
const ROW_HEIGHT_ON_PHONE = 116;
/** Rows rendered beyond the screen, so that a key finds the next one; a phone, which takes long to draw them, has no keys. */
const OVERSCAN = 12;
const OVERSCAN_ON_PHONE = 4;
const NO_DEPLOYS: readonly DeployDay[] = [];

/** List of any length: only the rows on the screen are in the document. */
export function ExceptionRows(props: ExceptionRowsProps) {
  const { label, groups, total, sort, onSort, selected, onSelect, isSelecting } = props;
  const { days, deploys, showsStatus, isOld } = props;
  // Pages of the list repeat the deploys of services that are on several pages.
  const deploysOf = useMemo(() => {
    const distinct = new Map(deploys.map((deploy) => [`${deploy.serviceId} ${deploy.date}`, deploy]));
    return Map.groupBy(distinct.values(), ({ serviceId }) => serviceId);
  }, [deploys]);
  const isPhone = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false });
  const rowHeight = isPhone ? ROW_HEIGHT_ON_PHONE : ROW_HEIGHT;
  const list = useRef<HTMLUListElement>(null);
  const [offset, setOffset] = useState(0);
  // After the rows are painted: before that, the browser would lay the page out twice.
  useEffect(() => {
    const top = (list.current?.getBoundingClientRect().top ?? 0) + window.scrollY;
    if (Math.abs(top - offset) > 1) setOffset(top);
  });
  const rows = useWindowVirtualizer({
    count: groups.length,
    estimateSize: () => rowHeight,
    overscan: isPhone ? OVERSCAN_ON_PHONE : OVERSCAN,
    // All rows of the screen are drawn at first, in pieces, and not at once after the list was drawn empty.
    initialRect: { width: innerWidth, height: innerHeight },
    scrollMargin: offset,
    getItemKey: (index) => groups[index]?.groupId ?? index,
  });
  const measuredHeight = useRef(rowHeight);
  useLayoutEffect(() => {
    if (measuredHeight.current === rowHeight) return;
    measuredHeight.current = rowHeight;
    rows.measure();
  }, [rows, rowHeight]);
  const selectedCount = groups.filter(({ groupId }) => selected.has(groupId)).length;
  return (
    <div className={`surface ${classes.frame}`} aria-busy={isOld}>
      <div className={`${classes.head} dimmed tiny strong nowrap`}>
        <div>
          {onSelect !== undefined && (
            <Checkbox
              checked={selectedCount > 0 && selectedCount === groups.length}
              indeterminate={selectedCount > 0 && selectedCount < groups.length}
              onChange={(event) =>
                onSelect(
                  groups.map(({ groupId }) => groupId),
                  event.currentTarget.checked,
                )
              }
              aria-label={`Select all ${groups.length} that are loaded`}
            />
          )}
        </div>
        <span>Exception</span>
        <span>Last 14 days</span>
        <SortButton sort="events" current={sort} onSort={onSort} title="Events" />
        <SortButton sort="users" current={sort} onSort={onSort} title="Users" />
        <span className={classes.release}>Release</span>
        <SortButton
          sort={sort === 'last' ? 'first' : 'last'}
          current={sort}
          isOn={sort === 'last' || sort === 'first'}
          onSort={onSort}
          title={sort === 'first' ? 'First seen' : 'Last seen'}
        />
      </div>
      <ul className={classes.list} ref={list} aria-label={label} style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map(({ index, key, start }) => {
          const group = groups[index];
          if (group === undefined) return null;
          return (
            <ExceptionRow
              key={key}
              group={group}
              sort={sort}
              days={days}
              deploys={deploysOf.get(group.serviceId) ?? NO_DEPLOYS}
              showsStatus={showsStatus}
              isSelected={selected.has(group.groupId)}
              onSelect={onSelect}
              isSelecting={isSelecting}
              position={index + 1}
              total={total}
              top={start - offset}
            />
          );
        })}
      </ul>
    </div>
  );
}

interface SortButtonProps {
  readonly sort: GroupSort;
  readonly current: GroupSort;
  readonly isOn?: boolean;
  onSort(sort: GroupSort): void;
  readonly title: string;
}

const SORT_WORDS: Record<GroupSort, string> = {
  last: 'when they were last seen',
  first: 'when they were first seen',
  events: 'number of events',
  users: 'number of users',
};

function SortButton({ sort, current, isOn = sort === current, onSort, title }: SortButtonProps) {
  return (
    <UnstyledButton
      className={classes.sort}
      data-on={isOn ? '' : undefined}
      onClick={() => onSort(sort)}
      title={`Sort by ${SORT_WORDS[sort]}`}
      aria-label={`${title}: sort by ${SORT_WORDS[sort]}`}
      aria-pressed={isOn}
    >
      {isOn && <IconArrowDown size={12} aria-hidden />}
      {title}
    </UnstyledButton>
  );
}

interface ExceptionRowProps {
  readonly group: ExceptionGroup;
  readonly sort: GroupSort;
  /** Days of its bars, and the deploys of its service on them. */
  readonly days: readonly string[];
  readonly deploys: readonly DeployDay[];
  /** Whether the row shows its status: in a list of several statuses. */
  readonly showsStatus: boolean;
  readonly isSelected: boolean;
  /** Called on a selection; without it, the row cannot be selected. */
  readonly onSelect?: ((groupIds: readonly string[], isSelected: boolean) => void) | undefined;
  /** Whether a tap on the row selects it rather than opens it, on a phone. */
  readonly isSelecting: boolean;
  readonly position: number;
  readonly total: number;
  /** Distance from the top of the list, in pixels. */
  readonly top: number;
}

const NEW_MS = 24 * 3_600_000;

/** Row that is not drawn again while the list only finds its place. */
const ExceptionRow = memo(function ExceptionRow(props: ExceptionRowProps) {
  const { group, sort, days, deploys, showsStatus, isSelected, onSelect, isSelecting, position, total, top } = props;
  const { groupId, title, culprit, severity, serviceName, eventCount, userCount, dailyCounts } = group;
  const { assignedUserId, assigneeName, assigneeColor, newestRelease, releaseCount, firstSeenAt, lastSeenAt } = group;
  return (
    <li
      className={exceptionRowClasses.row}
      data-row={groupId}
      data-level={severity}
      data-selecting={isSelecting ? '' : undefined}
      style={{ transform: `translateY(${top}px)` }}
      aria-posinset={position}
      aria-setsize={total}
    >
      {onSelect === undefined ? (
        <div className={exceptionRowClasses.check} />
      ) : (
        <label className={exceptionRowClasses.check}>
          <Checkbox
            checked={isSelected}
            onChange={(event) => onSelect([groupId], event.currentTarget.checked)}
            aria-label={`Select ${title}`}
          />
        </label>
      )}
      <div className={`${exceptionRowClasses.what} shrinks`}>
        <div className={`${exceptionRowClasses.head} row spaced shrinks`}>
          <Link
            to="/exceptions/$groupId"
            params={{ groupId }}
            className={`${exceptionRowClasses.title} row-link`}
            data-row-link
            title={title}
          >
            <bdi>{withoutBidiControls(title)}</bdi>
          </Link>
          <News group={group} showsStatus={showsStatus} />
        </div>
        <div className={`${exceptionRowClasses.sub} dimmed tiny`}>
          <span>
            <span>{severity} ·</span>
            <Name>{serviceName}</Name>
            {assigneeName !== null && (
              <>
                <span>·</span>
                <Person userId={assignedUserId} color={assigneeColor}>
                  {assigneeName}
                </Person>
              </>
            )}
          </span>
          {culprit !== null && (
            <>
              <span>·</span>
              <code className="ellipsis" title={culprit}>
                <bdi dir="ltr">{withoutBidiControls(culprit)}</bdi>
              </code>
            </>
          )}
        </div>
      </div>
      <div className={exceptionRowClasses.bars}>
        <DayBars counts={dailyCounts} days={days} deploys={deploys} />
      </div>
      <div
        className={`${exceptionRowClasses.number} small nowrap to-right numbers`}
        title={countText(eventCount, 'event')}
      >
        {shortCount(eventCount)}
        <span className={exceptionRowClasses.unit}> {eventCount === 1 ? 'event' : 'events'}</span>
      </div>
      <div
        className={`${exceptionRowClasses.number} small nowrap to-right numbers`}
        title={countText(userCount, 'user')}
      >
        {shortCount(userCount)}
        <span className={exceptionRowClasses.unit}> {userCount === 1 ? 'user' : 'users'}</span>
      </div>
      <div className={`${exceptionRowClasses.release} dimmed tiny shrinks`}>
        {newestRelease !== null && <Name>{newestRelease}</Name>}
        {releaseCount > 1 && <span className="rigid">+{releaseCount - 1}</span>}
      </div>
      <div className="dimmed small nowrap to-right">
        <Timestamp at={sort === 'first' ? firstSeenAt : lastSeenAt} format="age" />
      </div>
    </li>
  );
});

/** Badge of a group that is new, back again, or dealt with. */
function News({ group, showsStatus }: { readonly group: ExceptionGroup; readonly showsStatus: boolean }) {
  const { status, regressedAt, firstSeenAt, snoozed } = group;
  if (snoozed !== null) return <GroupStatusBadge status={status} isSnoozed />;
  if (showsStatus && status !== 'unresolved') return <GroupStatusBadge status={status} />;
  const news: readonly [Tone, string] | null =
    regressedAt !== null
      ? ['amber', 'back again']
      : Date.now() - Date.parse(firstSeenAt) < NEW_MS
        ? ['blue', 'new']
        : null;
  return news === null ? null : <Status tone={news[0]}>{news[1]}</Status>;
}

interface DayBarsProps {
  /** Events of each day, oldest first, today last. */
  readonly counts: readonly number[];
  readonly days: readonly string[];
  /** Deploys, which mark their days. */
  readonly deploys: readonly DeployDay[];
}

const HEIGHT = 24;
const STEP = 8;
/** Smallest height of a bar: a day with events must not look like one without. */
const HEIGHT_MIN = 2;

/** Returns the bars of some of the days as one path: a list draws hundreds. */
function barsOf(counts: readonly number[], most: number, isMeant: (count: number) => boolean): string {
  return counts
    .map((count, index) => {
      if (!isMeant(count)) return '';
      const height = count === 0 ? 1 : Math.max(HEIGHT_MIN, (count / most) * HEIGHT);
      return `M${index * STEP} ${HEIGHT}v${-height}h${STEP - 2}v${height}z`;
    })
    .join('');
}

/** Bars of the number of events on each of the last days. */
function DayBars({ counts, days, deploys }: DayBarsProps) {
  const most = Math.max(1, ...counts);
  const today = counts.at(-1) ?? 0;
  const all = counts.reduce((sum, count) => sum + count, 0);
  const total = deploys.reduce((sum, { count }) => sum + count, 0);
  const deployed = total === 0 ? '' : `, ${countText(total, 'deploy')}`;
  const label = `${all.toLocaleString()} events in ${counts.length} days, ${today.toLocaleString()} today${deployed}`;
  const deployOn = new Map(deploys.map((deploy) => [deploy.date, deploy]));
  return (
    <svg
      className={classes.bars}
      viewBox={`0 0 ${counts.length * STEP} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <title>{label}</title>
      <path d={barsOf(counts, most, (count) => count === 0)} className={classes.none} />
      <path d={barsOf(counts, most, (count) => count > 0)} className={classes.some} />
      {days.map((day, index) => {
        const deploy = deployOn.get(day);
        return (
          deploy !== undefined && (
            <rect key={day} x={index * STEP - 1.5} y={0} width={1} height={HEIGHT} className={classes.deploy}>
              <title>{deployText(deploy)}</title>
            </rect>
          )
        );
      })}
    </svg>
  );
}
