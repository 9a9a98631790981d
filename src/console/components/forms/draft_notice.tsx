import { Button } from '@mantine/core';

import { isolateBidi } from '#console/components/text/bidi.ts';
import classes from '#console/components/forms/draft_notice.module.css';
import { TextButton } from '#console/components/buttons.tsx';
import { relativeText } from '#console/components/text/time_text.ts';
import type { Draft } from '#console/components/forms/use_draft.ts';

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
        <section className={classes.conflict} role="alert" aria-label="Somebody else changed this">
          <p className={classes.title}>Somebody else changed this while you were editing.</p>
          <p className={classes.about}>Choose what to keep. Nothing is saved before that.</p>
          {conflicts.map(({ field, mine, theirs }) => (
            <div key={field} className={classes.field}>
              <b>{labels[field]}</b>
              <div className={classes.versions}>
                <Version whose="Yours" value={show(field, mine)}>
                  <Button
                    size="xs"
                    variant="default"
                    onClick={() => keepMine(field)}
                    aria-label={`${labels[field]}: keep yours`}
                  >
                    Keep yours
                  </Button>
                </Version>
                <Version whose="Theirs" value={show(field, theirs)}>
                  <Button
                    size="xs"
                    variant="default"
                    onClick={() => takeTheirs(field)}
                    aria-label={`${labels[field]}: take theirs`}
                  >
                    Take theirs
                  </Button>
                </Version>
              </div>
            </div>
          ))}
        </section>
      )}
    </>
  );
}

interface VersionProps {
  readonly whose: string;
  readonly value: string;
  readonly children: React.ReactNode;
}

function Version({ whose, value, children }: VersionProps) {
  return (
    <div className={`${classes.version} stack shrinks`}>
      <span className={classes.whose}>{whose}</span>
      <span className={classes.value}>{value}</span>
      {children}
    </div>
  );
}

function textOf(_field: string, value: unknown): string {
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (value === null || value === undefined || value === '') return 'empty';
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map((item) => textOf('', item)).join(', ');
  if (typeof value === 'string') return isolateBidi(value);
  return JSON.stringify(value);
}
