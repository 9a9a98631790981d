import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';

import { teamQuery } from '#console/api/teams.ts';
import { Name } from '#console/components/text/name.tsx';
import classes from '#console/pages/oncall/gaps.module.css';
import { IconAlertTriangle } from '#console/icons.ts';
import { spanText } from '#console/pages/oncall/span_text.ts';
import type { Selection, ShownSchedule } from './use_timeline.ts';
import { Warnings } from '#console/pages/policies/warnings.tsx';
import { useOrganization } from '#console/shell/organization.tsx';

interface GapsProps {
  readonly schedules: readonly ShownSchedule[];
  readonly onOpen: (selection: Selection) => void;
}

/** Warning of when nobody is on call in the next 30 days, one line for each schedule. */
export function Gaps({ schedules, onOpen }: GapsProps) {
  const { may } = useOrganization();
  const withGaps = schedules.filter(({ gapCount }) => gapCount > 0);
  if (withGaps.length === 0) return null;
  return (
    <section className={classes.warning} aria-label="Gaps">
      <p className={`${classes.title} row spaced small`}>
        <IconAlertTriangle size={18} aria-hidden /> Nobody is on call at some times of the next 30 days
      </p>
      <ul className="plain-list">
        {withGaps.map(({ scheduleId, name, gaps, gapCount }) => {
          const [gap] = gaps;
          if (gap === undefined) return null;
          const [since, until] = [Date.parse(gap.since), Date.parse(gap.until)];
          return (
            <li key={scheduleId} className={`${classes.gap} row wraps`}>
              <div className={`${classes.text} small shrinks`}>
                <Name>{name}</Name>, {spanText(since, until)}
                {gapCount > 1 && <LaterGaps gaps={gaps.slice(1)} count={gapCount - 1} />}
              </div>
              {may('oncall:edit') && (
                <Button
                  size="xs"
                  variant="default"
                  onClick={() => onOpen({ scheduleId, userId: null, source: 'gap', since, until })}
                  aria-label={`Put somebody on call in ${name}`}
                >
                  Put somebody on call
                </Button>
              )}
            </li>
          );
        })}
      </ul>
    </section>
  );
}

interface LaterGapsProps {
  readonly gaps: ShownSchedule['gaps'];
  /** Total number; a schedule without turns has very many. */
  readonly count: number;
}

function LaterGaps({ gaps, count }: LaterGapsProps) {
  return (
    <details className={classes.later}>
      <summary>and {count} more</summary>
      <ul>
        {gaps.map(({ since, until }) => (
          <li key={since}>{spanText(Date.parse(since), Date.parse(until))}</li>
        ))}
        {count > gaps.length && <li>and {count - gaps.length} after these</li>}
      </ul>
    </details>
  );
}

/** Warning that no policy asks the schedule, with a link to a new one, for those who may create it. */
export function PagesNobody({ schedule: { scheduleId, teamId } }: { readonly schedule: ShownSchedule }) {
  const { org, may } = useOrganization();
  const { data } = useQuery(teamQuery(org.orgId, teamId));
  const warning = data?.warnings.find(
    (candidate) => candidate.kind === 'schedule_pages_nobody' && candidate.scheduleId === scheduleId,
  );
  if (warning === undefined || !may('oncall:edit')) return null;
  return (
    <Warnings
      messages={[warning.message]}
      action={
        <Link to="/oncall/policies/new" search={{ team: teamId }}>
          Create a policy
        </Link>
      }
    />
  );
}
