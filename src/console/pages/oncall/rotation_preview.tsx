import { Skeleton, Text } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';

import { PREVIEW_WEEKS_MAX } from '#modules/pages/decide/limits.ts';
import { actionQuery, type ResultOf } from '#console/api/actions.ts';
import { serverNow } from '#console/api/http.ts';
import { Card } from '#console/components/card.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Name } from '#console/components/text/name.tsx';
import { PersonDot } from '#console/components/text/person_dot.tsx';
import { useDebounced } from '#console/components/use_debounced.ts';
import classes from '#console/pages/oncall/rotation_preview.module.css';
import { rotationInput, type ScheduleDraft } from '#console/pages/oncall/schedule_draft.ts';
import type { Selection } from '#console/pages/oncall/use_timeline.ts';
import { momentText, spanText, viewerZone } from '#console/pages/oncall/span_text.ts';
import { placeOf, monthOf, type TimelineRange } from '#console/pages/oncall/timeline_range.ts';
import { TimelineTrack } from '#console/pages/oncall/timeline_track.tsx';
import { useOrganization } from '#console/shell/organization.tsx';

interface RotationPreviewProps {
  readonly draft: ScheduleDraft;
  readonly isValid: boolean;
  readonly nameOf: (userId: string) => string;
}

type Preview = ResultOf<'preview_rotation'>;

const WEEKS_MIN = 4;
const HOURS_OF_WEEK = 168;
const SHIFTS_SHOWN_MAX = 10;

/** Preview of a new schedule, computed by the server with the function that decides who is on call. */
export function RotationPreview({ draft, isValid, nameOf }: RotationPreviewProps) {
  const { orgId } = useOrganization().org;
  const weeks = weeksOf(draft);
  const input = JSON.stringify({ weeks, ...rotationInput(draft) });
  const asked = useDebounced(input);
  const { data, error, isPlaceholderData } = useQuery({
    ...actionQuery(orgId, 'teams', 'preview_rotation', JSON.parse(asked)),
    enabled: isValid,
    placeholderData: keepPreviousData,
  });
  const isStale = isPlaceholderData || asked !== input;
  return (
    <Card
      title="Who is on call then"
      about={`In the ${weeks} weeks from the first turn on, once you create it. Times are those of ${viewerZone()}.`}
    >
      {!isValid && <Text size="sm">Fill in the fields to see who is on call when.</Text>}
      {isValid && error !== null && <ErrorAlert title="There is no preview" error={error} />}
      {isValid && error === null && data === undefined && <Skeleton height={220} />}
      {isValid && error === null && data !== undefined && (
        <div aria-busy={isStale} aria-live="polite">
          <Tracks preview={data} nameOf={nameOf} />
          <FirstShifts preview={data} nameOf={nameOf} />
        </div>
      )}
    </Card>
  );
}

type NameOf = RotationPreviewProps['nameOf'];

function Tracks({ preview, nameOf }: { preview: Preview; nameOf: NameOf }) {
  const [from, to] = [Date.parse(preview.from), Date.parse(preview.to)];
  const days = [0, 1, 2, 3].flatMap((month) => {
    const first = new Date(from);
    return monthOf(new Date(first.getFullYear(), first.getMonth() + month, 1)).days;
  });
  const range: TimelineRange = { from, to, days: days.filter(({ start, end }) => end > from && start < to) };
  return (
    <div className={`${classes.tracks} bordered`}>
      <LabelledTrack label="Shifts" shifts={preview.shifts} range={range} nameOf={nameOf} />
    </div>
  );
}

interface LabelledTrackProps {
  readonly label: string;
  readonly shifts: Preview['shifts'];
  readonly range: TimelineRange;
  readonly nameOf: NameOf;
}

/** Drawing only: the list below says the same in words. */
function LabelledTrack({ label, shifts, range, nameOf }: LabelledTrackProps) {
  const { userId } = useOrganization().session.user;
  const selections = shifts.map(({ userIds: [person = null], source, since, until }): Selection => {
    const end = until === null ? null : Date.parse(until);
    return { scheduleId: '', userId: person, source, since: Math.max(range.from, Date.parse(since)), until: end };
  });
  return (
    <div className={classes.labelled} aria-hidden>
      <span className={`${classes.label} dimmed tiny`}>{label}</span>
      <TimelineTrack range={range} selections={selections} userId={userId} now={serverNow()}>
        {selections.map(({ since, until, userId: person }) => {
          const left = placeOf(since, range);
          const width = placeOf(until ?? range.to, range) - left;
          return (
            <span key={since} className={`${classes.name} row tiny`} style={{ left: `${left}%`, width: `${width}%` }}>
              <span>
                <Name>{person === null ? '' : nameOf(person)}</Name>
              </span>
            </span>
          );
        })}
      </TimelineTrack>
    </div>
  );
}

function FirstShifts({ preview, nameOf }: { preview: Preview; nameOf: NameOf }) {
  const { shifts, from } = preview;
  if (shifts.length === 0) return <Text size="sm">Nobody is on call.</Text>;
  return (
    <ul className={`${classes.changes} plain-list small`} aria-label="First shifts">
      {shifts.slice(0, SHIFTS_SHOWN_MAX).map(({ userIds, since, until }) => (
        <li key={since}>
          <b>
            {userIds[0] !== undefined && <PersonDot userId={userIds[0]} />}
            <Name>{userIds.map(nameOf).join(', ')}</Name>
          </b>
          <Span since={since < from ? from : since} until={until} />
        </li>
      ))}
      {shifts.length > SHIFTS_SHOWN_MAX && <li>and so on</li>}
    </ul>
  );
}

/** Text of a span; `until` is null if it lasts longer than is shown. */
function Span({ since, until }: { readonly since: string; readonly until: string | null }) {
  const from = Date.parse(since);
  return (
    <span className="dimmed numbers">
      {until === null ? `from ${momentText(from)} on` : spanText(from, Date.parse(until))}
    </span>
  );
}

/** Returns the weeks to preview: at least one round, so that everybody is seen. */
function weeksOf({ turns, hours }: ScheduleDraft): number {
  const round = Math.ceil((turns.length * Number(hours)) / HOURS_OF_WEEK) + 1;
  return Number.isFinite(round) ? Math.min(PREVIEW_WEEKS_MAX, Math.max(WEEKS_MIN, round)) : WEEKS_MIN;
}
