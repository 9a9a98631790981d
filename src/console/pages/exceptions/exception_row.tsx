import { Checkbox } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { CSSProperties } from 'react';

import type { DeployDay, ExceptionGroup } from '#console/api/exceptions.ts';
import { withoutBidiControls } from '#console/components/text/bidi.ts';
import { Name } from '#console/components/text/name.tsx';
import { Status, type Tone } from '#console/components/status.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { countText, shortCount } from '#console/pages/exceptions/count_text.ts';
import { DayBars } from '#console/pages/exceptions/day_bars.tsx';
import classes from '#console/pages/exceptions/exception_row.module.css';
import { GroupStatusBadge } from '#console/pages/exceptions/group_status.tsx';
import type { GroupSort } from '#modules/exceptions/decide/group_sort.ts';

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
  readonly onSelect?: ((isSelected: boolean) => void) | undefined;
  /** Whether a tap on the row selects it rather than opens it, on a phone. */
  readonly isSelecting: boolean;
  readonly position: number;
  readonly total: number;
  readonly style: CSSProperties;
}

const NEW_MS = 24 * 3_600_000;

export function ExceptionRow(props: ExceptionRowProps) {
  const { group, sort, days, deploys, showsStatus, isSelected, onSelect, isSelecting, position, total, style } = props;
  const { groupId, title, culprit, severity, serviceName, eventCount, userCount, dailyCounts } = group;
  const { assigneeName, newestRelease, releaseCount, firstSeenAt, lastSeenAt } = group;
  return (
    <li
      className={classes.row}
      data-row={groupId}
      data-level={severity}
      data-selecting={isSelecting ? '' : undefined}
      style={style}
      aria-posinset={position}
      aria-setsize={total}
    >
      {onSelect === undefined ? (
        <div className={classes.check} />
      ) : (
        <label className={classes.check}>
          <Checkbox
            checked={isSelected}
            onChange={(event) => onSelect(event.currentTarget.checked)}
            aria-label={`Select ${title}`}
          />
        </label>
      )}
      <div className={classes.what}>
        <div className={classes.head}>
          <Link to="/exceptions/$groupId" params={{ groupId }} className={classes.title} data-row-link title={title}>
            <bdi>{withoutBidiControls(title)}</bdi>
          </Link>
          <News group={group} showsStatus={showsStatus} />
        </div>
        <div className={classes.sub}>
          {severity} · <Name>{serviceName}</Name>
          {assigneeName !== null && (
            <>
              {' · '}
              <Name>{assigneeName}</Name>
            </>
          )}
          {culprit !== null && (
            <>
              {' · '}
              <code title={culprit}>{withoutBidiControls(culprit)}</code>
            </>
          )}
        </div>
      </div>
      <div className={classes.bars}>
        <DayBars counts={dailyCounts} days={days} deploys={deploys} />
      </div>
      <div className={classes.number} title={countText(eventCount, 'event')}>
        {shortCount(eventCount)}
        <span className={classes.unit}> {eventCount === 1 ? 'event' : 'events'}</span>
      </div>
      <div className={classes.number} title={countText(userCount, 'user')}>
        {shortCount(userCount)}
        <span className={classes.unit}> {userCount === 1 ? 'user' : 'users'}</span>
      </div>
      <div className={classes.release}>
        {newestRelease !== null && <Name>{newestRelease}</Name>}
        {releaseCount > 1 && <span className={classes.more}>+{releaseCount - 1}</span>}
      </div>
      <div className={classes.age}>
        <Timestamp at={sort === 'first' ? firstSeenAt : lastSeenAt} format="age" />
      </div>
    </li>
  );
}

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
