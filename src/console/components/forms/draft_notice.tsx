import { isolateBidi } from '#console/components/text/bidi.ts';
import classes from '#console/components/forms/draft_notice.module.css';
import { TextButton } from '#console/components/buttons.tsx';
import { lazyPart } from '#console/components/lazy_part.tsx';
import { relativeText } from '#console/components/text/time_text.ts';
import type { Draft } from '#console/components/forms/use_draft.ts';

const DraftConflicts = lazyPart(() =>
  import('#console/components/forms/draft_conflicts.tsx').then((module) => module.DraftConflicts),
);

interface DraftNoticeProps<Values> {
  readonly draft: Draft<Values>;
  readonly labels: Readonly<Record<keyof Values & string, string>>;
  /** Formats a value for people. By default texts are shown as they are, and booleans as on or off. */
  readonly show?: (field: keyof Values & string, value: unknown) => string;
}

/**
 * Notice at the top of a form that continues earlier input; it shows both versions of what somebody else has changed
 * meanwhile. Keep the button that sends the form disabled while there are conflicts.
 */
export function DraftNotice<Values extends object>({ draft, labels, show = textOf }: DraftNoticeProps<Values>) {
  const { restoredAt, conflicts, startOver, keepMine, takeTheirs } = draft;
  return (
    <>
      {restoredAt !== null && (
        <div className={`${classes.restored} wraps small`} role="status">
          <span>This continues what you entered {relativeText(restoredAt, Date.now())}.</span>
          <TextButton onClick={startOver}>Start over</TextButton>
        </div>
      )}
      {conflicts.length > 0 && (
        <DraftConflicts
          conflicts={conflicts.map(({ field, mine, theirs }) => ({
            field,
            label: labels[field],
            mine: show(field, mine),
            theirs: show(field, theirs),
            onKeep: () => keepMine(field),
            onTake: () => takeTheirs(field),
          }))}
        />
      )}
    </>
  );
}

function textOf(_field: string, value: unknown): string {
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (value === null || value === undefined || value === '') return 'empty';
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map((item) => textOf('', item)).join(', ');
  if (typeof value === 'string') return isolateBidi(value);
  return JSON.stringify(value);
}
