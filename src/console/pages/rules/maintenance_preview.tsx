import { IconAlertTriangle } from '@tabler/icons-react';

import type { ResultOf } from '#console/api/actions.ts';
import { Name } from '#console/components/text/name.tsx';
import classes from '#console/pages/policies/warnings.module.css';
import form from '#console/pages/rules/maintenance_form.module.css';

interface MaintenancePreviewProps {
  readonly preview: ResultOf<'preview_maintenance'>;
  readonly timezone: string;
}

/** Preview of when the window is in effect, what it keeps quiet, and which others overlap with it. */
export function MaintenancePreview({ preview, timezone }: MaintenancePreviewProps) {
  const { next, ruleCount, conflicts, conflictCount } = preview;
  const spanText = spanTextIn(timezone);
  return (
    <div aria-live="polite" className={`${form.preview} small`}>
      <p>
        {next.length === 0 ? 'It is never in effect. ' : `In effect ${next.map(spanText).join('; ')}. `}
        {ruleCount === 0
          ? 'No rule is kept quiet by it yet.'
          : `It keeps ${ruleCount.toLocaleString()} ${ruleCount === 1 ? 'rule' : 'rules'} quiet.`}
      </p>
      {conflicts.length > 0 && (
        <ul className={classes.warnings} aria-label="Overlapping windows">
          {conflicts.map((conflict) => (
            <li key={conflict.maintenanceId} className={`${classes.warning} spaced small`}>
              <IconAlertTriangle size={16} stroke={1.75} aria-hidden />
              <span>
                Overlaps with <Name>{conflict.name}</Name>, {spanText(conflict)}. Pages wait until both are over.
              </span>
            </li>
          ))}
          {conflictCount > conflicts.length && (
            <li className={`${classes.warning} spaced small`}>and with {conflictCount - conflicts.length} more</li>
          )}
        </ul>
      )}
    </div>
  );
}

/** Returns a formatter of spans in the zone of the window, as in its fields. */
function spanTextIn(timeZone: string) {
  const format = new Intl.DateTimeFormat(undefined, {
    dateStyle: 'medium',
    timeStyle: 'short',
    hourCycle: 'h23',
    timeZone,
  });
  return ({ startsAt, endsAt }: { readonly startsAt: string; readonly endsAt: string }): string =>
    format.formatRange(new Date(startsAt), new Date(endsAt));
}
